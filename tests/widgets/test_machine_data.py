"""What the machine's page gets: the weights as bytes, the configuration, the vocabularies; and what is refused."""

import copy

import numpy as np
import pytest
import torch
from torch import nn

from parity import randomise
from toy_models import config
from tx_helpers.nn.config import AttentionConfig, EmbeddingConfig, TransformerConfig
from tx_helpers.nn.models import DecoderOnly, EncoderDecoder, EncoderOnly
from tx_helpers.plain import GPT, Transformer
from tx_helpers.text.data import word_pairs
from tx_helpers.text.subwords import BytePairTokenizer
from tx_helpers.text.tokenizers import CharTokenizer
from tx_helpers.widgets.machine import machine
from tx_helpers.widgets.machine_data import machine_data
from tx_helpers.zoo.recipes import Translator, Writer, translator_config
from tx_helpers.zoo.shipped import story_writer

DATA = word_pairs([("one", "eins"), ("twenty-one", "ein und zwanzig")])


def translator(**changes) -> Translator:
    return Translator(randomise(EncoderDecoder(translator_config(DATA, **changes))).eval(), DATA)


def unpacked(spec: dict, data: bytes) -> dict[str, torch.Tensor]:
    numbers = np.frombuffer(data, {"float32": "<f4", "float16": "<f2"}[spec["dtype"]]).astype("<f4")
    return {
        name: torch.from_numpy(numbers[one["offset"] :][: int(np.prod(one["shape"]))].reshape(one["shape"]))
        for name, one in spec["tensors"].items()
    }


def test_every_weight_is_there_by_its_name():
    model = translator().model
    spec, data = machine_data(translator())
    found = unpacked(spec, data)
    assert list(found) == list(model.state_dict())
    for name, value in model.state_dict().items():
        assert torch.equal(found[name], value), name


def test_shared_weights_are_sent_once():
    tied = len(machine_data(translator())[1])
    untied = len(machine_data(translator(embedding=EmbeddingConfig(tied=False)))[1])
    assert untied - tied == 4 * 64 * len(DATA.target_tokenizer)


def test_half_as_many_bytes_hold_the_rounded_weights():
    spec, data = machine_data(translator(), half=True)
    assert 2 * len(data) == len(machine_data(translator())[1]) and spec["dtype"] == "float16"
    for name, value in translator().model.state_dict().items():
        assert torch.equal(unpacked(spec, data)[name], value.half().float()), name


def test_both_vocabularies_of_a_translator():
    spec, _ = machine_data(translator())
    assert spec["kind"] == "encoder_decoder"
    assert spec["source"]["tokens"] == ["<pad>", "<bos>", "<eos>", "one", "twenty"]
    assert spec["target"]["tokens"] == ["<pad>", "<bos>", "<eos>", "ein", "eins", "und", "zwanzig"]
    assert (spec["target"]["bos"], spec["target"]["eos"], spec["source"]["specials"]) == (1, 2, 3)


def test_a_writer_has_characters_and_the_limit_of_its_context():
    spec, data = machine_data(story_writer(256), half=True)
    assert spec["kind"] == "decoder_only" and spec["source"] is None
    assert (spec["target"]["kind"], spec["target"]["limit"]) == ("characters", 256)
    state = story_writer(256).model.state_dict()
    assert all(torch.equal(unpacked(spec, data)[name], value) for name, value in state.items())  # kept in float16


def test_a_model_alone_reads_its_ids():
    view = machine(randomise(EncoderDecoder(config())).eval(), "3 4 10")
    assert view.spec["source"]["tokens"][2:5] == ["<2>", "3", "4"]
    assert repr(view).startswith("Machine 'machine': '3 4 10' becomes '")


@pytest.mark.parametrize("plain", [Transformer(9, 7, 12, 3, 20), GPT(9, 12, 3, 20, n_layers=3)])
def test_the_classes_of_notebook_08(plain):
    spec, data = machine_data(randomise(plain))
    assert (spec["config"]["n_heads"], spec["config"]["d_ff"], spec["config"]["pad_id"]) == (
        *(3, 20),
        0 if isinstance(plain, Transformer) else None,
    )
    assert all(torch.equal(unpacked(spec, data)[name], value) for name, value in plain.state_dict().items())


