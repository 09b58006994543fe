"""Make slides for a projector: one HTML file a notebook, which opens from the disk and loads nothing.

    python tools/make_slides.py 04            into build/slides (or: make slides ONLY="04"); all where none is named

They show the notebook's stored pictures in its order, one a slide, with the first sentences of their alt texts. The
question stands before the pictures that answer it, and its finding behind them. An explorer lives where `make site` has
recorded the notebook, as it is now; elsewhere it is a picture.
"""

import base64
import hashlib
import re
import sys
from collections.abc import Iterator
from html import escape, unescape
from pathlib import Path

import nbformat
from markupsafe import Markup

import site_scripts
from make_site import HERE, JINJA, asked
from notebook_header import TIME_LINE
from notebook_parts import asks_or_tells, cell_headings, shown
from record_pages import kept
from site_cells import ENDINGS, IMAGE, Body, output_html
from site_markdown import html_of
from tx_helpers.publish.packing import inert

OWN = ("site.css", "slides.css", "theme.js", "slides.js", "alive.js")
GOALS = re.compile(r"^\*\*You will be able to\*\*\n\n.*?\n\n", re.MULTILINE | re.DOTALL)
EXERCISE = re.compile(r"Exercise \d+: |Your turn: ")
LONG = 220  # letters of a caption; a second sentence that goes beyond it is left out
KINDS = {ending: kind for kind, ending in ENDINGS.items()}


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


def slides(notebook: nbformat.NotebookNode, forms: dict[str, list[dict]], made: Body) -> Iterator[tuple[str, str, str]]:
    """The kind of each slide, for the style sheet, its title in markdown, and its content as HTML, in order.

    Pictures, and what lives, go into `made`, as on the site.
    """
    first = notebook.cells[0].source
    (_, heading), *_ = cell_headings(notebook.cells[0])
    yield "text", heading, html_of(GOALS.search(first)[0] + TIME_LINE.search(first)[0])
    exercises = ""
    for cell in notebook.cells:
        for _, heading in cell_headings(cell):
            exercises += f"- {heading}\n" if EXERCISE.match(heading) else ""
        if cell.cell_type == "markdown":
            pictures = [found[0] for found in IMAGE.finditer(html_of(cell.source))]
            outputs = [nbformat.v4.new_output("display_data", {"text/html": picture}) for picture in pictures]
        else:
            outputs = [] if "progress()" in cell.source else shown(cell)
        live = list(forms.get(cell.id, []))
        for output in outputs:
            if cell.cell_type == "code" and asks_or_tells(cell):
                text = output.data["text/html"]
                said = re.sub(r"<details><summary>.*?</summary>|</details>", "", text)
                yield "text" if said == text else "finding", heading, said
            elif "<img" in (html := output_html(output, made, live)):
                yield "picture", heading, figure(html)
    if exercises:
        yield "text", "Exercises", html_of(exercises)


def without_links(html: str, *others: str) -> Markup:
    """HTML without the tags of links, which would lead out of the file, and without those of others."""
    return Markup(re.sub(rf"</?(?:{'|'.join(('a', *others))})\b[^>]*>", "", html))


def page(path: Path, recorded: dict) -> str:
    """A notebook's slides as a page that holds all it needs, and whose policy allows no other script."""
    made = Body()
    deck = list(slides(nbformat.read(path, as_version=4), recorded.get("forms", {}), made))
    parts = {name: (HERE / name).read_bytes() for name in OWN}
    parts |= site_scripts.files(made.forms, recorded.get("scripts", {}))
    scripts = [part for name, part in parts.items() if name.endswith(".js")]
    allowed = [f"'sha256-{base64.b64encode(hashlib.sha256(part).digest()).decode()}'" for part in scripts]
    policy = f"default-src 'none'; script-src {' '.join(allowed)}; style-src 'unsafe-inline'; img-src data:"
    html = JINJA.get_template("slides.html.j2").render(
        policy=Markup(policy),
        name=path.stem,
        slides=[(kind, without_links(html_of(title), "p"), without_links(html)) for kind, title, html in deck],
        styles=[Markup(part.decode()) for name, part in parts.items() if name.endswith(".css")],
        scripts=[Markup(part.decode()) for part in scripts],
        forms=[Markup(inert({"script": form["script"], "state": form["state"]})) for form in made.forms],
    )
    for name, content in made.pictures.items():
        kind = KINDS[name.rpartition(".")[2]]
        html = html.replace(f'src="{name}"', f'src="data:{kind};base64,{base64.b64encode(content).decode()}"')
    return html


def main(arguments: list[str] | None = None) -> int:
    """Command line; returns the exit code."""
    paths, folder = asked(__doc__, "slides", arguments)
    for path in paths:
        file, recorded = folder / f"{path.stem}.html", kept(path)
        file.write_text(page(path, recorded), "utf-8")
        print(
            f"{file}: {'explorers live' if recorded else 'explorers are pictures'}, {file.stat().st_size / 1e6:.1f} MB"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
