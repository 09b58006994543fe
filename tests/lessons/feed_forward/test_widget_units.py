"""The explorers of hidden units: hinges, one fact in one unit, and superposition."""

import re

import numpy as np
import pytest

from tx_helpers.lessons.feed_forward import hinges, one_unit, superposition
from tx_helpers.lessons.feed_forward.hinges import add_up, hinge_explorer
from tx_helpers.lessons.feed_forward.one_unit import MOMENTS, fire, unit_explorer
from tx_helpers.lessons.feed_forward.superposition import (
    bound,
    directions,
    overlaps,
    read,
    recovered,
    superposition_explorer,
)

TENT = ("ReLU", (-2.0, 0.0, 2.0), (1.0, -2.0, 1.0), "a tent")

# -------------------------------------------------------------------------------------------------------------- hinges


def test_three_hinges_make_a_tent_and_two_a_step():
    assert add_up(*TENT).error < 1e-12
    assert add_up("ReLU", (-1, 1), (1, -1), "a step").error < 1e-12
    assert add_up("ReLU", (-2, 0), (1, -2), "a tent").error > 0.2


def test_the_sum_is_that_of_the_formula():
    seen = add_up("ReLU", (-1.0, 2.0), (3.0, -0.5), "a wave")
    x = hinges.GRID
    assert seen.total == pytest.approx(3 * np.maximum(0, x + 1) - 0.5 * np.maximum(0, x - 2), abs=1e-12)
    assert seen.target == pytest.approx(1 + np.sin(np.pi * x / 2), abs=1e-12)


def test_without_a_function_the_sum_is_straight():
    bends = np.diff(add_up("none (a straight line)", *TENT[1:]).total, 2)
    assert abs(bends).max() < 1e-12


def test_hinges_are_described_by_their_bends():
    explored = hinge_explorer()
    assert explored.summary == (
        "ReLU: the slope changes by +1 at x = −2. Mean distance from the target, a tent: 1.76 (not met)."
    )
    explored.set(v2=-2.0, v3=1.0)
    assert explored.summary == (
        "ReLU: the slope changes by +1 at x = −2, −2 at x = 0, +1 at x = 2. "
        "Mean distance from the target, a tent: 0.00 (met)."
    )
    assert len(re.findall("<polyline", hinges.draw(*TENT).svg)) == 5
    explored.set(function="none (a straight line)")
    assert "a straight line, whatever the slopes" in explored.summary
    explored.set(function="ReLU", v1=0.0, v2=0.0, v3=0.0)
    assert "no unit writes anything" in explored.summary


# ------------------------------------------------------------------------------------------------------------ one unit


def test_the_unit_computes_and_where_the_bias_is_between_minus_two_and_minus_one():
    assert [(moment.digit, moment.ten) for moment in MOMENTS] == [(1, 1), (1, 0), (0, 1), (0, 0)]
    assert fire((1, 1), -1.5, 4).activations == [0.5, 0, 0, 0]
    assert fire((1, 1), -1.5, 4).added == [2, 0, 0, 0]
    assert fire((1, 1), -0.5, 1).activations == [1.5, 0.5, 0.5, 0]
    assert fire((2, -1), 0.5, 1).scores == [1.5, 2.5, -0.5, 0.5]


@pytest.mark.parametrize(
    ("key", "bias", "name"),
    [
        ((1, 1), -1.5, "this is AND"),
        ((1, 1), 0, "this is OR"),
        ((1, 0), -0.5, 'it looks at "a digit was written" alone'),
        ((0, 1), 0, 'it looks at "a ten comes" alone'),
        ((1, 1), 1, "it always fires"),
        ((1, 1), -3, "it never fires"),
        ((1, -1), 0, "it fires at 1 of the 4 moments"),
    ],
)
def test_what_the_unit_computes_is_named(key, bias, name):
    assert one_unit.describe(key, bias, 4).endswith(f". So {name}.")


