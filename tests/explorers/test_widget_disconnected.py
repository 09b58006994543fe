"""After a restart of the kernel nobody answers a click: the page must not show a change that has not happened."""

import pytest

pytest.importorskip("playwright", reason="playwright is not installed: the widgets are not tested in a browser")

import torch

from toy_models import model as toy
from tx_helpers.models import EncoderDecoder
from tx_helpers.widgets.head_removal import Head, HeadGrid
from tx_helpers.widgets.mask_grid import MaskGrid
from tx_helpers.widgets.model_map import ModelMap
from tx_helpers.widgets.model_parts import names
from tx_helpers.widgets.query_plane import QueryPlane
from widget_page import bare_page, mount


def mask_grid() -> MaskGrid:
    grid = MaskGrid("The mask")
    grid.show(torch.ones(2, 2, dtype=torch.bool), "ab", "ab")
    return grid


WIDGETS = {
    "heads": lambda: HeadGrid({Head("decoder.blocks.0.self_attention", n): 1.0 for n in range(2)}, "Heads"),
    "mask": mask_grid,
    "map": lambda: ModelMap(names(toy(EncoderDecoder)), description="Map", value="encoder"),
    "plane": lambda: QueryPlane(
        value=[1.0, 1.0], description="Query", names=["a"], points=[(1.0, 2.0)], axes=["x", "y"], weights=[1.0]
    ),
}


@pytest.mark.parametrize("name", WIDGETS)
def test_without_a_kernel_a_press_changes_nothing(name):
    widget = WIDGETS[name]()
    stored = {trait: value for trait, value in widget.get_state().items() if not trait.startswith("_")}
    with bare_page() as page:
        mount(page, widget._esm, {key: value for key, value in stored.items() if key not in ("layout", "tabbable")})
        shown = "document.querySelector('#place').innerHTML"
        page.evaluate("document.querySelector('#place').className = 'jupyter-widgets-disconnected'")
        before = page.evaluate(shown)
        control = page.locator("[role=button], [role=checkbox], [role=slider]").last
        press = (lambda: control.press("ArrowRight")) if name == "plane" else (lambda: control.press("Enter"))
        press()
        assert page.evaluate("window.saved") is None and page.evaluate(shown) == before
        page.evaluate("document.querySelector('#place').className = ''")
        press()
        assert page.evaluate("window.saved") is not None
