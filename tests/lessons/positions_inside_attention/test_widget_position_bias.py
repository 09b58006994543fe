"""The explorer of terms in the score: its numbers against formulas, its drawing against the numbers."""

import re

import numpy as np
import pytest

from tx_helpers.lessons.positions_inside_attention.position_bias import (
    BUCKETS,
    HEADS,
    LEARNED,
    bias_explorer,
    draw,
    terms,
)


@pytest.mark.parametrize(("head", "length"), [(1, 16), (3, 100), (4, 256)])
def test_the_terms_and_their_weights(head, length):
    none, alibi, t5 = terms(head, length)
    distance = np.arange(length)
    np.testing.assert_array_equal(none.bias, 0 * distance)
    np.testing.assert_allclose(alibi.bias, -(2.0 ** (-8 * head / HEADS)) * distance)
    exact, buckets, farthest = 8, BUCKETS["buckets"], BUCKETS["max_distance"]
    for d in distance:
        far = exact + int(np.log(max(d, 1) / exact) / np.log(farthest / exact) * (buckets - exact))
        assert t5.bias[d] == LEARNED[head - 1][d if d < exact else min(far, buckets - 1)]
    for term in (none, alibi, t5):
        np.testing.assert_allclose(term.weights, np.exp(term.bias) / np.exp(term.bias).sum())
        held = term.weights.cumsum()
        assert held[term.reach - 1] >= 0.95 - 1e-9 and (term.reach == 1 or held[term.reach - 2] < 0.95)


def test_every_head_has_a_number_for_every_bucket():
    assert len(LEARNED) == HEADS and {len(row) for row in LEARNED} == {BUCKETS["buckets"]}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [((0, 16), "terms: head=0, expected at least 1"), ((1, 1), "terms: length=1, expected at least 2")],
)
def test_what_terms_refuse(arguments, message):
    with pytest.raises(ValueError, match=message):
        terms(*arguments)


def test_what_is_drawn_and_said(as_stored):
    """A line ends where it leaves the scale, and the weights share one."""
    as_stored(first=draw(1, 64), last=draw(4, 16))


def test_the_explorer_answers_its_question():
    explorer = bias_explorer()
    assert explorer.summary.startswith("Head 2 of 4")  # not the head that the question asks for
    explorer.set(head=1)
    reaches = {}
    for length in (64, 256):
        explorer.set(length=length)
        reaches[length] = list(map(int, re.findall(r"on the nearest (\d+)", explorer.summary)))
    assert reaches == {64: [61, 12, 61], 256: [244, 12, 244]}
    explorer.set(head=4)
    assert "ALiBi adds 0.00 at distance 1 and −1.00 at 255" in explorer.summary