def test_the_units_arithmetic_is_written_out():
    explored = unit_explorer()
    explored.set(bias=-1.5)
    assert explored.summary == (
        "vier hundert ein (of 421): 2 − 1.5 = 0.5, fires 0.5; vier (of 400): 1 − 1.5 = −0.5, fires 0; "
        "vier hundert (of 420): 1 − 1.5 = −0.5, fires 0; vier hundert (of 400): 0 − 1.5 = −1.5, fires 0. "
        "So this is AND."
    )
    drawn = one_unit.draw((1, 1), -1.5, 4).svg
    assert drawn.count("<circle") == 4
    assert ">−0.5<" in drawn
    assert ">2<" in drawn  # what is added to the logit


# ------------------------------------------------------------------------------------------------------- superposition


@pytest.mark.parametrize("kind", superposition.KINDS)
@pytest.mark.parametrize(("n", "D"), [(2, 2), (5, 2), (7, 7), (9, 4), (50, 16), (50, 32)])
def test_directions_are_unit_vectors_and_none_beat_the_bound(kind, n, D):
    vectors = directions(n, D, kind)
    assert vectors.shape == (n, D)
    assert abs(np.linalg.norm(vectors, axis=1) - 1).max() < 1e-12
    assert overlaps(vectors)[0] > bound(n, D) - 1e-9


@pytest.mark.parametrize(("n", "D"), [(5, 2), (9, 4), (20, 8), (50, 16), (50, 32)])
def test_spread_directions_overlap_less_than_random_ones(n, D):
    spread, random = overlaps(directions(n, D)), overlaps(directions(n, D, "random"))
    assert spread[0] < 0.9 * random[0]
    assert spread[1] <= 1.05 * random[1]


def test_the_best_directions_are_those_that_are_known():
    assert overlaps(directions(7, 7))[0] < 1e-12  # at right angles
    assert overlaps(directions(3, 2))[0] == pytest.approx(0.5, abs=0.02)  # lines 60 degrees apart
    assert overlaps(directions(5, 4))[0] == pytest.approx(bound(5, 4), abs=0.02)  # a simplex meets Welch's bound


def test_what_is_read_is_the_feature_and_its_interference():
    vectors = directions(9, 4, "random")
    on = np.arange(9) < 3
    expected = [sum(vectors[i] @ vectors[j] for j in range(3)) for i in range(9)]
    assert read(vectors, on) == pytest.approx(expected, abs=1e-12)


def test_the_share_recovered_falls_with_the_number_of_features_that_are_on():
    assert [recovered(directions(8, 8), count) for count in (1, 4, 8)] == [1.0, 1.0, 1.0]
    assert recovered(directions(50, 16), 1) == 1.0
    assert recovered(directions(50, 16), 5) < 0.1
    assert recovered(directions(50, 32), 3) > 0.9
    assert recovered(directions(8, 2), 1) < 0.2


def test_superposition_says_how_much_and_draws_a_bar_for_each_feature():
    explored = superposition_explorer()
    assert explored.summary == (
        "5 features in 2 dimensions, spread apart: largest overlap |w · w'| 0.81 (at best 0.61 or more), mean 0.56. "
        "All features are read right in 23% with 1 on."
    )
    explored.set(features=50, dimensions=2, kind="random", at_once=8)
    assert "50 features in 2 dimensions, random: largest overlap |w · w'| 1.00" in explored.summary
    assert re.search(r"0% with 1 on, 0% with 8 on\.$", explored.summary)
    explored.set(features=2)
    assert re.search(r"with 1 on, \d+% with 2 on\.$", explored.summary)  # no more are on than there are
    drawn = superposition.draw(5, 2, 1, "spread apart").svg
    assert drawn.count("<polygon") == 5  # arrows of the fan
    assert drawn.count("<rect") == 1 + 5 + 3  # card, bars, key
