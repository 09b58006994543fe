"""Write the exercises and the quiz of a lesson into its notebook: inline ones where they belong.

    python tools/place_exercises.py            all notebooks that have some
    python tools/place_exercises.py masking    these
    python tools/place_exercises.py --check    say which files would change, without writing

An inline exercise takes the place of a markdown cell with nothing but `<!-- your turn: NAME -->`, or of its own cells
placed earlier. The others and the quiz stand before the last cell.

The texts of the cells come from the package. Cells placed earlier are replaced. Those whose code has not changed keep
their outputs, and so do the imports, which show nothing. Run `tools/refresh_notebooks.py` afterwards.
"""

import argparse
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell

from notebook_frame import ROOT
from refresh_notebooks import load, selected, write
from tx_helpers.exercises.catalogue import modules, of_lesson
from tx_helpers.exercises.exercise import Exercise

WIDTH = 88  # of a line in a notebook (notebooks/ruff.toml)
PREFIX = "exercise"  # the ids of all cells placed here begin with it
INTRO = """\
## Exercises

Write your answer in place of the dots and run its cell: `check` says whether it is right, and if not, which mistake it
is. Stuck? `hint("{name}")` gives three hints, one after the other; `solution("{name}")` shows the tested code.
What you have solved is stored on this machine only; `progress()` shows it."""
IMPORTS = """\
import math

import torch

from tx_helpers.exercises import check, hint, progress, quiz, solution"""
QUIZ = "### Quiz\n\nChoose an answer to see why it is right or wrong."


HOLDER = re.compile(r"\s*<!-- your turn: (\w+) -->\s*")


def cells_of(lesson: str) -> list[NotebookNode]:
    """The cells of the section of exercises at a notebook's end, and of its quiz."""
    exercises = [exercise for exercise in of_lesson(lesson) if not exercise.inline]
    cells = [
        _markdown("intro", INTRO.format(name=exercises[0].name)),
        _code("imports", IMPORTS),
    ]
    for place, exercise in enumerate(exercises, 1):
        cells.append(_markdown(f"{exercise.name}-goal", goal_text(exercise, place)))
        cells.append(_code(exercise.name, f'{exercise.starter()}\n\n\ncheck("{exercise.name}", {exercise.name})'))
    return [*cells, _markdown("quiz-text", QUIZ), _code("quiz", f'quiz("{lesson}")')]


def inline_cells(lesson: str) -> dict[str, list[NotebookNode]]:
    """Exercise -> its two cells, for the exercises that stand where the notebook needs them."""
    return {
        exercise.name: [
            _markdown(f"{exercise.name}-goal", goal_text(exercise)),
            _code(
                exercise.name,
                f'{exercise.starter()}\n\n\n{exercise.name} = your_turn("{exercise.name}", {exercise.name})',
            ),
        ]
        for exercise in of_lesson(lesson)
        if exercise.inline
    }


def goal_text(exercise: Exercise, place: int = 0) -> str:
    """Heading, difficulty, minutes, goal and formula."""
    stars = "●" * exercise.difficulty + "○" * (3 - exercise.difficulty)
    kind = f"Exercise {place}" if place else "Your turn"
    lines = [f"### {kind}: {exercise.title}", "", f"{stars} · {exercise.minutes} minutes", "", exercise.goal]
    if exercise.formula:
        lines += ["", f"$${exercise.formula}$$", "", f"({exercise.source})"]
    return "\n".join(lines)


def place(notebook: NotebookNode, lesson: str) -> None:
    """Put the cells of that lesson's exercises where they belong, in place of those that stood there.

    ValueError if a placeholder names no inline exercise of the lesson.
    """
    old = {cell.id: cell for cell in notebook.cells if cell.id.startswith(f"{PREFIX}-")}
    inline, section = inline_cells(lesson), cells_of(lesson)
    for cell in (cell for cells in [*inline.values(), section] for cell in cells if cell.cell_type == "code"):
        before = old.get(cell.id)
        if before is not None and (before.source == cell.source or cell.id == f"{PREFIX}-imports"):
            cell.outputs, cell.execution_count = before.outputs, before.execution_count
    places = _places(notebook, inline)
    rest = []
    for index, cell in enumerate(notebook.cells):
        if index in places:
            rest += inline[places[index]]
        elif cell.id not in old:
            rest.append(cell)
    notebook.cells = [*rest[:-1], *section, rest[-1]]


def _places(notebook: NotebookNode, inline: dict[str, list[NotebookNode]]) -> dict[int, str]:
    """Index of a cell -> the inline exercise that takes its place: a placeholder, or else the goal placed earlier."""
    goals = {cells[0].id: name for name, cells in inline.items()}
    earlier, held = {}, {}
    for index, cell in enumerate(notebook.cells):
        if cell.id in goals:
            earlier[goals[cell.id]] = index
        elif cell.cell_type == "markdown" and (holder := HOLDER.fullmatch(cell.source)):
            if holder[1] not in inline:
                raise ValueError(
                    f"place_exercises: {cell.source.strip()!r}, expected one of {', '.join(inline) or 'none'}"
                )
            held[holder[1]] = index
    return {index: name for name, index in (earlier | held).items()}


def placed(path: Path) -> str:
    """The text that the notebook's file should have, except for the outputs."""
    notebook = load(path)
    place(notebook, path.stem[3:])
    return nbformat.writes(notebook) + "\n"


def narrow(code: str) -> str:
    """Code as a notebook holds it: a docstring of one line is broken before WIDTH, the rest where ruff breaks it."""
    lines = []
    for line in code.split("\n"):
        if len(line) > WIDTH and line.endswith('"') and line.lstrip().startswith('"'):
            margin, text = re.fullmatch(r'( *)"+(.*?)"+', line).groups()
            whole = re.sub(r"\([^()]*\)", lambda shape: shape[0].replace(" ", "\0"), f'{margin}"""{text}"""')
            broken = textwrap.wrap(whole, WIDTH, subsequent_indent=margin, break_on_hyphens=False)
            line = "\n".join(broken).replace("\0", " ")
        lines.append(line)
    code = "\n".join(lines)
    if all(len(line) <= WIDTH for line in code.split("\n")):
        return code
    command = [sys.executable, "-m", "ruff", "format", f"--config={ROOT / 'notebooks' / 'ruff.toml'}", "-"]
    return subprocess.run(command, input=code, capture_output=True, text=True, check=True).stdout.rstrip("\n")


def _markdown(name: str, source: str) -> NotebookNode:
    return new_markdown_cell(source, id=f"{PREFIX}-{name}".replace("_", "-"))


def _code(name: str, source: str) -> NotebookNode:
    return new_code_cell(narrow(source), id=f"{PREFIX}-{name}".replace("_", "-"))


def main(arguments: list[str] | None = None) -> int:
    """Command line; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("notebooks", nargs="*", help="number, name or path; all where none is given")
    parser.add_argument("--check", action="store_true", help="write nothing; exit code 1 if a file would change")
    options = parser.parse_args(arguments)
    changed = []
    for path in selected(options.notebooks, ROOT / "notebooks"):
        if path.stem[3:] not in modules():
            continue
        text = placed(path)
        if text != path.read_text(encoding="utf-8"):
            changed.append(path.name)
            if not options.check:
                write(path, text)
    print(f"{'would change' if options.check else 'changed'}: {', '.join(changed) or 'nothing'}")
    return 1 if options.check and changed else 0


if __name__ == "__main__":
    sys.exit(main())
