"""Our modules against PyTorch's own: outputs, weights and gradients, the parameters copied both ways.

Beware of the opposite convention: True in a mask of `nn.MultiheadAttention` and `nn.Transformer` means "may not".
"""

import math

import pytest
import torch
from torch import Tensor, nn

from parity import (
    TOLERANCE,
    B,
    D,
    F,
    H,
    Pair,
    S,
    T,
    V,
    assert_same_model,
    both_precisions,
    linear,
    norm,
    normal,
    randomise,
    rows,
    tokens,
)
from tx_helpers.nn.attention import MultiHeadAttention
from tx_helpers.nn.blocks import WIRINGS, Block, DecoderBlock
from tx_helpers.nn.capture import capture
from tx_helpers.nn.config import (
    AttentionConfig,
    EmbeddingConfig,
    FeedForwardConfig,
    PositionConfig,
    TransformerConfig,
)
from tx_helpers.nn.layers import FeedForward, RMSNorm
from tx_helpers.nn.masks import causal_mask, combine_masks
from tx_helpers.nn.models import DecoderOnly, EncoderDecoder, EncoderOnly
from tx_helpers.zoo.parts.outputs import BiasedOutput

PAD = 0


def attention_pairs(ours: MultiHeadAttention, theirs: nn.MultiheadAttention) -> list[Pair]:
    pairs = linear(ours.output, theirs.out_proj)
    for i, part in enumerate((ours.query, ours.key, ours.value)):
        pairs.append(Pair(part.weight, theirs.in_proj_weight, rows(i)))
        if part.bias is not None:
            pairs.append(Pair(part.bias, theirs.in_proj_bias, rows(i)))
    return pairs


def block_pairs(ours: Block, theirs: nn.Module) -> list[Pair]:
    """For `nn.TransformerEncoderLayer`, and, if ours is a decoder block, `nn.TransformerDecoderLayer`."""
    pairs = attention_pairs(ours.self_attention, theirs.self_attn) + norm(ours.self_attention_norm, theirs.norm1)
    last = theirs.norm2
    if isinstance(ours, DecoderBlock):
        pairs += attention_pairs(ours.cross_attention, theirs.multihead_attn)
        pairs += norm(ours.cross_attention_norm, theirs.norm2)
        last = theirs.norm3
    pairs += linear(ours.feed_forward.expand, theirs.linear1) + linear(ours.feed_forward.contract, theirs.linear2)
    return pairs + norm(ours.feed_forward_norm, last)


def new_block(kind: type[Block], wiring: str, activation: str, dtype: torch.dtype) -> Block:
    attentions = [MultiHeadAttention(D, H) for _ in range(2 if kind is DecoderBlock else 1)]
    feed_forward = FeedForward(D, F, activation=activation)
    return kind(*attentions, feed_forward, lambda: nn.LayerNorm(D), wiring=WIRINGS[wiring]).to(dtype)


# ------------------------------------------------------------------------------------------------ multi-head attention

PADDED = torch.ones(B, S, dtype=torch.bool)
PADDED[1, 4:] = False  # True = real
RANDOM = normal(T, S, seed=5) > 0
RANDOM[:, 2] = True  # no row is empty
MASKS = {  # ours (broadcastable to (B, H, T, S)), theirs for attention and theirs for padding
    "none": (None, None, None),
    "causal": (causal_mask(T, S), ~torch.ones(T, S, dtype=torch.bool).tril(S - T), None),
    "padding": (PADDED[:, None, None], None, ~PADDED),
    "both": (
        combine_masks(causal_mask(T, S), PADDED[:, None, None]),
        ~torch.ones(T, S, dtype=torch.bool).tril(S - T),
        ~PADDED,
    ),
    "random": (RANDOM, ~RANDOM, None),
}


