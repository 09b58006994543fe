"""The config: what it refuses, what it derives, and the published models among its presets, parameters counted."""

from dataclasses import FrozenInstanceError, replace

import pytest
import torch

from parity import D, F, H, V
from tx_helpers.nn.config import (
    AttentionConfig,
    EmbeddingConfig,
    FeedForwardConfig,
    InitConfig,
    NormConfig,
    PositionConfig,
    TransformerConfig,
)
from tx_helpers.nn.models import DecoderOnly, EncoderDecoder, EncoderOnly, count_parameters
from tx_helpers.zoo.parts.inputs import TokenShift
from tx_helpers.zoo.presets import GPT_SIZES, bert, gpt2, llama, t5, transformer_2017


def built(kind: type, config: TransformerConfig):
    """On the meta device: shapes without numbers, so that 175 billion parameters take no memory."""
    with torch.device("meta"):
        return kind(config)


@pytest.mark.parametrize(
    ("kind", "config", "published"),
    [
        (DecoderOnly, gpt2("gpt2"), 124_439_808),
        (DecoderOnly, gpt2("gpt2-medium"), 354_823_168),
        (DecoderOnly, gpt2("gpt2-large"), 774_030_080),
        (DecoderOnly, gpt2("gpt2-xl"), 1_557_611_200),
        (DecoderOnly, gpt2("gpt3-175b"), 174_604_259_328),
        (EncoderDecoder, t5("small"), 60_506_624),
        (EncoderDecoder, t5("base"), 222_903_552),
        (DecoderOnly, llama("7b"), 6_738_415_616),
        (DecoderOnly, llama("8b"), 8_030_261_248),
    ],
    ids=["gpt2", "gpt2-medium", "gpt2-large", "gpt2-xl", "gpt3", "t5-small", "t5-base", "llama-7b", "llama3-8b"],
)
def test_presets_have_the_published_number_of_parameters(kind, config, published):
    assert count_parameters(built(kind, config)) == published


@pytest.mark.parametrize(("size", "published"), [("base", 108_891_648), ("large", 334_092_288)])
def test_bert_has_its_published_encoder(size, published):
    """The checkpoints' number without the pooler's D² + D; our model adds one output bias for each word."""
    model = built(EncoderOnly, bert(size))
    assert count_parameters(model.encoder) == published
    assert count_parameters(model) == published + 30522


@pytest.mark.parametrize(("size", "millions"), [("base", 65), ("big", 213)])
def test_the_models_of_2017_have_about_the_paper_s_number_of_parameters(size, millions):
    """Table 3 rounds to millions and does not say how it counts: with 37,000 shared word pieces it is 63 and 214."""
    config = transformer_2017(size=size)
    width, hidden = config.d_model, config.d_ff
    norm, attention = 2 * width, 4 * width**2
    feed_forward = 2 * width * hidden + hidden + width
    encoder, decoder = attention + feed_forward + 2 * norm, 2 * attention + feed_forward + 3 * norm
    expected = 37000 * width + 6 * (encoder + decoder)
    assert count_parameters(built(EncoderDecoder, config)) == expected
    assert expected / 1e6 == pytest.approx(millions, rel=0.035)


def test_the_models_of_2017_are_those_of_table_3():
    base, big = transformer_2017(), transformer_2017(size="big")
    assert [(c.n_layers, c.d_model, c.d_ff, c.attention.n_heads, c.d_head, c.dropout) for c in (base, big)] == [
        (6, 512, 2048, 8, 64, 0.1),
        (6, 1024, 4096, 16, 64, 0.3),
    ]
    assert base.wiring == "post_norm"
    assert not base.final_norm
    assert base.positions.kind == "sinusoidal"
    assert base.embedding.tied
    assert base.embedding.scale


def test_presets_take_changes():
    config = gpt2(vocab_size=V, d_model=D, attention=AttentionConfig(H), context_length=9)
    assert (config.vocab_size, config.d_model, config.context_length, config.n_layers) == (V, D, 9, 12)
    assert config.feed_forward.activation == "gelu_tanh"
    assert set(GPT_SIZES) == {"gpt2", "gpt2-medium", "gpt2-large", "gpt2-xl", "gpt3-175b"}


def test_what_is_left_open_is_derived():
    config = TransformerConfig(V, D, attention=AttentionConfig(H))
    assert (config.d_head, config.d_ff, config.final_norm) == (4, 48, True)
    config = replace(
        config, attention=AttentionConfig(H, d_head=5), feed_forward=FeedForwardConfig(F), norm=NormConfig("rms")
    )
    assert (config.d_head, config.d_ff) == (5, 20)
    assert not replace(config, wiring="post_norm").final_norm


