"""YaRN's frequencies and gain against those of the library transformers; whole models are in test_parity_pretrained."""

import math

import pytest
import torch
import transformers
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

from tx_helpers.nn.positions import wavelengths
from tx_helpers.zoo.parts.yarn import Yarn

OPTIONS = [
    {},
    dict(fast=16.0, slow=2.0),
    dict(attention_factor=1.3),
    dict(whole=False),
    dict(fast=1.5, slow=1.2),
]
THEIRS = {"fast": "beta_fast", "slow": "beta_slow", "whole": "truncate", "attention_factor": "attention_factor"}


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize(("d_head", "base", "factor", "context"), [(64, 1e4, 16.0, 4096), (10, 500.0, 4.0, 37)])
def test_frequencies_and_gain_are_the_library_s(d_head, base, factor, context, options):
    rope = {"rope_type": "yarn", "rope_theta": base, "factor": factor, "original_max_position_embeddings": context}
    rope |= {THEIRS[name]: value for name, value in options.items()}
    frequencies = 2 * math.pi / wavelengths(d_head, base=base)
    config = transformers.LlamaConfig(
        hidden_size=2 * d_head,
        num_attention_heads=2,
        rope_parameters=rope,
        max_position_embeddings=int(factor * context),
    )
    theirs, gain = ROPE_INIT_FUNCTIONS["yarn"](config, "cpu")
    ours = Yarn(factor, context, **options)
    torch.testing.assert_close(ours(frequencies).float(), theirs, rtol=1e-6, atol=1e-9)
    assert ours.gain == pytest.approx(gain, rel=1e-12)
