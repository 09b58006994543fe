"""The clocks that are dragged: their parts against the formula, the curve against the parts, what is said of them."""

import numpy as np
import pytest
import traitlets

from tx_helpers.lessons.positions_inside_attention.hands import (
    AHEAD,
    DISTANCES,
    LAST,
    ClockHands,
    begin,
    describe,
    draw,
    hands_explorer,
    parts_of_score,
    table,
)

RATES = 10000.0 ** (-2 * np.arange(8) / 16)


@pytest.mark.parametrize("ahead", [0, 3, AHEAD])
def test_the_parts_are_the_cosines_of_the_distance(ahead):
    expected = np.cos((ahead - np.array(DISTANCES)[:, None]) * RATES)
    np.testing.assert_allclose(table(ahead), expected, atol=1e-12)
    np.testing.assert_allclose(parts_of_score([25], 22, ahead), parts_of_score([5], 2, ahead), atol=1e-12)
    assert DISTANCES[table(ahead).sum(1).argmax()] == ahead


def test_the_dot_stands_on_the_curve(as_stored):
    as_stored(ahead=draw(9, 2, 3))


def test_moving_both_changes_neither_the_distance_nor_the_sum():
    explorer = hands_explorer(ahead=3)
    hands = explorer.controls["hands"]
    assert explorer.summary == begin(9, 2) + describe(7, 3) and "together 5.56 of 8." in explorer.summary
    explorer.set(both=20)
    assert explorer.summary == begin(29, 22) + describe(7, 3)
    explorer.set(hands=[5, 2], both=0)
    assert explorer.summary.endswith(
        "m − n = 3, the eight pairs give " + ", ".join(["1.00"] * 8) + ", together 8.00 of 8."
    )
    explorer.set(ahead=0)
    assert "the eight pairs give −0.99, 0.58" in explorer.summary
    assert [link.source[1] for link in hands.follows] == ["value", "value"]
    assert [link.target for link in hands.follows] == [(hands, "both"), (hands, "ahead")]


def test_what_cannot_be_is_refused():
    for value in ([LAST + 1, 0], [1], [0.5, 1]):
        with pytest.raises(traitlets.TraitError, match="expected \\[m, n\\], whole and from 0 to 30"):
            ClockHands(value=value)
    with pytest.raises(ValueError, match="hands_explorer: ahead=7, expected at least 0 and at most 6"):
        hands_explorer(ahead=7)
