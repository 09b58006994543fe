import hashlib
import math
import random
import statistics
from itertools import pairwise

import pytest

from grammar_draws import derivations
from tx_helpers.text.grammar import Grammar
from tx_helpers.text.stories import (
    CAST,
    COUNTS,
    END,
    SENTENCES,
    WORDS,
    entropy_per_character,
    entropy_per_story,
    mean_length,
    stories,
    story_grammar,
    story_log_probability,
)

RULES = SENTENCES | {name: words.split() for name, words in WORDS.items()}


@pytest.fixture(scope="module")
def sample():
    """2,000 stories, each with the blank line at its end."""
    return [story + END for story in stories(2000, seed=7).split(END)[:-1]]


def test_stories_are_little_and_end_with_a_blank_line(sample):
    assert len(sample) == 2000
    assert len(set(sample)) == 2000
    assert 300 < min(map(len, sample)) <= max(map(len, sample)) < 500
    assert set("".join(sample)) <= set('abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ .,!"\n')
    assert all("\n" not in story[:-2] for story in sample)


def test_stories_are_the_same_on_every_machine():
    assert hashlib.sha256(stories(50, seed=3).encode()).hexdigest()[:16] == "f9a78d645c01fd76"
    assert stories(3, seed=3) != stories(3, seed=4)


def test_more_stories_of_a_seed_begin_with_the_fewer():
    assert stories(5, seed=3).startswith(stories(2, seed=3))


def test_no_global_random_state_is_touched():
    before = random.getstate()
    stories(2)
    assert random.getstate() == before


@pytest.mark.parametrize("kept", ["opening", "likes", "meeting", "loss", "gift", "search", "find", "evening"])
def test_each_sentence_has_the_entropy_of_all_its_draws(kept):
    """The whole grammar is too large to enumerate; one sentence at a time, with two words a list, is not."""
    rules = {name: list(words)[:2] if name in WORDS else words for name, words in RULES.items()}
    cast = {member: records[:2] for member, records in CAST.items()}
    told = " ".join("{" + f"{member}.{field}" + "}" for member, records in cast.items() for field in records[0])
    rules["story"] = [told + " {" + kept + "}"]
    draws = derivations(rules, cast)
    assert len({text for text, _ in draws}) == len(draws)
    assert math.fsum(p for _, p in draws) == pytest.approx(1, rel=1e-12)
    grammar = Grammar(rules, cast)
    assert grammar.entropy() == pytest.approx(-math.fsum(p * math.log(p) for _, p in draws), rel=1e-12)
    assert grammar.mean_length() == pytest.approx(math.fsum(p * len(text) for text, p in draws), rel=1e-12)


def test_a_story_with_all_its_sentences_has_the_entropy_of_all_its_draws():
    """All sentences, with one word a list but two, and each cast of two."""
    long = {"place", "mood", "colour"}
    rules = {name: list(words)[: 2 if name in long else 1] if name in WORDS else words for name, words in RULES.items()}
    for name, alternatives in SENTENCES.items():
        rules[name] = dict(list(alternatives.items())[:2]) if name in ("opening", "loss") else list(alternatives)[:1]
    cast = {member: records[:2] for member, records in CAST.items()}
    draws = derivations(rules, cast)
    assert len({text for text, _ in draws}) == len(draws) > 1000
    entropy = -math.fsum(p * math.log(p) for _, p in draws)
    assert Grammar(rules, cast).entropy() == pytest.approx(entropy, rel=1e-12)


def test_a_sample_agrees_with_the_exact_entropy_and_length(sample):
    surprise = [-story_log_probability(story) for story in sample]
    lengths = [len(story) for story in sample]
    for values, exact in ((surprise, entropy_per_story()), (lengths, mean_length())):
        error = statistics.stdev(values) / len(values) ** 0.5
        assert error < exact / 200
        assert abs(statistics.fmean(values) - exact) < 4 * error
    assert sum(surprise) / sum(lengths) == pytest.approx(entropy_per_character(), rel=0.005)


def test_the_floor_is_entropy_over_length():
    assert entropy_per_character() == entropy_per_story() / mean_length()
    assert entropy_per_character(base=2) == pytest.approx(entropy_per_character() / math.log(2))
    assert round(entropy_per_character(), 4) == 0.2774
    assert round(entropy_per_character(base=2), 4) == 0.4002


def test_the_probability_of_a_story_is_the_product_of_its_choices():
    story = (
        "Ada the shy fox lived in a big red hut by the mill. She made blue ships and ate hot pies. "
        "One wet noon she found five figs and met a calm owl. "
        '"I lost my new hat!" it wept. Ada gave the owl two and kept three. '
        "Off to a dark barn they went, then to a deep zoo. The hat lay under a tiny pink rock! "
        "Both sang and swam until the moon came."
    )
    words = {name: len(text.split()) for name, text in WORDS.items()}
    choices = "mood animal look colour home mill drew colour things taste food wet day bought mood look wept dark barn "
    choices += "dark barn lay under look colour bench danced yawned moon"
    expected = -sum(math.log(words[name]) for name in choices.split())
    expected -= sum(math.log(len(records)) for records in CAST.values())
    expected += math.log(3 / 6 * 3 / 5 * 2 / 3 * 2 / 3 * 2 / 3 * 1 / 3 * 1 / 3)
    assert story_log_probability(story) == pytest.approx(expected, rel=1e-12)
    assert story_log_probability(story + END) == story_log_probability(story)


def test_changing_what_belongs_to_the_cast_makes_it_no_story():
    story = stories(1, seed=3).removesuffix(END)
    assert math.isfinite(story_log_probability(story))
    hero = next(record for record in CAST["hero"] if record["name"] in story)
    other = "Ada" if hero["name"] != "Ada" else "Mia"
    for wrong in (
        other.join(story.rsplit(hero["name"], 1)),
        story.replace(f" {hero['they']} ", f" {'he' if hero['they'] == 'she' else 'she'} "),
        story[:-1],
        story + " The end.",
        story.replace(" and ", " und ", 1),
        "",
    ):
        assert wrong != story
        assert story_log_probability(wrong) == -math.inf


def test_a_wrong_sum_is_found_where_it_stands():
    story = next(s for s in story_grammar().texts(20) if " and kept two" in s)
    wrong = story.replace(" and kept two", " and kept eight")
    end, log_p = story_grammar().read(wrong)
    assert (end, log_p) == (wrong.index("eight"), -math.inf)


def test_every_sum_adds_up():
    records = CAST["sum"]
    assert len(records) == 28
    assert all(COUNTS.index(r["gave"]) + COUNTS.index(r["left"]) == COUNTS.index(r["had"]) for r in records)
    assert all(COUNTS.index(r["left"]) >= 1 for r in records)


def test_no_word_stands_twice_in_a_list():
    for name, text in WORDS.items():
        words = text.split()
        assert len(set(words)) == len(words), name


def test_articles_are_right(sample):
    words = " ".join(sample).replace('"', " ").split()
    for article, word in pairwise(words):
        assert article not in ("a", "A") or word[0] not in "aeiou", f"{article} {word}"


def test_some_stories_must_be_asked_for():
    with pytest.raises(ValueError, match="stories: count=0, expected at least 1"):
        stories(0)
