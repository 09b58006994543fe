"""Wrong arguments of generation are named at the door."""

import pytest
import torch

from test_search import BOS, END, decoder, encoder_decoder
from tx_helpers.generation.sampling import filter_logits, pick, repetition_penalty, sampler
from tx_helpers.generation.search import beam_search, generate, stream
from wrong_arguments import faults

SETTINGS = {"temperature": 0.7, "top_k": 5, "top_p": 0.9, "min_p": 0.1}
SOURCE = torch.tensor([[5, 3, 9], [4, 6, 7]])


def test_filter_logits_and_sampler():
    assert faults(filter_logits, {"logits": torch.randn(2, 11)} | SETTINGS) == []
    assert faults(sampler, SETTINGS | {"generator": torch.Generator()}) == []


def test_pick():
    assert faults(pick, {"logits": torch.randn(11), "uniform": 0.5}) == []


def test_repetition_penalty():
    call = {"logits": torch.randn(2, 11), "ids": torch.tensor([[3, 4], [5, 5]]), "penalty": 1.2}
    assert faults(repetition_penalty, call) == []


@pytest.mark.parametrize("write", [generate, lambda *args, **options: list(stream(*args, **options))])
def test_generate_and_stream(write):
    options = {"max_new_tokens": 2, "end_id": END, "pad_id": 0, "generator": torch.Generator()} | SETTINGS
    options |= {"repetition": 1.2}

    def call(model, prompt, source=None, **options):
        return write(model, prompt, source=source, **options)

    assert faults(call, {"model": decoder("alibi"), "prompt": [3, 4]} | options) == []
    assert faults(call, {"model": decoder("alibi"), "prompt": torch.tensor([[3, 4]])} | options) == []
    model = encoder_decoder("alibi")
    assert faults(call, {"model": model, "prompt": BOS, "source": SOURCE} | options) == []


def test_beam_search():
    options = {"beams": 2, "length_penalty": 0.6, "max_new_tokens": 2, "end_id": END, "pad_id": 0, "watch": print}
    call = {"model": encoder_decoder("alibi"), "prompt": BOS, "source": SOURCE} | options
    assert faults(beam_search, call | {"watch": lambda step: None}) == []
