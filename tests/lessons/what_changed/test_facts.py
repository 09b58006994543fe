"""The memory of facts: what its rules compute, and who knows the rare ones first."""

import pytest
import torch

from tx_helpers.lessons.what_changed.exercises_muon import all_directions, muon_step
from tx_helpers.lessons.what_changed.facts import adam_step, best_of_rates, learn_facts, momentum_step


def muon(W, state, G, rate):
    W, momentum = muon_step(W, state[0], G, rate, 0.9, all_directions)
    return W, torch.stack([momentum, state[1]])


def test_the_rules_are_their_formulas():
    one, two = torch.randn(2, 4, 4, generator=torch.Generator().manual_seed(0))
    for rule in (momentum_step, adam_step):
        W, _ = rule(*rule(torch.zeros(4, 4), torch.zeros(2, 4, 4), one, 0.3), two, 0.3)
        means, squares = (0.1 * one, 0.09 * one + 0.1 * two), (0.05 * one**2, 0.0475 * one**2 + 0.05 * two**2)
        moved = means if rule is momentum_step else [m / s.sqrt() for m, s in zip(means, squares, strict=True)]
        assert torch.allclose(W, -0.3 * (moved[0] + moved[1]), atol=1e-5)


def test_nothing_is_known_without_a_step():
    assert sum(learn_facts(momentum_step, 0.0)) < 0.05


@pytest.mark.parametrize("seed", range(2))
def test_muon_knows_more_rare_facts_each_at_its_best_rate(seed):
    rare = [best_of_rates(rule, seed=seed)[1].rare for rule in (momentum_step, adam_step, muon)]
    assert rare[0] + 0.05 < rare[1] < rare[2] - 0.15 and rare[2] > 0.8
