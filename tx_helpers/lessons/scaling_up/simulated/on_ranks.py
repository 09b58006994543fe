"""Run a learner's program on simulated ranks, and describe what happened so that it can be compared.

The description has what each rank returned, and the bytes through the busiest rank: those that it sent and received.
Where the ranks wait for each other, it says which rank waits for whom.
"""

import threading
from collections.abc import Callable

import torch

from tx_helpers.exercises.exercise import Exercise
from tx_helpers.exercises.sandbox import time_limit
from tx_helpers.lessons.scaling_up.simulated.ranks import Rank, Simulated, simulate

SECONDS = Exercise.seconds  # an endless loop on a rank ends then
ENDED = "all ranks have ended"


def on_ranks(
    program: Callable[..., object], *inputs: list, traffic: bool = True, buffered: bool = True, single: bool = False
) -> dict:
    """{"the ranks": …, "rank 0": its result, …, "bytes through the busiest rank": …} of program(rank, *its inputs).

    inputs   lists with one entry for each rank
    traffic  False: the bytes are left out, because the exercise is not about them
    single   it also says whether each message is a single number
    """
    count = len(inputs[0])

    def in_time(rank: Rank, *own: object) -> object:
        with time_limit(SECONDS):  # of the rank's own thread: the caller only waits for it
            return program(rank, *own)

    try:
        run = _beside(lambda: simulate(in_time, *inputs, buffered=buffered))
    except ValueError as error:
        if not str(error).startswith("simulate: "):
            raise
        run, state = Simulated([None] * count, []), str(error).removeprefix("simulate: ")
    else:
        state = ENDED
    if any(result is Ellipsis for result in run.results):
        raise NotImplementedError
    found = {"the ranks": state} | {f"rank {number}": result for number, result in enumerate(run.results)}
    if single:
        longest = max((message.bytes for message in run.messages), default=0)
        found["each message"] = "a single number" if longest <= torch.float64.itemsize else f"up to {longest} bytes"
    return found | ({"bytes through the busiest rank": _busiest(run)} if traffic else {})


def _beside(call: Callable[[], Simulated]) -> Simulated:
    """call() in a thread of its own, while this one waits in short steps: only so can its time limit stop it."""
    done: list[Simulated] = []
    failed: list[BaseException] = []
    mode = torch.enable_grad if torch.is_grad_enabled() else torch.no_grad

    def work() -> None:
        try:
            with mode():
                done.append(call())
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(0.05)
    if failed:
        raise failed[0]
    return done[0]


def _busiest(run: Simulated) -> int:
    """Bytes in and out of the rank with the most of them: how fast its link must be."""
    ranks = range(len(run.results))
    return max(sum(m.bytes * ((m.source == rank) + (m.to == rank)) for m in run.messages) for rank in ranks)
