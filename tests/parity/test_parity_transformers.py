"""Our models against the library `transformers`: small, randomly initialised, compared whole.

`TransformerConfig` expresses GPT-2, BLOOM, Llama, Qwen 3, Mistral, BERT and T5 to the last detail. To prove it, weights
are copied both ways, and logits (hidden states for BERT) and all gradients compared. The library works in float32 in
places, so float64 is compared to 1e-6, no closer.
"""

from collections.abc import Callable
from dataclasses import replace
from operator import attrgetter

import pytest
import torch
import transformers
from torch import Tensor, nn

from parity import TOLERANCE, Pair, assert_same_model, both_precisions, linear, norm, normal, projections, rows, tokens
from tx_helpers.nn.attention import MultiHeadAttention
from tx_helpers.nn.blocks import EncoderBlock
from tx_helpers.nn.config import (
    AttentionConfig,
    EmbeddingConfig,
    FeedForwardConfig,
    NormConfig,
    PositionConfig,
    TransformerConfig,
)
from tx_helpers.nn.masks import sliding_window_mask
from tx_helpers.nn.models import DecoderOnly, EncoderDecoder, EncoderOnly
from tx_helpers.nn.positions import ALiBi, Rotary, T5Bias
from tx_helpers.zoo.parts.inputs import NormedInput
from tx_helpers.zoo.parts.outputs import ScaledOutput
from tx_helpers.zoo.presets import bert, gpt2, llama, t5

# All distinct: batch, source and target positions, width, heads, key–value heads, head width, hidden, ids, context.
B, S, T, D, H, G, K, F, V, CONTEXT = 2, 9, 7, 24, 6, 2, 10, 20, 29, 13
PAD = 0


def transposed(x: Tensor) -> Tensor:
    """GPT-2's `Conv1D` keeps its matrices the other way round."""
    return x.T if x.dim() == 2 else x


def gpt2_pair() -> tuple[DecoderOnly, nn.Module, list[Pair]]:
    attention, n_layers = AttentionConfig(H), 2
    sizes = dict(vocab_size=V, d_model=D, n_layers=n_layers, context_length=CONTEXT)
    ours = DecoderOnly(gpt2(**sizes, attention=attention, pad_id=PAD))
    theirs = transformers.GPT2LMHeadModel(
        transformers.GPT2Config(vocab_size=V, n_positions=CONTEXT, n_embd=D, n_layer=n_layers, n_head=H)
    )
    body, stack = theirs.transformer, ours.decoder
    pairs = [
        Pair(stack.input.tokens.weight, body.wte.weight),
        Pair(stack.input.positions.table.weight, body.wpe.weight),
        *norm(stack.norm, body.ln_f),
    ]
    for block, other in zip(stack.blocks, body.h, strict=True):
        attention = block.self_attention
        for i, part in enumerate((attention.query, attention.key, attention.value)):
            pick = rows(i)
            pairs += linear(part, other.attn.c_attn, lambda x, pick=pick: pick(x.T), pick)
        pairs += linear(attention.output, other.attn.c_proj, transposed)
        pairs += linear(block.feed_forward.expand, other.mlp.c_fc, transposed)
        pairs += linear(block.feed_forward.contract, other.mlp.c_proj, transposed)
        pairs += norm(block.self_attention_norm, other.ln_1) + norm(block.feed_forward_norm, other.ln_2)
    return ours, theirs, pairs


def bloom_pair(n_heads: int = H) -> tuple[DecoderOnly, nn.Module, list[Pair]]:
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


def llama_pairs(ours: DecoderOnly, theirs: nn.Module) -> list[Pair]:
    """For Llama and all that are built like it."""
    body, stack = theirs.model, ours.decoder
    pairs = [
        Pair(stack.input.tokens.weight, body.embed_tokens.weight),
        Pair(ours.output.weight, theirs.lm_head.weight),
        *norm(stack.norm, body.norm),
    ]
    for block, other in zip(stack.blocks, body.layers, strict=True):
        pairs += llama_block_pairs(block, other)
        if ours.config.attention.qk_norm:
            pairs += norm(block.self_attention.query_norm, other.self_attn.q_norm)
            pairs += norm(block.self_attention.key_norm, other.self_attn.k_norm)
    return pairs


