import math
import re
from collections import Counter
from itertools import islice

import pytest

from grammar_draws import derivations
from tx_helpers.text.grammar import Grammar

PETS = {
    "rules": {
        "story": {"{who.name} {did}": 3, "A {colour} {thing} and {who.name}.": 1},
        "did": ["ran.", "saw {who.them}, {what}!", "ate {count.two} of {count.five}, {who.they} {slept}."],
        "what": {"a {thing}": 2, "no {thing}": 5, "{colour} sky": 1},
        "thing": ["cat", "dog", "hen"],
        "colour": ["red", "blue"],
        "slept": {"slept": 1, "sat": 2, "sang to a {thing}": 1},
    },
    "cast": {
        "who": [
            {"name": "Mia", "they": "she", "them": "her"},
            {"name": "Ada", "they": "she", "them": "her"},
            {"name": "Max", "they": "he", "them": "him"},
        ],
    },
}
NUMBERS = [{"two": a, "five": b} for a, b in [("two", "five"), ("two", "six"), ("one", "five")]]
COUNTED = {"story": ["{n.two} of {n.five}{end}"], "end": {" left.": 1, " gone.": 3}}


SMALL = {
    "pets": (
        {**PETS["rules"], "did": [*PETS["rules"]["did"][:2], "sat, {who.they} {slept}."]},
        PETS["cast"],
    ),
    "numbers": (COUNTED, {"n": NUMBERS}),
    "no cast": ({"story": ["{a}{a}", "x"], "a": {"yes ": 1, "no ": 2}}, {}),
    "one text": ({"story": ["always this"]}, {}),
}


@pytest.mark.parametrize("name", SMALL)
def test_entropy_and_length_are_those_of_all_draws_written_down(name):
    rules, cast = SMALL[name]
    grammar, draws = Grammar(rules, cast), derivations(rules, cast)
    texts = [text for text, _ in draws]
    assert len(set(texts)) == len(texts)  # unambiguous
    assert not any(b.startswith(a) for a in texts for b in texts if a != b)  # prefix-free
    assert math.fsum(p for _, p in draws) == pytest.approx(1, rel=1e-12)
    entropy = -math.fsum(p * math.log(p) for _, p in draws)
    assert grammar.entropy() == pytest.approx(entropy, rel=1e-12, abs=1e-12)
    assert grammar.entropy(base=2) == pytest.approx(entropy / math.log(2), rel=1e-12, abs=1e-12)
    assert grammar.mean_length() == pytest.approx(math.fsum(p * len(text) for text, p in draws), rel=1e-12)


@pytest.mark.parametrize("name", SMALL)
def test_every_draw_is_read_with_its_probability(name):
    rules, cast = SMALL[name]
    grammar = Grammar(rules, cast)
    for text, p in derivations(rules, cast):
        assert grammar.log_probability(text) == pytest.approx(math.log(p), rel=1e-12, abs=1e-12)
        assert grammar.read(text + "more") == (len(text), grammar.log_probability(text))
        assert grammar.log_probability(text + "more") == -math.inf
        assert grammar.log_probability(text[:-1]) == -math.inf


def test_texts_are_drawn_with_their_probabilities():
    rules, cast = SMALL["pets"]
    n = 20_000
    counts = Counter(Grammar(rules, cast).texts(n, seed=1))
    draws = derivations(rules, cast)
    assert set(counts) <= {text for text, _ in draws}
    chi_square = sum((counts[text] - n * p) ** 2 / (n * p) for text, p in draws)
    freedom = len(draws) - 1
    assert abs(chi_square - freedom) < 4 * (2 * freedom) ** 0.5


def test_the_same_seed_draws_the_same_texts():
    grammar = Grammar(*SMALL["pets"])
    assert list(grammar.texts(30, seed=1)) == list(grammar.texts(30, seed=1)) != list(grammar.texts(30, seed=2))
    assert list(islice(grammar.texts(100, seed=1), 30)) == list(grammar.texts(30, seed=1))


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("Mia saw her, no cat!", None),
        ("Mia saw him, no cat!", len("Mia saw ")),  # the wrong pronoun
        ("Mia saw her, no cow!", len("Mia saw her, no ")),  # a word that the grammar lacks
        ("Max sat, he sang to a hen", len("Max sat, he sang to a hen")),  # unfinished
        ("Tom ran.", 0),
        ("", 0),
    ],
)
def test_reading_stops_where_the_text_goes_wrong(text, end):
    grammar = Grammar(*SMALL["pets"])
    stopped, log_p = grammar.read(text)
    if end is None:
        assert stopped == len(text)
        assert math.isfinite(log_p)
    else:
        assert (stopped, log_p) == (end, -math.inf)


