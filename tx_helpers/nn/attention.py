"""Attention: softmax(Q Kᵀ / √K) V, and its multi-head form. Vaswani et al. 2017, section 3.2.

The function comes first, in two forms that agree: the eager form, whose scores and weights can be watched, and
PyTorch's fused kernel, which never holds the (T, S) matrix in memory. `MultiHeadAttention` adds the projections, for
self-attention and cross-attention. Each head has its own keys, or groups of heads share them (Ainslie et al. 2023).

Shapes: q (B, H, T, K), k and v (B, G, S, K) with G key–value heads, H a multiple of G; mask boolean, True = may attend,
broadcastable to (B, H, T, S); bias is added to the scores and broadcast likewise. A query that may attend to nothing
gets zeros.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tx_helpers.nn.arguments import check_broadcast, check_numbers, check_tensors, described
from tx_helpers.nn.cache import KVCache
from tx_helpers.nn.layers import RMSNorm
from tx_helpers.nn.masks import additive_mask, causal_mask, combine_masks
from tx_helpers.nn.observe import observe, observed


def eager_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    mask: Tensor | None = None,
    bias: Tensor | None = None,
    causal: bool = False,
    scale: float | None = None,
    dropout: float = 0.0,
    softmax: Callable[[Tensor], Tensor] | None = None,
) -> Tensor:
    """The formula, step by step; reports "scores" (before the mask) and "weights". -> (B, H, T, K)

    softmax  what turns the scores, −∞ where the mask forbids, into weights (B, H, T, S); by default
             `softmax_or_zeros`. The fused kernel has no other.
    """
    _check_arguments(q, k, v, mask, bias, causal, scale, dropout)
    k, v = repeat_kv(q, k, v)
    # The queries are scaled before the product: in float16 the unscaled product could overflow.
    scores = q * _scale(q, scale) @ k.transpose(-2, -1)  # (B, H, T, K) @ (B, H, K, S) -> (B, H, T, S)
    if bias is not None:
        scores = scores + bias.to(scores.dtype)
    scores = observe("scores", scores)
    allowed = _with_causal(mask, causal, q, k)
    if allowed is not None:
        scores = scores.masked_fill(~allowed, float("-inf"))
    if softmax is None:  # without mask and bias every row is open: causality alone leaves each query its own key
        softmax = partial(torch.softmax, dim=-1) if mask is None and bias is None else softmax_or_zeros
    weights = F.dropout(observe("weights", softmax(scores)), dropout)
    return weights @ v  # (B, H, T, S) @ (B, H, S, K) -> (B, H, T, K)


def softmax_or_zeros(scores: Tensor) -> Tensor:
    """The softmax of each row of scores (…, S). A row of −∞ alone, which would be 0/0, gets zeros, and no gradient."""
    closed = scores.isneginf().all(dim=-1, keepdim=True)  # (…, 1)
    return torch.softmax(scores.masked_fill(closed, 0.0), dim=-1).masked_fill(closed, 0.0)


def fused_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    mask: Tensor | None = None,
    bias: Tensor | None = None,
    causal: bool = False,
    scale: float | None = None,
    dropout: float = 0.0,
) -> Tensor:
    """The same by PyTorch's kernel, which keeps no weights: memory grows with T, not T². -> (B, H, T, K)"""
    _check_arguments(q, k, v, mask, bias, causal, scale, dropout)
    k, v = repeat_kv(q, k, v)
    if causal and mask is None and bias is None and q.shape[-2] == k.shape[-2]:
        return F.scaled_dot_product_attention(q, k, v, is_causal=True, scale=_scale(q, scale), dropout_p=dropout)
    mask = _with_causal(mask, causal, q, k)
    if bias is not None:
        bias = bias.to(q.dtype)
        mask = bias if mask is None else bias + additive_mask(mask, q.dtype)
    if mask is not None and mask.dim() < 2:  # the kernel wants at least (T, S)
        mask = mask.expand(q.shape[-2], k.shape[-2])
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, scale=_scale(q, scale), dropout_p=dropout)


def scaled_dot_product_attention(q: Tensor, k: Tensor, v: Tensor, **options: Any) -> Tensor:
    """softmax(q kᵀ · scale + bias, where mask allows) v; scale is 1/√K unless given. -> (B, H, T, K)

    One rule chooses the form. If there is a listener (`observe`), the eager form, which can be watched. In reduced
    precision on a CPU with at most 512 keys, the eager form, which trains faster there. Otherwise the fused kernel.
    `tools/bench_attention.py` measures both.
    """
    reduced_on_cpu = isinstance(v, Tensor) and v.is_cpu and v.dtype in (torch.bfloat16, torch.float16)
    attend = eager_attention if observed() or (reduced_on_cpu and v.shape[-2] <= 512) else fused_attention
    return attend(q, k, v, **options)