def llama_block_pairs(ours: EncoderBlock, theirs: nn.Module) -> list[Pair]:
    """For a decoder layer of Llama, without QK-norm."""
    their = theirs.self_attn
    pairs = projections(ours.self_attention, their.q_proj, their.k_proj, their.v_proj, their.o_proj)
    pairs += linear(ours.feed_forward.gate, theirs.mlp.gate_proj) + linear(ours.feed_forward.expand, theirs.mlp.up_proj)
    pairs += linear(ours.feed_forward.contract, theirs.mlp.down_proj)
    pairs += norm(ours.self_attention_norm, theirs.input_layernorm)
    return pairs + norm(ours.feed_forward_norm, theirs.post_attention_layernorm)


def llama_sizes(**more) -> dict:
    return dict(
        vocab_size=V,
        hidden_size=D,
        num_hidden_layers=2,
        num_attention_heads=H,
        num_key_value_heads=G,
        intermediate_size=F,
        max_position_embeddings=CONTEXT,
        attn_implementation="sdpa",
        tie_word_embeddings=False,
        bos_token_id=1,
        eos_token_id=2,
        **more,
    )


def llama_config(**changes) -> TransformerConfig:
    options = dict(
        vocab_size=V,
        d_model=D,
        n_layers=2,
        context_length=CONTEXT,
        pad_id=PAD,
        attention=AttentionConfig(H, n_kv_heads=G, bias=False),
        feed_forward=FeedForwardConfig(F, "silu", gated=True, bias=False),
    )
    return llama(**(options | changes))


def llama_pair() -> tuple[DecoderOnly, nn.Module, list[Pair]]:
    ours = DecoderOnly(llama_config())
    config = transformers.LlamaConfig(
        **llama_sizes(), rms_norm_eps=1e-6, rope_parameters={"rope_theta": 10000.0, "rope_type": "default"}
    )
    theirs = transformers.LlamaForCausalLM(config)
    return ours, theirs, llama_pairs(ours, theirs)


def stretched_llama_pair() -> tuple[DecoderOnly, nn.Module, list[Pair]]:
    """Positions divided by 4, and another base."""
    ours = DecoderOnly(llama_config(positions=PositionConfig("rotary", base=500.0, interpolation=4.0)))
    stretched = {"rope_theta": 500.0, "rope_type": "linear", "factor": 4.0}
    config = transformers.LlamaConfig(**llama_sizes(), rms_norm_eps=1e-6, rope_parameters=stretched)
    theirs = transformers.LlamaForCausalLM(config)
    return ours, theirs, llama_pairs(ours, theirs)


def qwen3_pair() -> tuple[DecoderOnly, nn.Module, list[Pair]]:
    """QK-norm, heads whose width is not D/H, and an epsilon that counts."""
    attention = AttentionConfig(H, n_kv_heads=G, d_head=K, bias=False, qk_norm=True)
    ours = DecoderOnly(llama_config(attention=attention, norm=NormConfig("rms", eps=1e-2)))
    config = transformers.Qwen3Config(
        **llama_sizes(head_dim=K), rms_norm_eps=1e-2, rope_parameters={"rope_theta": 10000.0, "rope_type": "default"}
    )
    theirs = transformers.Qwen3ForCausalLM(config)
    return ours, theirs, llama_pairs(ours, theirs)


