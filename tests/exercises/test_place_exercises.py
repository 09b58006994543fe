"""The notebooks have the exercises of the package, word for word; solutions pass in them, and starters do not."""

import re

import nbclient
import nbformat
import pytest
from nbformat.v4 import new_markdown_cell, new_notebook

import place_exercises
from notebook_frame import ROOT
from refresh_notebooks import load
from repository import COURSE
from tx_helpers.exercises.catalogue import find, modules, of_notebook

PATHS = {path.name[:2]: path for path in COURSE if path.name[:2] in modules()}
by_notebook = pytest.mark.parametrize("number", PATHS)
FEEDBACK = re.compile(r"^([○✗✓]) (\w+): ", re.MULTILINE)


def toy():
    return new_notebook(cells=[new_markdown_cell("# 04 Toy", id="a"), new_markdown_cell("## What to remember", id="b")])


def test_cells_are_placed_before_the_last_one_and_placing_again_changes_nothing():
    notebook = toy()
    place_exercises.place(notebook, "04")
    ids = [cell.id for cell in notebook.cells]
    assert ids[0] == "a" and ids[-1] == "b" and len(set(ids)) == len(ids)
    assert all(one.startswith("exercise-") for one in ids[1:-1])
    assert len(ids) == 2 + 2 + 2 * len(of_notebook("04")) + 2
    before = nbformat.writes(notebook)
    place_exercises.place(notebook, "04")
    assert nbformat.writes(notebook) == before


def test_a_changed_exercise_is_replaced_and_the_outputs_of_the_others_stay():
    notebook = toy()
    place_exercises.place(notebook, "04")
    first, second = (
        next(c for c in notebook.cells if c.id == f"exercise-{n}") for n in ("attention-weights", "one-head")
    )
    first.source, first.execution_count, second.execution_count = "old", 7, 8
    place_exercises.place(notebook, "04")
    counts = {cell.id: cell.execution_count for cell in notebook.cells if cell.cell_type == "code"}
    assert (counts["exercise-attention-weights"], counts["exercise-one-head"]) == (None, 8)


@by_notebook
def test_a_notebook_holds_its_exercises_word_for_word(number):
    notebook = load(PATHS[number])
    before = [cell.source for cell in notebook.cells]
    place_exercises.place(notebook, number)
    assert [cell.source for cell in notebook.cells] == before, "run tools/place_exercises.py"


@by_notebook
def test_the_section_runs_by_itself_after_a_restart(number, tmp_path, monkeypatch):
    """With answers that import nothing themselves."""
    monkeypatch.setenv("TX_PROGRESS", str(tmp_path / "progress.json"))
    session = {}
    for cell in solved(load(PATHS[number]).cells, imports=False):
        if cell.cell_type == "code" and cell.id.startswith("exercise-"):
            exec(cell.source, session)
    for exercise in of_notebook(number):
        assert session["check"](exercise.name, session[exercise.name])


def run(cells: list, tmp_path, monkeypatch) -> list[tuple[str, str]]:
    """All feedback, (sign, exercise), that the cells show."""
    monkeypatch.setenv("TX_PROGRESS", str(tmp_path / "progress.json"))
    notebook = new_notebook(cells=cells)
    nbclient.NotebookClient(notebook, kernel_name="python3", timeout=300).execute(cwd=str(ROOT / "notebooks"))
    shown = [
        out.data.get("text/plain", "")
        for cell in cells
        if cell.cell_type == "code"
        for out in cell.outputs
        if "data" in out
    ]
    return [pair for text in shown for pair in FEEDBACK.findall(text)]


def solved(cells: list, *, imports: bool = True) -> list:
    """The cells with each starter replaced by what `solution` prints, or by that without its imports."""
    names = {
        f"exercise-{name.replace('_', '-')}": name
        for number in modules()
        for name in map(lambda e: e.name, of_notebook(number))
    }
    for cell in cells:
        if name := names.get(cell.id):
            value = f"{name} = {name}()\n" if find(name).starter().startswith(f"{name} = ") else ""
            code = find(name).solution_source()
            if not imports:
                code = code[re.search(r"^(def|class) ", code, re.MULTILINE).start() :]
            cell.source = f'{code}\n\n\n{value}check("{name}", {name})'
    return cells


@pytest.mark.slow
@pytest.mark.parametrize(("change", "sign"), [(list, "○"), (solved, "✓")], ids=["starters", "solutions"])
def test_the_cells_of_all_exercises_check_starters_and_solutions(change, sign, tmp_path, monkeypatch):
    placed = [cell for number in modules() for cell in place_exercises.cells_of(number)]
    cells = {cell.id: cell for cell in placed if cell.cell_type == "code"}  # imports and quiz of the last one only
    expected = [(sign, exercise.name) for number in modules() for exercise in of_notebook(number)]
    assert run(change(list(cells.values())), tmp_path, monkeypatch) == expected


@pytest.mark.thorough
@by_notebook
def test_the_whole_notebook_runs_with_all_solutions(number, tmp_path, monkeypatch):
    feedback = run(solved(load(PATHS[number]).cells), tmp_path, monkeypatch)
    assert feedback == [("✓", exercise.name) for exercise in of_notebook(number)]


@pytest.mark.thorough
@by_notebook
def test_the_whole_notebook_runs_with_the_starters_and_none_passes(number, tmp_path, monkeypatch):
    feedback = run(load(PATHS[number]).cells, tmp_path, monkeypatch)
    assert feedback == [("○", exercise.name) for exercise in of_notebook(number)]
