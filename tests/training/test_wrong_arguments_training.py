"""Wrong arguments of losses, optimizers, schedules, the loop and the recipes are named at the door."""

from functools import partial

import pytest
import torch

from test_loop import batches, toy
from tx_helpers.nn.models import DecoderOnly, EncoderDecoder
from tx_helpers.text.data import word_pairs
from tx_helpers.text.tokenizers import CharTokenizer
from tx_helpers.training.loop import fit
from tx_helpers.training.losses import language_model_loss, sequence_loss
from tx_helpers.training.optimizers import (
    Muon,
    adamw,
    constant,
    cosine,
    linear_warmup_decay,
    muon,
    warmup_inverse_sqrt,
)
from tx_helpers.zoo.recipes import Translator, Writer, train_translator, train_writer, translator_config, writer_config
from wrong_arguments import faults

MODEL = toy()
PAIRS = [("one two", "eins zwei"), ("two", "zwei")]
RATES = {"lr": 0.01, "betas": (0.9, 0.99), "weight_decay": 0.1}
CALLS = {
    "sequence_loss": (
        sequence_loss,
        {
            "logits": torch.randn(2, 5, 11),
            "targets": torch.ones(2, 5, dtype=torch.long),
            "pad_id": 0,
            "label_smoothing": 0.1,
        },
    ),
    "adamw": (adamw, {"model": MODEL, "eps": 1e-8} | RATES),
    "muon": (muon, {"model": MODEL, "momentum": 0.9, "adamw_lr": 0.01, "output_lr": 0.01} | RATES),
    "Muon": (partial(Muon, [torch.nn.Parameter(torch.ones(3, 5))]), {"lr": 0.1, "momentum": 0.9, "weight_decay": 0.1}),
    "constant": (constant, {"warmup": 3}),
    "linear_warmup_decay": (linear_warmup_decay, {"steps": 9, "warmup": 3}),
    "cosine": (cosine, {"steps": 9, "warmup": 3, "floor": 0.1}),
    "warmup_inverse_sqrt": (warmup_inverse_sqrt, {"d_model": 12, "warmup": 3}),
    "train_translator": (
        partial(train_translator, progress=False),
        {
            "pairs": PAIRS,
            "steps": 1,
            "seed": 0,
            "changes": {"dropout": 0.1},
            "prepare": lambda model: None,
            "loss": lambda model, batch: model(batch.source, batch.decoder_input).mean(),
            "evaluate": lambda translator: {},
        },
    ),
    "train_writer": (
        partial(train_writer, progress=False),
        {"text": "ab " * 40, "tokenizer": CharTokenizer.train("ab "), "steps": 1, "seed": 0},
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_wrong_arguments(name):
    call, arguments = CALLS[name]
    assert faults(call, arguments) == []


def test_fit():
    model = toy()
    call = {
        "model": model,
        "steps": 1,
        "loss": language_model_loss,
        "optimizer": adamw(model),
        "schedule": constant(),
        "clip": 1.0,
        "seed": 0,
        "evaluate": lambda model: {},
        "every": 1,
        "threads": 1,
    }
    assert faults(partial(fit, batches=batches, progress=False), call) == []
    assert faults(lambda batches: fit(**call, batches=batches, progress=False), {"batches": batches}) == []


def test_a_translator_and_a_writer():
    data = word_pairs(PAIRS)
    translator = Translator(EncoderDecoder(translator_config(data)), data)
    assert faults(translator.translate, {"text": "one two", "max_new_tokens": 2}) == []
    assert faults(translator.translate_all, {"texts": ["one two"], "max_new_tokens": 2}) == []
    assert faults(translator.exact_match, {"pairs": PAIRS, "max_new_tokens": 2}) == []
    tokenizer = CharTokenizer.train("ab ")
    writer = Writer(DecoderOnly(writer_config(len(tokenizer))), tokenizer)
    assert faults(writer.write, {"prompt": "ab", "characters": 2, "temperature": 0.5}) == []
    assert faults(writer.loss, {"text": "ab ab"}) == []
