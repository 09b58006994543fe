"""The recorded ladder has the shape that it says, and every verdict follows from its numbers."""

import pytest

from tx_helpers.lessons.what_changed.costs import cache_bytes_per_token, flops_per_token
from tx_helpers.lessons.what_changed.ladder import BUDGETS, FIRST, ladder_text, recipes, recorded_ladder
from tx_helpers.lessons.what_changed.rungs import RUNGS
from tx_helpers.lessons.what_changed.verdicts import (
    Comparison,
    compare,
    entry,
)

TABLE = recorded_ladder()
ROWS = [(group, row) for group in ("rungs", "alone", "without") for row in TABLE[group]]
LENGTHS = {"steps", "flops", "seconds"}


def test_the_file_has_all_entries_in_their_order():
    assert {group: [row["name"] for row in TABLE[group]] for group in ("rungs", "alone", "without")} == {
        group: list(named) for group, named in recipes().items()
    }
    assert TABLE["about"]["seeds"] == [0, 1, 2, 3, 4]
    assert TABLE["about"]["rates_seed"] not in TABLE["about"]["seeds"]


@pytest.mark.parametrize(("group", "row"), ROWS, ids=lambda part: part if isinstance(part, str) else part["name"])
def test_a_row_has_five_losses_in_each_budget_and_its_costs(group, row):
    for budget in BUDGETS:
        assert len(row[budget]) == 5 and all(0.3 < loss < 4 for loss in row[budget])
    recipe = recipes()[group][row["name"]]
    assert row["flops_per_token"] == flops_per_token(recipe, len(ladder_text().tokenizer)), "made with another recipe"
    assert row["cache_bytes_per_token"] == cache_bytes_per_token(recipe.config)
    first, steps = TABLE["rungs"][0], TABLE["about"]["steps"]
    assert row["steps_at"]["steps"] == steps
    assert row["steps_at"]["flops"] == round(steps * first["flops_per_token"] / row["flops_per_token"])
    assert row["steps_at"]["seconds"] == round(steps * first["seconds_per_step"] / row["seconds_per_step"])
    for budget in BUDGETS:
        if row["steps_at"][budget] == steps:
            assert row[budget] == row["steps"], "as many steps are the same training"


def test_the_recorded_figures_in_bands():
    """What was true of all five seeds by far; a new recording on another machine must show it, too."""
    first, today = TABLE["rungs"][0], TABLE["rungs"][-1]
    for budget in BUDGETS:
        assert max(today[budget]) < 0.6 * min(first[budget])
        assert compare(("alone", "rotary"), ("rungs", FIRST), budget).outcome == "lower"
        assert compare(("rungs", "Muon"), ("rungs", "decay to zero"), budget).outcome == "lower"
    assert entry(TABLE, "alone", "bfloat16")["parameters"] == first["parameters"]
    assert entry(TABLE, "alone", "grouped queries")["cache_bytes_per_token"] * 2 == first["cache_bytes_per_token"]


def made(**losses: list[float]) -> dict:
    """A table of two entries, which have the same losses but for those named."""
    table = {"about": {"seeds": [0, 1]}, "rungs": [], "alone": [], "without": []}
    for group, name in (("rungs", FIRST), ("alone", "SwiGLU")):
        table[group].append({"name": name, **{budget: losses.get(name, [1.0, 1.0]) for budget in BUDGETS}})
    return table


def test_a_comparison_goes_seed_by_seed():
    table = made(SwiGLU=[0.9, 0.5])
    found = compare(("alone", "SwiGLU"), ("rungs", FIRST), "steps", table)
    assert found.differences == pytest.approx((-0.1, -0.5))
    assert str(found) == "2017 with SwiGLU against 2017, equal steps: -0.300 (-0.500 … -0.100), lower"
    assert compare(("rungs", FIRST), ("alone", "SwiGLU"), "steps", table).outcome == "higher"
    assert Comparison("a", "b", "steps", (0.1, -0.1)).outcome == "no clear difference"


def test_wrong_names_are_named():
    with pytest.raises(ValueError, match="compare: budget='euros', expected"):
        compare(("rungs", FIRST), ("rungs", FIRST), "euros")
    with pytest.raises(ValueError, match="the ladder's 'alone': name='x', expected"):
        compare(("alone", "x"), ("rungs", RUNGS[0].name))
