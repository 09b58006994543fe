"""Whatever a learner passes to the maths, the error names it."""

import pytest
import torch
from torch import Tensor

from parity import B, D, F, H, K, S, T, normal
from tx_helpers.nn.attention import MultiHeadAttention, additive_attention, eager_attention, fused_attention
from tx_helpers.nn.attention import scaled_dot_product_attention as attention
from tx_helpers.nn.layers import FeedForward, GatedFeedForward, RMSNorm
from tx_helpers.nn.masks import additive_mask, causal_mask, combine_masks, padding_mask, sliding_window_mask
from tx_helpers.nn.positions import (
    ALiBi,
    LearnedPositions,
    Rotary,
    SinusoidalPositions,
    T5Bias,
    ntk_base,
    relative_rotation,
    sinusoidal,
    wavelengths,
)
from tx_helpers.zoo.parts.yarn import WavelengthStretch
from wrong_arguments import faults

mask, ids = torch.ones(T, S, dtype=torch.bool), torch.ones(B, S, dtype=torch.long)
positions = torch.arange(T)
heads: dict[str, Tensor | float] = dict(
    q=normal(B, H, T, K),
    k=normal(B, H, S, K),
    v=normal(B, H, S, K),
    mask=mask,
    bias=normal(T, S),
    causal=True,
    scale=0.5,
    dropout=0.1,
)


@pytest.mark.parametrize(
    ("call", "arguments"),
    [
        (eager_attention, heads),
        (fused_attention, heads),
        (attention, heads),
        (
            additive_attention,
            dict(q=normal(B, T, K), k=normal(B, S, K), v=normal(B, S, D), weight=normal(K), mask=mask),
        ),
        (MultiHeadAttention, dict(d_model=D, n_heads=H, n_kv_heads=1, d_head=K, scale=0.5, dropout=0.1)),
        (
            MultiHeadAttention(D, H).double(),
            dict(x=normal(B, T, D), memory=normal(B, S, D), mask=mask, bias=normal(T, S)),
        ),
        (MultiHeadAttention, dict(d_model=D, n_heads=H, dropout=0.1, norm_eps=1e-6, qk_norm=True, scale=0.5)),
        (FeedForward, dict(d_model=D, d_ff=F, activation="gelu", dropout=0.1)),
        (GatedFeedForward, dict(d_model=D, d_ff=F, activation="silu", dropout=0.1)),
        (FeedForward(D, F).double(), dict(x=normal(B, T, D))),
        (GatedFeedForward(D, F).double(), dict(x=normal(B, T, D))),
        (RMSNorm, dict(dim=D, eps=1e-6)),
        (RMSNorm(D), dict(x=normal(B, T, D))),
        (causal_mask, dict(T=T, S=S)),
        (sliding_window_mask, dict(T=T, S=S, window=2)),
        (padding_mask, dict(ids=ids, pad_id=0)),
        (lambda a, b: combine_masks(a, b), dict(a=mask, b=mask)),
        (additive_mask, dict(mask=mask)),
        (wavelengths, dict(dim=D, base=100.0)),
        (sinusoidal, dict(positions=positions, d_model=D, base=100.0)),
        (relative_rotation, dict(k=3, d_model=D, base=100.0)),
        (SinusoidalPositions, dict(d_model=D)),
        (LearnedPositions, dict(context_length=T, d_model=D)),
        (LearnedPositions(T, D), dict(positions=positions)),
        (WavelengthStretch, dict(factor=8.0, low=1.0, high=4.0, context=16)),
        (Rotary, dict(d_head=K, base=100.0, layout="half", interpolation=2.0)),
        (Rotary(K).at, dict(positions=positions)),
        (Rotary(K).at(positions), dict(x=normal(B, H, T, K))),
        (ntk_base, dict(base=100.0, factor=2.0, d_head=4)),
        (T5Bias, dict(n_heads=H, buckets=8, max_distance=16)),
        (T5Bias(H), dict(T=T, S=S)),
        (ALiBi, dict(n_heads=H)),
        (ALiBi(H), dict(T=T, S=S)),
    ],
    ids=lambda value: getattr(value, "__name__", type(value).__name__),
)
def test_every_wrong_argument_of_the_maths_is_named(call, arguments):
    assert faults(call, arguments) == []
