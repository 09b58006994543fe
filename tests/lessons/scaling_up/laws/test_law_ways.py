"""Two ways to fit the same runs: planted losses are found again, and what is predicted, with which error."""

import pytest
import torch

from planted_runs import PLANTED, RATES, planted
from tx_helpers.lessons.scaling_up.laws.law import Law
from tx_helpers.lessons.scaling_up.laws.law_runs import recorded
from tx_helpers.lessons.scaling_up.laws.law_ways import (
    exponent_gap,
    exponents,
    extrapolate,
    hoffmann_way,
    kaplan_way,
    law_points,
    mean_losses,
    transfer,
)


def test_the_ways_read_the_same_runs():
    hoffmann, kaplan = hoffmann_way(planted()), kaplan_way(planted())
    torch.testing.assert_close(kaplan.parameters, 0.75 * hoffmann.parameters)
    assert torch.equal(kaplan.tokens, hoffmann.tokens) and torch.equal(kaplan.operations, hoffmann.operations)
    torch.testing.assert_close(hoffmann.operations, 6 * hoffmann.parameters * hoffmann.tokens)
    last = hoffmann.tokens == hoffmann.tokens.max()
    torch.testing.assert_close(kaplan.losses - hoffmann.losses, torch.where(last, 0.0, 0.3).double())
    assert torch.equal(law_points(planted(), embeddings=False).losses, hoffmann.losses)


def test_a_planted_law_predicts_the_runs_held_back():
    points = hoffmann_way(planted())
    most = float(points.operations.median())
    found = extrapolate(points, most, count=5)
    assert found.law == pytest.approx(PLANTED, rel=0.1)
    assert len(found.small.losses) + len(found.others.losses) == len(points.losses)
    assert bool((found.small.operations <= most).all()) and bool((found.others.operations > most).all())
    torch.testing.assert_close(found.errors, torch.zeros_like(found.errors), rtol=0, atol=2e-3)
    assert bool((found.low <= found.predicted + 1e-3).all() and (found.predicted <= found.high + 1e-3).all())


def test_an_exponent_for_each_change():
    found = exponents(planted(worse=0.0), count=3)
    assert len(found) == 4
    for exponent, low, high in found.values():
        assert exponent == pytest.approx(PLANTED.exponent, abs=0.02) and low <= high


def test_a_gap_is_that_of_the_same_drawn_runs():
    points = hoffmann_way(planted())
    assert exponent_gap(points, points, count=3) == (0.0, 0.0, 0.0)
    steeper = points._replace(losses=Law(0.5, 20.0, 2000.0, 0.9, 0.8).loss(points.parameters, points.tokens))
    gap, low, high = exponent_gap(points, steeper, count=5)
    assert low <= gap <= high and gap == pytest.approx(0.8 / 1.3 - 0.8 / 1.7, abs=0.02)
    with pytest.raises(ValueError, match="exponent_gap: 16 and 5 runs, expected the same ones"):
        exponent_gap(points, points.where(torch.arange(5)))
    rising = points._replace(losses=points.tokens.log())
    with pytest.raises(ValueError, match="fit_law: no law with"):
        exponent_gap(points, rising)


def test_the_rate_that_is_taken_along():
    assert mean_losses(RATES, "one rate", 32).tolist() == pytest.approx([1.6, 1.85, 4.0])
    found = transfer(planted())
    assert found["one rate"][16] == pytest.approx((0.25, 2.0, 2.0))
    assert found["one rate"][32] == pytest.approx((0.125, 1.6, 1.85))
    assert found["μP"][32] == pytest.approx((0.25, 1.5, 1.5))


def test_what_holds_of_the_recorded_runs():
    table = recorded()
    hoffmann, kaplan = hoffmann_way(table), kaplan_way(table)
    assert bool((kaplan.losses >= hoffmann.losses).all())
    best = transfer(table)
    for rate, loss, moved in (row for way in best.values() for row in way.values()):
        assert rate in table["rates"]["rates"] and loss <= moved


def test_wrong_arguments_are_named():
    points = hoffmann_way(planted())
    with pytest.raises(ValueError, match="extrapolate: up_to=0, expected more than 0"):
        extrapolate(points, 0)
    with pytest.raises(ValueError, match=r"extrapolate: all 16 runs have at most 1e\+20 operations"):
        extrapolate(points, 1e20)
    with pytest.raises(ValueError, match="extrapolate: points is"):
        extrapolate(planted(), 1e9)
    with pytest.raises(ValueError, match="mean_losses: way='x', expected"):
        mean_losses({}, "x", 16)
