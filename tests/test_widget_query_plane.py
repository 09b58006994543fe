"""Drag a query: its numbers against the formula, and the plane in Chromium, without Jupyter."""

import numpy as np
import pytest
import traitlets

from tx_helpers.widgets.query_plane import QueryPlane, answer, query_explorer

KEYS = [(3.0, 0.5), (0.5, 3.0), (0.0, 0.0)]
HOSTILE = "<img src=x onerror=alert(1)></script>\"' $$"


@pytest.mark.parametrize(("query", "temperature"), [((1.0, 1.0), 1.0), ((-3.0, 2.0), 0.2), ((0.0, 0.0), 4.0)])
def test_the_answer_is_the_formula(query, temperature):
    keys = np.array(KEYS)
    powers = np.exp(keys @ np.array(query) / 2**0.5 / temperature)
    found = answer(query, KEYS, temperature)
    np.testing.assert_allclose(found.weights, powers / powers.sum(), atol=1e-12)
    np.testing.assert_allclose(found.output, powers / powers.sum() @ keys, atol=1e-12)


def test_what_cannot_be_is_refused():
    with pytest.raises(ValueError, match=r"^answer: temperature=0, expected more than 0$"):
        answer((1, 1), KEYS, 0)
    for value in ([3.1, 0.0], [1.0]):
        with pytest.raises(traitlets.TraitError, match="within ±3"):
            QueryPlane(value=value)


def test_the_explorer_moves_discs_and_diamond():
    explorer = query_explorer(dict(zip(("pear", "phone", "the"), KEYS, strict=True)))
    plane = explorer.controls["query"]
    explorer.set(query=[3.0, -1.0], temperature=2.0)
    found = answer((3.0, -1.0), KEYS, 2.0)
    assert plane.weights == found.weights and plane.output == found.output
    assert explorer.summary == (
        f"Query (3.0, -1.0), length 3.16, temperature 2: it looks most at 'pear' ({found.weights[0]:.2f}), least at "
        f"weight {min(found.weights):.2f}. Output ({found.output[0]:.2f}, {found.output[1]:.2f})."
    )
    with pytest.raises(ValueError, match="within ±3"):
        explorer.set(query=[4.0, 0.0])


# ---------------------------------------------------------------------------------------------------- in the browser

MOUNT = """async ({ esm, stored }) => {
  const heard = {};
  const model = {
    get: (key) => stored[key],
    set: (key, value) => { stored[key] = value; heard[`change:${key}`]?.(); },
    on: (event, call) => { heard[event] = call; }, off: (event) => { delete heard[event]; },
    save_changes: () => { window.saved = stored.value; },
  };
  const module = await import(URL.createObjectURL(new Blob([esm], { type: "text/javascript" })));
  window.tell = (key, value) => model.set(key, value);
  window.heard = heard;
  window.close_ = module.default.render({ model, el: document.getElementById("plane") });
}"""


@pytest.fixture
def page():
    pytest.importorskip("playwright", reason="playwright is not installed: the plane is not tested in a browser")
    from browser_harness import chromium

    plane = QueryPlane(
        value=[1.0, 1.0], description="Query", names=["pear", HOSTILE], points=[(2.0, 0.0), (0.0, 2.0)],
        axes=["x", "y"], weights=[0.25, 0.75], output=[0.5, 1.5],
    )  # fmt: skip
    keys = ("value", "description", "names", "points", "axes", "limit", "weights", "output")
    with chromium() as browser:
        page = browser.new_page()
        complaints = []
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: (complaints.append(dialog.message), dialog.dismiss()))
        page.set_content('<!DOCTYPE html><html lang="en"><title>Plane</title><main id="plane"></main></html>')
        page.evaluate(MOUNT, {"esm": str(plane._esm), "stored": {key: getattr(plane, key) for key in keys}})
        yield page
        assert complaints == []


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


def test_discs_are_as_large_as_the_weights_say_and_names_stay_text(page):
    radii = "() => [...document.querySelectorAll('circle')].slice(0, 2).map((c) => Number(c.getAttribute('r')))"
    assert page.evaluate(radii) == pytest.approx([2 + 34 * 0.25**0.5, 2 + 34 * 0.75**0.5])
    page.evaluate("tell('weights', [1, 0])")
    assert page.evaluate(radii) == [36, 2]
    assert page.get_by_text(HOSTILE).count() == 1 and page.locator("#plane img").count() == 0
    page.evaluate("close_()")
    assert page.evaluate("Object.keys(heard)") == []
