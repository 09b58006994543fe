"""FlashAttention: exact attention in blocks, which never holds the (T, S) matrix of scores.

    softmax over one more block of scores:   m' = max(m, max s),   l' = l e^(m − m') + Σ e^(s − m')

The softmax needs its largest score and the sum of its exponentials. Both can be kept up to date while the scores arrive
(Milakov & Gimelshein 2018, algorithm 3). So can the mean of the values that they weight: `merge` joins the attention
over two sets of keys. FlashAttention (Dao et al. 2022) applies `merge` block by block, and its backward pass computes
the scores again instead of storing them. What it saves is traffic: numbers moved between the large slow memory of a GPU
and its small fast one. `SlowMemory` counts them in the loop, `flash_cost` by formula.

Shapes: q (…, T, K), k and v (…, S, K); mask boolean, True = may attend, broadcastable to (…, T, S). A query that may
attend to nothing gets zeros. Left out on purpose: dropout and bias.
"""

import math
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from tx_helpers.nn.arguments import check_broadcast, check_numbers, check_tensors, check_types


class Partial(NamedTuple):
    """Attention over some of the keys, and what is needed to merge it with the attention over others."""

    out: Tensor  # (…, T, K): softmax(scores) v over these keys
    largest: Tensor  # (…, T, 1): m, the largest score; −∞ if there is none
    total: Tensor  # (…, T, 1): l = Σ e^(s − m); 0 if there is none


def partial_attention(q: Tensor, k: Tensor, v: Tensor, *, scale: float, allowed: Tensor | None = None) -> Partial:
    """Attention of the queries over these keys alone, with allowed (…, T, S) or None for all."""
    scores = _scores(q, k, scale, allowed)
    largest = scores.amax(dim=-1, keepdim=True)
    exponentials = _exp(scores, largest)
    total = exponentials.sum(dim=-1, keepdim=True)
    return Partial(exponentials @ v / total.clamp(min=1), largest, total)


def merge(one: Partial, other: Partial) -> Partial:
    """The attention over the keys of both, exactly: Dao et al. 2022, algorithm 1, lines 11 and 12.

    m = max(m₁, m₂),  l = l₁ e^(m₁ − m) + l₂ e^(m₂ − m),  out = (l₁ e^(m₁ − m) out₁ + l₂ e^(m₂ − m) out₂) / l
    """
    largest = torch.maximum(one.largest, other.largest)
    weight = one.total * _exp(one.largest, largest)
    other_weight = other.total * _exp(other.largest, largest)
    total = weight + other_weight
    return Partial((weight * one.out + other_weight * other.out) / total.clamp(min=1), largest, total)


class SlowMemory:
    """Counts the numbers that a loop reads from slow memory and those that it writes back."""

    def __init__(self) -> None:
        self.read_numbers = self.written_numbers = 0

    @property
    def moved(self) -> int:
        """Numbers read and numbers written, together."""
        return self.read_numbers + self.written_numbers

    def read(self, *tensors: Tensor) -> tuple[Tensor, ...]:
        """The tensors, counted as read."""
        self.read_numbers += sum(tensor.numel() for tensor in tensors)
        return tensors

    def write(self, place: Tensor, value: Tensor) -> None:
        """Write the value into its place, and count it."""
        place.copy_(value)
        self.written_numbers += value.numel()


class Blocks(NamedTuple):
    """How the queries and the keys are cut: block_q queries and block_k keys meet at a time."""

    block_q: int
    block_k: int

    def pairs(self, T: int, S: int, causal: bool) -> list[tuple[slice, list[slice]]]:
        """For each block of keys the blocks of queries that may see one of its keys; the others are skipped."""
        queries, keys = _cut(T, self.block_q), _cut(S, self.block_k)
        # Query t sees key s where s ≤ t + S − T, so a block is closed if its last query does not see the first key.
        return [(j, [i for i in queries if not causal or j.start <= i.stop - 1 + S - T]) for j in keys]


