"""What the browser suite does with each explorer: the moves of a learner, and what must be seen afterwards.

A file `explorers_NN.py` beside this one holds the cases of notebook NN in a list CASES.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Move:
    """One thing a learner does to a control, and a pattern that the explorer's summary must then match.

    control  the control's accessible name
    keys     pressed one after the other on the focused control ("ArrowRight", "a", …), or
    text     typed into it in place of what stood there, Enter at the end, or
    mouse    "click" (buttons, checkboxes, parts of a picture), "drag" (a slider, to its right end), or
             "choose:<option>" (a dropdown)
    """

    control: str
    summary: str
    keys: tuple[str, ...] = ()
    text: str | None = None
    mouse: str | None = None


@dataclass(frozen=True)
class Case:
    """An explorer of a notebook ("08_full_model") by its name; at least one move by keyboard and one by mouse."""

    notebook: str
    explorer: str
    moves: tuple[Move, ...]
