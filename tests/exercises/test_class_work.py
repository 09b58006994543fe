"""A class's work: made-up files of progress give exactly the tables that they must, and damaged ones stop nobody."""

import csv
import json
import random
import subprocess
import sys
from collections import Counter
from types import SimpleNamespace

import pytest

from tx_helpers.__main__ import main
from tx_helpers.exercises import predict, predictions, solved
from tx_helpers.exercises.catalogue import find, lesson_of, modules
from tx_helpers.exercises.checks import hint
from tx_helpers.exercises.class_work import read_class, tables
from tx_helpers.exercises.course import LESSONS
from tx_helpers.progress_file import progress_file

PLANTED = {"mix": "all_alike", "one_head": "head_unscaled", "causal_square": "causal_inverted"}
QUIZ = modules()["self_attention"].QUIZ
WRONG = "def attention_weights(Q, K):\n    return (Q.T @ K).softmax(-1)\n"
RIGHT = WRONG.replace("(Q.T @ K)", "(Q.T @ K / len(Q) ** 0.5)")
SAYS = "The division by √d_k is missing"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A class's folder, and a learner's own file elsewhere."""
    monkeypatch.setenv("TX_PROGRESS", str(tmp_path / "own" / "progress.json"))
    monkeypatch.setattr(predictions, "_asked", {})
    (tmp_path / "class").mkdir()
    return tmp_path / "class"


def entry(right=True, mistakes=(), hints=(), before=0, last="2026-01-01"):
    return {
        **{"right": right, "tries": 2, "mistakes": mistakes, "first": last, "last": last},
        **{"hints": hints, "hints_before": before},
    }


def put(file, content, student=None):
    file.write_text(json.dumps(content | ({"the-student": student} if student else {})), encoding="utf-8")


def planted_class(folder, seed):
    """Write 30 files; what was planted in them, counted on the way."""
    rng, right, made, read, helped, said = random.Random(seed), {}, Counter(), Counter(), Counter(), Counter()
    for number in range(30):
        content, counts = {}, Counter()
        for exercise, mistake in PLANTED.items():
            slipped, well, steps, late = rng.random() < 0.6, rng.random() < 0.7, rng.randrange(4), rng.randrange(2)
            if number % 5:  # the others have not begun
                hints = [*range(1, steps + 1), *([9] if well and late else [])]  # 9: read when it was right already
                content[exercise] = entry(well, [mistake] * slipped, hints, steps * well)
                counts[lesson_of()[exercise]] += well
                made[exercise] += slipped
                read.update((exercise, step) for step in range(1, steps + 1))
                helped[exercise, steps] += well
        choice = rng.randrange(-1, 2)
        said[choice] += 1
        right[f"Student {number:02}"] = [counts["self_attention"], counts["masking"], counts.total()]
        put(folder / f"{number}.json", content | {"the-quizzes": {"self_attention": [choice]}}, f"Student {number:02}")
    return right, made, read, helped, said


def report(folder):
    students, told = read_class(folder)
    return {table.title: table.rows for table in tables(students)}, told


def test_a_class_with_planted_mistakes_gives_exactly_its_tables(folder):
    right, made, read, helped, said = planted_class(folder, 49)
    found, told = report(folder)
    assert told == [] and found["Who did what"] == [[name, *counts] for name, counts in right.items()]
    says = {name: next(one.says for one in find(name).mistakes if one.name == PLANTED[name]) for name in made}
    assert [(row[1], row[0], row[3]) for row in found["Mistakes"]] == [
        (says[name], count, name) for name, count in made.most_common()
    ]
    assert {row[0]: row[1] for row in found["Hints"]} == {
        f"{exercise}, hint {step}": f"{helped[exercise, step]} of {count}" for (exercise, step), count in read.items()
    }
    ((question, answers),) = found["What divides the class"]
    assert question == f"quiz question: self_attention 1: {QUIZ[0].text}"
    assert sorted(answers.split("; ")) == sorted(
        f"{said[index]} × {choice.text} {'✓' if choice.right else '✗'}"
        for index, choice in enumerate(QUIZ[0].choices[:2])
    )


def test_what_a_learner_does_is_handed_in_alike_as_json_and_as_csv(folder):
    assert solved.student(" Ada Lovelace ") == solved.student() == "Ada Lovelace"
    hint("one_head", 3)
    assert solved.states("self_attention", solved.read())["one_head"] == "open"
    hint("one_head", 1)
    solved.note("one_head", right=False, mistake="head_unscaled")
    solved.note("one_head", right=True)
    hint("one_head", 2)
    assert [solved.read()["one_head"][part] for part in ("hints", "hints_before")] == [[3, 1, 2], 2]
    predict("hot", "What?").reveal((1, 2), "So it is.")
    predict("hot", "What?").answer = -1.5
    predict("cold", "What?").answer = 3
    content = json.loads(progress_file().read_text())
    put(progress_file(), content | {"the-quizzes": {"self_attention": [-1, 0], "concepts-before": [0]}})
    (one,), _ = read_class(progress_file().parent)
    rows = list(csv.reader(solved.export(folder / "progress.csv").open(encoding="utf-8")))
    (other,), _ = read_class(folder)
    assert one.name == other.name == "Ada Lovelace"
    assert one.lines == [line for line in other.lines if line["tries"] != "0"]
    right = {row[1].partition(":")[0]: row[2] for row in rows}
    assert [right[name] for name in ("hot", "cold", "one_head", "mix")] == ["False", "", "True", "False"]
    assert right["self_attention 2"] == str(QUIZ[1].choices[0].right)
    old = [row[:7] for row in rows if row[0] in ("notebook", "04") and not row[1].endswith("?")]
    (folder / "progress.csv").write_text("\n".join(map(",".join, old)))
    assert report(folder)[0]["Who did what"] == [["progress", 1, 1]]


@pytest.mark.parametrize("name", [3, "", "  ", "a\nb", ["Ada"]])
def test_a_name_that_is_none_is_refused(name):
    with pytest.raises(ValueError, match=r"student: name is .*, expected a name or an id"):
        solved.student(name)


def test_the_concept_test_is_scored(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "tx_helpers.exercises.concepts", SimpleNamespace(QUESTIONS=QUIZ[:2]))
    put(folder / "a.json", {"the-quizzes": {"concepts-before": [0, -1], "concepts-after": [0, 0], "gone": [1]}})
    well = [question.choices[0].right for question in QUIZ[:2]]
    found, told = report(folder)
    assert found["Concept test"] == [["a", int(well[0]), sum(well)]] and "gone 1." in told[0]


def test_bad_files_are_told_and_lose_nothing(folder, capsys):
    assert main(["class", str(folder / "none")]) == main(["class", str(folder)]) == 2
    first, second = capsys.readouterr().err.splitlines()
    assert "is no folder" in first and "holds no progress" in second
    bad = {"cut.json": '{"mix": ', "list.json": "[1]", "deep.json": "[" * 100_000, "no.csv": "a,b\n1,2\n"}
    bad["number.csv"] = "notebook,exercise,right,tries,mistakes,first,last\n04,mix,True,many,,,\n"
    for name, content in bad.items():
        (folder / name).write_text(content)
    gaps = {"mix": 3, "one_head": {"right": "?", "hints": ["x"]}, "the-quizzes": [1], "the-findings": 2}
    put(folder / "gaps.json", gaps | {"the-student": 7, "\ud800": {}})
    put(folder / "old.json", {"mix": entry()}, "Ada")
    put(folder / "new.json", {"mix": entry(last="2026-02-01"), "of_another_version": entry()}, "ADA")
    put(folder / "evil.json", {"mix": entry(mistakes=["<i>"])}, '=cmd|"<script>')
    assert main(["class", str(folder), "--to", str(folder / "to")]) == 0
    told = capsys.readouterr().out
    assert [f"{name} is left out" in told for name in bad] == [True] * 5
    assert "ADA has two files. new.json counts, which is later than old.json." in told
    assert "new.json holds what this version of the course does not have: of_another_version." in told
    page, lines = ((folder / "to" / name).read_text(encoding="utf-8") for name in ("class.html", "class.csv"))
    assert "<script" not in page and "<i>" not in page and "new.json counts" in page and "http" not in page
    assert ",of_another_version," in lines and '"\'=cmd|""<script>"' in lines
    assert main(["class", str(folder), "--to", str(folder / "to" / "class.csv")]) == 2


def test_gradebooks_are_in_their_tools_forms(folder, tmp_path):
    put(folder / "1.json", {"mix": entry()}, "Ada Lovelace")
    put(folder / "2.json", {"mix": entry(False)}, "ab12")
    files = [tmp_path / "moodle.csv", tmp_path / "canvas.csv"]
    assert main(["class", str(folder), f"--to={tmp_path}", f"--moodle={files[0]}", f"--canvas={files[1]}"]) == 0
    moodle = "Student,04 Self-attention|ab12,0.0|Ada Lovelace,10.0"
    canvas = "Student,ID,SIS User ID,SIS Login ID,Section,04 Self-attention|    Points Possible,,,,,10|"
    canvas += "ab12,,ab12,ab12,,0|Ada Lovelace,,,,,1"
    assert [file.read_text().splitlines() for file in files] == [moodle.split("|"), canvas.split("|")]


def test_every_exercise_at_a_notebooks_end_is_in_both_forms_and_is_checked(tmp_path, capsys):
    for number in (LESSONS[lesson].number for lesson in modules()):
        assert [main(["class", f"--{grader}", number, str(tmp_path)]) for grader in ("otter", "nbgrader")] == [0, 0]
        cells = json.loads((tmp_path / f"{number}.ipynb").read_text(encoding="utf-8"))["cells"]
        about = [cell["metadata"]["nbgrader"] for cell in cells]
        written = [cell["source"] for cell, one in zip(cells, about, strict=True) if one["solution"]]
        assert len(written) == sum(one["grade"] and one["locked"] for one in about)
        assert all("### BEGIN SOLUTION" in source for source in written)
        exec("\n".join([cells[0]["source"], *written]), {})
        if number == "04":
            with pytest.raises(AssertionError, match=SAYS):
                exec(f"{WRONG}\n{cells[3]['source']}", {})
            exec(f"{RIGHT}\n{cells[3]['source']}", {})
    assert {path.stem for path in tmp_path.glob("*.py")} == {name for name in lesson_of() if not find(name).inline}
    assert main(["class", "--otter", "99", str(tmp_path)]) == 2 and "notebook 99 has no" in capsys.readouterr().err
    assert solved.read() == {}


def test_otter_grades_a_right_answer_1_and_a_wrong_one_0(tmp_path, monkeypatch):
    check = pytest.importorskip("otter.check.notebook", reason="otter-grader is not installed")
    monkeypatch.chdir(tmp_path)  # it writes a log where it runs
    main(["class", "--otter", "04", str(tmp_path)])
    for code, points in ((RIGHT, 1), (WRONG, 0)):
        exec(code, names := {})
        result = check.Notebook(tests_dir=str(tmp_path)).check("attention_weights", names)
        assert result.grade == points and (SAYS in repr(result)) != points


@pytest.mark.slow
def test_nbgrader_grades_a_right_answer_1_and_a_wrong_one_0(tmp_path):
    pytest.importorskip("nbgrader", reason="nbgrader is not installed")

    def nbgrader(*arguments):
        subprocess.run([sys.executable, "-m", "nbgrader", *arguments], cwd=tmp_path, check=True, capture_output=True)

    main(["class", "--nbgrader", "04", str(tmp_path / "source" / "04")])
    nbgrader("generate_assignment", "04")
    notebook = json.loads((tmp_path / "release/04/04.ipynb").read_text(encoding="utf-8"))
    assert "# YOUR CODE HERE" in "".join(notebook["cells"][2]["source"])
    for who, notebook["cells"][2]["source"] in (("right", RIGHT), ("wrong", WRONG)):
        (tmp_path / "submitted" / who / "04").mkdir(parents=True)
        (tmp_path / "submitted" / who / "04/04.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    nbgrader("autograde", "04")
    nbgrader("export")
    scores = {line["student_id"]: line["score"] for line in csv.DictReader((tmp_path / "grades.csv").open())}
    assert scores == {"right": "1.0", "wrong": "0.0"}
    assert SAYS in (tmp_path / "autograded/wrong/04/04.ipynb").read_text(encoding="utf-8")