def bert_pair() -> tuple[EncoderOnly, nn.Module, list[Pair]]:
    sizes = dict(vocab_size=V, d_model=D, n_layers=2, context_length=CONTEXT, attention=AttentionConfig(H))
    ours = EncoderOnly(bert(**sizes, feed_forward=FeedForwardConfig(F, "gelu")))
    config = transformers.BertConfig(
        vocab_size=V,
        hidden_size=D,
        num_hidden_layers=2,
        num_attention_heads=H,
        intermediate_size=F,
        max_position_embeddings=CONTEXT,
        type_vocab_size=2,
    )
    theirs = transformers.BertModel(config, add_pooling_layer=False)
    stack, embeddings = ours.encoder, theirs.embeddings
    pairs = [
        Pair(stack.input.tokens.weight, embeddings.word_embeddings.weight),
        Pair(stack.input.positions.table.weight, embeddings.position_embeddings.weight),
        Pair(stack.input.segments.weight, embeddings.token_type_embeddings.weight),
        *norm(stack.input.norm, embeddings.LayerNorm),
    ]
    for block, other in zip(stack.blocks, theirs.encoder.layer, strict=True):
        their = other.attention
        pairs += projections(
            block.self_attention, their.self.query, their.self.key, their.self.value, their.output.dense
        )
        pairs += norm(block.self_attention_norm, their.output.LayerNorm)
        pairs += linear(block.feed_forward.expand, other.intermediate.dense)
        pairs += linear(block.feed_forward.contract, other.output.dense)
        pairs += norm(block.feed_forward_norm, other.output.LayerNorm)
    return ours, theirs, pairs


def t5_pair(gated: bool) -> tuple[EncoderDecoder, nn.Module, list[Pair]]:
    """T5 as published in 2020 or, gated, its version 1.1, whose output is not tied to the embedding."""
    sizes = dict(vocab_size=V, d_model=D, n_layers=3, n_encoder_layers=2)
    config = t5(**sizes, attention=AttentionConfig(H, d_head=K, bias=False, scale=1.0))
    config = replace(config, positions=PositionConfig("t5", buckets=8, max_distance=12))
    if gated:
        feed_forward = FeedForwardConfig(F, "gelu_tanh", gated=True, bias=False)
        config = replace(config, feed_forward=feed_forward, embedding=EmbeddingConfig(tied=False, scale=False))
    else:
        embedding = replace(config.embedding, output=ScaledOutput(D**-0.5))
        config = replace(config, feed_forward=FeedForwardConfig(F, bias=False), embedding=embedding)
    ours = EncoderDecoder(config)
    theirs = transformers.T5ForConditionalGeneration(
        transformers.T5Config(
            vocab_size=V,
            d_model=D,
            d_kv=K,
            d_ff=F,
            num_layers=2,
            num_decoder_layers=3,
            num_heads=H,
            relative_attention_num_buckets=8,
            relative_attention_max_distance=12,
            feed_forward_proj="gated-gelu" if gated else "relu",
            tie_word_embeddings=not gated,
            pad_token_id=PAD,
            decoder_start_token_id=PAD,
        )
    )
    pairs = [Pair(ours.encoder.input.tokens.weight, theirs.shared.weight)]
    if gated:
        theirs.lm_head.weight = nn.Parameter(theirs.lm_head.weight.detach().clone())  # the library 5 ties it regardless
        pairs.append(Pair(ours.output.weight, theirs.lm_head.weight))
    for stack, other in ((ours.encoder, theirs.encoder), (ours.decoder, theirs.decoder)):
        bias = other.block[0].layer[0].SelfAttention.relative_attention_bias
        pairs += [Pair(stack.bias.table.weight, bias.weight), *norm(stack.norm, other.final_layer_norm)]
        for block, their in zip(stack.blocks, other.block, strict=True):
            attentions = [(block.self_attention, their.layer[0].SelfAttention)]
            pairs += norm(block.self_attention_norm, their.layer[0].layer_norm)
            if stack is ours.decoder:
                attentions.append((block.cross_attention, their.layer[1].EncDecAttention))
                pairs += norm(block.cross_attention_norm, their.layer[1].layer_norm)
            for mine, its in attentions:
                pairs += projections(mine, its.q, its.k, its.v, its.o)
            feed, dense = block.feed_forward, their.layer[-1].DenseReluDense
            pairs += norm(block.feed_forward_norm, their.layer[-1].layer_norm)
            pairs += linear(feed.expand, dense.wi_1 if gated else dense.wi) + linear(feed.contract, dense.wo)
            pairs += linear(feed.gate, dense.wi_0) if gated else []
    return ours, theirs, pairs


def padded(ids: Tensor, side: str) -> tuple[Tensor, Tensor]:
    """The same ids with the second row shortened, and which of them are real."""
    real = torch.ones_like(ids, dtype=torch.bool)
    gap = slice(0, 3) if side == "left" else slice(ids.shape[1] - 3, None)
    real[1, gap] = False
    return ids.masked_fill(~real, PAD), real


