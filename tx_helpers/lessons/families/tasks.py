"""The nine tasks of the tournament: what is asked, the words of a right answer, a score, and what a guess would score.

    task = TASKS["sentiment"]
    given, targets = task.examples(100, split="test", seed=0)
    answers = [["positive"]] * 100                  # the words of an answer, whoever gives it
    task.score(given, targets, answers)             # 0.36
    task.guess(given, targets, *task.examples(1000))  # 0.36: what the commonest answer scores, always given

The tasks are those of `text.world_tasks`. Here they get one form that all families share: a question is a list of
words, and so is an answer. `contestants` says how each family is asked.

    task          question                               answer                       score
    fill_gap      a text with <mask> in it               the hidden word              share of right words
    go_on         the first sentences of a text          the rest                     share of texts that are possible
    sentiment     a text                                 positive, negative, neutral  share of right labels
    entities      a text                                 each name and its kind       F1 of (word, kind)
    resolve       a text, <resolve> before its pronoun   the name that is meant       share of right names
    similar       two texts with <sep> between them      yes (same meaning) or no     share of right answers
    translate     a text                                 each line said otherwise     words right
    summarise     a text                                 its summary                  words right
    answer        a text and a question on it            the answer                   share of right answers

Words right is 1 − (words to insert, delete or replace) / (words of the right answer), at least 0, as a mean over texts.

`resolve` asks only about pronouns that could stand for two names, so that meaning must decide.
"""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from tx_helpers.nn.arguments import check_one_of
from tx_helpers.text import world_tasks
from tx_helpers.text.world import little_world
from tx_helpers.text.world_vocabulary import SEP
from tx_helpers.text.world_vocabulary import TASKS as TOKENS

Words = list[str]
SAME = ("no", "yes")  # the answers of `similar`


class Task(NamedTuple):
    """One task. `given` and `target` are an input and its target as `text.world_tasks` has them."""

    name: str
    examples: Callable[..., tuple[list, list]]  # examples(count, split=…, seed=…)
    measure: str  # what the score is
    longest: int  # the most words that an answer has

    @property
    def token(self) -> str:
        """The token that names the task."""
        return TOKENS[self.name]

    def question(self, given: Any) -> Words:
        """The words of the question."""
        if self.name == "similar":
            return [*given[0].split(), SEP, *given[1].split()]
        if self.name == "resolve":
            words = given[0].split()
            return [*words[: given[1]], self.token, *words[given[1] :]]
        return given.split()

    def answer(self, given: Any, target: Any) -> Words:
        """The words of the right answer."""
        if self.name == "entities":
            return named(given.split(), target)
        if self.name == "resolve":
            return [given[0].split()[target]]
        return [SAME[target]] if self.name == "similar" else target.split()

    def score(self, given: Sequence, targets: Sequence, answers: Sequence[Words]) -> float:
        """How good these answers are, from 0 to 1."""
        if not len(given) == len(targets) == len(answers) > 0:
            counts = f"{len(given)} questions, {len(targets)} targets, {len(answers)} answers"
            raise ValueError(f"score of {self.name}: {counts}; expected as many of each, at least one")
        if self.name == "go_on":
            return sum(map(_possible, given, answers)) / len(given)
        right = [self.answer(one, target) for one, target in zip(given, targets, strict=True)]
        if self.name == "entities":
            return f1(right, answers)
        if self.name in ("translate", "summarise"):
            return sum(map(word_accuracy, right, answers)) / len(right)
        return sum(map(list.__eq__, right, map(list, answers))) / len(right)

    def guess(self, given: Sequence, targets: Sequence, seen: Sequence, seen_targets: Sequence) -> float:
        """The score, on given and targets, of an answer that needs no model, made of the examples seen.

        entities: the commonest kind of each word; resolve: the last name before the pronoun; translate: the text as it
        is; all others: the commonest answer.
        """
        if self.name == "entities":
            answers = _dictionary(given, seen, seen_targets)
        elif self.name == "resolve":
            answers = [_last_name(*one) for one in given]
        elif self.name == "translate":
            answers = [one.split() for one in given]
        else:
            pairs = zip(seen, seen_targets, strict=True)
            counted = Counter(tuple(self.answer(one, target)) for one, target in pairs)
            answers = [list(counted.most_common(1)[0][0])] * len(given)
        return self.score(given, targets, answers)


