"""The explorer of the ring: its numbers against simulated ranks, the drawing, the words, the controls."""

import pytest
import torch

from tx_helpers.lessons.scaling_up.simulated.collectives import all_gather, bytes_sent, reduce_scatter
from tx_helpers.lessons.scaling_up.simulated.ranks import simulate
from tx_helpers.lessons.scaling_up.simulated.ring import RANKS, around, describe, draw, last_step, ring_explorer


@pytest.mark.parametrize("ranks", [*RANKS, 5])
def test_the_ring_of_the_drawing_is_that_of_the_ranks(ranks):
    begin = around(ranks, 0).parts
    parts = [[torch.tensor(value) for value in row] for row in begin]
    halfway = simulate(reduce_scatter, parts)
    found = around(ranks, ranks - 1)
    assert [found.parts[rank][rank] for rank in range(ranks)] == [int(x) for x in halfway.results]
    whole = simulate(all_gather, halfway.results)
    assert around(ranks, last_step(ranks)).parts == [[int(x) for x in row] for row in whole.results]
    assert last_step(ranks) / ranks == bytes_sent("all_reduce", 1, ranks)


def test_a_step_by_hand():
    assert around(2, 1).parts == [[11, 2], [10, 22]] and around(2, 1).arrived == [0, 1]
    assert around(3, 0).arrived == [None] * 3
    with pytest.raises(ValueError, match="around: step=5"):
        around(3, 5)


def test_what_is_drawn_and_said(as_stored):
    as_stored(begin=draw(3, 0), step=draw(3, 1), end=draw(3, 4), two=draw(2, 9))


def test_controls_redraw():
    explorer = ring_explorer()
    assert explorer.summary.startswith("Step 1 of 6: reduce-scatter")
    explorer.set(step=6)
    assert "Step 6 of 6: all-gather" in explorer.summary and "16 of 16" in explorer.summary
    explorer.set(ranks=2)
    assert explorer.controls["step"].max == 2 and explorer.summary == describe(2, 2)
    assert ring_explorer().record().settings == 7