def prepared(built: tuple[nn.Module, nn.Module, list[Pair]], dtype: torch.dtype):
    ours, theirs, pairs = built
    return ours.to(dtype).eval(), theirs.to(dtype).eval(), pairs


DECODERS: dict[str, Callable] = {
    "gpt2": gpt2_pair,
    "bloom": bloom_pair,
    "bloom-8-heads": lambda: bloom_pair(8),
    "llama": llama_pair,
    "llama-stretched": stretched_llama_pair,
    "qwen3": qwen3_pair,
}


# BLOOM's left padding in float64 is left out: theirs gives NaN there (a float32 softmax of a mask's float64 minimum).
CASES = [
    pytest.param(family, side, dtype, id=f"{family}-{side}-{str(dtype).removeprefix('torch.')}")
    for family in DECODERS
    for side in ("none", "left", "right")
    for dtype in TOLERANCE
    if not (family.startswith("bloom") and side == "left" and dtype == torch.float64)
]


@pytest.mark.parametrize(("family", "side", "dtype"), CASES)
def test_decoder_only_models_give_the_library_s_logits_and_gradients(family, side, dtype):
    ours, theirs, pairs = prepared(DECODERS[family](), dtype)
    ids, real = padded(tokens(B, T, high=V), side) if side != "none" else (tokens(B, T, high=V), None)

    def run_theirs() -> Tensor:
        options = {}
        if real is not None:
            options["attention_mask"] = real.long()
            if "bloom" not in family:
                options["position_ids"] = (real.long().cumsum(-1) - 1).clamp(min=0)
        return theirs(ids, use_cache=False, **options).logits[real if real is not None else ...]

    def run_ours() -> Tensor:
        return ours(ids)[real if real is not None else ...]

    assert_same_model(ours, theirs, pairs, run_ours, run_theirs, tolerance=TOLERANCE[dtype], std=0.25)


@both_precisions
def test_a_sliding_window_gives_mistral_s_logits(dtype):
    window = 3
    ours = DecoderOnly(llama_config())
    config = transformers.MistralConfig(**llama_sizes(), rms_norm_eps=1e-6, sliding_window=window)
    ours, theirs, pairs = prepared((ours, transformers.MistralForCausalLM(config), None), dtype)
    pairs = llama_pairs(ours, theirs)
    ids, mask = tokens(B, T, high=V), sliding_window_mask(T, window=window)
    assert_same_model(
        ours,
        theirs,
        pairs,
        lambda: ours(ids, mask=mask),
        lambda: theirs(ids, use_cache=False).logits,
        tolerance=TOLERANCE[dtype],
        std=0.25,
    )


@both_precisions
@pytest.mark.parametrize("side", ["none", "right"])
def test_the_encoder_gives_bert_s_hidden_states_and_gradients(side, dtype):
    ours, theirs, pairs = prepared(bert_pair(), dtype)
    ids = tokens(B, T, high=V)
    ids, real = padded(ids, "right") if side == "right" else (ids, torch.ones_like(ids, dtype=torch.bool))
    segments = (torch.arange(T) > 3).long().expand(B, T)
    assert_same_model(
        ours.encoder,
        theirs,
        pairs,
        lambda: ours.encode(ids, segments=segments)[real],
        lambda: theirs(ids, attention_mask=real.long(), token_type_ids=segments).last_hidden_state[real],
        tolerance=TOLERANCE[dtype],
    )


def test_without_segments_all_tokens_are_of_bert_s_first_segment():
    ours, theirs, pairs = prepared(bert_pair(), torch.float64)
    ids = tokens(B, T, high=V)
    run = (lambda: ours.encode(ids), lambda: theirs(ids).last_hidden_state)
    with torch.no_grad():
        for pair in pairs:
            pair.ours.copy_(pair.part(pair.theirs))
        torch.testing.assert_close(run[0](), run[1](), rtol=1e-6, atol=1e-6)


