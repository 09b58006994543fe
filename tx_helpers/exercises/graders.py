"""A notebook's exercises for two graders. Both ask the course's own checker, so a failure names the mistake.

    python -m tx_helpers class --otter 04 tests       # test files, for `otter check` and `otter.Notebook().check`
    python -m tx_helpers class --nbgrader 04 source   # an assignment, for `nbgrader generate_assignment`

The course must be installed where a grader runs. Forms: otter-grader.readthedocs.io, "Exception-Based Format";
nbgrader.readthedocs.io, "Creating and grading assignments". An exercise counts a point.
"""

import json
import re
from pathlib import Path

from tx_helpers.exercises.catalogue import find, modules, of_lesson
from tx_helpers.exercises.checks import examine
from tx_helpers.exercises.course import LESSONS
from tx_helpers.exercises.exercise import Exercise

CALL = "from tx_helpers.exercises.graders import assert_right"
OTTER = f"""\
from otter.test_files import test_case

{CALL}

OK_FORMAT, points = False, 1
name = "NAME"


@test_case()
def test(env):
    assert_right(name, env.get(name))
"""
TEST = f'{CALL}\n\nassert_right("NAME", globals().get("NAME"))'
IMPORTS = "import math\n\nimport torch\nfrom torch import nn"
UNWRITTEN = re.compile(r'^( *)(.*(?:\.\.\.  # your \w+|raise NotImplementedError\("your code"\)))$', re.M)


def assert_right(name: str, answer: object) -> None:
    """AssertionError with what `check` says, if the answer is not right; nothing is written to a file of progress."""
    feedback = examine(find(name), answer)
    if not feedback:
        raise AssertionError(repr(feedback))


def end_exercises(number: str) -> list[Exercise]:
    """The exercises at the end of the notebook of this number, "04"; ValueError if there are none."""
    known = {LESSONS[lesson].number: lesson for lesson in modules()}
    if number not in known:
        raise ValueError(f"class: notebook {number} has no exercises, expected one of {', '.join(known)}")
    return [exercise for exercise in of_lesson(known[number]) if not exercise.inline]


def write_otter(number: str, folder: Path) -> list[Path]:
    """Write a test file for each exercise."""
    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / f"{exercise.name}.py" for exercise in end_exercises(number)]
    for file in files:
        file.write_text(OTTER.replace("NAME", file.stem), encoding="utf-8")
    return files


def write_nbgrader(number: str, folder: Path) -> list[Path]:
    """Write a source notebook: of each exercise its goal, a solution cell with the starter, and a locked test."""
    cells = [_cell("imports", IMPORTS)]
    for one in end_exercises(number):
        formula = f"\n\n$${one.formula}$$\n\n({one.source})" if one.formula else ""
        starter = UNWRITTEN.sub(r"\1### BEGIN SOLUTION\n\1\2\n\1### END SOLUTION", one.starter())
        cells.append(_cell(f"{one.name}-goal", f"## {one.title}\n\n{one.goal}{formula}", kind="markdown"))
        cells.append(_cell(one.name, starter, solution=True, locked=False))
        cells.append(_cell(f"{one.name}-test", TEST.replace("NAME", one.name), grade=True, points=1))
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{number}.ipynb"
    file.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return [file]


def _cell(name: str, source: str, *, kind: str = "code", **about: object) -> dict[str, object]:
    grader = {"schema_version": 3, "grade_id": name, "grade": False, "locked": True, "solution": False, "task": False}
    cell = {"cell_type": kind, "id": name.replace("_", "-"), "metadata": {"nbgrader": grader | about}, "source": source}
    return cell | ({"outputs": [], "execution_count": None} if kind == "code" else {})
