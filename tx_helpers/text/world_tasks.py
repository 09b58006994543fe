"""Tasks in the little world: each function returns (inputs, targets), two lists of the same length.

    texts, labels = sentiment(1000, split="train")          # "…", "positive"

All texts are words and signs with one space between two. With split="test" they tell only of combinations that the
texts of split="train" never tell of. `seed` decides which texts are drawn.
"""

import random
from collections.abc import Callable, Iterator
from typing import TypeVar

from tx_helpers.nn.arguments import check_numbers
from tx_helpers.text.world import little_world
from tx_helpers.text.world_truth import Truth

MASK = "<mask>"
Input = TypeVar("Input")
Target = TypeVar("Target")
Examples = tuple[list[Input], list[Target]]


def fill_gap(count: int, *, split: str = "train", seed: int = 0) -> Examples[str, str]:
    """A text in which <mask> stands for one of its words, and that word.

    `World.gap_words` says how probable each word is there, so the smallest possible loss is known.
    """

    def hide(truth: Truth, drawn: random.Random) -> tuple[str, str]:
        words = truth.tokens
        place = drawn.choice([place for place, word in enumerate(words) if word.isalpha()])
        return " ".join([*words[:place], MASK, *words[place + 1 :]]), words[place]

    return _examples("fill_gap", hide, count, split, seed)


def go_on(count: int, *, split: str = "train", seed: int = 0) -> Examples[str, str]:
    """The beginning of a text, one or more whole sentences, and the rest of it."""

    def cut(truth: Truth, drawn: random.Random) -> tuple[str, str]:
        words = truth.tokens
        ends = [place + 1 for place, word in enumerate(words[:-1]) if word == "."]
        end = drawn.choice(ends)
        return " ".join(words[:end]), " ".join(words[end:])

    return _examples("go_on", cut, count, split, seed)


def sentiment(count: int, *, split: str = "train", seed: int = 0) -> Examples[str, str]:
    """A text, and whether it ends well: "positive", "negative" or "neutral"."""
    return _examples("sentiment", lambda truth, _: (truth.text, truth.sentiment), count, split, seed)


def entities(count: int, *, split: str = "train", seed: int = 0) -> Examples[str, list[str]]:
    """A text, and for each of its words the kind of entity that the word names, or "-".

    Pronouns name nothing. Which kind *apple* is depends on the rest of the text.
    """

    def tag(truth: Truth, _: random.Random) -> tuple[str, list[str]]:
        tags = ["-"] * len(truth.tokens)
        for mention in truth.mentions:
            if not mention.pronoun:
                tags[mention.start : mention.end] = [mention.kind] * (mention.end - mention.start)
        return truth.text, tags

    return _examples("entities", tag, count, split, seed)


def resolve(
    count: int, *, split: str = "train", seed: int = 0, by_meaning: bool = False
) -> Examples[tuple[str, int], int]:
    """A text with the place of a pronoun, and the place of the last name before it of whom or what it stands for.

    by_meaning: only pronouns that could grammatically stand for either of two, as in "the dog did not cross the road
    because it was too tired".
    """

    def point(truth: Truth, drawn: random.Random) -> tuple[tuple[str, int], int] | None:
        pronouns = [m for m in truth.mentions if m.pronoun and (m.by_meaning or not by_meaning)]
        if not pronouns:
            return None
        pronoun = drawn.choice(pronouns)
        return (truth.text, pronoun.start), truth.antecedent(pronoun).start

    return _examples("resolve", point, count, split, seed)


def similar(count: int, *, split: str = "train", seed: int = 0) -> Examples[tuple[str, str], int]:
    """Two texts, and 1 if they say the same in other words, 0 if the second also has one word of another meaning."""

    def pair(truth: Truth, drawn: random.Random) -> tuple[tuple[str, str], int] | None:
        world = little_world(split)
        changed = world.changed(truth.paraphrase, seed=drawn.randrange(10**9))
        if changed is None:
            return None
        same = drawn.random() < 0.5
        return (truth.text, truth.paraphrase if same else changed), int(same)

    return _examples("similar", pair, count, split, seed)


def translate(count: int, *, split: str = "train", seed: int = 0) -> Examples[str, str]:
    """A text, and the same with each line in the other one of its two wordings."""
    return _examples("translate", lambda truth, _: (truth.text, truth.paraphrase), count, split, seed)


def summarise(count: int, *, split: str = "train", seed: int = 0) -> Examples[str, str]:
    """A text, and its summary in one sentence."""
    return _examples("summarise", lambda truth, _: (truth.text, truth.summary), count, split, seed)


def answer(count: int, *, split: str = "train", seed: int = 0) -> Examples[str, str]:
    """A text with a question behind it, and the answer."""

    def ask(truth: Truth, drawn: random.Random) -> tuple[str, str]:
        question = drawn.choice(list(truth.questions))
        return f"{truth.text} {question}", truth.questions[question]

    return _examples("answer", ask, count, split, seed)


def _truths(split: str, seed: int) -> Iterator[Truth]:
    """The truths of the split's texts, without an end."""
    world = little_world(split)
    return map(world.truth, world.texts(10**12, seed=seed))


def _examples(
    where: str, make: Callable[[Truth, random.Random], tuple[Input, Target] | None], count: int, split: str, seed: int
) -> Examples[Input, Target]:
    """`count` examples made of the texts of a seed; a text that gives none is left out."""
    check_numbers(where, least=1, whole=True, count=count)
    check_numbers(where, whole=True, seed=seed)
    drawn, inputs, targets = random.Random(f"{where} {seed}"), [], []
    for truth in _truths(split, seed):
        example = make(truth, drawn)
        if example is not None:
            inputs.append(example[0])
            targets.append(example[1])
        if len(inputs) == count:
            break
    return inputs, targets
