"""Continuous batching against static batches, and both against a simulation step by step."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from parity import properties
from tx_helpers.lessons.cheaper_and_longer.batching import (
    Request,
    continuous_batches,
    draw_requests,
    report,
    static_batches,
)
from wrong_arguments import faults

some_requests = st.lists(st.tuples(st.integers(0, 12), st.integers(1, 9)), min_size=1, max_size=12).map(
    lambda pairs: [Request(*pair) for pair in sorted(pairs)]
)


def step_by_step(requests, places, continuous):
    """What a server does in each step: look who has ended, let others in, write a token of each."""
    left, starts, step = {}, {}, 0
    while len(starts) < len(requests) or left:
        if continuous or not left:
            waiting = [i for i, request in enumerate(requests) if i not in starts and request.arrival <= step]
            for i in waiting[: places - len(left)]:
                starts[i], left[i] = step, requests[i].length
        left = {i: count - 1 for i, count in left.items() if count > 1}
        step += 1
    return [starts[i] for i in range(len(requests))]


@given(requests=some_requests, places=st.integers(1, 5))
@properties
def test_both_are_what_a_server_would_do_step_by_step(requests, places):
    static, continuous = static_batches(requests, places), continuous_batches(requests, places)
    assert static == step_by_step(requests, places, continuous=False)
    assert continuous == step_by_step(requests, places, continuous=True)
    assert all(soon <= late for soon, late in zip(continuous, static, strict=True))
    better, worse = report(requests, continuous, places), report(requests, static, places)
    assert better.throughput >= worse.throughput and better.waiting <= worse.waiting and better.waste <= worse.waste


def test_by_hand():
    requests = [Request(0, 1), Request(0, 4), Request(1, 2), Request(3, 1)]
    assert static_batches(requests, 2) == [0, 0, 4, 4]  # 1 and 4 tokens; the third waits for the fourth token
    assert report(requests, [0, 0, 4, 4], 2) == pytest.approx((8 / 6, (3 + 1) / 4, 1 - 8 / 12))
    assert continuous_batches(requests, 2) == [0, 0, 1, 3]
    assert report(requests, [0, 0, 1, 3], 2) == pytest.approx((8 / 4, 0, 0))


def test_equal_lengths_at_once_need_no_continuous_batches():
    requests = [Request(0, 5)] * 6
    assert static_batches(requests, 2) == continuous_batches(requests, 2) == [0, 0, 5, 5, 10, 10]


@pytest.mark.parametrize("seed", range(5))
def test_under_load_continuous_batches_write_more_and_let_wait_less(seed):
    generator = torch.Generator().manual_seed(seed)
    requests = draw_requests(200, rate=1.0, mean_length=20, generator=generator)
    assert sum(request.length for request in requests) / 200 == pytest.approx(20, rel=0.3)
    assert requests[-1].arrival == pytest.approx(200, rel=0.3)
    static, continuous = (report(requests, form(requests, 8), 8) for form in (static_batches, continuous_batches))
    assert continuous.throughput > 1.5 * static.throughput
    assert continuous.waiting < static.waiting and continuous.waste < 0.25 < static.waste


def test_wrong_arguments():
    requests = [Request(0, 3), Request(2, 4)]
    for form in (static_batches, continuous_batches):
        assert faults(form, dict(requests=requests, places=2)) == []
    assert faults(report, dict(requests=requests, starts=[0, 2], places=2)) == []
    assert faults(draw_requests, dict(count=3, rate=0.5, mean_length=4, generator=torch.Generator())) == []
    with pytest.raises(ValueError, match="static_batches: request 1 arrives before request 0, expected the order of"):
        static_batches(requests[::-1], 2)
    with pytest.raises(ValueError, match="report: 1 starts for 2 requests, expected one for each"):
        report(requests, [0], 2)