def test_a_config_is_frozen_and_compares_by_value():
    config = TransformerConfig(V)
    with pytest.raises(FrozenInstanceError):
        config.d_model = 3
    with pytest.raises(FrozenInstanceError):
        config.norm.eps = 1.0
    assert config == TransformerConfig(V)
    assert hash(config) == hash(TransformerConfig(V))
    assert config != TransformerConfig(V, norm=NormConfig("rms"))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: AttentionConfig(0), "AttentionConfig: n_heads=0, expected at least 1"),
        (lambda: AttentionConfig(-2), "AttentionConfig: n_heads=-2, expected at least 1"),
        (lambda: AttentionConfig(4, n_kv_heads=0), "AttentionConfig: n_kv_heads=0, expected at least 1"),
        (lambda: AttentionConfig(4, d_head=0), "AttentionConfig: d_head=0, expected at least 1"),
        (lambda: AttentionConfig(6, n_kv_heads=4), "AttentionConfig: n_heads=6 is not divisible by n_kv_heads=4"),
        (lambda: FeedForwardConfig(0), "FeedForwardConfig: d_ff=0, expected at least 1"),
        (lambda: FeedForwardConfig(activation="tanh"), "FeedForwardConfig: activation='tanh', expected one of relu, "),
        (lambda: AttentionConfig(3, window=0), "AttentionConfig: window=0, expected at least 1"),
        (lambda: PositionConfig(stretch=2.0), "PositionConfig: stretch is 2.0, expected a function"),
        (lambda: EmbeddingConfig(input=2), "EmbeddingConfig: input is 2, expected an Input or None"),
        (lambda: EmbeddingConfig(output=TokenShift(1)), "EmbeddingConfig: output is a TokenShift, expected an Output"),
        (lambda: FeedForwardConfig(experts=8), "FeedForwardConfig: experts is 8, expected an Experts or None"),
        (lambda: PositionConfig("absolute"), "PositionConfig: kind='absolute', expected one of none, sinusoidal, lea"),
        (lambda: PositionConfig("rotary", layout="neox"), "PositionConfig: layout='neox', expected one of half, inter"),
        (lambda: PositionConfig(base=-1.0), "PositionConfig: base=-1.0, expected at least 1"),
        (lambda: PositionConfig(interpolation=float("inf")), "PositionConfig: interpolation=inf, expected more than 0"),
        (lambda: PositionConfig(interpolation=0.0), "PositionConfig: interpolation=0.0, expected more than 0"),
        (lambda: NormConfig("batch"), "NormConfig: kind='batch', expected one of layer, rms, rms_plus"),
        (
            lambda: TransformerConfig(
                V, 12, attention=AttentionConfig(3), positions=PositionConfig("rotary", d_rotary=6)
            ),
            "TransformerConfig: d_rotary=6, expected an even number up to d_head=4",
        ),
        (
            lambda: TransformerConfig(V, wiring="toast"),
            "TransformerConfig: wiring='toast', expected one of pre_norm, post",
        ),
        (lambda: InitConfig("kaiming"), "InitConfig: kind='kaiming', expected one of xavier, normal, fan_in"),
        (lambda: InitConfig(residual="half"), "InitConfig: residual='half', expected one of plain, scaled, zero"),
        (lambda: TransformerConfig(0), "TransformerConfig: vocab_size=0, expected at least 1"),
        (lambda: TransformerConfig(V, d_model=-4), "TransformerConfig: d_model=-4, expected at least 1"),
        (lambda: TransformerConfig(V, n_layers=0), "TransformerConfig: n_layers=0, expected at least 1"),
        (lambda: TransformerConfig(V, n_encoder_layers=0), "TransformerConfig: n_encoder_layers=0, expected at least"),
        (
            lambda: TransformerConfig(V, source_vocab_size=0),
            "TransformerConfig: source_vocab_size=0, expected at least 1",
        ),
        (lambda: TransformerConfig(V, context_length=0), "TransformerConfig: context_length=0, expected at least 1"),
        (
            lambda: TransformerConfig(V, 10, attention=AttentionConfig(3)),
            "TransformerConfig: d_model=10 is not divisible by n_heads=3",
        ),
        (
            lambda: TransformerConfig(V, 9, attention=AttentionConfig(3)),
            "TransformerConfig: d_model=9, but sinusoidal positions need an even one",
        ),
        (
            lambda: TransformerConfig(V, 9, attention=AttentionConfig(3), positions=PositionConfig("rotary")),
            "TransformerConfig: d_head=3, but rotary positions need an even one",
        ),
        (
            lambda: TransformerConfig(V, positions=PositionConfig("learned")),
            "TransformerConfig: positions are learned, but context_length is None: it says how many",
        ),
        (
            lambda: TransformerConfig(V, dropout=1.0),
            "TransformerConfig: dropout=1.0, expected at least 0 and less than 1",
        ),
        (
            lambda: TransformerConfig(V, dropout=-0.1),
            "TransformerConfig: dropout=-0.1, expected at least 0 and less than 1",
        ),
        (lambda: TransformerConfig(V, pad_id=V), "TransformerConfig: pad_id=11 is outside the vocabulary of 11"),
        (lambda: TransformerConfig(V, pad_id=-1), "TransformerConfig: pad_id=-1, expected at least 0"),
        (
            lambda: TransformerConfig(V, source_vocab_size=5, pad_id=7),
            "TransformerConfig: pad_id=7 is outside the vocabulary of 5",
        ),
        (lambda: gpt2("gpt4"), "gpt2: size='gpt4', expected one of gpt2, gpt2-medium, "),
        (lambda: bert("tiny"), "bert: size='tiny', expected one of base, large"),
        (lambda: t5("11b"), "t5: size='11b', expected one of small, base"),
        (lambda: llama("70b"), "llama: size='70b', expected one of 7b, 8b"),
        (lambda: transformer_2017(size="small"), "transformer_2017: size='small', expected one of base, big"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
