"""The course's drawings, shown in a notebook by name, from a checkout or from an installed package.

    drawing("architecture")         # as the last value of a cell
    names()                         # all names

A drawing is an SVG file of `figures/`, made by the script of the same name. Its description is shown
beneath it, folded, because JupyterLab and nbconvert give an SVG no alternative text (and GitHub strips an SVG that is
embedded in HTML). In a notebook that JupyterLab does not trust yet, only the plain text is shown: run the cell.
"""

from dataclasses import dataclass
from html import escape
from pathlib import Path
from xml.etree import ElementTree

SVG = "{http://www.w3.org/2000/svg}"


@dataclass(frozen=True)
class Drawing:
    """A picture and its description."""

    name: str
    svg: str
    title: str
    description: str

    def __repr__(self) -> str:
        return f"{self.title}. {self.description}"

    def _ipython_display_(self) -> None:
        from IPython.display import publish_display_data

        alt = {"alt": repr(self)}
        instead = f"Drawing: {self.title}. (Run this cell if you see these words only.)"
        publish_display_data({"image/svg+xml": self.svg, "text/plain": instead}, metadata=alt | {"image/svg+xml": alt})
        folded = f"<details><summary>The drawing in words</summary>{escape(self.description)}</details>"
        publish_display_data({"text/html": folded, "text/plain": self.description})


def names() -> list[str]:
    """The names of all drawings, in alphabetical order."""
    return sorted(_files())


def drawing(name: str) -> Drawing:
    """The drawing of that name."""
    files = _files()
    if name not in files:
        raise ValueError(f"drawing: none is named {name!r}; there is: {', '.join(sorted(files)) or 'none at all'}")
    svg = files[name].read_text(encoding="utf-8")
    root = ElementTree.fromstring(svg)
    title, description = (root.findtext(SVG + tag, default="") for tag in ("title", "desc"))
    return Drawing(name, svg, title, description)


def _files() -> dict[str, Path]:
    """Name -> file: inside the package where it was installed from a wheel, else beside it in the checkout."""
    package = Path(__file__).parents[1]
    for folder in (package / "figures", package.parent / "figures"):
        if found := {file.stem: file for file in folder.glob("*.svg")}:
            return found
    return {}
