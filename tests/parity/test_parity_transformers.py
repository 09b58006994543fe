"""What no checkpoint that we read has, against the library `transformers` (the rest: test_parity_pretrained.py).

BLOOM, whose weights are copied both ways, with logits and all gradients compared; single parts: GPT-J's rotation, T5's
buckets and bias, ALiBi's slopes; and the presets. The library works in float32 in places, so float64 is compared to
1e-6, no closer.
"""

from operator import attrgetter

import pytest
import torch
import transformers
from torch import Tensor, nn

from parity import TOLERANCE, Pair, assert_same_model, both_precisions, linear, norm, normal, projections, tokens
from tx_helpers.nn.attention import MultiHeadAttention
from tx_helpers.nn.config import (
    AttentionConfig,
    EmbeddingConfig,
    FeedForwardConfig,
    PositionConfig,
    TransformerConfig,
)
from tx_helpers.nn.models import DecoderOnly
from tx_helpers.nn.positions import ALiBi, Rotary, T5Bias
from tx_helpers.zoo.parts.inputs import NormedInput
from tx_helpers.zoo.presets import bert, gpt2, llama, t5

# All distinct: batch, positions, width, heads, ids, context.
B, T, D, H, V, CONTEXT = 2, 7, 24, 6, 29, 13
PAD = 0


