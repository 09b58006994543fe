"""Make slides for a projector: one HTML file a notebook, which opens from the disk and loads nothing.

    python tools/make_slides.py 04            into build/slides (or: make slides ONLY="04"); all where none is named

They show the notebook's stored pictures in its order, one a slide, with the first sentences of their alt texts. The
question stands before the pictures that answer it, and its finding behind them. An explorer lives where `make site` or
tools/record_pages.py has recorded the notebook, as it is now; elsewhere it is a picture.
"""

import argparse
import base64
import hashlib
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape, unescape
from pathlib import Path

import nbformat
from markupsafe import Markup

import site_scripts
from make_site import HERE, JINJA
from notebook_frame import ROOT
from notebook_header import TIME_LINE
from notebook_parts import PREDICTION, REVEAL, cell_headings, shown
from record_pages import kept
from refresh_notebooks import selected
from site_cells import ENDINGS, IMAGE, Body, output_html
from site_markdown import html_of
from tx_helpers.publish.packing import inert

GOALS = re.compile(r"^\*\*You will be able to\*\*\n\n(.*?)\n\n", re.MULTILINE | re.DOTALL)
KINDS = {ending: kind for kind, ending in ENDINGS.items()}
LONG = 220  # letters of a caption; a second sentence that goes beyond it is left out


@dataclass
class Slide:
    """Its kind, for the style sheet ("text", "picture" or "finding"), its title and its content, both as HTML."""

    kind: str
    title: str
    html: str

    def __post_init__(self):
        self.title, self.html = (Markup(re.sub(r"</?a\b[^>]*>", "", text)) for text in (self.title, self.html))


def caption(alt: str) -> str:
    """The first sentences of an alt text: two, or one where two are long."""
    first, *others = re.split(r"(?<=[.?!])\s+", alt.strip())
    two = " ".join([first, *others[:1]])
    return two if len(two) <= LONG else first


def figure(html: str) -> str:
    """A picture with its caption, which a screen reader has read already: it is the alt text's beginning."""
    alt = unescape(re.search(r'\balt="([^"]*)"', html)[1])
    if "data-form" not in html:  # nothing lives in its place
        html = f'<div class="shown">{re.search("<img[^>]*>", html)[0]}</div>'
    return f'<figure>{html}<figcaption aria-hidden="true">{escape(caption(alt))}</figcaption></figure>'


def inline(text: str) -> str:
    """A line of markdown as HTML, without a paragraph around it."""
    return html_of(text).strip().removeprefix("<p>").removesuffix("</p>")


def slides(notebook: nbformat.NotebookNode, forms: dict[str, list[dict]], made: Body) -> Iterator[Slide]:
    """The slides in order; pictures, and what lives, go into `made`, as on the site."""
    first = notebook.cells[0].source
    goals = f"**You will be able to**\n\n{GOALS.search(first)[1]}\n\n{TIME_LINE.search(first)[0]}"
    (_, title), *_ = cell_headings(notebook.cells[0])
    yield Slide("text", inline(title), html_of(goals))
    heading, exercises = title, []
    for cell in notebook.cells:
        for _, heading in cell_headings(cell):
            exercises += [heading] if re.match(r"Exercise \d+: |Your turn: ", heading) else []
        if cell.cell_type == "markdown":
            for picture in IMAGE.finditer(html_of(cell.source)):
                output = nbformat.v4.new_output("display_data", {"text/html": picture[0]})
                yield Slide("picture", inline(heading), figure(output_html(output, made, [])))
        elif PREDICTION.search(cell.source) or REVEAL.search(cell.source):
            for output in shown(cell):
                text = re.sub(r"<details><summary>.*?</summary>|</details>", "", output.data.get("text/html", ""))
                yield Slide("finding" if REVEAL.search(cell.source) else "text", inline(heading), text)
        else:
            live = list(forms.get(cell.id, []))
            for output in [] if "progress()" in cell.source else shown(cell):
                if "<img" in (html := output_html(output, made, live)):
                    yield Slide("picture", inline(heading), figure(html))
    if exercises:
        listed = "".join(f"<li>{inline(one)}</li>" for one in exercises)
        yield Slide("text", "Exercises", f"<ul>{listed}</ul>")


def page(path: Path, recorded: dict) -> str:
    """A notebook's slides as a page that holds all it needs."""
    notebook, made = nbformat.read(path, as_version=4), Body()
    deck = list(slides(notebook, recorded.get("forms", {}), made))
    files = site_scripts.files(made.forms, recorded.get("scripts", {}))
    own = {name: (HERE / name).read_text("utf-8") for name in ("site.css", "slides.css", "theme.js", "slides.js")}
    own["alive.js"] = (HERE / "alive.js").read_text("utf-8")
    own |= {name: content.decode() for name, content in files.items()}
    scripts = {name: text for name, text in own.items() if name.endswith(".js")}
    styles = [text for name, text in own.items() if name.endswith(".css")]
    digests = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in scripts.values()]
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests)
    html = JINJA.get_template("slides.html.j2").render(
        policy=Markup(
            f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data:; base-uri 'none'"
        ),
        title=deck[0].title.striptags(),
        slides=deck,
        styles=map(Markup, styles),
        first=Markup(scripts.pop("theme.js")),
        scripts=map(Markup, scripts.values()),
        forms=[Markup(inert({"script": form["script"], "state": form["state"]})) for form in made.forms],
    )
    return re.sub(r'src="(pictures/[^"]+)"', lambda found: f'src="{data_of(found[1], made)}"', html)


def data_of(picture: str, made: Body) -> str:
    """A picture as an address that holds it."""
    return f"data:{KINDS[picture.rpartition('.')[2]]};base64,{base64.b64encode(made.pictures[picture]).decode()}"


def main(arguments: list[str] | None = None) -> int:
    """Command line; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("notebooks", nargs="*", help="number, name or path; all where none is given")
    parser.add_argument("--to", type=Path, default=ROOT / "build" / "slides", help="folder (default %(default)s)")
    options = parser.parse_args(arguments)
    try:
        chosen = selected(options.notebooks, ROOT / "notebooks")
    except ValueError as error:
        parser.error(str(error))
    options.to.mkdir(parents=True, exist_ok=True)
    for path in chosen:
        recorded = kept(path)
        file = options.to / f"{path.stem}.html"
        file.write_text(page(path, recorded), "utf-8")
        print(f"{file}: {'explorers live' if recorded else 'explorers are pictures'}, {file.stat().st_size / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
