"""The explorer of clocks: its numbers against the formula, its drawing against the numbers."""

import math
import re

import numpy as np
import pytest

from tx_helpers.lessons.positional_encodings.clocks import LENGTH, clocks_explorer, describe, draw, read_clocks

RATES = 10000.0 ** (-np.arange(8) / 8)
BY = {"all": RATES, "fastest": RATES[:1], "fast": RATES[:2], "slow": RATES[2:]}


@pytest.mark.parametrize("kept", BY)
@pytest.mark.parametrize("position", [0, 20, 127])
def test_the_hands_and_the_fit_are_the_formula(position, kept):
    seen = read_clocks(position, kept)
    np.testing.assert_allclose(seen.hands, np.stack([np.sin(position * RATES), np.cos(position * RATES)], 1), atol=1e-9)
    fit = np.cos(np.subtract.outer(position - np.arange(LENGTH), np.zeros(1)) * BY[kept]).mean(axis=1)
    np.testing.assert_allclose(seen.fit, fit, atol=1e-9)
    assert seen.alike == [n for n in range(LENGTH) if fit[n] >= 0.95]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((128, "all"), "read_clocks: position=128, expected at least 0 and less than 128"),
        ((3, "none"), "read_clocks: kept='none', expected one of"),
    ],
)
def test_what_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        read_clocks(*arguments)


def test_hands_end_on_their_dials_and_those_left_out_are_dashed():
    svg = draw(20, "fast").svg
    hands = re.findall(r'<line x1="([\d.]+)" y1="88" x2="([\d.]+)" y2="([\d.]+)"([^>]*)>', svg)
    assert len(hands) == 8 and ["dasharray" in rest for *_, rest in hands] == [False] * 2 + [True] * 6
    for rate, (x, end, y, _) in zip(RATES, hands, strict=True):
        assert float(end) - float(x) == pytest.approx(38 * math.cos(20 * rate), abs=0.01)
        assert 88 - float(y) == pytest.approx(38 * math.sin(20 * rate), abs=0.01)


def test_every_position_that_looks_alike_has_a_dot():
    svg = draw(20, "fastest").svg
    assert svg.count('r="4"') == len(read_clocks(20, "fastest").alike) - 1 and svg.count('r="6"') == 1


def test_the_words():
    assert describe(20, "all", read_clocks(20, "all")) == (
        "Position 20: the fastest hand points 66° from the right. Read from all eight clocks, no other position looks "
        "like it."
    )


def test_the_explorer_answers_its_question():
    clocks = clocks_explorer()
    far = {}
    for kept in ("fastest", "fast", "slow"):
        clocks.set(kept=kept)
        count, furthest = re.search(
            r"(\d+|one) other positions? looks? .* furthest (\d+) away", clocks.summary
        ).groups()
        far[kept] = (1 if count == "one" else int(count), int(furthest))
    assert far["fastest"][0] > 10 and far["fastest"][1] > 100 and far["slow"][1] < 10
    assert far["fast"][0] < far["fastest"][0]


def test_a_click_on_the_curve_sets_the_position():
    svg = draw(20, "all").svg
    assert re.findall(r'data-sets="position=(\d+)"', svg) == [str(n) for n in range(2, 128, 3)]
    clocks = clocks_explorer()
    clocks._clicked(None, {"sets": "position=77"}, [])
    assert clocks.summary.startswith("Position 77:")


def test_play_goes_to_the_last_position():
    clocks = clocks_explorer()
    clocks.controls["play"].click()  # without an event loop it arrives at once
    assert clocks.values["position"] == LENGTH - 1 and not clocks.error
