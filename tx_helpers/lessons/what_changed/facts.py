"""A memory that learns facts, a few often and most seldom: why an optimizer that evens out directions wins early.

A fact is a key and a value, two random vectors. The memory is one matrix W: asked for a key, it returns W k, and the
value that is most like it counts as its answer. Fact number n is seen in proportion to 1/n, as words are in a text. So
the gradient holds mostly the frequent facts. After Wang et al. 2025, *Muon outperforms Adam in tail-end associative
memory learning*, in our own and smaller form.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

FACTS, WIDTH, STEPS, BATCH, SHARPNESS = 256, 64, 20, 1024, 8.0
RATES = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)  # tried with each rule

Rule = Callable[[Tensor, dict[str, Any], Tensor, float], Tensor]  # (W, its own state, gradient, rate) -> the new W


class Known(NamedTuple):
    """The shares of the more frequent and of the rarer half of the facts that the memory knows."""

    frequent: float
    rare: float


def momentum_step(W: Tensor, state: dict[str, Any], G: Tensor, rate: float) -> Tensor:
    """Gradient descent along the running mean of the gradients."""
    state["mean"] = 0.9 * state.get("mean", 0.0) + 0.1 * G
    return W - rate * state["mean"]


def adam_step(W: Tensor, state: dict[str, Any], G: Tensor, rate: float) -> Tensor:
    """PyTorch's own Adam, which takes W with it from step to step."""
    if not state:
        state["adam"] = torch.optim.Adam([W.clone()], betas=(0.9, 0.95))
    (group,) = state["adam"].param_groups
    (own,) = group["params"]
    group["lr"], own.grad = rate, G
    state["adam"].step()
    return own.clone()


def learn_facts(rule: Rule, rate: float, *, steps: int = STEPS, seed: int = 0) -> Known:
    """What the memory knows after some steps of a rule, with a rate that falls in a line to 0."""
    draws = torch.Generator().manual_seed(seed)
    keys, values = F.normalize(torch.randn(2, FACTS, WIDTH, generator=draws).double(), dim=-1)
    often = 1 / torch.arange(1, FACTS + 1)
    W, state = torch.zeros(WIDTH, WIDTH, dtype=torch.float64), dict[str, Any]()
    for step in range(steps):
        seen = torch.multinomial(often, BATCH, replacement=True, generator=draws)
        W.requires_grad_()
        loss = F.cross_entropy(SHARPNESS * keys[seen] @ W.mT @ values.mT, seen)
        (G,) = torch.autograd.grad(loss, W)
        W = rule(W.detach(), state, G, rate * (1 - step / steps))
    right = (keys @ W.mT @ values.mT).argmax(dim=-1) == torch.arange(FACTS)
    return Known(*(half.double().mean().item() for half in right.chunk(2)))


def best_of_rates(rule: Rule, *, steps: int = STEPS, seed: int = 0) -> tuple[float, Known]:
    """(rate, what is known) for the rate with which a rule learns most facts; the smallest of equal ones."""
    tried = [(rate, learn_facts(rule, rate, steps=steps, seed=seed)) for rate in RATES]
    return max(tried, key=lambda pair: sum(pair[1]))
