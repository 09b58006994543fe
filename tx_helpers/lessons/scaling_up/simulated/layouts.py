"""One model on many ranks: how the work is cut, with the collectives that put it together again.

Each function is one rank's part; `simulate` runs it on all ranks. Gradients flow through the collectives, because
each of them knows its backward pass. What a collective does forward and what it does backward are mirror images:

    forward                                   backward
    copy the same input to all ranks          sum the gradients of all ranks       `copy_to_ranks`
    sum the outputs of all ranks              copy the gradient                    `sum_over_ranks`
    gather the parts of a weight              sum the gradients, keep one part     `gather_parts`
    sum the outputs, keep one part            gather the gradients of the parts    `scatter_sum`
    pass a tensor to the next rank            pass its gradient to the previous    `pass_on`
    exchange parts, all to all                exchange them back                   `exchange`

Sources: Shoeybi et al. 2019 (Megatron-LM), section 3, for the first two; Rajbhandari et al. 2020 (ZeRO) for the third;
Korthikanti et al. 2022, section 4.2, for the fourth; Liu et al. 2023 (ring attention) for the fifth; Lepikhin et al.
2020 (GShard) for the last.
"""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from tx_helpers.lessons.scaling_up.simulated.collectives import all_gather, all_reduce, all_to_all, reduce_scatter
from tx_helpers.lessons.scaling_up.simulated.ranks import Rank
from tx_helpers.nn.arguments import check_numbers, check_tensors, check_types
from tx_helpers.zoo.parts.flash import merge, partial_attention


class _CopyToRanks(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, rank: Rank, x: Tensor) -> Tensor:
        ctx.rank = rank
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, d_x: Tensor) -> tuple[None, Tensor]:
        return None, all_reduce(ctx.rank, d_x)


class _SumOverRanks(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, rank: Rank, x: Tensor) -> Tensor:
        return all_reduce(rank, x)

    @staticmethod
    def backward(ctx: Any, d_x: Tensor) -> tuple[None, Tensor]:
        return None, d_x


class _GatherParts(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, rank: Rank, part: Tensor) -> Tensor:
        ctx.rank = rank
        return torch.cat(all_gather(rank, part))

    @staticmethod
    def backward(ctx: Any, d_whole: Tensor) -> tuple[None, Tensor]:
        return None, reduce_scatter(ctx.rank, list(d_whole.tensor_split(ctx.rank.count)))


class _ScatterSum(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, rank: Rank, x: Tensor) -> Tensor:
        ctx.rank = rank
        return reduce_scatter(rank, list(x.tensor_split(rank.count)))

    @staticmethod
    def backward(ctx: Any, d_part: Tensor) -> tuple[None, Tensor]:
        return None, torch.cat(all_gather(ctx.rank, d_part))


class _ShardedLinear(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, rank: Rank, x: Tensor, part: Tensor) -> Tensor:
        ctx.rank = rank
        ctx.save_for_backward(x, part)  # not the gathered weight
        return x @ torch.cat(all_gather(rank, part)).T

    @staticmethod
    def backward(ctx: Any, d_out: Tensor) -> tuple[None, Tensor, Tensor]:
        x, part = ctx.saved_tensors
        d_x = d_out @ torch.cat(all_gather(ctx.rank, part))
        d_weight = d_out.T @ x
        return None, d_x, reduce_scatter(ctx.rank, list(d_weight.tensor_split(ctx.rank.count)))


class _PassOn(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, rank: Rank, x: Tensor) -> Tensor:
        ctx.rank = rank
        return rank.swap(x, to=rank.next, source=rank.previous)

    @staticmethod
    def backward(ctx: Any, d_x: Tensor) -> tuple[None, Tensor]:
        return None, ctx.rank.swap(d_x, to=ctx.rank.previous, source=ctx.rank.next)


