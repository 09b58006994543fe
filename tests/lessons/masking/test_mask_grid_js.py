"""The clickable mask in Chromium, without Jupyter: by mouse and by keyboard, and hostile words."""

import pytest

from tx_helpers.lessons.masking.mask_grid import MaskGrid
from widget_page import HOSTILE, focused, mount

STATE = """() => [...document.querySelectorAll("[role=checkbox]")].map((node) => node.getAttribute("aria-checked"))"""
STOPS = (
    """() => [...document.querySelectorAll("[role=checkbox][tabindex='0']")].map((n) => n.getAttribute("aria-label"))"""
)
# What the texts of the three tables say: scores, mask, weights with their sums.
TEXTS = """() => [...document.querySelectorAll("svg.tx-mask")].map((svg) =>
  [...svg.querySelectorAll("rect + text")].filter((text) => text.getAttribute("font-size") === "11" &&
    text.hasAttribute("aria-hidden")).map((text) => text.textContent).join(" "))"""
SUMS = (
    """() => [...document.querySelectorAll("svg.tx-mask:last-child text[font-size='12']")].map((t) => t.textContent)"""
)
FRAMES = """() => [...document.querySelectorAll("svg.tx-mask > rect[fill=none]")].map(
  (rect) => [rect.getAttribute("x"), rect.getAttribute("y")])"""
TABLE = {
    "base": [[1, 0, 0], [1, 1, 0]],
    "scores": [[0.5, -2.0, 1.0], [0.0, 3.0, -1.0]],
    "weights": [[1.0, 0.0, 0.0], [None, None, None]],
    "queries": ["a", HOSTILE],
    "keys": ["x", "y", "z"],
    "fill": "−∞",
}


@pytest.fixture
def page(bare_page):
    stored = {"value": ["1,0:0"], "description": "The mask", "table": TABLE}
    bare_page.add_style_tag(content=MaskGrid._css)
    mount(bare_page, MaskGrid._esm, stored)
    return bare_page


def checked(page) -> str:
    return "".join("1" if state == "true" else "0" for state in page.evaluate(STATE))


def test_it_shows_the_rules_and_what_was_set_by_hand(page):
    assert checked(page) == "100" + "010"
    assert page.get_by_role("group", name="The mask").count() == 1


def test_the_three_tables_stand_in_a_row_with_numbers_scales_and_sums(page):
    scores, mask, weights = page.evaluate(TEXTS)
    assert scores == "0.5 −2.0 1.0 0.0 3.0 −1.0"
    assert mask == "0 −∞ −∞ −∞ 0 −∞"  # one by hand
    assert weights == "1.00   NaN NaN NaN"
    assert page.evaluate(SUMS) == ["sum", "1.00", "NaN"]
    tops = page.evaluate(
        "() => [...document.querySelectorAll('svg.tx-mask')].map((s) => s.getBoundingClientRect().top)"
    )
    assert len(tops) == 3 and len(set(tops)) == 1
    for said in ("Scores", "+ mask", "→ softmax → weights", "−2.0", "3.0", "0: may look", "−∞: may not", "0.5"):
        assert page.get_by_text(said, exact=True).count() >= 1, said


def test_the_cell_under_focus_or_mouse_is_framed_and_put_into_words(page):
    cell = page.get_by_role("checkbox", name="query 0 a, key 1 y", exact=True)
    cell.hover()
    assert page.get_by_text("Query a, key y: score −2.00, mask −∞, weight 0.00").count() == 1
    assert len(page.evaluate(FRAMES)) == 2 and len({tuple(place) for place in page.evaluate(FRAMES)}) == 1
    page.get_by_text("3.0", exact=True).last.hover(force=True)  # a score: the second query's, of the second key
    assert page.get_by_text("key y: score 3.00, mask 0, weight NaN").count() == 1
    page.get_by_role("checkbox").first.focus()
    page.keyboard.press("ArrowDown")
    said = page.evaluate("document.activeElement.getAttribute('aria-description')")
    assert said == "score 0.00, mask −∞, weight NaN"


def test_new_weights_are_painted_without_building_the_tables_anew(page):
    page.evaluate("() => { window.first = document.querySelector('[role=checkbox]') }")
    page.evaluate("table => tell('table', table)", TABLE | {"weights": [[0.25, 0.75, 0.0], [0.5, 0.5, 0.0]]})
    assert page.evaluate("document.querySelector('[role=checkbox]') === window.first")
    assert page.evaluate(TEXTS)[2] == "0.25 0.75  0.50 0.50 " and page.evaluate(SUMS)[1:] == ["1.00", "1.00"]


def test_a_click_sets_a_cell_and_a_second_one_takes_it_back(page):
    cell = page.get_by_role("checkbox", name="query 0 a, key 2 z", exact=True)
    cell.click()
    assert page.evaluate("window.saved") == ["1,0:0", "0,2:1"] and checked(page) == "101" + "010"
    cell.click()
    assert page.evaluate("window.saved") == ["1,0:0"] and checked(page) == "100" + "010"


def test_after_a_restart_nothing_changes(page):
    page.evaluate("() => document.getElementById('place').classList.add('jupyter-widgets-disconnected')")
    page.get_by_role("checkbox", name="query 0 a, key 2 z", exact=True).click()
    assert page.evaluate("window.saved") is None


def test_the_keyboard_walks_in_two_directions_and_stops_at_the_edge(page):
    page.keyboard.press("Tab")
    assert focused(page) == "query 0 a, key 0 x"
    for key in ("ArrowUp", "ArrowLeft", "ArrowRight", "ArrowDown", "ArrowDown", "ArrowRight", "ArrowRight"):
        page.keyboard.press(key)
    assert focused(page) == f"query 1 {HOSTILE}, key 2 z" and page.evaluate("window.saved") is None
    page.keyboard.press("Enter")
    assert page.evaluate("window.saved") == ["1,0:0", "1,2:1"]
    page.keyboard.press("Home")
    page.keyboard.press(" ")  # what was forbidden by hand is allowed again, as the rules say
    assert page.evaluate("window.saved") == ["1,2:1"] and checked(page) == "100" + "111"
    page.keyboard.press("End")
    assert page.evaluate(STOPS) == [focused(page)] == [f"query 1 {HOSTILE}, key 2 z"]


def test_another_table_keeps_the_clicks_and_the_focus(page):
    page.get_by_role("checkbox", name="query 0 a, key 2 z", exact=True).focus()
    page.evaluate(
        "table => tell('table', table)",
        {"base": [[0, 0], [0, 0]], "scores": [[0, 1], [2, 3]], "weights": [[0, 0], [0, 0]]}
        | {"queries": ["a", "b"], "keys": ["x", "y"], "fill": "−1e9"},
    )
    assert checked(page) == "0000" and page.get_by_role("checkbox").count() == 4
    assert len(page.evaluate(STOPS)) == 1 and focused(page) == page.evaluate(STOPS)[0]
    page.evaluate("tell('value', ['1,1:1'])")
    assert checked(page) == "0001"


def test_a_hostile_word_stays_text_and_it_lets_go_at_the_end(page):
    assert page.evaluate("document.querySelectorAll('#place img, #place script').length") == 0
    page.evaluate("close_()")
    assert page.evaluate("Object.keys(heard)") == []