TASKS = {
    task.name: task
    for task in (
        Task("fill_gap", world_tasks.fill_gap, "right words", 1),
        Task("go_on", world_tasks.go_on, "possible texts", 50),
        Task("sentiment", world_tasks.sentiment, "right labels", 1),
        Task("entities", world_tasks.entities, "F1 of (word, kind)", 40),
        Task("resolve", partial(world_tasks.resolve, by_meaning=True), "right names", 1),
        Task("similar", world_tasks.similar, "right answers", 1),
        Task("translate", world_tasks.translate, "words right", 60),
        Task("summarise", world_tasks.summarise, "words right", 20),
        Task("answer", world_tasks.answer, "right answers", 8),
    )
}


def task_named(name: str) -> Task:
    """The task of this name. Raises ValueError naming all of them."""
    check_one_of("task", TASKS, task=name)
    return TASKS[name]


def named(words: Sequence[str], kinds: Sequence[str]) -> Words:
    """The words that name something, each with its kind behind it: ["mia", "person", "apple", "fruit"]."""
    return [part for word, kind in zip(words, kinds, strict=True) if kind != "-" for part in (word, kind)]


def f1(right: Sequence[Words], answers: Sequence[Words]) -> float:
    """2 · hits / (pairs that are right + pairs that were given), over the pairs (word, kind) of all texts.

    The harmonic mean of precision and recall; van Rijsbergen 1979, chapter 7.
    """
    hits = total = 0
    for wanted, given in zip(right, answers, strict=True):
        pairs, found = _pairs(wanted), _pairs(given)
        hits += (pairs & found).total()
        total += pairs.total() + found.total()
    return 2 * hits / total if total else 1.0


def word_accuracy(right: Words, answer: Words) -> float:
    """1 − edits / words of the right answer, at least 0. Edits: the fewest words to insert, delete or replace.

    Source of the distance: Levenshtein 1966.
    """
    row = list(range(len(answer) + 1))  # edits from no word of the right answer to each beginning of the answer
    for i, word in enumerate(right, start=1):
        above, row = row, [i]
        for j, other in enumerate(answer, start=1):
            row.append(min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (word != other)))
    return max(0.0, 1 - row[-1] / len(right))


def most_hits(given: Sequence[str], targets: Sequence[str]) -> float:
    """For examples of `fill_gap`: the score of the likeliest word by the exact probabilities.

    No model does better on average; on a few examples one can.
    """
    hits = 0
    for text, word in zip(given, targets, strict=True):
        place = text.split().index(world_tasks.MASK)
        exact = little_world().gap_words(text.replace(world_tasks.MASK, word), place)
        hits += next(iter(exact)) == word
    return hits / len(given)


def _pairs(words: Words) -> Counter:
    """(word, kind), each as often as it was named; a last word without a kind is left out."""
    return Counter(zip(words[::2], words[1::2], strict=False))


def _possible(beginning: str, rest: Words) -> bool:
    """Could the world tell this text?"""
    return math.isfinite(little_world().log_probability(" ".join([beginning, *rest])))


def _dictionary(given: Sequence[str], seen: Sequence[str], seen_kinds: Sequence[list[str]]) -> list[Words]:
    counted: dict[str, Counter] = {}
    for text, kinds in zip(seen, seen_kinds, strict=True):
        for word, kind in zip(text.split(), kinds, strict=True):
            counted.setdefault(word, Counter())[kind] += 1
    kind_of = {word: kinds.most_common(1)[0][0] for word, kinds in counted.items()}
    return [named(text.split(), [kind_of.get(word, "-") for word in text.split()]) for text in given]


def _last_name(text: str, place: int) -> Words:
    names = [m for m in little_world().truth(text).mentions if m.start < place and not m.pronoun]
    return [text.split()[names[-1].start]]
