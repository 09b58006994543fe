"""Where the exercises and the quizzes are found: in the modules nb01, nb02, …, read when they are first asked for.

In the edition for learners whose teacher keeps the solutions (`make handout`) these modules hold no answers; what is
needed of them lies in the file RECORD.
"""

import difflib
import importlib
import pkgutil
from functools import cache
from pathlib import Path
from types import ModuleType

import torch

from tx_helpers.exercises.exercise import Exercise

RECORD = Path(__file__).with_name("record.pt")


@cache
def modules() -> dict[str, ModuleType]:
    """Notebook number, "04", -> its module."""
    names = sorted(info.name for info in pkgutil.iter_modules([str(Path(__file__).parent)]) if info.name[:2] == "nb")
    return {name[2:]: importlib.import_module(f"tx_helpers.exercises.{name}") for name in names}


@cache
def of_notebook(number: str) -> list[Exercise]:
    """The exercises of a notebook, in the order in which its module tells them."""
    if number not in modules():
        raise ValueError(f"exercises: notebook {number!r} has none; there are some for {', '.join(modules())}")
    found = [value for value in vars(modules()[number]).values() if isinstance(value, Exercise)]
    if RECORD.exists():
        records = torch.load(RECORD, weights_only=True)
        for exercise in found:
            exercise.use(records[exercise.name])
    return found


@cache
def notebook_of() -> dict[str, str]:
    """Name of an exercise -> number of its notebook."""
    return {exercise.name: number for number in modules() for exercise in of_notebook(number)}


def find(name: str) -> Exercise:
    """The exercise of that name; ValueError with the nearest names if there is none."""
    known = notebook_of()
    if name not in known:
        near = difflib.get_close_matches(str(name), known, n=3, cutoff=0.4) or sorted(known)
        raise ValueError(f"exercises: none is named {name!r}; did you mean {', '.join(map(repr, near))}?")
    return next(exercise for exercise in of_notebook(known[name]) if exercise.name == name)
