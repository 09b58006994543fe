"""What a learner hands in: a line for each exercise, quiz question and prediction.

export("progress.csv")      # or "progress.json": the record itself
"""

import csv
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

from tx_helpers.exercises.catalogue import lesson_of, modules
from tx_helpers.exercises.concepts import QUESTIONS
from tx_helpers.exercises.course import LESSONS
from tx_helpers.exercises.solved import ENTRY, entries_in, quizzes_in, student_in, whole_file
from tx_helpers.nn.arguments import described
from tx_helpers.progress_file import guesses_in

Line = dict[str, str]  # of a CSV file: column -> text
COLUMNS = ["notebook", "exercise", "right", "tries", "mistakes", "first", "last"]
COLUMNS += ["kind", "student", "hints", "hints_before", "answer"]
EXERCISE, QUESTION, PREDICTION = "exercise", "quiz question", "prediction"


def export(path: str | Path) -> Path:
    """Write a CSV file with a line for each exercise, and for each quiz question and prediction that was answered.

    With an ending .json: the record itself, for `python -m tx_helpers class`.
    """
    if not isinstance(path, str | Path) or not str(path):
        raise ValueError(f"export: path is {described(path)}, expected the name of a file")
    if Path(path).suffix == ".json":
        Path(path).write_text(json.dumps(whole_file(), indent=1), encoding="utf-8")
        return Path(path)
    return write_lines(Path(path), lines_of(whole_file(), every=True))


def lines_of(content: Mapping[str, Any], *, every: bool = False) -> list[Line]:
    """The lines of a student's work, {column: text}; with `every` also those of exercises that were not begun."""
    entries, known = entries_in(content), lesson_of()
    lines: list[dict[str, Any]] = []
    for name in known | entries if every else entries:
        entry, number = entries.get(name, ENTRY), LESSONS[known[name]].number if name in known else ""
        entry = entry | {part: " ".join(map(str, entry[part])) for part in ("mistakes", "hints")}
        lines.append({"notebook": number, "exercise": name, "kind": EXERCISE} | entry)
    for key, answers in quizzes_in(content).items():
        shared = {"notebook": LESSONS[key].number if key in LESSONS else "", "kind": QUESTION}
        lines += [shared | line for line in _answered(key, answers)]
    for key, answer in guesses_in(content).items():
        lines.append({"exercise": key, "kind": PREDICTION, "answer": answer})
    return [{name: str(line.get(name, "")) for name in COLUMNS} | {"student": student_in(content)} for line in lines]


def _answered(key: str, answers: list[int]) -> Iterator[dict[str, object]]:
    """The answers of a quiz; what is right is empty where this version does not have the question."""
    for number, (answer, question) in enumerate(zip_longest(answers, bank(key)[: len(answers)]), 1):
        if question and 0 <= answer < len(question.choices):
            choice = question.choices[answer]
            yield {"exercise": f"{key} {number}: {question.text}", "right": choice.right, "answer": choice.text}
        elif answer != -1:
            yield {"exercise": f"{key} {number}", "answer": f"choice {answer}"}


def bank(key: str) -> Sequence[Any]:
    """The questions of a quiz or of the concept test; none where this version does not have them."""
    return QUESTIONS if key.startswith("concepts-") else getattr(modules().get(key), "QUIZ", ())


def write_lines(path: Path, lines: Iterable[Mapping[str, object]], columns: Sequence[str] = COLUMNS) -> Path:
    """Write a CSV file and return its path; what a spreadsheet would run as a formula begins with an apostrophe."""
    with path.open("w", newline="", encoding="utf-8", errors="replace") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        for line in lines:
            writer.writerow([re.sub(r"^(?=[=+\-@\t\r])", "'", str(line.get(name, ""))) for name in columns])
    return path
