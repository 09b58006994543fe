"""Make slides for a projector: one HTML file a notebook, which opens from the disk and loads nothing.

    python tools/make_slides.py 04            into build/slides (or: make slides ONLY="04"); all where none is named

Each displayed formula, question, picture, finding and "Your turn" of the notebook has a slide, in its order; what is
optional stands behind the exercises. So that explorers live, the notebook is recorded as for `make site`, which takes a
minute or more where it has changed. An explorer without a recording is a picture, and its foot says so.
"""

import base64
import hashlib
import re
import sys
from dataclasses import dataclass
from html import escape, unescape
from pathlib import Path

import nbformat
from markupsafe import Markup

import record_pages
import site_scripts
from make_site import HERE, JINJA, asked
from notebook_header import HALF_WAY, TIME_LINE
from notebook_parts import asks_or_tells, headings, optional_sections, shown
from site_cells import ENDINGS, EXPLORER, IMAGE, Body, output_html
from site_markdown import html_of
from tx_helpers.publish.packing import inert

OWN = ("site.css", "slides.css", "theme.js", "slides.js", "alive.js")
GOALS = re.compile(r"^\*\*You will be able to\*\*\n\n.*?\n\n", re.MULTILINE | re.DOTALL)
FORMULA = re.compile(r"\$\$.+?\$\$", re.DOTALL)
TEXT = re.compile(
    r"(?![-|<>!`\[#]|\d+\. |\*\*Half-way|.*\$\$)", re.DOTALL
)  # a paragraph, and no list, table or formula
EFFORT = re.compile(r"^[●○]+ · \d+ minutes$", re.MULTILINE)
SIGNATURE = re.compile(r"^ *(?:class|def) .*?:$", re.MULTILINE | re.DOTALL)
LONG = 140  # letters of an alt text's first sentence; a longer one is no caption
KINDS = {ending: kind for kind, ending in ENDINGS.items()}


@dataclass
class Slide:
    """A slide: its kind, for the style sheet, its title in markdown, its content as HTML, and where it is."""

    kind: str
    title: str
    html: str
    place: str
    caption: str = ""  # of a picture, as HTML
    explores: bool = False


def sentences(text: str) -> list[str]:
    """A text cut behind full stops, question marks and exclamation marks; "et al. 2017" stays together."""
    return re.split(r"(?:(?<=[.?!])|(?<=[.?!][)”])|(?<=[.?!]</b>))\s+(?=\D)", text.strip())


