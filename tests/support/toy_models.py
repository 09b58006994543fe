"""Toy models with every option, for the tests of `models` and `decoding`."""

import pytest
import torch
from hypothesis import strategies as st
from torch import Tensor, nn

from parity import D, F, H, V, randomise
from tx_helpers.nn.config import (
    AttentionConfig,
    EmbeddingConfig,
    FeedForwardConfig,
    NormConfig,
    PositionConfig,
    TransformerConfig,
)
from tx_helpers.zoo.parts.inputs import TokenShift

PAD, CONTEXT = 0, 16
POSITIONS = {
    "none": PositionConfig("none"),
    "sinusoidal": PositionConfig("sinusoidal"),
    "learned": PositionConfig("learned"),
    "rotary, halves": PositionConfig("rotary", base=50.0),
    "rotary, interleaved": PositionConfig("rotary", layout="interleaved", interpolation=2.0),
    "t5": PositionConfig("t5", buckets=8, max_distance=12),
    "alibi": PositionConfig("alibi"),
}
every_position = pytest.mark.parametrize("positions", POSITIONS)


def config(positions: str | PositionConfig = "sinusoidal", **changes) -> TransformerConfig:
    options = dict(
        vocab_size=V,
        d_model=D,
        context_length=CONTEXT,
        pad_id=PAD,
        attention=AttentionConfig(H),
        feed_forward=FeedForwardConfig(F),
        positions=POSITIONS.get(positions, positions),
    )
    return TransformerConfig(**(options | changes))


def model(kind: type, *args, dtype: torch.dtype = torch.float64, **changes) -> nn.Module:
    return randomise(kind(config(*args, **changes)).to(dtype), std=0.3).eval()


configs = st.builds(
    lambda positions, wiring, norm, n_kv_heads, qk_norm, gated, token_shift, window: config(
        positions,
        wiring=wiring,
        norm=NormConfig(norm),
        attention=AttentionConfig(H, n_kv_heads=n_kv_heads, qk_norm=qk_norm, window=window),
        feed_forward=FeedForwardConfig(F, "gelu", gated=gated),
        embedding=EmbeddingConfig(input=TokenShift(token_shift) if token_shift else None),
    ),
    st.sampled_from(list(POSITIONS)),
    st.sampled_from(["pre_norm", "post_norm"]),
    st.sampled_from(["layer", "rms"]),
    st.sampled_from([1, 3]),
    st.booleans(),
    st.booleans(),
    st.integers(0, 2),
    st.sampled_from([None, 1, 3, 8, 9]),  # shorter than a chunk, longer, as long as the text
)
seeds = st.integers(0, 10_000)


def close(actual: Tensor, expected: Tensor, tolerance: float = 1e-9) -> None:
    torch.testing.assert_close(actual, expected, rtol=tolerance, atol=tolerance)


def feed(state, ids: Tensor, chunks: list[int]) -> Tensor:
    """The logits of all ids, fed to a `DecodingState` in pieces of these lengths."""
    assert sum(chunks) == ids.shape[1]
    return torch.cat([state.step(part) for part in ids.split(chunks, dim=1)], dim=1)
