"""Pipeline schedules: whole, without deadlock, with the bubble of the formula, and equal to one process."""

import copy
from itertools import pairwise

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from parity import properties
from tx_helpers.lessons.scaling_up.simulated.schedules import (
    Action,
    bubble,
    bubble_by_formula,
    gpipe,
    in_flight,
    interleaved,
    one_forward_one_backward,
    run_pipeline,
    timeline,
)
from wrong_arguments import faults

sizes = st.tuples(st.integers(1, 5), st.integers(1, 9))


@given(size=sizes, backward=st.sampled_from([1.0, 2.0, 3.0]))
@properties
def test_gpipe_and_1f1b_have_the_bubble_of_the_formula(size, backward):
    ranks, microbatches = size
    for schedule in (gpipe(ranks, microbatches), one_forward_one_backward(ranks, microbatches)):
        spans = timeline(schedule, backward=backward)
        assert bubble(spans) == pytest.approx(bubble_by_formula(ranks, microbatches))


@given(ranks=st.integers(2, 5), groups=st.integers(1, 4), chunks=st.integers(2, 4))
@properties
def test_the_interleaved_schedule_has_the_bubble_of_the_formula(ranks, groups, chunks):
    spans = timeline(interleaved(ranks, ranks * groups, chunks))
    assert bubble(spans) == pytest.approx(bubble_by_formula(ranks, ranks * groups, chunks))


@given(size=sizes)
@properties
def test_what_a_rank_keeps(size):
    ranks, microbatches = size
    assert in_flight(gpipe(ranks, microbatches)) == [microbatches] * ranks
    expected = [min(microbatches, ranks - rank) for rank in range(ranks)]
    assert in_flight(one_forward_one_backward(ranks, microbatches)) == expected


@given(size=sizes)
@properties
def test_no_rank_does_two_things_at_once_and_nothing_comes_too_early(size):
    ranks, microbatches = size
    spans = timeline(one_forward_one_backward(ranks, microbatches))
    ends = {span.action: span.end for span in spans}
    starts = {span.action: span.start for span in spans}
    for rank in range(ranks):
        own = [span for span in spans if span.rank == rank]
        assert all(one.end <= two.start for one, two in pairwise(own))
    for kind, stage, m in ends:
        earlier = Action("F", stage - 1, m) if kind == "F" else Action("B", stage + 1, m)
        assert ends.get(earlier, 0) <= starts[Action(kind, stage, m)]


def test_1f1b_by_hand():
    """Two ranks, three microbatches, forward and backward one unit each: 8 units, of which each rank works 6."""
    spans = timeline(one_forward_one_backward(2, 3), backward=1)
    first = [(span.action.kind, span.action.microbatch, span.start) for span in spans if span.rank == 0]
    assert first == [("F", 0, 0), ("F", 1, 1), ("B", 0, 3), ("F", 2, 4), ("B", 1, 5), ("B", 2, 7)]
    assert bubble(spans) == pytest.approx(1 / 4)


@pytest.mark.parametrize(
    "schedule", [gpipe(3, 4), one_forward_one_backward(3, 4), interleaved(3, 3, 2), interleaved(2, 4, 3)]
)
def test_the_pipeline_equals_all_stages_in_one_process(schedule):
    torch.manual_seed(0)
    count = 1 + max(action.stage for actions in schedule for action in actions)
    stages = [nn.Sequential(nn.Linear(6, 6), nn.Tanh()).double() for _ in range(count)]
    whole = nn.Sequential(*copy.deepcopy(stages))
    x, d_out = torch.randn(7, 6).double(), torch.randn(7, 6).double()
    out = run_pipeline(stages, schedule, x, d_out)
    expected = whole(x)
    expected.backward(d_out)
    torch.testing.assert_close(out, expected.detach(), rtol=0, atol=1e-14)
    ours = [p.grad for stage in stages for p in stage.parameters()]
    torch.testing.assert_close(ours, [p.grad for p in whole.parameters()], rtol=0, atol=1e-13)


def test_the_first_stage_may_take_token_ids():
    stages = [nn.Embedding(5, 4), nn.Linear(4, 3)]
    ids = torch.tensor([[0, 1], [2, 3], [4, 0]])
    expected = nn.Sequential(*stages)(ids).detach()
    torch.testing.assert_close(run_pipeline(stages, gpipe(2, 3), ids, torch.ones(3, 2, 3)), expected)
    assert stages[0].weight.grad is not None


def test_wrong_schedules_are_named():
    right = gpipe(2, 2)
    with pytest.raises(
        ValueError, match=r"1 actions are missing, expected each once; among them B of microbatch 0 at stage 1"
    ):
        timeline([right[0], right[1][:-1]])
    with pytest.raises(ValueError, match="timeline: rank 0 is empty"):
        timeline([[]])
    with pytest.raises(
        ValueError, match=r"1 actions stand twice, expected each once; among them F of microbatch 0 at stage 0"
    ):
        timeline([[right[0][0], *right[0]], right[1]])
    late = [right[0], right[1][::-1]]  # the second rank begins with a backward pass
    with pytest.raises(ValueError, match="rank 1 wants B of microbatch 0 at stage 1 and waits for F of microbatch 0"):
        timeline(late)
    with pytest.raises(ValueError, match="5 microbatches, expected a multiple of the 2 ranks"):
        interleaved(2, 5, 2)
    with pytest.raises(ValueError, match="1 stages, but the schedule has 2"):
        run_pipeline([nn.Linear(1, 1)], right, torch.ones(2, 1), torch.ones(2, 1))


def test_wrong_arguments_are_named():
    spans = timeline(gpipe(2, 2))
    for form in (gpipe, one_forward_one_backward):
        assert faults(form, {"ranks": 2, "microbatches": 2}) == []
    assert faults(interleaved, {"ranks": 2, "microbatches": 2, "chunks": 2}) == []
    assert faults(bubble_by_formula, {"ranks": 2, "microbatches": 2, "chunks": 2}) == []
    assert faults(timeline, {"schedule": gpipe(2, 2), "forward": 1.0, "backward": 2.0}) == []
    assert faults(bubble, {"spans": spans}) == []
    assert faults(in_flight, {"schedule": gpipe(2, 2)}) == []
    arguments = {"stages": [nn.Linear(2, 2), nn.Linear(2, 2)], "schedule": gpipe(2, 2)}
    batch = (torch.ones(4, 2), torch.ones(4, 2))
    assert faults(lambda stages, schedule: run_pipeline(stages, schedule, *batch), arguments) == []
    for wrong in (torch.tensor(1.0), torch.ones(1, 2), torch.ones(3, 2)):
        with pytest.raises(ValueError, match="one row for each of the 2 microbatches"):
            run_pipeline(*arguments.values(), wrong, batch[1])
