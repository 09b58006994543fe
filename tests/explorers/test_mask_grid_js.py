"""The clickable mask in Chromium, without Jupyter: by mouse and by keyboard, and hostile words."""

import pytest

from tx_helpers.widgets.mask_grid import MaskGrid
from widget_page import HOSTILE, focused, mount

STATE = """() => [...document.querySelectorAll("[role=checkbox]")].map((node) => node.getAttribute("aria-checked"))"""
STOPS = (
    """() => [...document.querySelectorAll("[role=checkbox][tabindex='0']")].map((n) => n.getAttribute("aria-label"))"""
)
TABLE = {"base": [[1, 0, 0], [1, 1, 0]], "queries": ["a", HOSTILE], "keys": ["x", "y", "z"]}


@pytest.fixture
def page(bare_page):
    stored = {"value": ["1,0:0"], "description": "The mask", "table": TABLE}
    mount(bare_page, MaskGrid._esm, stored)
    return bare_page


def checked(page) -> str:
    return "".join("1" if state == "true" else "0" for state in page.evaluate(STATE))


def test_it_shows_the_rules_and_what_was_set_by_hand(page):
    assert checked(page) == "100" + "010"
    assert page.get_by_role("group", name="The mask").count() == 1


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
        "table => tell('table', table)", {"base": [[0, 0], [0, 0]], "queries": ["a", "b"], "keys": ["x", "y"]}
    )
    assert checked(page) == "0000" and page.get_by_role("checkbox").count() == 4
    assert len(page.evaluate(STOPS)) == 1 and focused(page) == page.evaluate(STOPS)[0]
    page.evaluate("tell('value', ['1,1:1'])")
    assert checked(page) == "0001"


def test_a_hostile_word_stays_text_and_it_lets_go_at_the_end(page):
    assert page.evaluate("document.querySelectorAll('#place img, #place script').length") == 0
    page.evaluate("close_()")
    assert page.evaluate("Object.keys(heard)") == []
