"""The lesson's explorer: a translated number with what its words looked at."""

from itertools import pairwise

import pytest
import torch

from drawn import elements
from tx_helpers.lessons.start_here import translation
from tx_helpers.lessons.start_here.translation import (
    ALL,
    Translation,
    describe,
    looks,
    translated,
    translation_explorer,
)
from tx_helpers.nn.capture import capture
from tx_helpers.nn.models import EncoderDecoder
from tx_helpers.text.data import BOS, word_pairs
from tx_helpers.text.number_words import english, german
from tx_helpers.training.contexts import RandomStream
from tx_helpers.zoo.recipes import Translator, translator_config

SOURCE, TARGET = ["four", "hundred", "twenty", "one"], ["vier", "hundert", "ein", "und", "zwanzig", "<eos>"]
SWAPPED = torch.tensor(  # (T, S)
    [[0.9, 0.1, 0, 0], [0, 1, 0, 0], [0, 0, 0.2, 0.8], [0, 0.5, 0.5, 0], [0, 0, 0.75, 0.25], [0.25, 0.25, 0.25, 0.25]]
)


@pytest.fixture(scope="module")
def translator():
    """Untrained, so it writes rubbish; what is recorded of it is as true."""
    data = word_pairs([(english(n), german(n)) for n in [*range(100), 421, 6705]])
    with RandomStream(0).on(torch.device("cpu")):
        return Translator(EncoderDecoder(translator_config(data)).eval(), data)


@pytest.fixture
def swapped():
    """421, translated as it should be: two blocks with two heads, the second block's mean being SWAPPED."""
    first = torch.full((2, 6, 4), 0.25)
    second = torch.stack([SWAPPED + 0.125 * first[0], SWAPPED - 0.125 * first[0]])
    return Translation(421, SOURCE, TARGET, torch.stack([first, second]))


# --- compute ---------------------------------------------------------------------------------------------------------


def test_the_weights_are_those_of_one_pass_over_the_whole_translation(translator):
    found = translated(translator, 421)
    ids = [[BOS, *(translator.data.target_tokenizer.tokens.index(word) for word in found.target)][:-1]]
    source = torch.tensor([translator.data.source_tokenizer.encode(english(421))])
    with capture(translator.model, "*.cross_attention.weights") as seen, torch.no_grad():
        translator.model(source, torch.tensor(ids))
    assert found.source == SOURCE
    assert found.weights.shape == (2, 4, len(found.target), len(SOURCE))
    torch.testing.assert_close(found.weights, torch.cat(list(seen.values())), rtol=0, atol=1e-5)


def test_the_translation_is_that_of_the_translator(translator):
    for number in (7, 421, 6705):
        assert translated(translator, number).text == translator.translate(english(number))


@pytest.mark.parametrize("number", [-1, 1_000_000])
def test_a_number_out_of_range_is_refused(translator, number):
    with pytest.raises(ValueError, match=f"^{number} is not a whole number from 0 to 999,999$"):
        translated(translator, number)


def test_one_head_or_the_mean_of_all(swapped):
    torch.testing.assert_close(looks(swapped, 1), SWAPPED)
    assert torch.equal(looks(swapped, 1, 0), swapped.weights[1, 0])
    assert torch.equal(looks(swapped, 0, 1), swapped.weights[0, 1])
    for block, head in ((2, ALL), (-1, 0), (0, 2), (0, -2)):
        with pytest.raises(ValueError) as error:
            looks(swapped, block, head)
        assert str(error.value) == (
            f"looks: block={block}, head={head}, but there are 2 blocks with 2 heads, counted from 0"
        )


def test_what_is_drawn_and_said(as_stored, swapped):
    """Lines as strong as the weights, from word to word; a wrong translation; a word that occurs twice."""
    twice = Translation(909, ["nine", "hundred", "nine"], ["neun", "hundert", "neun", "<eos>"], torch.ones(1, 1, 4, 3))
    weights = torch.tensor([[1.0, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 1]])
    nine = Translation(421, [*SOURCE, *SOURCE, "five"], TARGET, torch.full((1, 1, 6, 9), 1 / 9))
    as_stored(
        right=translation.draw(swapped, SWAPPED, "block 2"),
        wrong=translation.draw(swapped._replace(number=422), SWAPPED, "block 2"),
        twice=translation.draw(twice, weights, "block 1"),
        nine=translation.draw(nine, nine.weights[0, 0], "block 1"),
    )
    assert Translation(421, SOURCE, TARGET[:-1], torch.ones(1, 1, 5, 4)).right  # without its end


# --- draw ------------------------------------------------------------------------------------------------------------


def test_the_longest_number_fits_on_the_card():
    source, target = english(777_777).replace("-", " ").split(), [*german(777_777).split(), "<eos>"]
    weights = torch.full((len(target), len(source)), 1 / len(source))
    svg = translation.draw(Translation(777_777, source, target, weights[None, None]), weights, "").svg
    boxes = [(float(box.get("x")), float(box.get("width")), box.get("y")) for box in elements(svg, "rect")[1:]]
    for y in {y for *_, y in boxes}:
        row = sorted((x, x + width) for x, width, at in boxes if at == y)
        assert row[0][0] > 8 and row[-1][1] < 792
        assert all(right <= left for (_, right), (left, _) in pairwise(row))
    widest = min(width for _, width, _ in boxes)
    assert widest > 0.6 * 12 * len("siebzig")


# --- bind ------------------------------------------------------------------------------------------------------------


def test_number_block_and_head_can_be_chosen(translator, monkeypatch):
    calls = []
    monkeypatch.setattr(translation, "translated", lambda *given: calls.append(given[1]) or translated(*given))
    explorer = translation_explorer(translator, number=42)
    assert explorer.values == {"number": 42, "block": 1, "head": ALL}
    explorer.set(block=0, head=3)
    found = translated(translator, 42)
    assert explorer.summary == describe(found, looks(found, 0, 3))
    assert explorer.controls["head"].index == 4
    explorer.set(head=ALL)
    assert explorer.controls["head"].index == 0  # and not None, which an option None would be
    assert explorer.summary == describe(found, looks(found, 0))
    assert calls == [42]  # another head is no reason to translate again
    assert [label for label, _ in explorer.controls["head"].options] == [
        "mean of all heads",
        *(f"head {i}" for i in (1, 2, 3, 4)),
    ]


def test_a_number_too_large_is_an_error_in_place(translator):
    explorer = translation_explorer(translator, number=42)
    before = explorer.summary
    explorer.controls["number"].value = 1_000_000
    assert explorer.error == "1,000,000 is out of reach: type a whole number from 0 to 999,999."
    assert explorer.summary == before
    explorer.controls["number"].value = 7
    assert explorer.error == "" and explorer.summary.startswith("7 → ")