def bloom_pair(n_heads: int) -> tuple[DecoderOnly, nn.Module, list[Pair]]:
    ours = DecoderOnly(
        TransformerConfig(
            V,
            D,
            n_layers=2,
            pad_id=PAD,
            attention=AttentionConfig(n_heads),
            feed_forward=FeedForwardConfig(activation="gelu_tanh"),
            positions=PositionConfig("alibi"),
            embedding=EmbeddingConfig(scale=False, input=NormedInput()),
        )
    )
    config = transformers.BloomConfig(
        vocab_size=V, hidden_size=D, n_layer=2, n_head=n_heads, hidden_dropout=0.0, attention_dropout=0.0
    )
    theirs = transformers.BloomForCausalLM(config)
    body, stack = theirs.transformer, ours.decoder
    pairs = [
        Pair(stack.input.tokens.weight, body.word_embeddings.weight),
        *norm(stack.input.norm, body.word_embeddings_layernorm),
        *norm(stack.norm, body.ln_f),
    ]
    for block, other in zip(stack.blocks, body.h, strict=True):
        attention, fused = block.self_attention, other.self_attention.query_key_value
        for i, part in enumerate((attention.query, attention.key, attention.value)):

            def pick(x: Tensor, i: int = i) -> Tensor:  # theirs lie head by head: (H, 3, K)
                return x.view(n_heads, 3, D // n_heads, *x.shape[1:])[:, i]

            pairs += linear(part, fused, pick, pick)
        pairs += linear(attention.output, other.self_attention.dense)
        pairs += linear(block.feed_forward.expand, other.mlp.dense_h_to_4h)
        pairs += linear(block.feed_forward.contract, other.mlp.dense_4h_to_h)
        pairs += norm(block.self_attention_norm, other.input_layernorm)
        pairs += norm(block.feed_forward_norm, other.post_attention_layernorm)
    return ours, theirs, pairs


def padded(ids: Tensor, side: str) -> tuple[Tensor, Tensor]:
    """The same ids with the second row shortened, and which of them are real."""
    real = torch.ones_like(ids, dtype=torch.bool)
    gap = slice(0, 3) if side == "left" else slice(ids.shape[1] - 3, None)
    real[1, gap] = False
    return ids.masked_fill(~real, PAD), real


# Left padding in float64 is left out: theirs gives NaN there (a float32 softmax of a mask's float64 minimum).
CASES = [
    (side, dtype)
    for side in ("none", "left", "right")
    for dtype in TOLERANCE
    if (side, dtype) != ("left", torch.float64)
]


@pytest.mark.parametrize("n_heads", [H, 8])
@pytest.mark.parametrize(("side", "dtype"), CASES, ids=lambda value: str(value).removeprefix("torch."))
def test_bloom_gives_the_library_s_logits_and_gradients(n_heads, side, dtype):
    ours, theirs, pairs = bloom_pair(n_heads)
    ours, theirs = ours.to(dtype).eval(), theirs.to(dtype).eval()
    ids = tokens(B, T, high=V)
    ids, real = padded(ids, side) if side != "none" else (ids, torch.ones_like(ids, dtype=torch.bool))
    assert_same_model(
        ours,
        theirs,
        pairs,
        lambda: ours(ids)[real],
        lambda: theirs(ids, attention_mask=real.long(), use_cache=False).logits[real],
        tolerance=TOLERANCE[dtype],
        std=0.25,
    )


@both_precisions
def test_interleaved_rotary_attention_is_gpt_j_s(dtype):
    from transformers.models.gptj.modeling_gptj import GPTJAttention

    d_head = D // H
    config = transformers.GPTJConfig(n_embd=D, n_head=H, n_positions=CONTEXT, rotary_dim=d_head)
    theirs = GPTJAttention(config, layer_idx=0).to(dtype)
    ours = MultiHeadAttention(D, H, bias=False).to(dtype)
    pairs = projections(ours, theirs.q_proj, theirs.k_proj, theirs.v_proj, theirs.out_proj)
    positions = torch.stack([torch.arange(T), torch.arange(T) + 4])  # each row counts for itself
    rotate = Rotary(d_head, layout="interleaved").at(positions, dtype)
    future = torch.zeros(T, T).masked_fill(torch.ones(T, T, dtype=torch.bool).triu(1), -torch.inf)
    assert_same_model(
        ours,
        theirs,
        pairs,
        lambda x: ours(x, causal=True, rotate=rotate),
        lambda x: theirs(x, attention_mask=future, position_ids=positions)[0],
        normal(B, T, D, dtype=dtype),
        tolerance=TOLERANCE[dtype],
        std=0.2,
    )


@pytest.mark.parametrize("bidirectional", [True, False])
@pytest.mark.parametrize(("buckets", "max_distance"), [(32, 128), (8, 12), (4, 20)])
def test_t5_s_buckets_are_the_library_s_at_every_distance(bidirectional, buckets, max_distance):
    from transformers.models.t5.modeling_t5 import T5Attention

    ours = T5Bias(H, buckets=buckets, max_distance=max_distance, bidirectional=bidirectional)
    distance = torch.arange(-300, 301)
    expected = T5Attention._relative_position_bucket(distance, bidirectional, buckets, max_distance)
    assert torch.equal(ours.bucket(distance), expected)


def test_t5_s_bias_is_the_library_s_for_new_positions_after_old_ones():
    from transformers.models.t5.modeling_t5 import T5Attention

    config = transformers.T5Config(num_heads=H, is_decoder=True)
    theirs = T5Attention(config, has_relative_attention_bias=True, layer_idx=0)
    ours = T5Bias(H)
    with torch.no_grad():
        ours.table.weight.copy_(theirs.relative_attention_bias.weight)
    torch.testing.assert_close(ours(3, 40), theirs.compute_bias(3, 40, past_seen_tokens=37), rtol=0, atol=0)


@pytest.mark.parametrize("n_heads", [1, 2, 3, 5, 6, 8, 12, 14, 16, 20])
def test_alibi_s_slopes_are_the_library_s_for_any_number_of_heads(n_heads):
    from transformers.models.bloom.modeling_bloom import build_alibi_tensor

    theirs = build_alibi_tensor(torch.ones(1, 2), n_heads, torch.float32)[:, 0, 1]
    torch.testing.assert_close(torch.tensor(ALiBi(n_heads).slopes), theirs, rtol=1e-6, atol=0)


def details(config: TransformerConfig) -> dict:
    """What the number of parameters does not show, beside what it does."""
    return dict(
        sizes=(config.vocab_size, config.d_model, config.n_layers, config.d_ff, config.context_length),
        heads=(config.attention.n_heads, config.attention.n_kv_heads or config.attention.n_heads, config.d_head),
        activation=(config.feed_forward.activation, config.feed_forward.gated),
        eps=config.norm.eps,
        base=config.positions.base if config.positions.kind == "rotary" else None,
        tied=config.embedding.tied,
        dropout=config.dropout,
    )


SIZES = attrgetter("vocab_size", "hidden_size", "num_hidden_layers", "intermediate_size", "max_position_embeddings")


def test_presets_are_the_library_s_configurations():
    """Its defaults are the first published size of each family; Llama 3's figures are those of its paper, table 3."""
    theirs = transformers.GPT2Config()
    assert theirs.activation_function == "gelu_new"
    assert details(gpt2()) == dict(
        sizes=(theirs.vocab_size, theirs.n_embd, theirs.n_layer, 4 * theirs.n_embd, theirs.n_positions),
        heads=(theirs.n_head, theirs.n_head, theirs.n_embd // theirs.n_head),
        activation=("gelu_tanh", False),
        eps=theirs.layer_norm_epsilon,
        base=None,
        tied=theirs.tie_word_embeddings,
        dropout=theirs.resid_pdrop,
    )
    theirs = transformers.BertConfig()
    heads = theirs.num_attention_heads
    assert theirs.hidden_act == "gelu"
    assert details(bert()) == dict(
        sizes=SIZES(theirs),
        heads=(heads, heads, theirs.hidden_size // heads),
        activation=("gelu", False),
        eps=theirs.layer_norm_eps,
        base=None,
        tied=True,
        dropout=theirs.hidden_dropout_prob,
    )
    assert (bert().embedding.input.segments, bert().pad_id) == (theirs.type_vocab_size, theirs.pad_token_id)
    theirs = transformers.T5Config()
    assert details(t5()) == dict(
        sizes=(theirs.vocab_size, theirs.d_model, theirs.num_layers, theirs.d_ff, None),
        heads=(theirs.num_heads, theirs.num_heads, theirs.d_kv),
        activation=(theirs.feed_forward_proj, False),
        eps=theirs.layer_norm_epsilon,
        base=None,
        tied=True,
        dropout=theirs.dropout_rate,
    )
    positions = t5().positions
    buckets = (theirs.relative_attention_num_buckets, theirs.relative_attention_max_distance)
    assert (positions.kind, positions.buckets, positions.max_distance) == ("t5", *buckets)
    assert t5().embedding.output.factor == theirs.d_model**-0.5
    theirs = transformers.LlamaConfig()
    heads = theirs.num_attention_heads
    assert details(llama()) == dict(
        sizes=SIZES(theirs),
        heads=(heads, theirs.num_key_value_heads, theirs.hidden_size // heads),
        activation=(theirs.hidden_act, True),
        eps=theirs.rms_norm_eps,
        base=theirs.rope_parameters["rope_theta"],
        tied=theirs.tie_word_embeddings,
        dropout=0.0,
    )
    assert details(llama("8b")) == details(llama()) | dict(
        sizes=(128256, 4096, 32, 14336, 8192), heads=(32, 8, 128), eps=1e-5, base=500000.0
    )
