"""Honest rivals: what a model has to beat before its loss, or its share of right answers, means anything.

    Ngram(5).fit(train).loss(held_out)                 # nats a character, beside the model's
    pair_rivals(train, held_out)                       # {"most frequent": 0.03, "copying": 0.0, "nearest": 0.4}
    known_floor()                                      # of the stories alone: what no model can go below

The n-grams are interpolated as by Witten and Bell (1991): p(c | h) mixes the share of c behind the context h with
p(c | a context shorter by one), which counts as often as different characters were seen behind h. The shortest one
mixes with equal shares for the characters of the training text and one more, which stands for all others.
"""

import math
import random
from collections import Counter, defaultdict
from collections.abc import Sequence
from difflib import SequenceMatcher

from tx_helpers.nn.arguments import check_numbers, check_types
from tx_helpers.text.data import text_pairs
from tx_helpers.text.stories import entropy_per_character

CANDIDATES = 20  # training pairs that are compared letter by letter
Pairs = Sequence[tuple[str, str]]


# --- of a text --------------------------------------------------------------------------------------------------------
class Ngram:
    """Characters predicted from the order − 1 before them; order 1 knows only how often each one comes."""

    def __init__(self, order: int = 5) -> None:
        check_numbers("Ngram", least=1, most=12, whole=True, order=order)
        self.order = order
        self.counts: dict[str, Counter[str]] = {}  # context -> how often each character follows
        self.characters: set[str] = set()

    def fit(self, text: str) -> "Ngram":
        """Count a text, once through. -> itself"""
        check_types("Ngram", str, text=text)
        counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for place, character in enumerate(text):
            for length in range(min(self.order, place + 1)):
                counts[text[place - length : place]][character] += 1
        self.counts, self.characters = dict(counts), set(text)
        return self

    def p(self, character: str, context: str) -> float:
        """p(character | context), of which the last order − 1 characters count."""
        p = 1 / (len(self.characters) + 1)
        for length in range(min(self.order - 1, len(context)) + 1):
            seen = self.counts.get(context[len(context) - length :])
            if seen is None:
                break
            kinds = len(seen)
            p = (seen[character] + kinds * p) / (seen.total() + kinds)
        return p

    def loss(self, text: str) -> float:
        """Mean −ln p of its characters, in nats, each predicted from those before it."""
        check_types("Ngram", str, text=text)
        self._check_fitted()
        if not text:
            raise ValueError("Ngram: the text is empty, expected at least one character")
        context = self.order - 1
        return -sum(math.log(self.p(one, text[max(0, at - context) : at])) for at, one in enumerate(text)) / len(text)

    def write(self, prompt: str = "\n", count: int = 200, seed: int = 0) -> str:
        """`count` characters behind the prompt, drawn one by one."""
        check_types("Ngram", str, prompt=prompt)
        check_numbers("Ngram", least=0, whole=True, count=count)
        self._check_fitted()
        uniform, text, known = random.Random(f"n-grams {seed}").random, prompt, sorted(self.characters)
        for _ in range(count):
            weights = [self.p(one, text[len(text) - min(len(text), self.order - 1) :]) for one in known]
            u = uniform() * sum(weights)
            for one, weight in zip(known, weights, strict=True):  # noqa: B007
                u -= weight
                if u < 0:
                    break
            text += one
        return text[len(prompt) :]

    def _check_fitted(self) -> None:
        if not self.characters:
            raise ValueError("Ngram: it knows no text yet: call fit first")


def known_floor() -> float:
    """The exact entropy of the stories, in nats a character: no model has a smaller mean loss on `story_text`.

    Only one that sees the whole story so far can reach it. Of another text the floor is not known.
    """
    return entropy_per_character()


# --- of pairs ---------------------------------------------------------------------------------------------------------
def pair_rivals(train: Pairs, held_out: Pairs) -> dict[str, float]:
    """The share of held-out pairs that each rival answers to the letter.

    most frequent   always the target that is most frequent in training
    copying         the source itself
    nearest         the target of the training source that is most like it, by difflib's ratio of equal stretches

    Where no held-out target stands in training, as with `time_split`, the first and the last are 0 by construction.
    """
    train, held_out = text_pairs("pair_rivals", train), text_pairs("pair_rivals", held_out)
    usual = Counter(target for _, target in train).most_common(1)[0][0]
    answers = {
        "most frequent": [usual] * len(held_out),
        "copying": [source for source, _ in held_out],
        "nearest": nearest([source for source, _ in held_out], train),
    }
    targets = [target for _, target in held_out]
    return {
        name: sum(a == b for a, b in zip(given, targets, strict=True)) / len(targets) for name, given in answers.items()
    }


def nearest(sources: Sequence[str], train: Pairs) -> list[str]:
    """For each source the target of the training pair whose source is most like it; of equal ones the first.

    Of the CANDIDATES that share most words with it, that with the largest ratio of difflib.
    """
    known = [(source, set(source.split()), target) for source, target in train]
    found, matcher = [], SequenceMatcher(autojunk=False)
    for source in sources:
        words = set(source.split())
        shared = [2 * len(words & others) / (len(words) + len(others) or 1) for _, others, _ in known]
        best = sorted(range(len(known)), key=lambda place: (-shared[place], place))[:CANDIDATES]
        matcher.set_seq2(source)  # what difflib knows of the second text is kept from one comparison to the next
        ratios = {}
        for place in sorted(best):
            matcher.set_seq1(known[place][0])
            ratios[place] = matcher.ratio()
        found.append(known[max(ratios, key=ratios.__getitem__)][2])
    return found