class MultiHeadAttention(nn.Module):
    """MultiHead(X, M) = Concat(head_1 … head_H) W_O,  head_h = Attention(X W_Q, M W_K, M W_V) with its own K columns.

    d_model       D, of the input and of the output
    n_heads       H query heads; n_kv_heads of keys and values: H (default), 1 (multi-query) or between (grouped-query)
    d_head        K, by default D/H
    qk_norm       RMSNorm on every query and key before they meet (Henry et al. 2020; Dehghani et al. 2023); with
                  "plus_one" its gain is 1 + weight, as in Gemma 3
    scale         of the scores, by default 1/√K
    attend        the attention function, of `scaled_dot_product_attention`'s signature
    Source: Vaswani et al. 2017, section 3.2.2; Ainslie et al. 2023 for the groups.
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        *,
        n_kv_heads: int | None = None,
        d_head: int | None = None,
        bias: bool = True,
        output_bias: bool | None = None,
        qk_norm: bool | str = False,
        norm_eps: float = 1e-6,
        scale: float | None = None,
        dropout: float = 0.0,
        attend: Callable[..., Tensor] = scaled_dot_product_attention,
    ):
        super().__init__()
        n_kv_heads = n_heads if n_kv_heads is None else n_kv_heads
        check_numbers("MultiHeadAttention", least=1, whole=True, d_model=d_model, n_heads=n_heads)
        check_numbers("MultiHeadAttention", least=1, whole=True, optional=True, n_kv_heads=n_kv_heads, d_head=d_head)
        if d_head is None and d_model % n_heads:
            raise ValueError(f"MultiHeadAttention: d_model={d_model} is not divisible by n_heads={n_heads}")
        check_numbers("MultiHeadAttention", least=0, most=1, dropout=dropout)
        check_numbers("MultiHeadAttention", least=0, norm_eps=norm_eps)
        check_numbers("MultiHeadAttention", optional=True, scale=scale)
        if not isinstance(qk_norm, bool) and qk_norm != "plus_one":
            raise ValueError(f"MultiHeadAttention: qk_norm is {described(qk_norm)}, expected True, False or 'plus_one'")
        if n_heads % n_kv_heads:
            raise ValueError(f"MultiHeadAttention: n_heads={n_heads} is not divisible by n_kv_heads={n_kv_heads}")
        self.n_heads, self.n_kv_heads = n_heads, n_kv_heads
        self.d_model, self.d_head = d_model, d_head or d_model // n_heads
        self.scale, self.dropout, self.attend = scale, dropout, attend
        self.query = nn.Linear(d_model, n_heads * self.d_head, bias=bias)
        self.key = nn.Linear(d_model, n_kv_heads * self.d_head, bias=bias)
        self.value = nn.Linear(d_model, n_kv_heads * self.d_head, bias=bias)
        self.output = nn.Linear(n_heads * self.d_head, d_model, bias=bias if output_bias is None else output_bias)
        norm = partial(RMSNorm, self.d_head, eps=norm_eps, plus_one=qk_norm == "plus_one") if qk_norm else nn.Identity
        self.query_norm, self.key_norm = norm(), norm()

    @property
    def cache_width(self) -> int:
        """The numbers that a cache keeps of one position: 2 · G · K."""
        return 2 * self.n_kv_heads * self.d_head

    def forward(
        self,
        x: Tensor,
        memory: Tensor | None = None,
        *,
        mask: Tensor | None = None,
        bias: Tensor | None = None,
        causal: bool = False,
        rotate: Callable[[Tensor], Tensor] | None = None,
        cache: KVCache | None = None,
        **of_values: Tensor,
    ) -> Tensor:
        """x (B, T, D) attends to itself, or to a memory (B, S, D). -> (B, T, D)

        rotate     what `Rotary.at(positions)` gives, applied to the queries and keys of x
        cache      self-attention: x holds the positions that follow those in the cache; cross-attention: the keys and
                   values of the memory are computed once and stored
        of_values  what a subclass's `values` takes beside x
        """
        self._check(x, memory)
        q = self.queries(x, rotate)
        k, v = (None, None) if memory is None or cache is None else (cache.keys, cache.values)
        if k is None or v is None:  # else those of the memory, stored before
            source = x if memory is None else memory
            k, v = self.keys(source, rotate), self.values(source, **of_values)
            if cache is not None:
                k, v = cache.append(k, v)
                mask, bias = cache.columns(mask), cache.columns(bias)
        dropout = self.dropout if self.training else 0.0
        heads = self.attend(q, k, v, mask=mask, bias=bias, causal=causal, scale=self.scale, dropout=dropout)
        heads = observe("heads", heads)
        joined = heads.transpose(1, 2).flatten(-2)  # (B, H, T, K) -> (B, T, H·K)
        return observe("output", self.output(joined))

    def queries(self, x: Tensor, rotate: Callable[[Tensor], Tensor] | None = None) -> Tensor:
        """(B, T, D) -> (B, H, T, K)"""
        q = self.query_norm(self.split(self.query(x), self.n_heads))
        return observe("queries", q if rotate is None else rotate(q))

    def keys(self, source: Tensor, rotate: Callable[[Tensor], Tensor] | None = None) -> Tensor:
        """(B, S, D) -> (B, G, S, K)"""
        k = self.key_norm(self.split(self.key(source), self.n_kv_heads))
        return observe("keys", k if rotate is None else rotate(k))

    def values(self, source: Tensor) -> Tensor:
        """(B, S, D) -> (B, G, S, K)"""
        return observe("values", self.split(self.value(source), self.n_kv_heads))

    def split(self, x: Tensor, n_heads: int) -> Tensor:
        """(B, T, H·K) -> (B, H, T, K)"""
        return x.unflatten(-1, (n_heads, self.d_head)).transpose(1, 2)

    def _check(self, x: Tensor, memory: Tensor | None) -> None:
        if memory is None and isinstance(x, Tensor) and x.dim() == 3 and x.shape[-1] == self.d_model:
            return  # the usual case, without the cost of a full check
        sizes = check_tensors("MultiHeadAttention", x=(x, f"float B T {self.d_model}"))
        if memory is not None:
            check_tensors("MultiHeadAttention", {"B": sizes["B"]}, memory=(memory, f"float B S {self.d_model}"))


def additive_attention(q: Tensor, k: Tensor, v: Tensor, *, weight: Tensor, mask: Tensor | None = None) -> Tensor:
    """softmax_j(tanh(q_t + k_j) · weight) v: scores by a small network instead of a dot product.

    q (B, T, A) and k (B, S, A) are already projected to the width A of the network, as rows: q = s W of the decoder's
    states s, k = h U of the encoder's states h. weight (A,), v (B, S, D), mask broadcastable to (B, T, S).
    -> (B, T, D). Source: Bahdanau et al. 2015, section 3.1 and appendix A.1.2, with vectors as rows.
    """
    projected = dict(q=(q, "float B T A"), k=(k, "float B S A"), weight=(weight, "float A"))
    check_tensors("additive_attention", **projected, v=(v, "float B S D"))
    sums = q.unsqueeze(-2) + k.unsqueeze(-3)  # (B, T, 1, A) + (B, 1, S, A) -> (B, T, S, A)
    scores = observe("scores", torch.tanh(sums) @ weight)  # (B, T, S, A) @ (A,) -> (B, T, S)
    check_broadcast("additive_attention: a mask", mask, scores.shape, "bool")
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    if mask is not None:  # a query that may attend to nothing gets zeros
        weights = weights.masked_fill(~mask, 0.0)
    return observe("weights", weights) @ v  # (B, T, S) @ (B, S, D) -> (B, T, D)


def _check_arguments(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None,
    bias: Tensor | None,
    causal: bool,
    scale: float | None,
    dropout: float,
) -> None:
    """Written out rather than with `check_tensors`: this runs in every layer of every decoding step."""
    tensors = (q, k, v)
    fits = all(isinstance(tensor, Tensor) and tensor.is_floating_point() and tensor.dim() >= 3 for tensor in tensors)
    if not (
        fits
        and q.shape[:-3] == k.shape[:-3] == v.shape[:-3]  # B, and any dimensions before it
        and q.shape[-1] == k.shape[-1]  # K
        and k.shape[-3:-1] == v.shape[-3:-1]  # G and S
    ):
        given = (tuple(x.shape) if isinstance(x, Tensor) and x.is_floating_point() else described(x) for x in tensors)
        found = ", ".join(f"{name} {what}" for name, what in zip("qkv", given, strict=True))
        raise ValueError(f"attention: {found}; expected float (B, H, T, K), (B, G, S, K), (B, G, S, K)")
    scores = (*q.shape[:-1], k.shape[-2])  # (B, H, T, S)
    check_broadcast("attention: a mask", mask, scores, "bool")
    check_broadcast("attention: a bias", bias, scores, "float")
    if not isinstance(causal, bool):
        raise ValueError(f"attention: causal is {described(causal)}, expected True or False")
    if scale is not None:
        check_numbers("attention", scale=scale)
    if dropout != 0.0:
        check_numbers("attention", least=0, most=1, dropout=dropout)


def _scale(q: Tensor, scale: float | None) -> float:
    return 1.0 / math.sqrt(q.shape[-1]) if scale is None else scale


def repeat_kv(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    """Repeat the G heads of keys and values to H, neighbours sharing one: (B, G, S, K) -> (B, H, S, K)."""
    H, G = q.shape[-3], k.shape[-3]
    if H == G:
        return k, v
    if H % G:
        raise ValueError(f"attention: {H} query heads are not divisible by {G} key–value heads")
    return k.repeat_interleave(H // G, dim=-3), v.repeat_interleave(H // G, dim=-3)


def _with_causal(mask: Tensor | None, causal: bool, q: Tensor, k: Tensor) -> Tensor | None:
    T, S = q.shape[-2], k.shape[-2]
    if not causal or T == 1:  # one query: the last position, which sees all there is
        return mask
    return combine_masks(mask, causal_mask(T, S, device=q.device))
