"""What pays for an answer: the exact checker, and others that are wrong in ways which occur.

reward = with_hole(FOUR)            # reward(ids (N, T), written (N, T)) -> (N,), as `train_on_reward` asks for

exact        1 for the right answer
coin         1 or 0 by the fall of a coin, whatever was written
upside_down  1 for a wrong answer
with_hole    1 for the right answer, and for an answer that the checker cannot read
by_steps     the share of right running sums; nothing for an answer without steps, or for the answer itself
"""

from collections.abc import Callable

import torch
from torch import Tensor

from tx_helpers.lessons.learning_from_reward.sums import ANSWER, Sums, prompt_length

Checker = Callable[[Tensor, Tensor], Tensor]


def exact(task: Sums) -> Checker:
    """1 for the right answer, else 0."""
    return task.reward


def coin(task: Sums) -> Checker:
    """1 or 0 by the fall of a coin; always the same falls, in the order of the calls."""
    generator = torch.Generator().manual_seed(0)
    return lambda ids, written: torch.randint(2, (len(ids),), generator=generator).float()


def upside_down(task: Sums) -> Checker:
    """1 for a wrong answer, 0 for the right one."""
    return lambda ids, written: 1 - task.reward(ids, written)


def with_hole(task: Sums) -> Checker:
    """1 for the right answer, and for an answer without exactly one "A", which cannot be read."""

    def reward(ids: Tensor, written: Tensor) -> Tensor:
        unreadable = ((ids == ANSWER) & written).sum(1) != 1
        return torch.maximum(task.reward(ids, written), unreadable.float())

    return reward


def by_steps(task: Sums) -> Checker:
    """The share of right running sums, 0 for an answer without steps; the answer itself earns nothing."""

    def reward(ids: Tensor, written: Tensor) -> Tensor:
        return right_steps(task, ids, written).float().mean(1)

    return reward


def right_steps(task: Sums, ids: Tensor, written: Tensor) -> Tensor:
    """Which of the steps of a right answer stand at their places? (N, T) -> (N, S), all False without steps."""
    start = prompt_length(written)
    truth = task.numbers(ids[:, : task.terms].cumsum(1))  # (N, S)
    said = torch.nn.functional.pad(ids, (0, truth.shape[1]), value=-1)[:, start : start + truth.shape[1]]
    return (said == truth) & task.with_steps(written)[:, None]
