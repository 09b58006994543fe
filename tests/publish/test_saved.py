"""A model as one file: what is saved is read back, the command makes its page, and no other file passes for one."""

import json

import pytest
import torch

from parity import randomise
from toy_models import POSITIONS, config
from tx_helpers.__main__ import main
from tx_helpers.nn.config import EmbeddingConfig, NormConfig
from tx_helpers.nn.models import DecoderOnly, EncoderDecoder
from tx_helpers.plain import GPT
from tx_helpers.publish import load_model, save_model
from tx_helpers.text.subwords import BytePairTokenizer
from tx_helpers.text.tokenizers import CharTokenizer, WordTokenizer
from tx_helpers.training.checkpoints import save_tensors
from tx_helpers.zoo.parts.inputs import TokenShift
from tx_helpers.zoo.parts.outputs import ScaledOutput
from tx_helpers.zoo.recipes import number_translator

LETTERS = CharTokenizer(["a", "b", "c", "d", "e", "\ud800", "g", "__proto__"])  # 11 tokens, as toy models have
IDS = torch.tensor([[3, 9, 4, 4, 7, 10, 5]])


@pytest.mark.parametrize("positions", POSITIONS)
@pytest.mark.parametrize("kind", [DecoderOnly, EncoderDecoder])
def test_what_is_saved_is_read_back(tmp_path, kind, positions):
    parts = EmbeddingConfig(tied=False, input=TokenShift(2), output=ScaledOutput(0.5))
    model = randomise(kind(config(positions, norm=NormConfig("rms"), embedding=parts)), std=0.3).eval()
    given = (LETTERS, LETTERS) if kind is EncoderDecoder else LETTERS
    save_model(tmp_path / "a", model, given, {"by": "me </script>\ud800"})
    read, tokenizer, card = load_model(tmp_path / "a")
    assert read.config == model.config and not read.training and card == {"by": "me </script>\ud800"}
    inputs = [IDS] * (1 + (kind is EncoderDecoder))
    assert torch.equal(read(*inputs), model(*inputs))
    first = tokenizer[0] if kind is EncoderDecoder else tokenizer
    assert type(first) is CharTokenizer and first.tokens == LETTERS.tokens


def test_a_learner_s_own_model_and_byte_pairs(tmp_path):
    pairs = BytePairTokenizer.train("the cat sat on the mat " * 3, vocab_size=263)
    model = randomise(GPT(len(pairs), 12, 3, 20)).eval()
    save_model(tmp_path / "a", model, pairs, context=32)
    read, tokenizer, card = load_model(tmp_path / "a")
    assert torch.allclose(read(IDS), model(IDS), atol=1e-5) and read.config.context_length == 32 and card == {}
    assert tokenizer.merges == pairs.merges


def test_the_command_makes_the_page(tmp_path, capsys):
    file, page = str(tmp_path / "a.safetensors"), tmp_path / "a.html"
    translator = number_translator(progress=False)
    save_model(file, translator, card={"Trained on": "number words"})
    assert main(["publish", file, str(page), "--title", "Numbers", "--weights", "int8"]) == 0
    assert capsys.readouterr().out.startswith("a.html: 240,320 parameters in int8, 0.")
    written = page.read_text("utf-8")
    assert "<h1>Numbers</h1>" in written and "<dd>number words</dd>" in written
    assert main(["publish", str(tmp_path / "none"), str(page)]) == 2
    assert "none: no such file; expected a file of tensors" in capsys.readouterr().err
    assert main(["publish", file, str(tmp_path / "no" / "a.html")]) == 2 and main(["publish", file]) == 2


def damaged(**changes: str) -> dict[str, str]:
    facts = {
        "what": "tx_helpers model",
        "kind": "DecoderOnly",
        "config": json.dumps({"vocab_size": 5, "d_model": 8, "n_layers": 1, "attention": {"n_heads": 2}}),
        "tokenizers": json.dumps([WordTokenizer(["a", "b"]).as_json()]),
        "card": "{}",
    }
    return facts | changes


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"what": "other"}, "has weights alone, expected a file that save_model wrote"),
        ({"kind": "Stranger", "config": '{"vocab_size": 5, "n_layers": 0}'}, "is damaged .KeyError: 'Stranger'"),
        ({"config": "{}"}, "is damaged .KeyError: 'n_layers'"),
        ({"config": "[" * 9000}, "is damaged .RecursionError"),
        ({"config": json.dumps({"vocab_size": 5, "n_layers": 10**9})}, "is damaged .ValueError: 0 tensors for"),
        ({"config": json.dumps({"vocab_size": 5, "n_layers": 0})}, "is damaged .ValueError: .*n_layers=0"),
        ({"config": json.dumps({"vocab_size": 5, "n_layers": 0, "wings": 2})}, "load_model: its config has no 'wings'"),
        ({}, "is damaged .ValueError: 0 tensors for 1 layers"),
    ],
)
def test_a_damaged_or_foreign_file_is_refused(tmp_path, changes, message):
    save_tensors(tmp_path / "a", {}, damaged(**changes))
    with pytest.raises(ValueError, match=message):
        load_model(tmp_path / "a")


def test_no_file_of_tensors_and_other_weights_are_refused(tmp_path):
    (tmp_path / "a").write_bytes(b"no tensors")
    with pytest.raises(ValueError, match="a: is damaged, or not in the format safetensors"):
        load_model(tmp_path / "a")
    save_tensors(tmp_path / "a", {name: torch.zeros(1) for name in "abc"}, damaged())
    with pytest.raises(ValueError, match=r"is damaged .ValueError: load_weights: 'decoder.*is \(.*missing"):
        load_model(tmp_path / "a")


def test_what_cannot_be_saved_is_refused_by_name(tmp_path):
    with pytest.raises(ValueError, match="save_model: wiring='sandwich', which the page does not compute"):
        save_model(tmp_path / "a", DecoderOnly(config(wiring="sandwich")), LETTERS)
    with pytest.raises(ValueError, match="save_model: tokenizer is None, expected a tokenizer"):
        save_model(tmp_path / "a", DecoderOnly(config()))
    with pytest.raises(ValueError, match="save_model: card: text is 3, expected a str"):
        save_model(tmp_path / "a", DecoderOnly(config()), LETTERS, {"size": 3})
