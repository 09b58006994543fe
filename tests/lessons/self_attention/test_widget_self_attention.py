"""The lesson's explorers: their numbers against formulas, their drawings against the numbers."""

import math

import numpy as np
import pytest
import torch

from tx_helpers.lessons.self_attention.self_attention import (
    Attended,
    attend,
    describe_words,
    draw_words,
    place,
    sentence_explorer,
    words_explorer,
)
from tx_helpers.nn.capture import capture
from tx_helpers.nn.models import EncoderDecoder
from tx_helpers.text.data import word_pairs
from tx_helpers.zoo.recipes import Translator, translator_config

Q = torch.tensor([[-1.0, 1, 0, 1], [1, 0, -1, 1], [-1, 0, 1, 1]])
K = torch.tensor([[2.0, 0, 0, 2], [0, 2, 0, 2], [0, 0, 2, 2]])
V = torch.tensor([[4.0, 0], [0, 4], [4, 4]])
TABLE = {"apple": (2.0, 2.0), "pear": (3.0, 0.5), "phone": (0.5, 3.0), "<b>&": (0.1, 0.1)}
AXES = ("fruit", "technology")


def by_formula(q, k, v, factor):
    scores = np.exp(np.asarray(q, float) @ np.asarray(k, float).T * factor)
    weights = scores / scores.sum(-1, keepdims=True)
    return weights, weights @ np.asarray(v, float)


# ------------------------------------------------------------------------------------------------------------- compute


@pytest.mark.parametrize(
    ("temperature", "scaled", "factor"), [(1.0, True, 0.5), (1.0, False, 1.0), (0.5, True, 1.0), (4.0, False, 0.25)]
)
def test_attention_is_the_formula_at_every_temperature(temperature, scaled, factor):
    found = attend(Q, K, V, temperature=temperature, scaled=scaled)
    weights, outputs = by_formula(Q, K, V, factor)
    np.testing.assert_allclose(found.weights, weights, atol=1e-12)
    np.testing.assert_allclose(found.outputs, outputs, atol=1e-12)


def test_a_temperature_of_zero_is_refused():
    with pytest.raises(ValueError, match=r"^attend: temperature=0, expected more than 0$"):
        attend(Q, K, V, temperature=0)


def test_evenness_is_the_entropy_in_parts_of_the_largest():
    even = np.full((2, 5), 0.2)
    assert Attended(even, even).evenness == pytest.approx(1)
    assert Attended(np.eye(4), np.eye(4)).evenness == pytest.approx(0)
    mixed = np.array([[0.5, 0.5, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]])
    assert Attended(mixed, mixed).evenness == pytest.approx(math.log(2) / 2 / math.log(4))


def test_words_are_found_in_the_table_or_named():
    tokens, x = place(TABLE, "  Apple PEAR apple ")
    assert tokens == ["apple", "pear", "apple"] and x.tolist() == [[2.0, 2.0], [3.0, 0.5], [2.0, 2.0]]
    with pytest.raises(ValueError, match=r"^'plum' is none of the known words: apple, pear, phone, <b>&$"):
        place(TABLE, "apple plum")
    with pytest.raises(ValueError, match=r"^0 words, expected 1 to 12$"):
        place(TABLE, " ")
    with pytest.raises(ValueError, match=r"^13 words"):
        place(TABLE, "apple " * 13)


# ---------------------------------------------------------------------------------------------------------------- draw


@pytest.mark.parametrize(
    ("sentence", "side"),
    [
        ("apple pear", "towards fruit"),
        ("apple phone", "towards technology"),
        ("pear apple phone", "towards neither side"),
    ],
)
def test_the_company_decides_which_way_the_apple_goes(sentence, side):
    tokens, x = place(TABLE, sentence)
    found = attend(x, x, x, scaled=False)
    t = tokens.index("apple")
    _, outputs = by_formula(x, x, x, 1)
    alt = draw_words(tokens, x, found, axes=AXES, t=t, largest=3.0).alt
    assert f"to ({outputs[t][0]:.2f}, {outputs[t][1]:.2f}), {side}" in alt


def test_a_word_whose_both_numbers_fall_moves_towards_neither_side():
    tokens, x = place(TABLE, "apple pear")
    found = Attended(np.array([[0.9, 0.1], [0.5, 0.5]]), np.array([[1.9, 1.5], [2.0, 2.0]]))
    assert "to (1.90, 1.50), towards neither side" in describe_words(tokens, x, found, AXES, 0)


def test_a_word_alone_stays_and_has_no_arrow():
    explorer = words_explorer(TABLE, "apple pear", axes=AXES, followed="apple")
    assert explorer._view.value.count("<polygon") == 1  # the head of the arrow
    explorer.set(sentence="apple")
    assert explorer.summary == "'apple' in 'apple' stays at (2.00, 2.00). It looks most at 'apple' (1.00)."
    assert "<polygon" not in explorer._view.value


def test_the_arrow_lies_between_the_value_and_the_output(as_stored):
    tokens, x = place(TABLE, "apple pear phone")
    pictures = {
        name: draw_words(tokens, x, attend(x, x, x, temperature=temperature), axes=AXES, t=0, largest=3.0)
        for name, temperature in (("cold", 0.3), ("warm", 1.0), ("hot", 4.0))
    }
    as_stored(**pictures)


def test_a_word_is_text_in_the_picture():
    explorer = words_explorer(TABLE, "<b>& apple", axes=AXES, followed="plum")
    assert "'<b>&' in '<b>& apple' moves" in explorer.summary
    assert "&lt;b&gt;&amp;" in explorer._view.value and "<b>" not in explorer._view.value
    explorer.set(sentence="apple plum")
    assert explorer.error.startswith("'plum' is none of the known words")


# ---------------------------------------------------------------------------------------------------- the translator


@pytest.fixture(scope="module")
def translator():
    data = word_pairs([("four hundred twenty-one", "vier hundert ein und zwanzig"), ("one", "eins")])
    torch.manual_seed(0)
    return Translator(EncoderDecoder(translator_config(data)).eval(), data)


def test_a_sentence_shows_the_weights_the_model_used(translator):
    explorer = sentence_explorer(translator, "four hundred twenty-one")
    tokenizer = translator.data.source_tokenizer
    with capture(translator.model, "encoder.*") as seen, torch.no_grad():
        translator.model.encode(torch.tensor([tokenizer.encode("four hundred twenty-one")]))
    for block, head in ((0, 0), (1, 2)):
        explorer.set(block=block, head=head)
        weights = seen[f"encoder.blocks.{block}.self_attention.weights"][0, head]
        for row in weights:
            assert all(f">{weight:.2f}<" in explorer._view.value for weight in row)
        best = "; ".join(
            f"{a!r} at {tokenizer.split('four hundred twenty-one')[row.argmax()]!r} ({row.max():.2f})"
            for a, row in zip(["four", "hundred", "twenty", "one"], weights, strict=True)
        )
        assert best in explorer.summary and explorer.summary.startswith(f"Block {block + 1}, head {head + 1}, ")


def test_a_sentence_of_one_word_and_one_that_is_not_known(translator):
    explorer = sentence_explorer(translator, "one")
    assert "'one' at 'one' (1.00). Most at itself: 1 of 1 words. Evenness of the weights 0.00." in explorer.summary
    explorer.set(sentence=" 421 ")
    assert explorer.summary.count("'twenty'") >= 1 and "of 4 words" in explorer.summary
    explorer.set(sentence="eleven")
    assert "'eleven' is not among" in explorer.error
    explorer.set(sentence="one " * 13)
    assert explorer.error == "13 words, expected 1 to 12"
