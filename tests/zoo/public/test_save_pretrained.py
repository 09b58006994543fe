"""Our own models written in the format of transformers. That the library gives the same logits is in tests/parity."""

import json
from dataclasses import replace

import pytest
import torch

from tx_helpers.nn.config import (
    AttentionConfig,
    EmbeddingConfig,
    FeedForwardConfig,
    NormConfig,
    PositionConfig,
    TransformerConfig,
)
from tx_helpers.nn.models import DecoderOnly, EncoderDecoder, EncoderOnly
from tx_helpers.zoo.parts.experts import ExpertsConfig
from tx_helpers.zoo.parts.inputs import NormedInput
from tx_helpers.zoo.parts.outputs import ScaledOutput
from tx_helpers.zoo.parts.yarn import WavelengthStretch, Yarn
from tx_helpers.zoo.public.families import FAMILIES
from tx_helpers.zoo.public.load import load_pretrained
from tx_helpers.zoo.public.save import save_pretrained

LEARNED = TransformerConfig(
    11,
    12,
    context_length=7,
    attention=AttentionConfig(3),
    feed_forward=FeedForwardConfig(20, "gelu_tanh"),
    positions=PositionConfig("learned"),
    embedding=EmbeddingConfig(scale=False),
)
ROTARY = replace(
    LEARNED,
    attention=AttentionConfig(3, n_kv_heads=1, bias=False),
    feed_forward=FeedForwardConfig(20, "silu", gated=True, bias=False),
    positions=PositionConfig("rotary", base=500.0),
    norm=NormConfig("rms"),
)


def mixture(experts: ExpertsConfig, **attention) -> TransformerConfig:
    feed_forward = replace(ROTARY.feed_forward, experts=experts)
    return replace(ROTARY, attention=AttentionConfig(3, bias=False, **attention), feed_forward=feed_forward)


BERT = replace(LEARNED, wiring="post_norm", embedding=EmbeddingConfig(scale=False, input=NormedInput(segments=2)))
BART = replace(LEARNED, wiring="post_norm", pad_id=1, embedding=EmbeddingConfig(input=NormedInput()))


@pytest.mark.parametrize(
    ("kind", "config", "family"),
    [
        (DecoderOnly, LEARNED, "gpt2"),
        (DecoderOnly, ROTARY, "llama"),
        (DecoderOnly, replace(ROTARY, attention=AttentionConfig(3, bias=False, window=4)), "mistral"),
        (DecoderOnly, replace(ROTARY, attention=AttentionConfig(3, output_bias=False)), "qwen2"),
        (DecoderOnly, replace(ROTARY, attention=AttentionConfig(3, bias=False, qk_norm=True)), "qwen3"),
        (
            DecoderOnly,
            replace(ROTARY, norm=NormConfig("rms_plus_one"), embedding=EmbeddingConfig()),
            "gemma",
        ),
        (
            DecoderOnly,
            replace(ROTARY, norm=NormConfig(), positions=PositionConfig("rotary", d_rotary=2)),
            "stablelm",
        ),
        (DecoderOnly, mixture(ExpertsConfig(5, 2, capacity_factor=1.25)), "mixtral"),  # evaluation knows no capacity
        (DecoderOnly, mixture(ExpertsConfig(4, 3, normalised=False), qk_norm=True), "qwen3_moe"),
        (DecoderOnly, replace(ROTARY, positions=PositionConfig("rotary", interpolation=3.0)), "llama"),
        (
            DecoderOnly,
            replace(ROTARY, positions=PositionConfig("rotary", stretch=WavelengthStretch(8.0, 1.0, 4.0, 32))),
            "llama",
        ),
        (DecoderOnly, replace(ROTARY, positions=PositionConfig("rotary", stretch=Yarn(4.0, 32, fast=9.0))), "llama"),
        (EncoderOnly, BERT, "bert"),
        (
            EncoderOnly,
            replace(BERT, embedding=EmbeddingConfig(scale=False, input=NormedInput()), norm=NormConfig(eps=1e-12)),
            "distilbert",
        ),
        (EncoderDecoder, BART, "bart"),
        (
            EncoderDecoder,
            replace(BART, positions=PositionConfig("sinusoidal_halves"), embedding=EmbeddingConfig()),
            "marian",
        ),
        (
            EncoderDecoder,
            replace(
                LEARNED,
                context_length=None,
                attention=AttentionConfig(3, bias=False, scale=1.0),
                feed_forward=FeedForwardConfig(20, bias=False),
                positions=PositionConfig("t5"),
                norm=NormConfig("rms"),
                embedding=EmbeddingConfig(scale=False, output=ScaledOutput(12**-0.5)),
            ),
            "t5",
        ),
    ],
)
def test_a_model_of_ours_gets_a_family_and_comes_back_the_same(tmp_path, kind, config, family):
    model = kind(config)
    save_pretrained(model, tmp_path / "saved")
    assert sorted(path.name for path in (tmp_path / "saved").iterdir()) == ["config.json", "model.safetensors"]
    loaded = load_pretrained(tmp_path / "saved")
    assert loaded.family == family
    ours, back = model.state_dict(), loaded.model.state_dict()
    assert ours.keys() == back.keys()
    assert all(torch.equal(ours[name], back[name]) for name in ours)


