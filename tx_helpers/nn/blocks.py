"""The blocks that are stacked, and the embedding that feeds the first of them.

A block holds sub-layers and norms. Its wiring says how they are put together: which norm stands where, and what is
added to what. A wiring is a function (x, sublayers, norms) -> x, with one norm for each sub-layer. The two usual ones:

    post_norm, 2017:        x ← norm(x + sublayer(x))         Vaswani et al. 2017, sections 3.1 and 5.4
    pre_norm, since 2019:   x ← x + sublayer(norm(x))         Xiong et al. 2020
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from torch import Tensor, nn

from tx_helpers.nn.arguments import described
from tx_helpers.nn.attention import MultiHeadAttention
from tx_helpers.nn.cache import KVCache, StateCache
from tx_helpers.nn.layers import Dropout
from tx_helpers.nn.observe import observe

Sublayer = Callable[[Tensor], Tensor]
Wiring = Callable[[Tensor, Sequence[Sublayer], Sequence[nn.Module]], Tensor]


def pre_norm(x: Tensor, sublayers: Sequence[Sublayer], norms: Sequence[nn.Module]) -> Tensor:
    """x ← x + sublayer(norm(x)), for each sub-layer in turn. Xiong et al. 2020."""
    for sublayer, norm in zip(sublayers, norms, strict=False):
        x = x + sublayer(norm(x))
    return x


def post_norm(x: Tensor, sublayers: Sequence[Sublayer], norms: Sequence[nn.Module]) -> Tensor:
    """x ← norm(x + sublayer(x)). Vaswani et al. 2017."""
    for sublayer, norm in zip(sublayers, norms, strict=False):
        x = norm(x + sublayer(x))
    return x


def sandwich(x: Tensor, sublayers: Sequence[Sublayer], norms: Sequence[nn.Module]) -> Tensor:
    """x ← x + norm′(sublayer(norm(x))), with a second norm of each sub-layer. Ding et al. 2021 (CogView); Gemma 2."""
    n = len(sublayers)
    if len(norms) != 2 * n:
        raise ValueError(f"sandwich: {len(norms)} norms for {n} sub-layers, expected two of each: norms_per_sublayer=2")
    for sublayer, norm, second in zip(sublayers, norms, norms[n:], strict=False):
        x = x + second(sublayer(norm(x)))
    return x


def no_norm(x: Tensor, sublayers: Sequence[Sublayer], norms: Sequence[nn.Module]) -> Tensor:
    """x ← x + sublayer(x)."""
    for sublayer in sublayers:
        x = x + sublayer(x)
    return x


def pre_norm_without_residual(x: Tensor, sublayers: Sequence[Sublayer], norms: Sequence[nn.Module]) -> Tensor:
    """x ← sublayer(norm(x)), to show what the residual connection is for."""
    for sublayer, norm in zip(sublayers, norms, strict=False):
        x = sublayer(norm(x))
    return x


def post_norm_without_residual(x: Tensor, sublayers: Sequence[Sublayer], norms: Sequence[nn.Module]) -> Tensor:
    """x ← norm(sublayer(x))."""
    for sublayer, norm in zip(sublayers, norms, strict=False):
        x = norm(sublayer(x))
    return x


def no_norm_without_residual(x: Tensor, sublayers: Sequence[Sublayer], norms: Sequence[nn.Module]) -> Tensor:
    """x ← sublayer(x): neither norm nor residual connection."""
    for sublayer in sublayers:
        x = sublayer(x)
    return x


WIRINGS: dict[str, Wiring] = {  # those that `config.TransformerConfig` can name
    "pre_norm": pre_norm,
    "post_norm": post_norm,
    "sandwich": sandwich,
    "pre_norm_without_residual": pre_norm_without_residual,
    "post_norm_without_residual": post_norm_without_residual,
}


class InputEmbedding(nn.Module):
    """Ids -> vectors: token (times √D if `scale`), plus position. Vaswani et al. 2017, sections 3.4 and 3.5.

    tokens     may be shared with another part of the model
    positions  a module (…,) -> (…, D), or None where attention itself knows the positions
    """

    def __init__(
        self, tokens: nn.Embedding, positions: nn.Module | None = None, *, scale: bool = False, dropout: float = 0.0
    ):
        super().__init__()
        self.tokens, self.positions = tokens, positions
        self.factor = math.sqrt(tokens.embedding_dim) if scale else 1.0
        self.dropout = Dropout(dropout)

    def forward(self, ids: Tensor, positions: Tensor, start: int = 0) -> Tensor:
        """ids (B, S), of which those from `start` on get vectors; positions (T,) or (B, T), of these. -> (B, T, D)"""
        return observe("hidden", self.dropout(self.embed(ids[:, start:], positions)))

    def embed(self, ids: Tensor, positions: Tensor) -> Tensor:
        """The sum of token and position: ids (B, T), positions (T,) or (B, T). -> (B, T, D)"""
        x = self.tokens(ids) * self.factor  # (B, T) -> (B, T, D)
        if self.positions is None:
            return x
        return x + self.positions(positions, x.dtype)  # (T, D) is the same for all rows, (B, T, D) is not


@dataclass
class BlockCache:
    """The caches of one block: of its self-attention, and of its cross-attention if it has one."""

    self_attention: KVCache | StateCache = field(default_factory=KVCache)
    cross_attention: KVCache = field(default_factory=KVCache)

    def __len__(self) -> int:
        return len(self.self_attention)

    def select(self, rows: Tensor) -> None:
        self.self_attention.select(rows)
        self.cross_attention.select(rows)

    def check_rewind(self, length: int) -> None:
        """Raise ValueError where `rewind` is not possible; nothing is changed."""
        self.self_attention.check_rewind(length)

    def rewind(self, length: int) -> None:
        """Forget all positions of the sequence from `length` on; the memory stays."""
        self.self_attention.rewind(length)


class Block(nn.Module):
    """Self-attention, then feed-forward; with causal=True also the block of a decoder-only model.

    self_attention      a `MultiHeadAttention`, or a mixer of its call
    new_norm            a function that makes a norm
    wiring              how sub-layers and norms are put together
    norms_per_sublayer  2 for a wiring that uses a second norm of each sub-layer: norms are then (self-attention,
                        feed-forward, self-attention again, feed-forward again)
    dropout             of what a sub-layer returns
    """

    n_sublayers = 2

    def __init__(
        self,
        self_attention: nn.Module,
        feed_forward: nn.Module,
        new_norm: Callable[[], nn.Module],
        *,
        wiring: Wiring = pre_norm,
        norms_per_sublayer: int = 1,
        dropout: float = 0.0,
    ):
        super().__init__()
        if not callable(wiring):
            raise ValueError(f"block: wiring is {described(wiring)}, expected a function (x, sublayers, norms) -> x")
        self.self_attention = self_attention
        self.self_attention_norm = new_norm()
        self.feed_forward = feed_forward
        self.feed_forward_norm = new_norm()
        self.dropout = Dropout(dropout)
        self.wiring = wiring
        second_norms = [new_norm() for _ in range(self.n_sublayers * (norms_per_sublayer - 1))]
        self.second_norms = nn.ModuleList(second_norms) if second_norms else ()

    def forward(self, x: Tensor, *, cache: BlockCache | None = None, **options: Any) -> Tensor:
        """(B, T, D) -> (B, T, D); the options are those of the self-attention: mask, bias, causal, rotate."""
        attend = partial(self.self_attention, **options, cache=None if cache is None else cache.self_attention)
        sublayers = [self._dropped(attend), self._dropped(self.feed_forward)]
        norms = (self.self_attention_norm, self.feed_forward_norm, *self.second_norms)
        x = self.wiring(x, sublayers, norms)
        return observe("hidden", x)

    def _dropped(self, sublayer: Sublayer) -> Sublayer:
        return lambda x: self.dropout(sublayer(x))


class DecoderBlock(Block):
    """Causal self-attention, cross-attention to the encoder's memory, feed-forward."""

    n_sublayers = 3

    def __init__(
        self,
        self_attention: nn.Module,
        cross_attention: MultiHeadAttention,
        feed_forward: nn.Module,
        new_norm: Callable[[], nn.Module],
        *,
        wiring: Wiring = pre_norm,
        norms_per_sublayer: int = 1,
        dropout: float = 0.0,
    ):
        options: dict[str, Any] = dict(wiring=wiring, norms_per_sublayer=norms_per_sublayer, dropout=dropout)
        super().__init__(self_attention, feed_forward, new_norm, **options)
        self.cross_attention = cross_attention
        self.cross_attention_norm = new_norm()

    def forward(  # type: ignore[override]  # it cannot do without the memory
        self,
        x: Tensor,
        memory: Tensor,
        *,
        memory_mask: Tensor | None = None,
        causal: bool = True,
        cache: BlockCache | None = None,
        **options: Any,
    ) -> Tensor:
        """x (B, T, D), memory (B, S, D), memory_mask broadcastable to (B, H, T, S). -> (B, T, D)

        The other options are those of the self-attention: mask, bias, causal, rotate.
        """
        own_cache, memory_cache = (None, None) if cache is None else (cache.self_attention, cache.cross_attention)
        attend = partial(self.self_attention, causal=causal, **options, cache=own_cache)
        look_at_memory = partial(self.cross_attention, memory=memory, mask=memory_mask, cache=memory_cache)
        sublayers = [self._dropped(attend), self._dropped(look_at_memory), self._dropped(self.feed_forward)]
        norms = (self.self_attention_norm, self.cross_attention_norm, self.feed_forward_norm, *self.second_norms)
        x = self.wiring(x, sublayers, norms)
        return observe("hidden", x)
