"""The rivals: probabilities that add up, losses against a count by hand, and floors that hold."""

import math
from collections import Counter

import pytest

from tx_helpers.lessons.your_own_model.rivals import Ngram, known_floor, nearest, pair_rivals
from tx_helpers.lessons.your_own_model.sets import chat_pairs, story_text, time_split

TEXT, HELD = story_text(60_000), story_text(6_000, seed=1)


@pytest.mark.parametrize("order", [1, 2, 4])
def test_probabilities_add_up_to_one(order):
    model = Ngram(order).fit(TEXT[:5_000])
    for context in ("", "the ", "q~q", "zzz"):
        known = sum(model.p(one, context) for one in model.characters)
        assert known + model.p("\ufffd", context) == pytest.approx(1)


def test_a_bigram_by_hand():
    model = Ngram(2).fit("abab")
    a = (2 + 2 / 3) / 6  # two of four, and two kinds that share with the uniform one of three
    assert model.p("a", "") == pytest.approx(a)
    assert model.p("a", "b") == pytest.approx((1 + a) / 2)  # behind b: a once, one kind
    assert model.loss("ba") == pytest.approx(-(math.log(model.p("b", "")) + math.log(model.p("a", "b"))) / 2)


def test_order_one_is_the_count_of_characters():
    counts = Counter(TEXT)
    entropy = -sum(n / len(TEXT) * math.log(n / len(TEXT)) for n in counts.values())
    assert Ngram(1).fit(TEXT).loss(TEXT) == pytest.approx(entropy, abs=1e-3)


def test_longer_contexts_help_and_none_goes_below_the_floor():
    losses = [Ngram(order).fit(TEXT).loss(HELD) for order in (1, 3, 5)]
    assert math.log(len({*TEXT}) + 1) > losses[0] > losses[1] > losses[2] > known_floor() > 0.2


def test_it_writes_from_a_seed():
    model = Ngram(4).fit(TEXT)
    written = model.write("The ", 80, seed=2)
    assert len(written) == 80 and written == model.write("The ", 80, seed=2) != model.write("The ", 80, seed=3)
    assert {*written} <= model.characters


def test_what_it_cannot_do_is_said():
    with pytest.raises(ValueError, match="call fit first"):
        Ngram(3).loss("a")
    with pytest.raises(ValueError, match="empty"):
        Ngram(3).fit("ab").loss("")


def test_rivals_of_pairs():
    train = [("one", "1"), ("two", "2"), ("two!", "2"), ("x", "x")]
    found = pair_rivals(train, [("two?", "2"), ("y", "y"), ("oone", "1"), ("xx", "7")])
    assert found == {"most frequent": 0.25, "copying": 0.25, "nearest": 0.5}
    assert nearest(["three", "a tree"], [("free", "a"), ("tree", "b"), ("three", "c")]) == ["c", "b"]


def test_rivals_of_the_sets():
    train, held_out = time_split()
    assert pair_rivals(train, held_out[:20]) == {"most frequent": 0.0, "copying": 0.0, "nearest": 0.0}
    chats = pair_rivals(chat_pairs(300), chat_pairs(20, split="test"))
    assert chats["copying"] == 0 < chats["nearest"]