class _Exchange(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, rank: Rank, *parts: Tensor) -> tuple[Tensor, ...]:
        ctx.rank = rank
        return tuple(part.clone() for part in all_to_all(rank, list(parts)))

    @staticmethod
    def backward(ctx: Any, *d_parts: Tensor) -> tuple[Tensor | None, ...]:
        return None, *(part.clone() for part in all_to_all(ctx.rank, list(d_parts)))


def copy_to_ranks(rank: Rank, x: Tensor) -> Tensor:
    """x, which every rank has: the ranks use it for different things, so its gradient is the sum of theirs."""
    check_types("copy_to_ranks", Rank, rank=rank)
    check_tensors("copy_to_ranks", x=(x, "float …"))
    return _CopyToRanks.apply(rank, x)


def sum_over_ranks(rank: Rank, x: Tensor) -> Tensor:
    """The sum of all ranks' x, on every rank; each summand's gradient is the gradient of the sum."""
    check_types("sum_over_ranks", Rank, rank=rank)
    check_tensors("sum_over_ranks", x=(x, "float …"))
    return _SumOverRanks.apply(rank, x)


def gather_parts(rank: Rank, part: Tensor) -> Tensor:
    """All ranks' parts of a weight, one after the other along dimension 0; a rank gets the gradient of its part."""
    check_types("gather_parts", Rank, rank=rank)
    check_tensors("gather_parts", part=(part, "float …"))
    return _GatherParts.apply(rank, part)


def scatter_sum(rank: Rank, x: Tensor) -> Tensor:
    """The sum of all ranks' x, of which each rank keeps its part along dimension 0; the mirror image of gathering."""
    check_types("scatter_sum", Rank, rank=rank)
    check_tensors("scatter_sum", x=(x, "float …"))
    return _ScatterSum.apply(rank, x)


def pass_on(rank: Rank, x: Tensor) -> Tensor:
    """Send x to the next rank of the ring and return the previous one's; the gradient travels the other way."""
    check_types("pass_on", Rank, rank=rank)
    check_tensors("pass_on", x=(x, "float …"))
    return _PassOn.apply(rank, x)


def exchange(rank: Rank, parts: list[Tensor]) -> list[Tensor]:
    """Part j goes to rank j, and one part comes from each rank; their gradients travel back."""
    check_types("exchange", Rank, rank=rank)
    check_types("exchange", (list, tuple), parts=parts)
    check_tensors("exchange", **{f"part {i}": (part, "float …") for i, part in enumerate(parts)})
    return list(_Exchange.apply(rank, *parts))


def data_parallel(rank: Rank, parameters: list[Tensor]) -> None:
    """After backward on its own rows of the batch, every rank replaces its gradients by the mean of all ranks'."""
    check_types("data_parallel", Rank, rank=rank)
    for parameter in parameters:
        parameter.grad = all_reduce(rank, parameter.grad) / rank.count


def sharded_linear(rank: Rank, x: Tensor, part: Tensor) -> Tensor:
    """x weightᵀ with a weight of which each rank keeps a part, part (F/n, D): ZeRO-3, FSDP. x (T, D) -> (T, F).

    The weight is gathered for the forward pass, freed, and gathered again for the backward pass.
    """
    check_types("sharded_linear", Rank, rank=rank)
    check_tensors("sharded_linear", x=(x, "float T D"), part=(part, "float F D"))
    return _ShardedLinear.apply(rank, x, part)


def tensor_parallel_ffn(
    rank: Rank, x: Tensor, expand: Tensor, contract: Tensor, act: Callable[[Tensor], Tensor] = torch.relu
) -> Tensor:
    """act(x expandᵀ) contractᵀ, with F / n of the hidden units on each rank: one sum forward, one backward.

    x (…, D) on every rank; expand (F/n, D) and contract (D, F/n) are this rank's. Returns (…, D) on every rank.
    A unit needs one row of `expand` and one column of `contract` only, so no rank needs another's units.
    """
    check_tensors("tensor_parallel_ffn", x=(x, "float … D"), expand=(expand, "float F D"), contract=(contract, "D F"))
    hidden = act(copy_to_ranks(rank, x) @ expand.T)
    return sum_over_ranks(rank, hidden @ contract.T)