def flash_forward(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    blocks: Blocks,
    *,
    scale: float,
    mask: Tensor | None = None,
    causal: bool = False,
    memory: SlowMemory | None = None,
) -> Partial:
    """Dao et al. 2022, algorithm 1: a block of keys and values is read once, and meets the queries block by block.

    After each block of keys, the output is the exact attention over all keys so far.
    """
    memory = memory or SlowMemory()
    T, S = q.shape[-2], k.shape[-2]
    found = Partial(torch.zeros_like(q), torch.full_like(q[..., :1], float("-inf")), torch.zeros_like(q[..., :1]))
    for j, queries in blocks.pairs(T, S, causal):
        k_j, v_j = memory.read(k[..., j, :], v[..., j, :])
        for i in queries:
            so_far = Partial(*memory.read(*(part[..., i, :] for part in found)))
            (q_i,) = memory.read(q[..., i, :])
            new = partial_attention(q_i, k_j, v_j, scale=scale, allowed=_allowed(i, j, T, S, mask, causal, q.device))
            for part, value in zip(found, merge(so_far, new), strict=True):
                memory.write(part[..., i, :], value)
    return found


def flash_backward(
    d_out: Tensor,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    found: Partial,
    blocks: Blocks,
    *,
    scale: float,
    mask: Tensor | None = None,
    causal: bool = False,
    memory: SlowMemory | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """The gradients of q, k and v, from that of the output (…, T, K): Dao et al. 2022, algorithm 4.

    The weights P are not stored: each block of them is computed again from q, k and the two numbers of a row.
    With P = softmax(scale · q kᵀ), O = P v and dO, the gradient of O:
    dv = Pᵀ dO,  dP = dO vᵀ,  dS = P ∘ (dP − Σ_k dO ∘ O),  dq = scale · dS k,  dk = scale · dSᵀ q.
    """
    memory = memory or SlowMemory()
    T, S = q.shape[-2], k.shape[-2]
    d_q, d_k, d_v = torch.zeros_like(q), torch.zeros_like(k), torch.zeros_like(v)
    for j, queries in blocks.pairs(T, S, causal):
        k_j, v_j = memory.read(k[..., j, :], v[..., j, :])
        d_k_j, d_v_j = torch.zeros_like(k_j), torch.zeros_like(v_j)  # stay in fast memory
        for i in queries:
            q_i, d_q_i, d_out_i, out_i = memory.read(*(x[..., i, :] for x in (q, d_q, d_out, found.out)))
            largest, total = memory.read(found.largest[..., i, :], found.total[..., i, :])
            scores = _scores(q_i, k_j, scale, _allowed(i, j, T, S, mask, causal, q.device))
            weights = _exp(scores, largest) / total.clamp(min=1)
            d_v_j += weights.transpose(-2, -1) @ d_out_i
            d_weights = d_out_i @ v_j.transpose(-2, -1)
            d_scores = weights * (d_weights - (d_out_i * out_i).sum(dim=-1, keepdim=True))
            memory.write(d_q[..., i, :], d_q_i + scale * d_scores @ k_j)
            d_k_j += scale * d_scores.transpose(-2, -1) @ q_i
        memory.write(d_k[..., j, :], d_k_j)
        memory.write(d_v[..., j, :], d_v_j)
    return d_q, d_k, d_v


class _Flash(torch.autograd.Function):
    """Both passes as one operation for autograd, which keeps (T, K) and two numbers a row, but no scores."""

    @staticmethod
    def forward(
        ctx: Any, q: Tensor, k: Tensor, v: Tensor, blocks: Blocks, mask: Tensor | None, options: dict[str, Any]
    ) -> Tensor:
        found = flash_forward(q, k, v, blocks, mask=mask, **options)
        ctx.save_for_backward(q, k, v, *found)
        ctx.blocks, ctx.mask, ctx.options = blocks, mask, options
        return found.out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_out: Tensor) -> tuple[Tensor | None, ...]:
        q, k, v, *found = ctx.saved_tensors
        gradients = flash_backward(d_out, q, k, v, Partial(*found), ctx.blocks, mask=ctx.mask, **ctx.options)
        return *gradients, None, None, None


