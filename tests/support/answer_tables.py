"""How the tables of answers are written: exercise -> {name of an answer: the answer}.

`right.py` of a lesson's tests holds right answers by other algorithms (forms of the solution itself are made by
`answer_forms.py`), `unlike.py` wrong ones that were written without a look at the bank of mistakes. Each wrong one
runs, returns something of the right shape, and is wrong: in a corner, for some sizes only, by another paper's formula,
by aliasing, or in precision. Its name says what it does. There is at least one for each exercise, and there are more
where they are hard to reject: where few cases show them, or only a fine tolerance does. An easier one would add
nothing, since a mistake in the bank or another answer passes before it does.

A wrong answer that is an edit of the solution, or an expression in its place, stands in a table of text in the form of
`tx_helpers/exercises/slips.py`, under its exercise's name and its own; a sentence may say why. A longer one is a
function, `send_to_experts=named(sent_with_a_limit_for_each_expert)` behind the table:

    attention_weights.whole_root_right_for_square_widths_only    math.sqrt → math.isqrt
    attention_weights.weights_exp_that_overflows
          return (e := (Q.T @ K / math.sqrt(len(Q))).exp()) / e.sum(-1, keepdim=True)
"""

import math
import sys

import torch
import torch.nn.functional as F

from tx_helpers.exercises.catalogue import find
from tx_helpers.exercises.slips import entries, wrong_answer


def named(*answers) -> dict[str, object]:
    """Functions and classes as entries of a table, under their own names."""
    return {answer.__name__: answer for answer in answers}


def edits(table: str, **functions: dict[str, object]) -> dict[str, dict[str, object]]:
    """The answers of a table of text, which knows the names of the calling module, beside those that are functions."""
    names = {"F": F, "math": math, "torch": torch} | sys._getframe(1).f_globals
    for place, code, _ in entries(table):
        exercise, name = place.split(".")
        if name in functions.setdefault(exercise, {}):
            raise ValueError(f"{place} stands twice")
        functions[exercise][name] = wrong_answer(place, code, find(exercise).answer, names)
    return functions