def test_two_fields_may_tell_together_which_record_it_was():
    grammar = Grammar(COUNTED, {"n": NUMBERS})
    assert grammar.log_probability("one of five gone.") == pytest.approx(math.log(1 / 3 * 3 / 4))
    assert grammar.read("one of six gone.") == (len("one of "), -math.inf)


@pytest.mark.parametrize(
    ("rules", "cast", "complaint"),
    [
        ({"story": ["a {b}"]}, {}, "rule 'b' is missing"),
        ({"a": ["x"]}, {}, "rule 'story' is missing"),
        ({"story": ["a {n.one}"]}, {"n": [{"two": "2"}]}, "rule 'n.one' is missing"),
        ({"story": ["a {b}"], "b": ["b {story}"]}, {}, "rule 'story' leads back to itself, expected no circle"),
        ({"story": []}, {}, "rule 'story' needs alternatives"),
        ({"story": ["a", "a"]}, {}, "rule 'story' needs alternatives, all different"),
        ({"story": {"a": 1, "b": 0}}, {}, "rule 'story' needs alternatives, all different, of positive weight"),
        ({"story": ["cat", "cats"]}, {}, "in 'story', 'cat' and 'cats' begin alike"),
        ({"story": ["{b}s", "dog"], "b": ["cat", "cats"]}, {}, "in 'b', 'cat' and 'cats' begin alike"),
        ({"story": ["{b} x", "cat y"], "b": ["cat", "dog"]}, {}, "in 'story', 'cat' and 'cat y' begin alike"),
        ({"story": ["{b}x", "y"], "b": [""]}, {}, "in 'story', '' and 'y' begin alike"),
        ({"story": ["{n.one} x", "1 y"]}, {"n": [{"one": "1"}]}, "in 'story', '1' and '1 y' begin alike"),
        ({"story": ["{n.one}"]}, {"n": [{"one": "1"}, {"one": "10"}]}, "in 'n.one', '1' and '10' begin alike"),
        (
            {"story": ["{n.one}"]},
            {"n": [{"one": "1"}, {"one": "1"}]},
            "every text must tell which record of 'n' was drawn, but tells only",
        ),
        (
            {"story": ["{n.one}", "x"]},
            {"n": [{"one": "1"}, {"one": "2"}]},
            "every text must tell which record of 'n' was drawn, but tells only",
        ),
        ({"story": ["x"]}, {"n": []}, "'n' needs records"),
        ({"story": ["x"]}, {"n": [{"one": "1"}, {"two": "2"}]}, "'n' needs records, all with the same fields"),
    ],
)
def test_a_grammar_whose_entropy_would_be_wrong_is_refused(rules, cast, complaint):
    with pytest.raises(ValueError, match=re.escape("Grammar: ")) as caught:
        Grammar(rules, cast)
    assert complaint in str(caught.value)


def test_why_it_is_refused_an_ambiguous_grammar_has_less_entropy_than_choices():
    rules = {"story": ["{a}{b}"], "a": ["c", "ca"], "b": ["at", "t"]}
    draws = derivations(rules, {})
    merged = Counter()
    for text, p in draws:
        merged[text] += p
    assert len(merged) < len(draws)
    entropy = -sum(p * math.log(p) for p in merged.values())
    assert entropy < 2 * math.log(2) - 0.3


@pytest.mark.parametrize("name", SMALL)
def test_the_slip_is_the_first_character_that_no_text_has_there(name):
    rules, cast = SMALL[name]
    grammar, full = Grammar(rules, cast), [text for text, _ in derivations(rules, cast)]
    beginnings = {text[:end] for text in full for end in range(len(text) + 1)}
    for text in full[:: max(1, len(full) // 40)]:
        for end in range(len(text) + 1):
            for tried in (text[:end], text[:end] + "z", text[:end] + "a" + text[end:]):
                first = next((at for at in range(len(tried)) if tried[: at + 1] not in beginnings), None)
                assert grammar.slip(tried) == first, tried


def test_a_story_slips_where_it_forgets_its_cast_and_where_it_ends():
    grammar = Grammar(*SMALL["pets"])
    assert grammar.slip("Mia saw her, a red sky!") == 15  # after "a " comes a thing
    assert grammar.slip("Max sat, she slept.") == 9 and grammar.slip("Max sat, he s") is None
    assert grammar.slip("Max sat, he slept.") is None and grammar.slip("Max sat, he slept. Then") == 18
