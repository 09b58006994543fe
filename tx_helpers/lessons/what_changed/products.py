"""A small network learns to multiply: what a gate is for.

    learn_products(layer, shapes)          # -> the share of the variance that it explains, on new inputs

The input is 16 random numbers, the target the eight products x1·x9, x2·x10, …. Every network has 1,440 parameters and
no bias, Adam with a rate that falls to zero, and the same inputs for the same seed. Double precision, so that the
shares are the same on every processor.
"""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

PAIRS, ROWS, STEPS, RATE = 8, 256, 200, 1e-2
SHAPES = {  # of the matrices: a gated network is narrower, so that all have 1,440 parameters
    "ReLU": ((16, 60), (60, 8)),
    "ReLU²": ((16, 60), (60, 8)),
    "gated": ((16, 36), (16, 36), (36, 8)),
}


def products(x: Tensor) -> Tensor:
    """(N, 16) -> (N, 8)"""
    return x[:, :PAIRS] * x[:, PAIRS:]


def learn_products(
    layer: Callable[..., Tensor], shapes: Sequence[tuple[int, int]], *, steps: int = STEPS, seed: int = 0
) -> float:
    """Train the matrices of layer(x, *matrices). -> 1 − error / variance on new inputs: 0 for a guess, 1 at best"""
    draws = torch.Generator().manual_seed(seed)
    matrices = [(torch.randn(shape, generator=draws) / shape[0] ** 0.5).double().requires_grad_() for shape in shapes]
    optimizer = torch.optim.Adam(matrices, lr=RATE)
    for step in range(steps):
        optimizer.param_groups[0]["lr"] = RATE * (1 - step / steps)
        x = torch.randn(ROWS, 2 * PAIRS, generator=draws).double()
        optimizer.zero_grad()
        (layer(x, *matrices) - products(x)).square().mean().backward()
        optimizer.step()
    x = torch.randn(2000, 2 * PAIRS, generator=draws).double()
    with torch.no_grad():
        error = (layer(x, *matrices) - products(x)).square().mean() / products(x).var()
    return 1 - error.item()
