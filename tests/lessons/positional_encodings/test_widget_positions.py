"""The lesson's explorers: their numbers against formulas, their drawings against the numbers."""

import base64
import io
import math
import re

import numpy as np
import pytest
from matplotlib.image import imread

from tx_helpers.lessons.positional_encodings.positions import (
    FARTHEST,
    compare_positions,
    draw_comparison,
    draw_table,
    heatmap_explorer,
    pixels,
    position_table,
    two_positions_explorer,
)


def frequencies(width: int, base: float = 10000.0) -> np.ndarray:
    return base ** (-2 * np.arange(width // 2) / width)


# ------------------------------------------------------------------------------------------------------------- compute


@pytest.mark.parametrize(("width", "length", "base"), [(8, 20, 10000.0), (4, 200, 10.0), (64, 64, 1.0), (64, 64, 1e4)])
def test_the_table_is_the_formula_and_its_closest_pair_is_found_among_all(width, length, base):
    table = position_table(width, length, base)
    expected = np.empty((length, width))
    for i, frequency in enumerate(frequencies(width, base)):
        expected[:, 2 * i] = np.sin(np.arange(length) * frequency)
        expected[:, 2 * i + 1] = np.cos(np.arange(length) * frequency)
    np.testing.assert_allclose(table.values, expected, atol=1e-12)
    gaps = np.linalg.norm(expected[:, None] - expected, axis=-1) + 1e9 * np.eye(length)
    m, n = np.unravel_index(gaps.argmin(), gaps.shape)
    assert table.gap == pytest.approx(gaps[m, n], abs=1e-6)
    assert gaps[0, table.closest] == pytest.approx(gaps[m, n], abs=1e-6)
    assert table.turns == sum(2 * math.pi / frequency <= length for frequency in frequencies(width, base))


def test_a_table_of_one_position_has_no_pair_to_compare():
    with pytest.raises(ValueError, match="position_table: length=1, expected at least 2"):
        position_table(8, 1, 10000.0)


@pytest.mark.parametrize(("m", "n", "width"), [(10, 15, 64), (3, 3, 8), (128, 0, 64)])
def test_two_positions_are_compared_pair_by_pair(m, n, width):
    seen = compare_positions(m, n, width)
    terms = np.cos((m - n) * frequencies(width))
    np.testing.assert_allclose(seen.terms, terms, atol=1e-12)
    assert seen.product == pytest.approx(terms.sum())
    assert seen.vectors.shape == (2, width)
    assert seen.curve[abs(m - n)] == pytest.approx(terms.sum())
    assert len(seen.curve) == FARTHEST + 1


# ---------------------------------------------------------------------------------------------------------------- draw


def image_of(markup: str) -> np.ndarray:
    """The stored picture, decoded by another program than the one that wrote it."""
    data = re.search(r"base64,([^\"]+)", markup)[1]
    return np.rint(255 * imread(io.BytesIO(base64.b64decode(data)))[..., :3]).astype(int)


def test_pixels_are_slate_at_minus_one_white_at_zero_and_pink_at_one():
    image = image_of(pixels(np.array([[-1.0, 0.0], [1.0, 0.5], [0.0, -0.5]]), 0, 10))
    assert image[0].tolist() == [[82, 96, 109], [255, 255, 255]]
    assert image[1, 0].tolist() == [175, 75, 133]
    np.testing.assert_allclose(image[1, 1], [215, 165, 194], atol=2)  # half way from white to pink
    np.testing.assert_allclose(image[2, 1], [168, 175, 182], atol=2)


def test_the_picture_has_a_cell_for_each_number_and_is_the_same_each_time():
    table = position_table(12, 30, 10000.0)
    assert image_of(draw_table(table).svg).shape == (30, 12, 3)
    assert draw_table(table) == draw_table(position_table(12, 30, 10000.0))


def test_a_picture_that_is_too_large_is_refused():
    with pytest.raises(ValueError, match=r"\(300, 300\) makes 90,300 bytes, expected at most 65,535"):
        pixels(np.zeros((300, 300)), 0, 10)


def test_what_is_drawn_and_said(as_stored):
    """Each pair has its bar in the colour of its sign; the words compare with the distance before."""
    as_stored(
        two=draw_comparison(10, 16, compare_positions(10, 16, 8)),
        same=draw_comparison(4, 4, compare_positions(4, 4, 8)),
        table=draw_table(position_table(12, 30, 10000.0)),
    )


# ---------------------------------------------------------------------------------------------------------------- bind


def test_the_explorers_answer_their_questions():
    table = heatmap_explorer()
    assert "are neighbours (they differ by 1.47)" in table.summary
    table.set(base=1)
    assert "32 of 32 pairs make a full turn" in table.summary
    assert "are 44 apart (they differ by 0.10)" in table.summary
    pair = two_positions_explorer()
    assert "23.50, less than the 23.93 at distance 4" in pair.summary
    pair.set(m=70, n=76)
    assert "23.56, more than the 23.50 at distance 5" in pair.summary
