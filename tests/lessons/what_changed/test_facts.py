"""The memory of facts: what its rules compute, and who knows the rare ones first."""

import pytest
import torch

from tx_helpers.lessons.what_changed.exercises_muon import muon_step, newton_schulz
from tx_helpers.lessons.what_changed.facts import adam_step, best_of_rates, learn_facts, momentum_step


def muon(W, state, G, rate):
    W, state["M"] = muon_step(W, state.get("M", torch.zeros_like(W)), G, rate, 0.9, newton_schulz)
    return W


def pytorchs(rule, W):
    """The optimizer of PyTorch that a rule is: its buffer of momentum begins at 0, as the means do."""
    if rule is adam_step:
        return torch.optim.Adam([W], betas=(0.9, 0.95))
    if rule is muon:
        return torch.optim.Muon([W], momentum=0.9, nesterov=False, weight_decay=0.0)
    optimizer = torch.optim.SGD([W], momentum=0.9, dampening=0.9)
    optimizer.state[W]["momentum_buffer"] = torch.zeros_like(W)
    return optimizer


@pytest.mark.parametrize("rule", [momentum_step, adam_step, muon])
def test_every_rule_is_pytorchs_optimizer_step_by_step(rule):
    """From the first step on, where the means that begin at 0 are too small without Adam's correction."""
    gradients = torch.randn(5, 6, 4, generator=torch.Generator().manual_seed(0))
    W, theirs, state = torch.zeros(6, 4), torch.nn.Parameter(torch.zeros(6, 4)), {}
    optimizer = pytorchs(rule, theirs)
    for number, G in enumerate(gradients, start=1):
        W = rule(W, state, G, 0.3 / number)
        optimizer.param_groups[0]["lr"], theirs.grad = 0.3 / number, G.clone()
        optimizer.step()
        torch.testing.assert_close(W, theirs.detach(), rtol=0, atol=0.05 if rule is muon else 1e-6)


def test_nothing_is_known_without_a_step():
    assert sum(learn_facts(momentum_step, 0.0)) < 0.05


@pytest.mark.parametrize("seed", range(3))
def test_muon_knows_more_rare_facts_each_at_its_best_rate(seed):
    rare = [best_of_rates(rule, seed=seed)[1].rare for rule in (momentum_step, adam_step, muon)]
    assert max(rare[:2]) < 0.55 and abs(rare[0] - rare[1]) < 0.1 and rare[2] > 0.8