@both_precisions
@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("bias", [True, False], ids=["bias", "no-bias"])
def test_cross_attention_is_nn_multihead_attention(bias, mask, dtype):
    ours, theirs = (
        MultiHeadAttention(D, H, bias=bias).to(dtype),
        nn.MultiheadAttention(D, H, bias=bias, batch_first=True),
    )
    theirs.to(dtype)
    mask, attn_mask, key_padding = MASKS[mask]
    options = dict(attn_mask=attn_mask, key_padding_mask=key_padding, need_weights=False)
    assert_same_model(
        ours,
        theirs,
        attention_pairs(ours, theirs),
        lambda x, memory: ours(x, memory, mask=mask),
        lambda x, memory: theirs(x, memory, memory, **options)[0],
        normal(B, T, D, dtype=dtype),
        normal(B, S, D, seed=1, dtype=dtype),
        tolerance=TOLERANCE[dtype],
    )


@pytest.mark.parametrize("mask", MASKS)
def test_the_captured_weights_are_those_of_nn_multihead_attention(mask):
    ours, theirs = MultiHeadAttention(D, H).double(), nn.MultiheadAttention(D, H, batch_first=True).double()
    randomise(ours)
    with torch.no_grad():
        for pair in attention_pairs(ours, theirs):
            pair.part(pair.theirs).copy_(pair.ours)
    x, memory = normal(B, T, D), normal(B, S, D, seed=1)
    mask, attn_mask, key_padding = MASKS[mask]
    with capture(ours) as seen:
        ours(x, memory, mask=mask)
    weights = theirs(x, memory, memory, attn_mask=attn_mask, key_padding_mask=key_padding, average_attn_weights=False)[
        1
    ]
    torch.testing.assert_close(seen["weights"], weights, rtol=1e-9, atol=1e-9)


# ------------------------------------------------------------------------------------------------------------- blocks


@both_precisions
@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize("wiring", ["pre_norm", "post_norm"])
@pytest.mark.parametrize("mask", ["none", "causal", "padding"])
def test_an_encoder_block_is_nn_transformer_encoder_layer(mask, wiring, activation, dtype):
    ours = new_block(Block, wiring, activation, dtype)
    theirs = nn.TransformerEncoderLayer(
        D, H, F, dropout=0.0, activation=activation, batch_first=True, norm_first=wiring == "pre_norm", dtype=dtype
    )
    real = torch.ones(B, T, dtype=torch.bool)
    real[1, 3:] = False
    ours_options, options = {
        "none": ({}, {}),
        "causal": ({"causal": True}, {"src_mask": torch.ones(T, T, dtype=torch.bool).triu(1)}),
        "padding": ({"mask": real[:, None, None]}, {"src_key_padding_mask": ~real}),
    }[mask]
    assert_same_model(
        ours,
        theirs,
        block_pairs(ours, theirs),
        lambda x: ours(x, **ours_options),
        lambda x: theirs(x, **options),
        normal(B, T, D, dtype=dtype),
        tolerance=TOLERANCE[dtype],
    )


@both_precisions
@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize("wiring", ["pre_norm", "post_norm"])
@pytest.mark.parametrize("padded", [False, True], ids=["whole", "padded"])
def test_a_decoder_block_is_nn_transformer_decoder_layer(padded, wiring, activation, dtype):
    ours = new_block(DecoderBlock, wiring, activation, dtype)
    theirs = nn.TransformerDecoderLayer(
        D, H, F, dropout=0.0, activation=activation, batch_first=True, norm_first=wiring == "pre_norm", dtype=dtype
    )
    real = torch.ones(B, T, dtype=torch.bool)
    real[0, 4:] = False
    ours_options, options = {}, {}
    if padded:
        ours_options = dict(mask=real[:, None, None], memory_mask=PADDED[:, None, None])
        options = dict(tgt_key_padding_mask=~real, memory_key_padding_mask=~PADDED)
    assert_same_model(
        ours,
        theirs,
        block_pairs(ours, theirs),
        lambda x, memory: ours(x, memory, **ours_options),
        lambda x, memory: theirs(x, memory, tgt_mask=torch.ones(T, T, dtype=torch.bool).triu(1), **options),
        normal(B, T, D, dtype=dtype),
        normal(B, S, D, seed=1, dtype=dtype),
        tolerance=TOLERANCE[dtype],
    )


