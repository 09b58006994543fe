"""Other softmaxes than attention's own, as parts for `AttentionConfig(attend=…)`: capped scores, and a learned sink.

The fused kernel has neither: both take the eager form.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from tx_helpers.nn.arguments import check_numbers, check_tensors
from tx_helpers.nn.attention import eager_attention, softmax_or_zeros
from tx_helpers.nn.config import TransformerConfig
from tx_helpers.nn.parts import Attend


def soft_cap(x: Tensor, cap: float) -> Tensor:
    """cap · tanh(x / cap): x where it is small, and never beyond ±cap. Source: Gemma Team 2024 (Gemma 2), section 2."""
    check_numbers("soft_cap", above=0, less_than=math.inf, cap=cap)
    return cap * torch.tanh(x / cap)


def capped_softmax(scores: Tensor, cap: float) -> Tensor:
    """The softmax of scores (…, S) that stay between ±cap. A score of −∞ stays what it is: closed."""
    return softmax_or_zeros(torch.where(scores.isneginf(), scores, soft_cap(scores, cap)))


@dataclass(frozen=True)
class CappedScores(Attend):
    """Every score stays between ±cap, as in Gemma 2."""

    cap: float

    def __post_init__(self) -> None:
        check_numbers("CappedScores", above=0, less_than=math.inf, cap=self.cap)

    def new(self, config: TransformerConfig) -> Callable[..., Tensor]:
        return partial(eager_attention, softmax=partial(capped_softmax, cap=self.cap))


def softmax_with_sink(scores: Tensor, sink: Tensor) -> Tensor:
    """(B, H, T, S) -> the same: the softmax of S scores and of the head's own sink (H,), whose weight is left out."""
    check_tensors("attention", sink=(sink, f"float {scores.shape[-3]}"))
    column = sink.to(scores.dtype).view(-1, 1, 1).expand(*scores.shape[:-1], 1)  # (H,) -> (B, H, T, 1)
    return softmax_or_zeros(torch.cat([scores, column], dim=-1))[..., :-1]


@dataclass(frozen=True)
class LearnedSink(Attend):
    """One more score in each head's softmax, without a value: `SinkAttention`."""

    def new(self, config: TransformerConfig) -> nn.Module:
        return SinkAttention(config.attention.n_heads)


class SinkAttention(nn.Module):
    """Attention whose head h also has the score `sink[h]`, without a value.

    So the weights of a row sum to less than 1, and a head can attend to nothing. As in gpt-oss (OpenAI 2025, section
    2.3).
    """

    def __init__(self, n_heads: int):
        super().__init__()
        self.sink = nn.Parameter(torch.zeros(n_heads))

    def __call__(self, q: Tensor, k: Tensor, v: Tensor, **options: Any) -> Tensor:
        """A function's call, without hooks: what is observed in it is the attention layer's (see `capture`)."""
        return eager_attention(q, k, v, softmax=partial(softmax_with_sink, sink=self.sink), **options)
