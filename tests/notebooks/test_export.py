"""Explorers without a kernel: what GitHub shows, and an HTML page made by nbconvert, without a network."""

import base64
import re
from html.parser import HTMLParser

import nbformat
import pytest
from nbconvert import HTMLExporter
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

import export_html
from browser_moves import cases_of
from repository import COURSE
from tx_helpers.show.explore import Explore
from tx_helpers.show.plots import Picture, Svg, new_figure
from tx_helpers.widgets.attention_view import AttentionView

SQUARE = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="{}" height="9"/></svg>'
# What an explorer prints of itself.
NAMED = re.compile(r"^(?:Explorer|AttentionView|AttentionStepper) '([\w-]+)': (.+)", re.DOTALL)
PICTURES = ("image/svg+xml", "image/png")


class Shown(HTMLParser):
    """The pictures of a page that need no network: their alt texts."""

    def __init__(self, html: str):
        super().__init__()
        self.alts: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attributes: list) -> None:
        given = dict(attributes)
        if tag == "img" and (given.get("src") or "").startswith("data:image/"):
            self.alts.append(given.get("alt") or "")
        elif tag == "svg" and given.get("role") == "img":
            self.alts.append(given.get("aria-label") or "")


def exported(notebook) -> list[str]:
    """Alt texts of the pictures of the notebook's HTML export, spaces and line ends made one."""
    return [" ".join(alt.split()) for alt in Shown(export_html.page(notebook)).alts]


def explorers_in(notebook) -> dict[str, str]:
    """Name -> alt text of the picture that each explorer left behind in the stored outputs."""
    found = {}
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            match = NAMED.match(data.get("text/plain", ""))
            mime = next((mime for mime in PICTURES if mime in data), None)
            if match and mime:
                found[match[1]] = " ".join(output.metadata.get(mime, {}).get("alt", "").split())
    return found


@pytest.mark.slow
@pytest.mark.parametrize("path", COURSE, ids=lambda path: path.stem)
def test_every_explorer_leaves_its_picture_in_an_export(path):
    notebook = nbformat.read(path, as_version=4)
    left = explorers_in(notebook)
    assert sorted(left) == sorted(case.explorer for case in cases_of() if case.notebook == path.stem)
    assert [name for name, alt in left.items() if len(alt) < 20] == [], "alt text of 20 characters or more"
    shown = exported(notebook)
    assert [name for name, alt in left.items() if alt not in shown] == []


def drawn_by_svg(width):
    return Svg(SQUARE.format(width), 'The square of "four" is <16>.')


def drawn_by_matplotlib(width):
    figure, axis = new_figure(2, 2)
    axis.bar([0], [width])
    return Picture(figure, alt='The square of "four" is <16>.')


@pytest.mark.parametrize(
    "explorer",
    [
        Explore(drawn_by_svg, "square", width=(1, 9)),
        Explore(drawn_by_matplotlib, "square", width=(1, 9)),
        AttentionView.from_tensor([[[[0.25, 0.75], [1.0, 0.0]]]], ["a", "<b>"], name="square"),
    ],
    ids=["svg", "png", "attention"],
)
def test_a_live_widget_saved_without_its_state_is_exported_as_picture(explorer):
    """A learner's own notebook holds the view of a widget that is gone, beside the picture."""
    data, metadata = explorer._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in data
    output = new_output("display_data", as_stored(data), metadata=metadata)
    notebook = new_notebook(cells=[new_code_cell("square", outputs=[output])])
    (alt,) = explorers_in(notebook).values()
    assert exported(notebook) == [alt]
    plain, _ = HTMLExporter().from_notebook_node(notebook)  # nbconvert alone, as most people call it
    assert [" ".join(alt.split()) for alt in Shown(plain).alts] == [alt]


def as_stored(data: dict) -> dict:
    """Bytes as the text that a notebook file holds."""
    return {mime: base64.b64encode(part).decode() if isinstance(part, bytes) else part for mime, part in data.items()}


def test_what_jupyter_folds_is_folded_on_the_page():
    cells = [
        new_markdown_cell("# 07"),
        new_markdown_cell("## Optional: more"),
        new_markdown_cell("### Optional: much more"),
        new_markdown_cell("Text."),
        new_code_cell("f(1)"),
        new_markdown_cell("## End"),
        new_code_cell("f(2)", metadata={"tags": ["hide-input"]}),
    ]
    html = export_html.page(new_notebook(cells=cells)).partition("<main>")[2].partition("</main>")[0]
    parts = re.findall(r"<details|</details>|Text\.|Show [a-z ]+|>[12]<|id=.End.", html)
    section, code = ["<details", "Show this section"], ["<details", "Show code"]
    inside = [*section, *section, "Text.", ">1<", "</details>", "</details>"]
    assert parts == [*inside, 'id="End"', *code, ">2<", "</details>"]


def test_pictures_that_need_a_network_or_have_no_name_do_not_count():
    page = '<img src="https://x.org/a.png" alt="far"><img src="data:image/png;base64,AA" alt="near"><svg role="img">'
    assert Shown(page).alts == ["near", ""]
