"""The plane of a dragged query in Chromium, without Jupyter: arrow keys, mouse, discs, and hostile names."""

import pytest

from browser_contrast import contrast_faults
from tx_helpers.lessons.self_attention.query_plane import QueryPlane, answer
from widget_page import HOSTILE, mount


@pytest.fixture
def page(bare_page):
    stored = {
        **{"value": [1.0, 1.0], "description": "Query", "names": ["pear", HOSTILE]},
        **{"points": [(2.0, 0.0), (0.0, 2.0)], "axes": ["x", "y"], "temperature": 1.0},
    }
    plane = QueryPlane(**stored)
    mount(bare_page, plane._esm, stored | {"limit": plane.limit})
    return bare_page


def handle(page) -> dict:
    names = ("cx", "cy", "aria-label", "aria-valuenow", "aria-valuetext")
    return {name: page.get_by_role("slider").get_attribute(name) for name in names}


def test_the_plane_in_chromium(page):
    unit = 190 / 3.75
    assert handle(page) == {
        **{"cx": f"{190 + unit}", "cy": f"{190 - unit}", "aria-label": "Query"},
        **{"aria-valuenow": "1", "aria-valuetext": "x 1, y 1"},
    }
    page.keyboard.press("Tab")
    for key in ("ArrowRight", "ArrowUp", "Shift+ArrowLeft", "ArrowDown", "ArrowDown"):
        page.keyboard.press(key)
    assert page.evaluate("window.saved") == [0.6, 0.9]
    for _ in range(7):
        page.keyboard.press("Shift+ArrowDown")
    assert page.evaluate("window.saved") == [0.6, -2.6]
    page.keyboard.press("Shift+ArrowDown")
    assert page.evaluate("window.saved") == [0.6, -3]  # not beyond the edge


def test_dragging_follows_the_mouse_and_stops_with_the_button(page):
    box = page.get_by_role("slider").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    unit = 190 / 3.75
    page.mouse.move(x, y)
    page.mouse.move(x + unit, y)
    assert page.evaluate("window.saved") is None  # no button is down
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + unit, y + 3 * unit, steps=3)
    assert page.evaluate("window.saved") == [2, -2]
    page.mouse.up()
    page.mouse.move(x, y)
    assert page.evaluate("window.saved") == [2, -2]
    assert handle(page)["aria-valuetext"] == "x 2, y -2"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_can_be_read_on_discs_that_overlap(bare_page, scheme):
    points = {"names": ["pear", "pie", "phone"], "points": [(3.0, 0.5), (2.5, 0.1), (0.5, 3.0)], "axes": ["x", "y"]}
    points |= {"value": [3.0, -0.5], "description": "Query", "temperature": 4.0}
    plane = QueryPlane(**points)
    mount(bare_page, plane._esm, points | {"limit": plane.limit})
    bare_page.add_style_tag(content=plane._css)
    bare_page.evaluate("(scheme) => { document.documentElement.style.colorScheme = scheme }", scheme)
    for value in ([3.0, -0.5], [1.0, 1.0], [3.0, 3.0]):
        bare_page.evaluate("(value) => tell('value', value)", value)
        assert contrast_faults(bare_page, ".tx-plane") == []


def test_after_a_restart_nothing_changes(page):
    page.evaluate("() => document.getElementById('place').classList.add('jupyter-widgets-disconnected')")
    page.get_by_role("slider").press("ArrowRight")
    assert page.evaluate("window.saved") is None


def test_discs_and_diamond_are_the_package_s_attention_and_names_stay_text(page):
    radii = "() => [...document.querySelectorAll('circle')].slice(0, 2).map((c) => Number(c.getAttribute('r')))"
    place = """() => document.querySelector("path[fill='#009E73']").getAttribute("d").match(/[\\d.]+/g)
      .slice(0, 2).map(Number)"""
    unit = 190 / 3.75
    for value, temperature in (([1.0, 1.0], 1.0), ([-3.0, 2.0], 0.2), ([3.0, -0.5], 4.0)):
        page.evaluate("([value, t]) => { tell('value', value); tell('temperature', t) }", [value, temperature])
        found = answer(value, [(2.0, 0.0), (0.0, 2.0)], temperature)
        assert page.evaluate(radii) == pytest.approx([2 + 34 * weight**0.5 for weight in found.weights[0]])
        x, y = found.outputs[0]
        assert page.evaluate(place) == pytest.approx([190 + unit * x, 190 - unit * y - 8])
    assert page.get_by_text(HOSTILE).count() == 1 and page.locator("#place img").count() == 0
    page.evaluate("close_()")
    assert page.evaluate("Object.keys(heard)") == []
