"""A class's work: a folder of learners' files of progress, and what they say of the class, as tables.

    python -m tx_helpers class FOLDER

Nothing is sent anywhere, and no file in the folder changes.
"""

import csv
import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tx_helpers.exercises.catalogue import find, lesson_of, of_lesson
from tx_helpers.exercises.course import LESSONS
from tx_helpers.exercises.handed_in import EXERCISE, PREDICTION, QUESTION, bank, lines_of, read_lines, student_in
from tx_helpers.exercises.solved import text_of

SIGNS = {"True": "✓", "False": "✗"}
WRITTEN = "class.csv"  # not read again, where it is written into the same folder


class Table(NamedTuple):
    """A part of the report: its title, what it shows, the names of its columns, its rows, named by their first cell."""

    title: str
    about: str
    columns: list[str]
    rows: Sequence[Sequence[object]]


class Student(NamedTuple):
    """A learner: name, or else the file's; the file's place in the folder; its lines; when it was last worked on."""

    name: str
    file: str
    lines: list[dict[str, str]]
    last: tuple[str, float]

    def of(self, kind: str) -> list[dict[str, str]]:
        """The lines of a kind."""
        return [line for line in self.lines if line["kind"] == kind]

    def right(self, lesson: str) -> int:
        """How many exercises of a lesson are right."""
        names = {exercise.name for exercise in of_lesson(lesson)}
        return len({line["exercise"] for line in self.of(EXERCISE) if line["right"] == "True"} & names)


def read_class(folder: Path) -> tuple[list[Student], list[str]]:
    """The students by name, and a line for each thing that a teacher should know.

    ValueError if the folder is not there, or holds no file that can be read.
    """
    if not folder.is_dir():
        raise ValueError(f"class: {folder} is no folder, expected one with learners' files of progress")
    files = [file for file in sorted(folder.rglob("*")) if file.suffix.lower() in (".json", ".csv")]
    students: dict[str, Student] = {}
    told = []
    for file in (file for file in files if file.name != WRITTEN):
        place = file.relative_to(folder).as_posix()
        try:
            one = _read(file, place)
        except (OSError, ValueError, RecursionError, csv.Error) as error:
            told.append(f"{place} is left out: it cannot be read ({type(error).__name__}: {error}).")
            continue
        if unknown := _unknown(one):
            told.append(f"{place} holds what this version of the course does not have: {', '.join(unknown)}.")
        if other := students.get(one.name.casefold()):
            earlier, one = sorted((other, one), key=lambda student: student.last)
            told.append(f"{one.name} has two files. {one.file} counts, which is later than {earlier.file}.")
        students[one.name.casefold()] = one
    if not students:
        raise ValueError(" ".join([f"class: {folder} holds no progress that can be read (.json, .csv).", *told]))
    return [students[name] for name in sorted(students)], [" ".join(line.split()) for line in told]


def _read(file: Path, place: str) -> Student:
    text = text_of(file)
    if file.suffix.lower() == ".csv":
        lines = read_lines(text)
        name = lines[0]["student"] if lines else ""
    else:
        content = json.loads(text)
        if not isinstance(content, dict):
            raise ValueError(f"it holds a {type(content).__name__}, not a dict")
        name, lines = student_in(content), lines_of(content)
    last = max((line["last"] for line in lines), default="")
    return Student(name or place.removesuffix(file.suffix), place, lines, (last, file.stat().st_mtime))


def _unknown(student: Student) -> list[str]:
    names = [line["exercise"] for line in student.of(EXERCISE) if line["exercise"] not in lesson_of()]
    return names + [f"the question {line['exercise']}" for line in student.of(QUESTION) if not line["right"]]


def begun(students: list[Student]) -> list[str]:
    """The lessons in which somebody has tried an exercise, in the order of the course."""
    tried = {line["exercise"] for one in students for line in one.of(EXERCISE) if line["tries"] != "0"}
    return [lesson for lesson in LESSONS if any(lesson_of().get(name) == lesson for name in tried)]


def tables(students: list[Student]) -> list[Table]:
    """The report; parts of which nothing is known are left out."""
    parts = [done(students), mistakes(students), hints(students), divided(students), concepts(students)]
    return [part for part in parts if part.rows]


def done(students: list[Student]) -> Table:
    """Students × notebooks: exercises right."""
    lessons = begun(students)
    heads = [f"{LESSONS[lesson].number} (of {len(of_lesson(lesson))})" for lesson in lessons]
    rows = [[one.name, *map(one.right, lessons), sum(map(one.right, lessons))] for one in students]
    about = "Exercises right, in the notebooks that somebody has begun."
    return Table("Who did what", about, ["Student", *heads, "All"], rows)


def mistakes(students: list[Student]) -> Table:
    """What was done wrong, in words, where, and by how many; the commonest first."""
    lines = [line for one in students for line in one.of(EXERCISE)]
    made = Counter((line["notebook"], line["exercise"], name) for line in lines for name in line["mistakes"].split())
    rows = [[_says(exercise, name), count, number, exercise] for (number, exercise, name), count in made.most_common()]
    return Table("Mistakes", "How many students made each.", ["Mistake", "Students", "Notebook", "Exercise"], rows)


def _says(exercise: str, mistake: str) -> str:
    """A mistake in words; its name where this version does not know it."""
    known = find(exercise).mistakes if exercise in lesson_of() else []
    return next((one.says for one in known if one.name == mistake), mistake)


def hints(students: list[Student]) -> Table:
    """For each hint: how many read it before their first right answer, and for how many it was the last one."""
    read: Counter[tuple[str, str, str]] = Counter()
    helped: Counter[tuple[str, str, str]] = Counter()
    for line in (line for one in students for line in one.of(EXERCISE)):
        right = line["right"] == "True"
        steps = line["hints"].split()[: int(line["hints_before"] or 0) if right else None]
        keys = [(line["notebook"], line["exercise"], step) for step in steps]
        read.update(keys)
        helped.update(keys[-1:] if right else [])
    rows = [[f"{key[1]}, hint {key[2]}", f"{helped[key]} of {read[key]}", key[0]] for key in sorted(read)]
    return Table("Hints", "After this hint, how many got it right next.", ["Hint", "Right next", "Notebook"], rows)


def divided(students: list[Student]) -> Table:
    """Quiz questions and predictions with all their answers, those first on which the class agrees least."""
    found: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for line in (line for one in students for kind in (QUESTION, PREDICTION) for line in one.of(kind)):
        answer = f"{line['answer']} {SIGNS.get(line['right'], '')}".strip()
        found[f"{line['kind']}: {line['exercise']}"][answer] += 1
    apart = sorted(found.items(), key=lambda item: max(item[1].values()) / item[1].total())
    rows = [[name, "; ".join(f"{count} × {one}" for one, count in answers.most_common())] for name, answers in apart]
    return Table("What divides the class", "✓: right, ✗: wrong.", ["Question", "First answers"], rows)


def concepts(students: list[Student]) -> Table:
    """The concept test before and after: right first choices."""
    keys = ("concepts-before", "concepts-after")
    rows = []
    for one in students:
        tests = [[line for line in one.of(QUESTION) if line["exercise"].startswith(f"{key} ")] for key in keys]
        right = [sum(line["right"] == "True" for line in test) if test else "" for test in tests]
        rows += [[one.name, *right]] if any(tests) else []
    about = f"Right choices, of {len(bank(keys[0]))}."
    return Table("Concept test", about, ["Student", "Before", "After"], rows if bank(keys[0]) else [])
