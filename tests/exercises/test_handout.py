"""The edition without solutions: it has no code of an answer, and it checks like the full one."""

import os
import re
import subprocess
import sys

import pytest

import make_handout
from tx_helpers.exercises.catalogue import find, lesson_of

SOURCE = '''"""Doc."""
kept = 1

@one.solution
def right(x):
    """Twice."""
    return 2 * x

@one.mistake(
    "says"
)
def wrong(x):
    return x

one.add_mistakes(
    {
        "tabled": ("says so", lambda x: _of_the_table(x)),
    }
)

def _of_the_table(x):
    return 4 * x

def _of_the_answers(x):
    return _too(x)

def _too(x):
    return 2 * x

turn = Exercise("turn", inline=True)

@turn.solution
def goes_on(x):
    """Thrice."""
    return 3 * x

@turn.mistake("says this")
def goes_wrong(x):
    return x

def of_the_cases():
    return 3

cases = [of_the_cases()]
'''

SCRIPT = """
from tx_helpers.exercises import catalogue, check, solution, your_turn
print(catalogue.__file__)
print(check("attention_weights", lambda Q, K: (Q.T @ K / len(Q) ** 0.5).softmax(-1)).state)
print(check("attention_weights", lambda Q, K: (Q.T @ K).softmax(-1)).mistake)
print(catalogue.find("attention_weights").starter().split("\\n")[0])
solution("attention_weights")
for name in catalogue.lesson_of():
    if catalogue.find(name).inline:
        assert callable(your_turn(name, ...)), name
        solution(name)
"""


def test_answers_are_taken_out_and_the_rest_stays():
    left = make_handout.without_answers(SOURCE)
    assert not [
        word
        for word in ("def right", "wrong", "says", "tabled", "_of_the_table", "_of_the_answers", "_too", "@one")
        if word in left
    ]
    assert "kept = 1" in left and "def of_the_cases():\n    return 3\n\ncases = [of_the_cases()]" in left


def test_a_notebook_goes_on_with_the_solutions_of_its_inline_exercises():
    left = make_handout.without_answers(SOURCE)
    assert '@turn.solution\ndef goes_on(x):\n    """Thrice."""\n    return 3 * x' in left and "goes_wrong" not in left


def test_a_record_holds_what_check_needs():
    record = find("attention_weights").record()
    assert record["starter"].startswith("def attention_weights(Q, K):")
    assert [name for name, _ in record["mistakes"]] == [m.name for m in find("attention_weights").mistakes]
    assert set(record["results"]) == {"solution", *(name for name, _ in record["mistakes"])}


@pytest.mark.slow
def test_the_edition_checks_without_solutions(tmp_path):
    folder = tmp_path / "handout"
    assert make_handout.main(["--to", str(folder)]) == 0
    assert make_handout.main(["--to", str(folder)]) == 1  # never over something
    texts = [file.read_text(encoding="utf-8") for file in folder.rglob("lessons/*/exercises*.py")]
    inline = [name for name in lesson_of() if find(name).inline]
    assert texts and not re.search(r"\.(mistake\(|add_mistakes\()", "".join(texts))
    assert len(re.findall(r"\.solution[(\n]", "".join(texts))) == len(inline)  # the notebooks go on with them
    assert not (folder / "tests").exists() and (folder / "notebooks" / "00_start_here.ipynb").exists()
    environment = os.environ | {"PYTHONPATH": str(folder), "TX_PROGRESS": str(tmp_path / "progress.json")}
    done = subprocess.run([sys.executable, "-c", SCRIPT], cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    place, *said = done.stdout.splitlines()
    assert place.startswith(str(folder))
    assert said[:3] == ["right", "unscaled", "def attention_weights(Q, K):"]
    assert sum(line.startswith("This edition comes without solutions") for line in said) == 1 + len(inline)
    assert [line.split()[1] for line in said if line.startswith("○")] == [f"{name}:" for name in inline]


def test_every_exercise_can_be_recorded():
    assert {name for name in lesson_of() if find(name).record()["results"]} == set(lesson_of())
