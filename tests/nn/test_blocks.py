"""Blocks and the input embedding: order of norm, sub-layer, dropout and shortcut, against the formulas.

Parity with `nn.TransformerEncoderLayer` and `nn.TransformerDecoderLayer` is in test_parity_torch.
"""

import math

import pytest
import torch
from torch import nn

from parity import B, D, F, H, K, S, T, V, normal, randomise, tokens
from tx_helpers.nn.attention import MultiHeadAttention
from tx_helpers.nn.blocks import (
    Block,
    DecoderBlock,
    InputEmbedding,
    no_norm,
    no_norm_without_residual,
    post_norm,
    post_norm_without_residual,
    pre_norm,
    pre_norm_without_residual,
    sandwich,
)
from tx_helpers.nn.layers import FeedForward, GatedFeedForward, RMSNorm
from tx_helpers.nn.positions import LearnedPositions, Rotary, SinusoidalPositions, sinusoidal

FORMULAS = {  # one sub-layer of each wiring
    pre_norm: lambda x, sublayer, norm: x + sublayer(norm(x)),
    post_norm: lambda x, sublayer, norm: norm(x + sublayer(x)),
    no_norm: lambda x, sublayer, norm: x + sublayer(x),
    pre_norm_without_residual: lambda x, sublayer, norm: sublayer(norm(x)),
    post_norm_without_residual: lambda x, sublayer, norm: norm(sublayer(x)),
    no_norm_without_residual: lambda x, sublayer, norm: sublayer(x),
}


def encoder_block(**options) -> Block:
    attention, feed_forward = MultiHeadAttention(D, H), GatedFeedForward(D, F)
    return randomise(Block(attention, feed_forward, lambda: RMSNorm(D), **options).double(), std=0.3)


def decoder_block(**options) -> DecoderBlock:
    attentions, feed_forward = (MultiHeadAttention(D, H), MultiHeadAttention(D, H)), FeedForward(D, F)
    return randomise(DecoderBlock(*attentions, feed_forward, lambda: nn.LayerNorm(D), **options).double(), std=0.3)


