"""Number words in English and German: the course's translation task.

    421   "four hundred twenty-one"   "vier hundert ein und zwanzig"

German says the unit before the ten ("one and twenty") and writes a number as one word,
"vierhunderteinundzwanzig". We split that word into its parts, so that a word-by-word translator has something to
align. All number words come from the library num2words.
"""

import random
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from numbers import Integral
from typing import Any, NamedTuple

from num2words import num2words

from tx_helpers.nn.arguments import check_numbers, check_types, described

LIMIT = 1_000_000

# "ein" stands before hundert, tausend and und, "eins" ends a group: the library's 101,000 is "einhunderteinstausend".
_MORPHEMES = """
    null ein eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf
    dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn
    zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig
    hundert tausend und
"""
MORPHEMES = tuple(_MORPHEMES.split())
_LONGEST_FIRST = sorted(MORPHEMES, key=len, reverse=True)


def english(number: int) -> str:
    """421 → "four hundred twenty-one": British num2words without its "and" and commas.

    Raises ValueError if the number is not a whole one from 0 to 999,999.
    """
    words = _cardinal(_checked(number), "en")
    return words.replace(" and ", " ").replace(",", "")


def german(number: int) -> str:
    """421 → "vier hundert ein und zwanzig": the compound, its parts set apart by spaces.

    Raises ValueError as `english` does, and as `split_german` does.
    """
    return " ".join(split_german(german_whole(number)))


def german_whole(number: int) -> str:
    """421 → "vierhunderteinundzwanzig", as num2words and Germans write it."""
    return _cardinal(_checked(number), "de")


def split_german(word: str) -> list[str]:
    """The parts of a German number word: from the left, always the longest morpheme that fits.

    Longest first tells "achtzehn" (18) from "acht" (8), and "eins" from "ein". The parts are cut from the word itself,
    so they join back to it; where no morpheme fits, ValueError is raised.
    """
    check_types("split_german", str, word=word)
    parts, rest = [], word
    while rest:
        part = next((m for m in _LONGEST_FIRST if rest.startswith(m)), None)
        if part is None:
            raise ValueError(
                f"split_german: {word!r} cannot be split: none of the {len(MORPHEMES)} morphemes begins {rest!r}"
            )
        parts.append(part)
        rest = rest.removeprefix(part)
    return parts


class Pair(NamedTuple):
    """A number in both languages."""

    number: int
    source: str
    target: str


class NumberPairs(NamedTuple):
    """Pairs for training, and pairs that training never sees."""

    train: list[Pair]
    held_out: list[Pair]


def number_pairs(train: int = 5000, held_out: int = 1000, *, seed: int = 0, below: int = LIMIT) -> NumberPairs:
    """Seeded pairs English → German of numbers under `below`, short and long numbers equally often.

    A draw first picks a number of digits, then a number of that length, both uniformly. If all numbers were equally
    likely, 999 in 1,000 would have four digits or more.

    held_out: how many distinct numbers from 100 on to hold out, at most half of those of any one length. They are drawn
        first, so they are the same for every size of `train`.
    train: how many pairs to train on, repetitions counted (short numbers are few, so they are drawn many times). They
        begin with every number below 100, because a word such as "zero" occurs nowhere else and "eleven" seldom; the
        others are drawn from all numbers that are not held out.

    Raises ValueError if `below` exceeds a million, or if it leaves too few numbers.
    """
    always = range(100)
    check_numbers("number_pairs", whole=True, train=train, held_out=held_out, seed=seed, below=below)
    if not len(always) <= below <= LIMIT:
        raise ValueError(f"number_pairs: below={below:,}, expected 100 to {LIMIT:,}")
    if train < len(always):
        raise ValueError(f"number_pairs: train={train}, but the {len(always)} numbers below 100 belong to it")
    powers = [0] + [10**d for d in range(1, len(str(below - 1)))] + [below]
    by_length = [range(start, stop) for start, stop in pairwise(powers)]
    long = by_length[2:]
    room = {len(str(numbers[0])): len(numbers) // 2 for numbers in long}
    if not 0 <= held_out <= sum(room.values()):
        raise ValueError(
            f"number_pairs: held_out={held_out:,}, but below={below:,} leaves at most "
            f"{sum(room.values()):,} to hold out"
        )

    # Only random() is promised the same results in every version of Python, so nothing else is used.
    uniform = random.Random(f"number pairs {seed}").random

    def pick(options: Sequence[Any]) -> Any:
        return options[int(uniform() * len(options))]

    held: dict[int, None] = {}  # a set that keeps the order
    while len(held) < held_out:
        number = pick(pick(long))
        if number not in held and room[len(str(number))]:
            room[len(str(number))] -= 1
            held[number] = None
    shown = list(always)
    while len(shown) < train:
        numbers = pick(by_length)
        number = pick(numbers)
        while number in held:
            number = pick(numbers)
        shown.append(number)
    return NumberPairs([_pair(n) for n in shown], [_pair(n) for n in held])


def _pair(number: int) -> Pair:
    return Pair(number, english(number), german(number))


@lru_cache(maxsize=20_000)
def _cardinal(number: int, language: str) -> str:
    return num2words(number, lang=language)


def _checked(number: int) -> int:
    """The number; explorers show the error to a learner who typed it, so it names no function."""
    if isinstance(number, bool) or not isinstance(number, Integral) or not 0 <= number < LIMIT:
        raise ValueError(f"{described(number)} is not a whole number from 0 to {LIMIT - 1:,}")
    return int(number)
