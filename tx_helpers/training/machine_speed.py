"""How fast this machine is at its best, and how long something takes: what a roofline and an MFU are measured with.

    machine = measure_machine()                          # operations and bytes in a second, on one thread
    best_seconds(lambda: a @ b)

Both are measured on one thread, in seconds of the processor. Source: Williams et al. 2009.
"""

import time
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import torch

from tx_helpers.nn.arguments import check_numbers
from tx_helpers.training.contexts import cpu_threads

NUMBER = 4  # bytes of a float32
TICKS = 20  # of the clock: what a round lasts at least


class Machine(NamedTuple):
    """What a machine can do at its best."""

    operations_per_second: float  # of a matrix product
    bytes_per_second: float  # of a copy, read and written

    @property
    def ridge(self) -> float:
        """Operations for each byte from which on multiplications are the limit, not memory."""
        return self.operations_per_second / self.bytes_per_second

    def roof(self, per_byte: float) -> float:
        """The most operations in a second at this intensity: min(P, M · intensity)."""
        return min(self.operations_per_second, self.bytes_per_second * per_byte)


def best_seconds(run: Callable[[], object], *, rounds: int = 5) -> float:
    """The shortest of some rounds on one thread, after one that is not counted.

    A round repeats what the clock is too coarse for, such as one of 15.6 ms on Windows, and takes the mean.
    Seconds are those that the thread is on the processor: while another program has it, the clock stands still.
    """
    check_numbers("best_seconds", least=1, whole=True, rounds=rounds)
    with cpu_threads(1):
        run()
        found, enough = [], TICKS * tick(time.thread_time)
        for _ in range(rounds):
            began, count, seconds = time.thread_time(), 0, 0.0
            while seconds < enough or not count:
                run()
                count, seconds = count + 1, time.thread_time() - began
            found.append(seconds / count)
    return min(found)


def tick(clock: Callable[[], float]) -> float:
    """The step in which a clock advances, observed: some systems report a finer one than they have."""
    began = clock()
    while (one := clock()) == began:
        pass
    while (two := clock()) == one:
        pass
    return two - one


def measure_machine(*, size: int = 512, megabytes: int = 64, rounds: int = 10) -> Machine:
    """Peak speed of one thread of this machine: a product of two (size, size) matrices, and a copy."""
    check_numbers("measure_machine", least=1, whole=True, size=size, megabytes=megabytes)
    a, b = torch.ones(size, size), torch.ones(size, size)
    source = torch.ones(megabytes * 2**20 // NUMBER)
    target = torch.empty_like(source)
    product = best_seconds(partial(torch.mm, a, b), rounds=rounds)
    copy = best_seconds(partial(target.copy_, source), rounds=rounds)
    return Machine(2 * size**3 / product, 2 * source.numel() * NUMBER / copy)
