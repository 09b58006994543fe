"""Timing for the benchmarks: the rivals take turns, so that a slow moment of a shared machine hits them all."""

import statistics
import time
from collections.abc import Callable, Mapping


def in_turns(rivals: Mapping[str, Callable[[], object]], *, rounds: int) -> dict[str, list[float]]:
    """Seconds of each rival in every round, after one round that is not counted."""
    seconds: dict[str, list[float]] = {name: [] for name in rivals}
    for counted in [False] + [True] * rounds:
        for name, run in rivals.items():
            start = time.perf_counter()
            run()
            if counted:
                seconds[name].append(time.perf_counter() - start)
    return seconds


def medians(rivals: Mapping[str, Callable[[], object]], *, rounds: int) -> dict[str, float]:
    """Median seconds of each rival."""
    return {name: statistics.median(values) for name, values in in_turns(rivals, rounds=rounds).items()}
