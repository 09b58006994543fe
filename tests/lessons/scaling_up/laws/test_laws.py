"""Scaling laws: a planted law is found again, its best size is the best, and the bootstrap's interval holds it."""

import pytest
import torch

from tx_helpers.lessons.scaling_up.laws.law import Law, bootstrap, fit_law, interval
from wrong_arguments import faults

PLANTED = Law(E=1.69, A=406.4, B=410.7, alpha=0.34, beta=0.28)  # Hoffmann et al. 2022, equation 10
SIZES = torch.cartesian_prod(torch.logspace(6, 9, 6).double(), torch.logspace(8, 11, 5).double())


def runs(noise=0.0, seed=0):
    parameters, tokens = SIZES.T
    generator = torch.Generator().manual_seed(seed)
    factor = 1 + noise * torch.randn(len(SIZES), generator=generator).double()
    return parameters, tokens, PLANTED.loss(parameters, tokens) * factor


def test_a_planted_law_is_found_again():
    found = fit_law(*runs())
    assert found == pytest.approx(PLANTED, rel=0.02)
    torch.testing.assert_close(found.loss(*SIZES.T), PLANTED.loss(*SIZES.T), rtol=1e-4, atol=0)


@pytest.mark.parametrize("operations", [1e18, 1e21, 5.76e23])
def test_the_best_size_is_the_best_of_all_sizes(operations):
    parameters, tokens = PLANTED.best_size(operations)
    assert 6 * parameters * tokens == pytest.approx(operations)
    others = parameters * torch.logspace(-1, 1, 201).double()
    assert PLANTED.loss(parameters, tokens) <= PLANTED.loss(others, operations / 6 / others).min() + 1e-12
    # A hundred times the operations: the best model grows by 100^a.
    assert PLANTED.best_size(100 * operations)[0] / parameters == pytest.approx(100**PLANTED.exponent)


@pytest.mark.parametrize("seed", range(2))
def test_the_interval_of_the_bootstrap_is_narrow_and_holds_the_truth(seed):
    laws = bootstrap(*runs(noise=0.002, seed=seed), count=40)
    low, high = interval([law.exponent for law in laws], 0.99)
    assert low <= PLANTED.exponent <= high and high - low < 0.2
    assert bootstrap(*runs(noise=0.002, seed=seed), count=3) == laws[:3]


def test_interval_by_hand():
    assert interval([float(i) for i in range(101)], 0.9) == pytest.approx((5, 95))


def test_wrong_arguments_are_named():
    parameters, tokens, losses = runs()
    arguments = {"parameters": parameters, "tokens": tokens, "losses": losses}
    assert faults(fit_law, arguments) == []
    assert faults(lambda count, seed: bootstrap(*runs(), count=count, seed=seed), {"count": 1, "seed": 0}) == []
    assert faults(interval, {"values": [1.0, 2.0], "share": 0.5}) == []
    with pytest.raises(ValueError, match="4 runs for a law of five numbers"):
        fit_law(parameters[:4], tokens[:4], losses[:4])
    with pytest.raises(ValueError, match="do they fall with N and D"):
        fit_law(parameters, tokens, 10 - losses)
    with pytest.raises(ValueError, match=r"all runs have tokens 1e\+09, expected two different numbers or more"):
        fit_law(parameters, tokens.clone().fill_(1e9), losses)
