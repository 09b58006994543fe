import math

import pytest

from tx_helpers.text import world_tasks
from tx_helpers.text.world import little_world
from tx_helpers.text.world_tasks import MASK

TASKS = ["fill_gap", "go_on", "sentiment", "entities", "resolve", "similar", "translate", "summarise", "answer"]
COUNT = 60
ALL = little_world()


@pytest.mark.parametrize("name", TASKS)
def test_examples_are_made_by_a_seed_from_a_split(name):
    task = getattr(world_tasks, name)
    inputs, targets = task(COUNT, split="test", seed=3)
    assert len(inputs) == len(targets) == COUNT
    assert task(COUNT, split="test", seed=3) == (inputs, targets) != task(COUNT, split="test", seed=4)
    assert task(20, split="test", seed=3) == (inputs[:20], targets[:20])
    with pytest.raises(ValueError, match=f"{name}: count=0, expected at least 1"):
        task(0)
    with pytest.raises(ValueError, match="split='dev', expected one of all, train, test"):
        task(1, split="dev")


@pytest.mark.parametrize("name", ["sentiment", "entities", "translate", "summarise"])
@pytest.mark.parametrize("split", ["train", "test"])
def test_texts_are_those_of_the_split(name, split):
    texts, _ = getattr(world_tasks, name)(COUNT, split=split, seed=1)
    assert all(math.isfinite(little_world(split).log_probability(text)) for text in texts)


@pytest.mark.parametrize("name", TASKS)
def test_a_task_needs_no_word_beyond_the_vocabulary(name):
    known = {*ALL.vocabulary(), MASK}
    inputs, targets = getattr(world_tasks, name)(COUNT, seed=5)
    texts = [text for example in inputs for text in (example if isinstance(example, tuple) else [example])]
    if name in ("fill_gap", "go_on", "translate", "summarise", "answer"):
        texts += targets
    assert {word for text in texts if isinstance(text, str) for word in text.split()} <= known


def test_the_hidden_word_fills_its_gap():
    for text, word in zip(*world_tasks.fill_gap(COUNT), strict=True):
        words = text.split()
        assert words.count(MASK) == 1 and word.isalpha()
        place = words.index(MASK)
        full = text.replace(MASK, word)
        assert ALL.truth(full).text == full
        assert ALL.gap_words(full, place)[word] > 0


def test_beginning_and_rest_make_a_text():
    for beginning, rest in zip(*world_tasks.go_on(COUNT), strict=True):
        assert beginning.endswith(" .") and rest
        assert ALL.truth(f"{beginning} {rest}")


def test_labels_tags_translations_and_summaries_are_the_truth():
    for text, label in zip(*world_tasks.sentiment(COUNT), strict=True):
        assert ALL.truth(text).sentiment == label
    for text, other in zip(*world_tasks.translate(COUNT), strict=True):
        assert ALL.truth(text).paraphrase == other
    for text, summary in zip(*world_tasks.summarise(COUNT), strict=True):
        assert ALL.truth(text).summary == summary
    for text, tags in zip(*world_tasks.entities(COUNT), strict=True):
        truth = ALL.truth(text)
        assert len(tags) == len(text.split())
        names = [mention for mention in truth.mentions if not mention.pronoun]
        assert [tag for tag in tags if tag != "-"] == [m.kind for m in names for _ in range(m.start, m.end)]
        assert all(tags[mention.start] == mention.kind for mention in names)


@pytest.mark.slow
@pytest.mark.parametrize("by_meaning", [False, True])
def test_a_pronoun_points_to_its_name(by_meaning):
    seen = set()
    for (text, place), target in zip(*world_tasks.resolve(200, by_meaning=by_meaning), strict=True):
        truth = ALL.truth(text)
        pronoun = next(mention for mention in truth.mentions if mention.start == place)
        name = next(mention for mention in truth.mentions if mention.start == target)
        assert pronoun.pronoun and not name.pronoun and name.entity == pronoun.entity
        assert pronoun.by_meaning or not by_meaning
        seen.add(pronoun.by_meaning)
    assert seen == ({True} if by_meaning else {True, False})


def test_similar_texts_mean_the_same_and_the_others_do_not():
    inputs, targets = world_tasks.similar(120)
    assert 35 < sum(targets) < 85
    for (one, other), same in zip(inputs, targets, strict=True):
        assert one != other
        assert (ALL.truth(one).meaning == ALL.truth(other).meaning) == bool(same)


@pytest.mark.slow
def test_answers_are_those_of_the_text():
    for asked, answer in zip(*world_tasks.answer(COUNT), strict=True):
        words = asked.split()
        ways = [(" ".join(words[:end]), " ".join(words[end:])) for end in range(1, len(words))]
        text, question = next(way for way in ways if math.isfinite(ALL.log_probability(way[0])))
        assert ALL.truth(text).questions[question] == answer
