"""Finds the exercises and quizzes of the lessons, which are imported when they are first needed.

In the edition without solutions (`make handout`) these modules hold no answers; the file RECORD holds their results.
"""

import difflib
import importlib
from functools import cache
from pathlib import Path
from types import ModuleType

import torch

from tx_helpers.exercises.course import LESSONS
from tx_helpers.exercises.exercise import LESSON, Exercise

RECORD = Path(__file__).with_name("record.pt")


@cache
def modules() -> dict[str, ModuleType]:
    """Lesson, "self_attention", -> its module `exercises`, which has its quiz; in the order of the course."""
    return {lesson: parts[0] for lesson in LESSONS if (parts := _modules(lesson))}


@cache
def _modules(lesson: str) -> list[ModuleType]:
    """The modules `exercises` and `exercises_…` of a lesson, by name."""
    folder = Path(__file__).parents[1] / "lessons" / lesson
    names = sorted(path.stem for path in folder.glob("exercises*.py"))
    return [importlib.import_module(f"{LESSON}{lesson}.{name}") for name in names]


@cache
def of_lesson(lesson: str) -> list[Exercise]:
    """The exercises of a lesson, in the order of its modules."""
    if lesson not in modules():
        raise ValueError(f"exercises: the lesson {lesson!r} has none; lessons with exercises: {', '.join(modules())}")
    found = [value for module in _modules(lesson) for value in vars(module).values() if isinstance(value, Exercise)]
    if RECORD.exists():
        records = torch.load(RECORD, weights_only=True)
        for exercise in found:
            exercise.use(records[exercise.name])
    return found


@cache
def lesson_of() -> dict[str, str]:
    """Name of an exercise -> its lesson."""
    return {exercise.name: lesson for lesson in modules() for exercise in of_lesson(lesson)}


def find(name: str) -> Exercise:
    """The exercise of that name; ValueError with the most similar names if there is none."""
    known = lesson_of()
    if not isinstance(name, str) or name not in known:
        near = difflib.get_close_matches(str(name), known, n=3, cutoff=0.4) or sorted(known)
        raise ValueError(f"exercises: none is named {name!r}; did you mean {', '.join(map(repr, near))}?")
    return next(exercise for exercise in of_lesson(known[name]) if exercise.name == name)