@pytest.mark.parametrize("wiring", FORMULAS)
def test_a_decoder_block_is_its_three_sub_layers_in_order(wiring):
    block, x, memory = decoder_block(wiring=wiring), normal(B, T, D), normal(B, S, D, seed=1)
    mask = torch.ones(B, 1, 1, S, dtype=torch.bool)
    mask[1, ..., 3:] = False
    expected = x
    for norm, sublayer in (
        (block.self_attention_norm, lambda x: block.self_attention(x, causal=True)),
        (block.cross_attention_norm, lambda x: block.cross_attention(x, memory, mask=mask)),
        (block.feed_forward_norm, block.feed_forward),
    ):
        expected = FORMULAS[wiring](expected, sublayer, norm)
    torch.testing.assert_close(block(x, memory, memory_mask=mask), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("wiring", FORMULAS)
def test_an_encoder_block_hands_all_options_to_its_self_attention(wiring):
    block, x = encoder_block(wiring=wiring), normal(B, T, D)
    mask = torch.ones(B, 1, 1, T, dtype=torch.bool)
    mask[0, ..., 4:] = False
    rotate, bias = Rotary(K).at(torch.arange(T), torch.float64), normal(1, H, T, T, seed=2)
    options = dict(mask=mask, bias=bias, causal=True, rotate=rotate)
    expected = x
    for norm, sublayer in (
        (block.self_attention_norm, lambda x: block.self_attention(x, **options)),
        (block.feed_forward_norm, block.feed_forward),
    ):
        expected = FORMULAS[wiring](expected, sublayer, norm)
    torch.testing.assert_close(block(x, **options), expected, rtol=1e-12, atol=1e-12)
    for name in options:  # and none of them is ignored
        assert (block(x, **(options | {name: False if name == "causal" else None})) - expected).abs().max() > 1e-3, name


@pytest.mark.parametrize("wiring", [pre_norm, post_norm])
def test_dropout_falls_on_what_a_sub_layer_adds(wiring):
    """With everything dropped, pre-norm is the identity, and post-norm a norm for each sub-layer."""
    block, x = decoder_block(wiring=wiring, dropout=1.0), normal(B, T, D)
    out = block(x, normal(B, S, D, seed=1))
    norms = (block.self_attention_norm, block.cross_attention_norm, block.feed_forward_norm)
    expected = x if wiring is pre_norm else norms[2](norms[1](norms[0](x)))
    assert torch.equal(out, expected)
    assert not torch.allclose(block.eval()(x, normal(B, S, D, seed=1)), out)


def test_a_wiring_may_use_a_second_norm_of_each_sub_layer_and_any_order():
    """Norms 2 and 3 are the second ones of sub-layers 0 and 1."""

    def last_first(x, sublayers, norms):
        for n in (1, 0):
            x = x + norms[2 + n](sublayers[n](norms[n](x)))
        return x

    block, x = encoder_block(wiring=last_first, norms_per_sublayer=2), normal(B, T, D)
    after = x + block.second_norms[1](block.feed_forward(block.feed_forward_norm(x)))
    expected = after + block.second_norms[0](block.self_attention(block.self_attention_norm(after)))
    torch.testing.assert_close(block(x), expected, rtol=1e-12, atol=1e-12)
    assert len(block.second_norms) == 2
    assert not any("second" in name for name, _ in encoder_block().named_modules())


def test_a_sandwich_has_a_norm_before_and_behind_each_sub_layer():
    block, x, memory = decoder_block(wiring=sandwich, norms_per_sublayer=2), normal(B, T, D), normal(B, S, D, seed=1)
    first, second, third = block.second_norms
    expected = x + first(block.self_attention(block.self_attention_norm(x), causal=True))
    expected = expected + second(block.cross_attention(block.cross_attention_norm(expected), memory))
    expected = expected + third(block.feed_forward(block.feed_forward_norm(expected)))
    torch.testing.assert_close(block(x, memory), expected, rtol=1e-12, atol=1e-12)
    with pytest.raises(ValueError, match="sandwich: 2 norms for 2 sub-layers, expected two of each"):
        encoder_block(wiring=sandwich)(x)


def test_a_decoder_block_is_causal_unless_told_otherwise():
    block, memory = decoder_block(), normal(B, S, D, seed=1)
    x = normal(B, T, D)
    changed = x.clone()
    changed[:, 3:] = normal(B, T - 3, D, seed=5)
    assert torch.equal(block(x, memory)[:, :3], block(changed, memory)[:, :3])
    assert not torch.allclose(block(x, memory, causal=False)[:, :3], block(changed, memory, causal=False)[:, :3])


# ------------------------------------------------------------------------------------------------------------ embedding


def embedding(**options) -> InputEmbedding:
    return randomise(InputEmbedding(nn.Embedding(V, D), LearnedPositions(S, D), **options).double())


def test_the_embedding_is_the_sum_of_token_and_position():
    ids, positions = tokens(B, T), torch.stack([torch.arange(T), torch.arange(T) + 2])
    layer = embedding(scale=True)
    expected = layer.tokens.weight[ids] * math.sqrt(D) + layer.positions.table.weight[positions]
    torch.testing.assert_close(layer(ids, positions), expected, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(layer(ids, positions[:, 2:], 2), expected[:, 2:], rtol=1e-12, atol=1e-12)


def test_the_embedding_without_scale_norm_or_positions_is_the_table():
    ids = tokens(B, T)
    layer = InputEmbedding(nn.Embedding(V, D))
    assert torch.equal(layer(ids, torch.arange(T)), layer.tokens.weight[ids])
    layer = InputEmbedding(nn.Embedding(V, D), SinusoidalPositions(D))
    expected = layer.tokens.weight[ids] + sinusoidal(torch.arange(T), D)
    assert torch.equal(layer(ids, torch.arange(T)), expected)


def test_dropout_of_the_embedding_comes_last():
    layer = embedding(dropout=1.0)
    ids = tokens(B, T)
    assert torch.equal(layer(ids, torch.arange(T)), torch.zeros(B, T, D).double())
    assert layer.eval()(ids, torch.arange(T)).abs().max() > 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: encoder_block(wiring="both"), "block: wiring is 'both', expected a function"),
        (lambda: decoder_block(wiring=None), "block: wiring is None, expected a function"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