def changed(**changes) -> TransformerConfig:
    return replace(LEARNED, **changes)


@pytest.mark.parametrize(
    ("model", "family", "message"),
    [
        (DecoderOnly(changed(positions=PositionConfig("alibi"))), "gpt2", "positions.kind='alibi' in the model, but"),
        (DecoderOnly(changed(embedding=EmbeddingConfig(scale=True))), "gpt2", "embedding.scale=True in the model, but"),
        (DecoderOnly(changed(wiring="post_norm")), "gpt2", "wiring='post_norm' in the model, but the family has"),
        (
            DecoderOnly(replace(ROTARY, positions=PositionConfig("rotary", layout="interleaved"))),
            "llama",
            "layout='int",
        ),
        (DecoderOnly(ROTARY), "mixtral", "feed_forward.experts=None in the model, but the family has experts"),
        (DecoderOnly(mixture(ExpertsConfig(4, 2, scale=2.0))), None, r"mixtral: feed_forward.experts=.*scale=2.0"),
        (DecoderOnly(LEARNED), "bert", "the model is a DecoderOnly, but bert is for EncoderOnly"),
        (DecoderOnly(LEARNED), "gpt3", "family='gpt3', expected one of gpt2, llama"),
        (DecoderOnly(changed(positions=PositionConfig("alibi"))), None, "gpt2: .*; llama: .*; mistral: .*; qwen3: "),
        (
            EncoderDecoder(TransformerConfig(11, 12, attention=AttentionConfig(3))),
            None,
            "t5: .*; bart: .*; marian: wiring=.pre_norm. in the model, but",
        ),
        (torch.nn.Linear(2, 3), None, "model is a Linear, expected a TransformerModel"),
    ],
)
def test_a_model_that_no_family_has_is_refused_and_nothing_is_written(tmp_path, model, family, message):
    with pytest.raises(ValueError, match=message):
        save_pretrained(model, tmp_path / "saved", family=family)
    assert list(tmp_path.iterdir()) == []


def test_a_disk_that_fills_leaves_the_old_checkpoint(tmp_path, monkeypatch):
    save_pretrained(DecoderOnly(LEARNED), tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    monkeypatch.setattr("tx_helpers.zoo.public.save.give", lambda parts: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        save_pretrained(DecoderOnly(LEARNED), tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_ids_and_tokenizer_are_written(tmp_path):
    from tokenizers import Tokenizer, models

    words = Tokenizer(models.WordLevel({"a": 0, "b": 1}, unk_token="a"))
    save_pretrained(
        EncoderDecoder(BART), tmp_path, tokenizer=words, ids={"eos_token_id": 3, "decoder_start_token_id": 4}
    )
    loaded = load_pretrained(tmp_path)
    assert loaded.ids == {"eos_token_id": 3, "pad_token_id": 1, "decoder_start_token_id": 4}
    assert loaded.tokenizer.encode("b").ids == [1]


def test_every_family_can_be_written():
    """The table of families is the list of what the parity tests must have."""
    from public_models import CASES

    names = {case.config.model_type for case in CASES.values()}
    assert names == set(FAMILIES)


def test_config_json_says_what_precision_it_is(tmp_path):
    save_pretrained(DecoderOnly(LEARNED).bfloat16(), tmp_path)
    assert json.loads((tmp_path / "config.json").read_text())["dtype"] == "bfloat16"
    assert load_pretrained(tmp_path).model.output.weight.dtype == torch.bfloat16
