"""Finds the exercises and quizzes: in nb01, nb02, nb06_inline, …, imported when they are first needed.

In the edition without solutions (`make handout`) these modules hold no answers; the file RECORD holds their results.
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
    """Notebook number, "04", -> its module nb04, which has its quiz."""
    return {name[2:]: module for name, module in _modules().items() if len(name) == 4}


@cache
def _modules() -> dict[str, ModuleType]:
    """Name -> module: nb04, and nb04_inline for exercises of notebook 04 that do not fit into one file."""
    names = sorted(info.name for info in pkgutil.iter_modules([str(Path(__file__).parent)]) if info.name[:2] == "nb")
    return {name: importlib.import_module(f"tx_helpers.exercises.{name}") for name in names}


@cache
def of_notebook(number: str) -> list[Exercise]:
    """The exercises of a notebook, in the order of its modules."""
    if number not in modules():
        raise ValueError(f"exercises: notebook {number!r} has none; notebooks with exercises: {', '.join(modules())}")
    parts = [module for name, module in _modules().items() if name[2:4] == number]
    found = [value for module in parts for value in vars(module).values() if isinstance(value, Exercise)]
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
    """The exercise of that name; ValueError with the most similar names if there is none."""
    known = notebook_of()
    if not isinstance(name, str) or name not in known:
        near = difflib.get_close_matches(str(name), known, n=3, cutoff=0.4) or sorted(known)
        raise ValueError(f"exercises: none is named {name!r}; did you mean {', '.join(map(repr, near))}?")
    return next(exercise for exercise in of_notebook(known[name]) if exercise.name == name)
