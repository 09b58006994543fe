"""Advertised against effective length: means and reaches, the drawing, the words, and the explorer."""

import copy
import math
import re

import pytest

from drawn import elements, points, texts
from tx_helpers.lessons.cheaper_and_longer.context import WAYS, recorded
from tx_helpers.lessons.cheaper_and_longer.effective_context import (
    PAD,
    describe,
    doublings,
    draw,
    effective_context_explorer,
    reaches,
)
from tx_helpers.show.charts import BOTTOM, LEFT, RIGHT, TOP
from tx_helpers.show.plots import COLOURS
from tx_helpers.show.shapes import GREEN, GREY, ORANGE

NEEDLE = {
    "plain rotary": [[1.0, 0.5, 0.0], [1.0, 0.75, 0.25]],
    "interpolation": [[1.0, 1.0, 0.5], [0.5, 0.5, 0.5]],
    "NTK": [[1.0, 0.75, 1.0]] * 2,
    "YaRN": [[1.0, 1.0, 1.0]] * 2,
}
TUNED = {f"{way}, tuned": [[0.5, 0.5, 0.25]] * 2 for way in NEEDLE}
TABLE = {
    "trained": 8,
    "lengths": [8, 16, 32],
    "tasks": ["needle", "two hops"],
    "curves": {"needle": NEEDLE | TUNED, "two hops": NEEDLE | TUNED},
}

# --- compute ---------------------------------------------------------------------------------------------------------


def test_means_over_the_seeds_and_how_far_they_reach():
    found = reaches(TABLE, "needle")
    assert list(found) == list(WAYS)
    assert found["plain rotary"].mean == [1.0, 0.625, 0.125] and found["interpolation"].mean == [0.75, 0.75, 0.5]
    assert [one.effective for one in found.values()] == [8, 16, 8, 32]  # NTK falls at 16 and does not count again
    assert [one.effective for one in reaches(TABLE, "needle", share=0.6).values()] == [16, 32, 32, 32]
    assert {one.effective for one in reaches(TABLE, "two hops", tuned=True).values()} == {16}


# --- draw and describe -----------------------------------------------------------------------------------------------


def test_lines_go_through_the_means_and_bars_to_the_effective_length():
    svg = draw(TABLE, "needle", 16).svg
    bands = [band.get("points") for band in elements(svg, "polygon")]
    pad = math.log(PAD) / math.log(4 * PAD**2)  # of the axis, beyond each end
    step = (500 - LEFT - RIGHT) * (1 - 2 * pad) / 2
    for (way, one), spots, band in zip(reaches(TABLE, "needle").items(), points(svg), bands, strict=True):
        first = LEFT + (500 - LEFT - RIGHT) * pad
        assert [x for x, _ in spots] == pytest.approx([first, first + step, first + 2 * step], abs=0.06), way
        assert [y for _, y in spots] == pytest.approx([height(mean) for mean in one.mean], abs=0.06), way
        highest = [float(spot.split(",")[1]) for spot in band.split()[:3]]
        assert highest == pytest.approx([height(max(column)) for column in zip(*one.seeds, strict=True)], abs=0.06)
    bars = [(bar.get("fill"), float(bar.get("width"))) for bar in elements(svg, "rect") if bar.get("rx") == "2"]
    assert {bar for bar in bars[::2]} == {(GREY.tint, 360)}
    assert bars[1::2] == list(zip(COLOURS, [180, 360, 180, 360], strict=False))  # 8, 16, 8 and 32 of 16 tokens
    assert [doublings(length, TABLE["lengths"]) for length in (8, 16, 32)] == [1, 2, 3]


def height(accuracy: float) -> float:
    return TOP + (250 - TOP - BOTTOM) * (1 - accuracy)


def test_what_reaches_the_advertised_length_is_green():
    shown = draw(TABLE, "needle", 16)
    said = re.findall(r'fill="(#\w+)"[^>]*>(effective [\d,]+)<', shown.svg)
    assert said == [
        *((ORANGE.shade, "effective 8"), (GREEN.shade, "effective 16")),
        *((ORANGE.shade, "effective 8"), (GREEN.shade, "effective 32")),
    ]
    assert "62% right at 16" in texts(shown.svg) and "tokens; trained on 8" in texts(shown.svg)
    with pytest.raises(ValueError, match="effective-context: advertised='64', expected one of 8, 16, 32"):
        draw(TABLE, "needle", 64)


def test_the_words():
    assert describe(TABLE, "needle", 32) == (
        "Trained on 8 tokens; needle, advertised 32: plain rotary 12% (0% to 25%), effective 8; interpolation 50% (50% "
        "to 50%), effective 16; NTK 100% (100% to 100%), effective 8; YaRN 100% (100% to 100%), effective 32. "
        "Effective: at least 90% of the accuracy at 8."
    )
    assert describe(TABLE, "two hops", 8, True, 0.5).startswith("Trained on 8 tokens, then tuned on longer texts; two ")


# --- bind ------------------------------------------------------------------------------------------------------------


def test_the_explorer_follows_its_controls():
    explorer = effective_context_explorer(TABLE)
    assert explorer.summary == describe(TABLE, "needle", 32)
    explorer.set(task="two hops", advertised=16, tuned=True, share=0.5)
    assert explorer.summary == describe(TABLE, "two hops", 16, True, 0.5)


def test_the_recorded_table_is_drawn():
    table = recorded()
    assert effective_context_explorer().summary == describe(table, table["tasks"][0], table["lengths"][-1])


def test_a_foreign_table_is_refused():
    other = copy.deepcopy(TABLE)
    del other["curves"]["two hops"]["NTK, tuned"]
    for table, name in (({"trained": 8}, "lengths"), (other, "NTK, tuned")):
        with pytest.raises(ValueError) as raised:
            effective_context_explorer(table)
        said = f"effective-context: no {name!r} in the table, expected what `context` records"
        assert str(raised.value) == said
