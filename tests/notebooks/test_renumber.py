"""Insert a notebook, take it out again: all references follow, and the old files come back byte for byte."""

import json
import os
import shutil
import subprocess
import sys

import pytest

import renumber
from notebook_frame import ROOT
from repository import repository_files
from tx_helpers.exercises.course import LESSONS

MOVED = {"00_start_here": "00_start_here", "01_masking": "02_masking", "02_training": "03_training"}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("[01](01_masking.ipynb#Leak)", "[02](02_masking.ipynb#Leak)"),
        ("[notebook 02](notebooks/02_training.ipynb)", "[notebook 03](notebooks/03_training.ipynb)"),
        ("[02\nTraining](02_training.ipynb) and `01_masking`", "[03\nTraining](03_training.ipynb) and `02_masking`"),
        ("[a mask of 01](01_masking.ipynb), 01 of 02", "[a mask of 02](02_masking.ipynb), 01 of 02"),
        ("Notebook 02's loss; notebook 2017, notebook 021", "Notebook 03's loss; notebook 2017, notebook 021"),
        ("notebooks 00, 01 and\n02, but 02 words", "notebooks 00, 02 and\n03, but 02 words"),
        ("the notebooks 01 to 02, 1:02 and 02_x", "the notebooks 02 to 03, 1:02 and 02_x"),
        ('ONLY="01 02", tools/refresh_notebooks.py 02', 'ONLY="02 03", tools/refresh_notebooks.py 03'),
        ("term-01-leak stays in code", "term-01-leak stays in code"),
        ("words: '02_training', masks: \"01_masking\"", "words: '03_training', masks: \"02_masking\""),
    ],
)
def test_references_follow(old, new):
    rewriter = renumber.Rewriter(MOVED)
    assert rewriter.text(old, "README.md") == new and rewriter.doubts == []
    back = renumber.Rewriter({now: before for before, now in MOVED.items()})
    assert back.text(new, "README.md") == old


def test_a_notebook_is_rewritten_in_its_cells_and_outputs_but_not_in_pictures():
    outputs = [{"data": {"text/plain": ["Quiz 01: none\n", "notebook 02"], "image/png": "notebook 02"}}]
    cells = [
        {"id": "c02-1", "metadata": {"tags": ["hide-input", "slow"]}, "source": ["see notebooks 01\n", "to 02"]},
        {"metadata": {}, "outputs": outputs, "source": ['print("Notebook 02")  # (#term-02-loss)']},
    ]
    text = json.dumps({"cells": cells}, indent=1, ensure_ascii=False) + "\n"
    new = json.loads(renumber.Rewriter(MOVED).text(text, "notebooks/01_masking.ipynb"))["cells"]
    assert new[0]["id"] == "c02-1" and new[0]["metadata"]["tags"] == ["hide-input", "slow"]
    assert new[0]["source"] == ["see notebooks 02\n", "to 03"]
    assert new[1]["source"] == ['print("Notebook 03")  # (#term-03-loss)']
    assert new[1]["outputs"][0]["data"]["text/plain"] == ["Quiz 02: none\n", "notebook 03"]
    assert new[1]["outputs"][0]["data"]["image/png"] == "notebook 02"


@pytest.mark.parametrize(
    ("text", "doubt"),
    [
        ("notebook 07", "README.md: 'notebook 07': there is no notebook 07"),
        ("notebooks 00 to 01", "README.md: 'notebooks 00 to 01': is now 00 to 02, which has more notebooks or fewer"),
        ("[gone](05_gone.ipynb)", "README.md: 05_gone is no notebook of the course"),
    ],
)
def test_what_cannot_be_decided_is_named(text, doubt):
    rewriter = renumber.Rewriter(MOVED)
    rewriter.text(text, "README.md")
    assert rewriter.doubts == [doubt]


def test_two_notebooks_with_one_number_are_refused():
    lessons = list(LESSONS)[:2]
    assert renumber.moved(["07_unheard_of", f"05_{lessons[1]}"]) == {f"05_{lessons[1]}": f"01_{lessons[1]}"}
    with pytest.raises(ValueError, match="two notebooks have the number 05"):
        renumber.moved([f"05_{lesson}" for lesson in lessons])


@pytest.mark.slow
def test_a_notebook_goes_in_and_comes_out_again_and_every_file_is_as_it_was(tmp_path):
    for name in repository_files():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b"]
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "before"]):
        subprocess.run([*git, *command], check=True)

    table = tmp_path / "tx_helpers" / "exercises" / "course.py"
    before = table.read_text(encoding="utf-8")
    line = '    Lesson("toy", "Parts", "Toy", "A toy", "what it is", "what is it?"),\n'
    place = before.index(f'    Lesson(\n        "{list(LESSONS)[5]}"')
    table.write_text(before[:place] + line + before[place:], encoding="utf-8")
    told = run_there(tmp_path)
    names = sorted(path.name for path in (tmp_path / "notebooks").glob("*.ipynb"))
    assert [name[:2] for name in names] == [f"{n:02}" for n in range(len(LESSONS) + 1) if n != 5]
    assert "to decide: notebooks/05_toy.ipynb is still to be written" in told
    assert "| 05 | [A toy](notebooks/05_toy.ipynb): what it is |" in (tmp_path / "README.md").read_text("utf-8")
    assert "05 A toy" in (tmp_path / "figures" / "course_map.svg").read_text("utf-8")

    table.write_text(before, encoding="utf-8")
    run_there(tmp_path)
    subprocess.run([*git, "add", "-A"], check=True)
    left = subprocess.run([*git, "status", "--short"], check=True, capture_output=True, text=True).stdout
    assert left == ""


def run_there(folder) -> str:
    """What the tool prints in this copy of the course."""
    command = [sys.executable, "tools/renumber.py"]
    environment = os.environ | {"PYTHONPATH": str(folder)}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout
