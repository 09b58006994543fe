"""The course's drawings, shown in a notebook by name, from a checkout or from an installed package.

    drawing("architecture")         # as the last value of a cell
    names()                         # all names

A drawing is an SVG file of `figures/`, made by the script of the same name. It is shown as an <img>, which is never
wider than the page and follows its theme, with its description beneath it, folded. So it is seen, too, in a notebook
that JupyterLab does not trust yet; GitHub and nbconvert would spoil an SVG that is part of the page.
"""

from dataclasses import dataclass
from html import escape
from pathlib import Path
from xml.etree import ElementTree

from tx_helpers.language import drawing_in, in_use
from tx_helpers.opening import Bundle
from tx_helpers.show.plots import image

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

    def _repr_mimebundle_(self, **_asked: object) -> tuple[Bundle, Bundle]:
        picture = image("image/svg+xml", self.svg.encode(), self.title)
        folded = f"<details><summary>The drawing in words</summary>{escape(self.description)}</details>"
        data = {"text/html": picture + folded, "image/svg+xml": self.svg, "text/plain": repr(self)}
        return data, {"image/svg+xml": {"alt": repr(self)}}


def names() -> list[str]:
    """The names of all drawings, in alphabetical order."""
    return sorted(_files())


def drawing(name: str) -> Drawing:
    """The drawing of that name."""
    files = _files()
    if name not in files:
        raise ValueError(f"drawing: none is named {name!r}; there is: {', '.join(sorted(files)) or 'none at all'}")
    svg = in_use(drawing_in, files[name].read_text(encoding="utf-8"))
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
