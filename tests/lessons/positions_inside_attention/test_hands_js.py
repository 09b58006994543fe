"""The clocks in Chromium, without Jupyter: dragging, arrow keys, and a page that computes for itself."""

import math

import pytest

from browser_contrast import contrast_faults
from player_page import mount_form, shown, turn
from tx_helpers.lessons.positions_inside_attention.hands import hands_explorer
from widget_page import mount


@pytest.fixture
def page(bare_page):
    hands = hands_explorer(3).controls["hands"]
    stored = {name: getattr(hands, name) for name in ("value", "description", "both", "ahead", "last", "waves")}
    mount(bare_page, hands._esm, stored)
    bare_page.add_style_tag(content=hands._css)
    return bare_page


def middle(page, which: int, pair: int) -> tuple[float, float]:
    box = page.locator(f'[data-hand="{which}"]').nth(pair).bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_a_hand_is_dragged_round_its_dial_and_all_dials_follow(page):
    x, y = middle(page, 0, 1)  # pair 1 turns by 10^(−1/2) a position; the query stands at 9
    before = middle(page, 0, 0)
    angle, radius = 9 * 10**-0.5, 36
    centre = x - radius * math.cos(angle), y + radius * math.sin(angle)
    page.mouse.move(x, y)
    page.mouse.down()
    for position in (10, 11, 12):
        turned = position * 10**-0.5
        page.mouse.move(centre[0] + radius * math.cos(turned), centre[1] - radius * math.sin(turned))
    page.mouse.up()
    assert page.evaluate("window.saved") == [12, 2]
    after = middle(page, 0, 0)
    assert math.dist(before, after) == pytest.approx(2 * radius * abs(math.sin(1.5)), abs=0.5)  # 3 radians further


def test_arrow_keys_stay_within_the_positions(page):
    key = page.get_by_role("slider", name="Key position n")
    key.press("Shift+ArrowLeft")
    assert page.evaluate("window.saved") == [9, 0]
    key.press("ArrowUp")
    assert page.evaluate("window.saved") == [9, 1] and key.get_attribute("aria-valuenow") == "1"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_words_can_be_read(page, scheme):
    page.evaluate("(scheme) => { document.documentElement.style.colorScheme = scheme }", scheme)
    assert contrast_faults(page, ".tx-hands") == []


def test_a_page_without_a_kernel_says_and_draws_the_same(bare_page):
    explorer = hands_explorer(3)
    mount_form(bare_page, explorer.page_form())
    bare_page.get_by_role("slider", name="Query position m").press("ArrowRight")
    turn(bare_page, "slider", "Key ahead by a", 1)
    turn(bare_page, "slider", "Move both by", 20)
    explorer.set(hands=[10, 2], ahead=1, both=20)
    assert shown(bare_page) == (explorer.summary, "")