def test_nothing_changes_the_random_state_or_the_model():
    subject = translator()
    subject.model.train()
    before, weights = torch.random.get_rng_state(), copy.deepcopy(subject.model.state_dict())
    machine_data(subject)
    assert torch.equal(torch.random.get_rng_state(), before) and subject.model.training
    assert all(torch.equal(value, weights[name]) for name, value in subject.model.state_dict().items())


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float64])
def test_a_model_in_another_precision_is_sent_in_single_precision(dtype):
    subject = translator()
    subject.model.to(dtype)
    spec, data = machine_data(subject)
    for name, value in subject.model.state_dict().items():
        assert torch.equal(unpacked(spec, data)[name], value.float()), name


# ------------------------------------------------------------------------------------------------------ what is refused


def broken(change) -> Translator:
    subject = translator()
    change(subject.model)
    return subject


def no_norm(model: nn.Module) -> None:
    model.decoder.blocks[0].feed_forward_norm = nn.Identity()


def more_tensors(model: nn.Module) -> None:
    model.decoder.blocks[1].feed_forward.gate = nn.Linear(64, 256)


def other_activation(model: nn.Module) -> None:
    model.decoder.blocks[0].feed_forward.activation = torch.tanh


class Stranger(nn.Module):
    """A model with other parts."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 2)


@pytest.mark.parametrize(
    ("subject", "message"),
    [
        ("text", "machine: the model is 'text', expected a Translator, a Writer, an EncoderDecoder"),
        (Stranger(), "machine: a model of type Stranger .*no attribute 'decoder'.*, expected a Translator"),
        (EncoderOnly(config()), "machine: a model of type EncoderOnly .*, expected a Translator"),
        (broken(no_norm), r"2 tensors differ .*blocks.0.feed_forward_norm.bias: missing, expected \(64,\)"),
        (broken(more_tensors), r"2 tensors .*gate.bias: \(256,\), expected no such tensor"),
        (broken(other_activation), "the logits of this EncoderDecoder differ by .* from those of the course's"),
        (nn.Linear(3000, 2000), "machine: a model of 6,002,000 parameters, but a page computes with at most 5,000,000"),
        (
            Translator(DecoderOnly(config()), DATA),
            "machine: a Translator with a model without an encoder, expected one with an encoder",
        ),
        (
            Writer(DecoderOnly(TransformerConfig(4)), CharTokenizer("ab")),
            "machine: a vocabulary of 5 tokens, but the model has 4",
        ),
        (
            Writer(DecoderOnly(TransformerConfig(259)), BytePairTokenizer([])),
            "machine: a BytePairTokenizer, expected a WordTokenizer or a CharTokenizer",
        ),
    ],
)
def test_what_the_page_cannot_compute_is_refused(subject, message):
    with pytest.raises(ValueError, match=message):
        machine_data(subject)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("three", "machine: the text has 'three', which is not among the 2 words that the model knows"),
        ("", "machine: text is empty"),
        (" - ", "machine: a text of 0 words, expected 1 to 64"),
        ("one " * 65, "machine: a text of 65 words, expected 1 to 64"),
        ("x" * 10_000, f"machine: the text has '{'x' * 20}', which"),
        (7, "machine: text is 7, expected a text"),
    ],
)
def test_a_text_that_cannot_be_read_is_refused(text, message):
    with pytest.raises(ValueError, match=message):
        machine(translator(), text)


def test_without_a_text_it_finds_one():
    assert machine(translator()).state["text"] == "one twenty"
    assert machine(story_writer(64)).state["text"] == "Once upon a time"
    grouped = DecoderOnly(config(attention=AttentionConfig(3, n_kv_heads=1)))
    assert machine(grouped).state["text"] == "3 4 5 6"


def test_wrong_arguments_are_named():
    with pytest.raises(ValueError, match="name='My machine', expected small letters, digits and hyphens"):
        machine(translator(), name="My machine")
    with pytest.raises(ValueError, match="the text has 'nine', which is not among the 2 words"):
        machine(translator(), "nine")
