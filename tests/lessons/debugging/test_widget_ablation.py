"""The ablation bench and the schedules."""

import re
from types import SimpleNamespace

import pytest

from drawn import points
from tx_helpers.lessons.debugging.ablation import ablation_explorer, candidate, describe, draw
from tx_helpers.lessons.training import schedules
from tx_helpers.lessons.training.schedules import KINDS, PEAKS, rates, schedule_explorer
from tx_helpers.training.optimizers import cosine, linear_warmup_decay, warmup_inverse_sqrt

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


# --- the schedules ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kind, schedule",
    [
        ("2017", lambda step: warmup_inverse_sqrt(64, warmup=20)(step) * (64 * 20) ** 0.5),
        ("linear decay", linear_warmup_decay(100, warmup=20)),
        ("cosine", cosine(100, warmup=20)),
        ("constant", lambda step: min(1.0, (step + 1) / 20)),
    ],
)
def test_the_rates_are_the_schedules_scaled_to_the_peak(kind, schedule):
    curve = rates(kind, warmup=20, peak=0.01, steps=100)
    assert curve.rates == pytest.approx([0.01 * schedule(step) for step in range(100)], rel=1e-12)
    assert curve.rates[curve.top - 1] == max(curve.rates) == pytest.approx(0.01) and curve.top == 20


@pytest.mark.parametrize("kind", KINDS[1:])
def test_without_warm_up_the_first_rate_is_the_largest(kind):
    curve = rates(kind, warmup=0, peak=0.002, steps=50)
    assert (curve.top, curve.rates[0], max(curve.rates)) == (1, 0.002, 0.002)


def test_the_schedule_explorer_answers_its_question():
    explore = schedule_explorer(500)
    assert repr(explore) == (
        "Explorer 'schedule': 2017: the rate is 0.000100 at step 1, 0.005000 at step 50, where it is largest, and "
        "0.001581 at step 500: 31.6% of the largest."
    )
    explore.set(warmup=125)
    assert explore.summary.endswith("at step 500: 50.0% of the largest.")
    explore.set(kind="constant", peak=PEAKS[0])
    assert explore.summary.endswith("and 0.001000 at step 500: 100.0% of the largest.")


def test_2017_has_no_value_without_warm_up_and_says_so_in_place():
    explore = schedule_explorer(500)
    explore.set(warmup=0)
    assert explore.error.startswith("warmup_inverse_sqrt: ") and "31.6%" in explore.summary  # the last good picture
    explore.set(kind="cosine")
    assert explore.error == "" and "0.005000 at step 1, where it is largest" in explore.summary


def test_a_kind_that_is_none():
    with pytest.raises(ValueError, match="kind='cubic', expected one of 2017, linear decay, cosine, constant"):
        rates("cubic", warmup=1, peak=1.0, steps=2)
    assert "31.6%" in schedules.describe(rates("2017", warmup=50, peak=1.0, steps=500))
