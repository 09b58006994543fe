"""The explorer of clocks: its numbers against the formula, its drawing against the numbers."""

import re

import numpy as np
import pytest

from tx_helpers.lessons.positional_encodings.clocks import LENGTH, clocks_explorer, draw, read_clocks

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


def test_what_is_drawn_and_said(as_stored):
    """Hands end on their dials, those left out are dashed; every position that looks alike has a dot."""
    as_stored(all=draw(20, "all"), fastest=draw(20, "fastest"), fast=draw(20, "fast"))


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