class Deck:
    """A notebook's slides: `main` is the core path, `optional` the rest. Pictures, and what lives, go into `made`."""

    def __init__(self, notebook: nbformat.NotebookNode, forms: dict[str, list[dict]], number: str):
        self.cells, self.forms, self.number, self.made = notebook.cells, forms, number, Body()
        self.main, self.optional = [], []
        self.slides = self.main  # where the next slide goes
        self.texts, self.choices, self.exercises = [], [], ""  # of this part, of the last question, of the notebook
        first = self.cells[0].source
        self.part = self.heading = headings(first)[0][1]  # the last heading of level 2, and of any level
        self._add("text", html_of(GOALS.search(first)[0] + TIME_LINE.search(first)[0]))
        aside = {index for section in optional_sections(self.cells) for index in section}
        for index, cell in enumerate(self.cells[1:], 1):
            self.slides = self.optional if index in aside else self.main
            (self._text if cell.cell_type == "markdown" else self._code)(index, cell)
        self.slides, self.part = self.main, "Exercises"
        if self.exercises:
            self._add("text", html_of(self.exercises), self.part)
        if self.optional:
            listed = dict.fromkeys(slide.title.removeprefix("Optional: ") for slide in self.optional)
            divider = Slide("text", "Optional", html_of("\n".join(f"- {title}" for title in listed)), self.number)
            self.optional.insert(0, divider)

    def _add(self, kind: str, html: str, title: str = "", **more) -> None:
        title = (title or self.heading).removeprefix("Explorer: ")
        place = [self.number, *["optional"][: self.slides is self.optional], self.part.removeprefix("Optional: ")]
        self.slides.append(Slide(kind, title[0].upper() + title[1:], html, " › ".join(place), **more))

    def _text(self, index: int, cell: nbformat.NotebookNode) -> None:
        """Slides of a markdown cell's formulas, pictures, half-way stop and memory list, or of its exercise."""
        if effort := EFFORT.search(cell.source):
            title, task = headings(cell.source)[0][1], cell.source[effort.start() :]
            if title.startswith("Your turn: "):
                signature = "\n".join(SIGNATURE.findall(self.cells[index + 1].source))
                self._add("text", html_of(task) + f"<pre>{escape(signature)}</pre>", title)
            else:
                self.exercises += f"- {title} · {effort[0].removesuffix('utes')}\n"
            return
        for block in re.split(r"\n\n+", cell.source):
            for level, self.heading in headings(block):
                if level <= 2:
                    self.part, self.texts = self.heading, []
            if headings(block):
                continue
            if block.startswith(HALF_WAY):
                self._add("text", html_of(block.removeprefix(HALF_WAY)), HALF_WAY.strip("*."))
            elif self.part == "What to remember" and block.startswith("- "):
                self._add("text", html_of(block))
            for formula in FORMULA.finditer(block):
                before = block[: formula.start()].strip() or "".join(self.texts[-1:])
                self._add("equation", html_of(f"{' '.join(sentences(before)[-2:])}\n\n{formula[0]}"))
            if TEXT.match(block):
                self.texts.append(block)
        for picture in IMAGE.finditer(html_of(cell.source)):
            self._picture(index, nbformat.v4.new_output("display_data", {"text/html": picture[0]}), [])

    def _code(self, index: int, cell: nbformat.NotebookNode) -> None:
        """Slides of what a code cell shows: a question with its set-up, a finding, or pictures."""
        live = list(self.forms.get(cell.id, []))
        for output in [] if "progress()" in cell.source else shown(cell):
            if not asks_or_tells(cell):
                self._picture(index, output, live)
                continue
            text = output.data["text/html"]
            said = re.sub(r"<details><summary>.*?</summary>|</details>", "", text)
            if said == text:
                self.choices = re.findall(r"<li>(.*?)</li>", said)
                words = set(re.findall(r"\w{5,}", said.lower()))  # the set-up is the paragraph with most of them
                before = max(
                    reversed(self.texts), key=lambda p: len(words & {*re.findall(r"\w+", p.lower())}), default=""
                )
                before = re.sub(r"[^.?!]*[:,]$", "", before)  # what leads to a formula or a list
                self._add("text", f'<div class="before">{html_of(before)}</div>{said}')
            else:
                for letter, choice in zip("abcdefgh", self.choices, strict=False):
                    said = said.replace(f"“{choice}”.</b>", f"{letter}) {choice}.</b>")
                if self.slides[-1].kind == "picture" and not self.slides[-1].explores:
                    self.slides[-1].caption = " ".join(sentences(" ".join(re.findall(r"<p>(.*?)</p>", said)))[:2])
                self._add("finding", said)

    def _picture(self, index: int, output: nbformat.NotebookNode, live: list[dict]) -> None:
        """A slide of an output that is a picture, or lives."""
        if "<img" not in (html := output_html(output, self.made, live)):
            return
        explores = EXPLORER.match(output.data.get("text/plain", "")) is not None
        alt = unescape(re.search(r'\balt="([^"]*)"', html)[1])
        near = "" if explores or self.cells[index].cell_type == "markdown" else self._beside(index)
        caption = inline(near) if near else escape(first) if len(first := sentences(alt)[0]) < LONG else ""
        if "data-form" not in html:  # nothing lives in its place
            html = f'<div class="shown">{re.search("<img[^>]*>", html)[0]}</div>'
        is_title = not alt.endswith(".")  # which stands in the drawing
        self._add("picture", html, caption="" if is_title else caption, explores=explores)
        if explores and "data-form" not in html:
            self.slides[-1].place += " · alive in the notebook"

    def _beside(self, index: int) -> str:
        """The sentence of text right before a cell or, where none is, right behind it; no question."""
        for place, part in ((index - 1, -1), (index + 1, 0)):
            block = re.split(r"\n\n+", self.cells[place].source)[part]
            found = sentences(block)[part]
            if self.cells[place].cell_type == "markdown" and TEXT.match(block) and found[-1] != "?":
                return found
        return ""


def inline(markdown: str) -> Markup:
    """Markdown as HTML within a line: without the tags of paragraphs."""
    return without_links(html_of(markdown), "p")


def without_links(html: str, *others: str) -> Markup:
    """HTML without the tags of links, which would lead out of the file, and without those of others."""
    return Markup(re.sub(rf"</?(?:{'|'.join(('a', *others))})\b[^>]*>", "", html))


def page(path: Path, recorded: dict) -> str:
    """A notebook's slides as a page that holds all it needs, and whose policy allows no other script."""
    deck = Deck(nbformat.read(path, as_version=4), recorded.get("forms", {}), path.stem[:2])
    made = deck.made
    parts = {name: (HERE / name).read_bytes() for name in OWN}
    parts |= site_scripts.files(made.forms, recorded.get("scripts", {}))
    scripts = [part for name, part in parts.items() if name.endswith(".js")]
    allowed = [f"'sha256-{base64.b64encode(hashlib.sha256(part).digest()).decode()}'" for part in scripts]
    policy = f"default-src 'none'; script-src {' '.join(allowed)}; style-src 'unsafe-inline'; img-src data:"
    html = JINJA.get_template("slides.html.j2").render(
        policy=Markup(policy),
        name=path.stem,
        slides=[*deck.main, *deck.optional],
        inline=inline,
        without_links=without_links,
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
    failed = record_pages.main([str(path) for path in paths])
    for path in paths:
        file, recorded = folder / f"{path.stem}.html", record_pages.kept(path)
        file.write_text(page(path, recorded), "utf-8")
        print(
            f"{file}: {'explorers live' if recorded else 'explorers are pictures'}, {file.stat().st_size / 1e6:.1f} MB"
        )
    return failed


if __name__ == "__main__":
    sys.exit(main())
