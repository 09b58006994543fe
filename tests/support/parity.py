"""What the tests of the maths share: toy sizes that are all distinct, random parameters, and one comparison.

`Pair` says which parameter of ours is which part of theirs; `assert_same_model` copies the values both ways and
compares outputs and the gradients of all inputs and all parameters.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import pytest
import torch
from hypothesis import settings
from torch import Tensor, nn

B, T, S, H, K, D, F, V = 2, 5, 7, 3, 4, 12, 20, 11

TOLERANCE = {torch.float64: 1e-6, torch.float32: 1e-5}
both_precisions = pytest.mark.parametrize("dtype", TOLERANCE, ids=["float64", "float32"])
DEVICES = ["cpu", *["cuda"] * torch.cuda.is_available()]  # a test that could only be skipped is not collected

properties = settings(max_examples=25)


def normal(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float64) -> Tensor:
    """Random numbers that differ from seed to seed and are the same in every precision."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


def tokens(*shape: int, seed: int = 0, low: int = 1, high: int = V) -> Tensor:
    return torch.randint(low, high, shape, generator=torch.Generator().manual_seed(seed))


def randomise(module: nn.Module, seed: int = 0, std: float = 0.4) -> nn.Module:
    """Random values in all parameters: zero biases and gains of one would hide a missing or swapped part."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in module.parameters():
            draw = torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
            parameter.copy_(0.1 + std * draw)
    return module


def identity(parameter: Tensor) -> Tensor:
    return parameter


class Pair(NamedTuple):
    """Our parameter, theirs, and the part of theirs (a view with as many numbers) that is ours."""

    ours: nn.Parameter
    theirs: nn.Parameter
    part: Callable[[Tensor], Tensor] = identity


def linear(ours: nn.Module, theirs: nn.Module, weight: Callable = identity, bias: Callable = identity) -> list[Pair]:
    """The weight, and the bias where there is one, of two linear maps."""
    pairs = [Pair(ours.weight, theirs.weight, weight)]
    if ours.bias is not None:
        pairs.append(Pair(ours.bias, theirs.bias, bias))
    return pairs


def rows(i: int, n: int = 3) -> Callable[[Tensor], Tensor]:
    """The i-th of n equal parts along the first axis."""
    return lambda x: x.chunk(n, dim=0)[i]


def norm(ours: nn.Module, theirs: nn.Module) -> list[Pair]:
    if isinstance(ours, nn.LayerNorm):
        return [Pair(ours.weight, theirs.weight), Pair(ours.bias, theirs.bias)]
    return [Pair(ours.weight, theirs.weight)]


def projections(ours: nn.Module, query: nn.Module, key: nn.Module, value: nn.Module, output: nn.Module) -> list[Pair]:
    """The four linear maps of our attention and theirs."""
    return linear(ours.query, query) + linear(ours.key, key) + linear(ours.value, value) + linear(ours.output, output)


def assert_same_model(
    ours: nn.Module,
    theirs: nn.Module,
    pairs: Sequence[Pair],
    run_ours: Callable[..., Tensor],
    run_theirs: Callable[..., Tensor],
    *inputs: Tensor,
    tolerance: float,
    std: float = 0.4,
) -> None:
    """Equal outputs and gradients, with the parameters copied from ours to theirs and from theirs to ours."""
    assert {id(pair.ours) for pair in pairs} == {id(p) for p in ours.parameters()}, "a parameter of ours is unpaired"
    paired = {(id(pair.theirs), pair.part(pair.theirs).data_ptr()): pair.ours.numel() for pair in pairs}
    assert sum(paired.values()) == sum(p.numel() for p in theirs.parameters()), "a part of theirs is unpaired"

    randomise(ours, seed=1, std=std)
    with torch.no_grad():
        for pair in pairs:
            part = pair.part(pair.theirs)
            part.copy_(pair.ours.reshape(part.shape))
    _assert_same_run(pairs, run_ours, run_theirs, inputs, tolerance)

    randomise(theirs, seed=2, std=std)
    with torch.no_grad():
        for pair in pairs:
            pair.ours.copy_(pair.part(pair.theirs).reshape(pair.ours.shape))
    _assert_same_run(pairs, run_ours, run_theirs, inputs, tolerance)


def _assert_same_run(pairs, run_ours, run_theirs, inputs, tolerance) -> None:
    outputs, inputs_used = [], []
    for run in (run_ours, run_theirs):
        used = [x.clone().requires_grad_() if x.is_floating_point() else x for x in inputs]
        inputs_used.append([x for x in used if x.requires_grad])
        outputs.append(run(*used))
    torch.testing.assert_close(*outputs, rtol=tolerance, atol=tolerance)

    direction = normal(*outputs[0].shape, seed=3, dtype=outputs[0].dtype)
    our_parameters = list({id(p): p for p in (pair.ours for pair in pairs)}.values())
    their_parameters = list({id(p): p for p in (pair.theirs for pair in pairs)}.values())
    ours = torch.autograd.grad(outputs[0], inputs_used[0] + our_parameters, direction)
    theirs = torch.autograd.grad(outputs[1], inputs_used[1] + their_parameters, direction)
    # The largest gradient sets the size of the rounding errors, so the tolerance is relative to it, and at least to 1.
    atol = tolerance * max(1.0, *(gradient.abs().max().item() for gradient in theirs))
    n = len(inputs_used[0])
    for mine, other in zip(ours[:n], theirs[:n], strict=True):
        torch.testing.assert_close(mine, other, rtol=tolerance, atol=atol)
    our_gradients = {id(p): g for p, g in zip(our_parameters, ours[n:], strict=True)}
    their_gradients = {id(p): g for p, g in zip(their_parameters, theirs[n:], strict=True)}
    for pair in pairs:
        mine, other = our_gradients[id(pair.ours)], pair.part(their_gradients[id(pair.theirs)])
        torch.testing.assert_close(mine.reshape(other.shape), other, rtol=tolerance, atol=atol)
