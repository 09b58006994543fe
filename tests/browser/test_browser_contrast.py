"""Can it be read? The check itself, on planted faults, and the drawings that the notebooks have stored, in Chromium."""

import nbformat
import pytest

from browser_contrast import contrast_faults, picture_faults
from browser_harness import chromium
from notebook_frame import ROOT
from repository import COURSE
from tx_helpers.show.charts import bar_chart, line_chart, side_by_side, weight_map
from tx_helpers.show.plots import COLOURS
from tx_helpers.show.shapes import EDGE, GOLD, MUTED, card, line, shape, words

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def page():
    with chromium() as browser:
        page = browser.new_page()
        page.set_content("<!DOCTYPE html><title>Test</title><body></body>")
        yield page


def of_html(page, html: str) -> list[str]:
    page.evaluate("html => { document.body.innerHTML = `<main>${html}</main>` }", html)
    return contrast_faults(page, "main")


def of_drawing(
    page, *parts: str, opening: str = '<svg xmlns="http://www.w3.org/2000/svg" width="90" height="60">'
) -> list[str]:
    return picture_faults(page, [opening + "".join(parts) + "</svg>"])


DARK_ON_DARK = "contrast 1.94, expected 4.5: 'dark' in rgb(68,68,68) on rgb(17,17,17)"
GREY_ON_WHITE = "contrast 1.92, expected 4.5: 'pale' in rgb(187,187,187) on rgb(255,255,255)"
ON_DARK = '<div style="background: #111; color: #ddd">{}</div>'


@pytest.mark.parametrize(
    ("html", "found"),
    [
        ("plain", []),
        ('<p style="color: #bbb">pale</p>', [GREY_ON_WHITE]),
        ('<p style="color: #000; opacity: 0.2667">pale</p>', [GREY_ON_WHITE]),
        ('<p style="color: rgb(0 0 0 / 0.2667)">pale</p>', [GREY_ON_WHITE]),
        (ON_DARK.format("<p>readable</p>"), []),
        (ON_DARK.format('<p style="color: #444">dark</p>'), [DARK_ON_DARK]),
        (ON_DARK.format('<p style="background: white; color: #bbb">pale</p>'), [GREY_ON_WHITE]),
        ('<input value="pale" style="color: #bbb; background: white">', [GREY_ON_WHITE]),
        ('<select style="color: #bbb; background: white"><option>pale</option></select>', [GREY_ON_WHITE]),
        ('<button disabled style="color: #bbb">pale</button><p style="color: #bbb" hidden>pale</p>', []),
        ('<svg><rect width="300" height="90" fill="#111"/><text y="20" fill="#ddd">light</text></svg>', []),
        ('<svg><text y="20" fill="#bbb">pale</text><rect width="300" height="90" fill="#111"/></svg>', [GREY_ON_WHITE]),
    ],
)  # fmt: skip
def test_what_is_too_pale_on_a_page_is_found(page, html, found):
    assert of_html(page, html) == found


def test_what_is_too_pale_in_a_drawing_is_found(page):
    ground, text = shape("rect", width=90, height=60, fill="#FFFFFF"), words(5, 20, "pale", fill="#BBBBBB")
    assert of_drawing(page, ground, words(5, 20, "dark"), line(0, 30, 90, 30, MUTED), line(0, 40, 90, 40, EDGE)) == []
    assert of_drawing(page, ground, text) == [GREY_ON_WHITE]
    assert of_drawing(page, words(5, 20, "dark")) == ["'dark' has no background of its own"]
    pale = "contrast 1.92, expected 3: a {} in rgb(187,187,187) on rgb(255,255,255)"
    assert of_drawing(page, ground, line(0, 30, 90, 30, "#BBBBBB")) == [pale.format("line")]
    for tag, where in (("path", {"d": "M0,9H60"}), ("polyline", {"points": "0,9 60,9"})):
        assert of_drawing(page, ground, shape(tag, fill="none", stroke="#BBBBBB", **where)) == [pale.format(tag)]
    over = shape("image", x=0, y=0, width=90, height=60)
    assert of_drawing(page, ground, over, words(5, 20, "dark")) == ["'dark' has an image behind it"]
    black = shape("circle", cx=15, cy=15, r=15, fill="#000000")
    assert "'ink' in rgb(31,41,51) on rgb(0,0,0)" in of_drawing(page, ground, black, words(5, 20, "ink"))[0]


def test_what_is_too_pale_on_a_dark_page_alone_is_found(page):
    """The dark partner of a colour takes its place where the page is dark."""
    on_gold = [shape("rect", x=5, y=5, width=80, height=50, fill=GOLD.full), words(9, 20, "ink")]
    (fault,) = picture_faults(page, [card(90, 60, on_gold, "Words.").svg])
    assert "'ink' in rgb(230,234,238) on rgb(230,159,0)" in fault


def test_every_line_of_a_chart_is_to_be_seen_on_its_card(page):
    assert picture_faults(page, [card(90, 60, [line(9, 9, 80, 50, each)], "A line.").svg for each in COLOURS]) == []


def test_every_chart_can_be_read_on_any_page(page):
    lines = {name: ([1, 2, 4], [n, n + 1, n]) for n, name in enumerate("abcdef")}
    charts = [
        line_chart(lines, size=(300, 200), title="Title", xlabel="x", ylabel="y", logx=True),
        bar_chart({"a": 0.5, "b": 1.0}, size=(200, 200), title="Bars"),
        weight_map([[n / 20 for n in range(21)]], [str(n) for n in range(21)], ["q"], size=(900, 90), title="Map"),
    ]
    for chart in charts:
        assert picture_faults(page, [side_by_side([chart], alt="Some numbers.").svg]) == []


def drawings_of(path) -> list[str]:
    """Every drawing that a notebook has stored, an explorer's among them."""
    cells = nbformat.read(path, as_version=4).cells
    outputs = [output.get("data", {}) for cell in cells for output in cell.get("outputs", [])]
    return [data["image/svg+xml"] for data in outputs if "image/svg+xml" in data]


def test_every_stored_drawing_and_every_figure_can_be_read_on_any_page(page):
    drawings = {path.stem: drawings_of(path) for path in COURSE}
    drawings |= {path.name: [path.read_text(encoding="utf-8")] for path in sorted((ROOT / "figures").glob("*.svg"))}
    assert {name: found for name, svgs in drawings.items() if (found := picture_faults(page, svgs))} == {}
