"""Learned sinks against gpt-oss's attention in the library transformers, with a window and without."""

import pytest
import torch
import transformers
from torch import Tensor
from transformers.models.gpt_oss.modeling_gpt_oss import GptOssAttention, GptOssRotaryEmbedding

from parity import TOLERANCE, Pair, assert_same_model, both_precisions, normal
from tx_helpers.nn.attention import MultiHeadAttention
from tx_helpers.nn.masks import additive_mask, causal_mask, sliding_window_mask
from tx_helpers.nn.positions import Rotary
from tx_helpers.zoo.parts.softmaxes import SinkAttention

B, T, D, H, G, K = 2, 7, 10, 6, 3, 4


@both_precisions
@pytest.mark.parametrize("window", [None, 3])
def test_outputs_and_gradients_are_the_library_s(window, dtype):
    config = transformers.GptOssConfig(
        **dict(hidden_size=D, num_attention_heads=H, num_key_value_heads=G, head_dim=K, num_hidden_layers=1),
        rope_parameters={"rope_type": "default", "rope_theta": 50.0},
        attn_implementation="eager",
    )
    theirs = GptOssAttention(config, layer_idx=0).to(dtype)
    ours = MultiHeadAttention(D, H, n_kv_heads=G, d_head=K, attend=SinkAttention(H)).to(dtype)
    pairs = [Pair(ours.attend.sink, theirs.sinks)]
    for mine, its in (("query", "q_proj"), ("key", "k_proj"), ("value", "v_proj"), ("output", "o_proj")):
        one, other = getattr(ours, mine), getattr(theirs, its)
        pairs += [Pair(one.weight, other.weight), Pair(one.bias, other.bias)]
    mask = causal_mask(T) if window is None else sliding_window_mask(T, window=window)
    places, angles = torch.arange(T), GptOssRotaryEmbedding(config)

    def run_ours(x: Tensor) -> Tensor:
        return ours(x, mask=mask, rotate=Rotary(K, 50.0).at(places, dtype))

    def run_theirs(x: Tensor) -> Tensor:
        return theirs(x, angles(x, places[None]), additive_mask(mask, dtype)[None, None])[0]

    x = normal(B, T, D, dtype=dtype)
    assert_same_model(ours, theirs, pairs, run_ours, run_theirs, x, tolerance=5 * TOLERANCE[dtype])
