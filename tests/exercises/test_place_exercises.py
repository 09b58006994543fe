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
from tx_helpers.exercises.catalogue import find, modules, of_lesson

PATHS = {path.stem[3:]: path for path in COURSE if path.stem[3:] in modules()}
by_lesson = pytest.mark.parametrize("lesson", PATHS)
FEEDBACK = re.compile(r"^([○✗✓]) (\w+): ", re.MULTILINE)


def toy():
    return new_notebook(cells=[new_markdown_cell("# 04 Toy", id="a"), new_markdown_cell("## What to remember", id="b")])


def test_cells_are_placed_before_the_last_one_and_placing_again_changes_nothing():
    notebook = toy()
    place_exercises.place(notebook, "self_attention")
    ids = ids_of(notebook.cells)
    assert ids[0] == "a" and ids[-1] == "b" and len(set(ids)) == len(ids)
    assert all(one.startswith("exercise-") for one in ids[1:-1])
    assert len(ids) == 2 + 2 + 2 * sum(not exercise.inline for exercise in of_lesson("self_attention")) + 2
    before = nbformat.writes(notebook)
    place_exercises.place(notebook, "self_attention")
    assert nbformat.writes(notebook) == before


def test_a_changed_exercise_is_replaced_and_the_outputs_of_the_others_stay():
    notebook = toy()
    place_exercises.place(notebook, "self_attention")
    first, second = (
        next(c for c in notebook.cells if c.id == f"exercise-{n}") for n in ("attention-weights", "one-head")
    )
    first.source, first.execution_count, second.execution_count = "old", 7, 8
    place_exercises.place(notebook, "self_attention")
    counts = {cell.id: cell.execution_count for cell in notebook.cells if cell.cell_type == "code"}
    assert (counts["exercise-attention-weights"], counts["exercise-one-head"]) == (None, 8)


@pytest.fixture
def inline(monkeypatch):
    """One head stands where the notebook needs it, and no other exercise does."""
    for exercise in of_lesson("self_attention"):
        monkeypatch.setattr(exercise, "inline", exercise.name == "one_head")


HELD = "<!-- your turn: one_head -->\n"
TURN = ["exercise-one-head-goal", "exercise-one-head"]


def ids_of(cells: list) -> list[str]:
    return [cell.id for cell in cells]


def test_an_inline_exercise_takes_its_placeholders_place_and_stays_there(inline):
    notebook = toy()
    notebook.cells[1:1] = [new_markdown_cell(HELD, id="c"), new_markdown_cell("more", id="d")]
    place_exercises.place(notebook, "self_attention")
    assert ids_of(notebook.cells)[:5] == ["a", *TURN, "d", "exercise-intro"]
    assert ids_of(notebook.cells).count(TURN[1]) == 1
    goal, code = notebook.cells[1:3]
    assert goal.source.startswith("### Your turn: ") and "Exercise" not in goal.source
    assert code.source.endswith('    ...  # your code\n\n\none_head = your_turn("one_head", one_head)')
    headings = [cell.source for cell in notebook.cells if cell.source.startswith("### Exercise ")]
    assert [heading.split()[2] for heading in headings] == [f"{n}:" for n in range(1, len(of_lesson("self_attention")))]
    code.execution_count, before = 7, nbformat.writes(notebook)
    place_exercises.place(notebook, "self_attention")
    assert notebook.cells[2].execution_count == 7 and ids_of(notebook.cells) == ids_of(nbformat.reads(before, 4).cells)


def test_an_inline_exercise_moves_to_a_new_placeholder_and_follows_its_goal(inline):
    notebook = toy()
    notebook.cells[1:1] = [new_markdown_cell(HELD, id="c"), new_markdown_cell("more", id="d")]
    place_exercises.place(notebook, "self_attention")
    notebook.cells.insert(4, new_markdown_cell(HELD, id="e"))
    place_exercises.place(notebook, "self_attention")
    assert ids_of(notebook.cells)[:5] == ["a", "d", *TURN, "exercise-intro"]
    notebook.cells.insert(0, notebook.cells.pop(2))
    place_exercises.place(notebook, "self_attention")
    assert ids_of(notebook.cells)[:5] == [*TURN, "a", "d", "exercise-intro"]


@pytest.mark.parametrize("name", ["attention_weights", "unheard_of"])
def test_a_placeholder_of_no_inline_exercise_is_named(inline, name):
    notebook = toy()
    notebook.cells.insert(1, new_markdown_cell(HELD.replace("one_head", name), id="c"))
    with pytest.raises(ValueError, match=f"your turn: {name}.*, expected one of one_head"):
        place_exercises.place(notebook, "self_attention")


@by_lesson
def test_every_inline_exercise_stands_in_its_notebook_where_its_names_are_known(lesson):
    cells = load(PATHS[lesson]).cells
    for name in (exercise.name for exercise in of_lesson(lesson) if exercise.inline):
        place = ids_of(cells).index(f"exercise-{name.replace('_', '-')}")
        before = "\n".join(cell.source for cell in cells[:place] if cell.cell_type == "code")
        assert "your_turn" in before, f"{name} stands before `from tx_helpers.exercises import your_turn`"


@by_lesson
def test_the_section_runs_by_itself_after_a_restart(lesson, tmp_path, monkeypatch):
    """With answers that import nothing themselves."""
    monkeypatch.setenv("TX_PROGRESS", str(tmp_path / "progress.json"))
    session = {}
    section = [cell.id for cell in place_exercises.cells_of(lesson)]
    for cell in solved(load(PATHS[lesson]).cells, imports=False):
        if cell.cell_type == "code" and cell.id in section:
            exec(cell.source, session)
    for exercise in of_lesson(lesson):
        assert exercise.inline or session["check"](exercise.name, session[exercise.name])


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
        for lesson in modules()
        for name in map(lambda e: e.name, of_lesson(lesson))
    }
    for cell in cells:
        if name := names.get(cell.id):
            value = f"{name} = {name}()\n" if find(name).starter().startswith(f"{name} = ") else ""
            checked = f'{name} = your_turn("{name}", {name})' if find(name).inline else f'check("{name}", {name})'
            code = find(name).solution_source()
            if not imports:
                code = code[re.search(r"^(def|class) ", code, re.MULTILINE).start() :]
            cell.source = f"{code}\n\n\n{value}{checked}"
    return cells


@pytest.mark.slow
def test_the_cells_of_all_exercises_check_solutions(tmp_path, monkeypatch):
    """That the starters pass nowhere is in the outputs of the notebooks, which nbval compares."""
    section = [cell for lesson in modules() for cell in place_exercises.cells_of(lesson)]
    turns = [cell for lesson in modules() for pair in place_exercises.inline_cells(lesson).values() for cell in pair]
    cells = {cell.id: cell for cell in section if cell.cell_type == "code"}  # imports and quiz of the last one only
    cells[f"{place_exercises.PREFIX}-imports"].source += ", your_turn\nfrom torch import nn"
    cells |= {cell.id: cell for cell in turns if cell.cell_type == "code"}
    expected = [("✓", exercise.name) for lesson in modules() for exercise in of_lesson(lesson)]
    assert sorted(run(solved(list(cells.values())), tmp_path, monkeypatch)) == sorted(expected)


@pytest.mark.thorough
@by_lesson
def test_the_whole_notebook_runs_with_all_solutions(lesson, tmp_path, monkeypatch):
    feedback = run(solved(load(PATHS[lesson]).cells), tmp_path, monkeypatch)
    assert sorted(feedback) == sorted(("✓", exercise.name) for exercise in of_lesson(lesson))
