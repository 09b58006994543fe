"""The grid of heads in Chromium, without Jupyter: its buttons by mouse and by keyboard, and hostile names."""

import pytest

from tx_helpers.lessons.multi_head_attention.head_removal import Head, HeadGrid
from widget_page import HOSTILE, focused, mount

SELF, CROSS = "decoder.blocks.0.self_attention", "decoder.blocks.0.cross_attention"
SHARES = {Head(SELF, 0): 1.0, Head(SELF, 1): 0.5, Head(CROSS, 0): 0.235, Head(CROSS, 1): 0.0}
STATE = """() => [...document.querySelectorAll("[role=button]")].map((node) =>
  [node.getAttribute("aria-label"), node.getAttribute("aria-pressed"), node.textContent])"""


@pytest.fixture
def page(bare_page):
    grid = HeadGrid(SHARES, "Heads", [Head(CROSS, 0)])
    heads = [*grid.heads[:3], {**grid.heads[3], "name": HOSTILE}]
    stored = {"value": grid.value, "description": grid.description, "heads": heads}
    mount(bare_page, grid._esm, stored)
    return bare_page


def pressed(page) -> list[str]:
    return [name for name, state, _ in page.evaluate(STATE) if state == "true"]


def test_each_button_says_what_is_lost_without_its_head(page):
    names = [f"decoder block 1 {kind}, head {n}" for kind in ("self-attention", "cross-attention") for n in (1, 2)]
    said = ["without: 100 %", "without: 50 %", "✗ removed", "without: 0 %"]
    state = ["false", "false", "true", "false"]
    rows = zip([*names[:3], HOSTILE], state, said, strict=True)
    assert page.evaluate(STATE) == [list(row) for row in rows]
    fills = page.evaluate("""() => [...document.querySelectorAll('[role=button] rect')].map((rect) =>
      [rect.getAttribute('fill'), rect.getAttribute('fill-opacity')])""")
    assert fills == [["#D55E00", "0"], ["#D55E00", "0.3"], ["#1F2933", "1"], ["#D55E00", "0.6"]]


def test_a_click_removes_and_another_brings_back(page):
    button = page.get_by_role("button", name="decoder block 1 self-attention, head 2", exact=True)
    button.click()
    assert page.evaluate("saved") == [[CROSS, 0], [SELF, 1]] and len(pressed(page)) == 2
    button.click()
    page.get_by_role("button", name="decoder block 1 cross-attention, head 1", exact=True).click()
    assert page.evaluate("saved") == [] and pressed(page) == []


def test_after_a_restart_nothing_changes(page):
    page.evaluate("() => document.getElementById('place').classList.add('jupyter-widgets-disconnected')")
    page.get_by_role("button", name="decoder block 1 self-attention, head 2", exact=True).click()
    assert page.evaluate("window.saved") is None


def test_arrows_walk_in_rows_and_columns_and_enter_or_space_presses(page):
    page.keyboard.press("Tab")
    assert focused(page) == "decoder block 1 self-attention, head 1"
    for key in ("ArrowUp", "ArrowLeft"):  # there is nothing
        page.keyboard.press(key)
        assert focused(page) == "decoder block 1 self-attention, head 1"
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    assert focused(page) == HOSTILE and page.evaluate("window.saved") is None
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    assert page.evaluate("saved") == []
    page.keyboard.press("Home")
    page.keyboard.press(" ")
    assert page.evaluate("saved") == [[SELF, 0]]
    page.keyboard.press("End")
    assert focused(page) == HOSTILE
    page.keyboard.press("Tab")
    assert page.evaluate("() => document.activeElement === document.body")


def test_the_kernel_can_press_and_a_hostile_name_stays_text(page):
    page.evaluate("(value) => tell('value', value)", [[SELF, 0], [CROSS, 1]])
    assert pressed(page) == ["decoder block 1 self-attention, head 1", HOSTILE]
    assert page.evaluate("document.querySelectorAll('#place img, #place script').length") == 0


def test_it_lets_go_at_the_end(page):
    page.evaluate("close_()")
    assert page.evaluate("Object.keys(heard)") == []
