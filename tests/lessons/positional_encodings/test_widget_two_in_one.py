"""The explorer of sums: its shares against a slow reading, its drawing against the numbers."""

import pytest
import torch

from tx_helpers.lessons.positional_encodings.two_in_one import (
    PLACES,
    WIDTHS,
    WORDS,
    draw,
    nearest,
    read_sums,
    two_in_one_explorer,
)
from tx_helpers.nn.positions import sinusoidal


def test_the_nearest_row_is_the_one_at_the_smallest_distance():
    x, rows = torch.randn(2, 11, 5, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    rows = rows[:7] * torch.arange(1, 8)[:, None]
    assert nearest(x, rows).tolist() == torch.cdist(x, rows).argmin(1).tolist()


@pytest.mark.parametrize("width", [4, 64])
def test_the_shares_are_those_of_all_the_sums(width):
    g = torch.Generator().manual_seed(width)
    words = torch.randn(WORDS, width, generator=g, dtype=torch.float64)
    places = sinusoidal(torch.arange(PLACES), width, dtype=torch.float64)
    sums = (words[:, None] + places).flatten(0, 1)[::7]
    word = torch.arange(WORDS).repeat_interleave(PLACES)[::7]
    place = torch.arange(PLACES).repeat(WORDS)[::7]
    seen = read_sums(width)
    right = torch.cdist(sums, words).argmin(1) == word
    assert seen.word == pytest.approx(right.double().mean().item(), abs=0.03)
    alone = torch.cdist(sums, places).argmin(1) == place
    assert seen.place == pytest.approx(alone.double().mean().item(), abs=0.05)


def test_the_cosines_get_narrower_as_one_through_the_root_of_the_width():
    for width in WIDTHS[1:]:
        assert read_sums(width).typical == pytest.approx(width**-0.5, rel=0.05)
        assert read_sums(width).cosines.sum() == pytest.approx(1)


def test_from_width_32_on_every_sum_is_read():
    read = {width: (read_sums(width).word, read_sums(width).after) for width in WIDTHS}
    assert read[16][1] < 0.95 and all(min(read[width]) > 0.995 for width in WIDTHS if width >= 32)


def test_the_bars_are_as_long_as_the_shares(as_stored):
    as_stored(narrow=draw(16))


def test_what_is_refused():
    with pytest.raises(ValueError, match="read_sums: width=0, expected at least 2"):
        read_sums(0)


def test_the_explorer_answers_its_question():
    sums = two_in_one_explorer()
    assert sums.summary.startswith("Width 4: the cosine of a word and a position is typically 0.50.")
    sums.set(width=64)
    assert "100% of the words and 48% of the positions" in sums.summary
    assert sums.summary.endswith("with the word that was read taken off, 100% of the positions.")