def sequence_parallel_ffn(
    rank: Rank, x: Tensor, expand: Tensor, contract: Tensor, act: Callable[[Tensor], Tensor] = torch.relu
) -> Tensor:
    """The same layer for ranks that have T/n of the tokens each: x (T/n, D) -> (T/n, D). Korthikanti et al. 2022.

    Gathering and scattering take the place of the sum, which is both of them on a ring: the bytes stay the same, and
    between the layers each rank has its own tokens only.
    """
    check_tensors("sequence_parallel_ffn", x=(x, "float T D"), expand=(expand, "float F D"), contract=(contract, "D F"))
    hidden = act(gather_parts(rank, x) @ expand.T)
    return scatter_sum(rank, hidden @ contract.T)


def ring_attention(
    rank: Rank, q: Tensor, k: Tensor, v: Tensor, *, scale: float | None = None, causal: bool = False
) -> Tensor:
    """Attention over a sequence that is cut into n equal pieces, one on each rank.

    q, k, v (…, T/n, K) are this rank's; returns its output (…, T/n, K). Keys and values travel around the ring, and
    `merge` of FlashAttention joins what the queries have found so far with what the next piece adds.
    """
    check_types("ring_attention", Rank, rank=rank)
    check_tensors("ring_attention", q=(q, "float … T K"), k=(k, "float … T K"), v=(v, "float … T K"))
    check_numbers("ring_attention", above=0, optional=True, scale=scale)
    check_types("ring_attention", bool, causal=causal)
    scale = scale or 1 / math.sqrt(q.shape[-1])
    T = q.shape[-2]
    places = torch.arange(T)
    keys_and_values, found = torch.stack([k, v]), None
    for step in range(rank.count):
        owner = (rank.number - step) % rank.count  # whose piece is here now
        seen = owner * T + places <= (rank.number * T + places)[:, None] if causal else None
        new = partial_attention(q, *keys_and_values, scale=scale, allowed=seen)
        found = new if found is None else merge(found, new)
        if step < rank.count - 1:
            keys_and_values = pass_on(rank, keys_and_values)
    return found.out


def expert_parallel(
    rank: Rank, x: Tensor, chosen: Tensor, expert: Callable[[Tensor], Tensor], experts_per_rank: int = 1
) -> Tensor:
    """Every token travels to the rank of its expert, and its result travels back: two all-to-alls.

    x (N, D) are this rank's tokens, chosen (N,) the number of each token's expert. Rank r has the experts
    r · experts_per_rank … and computes them with `expert(number, tokens)`. Returns (N, D).
    """
    check_types("expert_parallel", Rank, rank=rank)
    check_tensors("expert_parallel", x=(x, "float N D"), chosen=(chosen, "int N"))
    check_numbers("expert_parallel", least=1, whole=True, experts_per_rank=experts_per_rank)
    experts = rank.count * experts_per_rank
    if len(chosen) and not 0 <= int(chosen.min()) <= int(chosen.max()) < experts:
        raise ValueError(f"expert_parallel: chosen {chosen.min()} … {chosen.max()}, but there are {experts} experts")
    owner = chosen // experts_per_rank
    places = [(owner == to).nonzero()[:, 0] for to in range(rank.count)]
    numbers = all_to_all(rank, [chosen[at] for at in places])
    tokens = exchange(rank, [x[at] for at in places])
    results = []
    for number, part in zip(numbers, tokens, strict=True):
        result = torch.zeros_like(part)
        for one in number.unique().tolist():
            result = result.index_put(((number == one).nonzero()[:, 0],), expert(one, part[number == one]))
        results.append(result)
    back = exchange(rank, results)
    return x.new_zeros(x.shape).index_put((torch.cat(places),), torch.cat(back))
