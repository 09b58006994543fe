"""The grammar of number words: all of them are in it, and nothing else; what is drawn of it."""

import random

import pytest

from tx_helpers.lessons.decoding.number_grammar import LAST, grammar_drawing, is_valid, number_grammar
from tx_helpers.text.data import EOS
from tx_helpers.text.number_words import MORPHEMES, german
from tx_helpers.text.tokenizers import WordTokenizer


@pytest.fixture(scope="module")
def words():
    return WordTokenizer.train([" ".join(MORPHEMES)])


@pytest.fixture(scope="module")
def grammar(words):
    return number_grammar(words)


@pytest.mark.slow
def test_each_number_word_is_valid(words, grammar):
    drawn = random.Random(0).sample(range(1_000_000), 500)
    for number in [0, 1, 11, 100, 101, 999, 1000, 1001, 101_000, 101_001, 999_999, *drawn]:
        assert is_valid(grammar, [*words.encode(german(number)), EOS]), number


@pytest.mark.parametrize(
    "text", ["", "ein", "und", "hundert", "vier und", "tausend", "ein tausend ein", "eins tausend"]
)
def test_a_text_that_is_no_number_word_is_not(words, grammar, text):
    assert not is_valid(grammar, [*words.encode(text), EOS])


def test_as_many_texts_as_numbers(grammar):
    """Ways from the first state to the last: one for each of the million numbers."""
    ways = {LAST: 1}

    def count(state):
        if state not in ways:
            ways[state] = sum(count(to) for to in grammar[state].values())
        return ways[state]

    assert count(0) == 1_000_000


def test_the_drawing_says_how_many_may_come(words, grammar):
    drawn = grammar_drawing(grammar, words, "vier hundert eins")
    assert drawn.alt == (
        "What the grammar allows at each step of 'vier hundert eins'; the number of words that may come is 29 before "
        "vier, 4 before hundert, 30 before eins, 2 before <eos>."
    )
