"""Explorers that compute in the page, in Chromium without a kernel: at every setting they say what Python says."""

import random
import re

import pytest
import torch

from player_page import mount_form, shown, turn
from tx_helpers.lessons.feed_forward.hinges import FUNCTIONS, TARGETS, hinge_explorer
from tx_helpers.lessons.masking.masks import FILLS, mask_explorer
from tx_helpers.lessons.self_attention.query_plane import query_explorer

TOKENS = ["<bos>", "vier", "hundert", "ein", "<pad>"]
WORDS = {"pear": (3.0, 0.5), "it's": (2.5, 0.1), "phone": (0.5, 3.0), "the": (0.1, 0.1)}
# The module's own function at many settings, without the page's controls.
COMPUTED = """async ({ esm, settings, given }) => {
  const module = await import(URL.createObjectURL(new Blob([esm], { type: "text/javascript" })));
  return settings.map((values) => module.default(values, given));
}"""

POINTS = re.compile('(?<=<polyline points=")[^"]*')


def numbers(points: str) -> list[float]:
    return [float(number) for number in re.split("[ ,]", points)]


def masks():
    torch.manual_seed(0)
    return mask_explorer(torch.randn(5, 4), torch.randn(5, 4), TOKENS)


def computed(page, explorer, settings: list[dict]) -> list[dict]:
    script, given = explorer.computed
    return page.evaluate(COMPUTED, {"esm": script, "given": given, "settings": settings})


def test_the_mask_at_every_setting(bare_page):
    explorer = masks()
    settings = [
        dict(causal=causal, padding=padding, window=window, length=length, fill=fill, mask=mask)
        for causal in (True, False)
        for padding in (True, False)
        for window in (1, 3, 5)
        for length in (2, 5)
        for fill in FILLS.values()
        for mask in ([], ["0,0:0", "1,0:1", "4,4:0"])
    ]
    for found, values in zip(computed(bare_page, explorer, settings), settings, strict=True):
        explorer.set(**values)
        assert found["alt"] == explorer.summary
        table, expected = found["traits"]["mask"]["table"], explorer.controls["mask"].table
        assert {key: table[key] for key in ("base", "queries", "keys", "fill")} == {
            key: expected[key] for key in ("base", "queries", "keys", "fill")
        }
        for row, right in zip(table["weights"], expected["weights"], strict=True):
            assert row == pytest.approx(right, abs=1e-6) if None not in right else row == right


def test_the_query_at_many_settings(bare_page):
    explorer = query_explorer(WORDS)
    settings = [
        dict(query=[x / 10, y / 10], temperature=tau)
        for x in range(-30, 31, 7)
        for y in range(-30, 31, 9)
        for tau in (0.2, 1.0, 2.5, 4.0)
    ]
    for found, values in zip(computed(bare_page, explorer, settings), settings, strict=True):
        explorer.set(**values)
        assert found["alt"].replace("-0.00", "0.00") == explorer.summary.replace("-0.00", "0.00")


def test_the_hinges_at_many_settings(bare_page):
    explorer, draw = hinge_explorer(), random.Random(0)
    settings = [
        {"function": function, "target": target}
        | {f"p{unit}": draw.randrange(-8, 9) / 2 for unit in (1, 2, 3)}
        | {f"v{unit}": draw.randrange(-6, 7) / 2 for unit in (1, 2, 3)}
        for function in FUNCTIONS
        for target in TARGETS
        for _ in range(20)
    ]
    for found, values in zip(computed(bare_page, explorer, settings), settings, strict=True):
        explorer.set(**values)
        expected, alt, _ = explorer.shown
        assert found["alt"] == alt
        assert POINTS.sub("", found["markup"]) == POINTS.sub("", expected)
        for line, right in zip(POINTS.findall(found["markup"]), POINTS.findall(expected), strict=True):
            assert numbers(line) == pytest.approx(numbers(right), abs=0.11)  # a tenth may be rounded either way


def test_the_target_of_the_hinges_is_met_in_the_page(bare_page):
    explorer = hinge_explorer()
    mount_form(bare_page, explorer.page_form())
    assert shown(bare_page) == (explorer.summary, "")
    turn(bare_page, "slider", "Unit 2, slope", 2)  # of the stops −3, −2.5, … 3
    turn(bare_page, "slider", "Unit 3, slope", 8)
    explorer.set(v2=-2.0, v3=1.0)
    assert shown(bare_page) == (explorer.summary, "") and "0.00 (met)" in explorer.summary


def test_cells_of_the_mask_are_clicked_in_the_page(bare_page):
    explorer = masks()
    mount_form(bare_page, explorer.page_form())
    assert shown(bare_page) == (explorer.summary, "")
    cell = bare_page.get_by_role("checkbox", name="query 1 vier, key 1 vier")
    cell.click()
    explorer.set(mask=["1,1:0"])
    assert shown(bare_page)[0] == explorer.summary
    bare_page.keyboard.press("ArrowLeft")
    bare_page.keyboard.press(" ")
    explorer.set(mask=["1,1:0", "1,0:0"])
    assert shown(bare_page)[0] == explorer.summary and "Fully masked: query 1 vier" in explorer.summary
    turn(bare_page, "combobox", "Fill", "−1e9")
    turn(bare_page, "slider", "Length", 1)
    explorer.set(fill="large", length=3)
    assert shown(bare_page)[0] == explorer.summary
    bare_page.get_by_role("button", name="Undo all clicks").click()
    explorer.set(mask=[])
    assert shown(bare_page)[0] == explorer.summary


def test_the_query_is_moved_in_the_page(bare_page):
    explorer = query_explorer(WORDS)
    mount_form(bare_page, explorer.page_form())
    handle = bare_page.get_by_role("slider", name="Query")
    for key in ("ArrowRight", "ArrowUp", "Shift+ArrowLeft"):
        handle.press(key)
    explorer.set(query=[0.6, 1.1])
    assert shown(bare_page) == (explorer.summary, "")
    disc = bare_page.locator(".tx-plane circle").first.get_attribute("r")
    turn(bare_page, "slider", "Temperature", 38)
    explorer.set(temperature=4.0)
    assert shown(bare_page) == (explorer.summary, "")
    assert bare_page.locator(".tx-plane").count() == 1 and disc
