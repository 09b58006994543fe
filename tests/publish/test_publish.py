"""What `publish` writes: one small file that says what its weights lose, and refuses by name what it cannot compute."""

import re

import numpy as np
import pytest
import torch
from torch import nn

from parity import randomise
from toy_models import config
from tx_helpers.nn.config import AttentionConfig, PositionConfig, TransformerConfig
from tx_helpers.nn.models import DecoderOnly, EncoderDecoder
from tx_helpers.plain import GPT
from tx_helpers.publish import Chat, publish
from tx_helpers.publish.packing import in_whole_numbers, packed, unpacked
from tx_helpers.text.tokenizers import CharTokenizer, WordTokenizer
from tx_helpers.zoo.shipped import story_writer

LETTERS = CharTokenizer("abcdefgh")  # 11 tokens, as many as toy models have


class Other(CharTokenizer):
    """Not one of the four kinds."""


def writer(**changes) -> nn.Module:
    return randomise(DecoderOnly(config(vocab_size=11, **changes)), std=0.3).eval()


def test_the_file_is_little_larger_than_its_weights(tmp_path):
    model = randomise(DecoderOnly(TransformerConfig(90, 128, n_layers=5, attention=AttentionConfig(4)))).eval()
    letters = CharTokenizer([chr(300 + i) for i in range(87)])
    sizes = {
        weights: publish(model, letters, tmp_path / weights, weights=weights).bytes for weights in ("float16", "int8")
    }
    parameters = sum(p.numel() for p in model.parameters())
    assert parameters > 1e6 and sizes["float16"] <= 1.4 * 2 * parameters and sizes["int8"] <= 0.72 * 2 * parameters


def test_rounded_weights_say_what_they_lose(tmp_path):
    model, file = story_writer(64), tmp_path / "a.html"
    text = ["Once upon a time there was a little boat. It was red."]
    by = {weights: publish(model, None, file, weights=weights) for weights in ("float32", "int8")}
    assert by["float32"].loss is None and 0 < by["int8"].loss.logits < 1 and abs(by["int8"].loss.loss) < 0.05
    assert publish(model, None, file, weights="int8", texts=text).loss != by["int8"].loss
    said = r"a.html: 204,928 parameters in int8, 0.\d MB; rounding moves logits by at most 0.\d+, the loss by [+-]\S+"
    assert re.fullmatch(said, repr(by["int8"]))
    pairs = EncoderDecoder(config(vocab_size=11, source_vocab_size=11))
    assert publish(pairs, (LETTERS, LETTERS), file, texts=[("ab", "ba")]).loss.logits < 0.01


def test_whole_numbers_keep_each_row_to_half_a_step():
    numbers = np.random.default_rng(0).standard_normal(34).astype("<f4")
    numbers[12:16] = 0  # a row of zeros
    whole, rest, rounded = in_whole_numbers([(0, (4,)), (4, (6, 4)), (28, (6,))], numbers)
    assert (len(whole), len(rest)) == (24, 4 * (4 + 6 + 6))
    steps = np.abs(numbers[4:28]).reshape(6, 4).max(axis=1) / 127
    assert (np.abs(rounded - numbers)[4:28].reshape(6, 4) <= steps[:, None] * 0.501).all()
    assert (rounded[:4] == numbers[:4]).all() and (rounded[28:] == numbers[28:]).all()


@pytest.mark.parametrize("width", [1, 2, 4])
def test_weights_come_out_as_they_went_in(width):
    data = np.random.default_rng(0).standard_normal(999).astype("<f4").tobytes()
    assert unpacked(packed(data, width), width) == data


def test_nothing_changes_the_random_state_or_the_model(tmp_path):
    model = writer().train()
    before = torch.random.get_rng_state()
    publish(model, LETTERS, tmp_path / "a.html", weights="int8")
    assert torch.equal(torch.random.get_rng_state(), before) and model.training


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((writer(), Other("abcdefgh")), {}, "publish: a Other, expected a WordTokenizer, a CharTokenizer, a BytePair"),
        ((writer(), None), {}, "publish: tokenizer is None, expected a tokenizer of tx_helpers.text"),
        ((writer(), (LETTERS, LETTERS)), {}, "publish: tokenizer is .*, expected a tokenizer of"),
        ((EncoderDecoder(config()), LETTERS), {}, r"publish: tokenizer is .*, expected \(source's, target's\)"),
        ((writer(), CharTokenizer("ab")), {}, "publish: a vocabulary of 5 tokens, but the model has 11"),
        ((writer(wiring="sandwich"), LETTERS), {}, "publish: wiring='sandwich', which the page does not compute"),
        ((writer(attention=AttentionConfig(3, window=4)), LETTERS), {}, "publish: attention.window=4, which"),
        (
            (writer(positions=PositionConfig("sinusoidal_halves")), LETTERS),
            {},
            "publish: positions.kind='sinusoidal_halves', which the page does not compute",
        ),
        ((nn.Linear(2, 2), LETTERS), {}, "publish: a model of type Linear"),
        ((nn.Linear(6000, 6000), LETTERS), {}, "publish: a model of 36,006,000 parameters, but .* at most 30,000,000"),
        ((writer(), LETTERS), {"weights": "int4"}, "publish: weights='int4', expected"),
        ((writer(), LETTERS), {"card": {"by": 7}}, "publish: card: text is 7, expected a str"),
        ((writer(), LETTERS), {"title": None}, "publish: title is None, expected a str"),
        ((writer(), LETTERS), {"prompt": "xyz"}, "CharTokenizer.encode: 'x' is not among"),
        (
            (EncoderDecoder(config(vocab_size=11)), (LETTERS, LETTERS)),
            {"chat": Chat()},
            "publish: chat is for a decoder-only model",
        ),
        (
            (EncoderDecoder(config(vocab_size=11)), (LETTERS, LETTERS)),
            {"prompt": 17 * "a"},
            "publish: a prompt of 17 tokens, expected at most 16",
        ),
    ],
)
def test_what_cannot_be_published_is_refused_by_name(tmp_path, arguments, options, message):
    with pytest.raises(ValueError, match=message):
        publish(*arguments, tmp_path / "a.html", **options)
    assert not list(tmp_path.iterdir())


def test_the_page_asks_for_nothing_and_lets_one_script_run(tmp_path):
    model = GPT(5, 12, 3, 20)
    made = publish(model, WordTokenizer(["a", "b"]), tmp_path / "a.html", context=32)
    assert made.parameters == sum(p.numel() for p in model.parameters())  # what is tied counts once
    page = (tmp_path / "a.html").read_text("utf-8")
    assert re.findall(r"""\b(?:src|href)=|url\(""", page) == [] and page.count("<script>") == 1
    assert "default-src 'none'; script-src 'sha256-" in page and '"limit":32' in page
