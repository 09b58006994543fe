"""A notebook's cells as HTML, with their stored outputs: what stands between the header and the foot of its page.

Optional sections and code that Jupyter folds are folded here, too. A picture becomes a file of its own, named by its
content. Beneath an exercise stand its hints and its solution, folded. Where a cell shows something that lives without a
kernel (its `forms`, see site_scripts.py), the stored picture is a placeholder that site.js replaces.
"""

import base64
import hashlib
import re
import struct
from dataclasses import dataclass, field
from functools import cache
from html import escape

from nbformat import NotebookNode

from notebook_frame import BADGE_MARK
from notebook_header import HERE_MARK
from notebook_parts import asks_or_tells, cell_headings, is_folded, optional_sections, shown, waiting
from place_exercises import PREFIX
from site_markdown import code, html_of
from tx_helpers.exercises.catalogue import find, lesson_of
from tx_helpers.exercises.exercise import Exercise

ENDINGS = {"image/svg+xml": "svg", "image/png": "png", "image/webp": "webp"}
IMAGE = re.compile(r'<img\b[^>]*?src="data:(image/(?:svg\+xml|png|webp));base64,([^"]*)"[^>]*>')
# What an explorer prints of itself.
EXPLORER = re.compile(r"(?:Explorer|AttentionView|AttentionStepper|Machine) '([\w-]+)': ")
NOT_CHECKED = """
<p class="about">On this page you can read the exercises, their hints and their solutions. To write answers and have
them checked, open the notebook: its link stands at the top of the page.</p>"""


@dataclass
class Body:
    """A page's HTML and what it needs beside it."""

    html: str = ""
    pictures: dict[str, bytes] = field(default_factory=dict)  # path on the site -> content
    forms: list[dict] = field(default_factory=list)  # what lives on the page, in the order of its placeholders
    explorers: list[tuple[str, str, str, str]] = field(default_factory=list)  # name, heading, cell, how it lives
    heading: str = ""  # the last one so far


def body(notebook: NotebookNode, forms: dict[str, list[dict]] | None = None) -> Body:
    """The cells in order; `forms` are the living parts of each cell, by its id."""
    made, taken = Body(), set()
    waits = waiting(notebook.cells)
    sections = optional_sections(notebook.cells)
    opens = {part[0] for part in sections}
    closes = [part[-1] for part in sections]
    for index, cell in enumerate(notebook.cells):
        for _, made.heading in cell_headings(cell):
            pass
        if cell.cell_type == "markdown":
            inner = IMAGE.sub(lambda found: _moved(found, made), text_cell(cell, taken))
        else:
            inner = code_cell(cell, made, forms or {}, waits.get(index, ""))
        made.html += f'<div class="cell" id="cell-id={escape(cell.id)}">{inner}</div>\n'
        if index in opens:
            made.html += '<details class="section"><summary>Show this section</summary>\n'
        made.html += "</details>\n" * closes.count(index)
    return made


def text_cell(cell: NotebookNode, taken: set[str]) -> str:
    """A markdown cell; the lines that the page's own header replaces are left out."""
    lines = [line for line in cell.source.split("\n") if not line.startswith((BADGE_MARK, HERE_MARK))]
    return html_of("\n".join(lines), taken) + (NOT_CHECKED if cell.id == f"{PREFIX}-intro" else "")


def code_cell(cell: NotebookNode, made: Body, forms: dict[str, list[dict]], awaited: str = "") -> str:
    """Code, outputs, and what belongs to an exercise. The code of a question and of its answer says nothing more.

    Outputs that answer a prediction, whose key is `awaited`, are folded until it is made.
    """
    outputs, live = "", list(forms.get(cell.id, []))
    for output in shown(cell):
        outputs += output_html(output, made, live)
        if explorer := EXPLORER.match(output.get("data", {}).get("text/plain", "")):
            form = next((form for form in forms.get(cell.id, []) if form["name"] == explorer[1]), None)
            made.explorers.append((explorer[1], made.heading, cell.id, way_of(form) if form else "picture"))
    if exercise := exercises().get(cell.id):  # its stored output is that of an answer not written yet
        return code(cell.source) + help_with(exercise)
    if asks_or_tells(cell):
        return outputs
    if awaited and outputs:
        title = "Waits for your prediction above. Show it anyway"
        outputs = f'<details class="waits" data-key="{awaited}"><summary>{title}</summary>\n{outputs}</details>\n'
    if cell.source.startswith("# Set-up"):
        return folded("Set-up", code(cell.source) + outputs)
    return (folded("Show code", code(cell.source)) if is_folded(cell) else code(cell.source)) + outputs


