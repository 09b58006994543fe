"""A class's work: made-up files of progress give exactly the tables that they must, and damaged ones stop nobody."""

import csv
import json
import random
import subprocess
import sys
from collections import Counter

import pytest

from tx_helpers.__main__ import main
from tx_helpers.exercises import export, handed_in, solved
from tx_helpers.exercises.catalogue import find, lesson_of, modules
from tx_helpers.exercises.checks import hint
from tx_helpers.exercises.class_work import read_class, tables
from tx_helpers.exercises.course import LESSONS
from tx_helpers.progress_file import progress_file

PLANTED = {"mix": "all_alike", "one_head": "head_unscaled", "causal_square": "causal_inverted"}
QUIZ = modules()["self_attention"].QUIZ
WRONG = "def attention_weights(Q, K):\n    return (Q.T @ K).softmax(-1)\n"
RIGHT = WRONG.replace("(Q.T @ K)", "(Q.T @ K / len(Q) ** 0.5)")
NBGRADER = [sys.executable, "-m", "nbgrader"]
SAYS = "The division by √d_k is missing"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A class's folder; a learner's own file elsewhere; a concept test of one question."""
    monkeypatch.setenv("TX_PROGRESS", str(tmp_path / "own" / "progress.json"))
    monkeypatch.setattr(handed_in, "QUESTIONS", QUIZ[:1])
    monkeypatch.chdir(tmp_path)
    (tmp_path / "class").mkdir()
    return tmp_path / "class"


def entry(right=True, mistakes=(), hints=(), before=0, last="2026-01-01"):
    known = {"right": right, "tries": 2, "mistakes": mistakes, "first": last, "last": last}
    return known | {"hints": hints, "hints_before": before}


def put(file, content, student):
    file.write_text(json.dumps(content | {"the-student": student}), encoding="utf-8")


def test_a_class_with_planted_mistakes_gives_exactly_its_tables(folder):
    rng, right, made, read, helped, said = random.Random(49), [], Counter(), Counter(), Counter(), Counter()
    for student in (f"Student {number:02}" for number in range(30)):
        content, counts = {}, Counter()
        for exercise, mistake in PLANTED.items():
            slipped, well, steps, late = rng.random() < 0.6, rng.random() < 0.7, rng.randrange(4), rng.randrange(2)
            if rng.random() < 0.8:  # the others have not begun
                hints = [*range(1, steps + 1), *([9] if well and late else [])]  # 9: read when it was right already
                content[exercise] = entry(well, [mistake] * slipped, hints, steps * well)
                counts[lesson_of()[exercise]] += well
                made[exercise] += slipped
                read.update((exercise, step) for step in range(1, steps + 1))
                helped[exercise, steps] += well
        right.append([student, counts["self_attention"], counts["masking"], counts.total()])
        said[choice := rng.randrange(2)] += 1
        quizzes = {"self_attention": [-1, choice], "concepts-before": [-1], "concepts-after": [0]}
        put(folder / f"{student[-2:]}.json", content | {"the-quizzes": quizzes}, student)
    students, told = read_class(folder)
    found = {title: rows for title, _, _, rows in tables(students)}
    assert told == [] and found["Who did what"] == right
    says = {name: next(e.says for e in find(name).mistakes if e.name == mistake) for name, mistake in PLANTED.items()}
    assert [tuple(row[:2]) for row in found["Mistakes"]] == [(n, says[name]) for name, n in made.most_common()]
    helps = {f"{one}, hint {step}": f"{helped[one, step]} of {n}" for (one, step), n in read.items()}
    assert {hint[3:]: right_next for hint, right_next in found["Hints"]} == helps
    question, answers = found["What divides the class"][0]
    marks = [f"{choice.text} {'✓' if choice.right else '✗'}" for choice in QUIZ[1].choices]
    assert question == f"quiz question: self_attention 2: {QUIZ[1].text}"
    assert sorted(answers.split("; ")) == sorted(f"{n} × {marks[choice]}" for choice, n in said.items())
    assert found["Concept test"] == [[row[0], "", int(QUIZ[0].choices[0].right)] for row in right]


def test_what_a_learner_does_is_recorded_and_exported(folder):
    assert solved.student(" Ada Lovelace ") == solved.student() == "Ada Lovelace"
    for name in (3, "", "  ", "a\nb"):
        with pytest.raises(ValueError, match=r"student: name is .*, expected a name or an id"):
            solved.student(name)
    hint("one_head", 3)
    assert solved.states("self_attention", solved.read())["one_head"] == "open"
    hint("one_head", 1)
    solved.note("one_head", right=True)
    hint("one_head", 2)
    assert [solved.read()["one_head"][part] for part in ("hints", "hints_before")] == [[3, 1, 2], 2]
    solved.note_guess("hot", -1.5)
    put(progress_file(), json.loads(progress_file().read_text()) | {"the-quizzes": {"self_attention": [-1, 0]}}, "=1+1")
    rows = list(csv.DictReader(export(folder / "progress.csv").open(encoding="utf-8")))
    found = {row["exercise"][:4]: (row["kind"], row["right"], row["answer"]) for row in rows}
    assert (found["hot"], found["mix"]) == (("prediction", "", "'-1.5"), ("exercise", "False", ""))
    assert ("quiz question", str(QUIZ[1].choices[0].right), QUIZ[1].choices[0].text) in found.values()
    assert {row["student"] for row in rows} == {"'=1+1"}
    assert json.loads(export(folder / "a.json").read_text()) == json.loads(progress_file().read_text())


def test_bad_files_are_told_and_lose_nothing(folder, capsys):
    assert main(["class", str(folder / "none")]) == main(["class", str(folder)]) == 2
    first, second = capsys.readouterr().err.splitlines()
    assert "is no folder" in first and "holds no progress" in second  # a line each
    bad = {"progress.csv": "", "cut.json": '{"mix": ', "list.json": "[1]", "deep.json": "[" * 100_000}
    for name, content in bad.items():
        (folder / name).write_text(content)
    put(folder / "gaps.json", {"mix": 3, "one_head": {"hints": ["x"]}, "the-quizzes": [1], "\ud800": {}}, 7)
    put(folder / "old.json", {"mix": entry()}, "Ada")
    put(folder / "new.json", {"mix": entry(last="2026-02-01"), "other": entry(), "the-quizzes": {"gone": [1]}}, "ADA")
    put(folder / "evil.json", {"mix": entry(mistakes=["<i>"])}, '=cmd|"<script>')
    assert main(["class", str(folder), "--to", "to"]) == 0
    told = capsys.readouterr().out
    assert [f"{name} is left out" in told for name in bad] == [True] * 4
    assert "ADA has two files. new.json counts, which is later than old.json." in told
    assert "new.json holds what this version of the course does not have: other, gone 1." in told
    page, lines = ((folder.parent / "to" / name).read_text(encoding="utf-8") for name in ("class.html", "class.csv"))
    assert "<script" not in page and "<i>" not in page and "new.json counts" in page and "http" not in page
    assert ",other," in lines and '"\'=cmd|""<script>"' in lines and ",gaps," in lines
    assert main(["class", str(folder), "--to", "to/class.csv"]) == 2


def test_gradebooks_are_in_their_tools_forms(folder):
    put(folder / "1.json", {"mix": entry()}, "Ada Lovelace")
    put(folder / "2.json", {"mix": entry(False)}, "ab12")
    assert main(["class", str(folder), "--moodle", "moodle.csv", "--canvas", "canvas.csv"]) == 0
    moodle = "Student,04 Self-attention|ab12,0.0|Ada Lovelace,10.0"
    canvas = "Student,ID,SIS User ID,SIS Login ID,Section,04 Self-attention|    Points Possible,,,,,10"
    canvas += "|ab12,,ab12,ab12,,0|Ada Lovelace,,,,,1"
    written = [(folder.parent / name).read_text().splitlines() for name in ("moodle.csv", "canvas.csv")]
    assert written == [moodle.split("|"), canvas.split("|")]


def test_every_exercise_at_a_notebooks_end_is_in_both_forms_and_is_checked(tmp_path, capsys):
    for number in (LESSONS[lesson].number for lesson in modules()):
        assert main(["class", "--otter", number, "."]) == main(["class", "--nbgrader", number, "."]) == 0
        cells = json.loads((tmp_path / f"{number}.ipynb").read_text(encoding="utf-8"))["cells"]
        written = [cell["source"] for cell in cells if cell["metadata"]["nbgrader"]["solution"]]
        assert solved.read() == {} and len(written) == sum(cell["metadata"]["nbgrader"]["grade"] for cell in cells)
        assert all("### BEGIN SOLUTION" in source for source in written)  # nbgrader takes it out
        exec("\n".join([cells[0]["source"], *written]), {})
        if number == "04":
            exec(f"{RIGHT}\n{cells[3]['source']}", {})
            with pytest.raises(AssertionError, match=SAYS):
                exec(f"{WRONG}\n{cells[3]['source']}", {})
    assert {path.stem for path in tmp_path.glob("*.py")} == {name for name in lesson_of() if not find(name).inline}
    assert main(["class", "--otter", "99", "."]) == 2 and "notebook 99 has no" in capsys.readouterr().err


def test_otter_grades_a_right_answer_1_and_a_wrong_one_0():
    check = pytest.importorskip("otter.check.notebook", reason="otter-grader is not installed")
    main(["class", "--otter", "04", "tests"])
    for code, points in ((RIGHT, 1), (WRONG, 0)):
        exec(code, names := {})
        result = check.Notebook().check("attention_weights", names)
        assert result.grade == points and (SAYS in repr(result)) != points


@pytest.mark.slow
def test_nbgrader_grades_a_right_answer_1_and_a_wrong_one_0(tmp_path):
    pytest.importorskip("nbgrader", reason="nbgrader is not installed")
    main(["class", "--nbgrader", "04", "source/04"])
    subprocess.run([*NBGRADER, "generate_assignment", "04"], check=True)
    notebook = json.loads((tmp_path / "release/04/04.ipynb").read_text(encoding="utf-8"))
    for who, notebook["cells"][2]["source"] in (("right", RIGHT), ("wrong", WRONG)):
        (tmp_path / "submitted" / who / "04").mkdir(parents=True)
        (tmp_path / "submitted" / who / "04/04.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    subprocess.run([*NBGRADER, "autograde", "04"], check=True)
    subprocess.run([*NBGRADER, "export"], check=True)
    scores = {line["student_id"]: line["score"] for line in csv.DictReader((tmp_path / "grades.csv").open())}
    assert scores == {"right": "1.0", "wrong": "0.0"}
    assert SAYS in (tmp_path / "autograded/wrong/04/04.ipynb").read_text(encoding="utf-8")