@both_precisions
@pytest.mark.parametrize("side", ["none", "right"])
@pytest.mark.parametrize("gated", [False, True], ids=["t5", "t5-1.1"])
def test_the_encoder_decoder_gives_t5_s_logits_and_gradients(gated, side, dtype):
    """The target begins, as T5's does, with the id that is padding elsewhere."""
    ours, theirs, pairs = prepared(t5_pair(gated), dtype)
    source, real = tokens(B, S, high=V, seed=1), torch.ones(B, S, dtype=torch.bool)
    if side == "right":
        source, real = padded(source, "right")
    target = tokens(B, T, high=V, seed=2)
    target[:, 0] = PAD
    assert_same_model(
        ours,
        theirs,
        pairs,
        lambda: ours(source, target),
        lambda: theirs(source, attention_mask=real.long(), decoder_input_ids=target, use_cache=False).logits,
        tolerance=TOLERANCE[dtype],
        std=0.25,
    )


@both_precisions
def test_the_cached_logits_are_the_library_s_cached_logits(dtype):
    """Prompt, then token by token, both with a cache of their own, the second row padded at the left."""
    ours, theirs, pairs = prepared(llama_pair(), dtype)
    ids, real = padded(tokens(B, T, high=V), "left")
    with torch.no_grad():
        for pair in pairs:
            pair.part(pair.theirs).copy_(pair.ours)
        state, cache = ours.start(batch=B), None
        positions = (real.long().cumsum(-1) - 1).clamp(min=0)
        for start, stop in ((0, 4), (4, 5), (5, 6), (6, 7)):
            new = slice(start, stop)
            reply = theirs(
                ids[:, new],
                attention_mask=real[:, :stop].long(),
                position_ids=positions[:, new],
                past_key_values=cache,
                use_cache=True,
            )
            cache = reply.past_key_values
            mine = state.step(ids[:, new])
            torch.testing.assert_close(
                mine[real[:, new]], reply.logits[real[:, new]], rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype]
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


def test_a_block_of_grouped_query_attention_is_llama_s():
    """One layer alone, in float64, with a rotation of another base: hidden states in, hidden states out."""
    from transformers.models.llama.modeling_llama import LlamaDecoderLayer, LlamaRotaryEmbedding

    config = transformers.LlamaConfig(
        **llama_sizes(), rms_norm_eps=1e-6, rope_parameters={"rope_theta": 77.0, "rope_type": "default"}
    )
    model = DecoderOnly(llama_config(positions=PositionConfig("rotary", base=77.0), norm=NormConfig("rms", eps=1e-6)))
    ours: EncoderBlock = model.decoder.blocks[0].double()
    theirs, rotary = LlamaDecoderLayer(config, 0).double(), LlamaRotaryEmbedding(config)
    x, positions = normal(B, T, D), torch.arange(T)
    rotate = Rotary(D // H, base=77.0).at(positions, torch.float64)
    assert_same_model(
        ours,
        theirs,
        llama_block_pairs(ours, theirs),
        lambda x: ours(x, causal=True, rotate=rotate),
        lambda x: theirs(x, position_embeddings=rotary(x, positions[None])),
        x,
        tolerance=1e-6,
        std=0.25,
    )


INITIALISED = {"gpt2": gpt2_pair, "llama": llama_pair, "bert": bert_pair, "t5": lambda: t5_pair(gated=False)}


@pytest.mark.parametrize("family", INITIALISED)
def test_first_values_spread_as_the_library_s_do(family, monkeypatch):
    """Deviations of all parameters, the larger sizes for the statistics' sake: within 10 %."""
    for name, size in dict(D=96, K=16, F=320, V=290, CONTEXT=130).items():
        monkeypatch.setitem(globals(), name, size)
    torch.manual_seed(0)
    _, _, pairs = INITIALISED[family]()
    compared = 0
    for pair in pairs:
        mine, other = pair.ours, pair.part(pair.theirs)
        if other.numel() > 300:
            assert mine.std().item() == pytest.approx(other.std().item(), rel=0.1), tuple(mine.shape)
            compared += 1
        elif other.std() == 0:  # gains and biases
            torch.testing.assert_close(mine, other)
    assert compared > 8


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