def flash_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    mask: Tensor | None = None,
    bias: None = None,
    causal: bool = False,
    scale: float | None = None,
    dropout: float = 0.0,
    block_q: int = 64,
    block_k: int = 64,
    memory: SlowMemory | None = None,
) -> Tensor:
    """softmax(q kᵀ · scale, where mask allows) v, in blocks, both ways. -> (B, H, T, K)

    q (B, H, T, K), k and v (B, G, S, K) with H a multiple of G; a function for `attend` of `MultiHeadAttention`, if the
    layer has no bias and no dropout. `memory` counts what both passes move.
    """
    sizes = check_tensors("flash_attention", q=(q, "float B H T K"), k=(k, "float B G S K"), v=(v, "float B G S K"))
    H, G, T, S = (sizes[letter] for letter in "HGTS")
    if not (G and S and sizes["K"]) or H % G:
        raise ValueError(f"flash_attention: q {tuple(q.shape)} and k {tuple(k.shape)}, expected H a multiple of G >= 1")
    if causal and T > S:
        raise ValueError(f"flash_attention: {T} queries, {S} keys; with causal the queries are the last of the keys")
    if bias is not None or dropout != 0.0:
        raise ValueError(f"flash_attention: bias={bias}, dropout={dropout}; expected neither of them")
    check_broadcast("flash_attention: a mask", mask, (*q.shape[:-1], S), "bool")
    check_numbers("flash_attention", optional=True, scale=scale)
    check_numbers("flash_attention", least=1, whole=True, block_q=block_q, block_k=block_k)
    k, v = (x.repeat_interleave(H // G, dim=1) for x in (k, v))
    mask = None if mask is None else mask.expand(*q.shape[:-1], S)  # a view: nothing is copied
    options = dict(scale=1 / math.sqrt(sizes["K"]) if scale is None else scale, causal=causal, memory=memory)
    return _Flash.apply(q, k, v, Blocks(block_q, block_k), mask, options)


def blocks_for(fast_memory: int, K: int) -> Blocks:
    """The blocks that fit into a fast memory of `fast_memory` numbers: Dao et al. 2022, algorithm 1, line 1."""
    check_numbers("blocks_for", least=1, whole=True, fast_memory=fast_memory, K=K)
    block = math.ceil(fast_memory / (4 * K))
    return Blocks(min(block, K), block)


class Cost(NamedTuple):
    """What one head costs: numbers moved between slow and fast memory, and multiplications and additions."""

    moved: int
    operations: int


def written_out_cost(T: int, S: int, K: int, *, backward: bool = False) -> Cost:
    """Attention written out, each step from slow memory and back: Dao et al. 2022, algorithms 0 and 3.

    Forward it writes and reads the scores and the weights, backward also the gradients of both.
    """
    check_numbers("written_out_cost", least=1, whole=True, T=T, S=S, K=K)
    if backward:  # seven passes over a (T, S) matrix, four products
        return Cost(7 * T * S + 4 * (T + S) * K, 8 * T * S * K)
    return Cost(4 * T * S + 2 * (T + S) * K, 4 * T * S * K)


def flash_cost(T: int, S: int, K: int, blocks: Blocks, *, causal: bool = False, backward: bool = False) -> Cost:
    """FlashAttention, of the blocks that are not skipped; a matrix product (n, m) @ (m, p) has 2nmp operations."""
    check_numbers("flash_cost", least=1, whole=True, T=T, S=S, K=K)
    check_types("flash_cost", Blocks, blocks=blocks)
    check_numbers("flash_cost", least=1, whole=True, **blocks._asdict())
    pairs = blocks.pairs(T, S, causal)
    rows = sum(i.stop - i.start for _, queries in pairs for i in queries)  # over all blocks of keys
    scores = sum((i.stop - i.start) * (j.stop - j.start) for j, queries in pairs for i in queries)
    if backward:  # five products instead of four: the scores are computed again
        return Cost(4 * S * K + rows * (5 * K + 2), 10 * scores * K)
    return Cost(2 * S * K + rows * (3 * K + 4), 4 * scores * K)


def _exp(scores: Tensor, largest: Tensor) -> Tensor:
    """e^(s − m); 0 where m = −∞, that is, where no score is open yet."""
    return torch.exp(scores - largest.masked_fill(largest.isneginf(), 0.0))


def _scores(q: Tensor, k: Tensor, scale: float, allowed: Tensor | None) -> Tensor:
    scores = scale * q @ k.transpose(-2, -1)  # (…, T, K) @ (…, K, S) -> (…, T, S)
    return scores if allowed is None else scores.masked_fill(~allowed, float("-inf"))


def _cut(length: int, size: int) -> list[slice]:
    return [slice(start, min(start + size, length)) for start in range(0, length, size)]


def _allowed(
    i: slice, j: slice, T: int, S: int, mask: Tensor | None, causal: bool, device: torch.device
) -> Tensor | None:
    """Which of these queries may attend to which of these keys; None if all may attend to all."""
    allowed = None if mask is None else mask[..., i, j]
    if not causal:
        return allowed
    queries = torch.arange(i.start, i.stop, device=device)[:, None] + S - T
    open_keys = torch.arange(j.start, j.stop, device=device) <= queries
    return open_keys if allowed is None else allowed & open_keys
