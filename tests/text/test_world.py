import hashlib
import math
import random
import re
import statistics
from itertools import islice, pairwise

import pytest

from grammar_draws import derivations
from tx_helpers.text import world as world_module
from tx_helpers.text.grammar import Grammar
from tx_helpers.text.world import World, little_world
from tx_helpers.text.world_tales import TALES

ALL = little_world()


@pytest.fixture(scope="module")
def texts():
    return list(ALL.texts(1000, seed=7))


# --- what is drawn


def test_texts_are_the_same_on_every_machine_and_more_begin_with_the_fewer():
    drawn = list(ALL.texts(50, seed=3))
    assert hashlib.sha256("\n".join(drawn).encode()).hexdigest()[:16] == "c699a4e7c00ba270"
    assert list(ALL.texts(20, seed=3)) == drawn[:20] == list(islice(World().texts(10**9, seed=3), 20))
    assert list(ALL.texts(20, seed=4)) != drawn[:20]


def test_no_global_random_state_is_touched(texts):
    before = random.getstate()
    ALL.changed(next(ALL.texts(1)))
    assert random.getstate() == before


def test_texts_are_words_of_the_vocabulary_with_right_articles(texts):
    vocabulary = set(ALL.vocabulary())
    assert 300 < len(vocabulary) < 500
    assert len(set(texts)) > 0.99 * len(texts)
    for text in texts:
        words = text.split()
        assert vocabulary >= set(words) and text == " ".join(words) == text.lower()
        for article, word in pairwise(words):
            assert article not in ("a", "an") or (article == "an") == (word[0] in "aeiou"), text


# --- how probable it is


@pytest.mark.parametrize("split", ["all", "train", "test"])
def test_a_sample_agrees_with_the_exact_entropy_and_length(split):
    world = little_world(split)
    sample = list(world.texts(1000, seed=11))
    surprise = [-world.log_probability(text) for text in sample]
    lengths = [len(text.split()) for text in sample]
    for values, exact in ((surprise, world.entropy()), (lengths, world.mean_length())):
        error = statistics.stdev(values) / len(values) ** 0.5
        assert error < exact / 60
        assert abs(statistics.fmean(values) - exact) < 4 * error
    assert world.entropy_per_token() == world.entropy() / (world.mean_length() + 1)
    assert world.entropy(base=2) == pytest.approx(world.entropy() / math.log(2))


@pytest.mark.slow
def test_the_probabilities_of_the_words_make_that_of_the_text(texts):
    for text in texts[:12]:
        words = [*text.split(), ""]
        log_p = 0
        for place, word in enumerate(words):
            following = ALL.next_words(" ".join(words[:place]))
            assert math.fsum(following.values()) == pytest.approx(1)
            assert list(following.values()) == sorted(following.values(), reverse=True)
            log_p += math.log(following[word])
        assert log_p == pytest.approx(ALL.log_probability(text), rel=1e-9)


def test_the_next_parts_are_those_of_all_draws():
    rules = {"story": ["{who.name} {did}"], "did": {"saw a {what}": 1, "saw no {what}": 3}, "what": ["cat", "big cat"]}
    cast = {"who": [{"name": "Mia"}, {"name": "Max"}]}
    grammar, draws = Grammar(rules, cast), derivations(rules, cast)
    for beginning in ("", "M", "Mia ", "Mia saw ", "Max saw no ", "Max saw no big cat", "Tom"):
        found = grammar.next_parts(beginning)
        expected = math.fsum(p for text, p in draws if text.startswith(beginning))
        assert math.fsum(found.values()) == pytest.approx(expected)
        for part, p in found.items():
            if part:
                expected = math.fsum(q for text, q in draws if text.startswith(beginning + part))
                assert p == pytest.approx(expected)
    assert grammar.next_parts("Max saw no cat") == {"": pytest.approx(1 / 2 * 3 / 4 / 2)}


@pytest.mark.slow
def test_the_words_that_fit_a_gap_are_those_of_all_words_tried(texts):
    for number, text in enumerate(texts[:3]):
        words = text.split()
        place = (7 * number) % len(words)
        tried = {w: ALL.log_probability(" ".join([*words[:place], w, *words[place + 1 :]])) for w in ALL.vocabulary()}
        expected = {word: math.exp(log_p) for word, log_p in tried.items() if math.isfinite(log_p)}
        found = ALL.gap_words(text, place)
        assert found == pytest.approx({word: p / sum(expected.values()) for word, p in expected.items()})


