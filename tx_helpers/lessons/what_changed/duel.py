"""2017 against today: two decoders, the same stories, the same seconds on one processor core, side by side.

    sides = duel(seconds=8)
    sides["2017"].held_out, sides["today"].held_out      # nats a character
    sides["today"].sample                                # what it writes

The recipes are the first and the last of `ladder`. Seconds are those that this process is on the processor, so another
program does not slow one side down. A few steps of a model that is then thrown away say how many steps fit into them:
the learning rate has to know its last step. So a side's seconds are near those that were given, not equal to them.
"""

import time
from typing import NamedTuple

import torch

from tx_helpers.generation.search import generate
from tx_helpers.lessons.what_changed.ladder import (
    CONTEXT,
    FIRST,
    Recipe,
    as_of,
    ladder_model,
    ladder_text,
    training,
)
from tx_helpers.lessons.what_changed.rungs import RUNGS
from tx_helpers.nn.arguments import check_numbers
from tx_helpers.training.contexts import cpu_threads
from tx_helpers.training.loop import Run
from tx_helpers.training.losses import text_loss
from tx_helpers.training.machine_speed import TICKS, tick

TODAY = "today"
PILOT = 4  # steps that say how long one takes; more where the clock is coarse


class Side(NamedTuple):
    """One of the two, trained."""

    steps: int
    seconds: list[float]  # after each step
    losses: list[float]  # of each step
    held_out: float  # loss a character of stories that it did not read
    sample: str


def duel(*, seconds: float = 8.0, seed: int = 0, characters: int = 200) -> dict[str, Side]:
    """Both decoders, each trained for about this many seconds."""
    check_numbers("duel", above=0, seconds=seconds)
    check_numbers("duel", least=0, whole=True, characters=characters)
    with cpu_threads(1):
        return {
            FIRST: _side(as_of(FIRST), seconds, seed, characters),
            TODAY: _side(as_of(RUNGS[-1].name), seconds, seed, characters),
        }


def _side(recipe: Recipe, seconds: float, seed: int, characters: int) -> Side:
    run, times = _trained(recipe, max(2, round(seconds / _seconds_a_step(recipe, seed))), seed)
    text, model = ladder_text(), run.model.eval()
    sample, prompt, generator = "", text.tokenizer.encode("\n\n"), torch.Generator().manual_seed(seed)
    while len(sample) < characters:
        ids = generate(model, prompt, max_new_tokens=CONTEXT // 2, temperature=1.0, generator=generator)
        sample += text.tokenizer.decode(ids[0])
        prompt = ids[0].tolist()
    return Side(len(times), times, list(run.losses), text_loss(model, text.held_out, CONTEXT), sample[:characters])


def _seconds_a_step(recipe: Recipe, seed: int) -> float:
    """Without the first step, which is slower."""
    steps, enough = PILOT, TICKS * tick(time.process_time)
    while True:
        times = _trained(recipe, steps, seed)[1]
        if 0 < times[-1] - times[0] >= enough:
            return (times[-1] - times[0]) / (steps - 1)
        steps *= 2


def _trained(recipe: Recipe, steps: int, seed: int) -> tuple[Run, list[float]]:
    """The run, and the seconds after each of its steps."""
    model = ladder_model(recipe, seed=seed)
    run, times = Run(model, **training(recipe, model, steps=steps, seed=seed)), []
    began = time.process_time()
    for _ in range(steps):
        run.train_step()
        times.append(time.process_time() - began)
    return run, times
