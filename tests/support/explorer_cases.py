"""What the browser suite does with each explorer: the moves of a learner, and what must be seen afterwards.

A lesson's `explorers.py` holds them in a dictionary MOVES, by the names of its explorers.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Move:
    """One thing a learner does to a control, and a pattern that the explorer's summary must then match.

    control  the control's accessible name
    keys     pressed one after the other on the focused control ("ArrowRight", "a", …), or
    text     typed into it in place of what stood there, Enter at the end, or
    mouse    "click" (buttons, checkboxes, parts of a picture), "drag" (a slider, to its right end), or
             "choose:<option>" (a dropdown), or "point:word=5" (the part of the picture that sets a control so), or
             "pull:x2:0:-40" (the last part that turns this slider, dragged by so many pixels)
    holds    what the summaries before and after the move must fulfil besides
    ends     stops a training, which may have ended by itself before: then its button is gone, and that is no fault

    Of a trained model no pattern may ask for a number: the bits of a training differ between processors. Ask for what
    holds for every model that the same recipe trains, or for what the formula says (`rises`, `no_less`).
    """

    control: str
    summary: str
    keys: tuple[str, ...] = ()
    text: str | None = None
    mouse: str | None = None
    holds: Callable[[str, str], bool] = lambda before, after: True
    ends: bool = False


def rises(pattern: str) -> Callable[[str, str], bool]:
    """The number that is the pattern's group must not be smaller after the move than before it."""
    return lambda before, after: float(re.search(pattern, before)[1]) <= float(re.search(pattern, after)[1])


def no_less(pattern: str) -> Callable[[str, str], bool]:
    """Of the summary after the move: the second number of the pattern must not be smaller than the first."""

    def holds(before: str, after: str) -> bool:
        first, second = re.search(pattern, after).groups()
        return float(first) <= float(second)

    return holds


@dataclass(frozen=True)
class Case:
    """An explorer of a notebook ("08_full_model") by its name; at least one move by keyboard and one by mouse."""

    notebook: str
    explorer: str
    moves: tuple[Move, ...]
