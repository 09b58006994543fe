"""What lies in the tests' folder of a lesson beside its tests: claims, explorers' cases, right and wrong answers."""

import importlib.util
from pathlib import Path
from types import ModuleType

from notebook_frame import ROOT
from tx_helpers.exercises.course import LESSONS

FOLDER = ROOT / "tests" / "lessons"


def lesson_files(pattern: str, folder: Path = FOLDER) -> list[ModuleType]:
    """The files of this name ("claims.py", "right*.py") of all lessons, as modules, in the order of the course.

    Each has the name of its lesson's notebook as NOTEBOOK.
    """
    return [
        _loaded(path, f"{name}_{path.stem}", lesson.stem)
        for name, lesson in LESSONS.items()
        for path in sorted((folder / name).glob(pattern))
    ]


def _loaded(path: Path, name: str, notebook: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    module.NOTEBOOK = notebook
    spec.loader.exec_module(module)
    return module
