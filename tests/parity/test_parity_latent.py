"""Latent attention against DeepSeek-V3's in the library transformers, in both of our forms."""

import pytest
import torch
import transformers
from torch import Tensor, nn
from transformers.models.deepseek_v3.modeling_deepseek_v3 import DeepseekV3Attention, DeepseekV3RotaryEmbedding

from parity import TOLERANCE, Pair, assert_same_model, both_precisions, normal
from tx_helpers.nn.masks import additive_mask, causal_mask
from tx_helpers.nn.positions import Rotary
from tx_helpers.zoo.parts.latent import LatentAttention

B, T, D, H, L, R, C, VALUE = 2, 7, 10, 3, 9, 4, 5, 6


def pairs_of(ours: LatentAttention, theirs: nn.Module) -> list[Pair]:
    """Theirs has latent and rotary key in one matrix, and the keys and values of each head side by side in another."""

    def of_head(part: slice):
        return lambda x: x.view(H, C + VALUE, L)[:, part]

    both = theirs.kv_a_proj_with_mqa.weight
    pairs = [
        Pair(ours.compress.weight, both, lambda x: x[:L]),
        Pair(ours.rotary_key.weight, both, lambda x: x[L:]),
        Pair(ours.latent_norm.weight, theirs.kv_a_layernorm.weight),
        Pair(ours.key.weight, theirs.kv_b_proj.weight, of_head(slice(C))),
        Pair(ours.value.weight, theirs.kv_b_proj.weight, of_head(slice(C, None))),
        Pair(ours.output.weight, theirs.o_proj.weight),
    ]
    if theirs.q_lora_rank is None:
        return [*pairs, Pair(ours.query.weight, theirs.q_proj.weight)]
    return [
        *pairs,
        Pair(ours.compress_query.weight, theirs.q_a_proj.weight),
        Pair(ours.query_norm.weight, theirs.q_a_layernorm.weight),
        Pair(ours.query.weight, theirs.q_b_proj.weight),
    ]


@both_precisions
@pytest.mark.parametrize("absorbed", [False, True], ids=["expanded", "absorbed"])
@pytest.mark.parametrize("interleaved", [False, True], ids=["half", "interleaved"])
@pytest.mark.parametrize("query_latent", [None, 8])
def test_outputs_and_gradients_are_the_library_s(query_latent, interleaved, absorbed, dtype):
    config = transformers.DeepseekV3Config(
        **dict(hidden_size=D, num_attention_heads=H, num_key_value_heads=H, q_lora_rank=query_latent, kv_lora_rank=L),
        **dict(qk_rope_head_dim=R, qk_nope_head_dim=C, v_head_dim=VALUE, rope_interleave=interleaved),
        rope_parameters={"rope_type": "default", "rope_theta": 50.0},
        attn_implementation="eager",
    )
    theirs = DeepseekV3Attention(config, layer_idx=0).to(dtype)
    widths = dict(d_latent=L, d_rotary=R, d_content=C, d_value=VALUE, d_query_latent=query_latent)
    ours = LatentAttention(D, H, **widths).to(dtype)
    rotary = Rotary(R, 50.0, "interleaved" if interleaved else "half")
    places, angles = torch.arange(T), DeepseekV3RotaryEmbedding(config)
    mask = additive_mask(causal_mask(T), dtype)[None, None]

    def run_ours(x: Tensor) -> Tensor:
        return ours(x, rotate=rotary.at(places, dtype), absorbed=absorbed)

    def run_theirs(x: Tensor) -> Tensor:
        return theirs(x, angles(x, places[None]), mask)[0]

    x = normal(B, T, D, dtype=dtype)
    assert_same_model(ours, theirs, pairs_of(ours, theirs), run_ours, run_theirs, x, tolerance=5 * TOLERANCE[dtype])
