"""The map of the model in Chromium, without Jupyter: its buttons by mouse and by keyboard, and hostile names."""

import pytest

from toy_models import model as toy
from tx_helpers.lessons.full_model.model_map import ModelMap
from tx_helpers.lessons.full_model.model_parts import names
from tx_helpers.nn.models import EncoderDecoder
from widget_page import HOSTILE, focused, mount

STATE = """() => [...document.querySelectorAll("[role=button]")].map((node) =>
  [node.getAttribute("aria-label"), node.getAttribute("aria-pressed"), node.getAttribute("tabindex")])"""


@pytest.fixture(scope="module")
def paths():
    return names(toy(EncoderDecoder, n_layers=2))


@pytest.fixture
def page(paths, bare_page):
    show_map(bare_page, ModelMap({**paths, "output": HOSTILE}, description="Map", value="encoder"))
    return bare_page


def show_map(page, plan: ModelMap) -> None:
    stored = {name: getattr(plan, name) for name in ("value", "description", "parts", "size")}
    mount(page, plan._esm, stored)


def chosen(page) -> list[str]:
    """The names of the pressed buttons, and that Tab reaches them and no other."""
    state = page.evaluate(STATE)
    assert [name for name, pressed, _ in state if pressed == "true"] == [name for name, _, tab in state if tab == "0"]
    return [name for name, pressed, _ in state if pressed == "true"]


def test_a_click_chooses(page):
    assert chosen(page) == ["encoder"]
    page.get_by_role("button", name="decoder block 2 › cross-attention", exact=True).click()
    assert page.evaluate("window.saved") == "decoder.blocks.1.cross_attention"
    assert chosen(page) == ["decoder block 2 › cross-attention"]


def test_after_a_restart_nothing_changes(page):
    page.evaluate("() => document.getElementById('place').classList.add('jupyter-widgets-disconnected')")
    page.get_by_role("button", name="decoder block 2 › cross-attention", exact=True).click()
    assert page.evaluate("window.saved") is None


def test_keys_walk_and_enter_or_space_chooses(page):
    page.keyboard.press("Tab")
    assert focused(page) == "encoder"
    page.keyboard.press("ArrowLeft")  # there is nothing before the first
    assert focused(page) == "encoder"
    for key in ("ArrowRight", "ArrowDown", "ArrowDown", "ArrowUp"):
        page.keyboard.press(key)
    assert focused(page) == "encoder › positions" and page.evaluate("window.saved") is None
    page.keyboard.press("Enter")
    assert page.evaluate("window.saved") == "encoder.input.positions" and chosen(page) == ["encoder › positions"]
    page.keyboard.press("End")
    page.keyboard.press(" ")
    assert page.evaluate("window.saved") == "output"
    page.keyboard.press("Home")
    assert focused(page) == "encoder"


def test_the_kernel_can_choose_and_an_unknown_part_is_none(page):
    page.evaluate("tell('value', 'decoder.norm')")
    assert chosen(page) == ["decoder › last norm"]
    page.evaluate("tell('value', 'elsewhere')")
    state = page.evaluate(STATE)
    assert not [name for name, pressed, _ in state if pressed == "true"]
    assert [name for name, _, tab in state if tab == "0"] == ["encoder"]


def test_a_hostile_name_stays_text(page):
    assert page.get_by_role("button", name=HOSTILE, exact=True).count() == 1
    assert page.evaluate("document.querySelectorAll('#place img, #place script').length") == 0
    assert page.locator("#place text").last.text_content() == HOSTILE


def test_it_lets_go_at_the_end(page):
    page.evaluate("close_()")
    assert page.evaluate("Object.keys(heard)") == []
