"""A class's work: a folder of learners' files of progress, and what they say of the class, as tables.

    python -m tx_helpers class FOLDER

Nothing is sent anywhere, and no file in the folder changes. `class_page` writes the tables.
"""

import csv
import json
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tx_helpers.exercises.catalogue import find, lesson_of, of_lesson
from tx_helpers.exercises.course import LESSONS
from tx_helpers.exercises.solved import EXERCISE, PREDICTION, QUESTION, bank, lines_of, read_lines, student_in, text_of

SIGNS = {"True": "✓", "False": "✗"}
WRITTEN = "class.csv"  # not read again, where it is written into the same folder
Line = dict[str, str]


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
        if unknown := [line["exercise"] for line in one.lines if _unknown(line)]:
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
        found = read_lines(text)
        name = found[0]["student"] if found else ""
    else:
        content = json.loads(text)
        if not isinstance(content, dict):
            raise ValueError(f"it holds a {type(content).__name__}, not a dict")
        name, found = student_in(content), lines_of(content)
    last = max((line["last"] for line in found), default="")
    return Student(name or place.removesuffix(file.suffix), place, found, (last, file.stat().st_mtime))


def _unknown(line: Line) -> bool:
    lost = line["kind"] == QUESTION and not line["right"]
    return lost or (line["kind"] == EXERCISE and line["exercise"] not in lesson_of())


def begun(students: list[Student]) -> list[str]:
    """The lessons in which somebody has tried an exercise, in the order of the course."""
    tried = {lesson_of().get(line["exercise"]) for line in lines(students, EXERCISE) if line["tries"] != "0"}
    return [lesson for lesson in LESSONS if lesson in tried]


def tables(students: list[Student]) -> list[Table]:
    """The report; parts of which nothing is known are left out."""
    return [table for part in (done, mistakes, hints, divided, concepts) if (table := part(students)).rows]


def done(students: list[Student]) -> Table:
    """Students × notebooks: exercises right."""
    lessons = begun(students)
    heads = [f"{LESSONS[lesson].number} (of {len(of_lesson(lesson))})" for lesson in lessons]
    rows = [[one.name, *map(one.right, lessons), sum(map(one.right, lessons))] for one in students]
    about = "Exercises right, in the notebooks that somebody has begun."
    return Table("Who did what", about, ["Student", *heads, "All"], rows)


def mistakes(students: list[Student]) -> Table:
    """What was done wrong, in words, where, and by how many; the commonest first."""
    made: Counter[tuple[str, str, str]] = Counter()
    for line in lines(students, EXERCISE):
        known = find(line["exercise"]).mistakes if line["exercise"] in lesson_of() else []
        says = {one.name: one.says for one in known}
        made.update((says.get(one, one), line["notebook"], line["exercise"]) for one in line["mistakes"].split())
    rows = [[count, *place] for place, count in made.most_common()]
    return Table("Mistakes", "How many students made each.", ["Students", "Mistake", "Notebook", "Exercise"], rows)


def hints(students: list[Student]) -> Table:
    """For each hint: how many read it before their first right answer, and for how many it was the last one."""
    read: Counter[tuple[str, str]] = Counter()
    helped: Counter[tuple[str, str]] = Counter()
    for line in lines(students, EXERCISE):
        right = line["right"] == "True"
        steps = line["hints"].split()[: int(line["hints_before"] or 0) if right else None]
        keys = [(line["notebook"], f"{line['exercise']}, hint {step}") for step in steps]
        read.update(keys)
        helped.update(keys[-1:] if right else [])
    rows = [[key[1], f"{helped[key]} of {read[key]}", key[0]] for key in sorted(read)]
    return Table("Hints", "After this hint, how many got it right next.", ["Hint", "Right next", "Notebook"], rows)


def divided(students: list[Student]) -> Table:
    """Quiz questions and predictions with all their answers, those first on which the class agrees least."""
    found: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for line in lines(students, QUESTION, PREDICTION):
        said = line["answer"]
        if line["kind"] == PREDICTION and re.fullmatch(r"[-+.e\d]+", said):
            said = "a number"
        found[f"{line['kind']}: {line['exercise']}"][f"{said} {SIGNS.get(line['right'], '')}".strip()] += 1
    apart = sorted(found.items(), key=lambda item: max(item[1].values()) / item[1].total())
    rows = [[name, "; ".join(f"{count} × {one}" for one, count in answers.most_common())] for name, answers in apart]
    return Table("What divides the class", "✓: right, ✗: wrong.", ["Question", "First answers"], rows)


def concepts(students: list[Student]) -> Table:
    """The concept test before and after: right first choices."""
    keys, rows = ("concepts-before", "concepts-after"), []
    for one in students:
        tests = [[x["right"] for x in lines([one], QUESTION) if x["exercise"].startswith(f"{key} ")] for key in keys]
        rows += [[one.name, *(test.count("True") if test else "" for test in tests)]] if any(tests) else []
    about = f"Right choices, of {len(bank(keys[0]))}."
    return Table("Concept test", about, ["Student", "Before", "After"], rows if bank(keys[0]) else [])
