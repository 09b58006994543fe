"""An exercise for the tests of the checker."""

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
        return 2 * x

    @exercise.mistake("You squared it: right for 2 alone.")
    def squared(x):
        return x * x

    return exercise
