"""The edition without solutions: it has no code of an answer, and it checks like the full one."""

import html
import json
import os
import re
import subprocess
import sys
from types import SimpleNamespace

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

one.slips("""
tabled    return _of_the_table(x)
  says so
""")

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

def other_name(x):
    return 5 * x  # so

cases = [of_the_cases(), other_name]
'''

SCRIPT = """
import inspect
from tx_helpers import plain
from tx_helpers.exercises.kept import PARTS
from tx_helpers.exercises.own import assembled
from tx_helpers.lessons.full_model.model_parts import source_lines
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
    for hidden in (catalogue.find(name).answer, plain.GPT.forward):
        try:
            print(inspect.getsource(hidden))
        except (OSError, TypeError):
            pass
made, ours = assembled(list(PARTS), {})
assert made["GPT"](9, 8, 2, 8, 1) and len(ours) == len(PARTS)
print(source_lines(plain.Block))
"""


def test_answers_are_taken_out_and_the_rest_stays():
    left = make_handout.without_answers(SOURCE, [["return 5 * x  # so"]])
    assert not [
        word
        for word in ("def right", "wrong", "says", "tabled", "_of_the_table", "_of_the_answers", "_too", "@one")
        if word in left
    ]
    assert "kept = 1" in left and "def of_the_cases():\n    return 3\n" in left


def test_a_notebook_goes_on_with_the_solutions_of_its_inline_exercises_which_cannot_be_read():
    left = make_handout.without_answers(SOURCE, [["return 5 * x  # so"]])
    assert not [word for word in ("goes_on", "Thrice", "3 * x", "goes_wrong", "5 * x") if word in left]
    names = {"Exercise": lambda *_, **__: SimpleNamespace(solution=lambda answer: answer)}
    exec(left, names)
    assert names["goes_on"](2) == 6 and names["other_name"](2) == 10


def test_what_the_edition_lacks_is_not_spoken_of():
    text = '"eight\\n",\n    "(`tools/train_it.py`).\\n",\n "It gives three hints, `solution` shows the answer."'
    left = '"eight.\\n",\n "It gives up to three hints."'
    assert make_handout.without_lacking(text) == left


def test_a_hint_that_says_the_whole_solution_is_left_out():
    source = 'one = Exercise(\n    hints=(\n        "Add.",\n        "return "\n        "2 * x",\n    ),\n)'
    left = make_handout.without_hints(source, {"return 2 * x"})
    assert left == 'one = Exercise(\n    hints=(\n        "Add.",\n    ),\n)'
    told = make_handout.telling()
    assert find("next_words").hints[-1] in told and not told & {*find("attention_weights").hints}


def test_the_makefile_offers_what_a_learner_needs_and_defines_nothing_else():
    made = make_handout.makefile((make_handout.ROOT / "Makefile").read_text(encoding="utf-8"))
    assert re.findall(r"^(\w+):(?!=)", made, re.M) == ["help", "setup", "lab", "clean"]
    defined = set(re.findall(r"^(\w+) *[:?]=", made, re.M))
    assert defined == {"VENV", "PYTHON", "BIN", "ROOT_USER", "PY", "READY"}
    assert set(re.findall(r"\$\((\w+)\)", made)) == defined | {"OS", "INSTALL", "LAB"}
    assert not re.search(r"tools/|tests|`make (?!lab)", made)


def test_a_record_holds_what_check_needs():
    record = find("attention_weights").record()
    assert record["starter"].startswith("def attention_weights(Q, K):")
    assert [name for name, _ in record["mistakes"]] == [m.name for m in find("attention_weights").mistakes]
    assert set(record["results"]) == {"solution", *(name for name, _ in record["mistakes"])}


@pytest.mark.thorough
def test_the_edition_checks_without_solutions(tmp_path):
    folder = tmp_path / "handout"
    assert make_handout.main(["--to", str(folder)]) == 0
    assert make_handout.main(["--to", str(folder)]) == 1  # never over something
    texts = [file.read_text(encoding="utf-8") for file in folder.rglob("lessons/*/exercises*.py")]
    inline = [name for name in lesson_of() if find(name).inline]
    assert texts and not re.search(r"\.(mistake|slips)\(", "".join(texts))
    assert not re.search(r"^@\w+\.solution", "".join(texts), re.M)
    texts.append((folder / "tx_helpers/plain.py").read_text(encoding="utf-8"))
    bodies = make_handout.bodies()
    assert make_handout.readable((make_handout.ROOT / "tx_helpers/plain.py").read_text(encoding="utf-8"), bodies)
    assert not [name for text in texts for name in make_handout.readable(text, bodies)]
    pictures = html.unescape("".join(outputs_of(folder)))
    assert not [line for body in bodies for line in body if len(line) >= 40 and line[:40] in pictures]
    readme = (folder / "README.md").read_text(encoding="utf-8")
    named = re.findall(r"\]\(([^)#:\s]+)|^python ([\w/.]+\.py)", readme, re.M)
    assert len(named) > 24 and not [path for path in map("".join, named) if not (folder / path).exists()]
    assert not re.search(r"solution\(|tests/|tools/|docs/|`make (?!lab|help)\w|^make (?!lab)|\{", readme, re.M)
    lacking = r"`solution|`tools/|`tests/|\]\((\.\./)?(docs|tools|tests)/"
    assert not [path for path in folder.glob("notebooks/*") if re.search(lacking, path.read_text(encoding="utf-8"))]
    assert not list(folder.rglob("figures/*.py"))
    assert not (folder / "tests").exists() and (folder / "notebooks" / "00_start_here.ipynb").exists()
    environment = os.environ | {"PYTHONPATH": str(folder), "TX_PROGRESS": str(tmp_path / "progress.json")}
    done = subprocess.run([sys.executable, "-c", SCRIPT], cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    place, *said = done.stdout.splitlines()
    assert place.startswith(str(folder))
    assert said[:3] == ["right", "unscaled", "def attention_weights(Q, K):"]
    assert sum(line.startswith("This edition comes without solutions") for line in said) == 1 + len(inline)
    assert [line.split()[1] for line in said if line.startswith("○")] == [f"{name}:" for name in inline]
    assert not [line for line in said if line.lstrip().startswith(("def forward", "return"))]
    assert said[-1] == "['(ours: not in this edition)']"


def outputs_of(folder):
    cells = (json.loads(path.read_text(encoding="utf-8"))["cells"] for path in folder.glob("notebooks/*.ipynb"))
    return [json.dumps(cell["outputs"], ensure_ascii=False) for each in cells for cell in each if "outputs" in cell]


def test_every_exercise_can_be_recorded():
    assert {name for name in lesson_of() if find(name).record()["results"]} == set(lesson_of())
