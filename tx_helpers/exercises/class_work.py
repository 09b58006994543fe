"""A class's work: a folder of learners' files of progress, and what they say of the class, as tables.

`python -m tx_helpers class FOLDER` writes them (`class_page`). Nothing is sent anywhere, and no file there changes.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tx_helpers.exercises import handed_in, solved
from tx_helpers.exercises.catalogue import find, lesson_of, of_lesson
from tx_helpers.exercises.course import LESSONS
from tx_helpers.exercises.handed_in import EXERCISE, PREDICTION, QUESTION, Line

NEEDED = {EXERCISE: "notebook", QUESTION: "right", PREDICTION: "answer"}  # what no line of this version lacks
SIGNS = {"True": " ✓", "False": " ✗", "": ""}
Table = tuple[str, str, list[str], Sequence[Sequence[object]]]  # title, what it shows, columns, rows


class Student(NamedTuple):
    """A learner: name, or else the file's; the file's place in the folder; its lines; when it was last worked on."""

    name: str
    file: str
    lines: list[Line]
    last: tuple[str, float]

    def right(self, lesson: str) -> int:
        """How many exercises of a lesson are right."""
        names = {exercise.name for exercise in of_lesson(lesson)}
        return len({line["exercise"] for line in lines([self], EXERCISE) if line["right"] == "True"} & names)


def lines(students: list[Student], *kinds: str) -> list[Line]:
    """The lines of these kinds."""
    return [line for one in students for line in one.lines if line["kind"] in kinds]


def read_class(folder: Path) -> tuple[list[Student], list[str]]:
    """The students by name, and lines that a teacher should know; ValueError if there are no students."""
    if not folder.is_dir():
        raise ValueError(f"class: {folder} is no folder, expected one with learners' files of progress")
    students: dict[str, Student] = {}
    told = [f"{one.name} is left out: progress.json counts." for one in sorted(folder.rglob("progress*.csv"))]
    for file in sorted(folder.rglob("*.json")):
        try:
            one = _read(file, file.relative_to(folder).as_posix())
        except (OSError, ValueError, RecursionError) as error:
            told.append(f"{file.name} is left out: it cannot be read ({type(error).__name__}: {error}).")
            continue
        if unknown := [line["exercise"] for line in one.lines if not line[NEEDED[line["kind"]]]]:
            told.append(f"{one.file} holds what this version of the course does not have: {', '.join(unknown)}.")
        if other := students.get(one.name.casefold()):
            earlier, one = sorted((other, one), key=lambda student: student.last)
            told.append(f"{one.name} has two files. {one.file} counts, which is later than {earlier.file}.")
        students[one.name.casefold()] = one
    if not students:
        raise ValueError(" ".join([f"class: {folder} holds no progress that can be read (.json).", *told]))
    return [students[name] for name in sorted(students)], [" ".join(line.split()) for line in told]


def _read(file: Path, place: str) -> Student:
    content = json.loads(solved.text_of(file))
    if not isinstance(content, dict):
        raise ValueError(f"it holds a {type(content).__name__}, not a dict")
    found = handed_in.lines_of(content)
    last = max((line["last"] for line in found), default=""), file.stat().st_mtime
    return Student(solved.student_in(content) or place.removesuffix(".json"), place, found, last)


def begun(students: list[Student]) -> list[str]:
    """The lessons in which somebody has tried an exercise, in the order of the course."""
    tried = {lesson_of().get(line["exercise"]) for line in lines(students, EXERCISE) if line["tries"] != "0"}
    return [lesson for lesson in LESSONS if lesson in tried]


def tables(students: list[Student]) -> list[Table]:
    """The report; parts of which nothing is known are left out."""
    return [table for part in (done, mistakes, hints, divided, concepts) if (table := part(students))[3]]


def done(students: list[Student]) -> Table:
    """Students × notebooks: exercises right."""
    lessons = begun(students)
    heads = [f"{LESSONS[lesson].number} (of {len(of_lesson(lesson))})" for lesson in lessons]
    rows = [[one.name, *map(one.right, lessons), sum(map(one.right, lessons))] for one in students]
    return ("Who did what", "Exercises right, where somebody has begun.", ["Student", *heads, "All"], rows)


def mistakes(students: list[Student]) -> Table:
    """What was done wrong, by how many, in words, and where; the commonest first."""
    made: Counter[tuple[str, str, str]] = Counter()
    for line in lines(students, EXERCISE):
        says = {one.name: one.says for one in find(line["exercise"]).mistakes} if line["notebook"] else {}
        made.update((says.get(one, one), line["notebook"], line["exercise"]) for one in line["mistakes"].split())
    rows = [[count, *mistake] for mistake, count in made.most_common()]
    return ("Mistakes", "How many students made each.", ["Students", "Mistake", "Notebook", "Exercise"], rows)


def hints(students: list[Student]) -> Table:
    """For each hint: how many read it before their first right answer, and for how many it was the last one."""
    read: Counter[str] = Counter()
    helped: Counter[str] = Counter()
    for line in lines(students, EXERCISE):
        right = line["right"] == "True"
        steps = line["hints"].split()[: int(line["hints_before"]) if right else None]
        keys = [f"{line['notebook']} {line['exercise']}, hint {step}" for step in steps]
        read.update(keys)
        helped.update(keys[-1:] if right else [])
    rows = [[key, f"{helped[key]} of {read[key]}"] for key in sorted(read)]
    return ("Hints", "After this hint, how many got it right next.", ["Hint", "Right next"], rows)


def divided(students: list[Student]) -> Table:
    """Quiz questions and predictions with all their answers, those first on which the class agrees least."""
    found: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for line in lines(students, QUESTION, PREDICTION):
        found[f"{line['kind']}: {line['exercise']}"][line["answer"] + SIGNS[line["right"]]] += 1
    apart = sorted(found.items(), key=lambda item: max(item[1].values()) / item[1].total())
    rows = [[name, "; ".join(f"{count} × {one}" for one, count in answers.most_common())] for name, answers in apart]
    return ("What divides the class", "✓: right, ✗: wrong.", ["Question", "First answers"], rows)


def concepts(students: list[Student]) -> Table:
    """The concept test before and after: right first choices."""
    keys, rows = ("concepts-before", "concepts-after"), []
    for one in students:
        tests = [[x["right"] for x in lines([one], QUESTION) if x["exercise"].startswith(f"{key} ")] for key in keys]
        rows += [[one.name, *(test.count("True") if test else "" for test in tests)]] if any(tests) else []
    about = f"Right choices, of {len(handed_in.bank(keys[0])) or '?'}."
    return ("Concept test", about, ["Student", "Before", "After"], rows)
