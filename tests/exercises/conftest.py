"""An exercise for the tests of the checker; two writers of one file."""

import contextlib
import threading

import pytest
import torch

from tx_helpers.exercises.exercise import Exercise


@pytest.fixture
def double():
    """An exercise that is none of the course: twice a vector."""
    exercise = Exercise(
        "double",
        title="Twice",
        goal="Return twice the vector x of any length.",
        difficulty=1,
        minutes=1,
        hints=("a", "b", "c"),
        cases=lambda: [(torch.tensor([1.0, 2.0]),), (torch.arange(4.0),)],
    )

    @exercise.solution
    def double(x):
        """Twice x (D,)."""
        return 2 * x  # twice

    @exercise.mistake("You squared it: right for 2 alone.")
    def squared(x):
        return x * x

    return exercise


@pytest.fixture
def both_at_once(monkeypatch):
    """Call two functions that change a file in such a way that both would read it before either writes."""

    def run(module, calls):
        meeting, write = threading.Barrier(len(calls)), module.replace_file

        def written(*arguments):
            with contextlib.suppress(threading.BrokenBarrierError):
                meeting.wait(0.5)  # where each waits for its turn, nobody comes
            write(*arguments)

        monkeypatch.setattr(module, "replace_file", written)
        threads = [threading.Thread(target=call) for call in calls]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    return run
