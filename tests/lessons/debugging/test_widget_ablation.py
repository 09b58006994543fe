"""The ablation bench."""

import re
from types import SimpleNamespace

import pytest

from drawn import points
from tx_helpers.lessons.debugging.ablation import ablation_explorer, candidate, describe, draw

LOSSES = {"right": [4.0, 2.0, 1.0], "leak": [4.0, 1.0, 0.5], "slow": [4.0, 3.0, 2.0], "twin": [4.0, 2.0, 1.0]}
EXACT = {"right": 0.955, "leak": 0.0, "slow": 0.5, "twin": 0.9}
RUNS = {name: SimpleNamespace(run=SimpleNamespace(losses=losses)) for name, losses in LOSSES.items()}


# --- the bench -------------------------------------------------------------------------------------------------------


def test_the_loss_is_a_mean_over_the_window():
    side = candidate("right", LOSSES, EXACT, 2)
    assert (side.losses.tolist(), side.loss, side.exact) == ([4.0, 3.0, 1.5], 1.5, 0.955)


@pytest.mark.parametrize(
    "other, expected",
    [
        ("leak", "leak: loss 0.500, exact match 0.0%. The lower loss translates worse."),
        ("slow", "slow: loss 2.000, exact match 50.0%. The lower loss translates better."),
        ("twin", "twin: loss 1.000, exact match 90.0%. The losses are equally good."),
        ("even", "even: loss 3.000, exact match 95.5%. The translations are equally good."),
    ],
)
def test_the_comparison_is_the_same_from_both_sides(other, expected):
    losses, exact = LOSSES | {"even": [3.0]}, EXACT | {"even": 0.955}
    right, other = (candidate(name, losses, exact, 1) for name in ("right", other))
    assert describe(right, other) == f"right: loss 1.000, exact match 95.5%; {expected}"
    assert describe(other, right).split(". ")[1] == expected.split(". ")[1]


def test_a_model_against_itself():
    right = candidate("right", LOSSES, EXACT, 1)
    assert describe(right, right) == "right: loss 1.000, exact match 95.5%. Choose two different ones."


def test_the_picture_shows_both_curves_and_both_bars():
    picture = draw(*(candidate(name, LOSSES, EXACT, 1) for name in ("right", "leak")))
    right, leak = points(picture.svg)
    assert [len(right), len(leak)] == [3, 3] and right[0] == leak[0] and right[2][1] < leak[2][1]  # pixels count down
    assert re.findall(r">([\d.]+%)<", picture.svg) == ["95.5%", "0.0%"]


def test_the_explorer_compares_what_is_chosen():
    explore = ablation_explorer(RUNS, EXACT, window=1)
    assert repr(explore) == (
        "Explorer 'ablation': right: loss 1.000, exact match 95.5%; leak: loss 0.500, exact match 0.0%. "
        "The lower loss translates worse."
    )
    explore.set(right="slow", window=2)
    assert explore.summary == (
        "right: loss 1.500, exact match 95.5%; slow: loss 2.500, exact match 50.0%. The lower loss translates better."
    )
    assert [control.description for control in explore.controls.values()] == ["Left", "Right", "Smooth over"]


def test_later_training_does_not_change_what_was_shown():
    runs = {name: SimpleNamespace(losses=list(losses)) for name, losses in LOSSES.items()}
    explore = ablation_explorer(runs, EXACT, window=1)
    runs["right"].losses.append(0.1)
    explore.set(window=1)
    assert "right: loss 1.000" in explore.summary


def test_what_the_bench_refuses():
    with pytest.raises(ValueError, match="1 models, expected at least 2"):
        ablation_explorer({"right": RUNS["right"]}, EXACT)
    with pytest.raises(ValueError, match="no exact matches of 'leak', expected one of right"):
        ablation_explorer(RUNS, {"right": 1.0})
    with pytest.raises(ValueError, match="window=0 of 3 losses"):
        candidate("right", LOSSES, EXACT, 0)
    with pytest.raises(ValueError, match="window=5 of 0 losses"):
        candidate("right", {"right": []}, EXACT, 5)
