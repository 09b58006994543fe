"""The blocks that are stacked, and what feeds the first of them.

A block wraps each sub-layer in a residual connection with a norm (Vaswani et al. 2017, sections 3.1 and 5.4):

    post-norm, the paper:  x ← norm(x + dropout(sublayer(x)))
    pre-norm, since 2019:  x ← x + dropout(sublayer(norm(x)))       Xiong et al. 2020
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from tx_helpers.attention import KVCache, MultiHeadAttention
from tx_helpers.layers import Dropout
from tx_helpers.observe import observe


class InputEmbedding(nn.Module):
    """Ids -> vectors: token (times √D if `scale`), plus position, plus segment, then norm and dropout where given.

    tokens     may be shared with another part of the model
    positions  a module (…,) -> (…, D), or None where attention itself knows the positions
    segments   the number of BERT's segment types, 0 for none
    shift      so many tokens before each one also bring a learned share, feature by feature, into its vector
               (token shift: Peng et al. 2023, RWKV, section 3.1, of one token)
    """

    def __init__(
        self,
        tokens: nn.Embedding,
        positions: nn.Module | None = None,
        *,
        scale: bool = False,
        segments: int = 0,
        shift: int = 0,
        norm: nn.Module | None = None,
        dropout: float = 0.0,
    ):
        super().__init__()
        d_model = tokens.embedding_dim
        self.tokens, self.positions = tokens, positions
        self.factor = math.sqrt(d_model) if scale else 1.0
        self.segments = nn.Embedding(segments, d_model) if segments else None
        self.shift = nn.Parameter(torch.zeros(shift, d_model)) if shift else None
        self.norm = norm or nn.Identity()
        self.dropout = Dropout(dropout)

    def forward(
        self, ids: Tensor, positions: Tensor, segments: Tensor | None = None, *, before: Sequence[Tensor] = ()
    ) -> Tensor:
        """ids (B, T), positions (T,) or (B, T), segments (B, T) or None for all 0. -> (B, T, D)

        before: for each shift n = 1, 2 … the ids n places earlier (B, T); where there are none, at positions below n,
        anything may stand.
        """
        self._check(ids, segments)
        x = self.tokens(ids) * self.factor
        for n, earlier in enumerate(before, start=1):
            x = x + self.shift[n - 1] * self.tokens(earlier) * (positions >= n).unsqueeze(-1)
        if self.positions is not None:
            x = x + self.positions(positions, x.dtype)
        if self.segments is not None:
            x = x + (self.segments.weight[0] if segments is None else self.segments(segments))
        return observe("hidden", self.dropout(self.norm(x)))

    def _check(self, ids: Tensor, segments: Tensor | None) -> None:
        if segments is None:
            return
        n = 0 if self.segments is None else self.segments.num_embeddings
        if n == 0 or segments.shape != ids.shape:
            shapes = f"segments of shape {tuple(segments.shape)} for ids of shape {tuple(ids.shape)}"
            raise ValueError(f"InputEmbedding: {shapes}, in a model with {n} segment types")
        if segments.device.type != "meta" and not 0 <= int(segments.min()) <= int(segments.max()) < n:
            raise ValueError(f"InputEmbedding: segments {int(segments.min())} … {int(segments.max())} of {n} types")


@dataclass
class BlockCache:
    """What one block keeps while decoding: of its self-attention, and of its cross-attention if it has one."""

    self_attention: KVCache = field(default_factory=KVCache)
    cross_attention: KVCache = field(default_factory=KVCache)

    def __len__(self) -> int:
        return len(self.self_attention)

    def select(self, rows: Tensor) -> None:
        self.self_attention.select(rows)
        self.cross_attention.select(rows)


class EncoderBlock(nn.Module):
    """Self-attention, then feed-forward; with causal=True also the block of a decoder-only model.

    new_norm makes a norm each time it is called; placement is "pre" or "post"; residual=False leaves the shortcut out,
    to show what it is for.
    """

    def __init__(
        self,
        self_attention: MultiHeadAttention,
        feed_forward: nn.Module,
        new_norm: Callable[[], nn.Module],
        *,
        placement: str = "pre",
        residual: bool = True,
        dropout: float = 0.0,
    ):
        super().__init__()
        if placement not in ("pre", "post"):
            raise ValueError(f"block: placement={placement!r}, expected 'pre' or 'post'")
        self.self_attention = self_attention
        self.self_attention_norm = new_norm()
        self.feed_forward = feed_forward
        self.feed_forward_norm = new_norm()
        self.dropout = Dropout(dropout)
        self.placement, self.residual = placement, residual

    def forward(
        self,
        x: Tensor,
        *,
        mask: Tensor | None = None,
        bias: Tensor | None = None,
        causal: bool = False,
        rotate: Callable[[Tensor], Tensor] | None = None,
        cache: BlockCache | None = None,
    ) -> Tensor:
        """(B, T, D) -> (B, T, D); the options are those of the self-attention."""
        kept = cache.self_attention if cache is not None else None
        x = self.around(
            x,
            self.self_attention_norm,
            lambda x: self.self_attention(x, mask=mask, bias=bias, causal=causal, rotate=rotate, cache=kept),
        )
        x = self.around(x, self.feed_forward_norm, self.feed_forward)
        return observe("hidden", x)

    def around(self, x: Tensor, norm: nn.Module, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        """One sub-layer with its shortcut, norm and dropout."""
        if self.placement == "pre":
            change = self.dropout(sublayer(norm(x)))
            return x + change if self.residual else change
        change = self.dropout(sublayer(x))
        return norm(x + change if self.residual else change)


class DecoderBlock(EncoderBlock):
    """Causal self-attention, cross-attention to the encoder's memory, feed-forward."""

    def __init__(
        self,
        self_attention: MultiHeadAttention,
        cross_attention: MultiHeadAttention,
        feed_forward: nn.Module,
        new_norm: Callable[[], nn.Module],
        *,
        placement: str = "pre",
        residual: bool = True,
        dropout: float = 0.0,
    ):
        super().__init__(
            self_attention, feed_forward, new_norm, placement=placement, residual=residual, dropout=dropout
        )
        self.cross_attention = cross_attention
        self.cross_attention_norm = new_norm()

    def forward(
        self,
        x: Tensor,
        memory: Tensor,
        *,
        mask: Tensor | None = None,
        bias: Tensor | None = None,
        causal: bool = True,
        rotate: Callable[[Tensor], Tensor] | None = None,
        memory_mask: Tensor | None = None,
        cache: BlockCache | None = None,
    ) -> Tensor:
        """x (B, T, D), memory (B, S, D), memory_mask broadcastable to (B, H, T, S). -> (B, T, D)"""
        kept, memory_kept = (cache.self_attention, cache.cross_attention) if cache is not None else (None, None)
        x = self.around(
            x,
            self.self_attention_norm,
            lambda x: self.self_attention(x, mask=mask, bias=bias, causal=causal, rotate=rotate, cache=kept),
        )
        x = self.around(
            x,
            self.cross_attention_norm,
            lambda x: self.cross_attention(x, memory, mask=memory_mask, cache=memory_kept),
        )
        x = self.around(x, self.feed_forward_norm, self.feed_forward)
        return observe("hidden", x)