@both_precisions
def test_rms_norm_is_nn_rms_norm(dtype):
    ours, theirs = RMSNorm(D, eps=1e-3).to(dtype), nn.RMSNorm(D, eps=1e-3, dtype=dtype)
    x = normal(B, T, D, dtype=dtype)
    x[0, 0] *= 1e-3  # where epsilon counts
    assert_same_model(ours, theirs, norm(ours, theirs), ours, theirs, x, tolerance=TOLERANCE[dtype])


# ------------------------------------------------------------------------------------------------------- whole models


class Reference(nn.Module):
    """`nn.Transformer` between an embedding with sinusoidal positions and a tied output, as in 2017."""

    def __init__(self, wiring: str, activation: str, final_norm: bool, shared: bool):
        super().__init__()
        self.target_tokens = nn.Embedding(V, D)
        self.source_tokens = self.target_tokens if shared else nn.Embedding(V + 4, D)
        self.body = nn.Transformer(
            D, H, 2, 3, F, dropout=0.0, activation=activation, batch_first=True, norm_first=wiring == "pre_norm"
        )
        if not final_norm:
            self.body.encoder.norm = self.body.decoder.norm = None

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        padding = source == PAD
        hidden = self.body(
            self.embed(self.source_tokens, source),
            self.embed(self.target_tokens, target),
            tgt_mask=torch.ones(target.shape[1], target.shape[1], dtype=torch.bool).triu(1),
            src_key_padding_mask=padding,
            memory_key_padding_mask=padding,
        )
        return hidden @ self.target_tokens.weight.T

    @staticmethod
    def embed(table: nn.Embedding, ids: Tensor) -> Tensor:
        positions = [
            [math.sin(p / 10000 ** (i / D)) if i % 2 == 0 else math.cos(p / 10000 ** ((i - 1) / D)) for i in range(D)]
            for p in range(ids.shape[1])
        ]
        return table(ids) * math.sqrt(D) + torch.tensor(positions, dtype=table.weight.dtype)


@pytest.mark.filterwarnings("ignore:enable_nested_tensor")
@both_precisions
@pytest.mark.parametrize("shared", [True, False], ids=["one-vocabulary", "two-vocabularies"])
@pytest.mark.parametrize("final_norm", [True, False], ids=["final-norm", "no-final-norm"])
@pytest.mark.parametrize(("wiring", "activation"), [("pre_norm", "gelu"), ("post_norm", "relu")])
def test_the_whole_model_is_nn_transformer(wiring, activation, final_norm, shared, dtype):
    """Source padded at the right, target too: compared where the target is real."""
    config = TransformerConfig(
        V,
        D,
        n_layers=3,
        n_encoder_layers=2,
        source_vocab_size=None if shared else V + 4,
        pad_id=PAD,
        attention=AttentionConfig(H),
        feed_forward=FeedForwardConfig(F, activation),
        wiring=wiring,
    )
    ours = EncoderDecoder(config)
    ours.encoder.norm, ours.decoder.norm = (nn.LayerNorm(D) if final_norm else nn.Identity() for _ in range(2))
    ours = ours.to(dtype)
    theirs = Reference(wiring, activation, final_norm, shared).to(dtype)
    pairs = [Pair(ours.decoder.input.tokens.weight, theirs.target_tokens.weight)]
    if not shared:
        pairs.append(Pair(ours.encoder.input.tokens.weight, theirs.source_tokens.weight))
    for stack, other in ((ours.encoder, theirs.body.encoder), (ours.decoder, theirs.body.decoder)):
        for block, layer in zip(stack.blocks, other.layers, strict=True):
            pairs += block_pairs(block, layer)
        if final_norm:
            pairs += norm(stack.norm, other.norm)
    source, target = tokens(B, S, seed=1, high=V), tokens(B, T, seed=2, high=V)
    source[1, 4:] = PAD
    target[0, 3:] = PAD
    real = target != PAD
    assert_same_model(
        ours,
        theirs,
        pairs,
        lambda: ours(source, target)[real],
        lambda: theirs(source, target)[real],
        tolerance=TOLERANCE[dtype],
        std=0.2,
    )