def test_a_gap_is_decided_by_what_comes_behind_it():
    text = "mia {} ada because she had broken the cup . then both went to the park ."
    assert set(ALL.gap_words(text.format("apologised to"), 1)) == {"apologised"}
    market = "at the market tom bought seven lemons . tom gave . that left tom with six ."
    assert ALL.log_probability(market) == -math.inf


@pytest.mark.parametrize(
    "text",
    [
        "",
        "mia",
        "mia lost a black ring in the park . ada helped him to look for it . nobody saw it again , and mia was sad .",
        "mia lost a black ring in the park . ada helped her to look for it . nobody saw it again , and mia was glad .",
        "mia lost a black ring in the park . mia helped her to look for it . nobody saw it again , and mia was sad .",
        "last friday mia saw a new film . everybody said that it was good . so did tom .",
        "last friday mia saw a new film . everybody said that it was good . so did mia . the end",
    ],
)
def test_what_the_world_does_not_tell_is_impossible(text):
    assert ALL.log_probability(text) == -math.inf
    with pytest.raises(ValueError, match=re.escape("World.truth: no text of the world goes on like this")):
        ALL.truth(text)


def test_a_wrong_word_is_named_where_it_stands():
    with pytest.raises(ValueError, match=r"goes on like this: 'him to look for it \.'"):
        ALL.truth("mia lost a black ring in the park . ada helped him to look for it .")


# --- what is held out


def test_the_splits_share_no_combination_and_nothing_is_left_out():
    for tale in ALL.tales:
        records = {s: [str(r) for r in little_world(s).tales[tale].grammar.cast["cast"]] for s in ("train", "test")}
        assert not set(records["train"]) & set(records["test"])
        whole = [str(record) for record in ALL.tales[tale].grammar.cast["cast"]]
        assert sorted(records["train"] + records["test"]) == sorted(whole)
        assert 0.1 < len(records["test"]) / len(whole) < 0.2
    assert little_world("train").vocabulary() == ALL.vocabulary()


@pytest.mark.parametrize(("split", "other"), [("train", "test"), ("test", "train")])
def test_a_text_belongs_to_one_split(split, other):
    for text in little_world(split).texts(200, seed=1):
        whole, own = ALL.log_probability(text), little_world(split).log_probability(text)
        assert math.isfinite(whole) and own > whole
        assert little_world(other).log_probability(text) == -math.inf


def test_both_splits_tell_of_every_thing_and_the_training_part_of_every_hero():
    for name, told in ALL.tales.items():
        *_, last = told.tale.together
        field = f"{last}_{'name' if last == 'friend' else 'one'}"
        heroes, things = ({record[f] for record in told.grammar.cast["cast"]} for f in ("hero_name", field))
        train, test = (little_world(split).tales[name].grammar.cast["cast"] for split in ("train", "test"))
        assert {record["hero_name"] for record in train} == heroes
        assert {record[field] for record in train} == things
        assert {record[field] for record in test} == things or name == "because"
        assert {record["hero_they"].strip() for record in test} == {"she", "he"}


# --- what is refused


def test_two_tales_that_could_tell_the_same_are_refused(monkeypatch):
    monkeypatch.setattr(world_module, "TALES", {"one": TALES["lost"], "other": TALES["lost"]})
    with pytest.raises(
        ValueError, match="World: a text of the tale 'one' could be one of 'other', expected tales that differ"
    ):
        World()


def test_a_word_that_stands_twice_in_a_list_is_refused(monkeypatch):
    monkeypatch.setitem(world_module.WORDS, "day", "monday tuesday monday")
    with pytest.raises(
        ValueError, match="World: in the rule 'day', 'monday' repeats what is there, expected entries that differ"
    ):
        World()


def test_wrong_arguments_are_named():
    with pytest.raises(ValueError, match=r"World: split='dev', expected one of all, train, test"):
        World("dev")
    with pytest.raises(ValueError, match=r"World\.log_probability: text is a list, expected a str"):
        ALL.log_probability(["mia"])
    with pytest.raises(ValueError, match=r"World\.gap_words: place=1, expected at least 0 and less than 1"):
        ALL.gap_words("mia", 1)
