"""Parameters and FLOPs of described models: those of models that exist, counted."""

from dataclasses import replace

import pytest
import torch

from tx_helpers.lessons.cheaper_and_longer.mixers import LinearAttention
from tx_helpers.lessons.scaling_up.planning.workload import Training, sizes_of
from tx_helpers.nn.config import (
    AttentionConfig,
    EmbeddingConfig,
    FeedForwardConfig,
    LayerConfig,
    NormConfig,
    PositionConfig,
    TransformerConfig,
)
from tx_helpers.nn.models import DecoderOnly, count_parameters
from tx_helpers.training.costs import flops
from tx_helpers.zoo.parts.experts import ExpertsConfig
from tx_helpers.zoo.parts.latent import LatentConfig
from tx_helpers.zoo.presets import gpt2, llama

V, T = 101, 32
PLAIN = dict(positions=PositionConfig("rotary"), norm=NormConfig("rms"))
BARE = FeedForwardConfig(d_ff=112, bias=False)
GATED = replace(BARE, gated=True, activation="silu")
HEADS = AttentionConfig(6, bias=False)
MIXED = replace(GATED, d_ff=40, experts=ExpertsConfig(5, 2, shared=1))
CONFIGS = {
    "plain": TransformerConfig(V, 48, 3, attention=HEADS, feed_forward=BARE, **PLAIN),
    "gated, grouped, untied": TransformerConfig(
        V,
        48,
        3,
        attention=AttentionConfig(6, 2, d_head=16, bias=False),
        feed_forward=GATED,
        embedding=EmbeddingConfig(tied=False),
        **PLAIN,
    ),
    "experts behind a dense block": TransformerConfig(
        V,
        48,
        3,
        attention=HEADS,
        layers=(LayerConfig(feed_forward=GATED), LayerConfig(feed_forward=MIXED), LayerConfig(feed_forward=MIXED)),
        **PLAIN,
    ),
    "latent": TransformerConfig(
        V, 48, 2, attention=HEADS, feed_forward=BARE, mixer=LatentConfig(20, 8, 12, 10, 28), **PLAIN
    ),
}


@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)
def test_parameters_are_those_of_the_model(config):
    with torch.device("meta"):
        model = DecoderOnly(config)
    assert sizes_of(config).parameters == count_parameters(model)


@pytest.mark.parametrize("config", [gpt2(), gpt2("gpt2-xl"), llama("7b")])
def test_with_biases_they_are_nearly_those(config):
    with torch.device("meta"):
        model = DecoderOnly(config)
    assert sizes_of(config).parameters == pytest.approx(count_parameters(model), rel=0.001)


@pytest.mark.parametrize("name", ["plain", "gated, grouped, untied"])
def test_flops_are_those_of_the_formula_that_walks_through_a_model(name):
    with torch.device("meta"):
        model = DecoderOnly(CONFIGS[name])
    assert 2 * T * sizes_of(CONFIGS[name]).flops(T) == flops(model, 2, T)


def test_a_token_meets_few_experts():
    sizes = sizes_of(CONFIGS["experts behind a dense block"])
    one = 3 * 48 * 40
    assert sizes.in_experts == 2 * 5 * one and sizes.expert_layers == 2
    gains = (2 * 3) * 48
    assert sizes.common + sizes.in_experts - gains - sizes.met == 2 * 3 * one  # in two layers three of five are not met


def test_a_mixer_without_a_formula_is_refused():
    with pytest.raises(ValueError, match="the mixer is a LinearAttention, expected attention or LatentConfig"):
        sizes_of(replace(CONFIGS["plain"], mixer=LinearAttention()))


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: sizes_of(CONFIGS["plain"]).flops(0), "flops: length=0, expected at least 1"),
        (lambda: Training(1e9, 0, 8), "Training: length=0, expected at least 1"),
        (lambda: Training(1e9, 8, 8, fp8=1), "Training: fp8 is 1, expected a bool"),
    ],
)
def test_what_is_refused(make, said):
    with pytest.raises(ValueError, match=said):
        make()
