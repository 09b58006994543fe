"""The explorer of stretched clocks: its numbers against formulas, its drawing against the numbers."""

import math

import numpy as np
import pytest

from tx_helpers.lessons.positions_inside_attention.rotary import (
    METHODS,
    clocks,
    draw_clocks,
    stretched_explorer,
)

# ------------------------------------------------------------------------------------------------------------- compute


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("length", [64, 128, 512])
def test_the_clocks_turn_as_the_formulas_say(method, length):
    seen, factor = clocks(length, method), length / 64
    rates = 10000.0 ** (-2 * np.arange(8) / 16)
    if method == "interpolation":
        now = rates / factor
    else:
        base = 10000.0 * factor ** (16 / 14) if method == "NTK" else 10000.0
        now = base ** (-2 * np.arange(8) / 16)
    np.testing.assert_allclose(seen.seen, 64 * rates)
    np.testing.assert_allclose(seen.used, length * now)
    assert seen.step == pytest.approx(now[0])
    once_round = 64 * rates >= 2 * math.pi
    np.testing.assert_allclose(seen.beyond, np.where(once_round, 1.0, length * now / (64 * rates)))
    assert once_round.tolist() == [True] * 3 + [False] * 5


def test_what_the_stretchings_promise():
    assert clocks(256, "nothing").beyond.max() == pytest.approx(4)
    assert clocks(256, "interpolation").beyond.max() == pytest.approx(1)
    assert clocks(256, "NTK").beyond[-1] == pytest.approx(1)
    assert clocks(256, "NTK").step == clocks(256, "nothing").step == 4 * clocks(256, "interpolation").step


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((63, "NTK"), "clocks: length=63, expected at least 64"),
        ((64, "YaRN"), "clocks: method='YaRN', expected one of"),
    ],
)
def test_what_clocks_refuse(arguments, message):
    with pytest.raises(ValueError, match=message):
        clocks(*arguments)


# ---------------------------------------------------------------------------------------------------------------- draw


def test_only_pairs_with_new_angles_are_marked(as_stored):
    """Sectors are large from half a circle on, and discs from a full one on."""
    as_stored(
        **{f"{method}-{n}": draw_clocks(n, method, clocks(n, method)) for n, method in ((256, "nothing"), (64, "NTK"))}
    )


# ---------------------------------------------------------------------------------------------------------------- bind


def test_the_clocks_answer_their_questions():
    stretched = stretched_explorer()
    assert "0 of 8 pairs meet angles they have never met, none turns further" in stretched.summary
    stretched.set(length=256)
    assert "5 of 8 pairs meet angles they have never met, the furthest 4.0 times as far" in stretched.summary
    stretched.set(method="interpolation")
    assert "0 of 8 pairs" in stretched.summary and "the fastest pair turns by 14°" in stretched.summary
    stretched.set(method="NTK")
    assert "4 of 8 pairs" in stretched.summary and "the furthest 2.2 times" in stretched.summary
    assert "the fastest pair turns by 57°" in stretched.summary
