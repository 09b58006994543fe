"""A memory that learns facts, a few often and most seldom: why an optimizer that evens out directions wins early.

A fact is a key and a value, two random vectors. The memory is one matrix W: asked for a key, it returns W k, and the
value that is most like it counts as its answer. Fact number n is seen in proportion to 1/n, as words are in a text. So
the gradient holds mostly the frequent facts. After Wang et al. 2025, *Muon outperforms Adam in tail-end associative
memory learning*, in our own and smaller form.
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

FACTS, WIDTH, STEPS, BATCH, SHARPNESS = 256, 64, 20, 1024, 8.0
RATES = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)  # tried with each rule

Rule = Callable[[Tensor, Tensor, Tensor, float], tuple[Tensor, Tensor]]  # (W, state, gradient, rate) -> (W, state)


class Known(NamedTuple):
    """The shares of the more frequent and of the rarer half of the facts that the memory knows."""

    frequent: float
    rare: float


def momentum_step(W: Tensor, state: Tensor, G: Tensor, rate: float) -> tuple[Tensor, Tensor]:
    """Gradient descent along the running mean of the gradients, `state[0]`."""
    state = torch.stack([0.9 * state[0] + 0.1 * G, state[1]])
    return W - rate * state[0], state


def adam_step(W: Tensor, state: Tensor, G: Tensor, rate: float) -> tuple[Tensor, Tensor]:
    """Adam: `state` holds the running means of the gradients and of their squares, the latter the longer one."""
    state = torch.stack([0.9 * state[0] + 0.1 * G, 0.95 * state[1] + 0.05 * G.square()])
    return W - rate * state[0] / (state[1].sqrt() + 1e-8), state


def learn_facts(rule: Rule, rate: float, *, steps: int = STEPS, seed: int = 0) -> Known:
    """What the memory knows after some steps of a rule, with a rate that falls in a line to 0."""
    draws = torch.Generator().manual_seed(seed)
    keys, values = F.normalize(torch.randn(2, FACTS, WIDTH, generator=draws), dim=-1)
    often = 1 / torch.arange(1, FACTS + 1)
    W, state = torch.zeros(WIDTH, WIDTH), torch.zeros(2, WIDTH, WIDTH)
    for step in range(steps):
        seen = torch.multinomial(often, BATCH, replacement=True, generator=draws)
        W.requires_grad_()
        loss = F.cross_entropy(SHARPNESS * keys[seen] @ W.mT @ values.mT, seen)
        (G,) = torch.autograd.grad(loss, W)
        W, state = rule(W.detach(), state, G, rate * (1 - step / steps))
    right = (keys @ W.mT @ values.mT).argmax(dim=-1) == torch.arange(FACTS)
    return Known(*(half.double().mean().item() for half in right.chunk(2)))


def best_of_rates(rule: Rule, *, steps: int = STEPS, seed: int = 0) -> tuple[float, Known]:
    """(rate, what is known) for the rate with which a rule learns most facts; the smallest of equal ones."""
    tried = [(rate, learn_facts(rule, rate, steps=steps, seed=seed)) for rate in RATES]
    return max(tried, key=lambda pair: sum(pair[1]))
