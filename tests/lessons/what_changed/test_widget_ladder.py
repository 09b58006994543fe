"""The ladder: which combinations were trained, no loss for the others, the drawing, the words, and the explorer."""

import copy

import ipywidgets as widgets
import pytest

from tx_helpers.lessons.what_changed.ladder import BUDGETS, as_of, ladder_model, recipes, recorded_ladder, train
from tx_helpers.lessons.what_changed.ladder_explorer import (
    NAMES,
    SHORT,
    costs,
    describe,
    draw,
    for_pages,
    ladder_explorer,
    named,
    nearest,
    recipe_of,
    the_same,
    trained,
)
from tx_helpers.lessons.what_changed.rungs import RUNGS


def measured(name: str, loss: float) -> dict:
    """Two seeds, 0.1 apart; each of the three ways a little worse than the one before."""
    budgets = {key: [loss + 0.2 * n, loss + 0.2 * n + 0.1] for n, key in enumerate(BUDGETS)}
    return {"name": name, "seconds_per_step": 0.012, "parameters": 1, "flops_per_token": 2, **budgets}


TABLE = {
    "about": {},
    "rungs": [measured(name, 2.0 - 0.1 * n) for n, name in enumerate(["2017", *NAMES])],
    "alone": [measured("pre-norm", 9.0), measured("rotary", 1.8), measured("learned positions", 1.0)],
    "without": [measured("RMSNorm", 0.3), measured("bfloat16", 9.0)],
}
ALL = trained(TABLE)
EVERY = frozenset(NAMES)

# --- compute ---------------------------------------------------------------------------------------------------------


def test_every_trained_combination_stands_there_once():
    rungs = [frozenset(NAMES[:n]) for n in range(len(NAMES) + 1)]
    assert [one.changes for one in ALL] == [*rungs, {"rotary"}, EVERY - {"RMSNorm"}]
    assert [one.rung for one in ALL] == [True] * len(rungs) + [False, False]
    assert the_same(ALL, frozenset({"pre-norm"})).measured["steps"][0] == pytest.approx(1.9)  # the rung, not "alone"


def test_the_same_recipe_is_the_same_model():
    assert the_same(ALL, EVERY - {"SwiGLU"}).changes == EVERY  # ReLU² replaces it
    assert the_same(ALL, frozenset({"rotary", "Muon"})) is None
    assert recipe_of(EVERY) == recipes()["rungs"][NAMES[-1]] and recipe_of(frozenset()) == recipes()["rungs"]["2017"]


def test_the_nearest_differ_in_the_fewest_ticks():
    found = nearest(ALL, frozenset({"rotary", "Muon"}))
    assert [one.changes for one in found] == [{"rotary"}, set(), {"pre-norm"}]
    assert [one.name for one in nearest(ALL, EVERY - {"RMSNorm", "soft cap"}, 1)] == ["today's without RMSNorm"]


@pytest.mark.parametrize("changes", [frozenset(), frozenset({"SwiGLU", "grouped queries", "own output"}), EVERY])
def test_costs_are_those_of_the_model(changes):
    model = ladder_model(recipe_of(changes))
    assert costs(changes)["parameters"] == sum(parameter.numel() for parameter in model.parameters())


def test_combinations_have_short_names():
    assert named(()) == "the model of 2017" and named(NAMES) == "today's model"
    assert named({"rotary"}) == "2017 with rotary" and named(NAMES[:5]) == f"2017 up to {NAMES[4]}"
    assert named({"Muon", "rotary", "soft cap"}) == "2017 with rotary, Muon and soft cap"
    assert named(EVERY - {"Muon", "rotary"}) == "today's without rotary and Muon"


def test_a_foreign_table_is_refused():
    other = copy.deepcopy(TABLE)
    other["rungs"][2]["name"] = "sandwich norm"
    for table, said in (
        ([1], "ladder: table is a list, expected a dictionary"),
        ({"rungs": []}, "ladder: the table has no 'alone', expected what `ladder_runs` records"),
        (other, f"ladder: rung 2 of the table is 'sandwich norm', expected {NAMES[1]!r}"),
    ):
        with pytest.raises(ValueError) as raised:
            ladder_explorer(table)
        assert str(raised.value) == said


