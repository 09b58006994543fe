"""A notebook's exercises for two graders. Both ask the course's own checker, so a failure names the mistake.

For otter-grader: test files, for `otter check` and `otter.Notebook().check` (otter-grader.readthedocs.io,
"Exception-Based Format"). For nbgrader: a source notebook, for `nbgrader generate_assignment` (nbgrader.readthedocs.io,
"Creating and grading assignments"). The course must be installed where they run; an exercise counts a point.
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
OK_FORMAT, name, points = False, "NAME", 1
@test_case()
def test(env):
    assert_right(name, env.get(name))
"""
TEST = f'{CALL}\n\nassert_right("NAME", globals().get("NAME"))'
UNWRITTEN = re.compile(r'^( *)(.*(?:\.\.\.  # your \w+|raise NotImplementedError\("your code"\)))$', re.M)


def assert_right(name: str, answer: object) -> None:
    """AssertionError with what `check` says, if the answer is not right; nothing is written to a file of progress."""
    if not (feedback := examine(find(name), answer)):
        raise AssertionError(repr(feedback))


def write_exercises(number: str, folder: Path, *, otter: bool) -> list[Path]:
    """Write the end exercises of notebook "04" as otter's test files, or as a source notebook for nbgrader."""
    known = {LESSONS[lesson].number: lesson for lesson in modules()}
    if number not in known:
        raise ValueError(f"class: notebook {number} has no exercises, expected one of {', '.join(known)}")
    exercises = [exercise for exercise in of_lesson(known[number]) if not exercise.inline]
    files = {f"{number}.ipynb": json.dumps(_assignment(exercises), indent=1)}
    if otter:
        files = {f"{one.name}.py": OTTER.replace("NAME", one.name) for one in exercises}
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return [folder / name for name in files]


def _assignment(exercises: list[Exercise]) -> dict[str, object]:
    """A notebook: of each exercise its goal, a solution cell with the starter, and a locked test."""
    cells = [_cell("imports", "import math\n\nimport torch\nfrom torch import nn")]
    for one in exercises:
        formula = f"\n\n$${one.formula}$$\n\n({one.source})" if one.formula else ""
        starter = UNWRITTEN.sub(r"\1### BEGIN SOLUTION\n\1\2\n\1### END SOLUTION", one.starter())
        cells.append(_cell(f"{one.name}-goal", f"## {one.title}\n\n{one.goal}{formula}", kind="markdown"))
        cells.append(_cell(one.name, starter, solution=True, locked=False))
        cells.append(_cell(f"{one.name}-test", TEST.replace("NAME", one.name), grade=True, points=1))
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


def _cell(name: str, source: str, *, kind: str = "code", **about: object) -> dict[str, object]:
    grader = {"schema_version": 3, "grade_id": name, "grade": False, "locked": True, "solution": False, "task": False}
    cell = {"cell_type": kind, "id": name.replace("_", "-"), "metadata": {"nbgrader": grader | about}, "source": source}
    return cell | ({"outputs": [], "execution_count": None} if kind == "code" else {})
