"""Whatever a learner passes to a configuration, the error names it."""

import pytest

from parity import B, S, T, V, tokens
from toy_models import model
from tx_helpers.lessons.limits_of_recurrence.recurrent import RecurrentTranslator
from tx_helpers.nn.config import (
    AttentionConfig,
    EmbeddingConfig,
    FeedForwardConfig,
    InitConfig,
    NormConfig,
    PositionConfig,
    TransformerConfig,
)
from tx_helpers.nn.models import DecoderOnly, EncoderDecoder, EncoderOnly
from tx_helpers.zoo.parts.inputs import NormedInput, TokenShift
from tx_helpers.zoo.parts.outputs import CappedOutput, ScaledOutput, TransformedOutput
from tx_helpers.zoo.parts.softmaxes import CappedScores
from tx_helpers.zoo.parts.yarn import WavelengthStretch
from tx_helpers.zoo.presets import bert, gpt2, llama, t5, transformer_2017
from wrong_arguments import faults


@pytest.mark.parametrize(
    ("call", "arguments"),
    [
        (AttentionConfig, dict(n_heads=6, n_kv_heads=3, d_head=4, scale=0.5, window=3)),
        (FeedForwardConfig, dict(d_ff=7, activation="gelu")),
        (PositionConfig, dict(kind="rotary", base=100.0, layout="half", interpolation=2.0, buckets=8, max_distance=32)),
        (PositionConfig, dict(kind="rotary", stretch=WavelengthStretch(8.0, 1.0, 4.0, 16))),
        (NormConfig, dict(kind="rms", eps=1e-5)),
        (EmbeddingConfig, dict(input=TokenShift(1), output=ScaledOutput(0.5))),
        (TokenShift, dict(n=2)),
        (NormedInput, dict(segments=2)),
        (ScaledOutput, dict(factor=0.5)),
        (CappedOutput, dict(cap=0.5)),
        (TransformedOutput, dict(activation="gelu")),
        (CappedScores, dict(cap=0.5)),
        (InitConfig, dict(kind="normal", std=0.02, residual="zero")),
        (
            TransformerConfig,
            dict(
                vocab_size=11,
                d_model=12,
                n_layers=2,
                n_encoder_layers=3,
                source_vocab_size=9,
                context_length=8,
                pad_id=1,
                dropout=0.1,
                wiring="post_norm",
                attention=AttentionConfig(),
                norm=NormConfig(),
            ),
        ),
        *(
            (preset, dict(size=size))
            for preset, size in zip(
                (bert, gpt2, llama, t5, transformer_2017), ("base", "gpt2", "7b", "small", "big"), strict=True
            )
        ),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_every_wrong_argument_of_a_configuration_is_named(call, arguments):
    assert faults(call, arguments) == []


source, target = tokens(B, S), tokens(B, T, seed=1)


@pytest.mark.parametrize(
    ("call", "arguments"),
    [
        (model(EncoderOnly), dict(ids=target)),
        (model(DecoderOnly), dict(ids=target)),
        (model(EncoderDecoder), dict(source=source, target=target)),
        (model(DecoderOnly).start(B).step, dict(ids=target)),
        (RecurrentTranslator(V, V, 4, pad_id=0), dict(source=source, target=target)),
        (RecurrentTranslator(V, V, 4, attention=True), dict(source=source, target=target)),
        (RecurrentTranslator, dict(source_vocab_size=V, vocab_size=V, hidden_size=4, kind="lstm", pad_id=0)),
    ],
    ids=lambda value: getattr(value, "__name__", type(value).__name__),
)
def test_every_wrong_argument_of_a_model_is_named(call, arguments):
    assert faults(call, arguments) == []