def test_a_pair_is_measured_after_equal_steps_alone():
    both = frozenset({"rotary", "Muon"})
    found = trained(TABLE | {"pairs": {"rotary + Muon": [0.9, 1.1], "rotary + latents": [3.0]}})
    assert len(found) == len(ALL) + 1 and the_same(found, both).mean("steps") == pytest.approx(1.0)
    assert "loss 1.000 (0.900 to 1.100) over 2 seeds" in describe(found, both)
    assert describe(found, both, "flops") == describe(ALL, both, "flops") and draw(found, both).svg


# --- draw and describe -----------------------------------------------------------------------------------------------


def test_what_is_drawn_and_said(as_stored):
    """Dots are the losses of the seeds; a rung that is chosen is framed; what was not measured has no loss."""
    as_stored(
        alone=draw(ALL, frozenset({"rotary"}), "flops"),
        rung=draw(ALL, frozenset(NAMES[:3])),
        unmeasured=draw(ALL, frozenset({"rotary", "Muon"}), "seconds"),
        same=draw(ALL, EVERY - {"SwiGLU"}),
    )


# --- bind ------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_explorer_follows_its_ticks_and_its_buttons():
    explorer = ladder_explorer(TABLE)
    assert explorer.summary == describe(ALL, frozenset())
    explorer.set(rotary=True, equal="seconds")
    assert explorer.summary == describe(ALL, frozenset({"rotary"}), "seconds")
    explorer.controls["all"].click()
    assert explorer.summary == describe(ALL, EVERY, "seconds")
    explorer.set(RMSNorm=False)
    assert explorer.summary == describe(ALL, EVERY - {"RMSNorm"}, "seconds")
    explorer.controls["none"].click()
    assert explorer.summary == describe(ALL, frozenset(), "seconds")


def test_pages_have_all_that_was_trained_and_what_is_a_tick_away_from_a_rung():
    settings = for_pages(ALL)
    seen = {(one["equal"], frozenset(name for name in NAMES if one[name])) for one in settings}
    assert {("steps", one.changes) for one in ALL} <= seen and ("flops", frozenset(NAMES[:3]) | {"Muon"}) in seen
    assert len(seen) == len(settings) < 1300


def test_the_recorded_ladder_can_be_drawn():
    table = recorded_ladder()
    assert {rung.name for rung in RUNGS} >= {one["name"] for one in table["rungs"][1:]}
    for one in trained(table):
        assert one.measured["parameters"] == costs(one.changes)["parameters"]
        assert one.measured["cache_bytes_per_token"] == costs(one.changes)["cache_bytes_per_token"]
        assert one.measured["flops_per_token"] == pytest.approx(costs(one.changes)["flops_per_token"])
    assert ladder_explorer().summary == describe(trained(table), frozenset())


def test_each_box_says_what_it_changes_and_what_it_buys():
    assert set(SHORT) == set(NAMES)
    boxes = [box.description for box in ladder_explorer().controls.values() if isinstance(box, widgets.Checkbox)]
    assert len(boxes) == len(NAMES) and "rotary: positions turn queries and keys (−0.58)" in boxes


def test_slow_rungs_catch_up_after_four_times_the_steps():
    """Zero outputs and the small start are far behind after 200 steps, and little after 800 (three seeds)."""
    table = recorded_ladder()
    late = {row["name"]: sum(row["loss"]) / len(row["loss"]) for row in table["longer"]}
    soon = {row["name"]: sum(row["steps"]) / len(row["steps"]) for row in table["rungs"]}
    for name in ("zero outputs", "small start"):
        assert 0 < late[name] - late["own output"] < 0.06 < 0.15 < soon[name] - soon["own output"]


@pytest.mark.thorough
def test_the_longer_runs_repeat():
    assert train(as_of("own output"), steps=800).held_out == pytest.approx(0.587, abs=0.03)
