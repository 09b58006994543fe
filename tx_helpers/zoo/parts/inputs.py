"""Other inputs than the sum of token and position, as parts for `EmbeddingConfig(input=…)`."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from tx_helpers.nn.arguments import check_numbers, values_are_known
from tx_helpers.nn.blocks import InputEmbedding
from tx_helpers.nn.building import new_norm
from tx_helpers.nn.config import TransformerConfig
from tx_helpers.nn.observe import observe
from tx_helpers.nn.parts import Input


@dataclass(frozen=True)
class TokenShift(Input):
    """`ShiftedEmbedding` of the n previous tokens."""

    n: int

    def __post_init__(self) -> None:
        check_numbers("TokenShift", least=1, whole=True, n=self.n)

    def new(self, config: TransformerConfig, *parts: Any, **options: Any) -> "ShiftedEmbedding":
        return ShiftedEmbedding(*parts, shift=self.n, **options)


class ShiftedEmbedding(InputEmbedding):
    """The vectors of the N = `shift` previous tokens, each times a learned vector (D,), are added to a token's own.

    Source: Peng et al. 2023 (RWKV), section 3.1, for N = 1.
    """

    def __init__(self, tokens: nn.Embedding, positions: nn.Module | None = None, *, shift: int, **options: Any):
        super().__init__(tokens, positions, **options)
        check_numbers("ShiftedEmbedding", least=1, whole=True, shift=shift)
        self.token_shift = nn.Parameter(torch.zeros(shift, tokens.embedding_dim))

    def forward(self, ids: Tensor, positions: Tensor, start: int = 0) -> Tensor:
        x = self.embed(ids[:, start:], positions)
        for n, share in enumerate(self.token_shift, start=1):
            previous = ids.roll(n, dims=-1)[:, start:]
            exists = (positions >= n).unsqueeze(-1)  # (T, 1) or (B, T, 1): the first n have no such token
            x = x + share * self.tokens(previous) * exists
        return observe("hidden", self.dropout(x))


@dataclass(frozen=True)
class NormedInput(Input):
    """`NormedEmbedding`, as in BERT, with this number of segment types."""

    segments: int = 0

    def __post_init__(self) -> None:
        check_numbers("NormedInput", least=0, whole=True, segments=self.segments)

    def new(self, config: TransformerConfig, *parts: Any, **options: Any) -> "NormedEmbedding":
        return NormedEmbedding(*parts, segments=self.segments, norm=new_norm(config), **options)


class NormedEmbedding(InputEmbedding):
    """Token plus position, plus segment where there are some; then a norm. Devlin et al. 2019, section 3."""

    def __init__(
        self,
        tokens: nn.Embedding,
        positions: nn.Module | None = None,
        *,
        norm: nn.Module,
        segments: int = 0,
        **options: Any,
    ):
        super().__init__(tokens, positions, **options)
        self.segments = nn.Embedding(segments, tokens.embedding_dim) if segments else None
        self.norm = norm

    def forward(self, ids: Tensor, positions: Tensor, start: int = 0, segments: Tensor | None = None) -> Tensor:
        """segments (B, T), None for all 0."""
        x = self.embed(ids[:, start:], positions)
        self._check(ids[:, start:], segments)
        if self.segments is not None:
            x = x + (self.segments.weight[0] if segments is None else self.segments(segments))
        return observe("hidden", self.dropout(self.norm(x)))

    def _check(self, ids: Tensor, segments: Tensor | None) -> None:
        if segments is None:
            return
        n = 0 if self.segments is None else self.segments.num_embeddings
        if n == 0 or segments.shape != ids.shape:
            shapes = f"segments of shape {tuple(segments.shape)} for ids of shape {tuple(ids.shape)}"
            raise ValueError(f"NormedEmbedding: {shapes}, in a model with {n} segment types")
        if values_are_known(segments) and not 0 <= int(segments.min()) <= int(segments.max()) < n:
            raise ValueError(f"NormedEmbedding: segments {int(segments.min())} … {int(segments.max())} of {n} types")
