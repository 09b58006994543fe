"""What a learner's file of progress holds, and the same as the lines of a CSV file, for a teacher.

The file holds an entry (ENTRY) for each exercise: the names of the mistakes made; times in UTC; the numbers of the
hints in the order in which they were first read, and how many of them before the first right answer. What is no
exercise stands under names that begin with "the-", as no exercise's name can:

    "the-student"       a name or an id
    "the-predictions"   key -> the first answer, a text or a number
    "the-findings"      key -> was it right? Only the notebooks know, and note it when they reveal a finding
    "the-quizzes"       lesson, or "concepts-before", "concepts-after" -> the indices of the first choices, -1 for none
"""

import csv
import importlib
import io
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from tx_helpers.exercises.catalogue import lesson_of, modules
from tx_helpers.exercises.course import LESSONS
from tx_helpers.progress_file import guesses_in

Entry = dict[str, Any]  # a part of a JSON file
ENTRY: Entry = {"right": False, "tries": 0, "mistakes": [], "first": "", "last": "", "hints": [], "hints_before": 0}
OTHERS, STUDENT, FINDINGS, QUIZZES = "the-", "the-student", "the-findings", "the-quizzes"
OLD_COLUMNS = ["notebook", "exercise", "right", "tries", "mistakes", "first", "last"]
COLUMNS = [*OLD_COLUMNS, "kind", "student", "hints", "hints_before", "answer"]
EXERCISE, QUESTION, PREDICTION = "exercise", "quiz question", "prediction"


def sound(entry: object) -> Entry:
    """An entry with all its parts, those of another kind replaced; the lists are copies."""
    given = entry if isinstance(entry, dict) else {}
    whole = {key: given[key] if type(given.get(key)) is type(part) else part for key, part in ENTRY.items()}
    whole["mistakes"] = [one for one in whole["mistakes"] if isinstance(one, str)]
    return whole | {"hints": [step for step in whole["hints"] if type(step) is int]}


def entries_in(content: Mapping[str, Any]) -> dict[str, Entry]:
    """The entries of the exercises, those of other versions of the course included."""
    found = {name: entry for name, entry in content.items() if not name.startswith(OTHERS)}
    return {name: sound(entry) for name, entry in found.items() if isinstance(entry, dict)}


def student_in(content: Mapping[str, Any]) -> str:
    """The student's name, in one line; "" if there is none."""
    name = content.get(STUDENT)
    return " ".join("".join(filter(str.isprintable, name)).split()) if isinstance(name, str) else ""


def part_of(content: Mapping[str, Any], name: str, kind: type) -> dict[str, Any]:
    """What stands under one of the names above: its values of this type."""
    found = content.get(name)
    return {key: value for key, value in found.items() if isinstance(value, kind)} if isinstance(found, dict) else {}


def lines_of(content: Mapping[str, Any], *, every: bool = False) -> list[dict[str, str]]:
    """The lines of a student's work, {column: text}; with `every` also those of exercises that were not begun."""
    entries, known = entries_in(content), lesson_of()
    names = [name for name in known if every or name in entries] + [name for name in entries if name not in known]
    lines: list[dict[str, Any]] = []
    for name in names:
        entry = entries.get(name, ENTRY)
        texts = {part: " ".join(map(str, entry[part])) for part in ("mistakes", "hints")}
        lines.append({"notebook": _number(known.get(name)), "exercise": name, "kind": EXERCISE} | entry | texts)
    for key, answers in part_of(content, QUIZZES, list).items():
        lines += [{"notebook": _number(key), "kind": QUESTION} | line for line in _answered(key, answers)]
    right = part_of(content, FINDINGS, bool)
    for key, answer in guesses_in(content).items():
        lines.append({"exercise": key, "kind": PREDICTION, "right": right.get(key, ""), "answer": answer})
    return [{name: str(line.get(name, "")) for name in COLUMNS} | {"student": student_in(content)} for line in lines]


def _number(lesson: str | None) -> str:
    return LESSONS[lesson].number if lesson in LESSONS else ""


def _answered(key: str, answers: list[object]) -> Iterator[dict[str, object]]:
    """The answers of a quiz; what is right is empty where this version does not have the question."""
    for number, (answer, question) in enumerate(itertools.zip_longest(answers, bank(key)[: len(answers)]), 1):
        if type(answer) is int and question and 0 <= answer < len(question.choices):
            choice = question.choices[answer]
            yield {"exercise": f"{key} {number}: {question.text}", "right": choice.right, "answer": choice.text}
        elif answer != -1:
            yield {"exercise": f"{key} {number}", "answer": f"choice {answer}"}


def bank(key: str) -> Sequence[Any]:
    """The questions of a quiz or of the concept test; none where this version does not have them."""
    if not key.startswith("concepts-"):
        return getattr(modules().get(key), "QUIZ", ())
    with suppress(ModuleNotFoundError):
        return importlib.import_module("tx_helpers.exercises.concepts").QUESTIONS
    return ()


def write_lines(path: Path, lines: Iterable[Mapping[str, object]], columns: Sequence[str] = COLUMNS) -> Path:
    """Write a CSV file and return its path; what a spreadsheet would run as a formula begins with an apostrophe."""
    with path.open("w", newline="", encoding="utf-8", errors="replace") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        for line in lines:
            writer.writerow([re.sub(r"^(?=[=+\-@\t\r])", "'", str(line.get(name, ""))) for name in columns])
    return path


def read_lines(text: str) -> list[dict[str, str]]:
    """The lines of such a file, also from before it had kinds.

    ValueError if it lacks a column, has a number that is none, or is of several students.
    """
    reader = csv.DictReader(io.StringIO(text), restval="", restkey="more")
    if missing := [column for column in OLD_COLUMNS if column not in (reader.fieldnames or [])]:
        raise ValueError(f"it has no column {', '.join(missing)}")
    rows = [{name: re.sub(r"^'(?=[=+\-@\t\r])", "", line.get(name, "")) for name in COLUMNS} for line in reader]
    if len({row["student"] for row in rows}) > 1:
        raise ValueError("it holds the lines of several students")
    rows = [row | {"kind": row["kind"] or EXERCISE} for row in rows]
    if any(not f"{row['tries']}{row['hints_before']}".isdecimal() for row in rows if row["kind"] == EXERCISE):
        raise ValueError("a number in the column tries or hints_before is none")
    return rows
