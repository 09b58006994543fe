"""The course's explorers as they are on pages without a kernel: what they show is what Python draws, freshly."""

import base64
import json
import random
import zlib

import pytest

from browser_moves import cases_of
from notebook_frame import ROOT
from player_page import PICTURE, mount_form, put, shown
from record_pages import bytes_of, recorded
from test_widgets_alike import BARE
from tx_helpers.show.camera import Camera
from tx_helpers.show.stored import PageForm

# It computes in the page (test_computed_pages_js.py).
OTHERS = {"hinge_explorer"}
LIGHT = {"split_explorer", "stretched_explorer"}
SAMPLE, MOVES = 40, 6  # settings that are compared, and those that are chosen in the page


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(make, id=make.__name__, marks=[] if make.__name__ in LIGHT else pytest.mark.thorough)
        for make in BARE
        if make.__name__ not in OTHERS
    ],
)
def test_what_is_recorded_is_what_python_draws(make, bare_page):
    explorer, fresh = make(), make()
    form = explorer.page_form()
    content = json.loads(zlib.decompress(form.state["frames"]))
    values = [about for about in form.state["recording"]["controls"] if "values" in about]
    camera = Camera(fresh, [])
    settings = random.Random(0).sample(sorted(content["settings"]), min(SAMPLE, len(content["settings"])))
    for setting in settings:
        places = map(int, setting.split(","))
        fresh.forget()
        camera.move({about["key"]: about["values"][place] for about, place in zip(values, places, strict=True)})
        picture, alt, error, _ = content["frames"][content["settings"][setting]]
        assert ("".join(content["pieces"][piece] for piece in picture), alt, error) == fresh.shown
    assert len(zlib.compress(form.state["frames"])) < 125_000

    mount_form(bare_page, form)
    bare_page.locator(".tx-picture").wait_for()
    for setting in settings[:MOVES]:
        if any("led" in about for about in values):
            break  # a slider whose end moves has not the same stops everywhere
        places = list(map(int, setting.split(",")))
        for about, place in zip(values, places, strict=True):
            put(bare_page, about, place)
        fresh.forget()
        fresh.set(**{about["key"]: about["values"][place] for about, place in zip(values, places, strict=True)})
        assert shown(bare_page) == (fresh.summary, "")
        assert bare_page.evaluate(PICTURE, fresh.shown[0]) == ""


def as_bytes(value: object) -> object:
    """What the file holds as base64."""
    return base64.b64decode(value["base64"]) if isinstance(value, dict) and set(value) == {"base64"} else value


@pytest.mark.thorough
@pytest.mark.parametrize("path", sorted((ROOT / "notebooks").glob("*.ipynb")), ids=lambda path: path.stem)
def test_all_that_a_notebook_shows_lives_on_a_page(path, bare_page):
    found = recorded(path)
    forms = [form for cell in found["forms"].values() for form in cell]
    assert sum(map(bytes_of, forms)) < 700_000
    for form in forms:
        json.dumps(form["state"], allow_nan=False)  # a browser reads neither Infinity nor NaN
        state = {key: as_bytes(value) for key, value in form["state"].items()}
        script = found["scripts"][form["script"]]
        bare_page.evaluate("document.getElementById('place').replaceChildren()")
        mount_form(bare_page, PageForm(script["esm"], script["css"], state, form["text"]))
        if form["kind"] == "Explore":
            bare_page.wait_for_function("document.querySelector('.tx-summary').textContent")
            assert form["text"] == f"Explorer {form['name']!r}: {shown(bare_page)[0]}"
    assert {case.explorer for case in cases_of() if case.notebook == path.stem} <= {form["name"] for form in forms}
