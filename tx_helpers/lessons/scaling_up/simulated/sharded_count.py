"""The ways of cutting a layer, carried out on simulated ranks: what they send is counted, not only calculated.

sent_counted("tensor", 4, 64)       # bytes that a rank sends forward and backward; 4 ranks, 64 tokens
"""

from collections.abc import Callable
from functools import lru_cache

import torch
from torch import Tensor

from tx_helpers.lessons.scaling_up.simulated.layouts import (
    data_parallel,
    expert_parallel,
    ring_attention,
    sequence_parallel_ffn,
    sharded_linear,
    tensor_parallel_ffn,
)
from tx_helpers.lessons.scaling_up.simulated.ranks import Rank, simulate
from tx_helpers.lessons.scaling_up.simulated.sharded_ways import D, check_cut, rows, shapes_of, steps_of, whole


def _whole_ffn(rank: Rank, x: Tensor, expand: Tensor, contract: Tensor) -> Tensor:
    return torch.relu(x @ expand.T) @ contract.T


def _sharded_ffn(rank: Rank, x: Tensor, expand: Tensor, contract: Tensor) -> Tensor:
    return sharded_linear(rank, torch.relu(sharded_linear(rank, x, expand)), contract)


def _expert_ffn(rank: Rank, x: Tensor, expand: Tensor, contract: Tensor) -> Tensor:
    chosen = torch.arange(len(x)) * rank.count // len(x)  # equally many tokens for each expert
    return expert_parallel(rank, x, chosen, lambda number, tokens: torch.relu(tokens @ expand.T) @ contract.T)


def _attention(rank: Rank, q: Tensor, keys_and_values: Tensor) -> Tensor:
    return ring_attention(rank, q, keys_and_values[:, :D], keys_and_values[:, D:])


PROGRAMS: dict[str, Callable[..., Tensor]] = {  # a rank's part, with what it holds first
    "data": _whole_ffn,
    "sharded (FSDP)": _sharded_ffn,
    "tensor": tensor_parallel_ffn,
    "sequence": sequence_parallel_ffn,
    "expert": _expert_ffn,
    "context (ring attention)": _attention,
}


def parts_of(way: str, ranks: int, tokens: int) -> list[list[Tensor]]:
    """What each rank holds first, of random matrices: for each matrix a list with a part for each rank."""
    first, shapes = steps_of(way, ranks, tokens)[0].held, shapes_of(way, tokens)
    found = []
    for seed, (name, form) in enumerate(first.items()):
        full = torch.randn(shapes[name], generator=torch.Generator().manual_seed(seed))
        parts = [full] * ranks if form is whole else full.tensor_split(ranks, dim=0 if form is rows else 1)
        turned = (part.T if name in ("W₁", "W₂") else part for part in parts)  # as Linear keeps its weight
        found.append([part.contiguous().clone().requires_grad_() for part in turned])
    return found


def train(way: str, rank: Rank, *parts: Tensor) -> Tensor:
    """A rank's forward and backward pass; returns its output. The loss is the sum of the outputs' squares."""
    out = PROGRAMS[way](rank, *parts)
    out.pow(2).sum().backward()
    if way == "data":
        data_parallel(rank, list(parts[1:]))
    return out.detach()


def sent_counted(way: str, ranks: int, tokens: int) -> tuple[int, int]:
    """Bytes that each rank sends forward and backward, counted while simulated ranks compute the layer."""
    check_cut("sent_counted", way, ranks, tokens)
    return _counted(way, ranks, tokens)


@lru_cache(maxsize=256)
def _counted(way: str, ranks: int, tokens: int) -> tuple[int, int]:
    parts = parts_of(way, ranks, tokens)
    with torch.no_grad():
        forward = simulate(PROGRAMS[way], *parts).bytes_sent()
    both = simulate(lambda rank, *parts: train(way, rank, *parts), *parts).bytes_sent()
    return max(forward), max(both) - max(forward)
