"""One vocabulary for every model of the little world."""

import pytest

from tx_helpers.text import world_tasks
from tx_helpers.text.world import little_world
from tx_helpers.text.world_vocabulary import KINDS, NO_KIND, SENTIMENTS, TASKS, words_of, world_tokenizer

TOKENS = world_tokenizer().tokens


def test_the_order_is_fixed():
    signs = "<pad> <bos> <eos> <unk> <mask> <cls> <sep> <x0> <x1> <x2> <x3> <x4> <x5> <x6> <x7>"
    tasks = "<fill> <go_on> <sentiment> <entities> <resolve> <similar> <translate> <summarise> <answer>"
    labels = "negative neutral positive <none> animal firm fruit number person place thing"
    fixed = f"{signs} {tasks} <user> <assistant> <end> {labels}".split()
    assert TOKENS[: len(fixed)] == fixed
    assert TOKENS[len(fixed) :] == [word for word in little_world().vocabulary() if word not in fixed]


@pytest.mark.parametrize("split", ["train", "test"])
def test_every_word_of_the_world_is_known(split):
    world, tokenizer = little_world(split), world_tokenizer()
    for text in world.texts(300, seed=5):
        truth = world.truth(text)
        for said in (text, truth.summary, truth.paraphrase, *truth.questions, *truth.questions.values()):
            ids = tokenizer.encode(said)
            assert tokenizer.unknown_id not in ids
            assert tokenizer.decode(ids) == said


def test_signs_are_one_token_each_and_the_special_ones_cannot_be_written():
    tokenizer = world_tokenizer()
    for sign in TOKENS[4:]:
        assert tokenizer.encode(sign) == [TOKENS.index(sign)]
    assert tokenizer.encode("<pad> <bos> <eos> zebra") == [tokenizer.unknown_id] * 4


def test_every_task_and_every_label_has_its_token():
    assert all(callable(getattr(world_tasks, name)) for name in TASKS)
    assert set(world_tasks.sentiment(200)[1]) == set(SENTIMENTS)
    tags = {tag for row in world_tasks.entities(300)[1] for tag in row}
    assert tags == set(KINDS)
    assert {NO_KIND, *KINDS} - {"-"} <= set(TOKENS)


def test_a_text_is_cut_into_small_words_and_signs():
    assert words_of("Lucy has a goat. It's   old-ish!") == [
        "lucy",
        "has",
        "a",
        "goat",
        ".",
        "it",
        "'s",
        "old",
        "ish",
        "!",
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a goat .", "words_of: 3 words and signs, expected 4 to 16"),
        ("goat " * 17, "words_of: 17 words and signs, expected 4 to 16"),
        ("", "words_of: 0 words and signs, expected 4 to 16"),
        ("a" * 10_000, "words_of: a text of 10000 characters, expected a text of at most 200 characters"),
        (None, "words_of: text is None, expected a text of at most 200 characters"),
    ],
)
def test_a_text_that_does_not_fit_is_refused(text, said):
    with pytest.raises(ValueError) as raised:
        words_of(text)
    assert str(raised.value) == said
