"""Continuous batching, simulated: a sequence that ends makes room for one that waits, at every step.

    static        a batch starts with those that wait, and the next batch starts when its longest sequence has ended
    continuous    a place is taken again in the step after its sequence has ended

A decoding step reads all weights once, however many sequences it serves. So here every step takes one unit of time,
whether its places are taken or not, and writes one token of each sequence. What counts is how many places stand empty.
Source: Yu et al. 2022 (Orca), section 3. Left out on purpose: the time of a prompt's first pass, and memory; both
kinds of batches would pay for them.
"""

import heapq
from typing import NamedTuple

import torch

from tx_helpers.nn.arguments import check_numbers, check_types


class Request(NamedTuple):
    """A text to write: the step in which it arrives, and how many tokens it will have."""

    arrival: int
    length: int


class Report(NamedTuple):
    """What a schedule achieves."""

    throughput: float  # tokens for each step, from the first arrival to the last end
    waiting: float  # steps between arrival and start, the mean over the requests
    waste: float  # the share of places that no text used, in those steps


def draw_requests(
    count: int, *, rate: float, mean_length: int, generator: torch.Generator | None = None
) -> list[Request]:
    """Requests in order of arrival, `rate` of them in a step on average; lengths are geometric: few are long."""
    check_numbers("draw_requests", least=1, whole=True, count=count, mean_length=mean_length)
    check_numbers("draw_requests", above=0, less_than=float("inf"), rate=rate)
    check_types("draw_requests", (torch.Generator, type(None)), generator=generator)
    gaps = torch.empty(count, dtype=torch.float64).exponential_(rate, generator=generator)
    lengths = torch.empty(count, dtype=torch.float64).geometric_(1 / mean_length, generator=generator)
    arrivals = gaps.cumsum(0).clamp(max=1e12).long()
    return [Request(*pair) for pair in zip(arrivals.tolist(), lengths.long().tolist(), strict=True)]


def static_batches(requests: list[Request], places: int) -> list[int]:
    """The step in which each request starts, with up to `places` of those that wait in a batch."""
    _check("static_batches", requests, places)
    starts, now = [], 0
    while len(starts) < len(requests):
        now = max(now, requests[len(starts)].arrival)
        batch = [request for request in requests[len(starts) : len(starts) + places] if request.arrival <= now]
        starts += [now] * len(batch)
        now += max(request.length for request in batch)
    return starts


def continuous_batches(requests: list[Request], places: int) -> list[int]:
    """The step in which each request starts: first come, first served, as soon as a place is free."""
    _check("continuous_batches", requests, places)
    starts, free_at = [], [0] * places  # when each place is free, as a heap
    for request in requests:
        starts.append(max(request.arrival, heapq.heappop(free_at)))
        heapq.heappush(free_at, starts[-1] + request.length)
    return starts


def report(requests: list[Request], starts: list[int], places: int) -> Report:
    """The three figures of a schedule."""
    _check("report", requests, places)
    check_types("report", list, starts=starts)
    check_numbers("report", {f"start {i}": start for i, start in enumerate(starts)}, least=0, whole=True)
    if len(starts) != len(requests):
        raise ValueError(f"report: {len(starts)} starts for {len(requests)} requests, expected one for each")
    tokens = sum(request.length for request in requests)
    end = max(start + request.length for start, request in zip(starts, requests, strict=True))
    steps = end - requests[0].arrival
    waited = sum(start - request.arrival for start, request in zip(starts, requests, strict=True))
    return Report(tokens / steps, waited / len(requests), 1 - tokens / (places * steps))


def _check(where: str, requests: list[Request], places: int) -> None:
    check_types(where, list, requests=requests)
    check_types(where, Request, **{f"request {i}": request for i, request in enumerate(requests)})
    check_numbers(where, least=1, whole=True, places=places)
    for i, request in enumerate(requests):
        check_numbers(f"{where}: request {i}", least=0, whole=True, arrival=request.arrival)
        check_numbers(f"{where}: request {i}", least=1, whole=True, length=request.length)
        if i and request.arrival < requests[i - 1].arrival:
            raise ValueError(f"{where}: request {i} arrives before request {i - 1}, expected the order of arrival")
