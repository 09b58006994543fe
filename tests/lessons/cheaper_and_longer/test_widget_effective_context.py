"""Advertised against effective length: means and reaches, the drawing, the words, and the explorer."""

import copy

import pytest

from tx_helpers.lessons.cheaper_and_longer.context import WAYS, recorded
from tx_helpers.lessons.cheaper_and_longer.effective_context import (
    describe,
    draw,
    effective_context_explorer,
    reaches,
)

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


def test_what_is_drawn_and_said(as_stored):
    """Lines go through the means, bars to the effective length: green where it reaches the advertised one."""
    as_stored(
        middle=draw(TABLE, "needle", 16),
        long=draw(TABLE, "needle", 32),
        tuned=draw(TABLE, "two hops", 8, True, 0.5),
    )
    with pytest.raises(ValueError, match="effective-context: advertised='64', expected one of 8, 16, 32"):
        draw(TABLE, "needle", 64)


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
