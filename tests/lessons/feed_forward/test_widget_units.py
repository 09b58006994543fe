"""The explorers of hidden units: hinges, one fact in one unit, and superposition."""

import re

import numpy as np
import pytest

from tx_helpers.lessons.feed_forward import hinges, one_unit, superposition
from tx_helpers.lessons.feed_forward.hinges import add_up, hinge_explorer
from tx_helpers.lessons.feed_forward.one_unit import MOMENTS, fire, unit_explorer
from tx_helpers.lessons.feed_forward.superposition import Toy, train

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


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_rare_features_share_the_plane_as_a_pentagon(seed):
    often, rare = train((0.5, 0.05), seed=seed)
    assert often.kept <= 4
    assert rare.kept == 5
    unit = rare.directions / np.linalg.norm(rare.directions, axis=1, keepdims=True)
    neighbours = np.degrees(np.arccos((unit * np.roll(unit, 1, axis=0)).sum(1)))
    assert neighbours == pytest.approx([72] * 5, abs=5)  # numbered as they turn
    assert [list(rare.read((i,)) > 0.5) for i in range(5)] == np.eye(5, dtype=bool).tolist()


def test_what_is_read_is_the_feature_and_its_interference():
    toy = Toy(np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 0.2]]), np.array([0.0, -0.5, 0.1]))
    assert toy.kept == 2
    assert toy.read((0,)) == pytest.approx([1, 0.1, 0.1])
    assert toy.read((0, 1)) == pytest.approx([1.6, 1.1, 0.26])


def test_what_is_drawn_and_said(as_stored):
    """A line for each unit, the arithmetic written out; what is kept, and what is read wrongly."""
    toy = Toy(np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0], [-0.1, 0.0], [0.0, -1.0]]), np.zeros(5))
    as_stored(
        tent=hinges.draw(*TENT),
        unit=one_unit.draw((1, 1), -1.5, 4),
        one=superposition.draw(toy, "always", "feature 1"),
        two=superposition.draw(toy, "always", "1 and 2"),
    )
