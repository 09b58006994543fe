"""The softmax in one pass: its numbers against the softmax and against Flash, the drawing, the words, the explorer."""

import math

import pytest
import torch

from tx_helpers.lessons.cheaper_and_longer.online_softmax import (
    HUGE_SCORES,
    SCORES,
    SIZES,
    VALUES,
    describe,
    draw,
    online_softmax_explorer,
    plain,
    read_blocks,
    short,
)
from tx_helpers.zoo.parts.flash import merge, partial_attention

TINY = ((0.0, math.log(2), math.log(8), 0.0), (1.0, 2.0, 3.0, 4.0))

# --- compute ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [*SIZES, 5])
def test_every_step_is_the_softmax_of_what_was_read(size):
    scores, values = torch.tensor(SCORES).double(), torch.tensor(VALUES).double()
    for step in read_blocks(SCORES, VALUES, size):
        read = step.block.stop
        weights = scores[:read].softmax(0)
        assert step.output == pytest.approx((weights @ values[:read]).item(), abs=1e-12)
        assert torch.allclose(torch.tensor(step.shares).double() / step.total, weights, atol=1e-12)
        assert step.largest == max(SCORES[:read]) and step.total == pytest.approx(sum(step.shares))
    assert read == len(SCORES)


def test_the_three_numbers_are_those_of_flash():
    scores, values = (torch.tensor(part, dtype=torch.float64)[:, None] for part in (SCORES, VALUES))
    query, found = torch.ones(1, 1, dtype=torch.float64), None
    for step in read_blocks(SCORES, VALUES, 5):
        new = partial_attention(query, scores[step.block], values[step.block], scale=1.0)
        found = new if found is None else merge(found, new)
        kept = [found.out.item(), found.largest.item(), found.total.item()]
        assert [step.output, step.largest, step.total] == pytest.approx(kept, abs=1e-12)


def test_a_larger_score_shrinks_what_was_before():
    first, second, last = read_blocks(*TINY, 2)[0], read_blocks(*TINY, 2)[1], plain(*TINY)
    assert (first.factor, first.total) == (0.0, pytest.approx(1.5))
    assert first.shares == pytest.approx([0.5, 1.0])
    assert second.factor == pytest.approx(1 / 4) and second.added == pytest.approx(1 + 1 / 8)
    assert second.shares == pytest.approx([1 / 8, 1 / 4, 1, 1 / 8])
    assert last.total == pytest.approx(1.5) and last.output == pytest.approx((1 + 4 + 24 + 4) / 12)


def test_without_the_factor_the_end_is_wrong_unless_the_largest_came_first():
    wrong = read_blocks(*TINY, 2, rescale=False)[-1]
    assert wrong.total == pytest.approx(1.5 + 1.125)
    assert wrong.output == pytest.approx((0.5 + 2 + 3 + 0.5) / 2.625)
    falling = sorted(SCORES, reverse=True)
    right, kept = read_blocks(falling, VALUES, 3)[-1], read_blocks(falling, VALUES, 3, rescale=False)[-1]
    assert kept.output == pytest.approx(right.output, abs=1e-12)


def test_a_huge_score_does_not_overflow():
    end = read_blocks((1.0, 1000.0, -1000.0), (1.0, 2.0, 3.0), 1)[-1]
    assert end[1:] == (1000.0, 1.0, 0.0, 1.0, 2.0, [0.0, 1.0, 0.0])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (([1.0], [1.0, 2.0], 1), "read_blocks: 1 scores, but 2 values"),
        (([], [], 1), "read_blocks: scores is empty, expected a list that is not"),
        (([1.0], [1.0], 0), "read_blocks: size=0, expected at least 1"),
        (([None], [1.0], 1), "read_blocks: scores[0] is None, expected a number"),
    ],
)
def test_what_is_refused(arguments, said):
    with pytest.raises(ValueError) as raised:
        read_blocks(*arguments)
    assert str(raised.value) == said


# --- draw and describe -----------------------------------------------------------------------------------------------


def test_what_is_drawn_and_said(as_stored):
    """Bars are what scores count, outlines what they counted before; a line for each block, and the truth."""
    as_stored(
        begun=draw(*TINY, 2, 1),
        second=draw(*TINY, 1, 2),
        end=draw(*TINY, 2, 2),
        wrong=draw(*TINY, 2, 2, rescale=False),
    )
    for step in (0, 3):
        with pytest.raises(ValueError, match=f"draw: step={step}, expected at least 1 and at most 2"):
            draw(*TINY, 2, step)
    assert [short(n) for n in (-1.0, 2.5, 0.36788, 3.1e-8, 0.0)] == ["−1", "2.5", "0.368", "3e−8", "0"]


# --- bind ------------------------------------------------------------------------------------------------------------


def test_the_explorer_follows_its_controls():
    explorer = online_softmax_explorer()
    assert explorer.summary == describe(SCORES, VALUES, 3, 1)
    explorer.set(step=4)
    explorer.set(size=6)
    assert explorer.values["step"] == 2 and explorer.summary == describe(SCORES, VALUES, 6, 2)
    explorer.set(huge=1000.0, rescale=False)
    assert explorer.summary == describe((*SCORES[:7], 1000.0, *SCORES[8:]), VALUES, 6, 2, rescale=False)
    assert [option[1] for option in explorer.controls["huge"].options] == list(HUGE_SCORES)


@pytest.mark.slow
def test_pages_have_every_setting():
    blocks = sum(math.ceil(len(SCORES) / size) for size in SIZES)
    assert online_softmax_explorer().record().settings == 2 * len(HUGE_SCORES) * blocks