@both_precisions
@pytest.mark.parametrize("kind", [EncoderOnly, DecoderOnly])
@pytest.mark.parametrize("wiring", ["pre_norm", "post_norm"])
def test_a_single_stack_is_nn_transformer_encoder(wiring, kind, dtype):
    """With learned positions and a free output with bias; causal for the decoder-only model."""
    config = TransformerConfig(
        V,
        D,
        n_layers=2,
        context_length=S,
        attention=AttentionConfig(H),
        feed_forward=FeedForwardConfig(F, "gelu"),
        positions=PositionConfig("learned"),
        wiring=wiring,
        embedding=EmbeddingConfig(tied=False, scale=False, output=BiasedOutput()),
    )
    ours = kind(config)
    stack = ours.encoder if kind is EncoderOnly else ours.decoder
    stack.norm = nn.LayerNorm(D)
    ours = ours.to(dtype)
    layer = nn.TransformerEncoderLayer(
        D, H, F, dropout=0.0, activation="gelu", batch_first=True, norm_first=wiring == "pre_norm", dtype=dtype
    )
    theirs = nn.ModuleDict(
        dict(
            tokens=nn.Embedding(V, D),
            positions=nn.Embedding(S, D),
            body=nn.TransformerEncoder(layer, 2, norm=nn.LayerNorm(D), enable_nested_tensor=False),
            output=nn.Linear(D, V),
        )
    ).to(dtype)
    pairs = [
        Pair(stack.input.tokens.weight, theirs["tokens"].weight),
        Pair(stack.input.positions.table.weight, theirs["positions"].weight),
        *linear(ours.output, theirs["output"]),
        *norm(stack.norm, theirs["body"].norm),
    ]
    for block, other in zip(stack.blocks, theirs["body"].layers, strict=True):
        pairs += block_pairs(block, other)
    ids = tokens(B, T)
    mask = torch.ones(T, T, dtype=torch.bool).triu(1) if kind is DecoderOnly else None

    def run_theirs() -> Tensor:
        x = theirs["tokens"](ids) + theirs["positions"].weight[:T]
        return theirs["output"](theirs["body"](x, mask=mask))

    assert_same_model(ours, theirs, pairs, lambda: ours(ids), run_theirs, tolerance=TOLERANCE[dtype], std=0.3)


def test_the_reference_is_not_blind_to_what_is_compared():
    """Each part that the comparison could miss changes the output by more than the tolerance."""
    x, memory = normal(B, T, D), normal(B, S, D, seed=1)
    ours = randomise(MultiHeadAttention(D, H).double())
    plain = ours(x, memory)
    for mask in ("causal", "padding", "random"):
        assert (ours(x, memory, mask=MASKS[mask][0]) - plain).abs().max() > 1e-3
    for name, parameter in ours.named_parameters():
        if name == "key.bias":  # adds the same to all scores of a query: the softmax does not see it
            continue
        kept = parameter.detach().clone()
        parameter.data.zero_()
        assert (ours(x, memory) - plain).abs().max() > 1e-3, name
        parameter.data.copy_(kept)
    shifted = MultiHeadAttention(D, H, scale=1 / math.sqrt(D)).double()
    shifted.load_state_dict(ours.state_dict())
    assert (shifted(x, memory) - plain).abs().max() > 1e-3