def way_of(form: dict) -> str:
    """How an explorer lives on its page; of a recorded one, which values of each control were recorded."""
    controls = form["state"].get("recording", {}).get("controls", [])
    grid = [
        f"{control['label']} ({', '.join(texts) if len(texts) <= 6 else f'{len(texts)}: {texts[0]} … {texts[-1]}'})"
        for control in controls
        if len(texts := control.get("texts", [])) > 1
    ]
    return ": ".join([form["way"], "; ".join(grid)]) if grid else form["way"]


@cache
def exercises() -> dict[str, Exercise]:
    """Id of a cell -> the exercise that is solved in it."""
    return {f"{PREFIX}-{name}".replace("_", "-"): find(name) for name in lesson_of()}


def folded(title: str, inner: str) -> str:
    """Something that a click unfolds."""
    return f'<details class="folded"><summary>{title}</summary>{inner}</details>\n'


def help_with(exercise: Exercise) -> str:
    """Hints, one inside the other, and the solution; an edition without solutions has none here either."""
    hints, count = "", len(exercise.hints)
    for step, hint in reversed(list(enumerate(exercise.hints, 1))):
        hints = f"<details><summary>Hint {step} of {count}</summary><p>{escape(hint)}</p>{hints}</details>"
    if not exercise.recorded:
        hints += f"<details><summary>Solution</summary>{code(exercise.solution_source())}</details>"
    return f'<div class="help">{hints}</div>'


def output_html(output: NotebookNode, made: Body, live: list[dict]) -> str:
    """One output: what it shows, or text. One of the living forms is taken where the output shows the same.

    An explorer is the same if its name is: a model that was trained on another processor has other figures in its text.
    """
    if output.output_type == "stream":
        return f'<pre class="output">{escape(output.text.rstrip())}</pre>\n'
    data = output.get("data", {})
    text = data.get("text/plain", "")
    if "text/html" in data:
        inner = IMAGE.sub(lambda found: _moved(found, made), data["text/html"])
    elif kind := next((kind for kind in ENDINGS if kind in data), None):
        content = data[kind].encode() if kind == "image/svg+xml" else base64.b64decode(data[kind])
        alt = output.metadata.get(kind, {}).get("alt") or text
        inner = f'<img alt="{escape(alt)}" {_source(kind, content, made)}>'
    elif "text/markdown" in data:
        inner = html_of(data["text/markdown"])
    else:
        inner = f'<pre class="output">{escape(text)}</pre>'
    form = next((form for form in live if _beginning(form["text"]) == _beginning(text)), None)
    if form is None:
        return f'<div class="shown">{inner}</div>\n'
    live.remove(form)
    made.forms.append(form)
    return f'<div class="shown live" data-form="{len(made.forms) - 1}">{inner}</div>\n'


def _beginning(text: str) -> str:
    """An explorer's name, and the whole text of everything else."""
    return text.split(":")[0] if text.startswith("Explorer ") else text


def _moved(found: re.Match, made: Body) -> str:
    """An <img> that holds its picture, as one that names its file."""
    content = base64.b64decode(found[2])
    element = re.sub(r'\s(?:(?:width|height)="\d+"|style="[^"]*")', "", found[0])
    return re.sub(r'src="data:[^"]*"', lambda _: _source(found[1], content, made), element)


def _source(kind: str, content: bytes, made: Body) -> str:
    """The attributes of an <img> for this picture, with its size, so that the page does not jump when it comes.

    Its least width is that at which its letters are 11 pixels high; Matplotlib writes none below 9 points at 110 dpi.
    """
    path = f"pictures/{hashlib.sha256(content).hexdigest()[:16]}.{ENDINGS[kind]}"
    made.pictures[path] = content
    width, height = _size(kind, content)
    letters = min(map(float, re.findall(rb'font-size="([\d.]+)', content)), default=9 * 110 / 72)
    size = f'width="{width}" height="{height}" style="--least: {11 * width / letters:.0f}px"'
    return f'src="{path}" {size} loading="lazy" decoding="async"'


def _size(kind: str, content: bytes) -> tuple[int, int]:
    """Width and height in pixels; those of an SVG stand in its first tag."""
    if kind == "image/png":
        return struct.unpack(">II", content[16:24])
    if kind == "image/webp":
        return tuple(1 + int.from_bytes(content[start : start + 3], "little") for start in (24, 27))
    root = re.search(rb"<svg\b[^>]*>", content)[0].decode()
    return tuple(round(float(re.search(rf'\b{name}="([\d.]+)"', root)[1])) for name in ("width", "height"))
