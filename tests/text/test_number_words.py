import hashlib
import random
import re

import numpy as np
import pytest
from num2words import num2words

from tx_helpers.text.number_words import (
    MORPHEMES,
    english,
    german,
    german_whole,
    number_pairs,
    split_german,
)

UNITS = ["", "ein", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun"]
TEENS = ["zehn", "elf", "zwölf", "dreizehn", "vierzehn", "fünfzehn", "sechzehn", "siebzehn", "achtzehn", "neunzehn"]
TENS = ["", "", "zwanzig", "dreißig", "vierzig", "fünfzig", "sechzig", "siebzig", "achtzig", "neunzig"]


def parts_of(number: int) -> list[str]:
    """The German parts composed from the digits: an independent account of what the split should find."""
    if number == 0:
        return ["null"]
    thousands, rest = divmod(number, 1000)
    if thousands == 1:
        return ["ein", "tausend", *group(rest)]
    return [*group(thousands), *["tausend"] * (thousands > 0), *group(rest)]


def group(number: int) -> list[str]:
    hundreds, rest = divmod(number, 100)
    tens, unit = divmod(rest, 10)
    start = [UNITS[hundreds], "hundert"] if hundreds else []
    if rest < 10:
        return start + ([] if rest == 0 else ["eins"] if rest == 1 else [UNITS[rest]])
    if rest < 20:
        return [*start, TEENS[rest - 10]]
    return [*start, *([UNITS[unit], "und"] if unit else []), TENS[tens]]


SMALL = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
    seventeen eighteen nineteen"""
TENS_ENGLISH = ["", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]


def english_of(number: int) -> str:
    """The English words composed from the digits."""
    for size, name in ((1000, "thousand"), (100, "hundred")):
        if number >= size:
            count, rest = divmod(number, size)
            return f"{english_of(count)} {name}" + (f" {english_of(rest)}" if rest else "")
    if number < 20:
        return SMALL.split()[number]
    ten, unit = divmod(number, 10)
    return TENS_ENGLISH[ten] + (f"-{SMALL.split()[unit]}" if unit else "")


def check(numbers):
    for number in numbers:
        expected = parts_of(number)
        assert german(number) == " ".join(expected), number
        assert german_whole(number) == "".join(expected), number
        assert english(number) == english_of(number), number


def test_the_words_are_those_of_the_library():
    for number in [*range(0, 130), 999, 1000, 1001, 101_000, 421_421, 999_999]:
        assert german_whole(number) == num2words(number, lang="de")
        assert english(number) == num2words(number, lang="en").replace(" and ", " ").replace(",", "")


def test_a_spread_of_numbers_splits_as_it_should():
    uniform = random.Random(0)
    stratified = [uniform.randrange(10**d, 10 ** (d + 1)) for d in range(3, 6) for _ in range(400)]
    bases = [base for d in range(3, 6) for base in (10**d, 2 * 10**d, 101 * 10 ** (d - 2))]
    corners = [n for base in bases for n in range(base, base + 22)]
    check([*range(1000), *stratified, *corners, 999_999])


@pytest.mark.thorough
@pytest.mark.parametrize("hundred_thousand", range(10))
def test_every_number_below_a_million_splits_as_it_should(hundred_thousand):
    check(range(hundred_thousand * 100_000, (hundred_thousand + 1) * 100_000))


def test_the_examples_of_the_docstrings():
    assert english(421) == "four hundred twenty-one"
    assert german(421) == "vier hundert ein und zwanzig"
    assert german_whole(421) == "vierhunderteinundzwanzig"
    assert split_german("einhunderteinstausend") == ["ein", "hundert", "eins", "tausend"]
    assert split_german("achtzehn") == ["achtzehn"]
    assert english(0) == "zero"
    assert german(0) == "null"
    assert english(123_456) == "one hundred twenty-three thousand four hundred fifty-six"


def test_there_are_32_morphemes_and_all_are_used():
    assert len(set(MORPHEMES)) == len(MORPHEMES) == 32
    assert {part for number in [*range(101), 1000] for part in german(number).split()} == set(MORPHEMES)


@pytest.mark.parametrize(("word", "stuck"), [("zweiundzwonzig", "zwonzig"), ("one", "one"), ("Zwei", "Zwei")])
def test_what_is_no_number_word_cannot_be_split(word, stuck):
    with pytest.raises(ValueError, match=f"'{word}' cannot be split: none of the 32 morphemes begins '{stuck}'"):
        split_german(word)


def test_an_empty_word_cannot_be_split():
    with pytest.raises(ValueError, match="split_german: word is empty"):
        split_german("")


@pytest.mark.parametrize("operation", [english, german, german_whole])
@pytest.mark.parametrize("bad", [-1, 1_000_000, 3.0, True, "7", None])
def test_what_is_no_whole_number_in_range_is_an_error_that_names_both(operation, bad):
    english(1), english(3)  # True == 1 and 3.0 == 3: a cache must not answer for them
    with pytest.raises(ValueError, match=re.escape(f"{bad!r} is not a whole number from 0 to 999,999")):
        operation(bad)


def test_numpy_integers_are_whole_numbers_too():
    assert english(np.int64(21)) == "twenty-one"


def test_pairs_hold_the_translation():
    pairs = number_pairs(train=150, held_out=20, seed=3)
    for pair in pairs.train + pairs.held_out:
        assert pair == (pair.number, english(pair.number), german(pair.number))


@pytest.mark.parametrize(("below", "seed"), [(below, seed) for below in (1000, 2500, 1_000_000) for seed in range(7)])
def test_held_out_numbers_are_never_seen(below, seed):
    train, held_out = number_pairs(train=500, held_out=200, seed=seed, below=below)
    shown, held = [p.number for p in train], [p.number for p in held_out]
    assert len(shown) == 500
    assert len(held) == len(set(held)) == 200
    assert not set(shown) & set(held)
    assert shown[:100] == list(range(100))
    assert min(held) >= 100
    assert max(shown + held) < below


@pytest.fixture(scope="module")
def many():
    """6,000 draws after the numbers that always come, and 500 held out."""
    train, held_out = number_pairs(train=6100, held_out=500)
    return np.array([p.number for p in train[100:]]), np.array([p.number for p in held_out])


@pytest.mark.slow
def test_short_and_long_numbers_come_equally_often(many):
    def lengths(numbers):
        return np.bincount([len(str(n)) for n in numbers], minlength=7)

    drawn, held_out = many
    assert np.abs(lengths(drawn)[1:] - 6000 / 6).max() < 4 * 29  # binomial: standard deviation 29
    assert np.abs(lengths(held_out)[3:] - 500 / 4).max() < 4 * 9.7


def test_within_a_length_all_numbers_are_equally_likely(many):
    drawn, _ = many
    counts = np.bincount(drawn[drawn < 100], minlength=100)[10:]
    chi_square = ((counts - counts.mean()) ** 2).sum() / counts.mean()
    assert abs(chi_square - 89) < 4 * (2 * 89) ** 0.5
    long = drawn[drawn >= 100_000]
    assert abs(long.mean() - 549_999.5) < 4 * 900_000 / (12 * len(long)) ** 0.5


def test_the_same_seed_draws_the_same_pairs_and_another_seed_others():
    assert number_pairs(200, 50, seed=5) == number_pairs(200, 50, seed=5)
    assert number_pairs(200, 50, seed=5) != number_pairs(200, 50, seed=6)


def test_the_draws_are_the_same_on_every_machine():
    pairs = number_pairs(300, 100, seed=1)
    digest = hashlib.sha256(repr([p.number for p in pairs.train + pairs.held_out]).encode()).hexdigest()
    assert digest[:16] == "384edcf054b23ea9"


def test_held_out_numbers_do_not_depend_on_how_many_are_trained_on():
    small, large = number_pairs(200, 50, seed=5), number_pairs(400, 50, seed=5)
    assert small.held_out == large.held_out
    assert small.train == large.train[:200]


def test_no_global_random_state_is_touched():
    random.seed(1), np.random.seed(1)
    before = random.getstate(), np.random.get_state()[1].tolist()
    number_pairs(200, 50)
    assert (random.getstate(), np.random.get_state()[1].tolist()) == before


def test_as_many_as_can_be_are_held_out():
    train, held_out = number_pairs(train=1000, held_out=450, below=1000)
    assert len(held_out) == 450
    assert not {p.number for p in train} & {p.number for p in held_out}


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"below": 1_000_001}, "below=1,000,001, expected 100 to 1,000,000"),
        ({"below": 99}, "below=99, expected 100 to 1,000,000"),
        ({"train": 99}, "train=99, but the 100 numbers below 100 belong to it"),
        ({"held_out": 451, "below": 1000}, "held_out=451, but below=1,000 leaves at most 450 to hold out"),
        ({"held_out": 1, "below": 101}, "held_out=1, but below=101 leaves at most 0 to hold out"),
        ({"held_out": -1}, "held_out=-1, but below=1,000,000 leaves at most 499,950 to hold out"),
    ],
)
def test_sizes_that_cannot_be_had_are_errors(arguments, complaint):
    with pytest.raises(ValueError, match=re.escape(f"number_pairs: {complaint}")):
        number_pairs(**arguments)
