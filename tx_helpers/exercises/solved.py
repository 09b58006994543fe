"""What you have solved: stored in a file on your machine, shown as a map of the course, never sent anywhere.

    progress()                          # the map
    student("Ada Lovelace")             # a name or an id, for a teacher
    export("progress.csv")              # for a teacher: a line for each exercise, quiz question and prediction
    reset()                             # delete the record

The file is progress.json in the user's data folder; the environment variable TX_PROGRESS names another. It holds an
ENTRY for each exercise; what is no exercise stands under names that begin with "the-", as no exercise's name can.

Nothing about this file stops a notebook. A damaged one is set aside under another name, and what cannot be read or
written is told in a line.
"""

import contextlib
import csv
import hashlib
import importlib
import json
import os
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import zip_longest
from pathlib import Path
from typing import Any

from filelock import FileLock

from tx_helpers.environment import printable
from tx_helpers.exercises.catalogue import lesson_of, modules, of_lesson
from tx_helpers.exercises.course import LESSONS
from tx_helpers.nn.arguments import described
from tx_helpers.progress_file import PREDICTIONS, guesses_in, progress_file, replace_file
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import BLUE, GREEN, GREY, INK, MUTED, card, shape, words

Entry = dict[str, Any]  # a part of a JSON file
Line = dict[str, str]  # of a CSV file: column -> text
ENTRY: Entry = {"right": False, "tries": 0, "mistakes": [], "first": "", "last": "", "hints": [], "hints_before": 0}
OTHERS, STUDENT, QUIZZES = "the-", "the-student", "the-quizzes"
COLUMNS = ["notebook", "exercise", "right", "tries", "mistakes", "first", "last"]
COLUMNS += ["kind", "student", "hints", "hints_before", "answer"]
EXERCISE, QUESTION, PREDICTION = "exercise", "quiz question", "prediction"
PATIENCE = 10.0  # seconds for which a kernel waits until another one has written
_told: set[str] = set()


def read() -> dict[str, Entry]:
    """Exercise -> its ENTRY: hints in the order in which they were first read, and how many before it was right."""
    return entries_in(_readable())


def guesses() -> dict[str, str | float]:
    """Key of a prediction -> what the learner said."""
    return guesses_in(_readable())


def note(name: str, *, right: bool, mistake: str = "") -> None:
    """Record a try. An exercise that was right once stays right. A line says so where it cannot be recorded."""

    def add(content: dict[str, object]) -> None:
        now = datetime.now(UTC).isoformat(timespec="seconds")
        entry = sound(content.get(name))
        if right and not entry["right"]:
            entry["hints_before"] = len(entry["hints"])
        entry |= {"right": entry["right"] or right, "tries": entry["tries"] + 1}
        entry |= {"first": entry["first"] or now, "last": now}
        if mistake and mistake not in entry["mistakes"]:
            entry["mistakes"].append(mistake)
        content[name] = entry

    _change(add)


def note_hint(name: str, step: int) -> None:
    """Record that a hint was read."""

    def add(content: dict[str, object]) -> None:
        content[name] = entry = sound(content.get(name))
        entry["hints"] += [step] if step not in entry["hints"] else []

    _change(add)


def student(name: str | None = None) -> str:
    """Put a line of text, a name or an id, into the file, for a teacher; without one: what stands there, or ""."""
    if name is None:
        return student_in(_readable())
    if not isinstance(name, str) or not name.strip() or not name.isprintable():
        raise ValueError(f"student: name is {described(name)}, expected a name or an id in a line of text")
    _change(lambda content: content.update({STUDENT: name.strip()}))
    return name.strip()


def note_guess(key: str, answer: str | float) -> None:
    """Record a prediction, unless there is one already: the first is kept."""

    def add(content: dict[str, object]) -> None:
        content[PREDICTIONS] = {key: answer} | guesses_in(content)

    _change(add)


@contextlib.contextmanager
def alone(file: Path) -> Iterator[None]:
    """While the block reads and writes the file, other threads and kernels wait. OSError if they take too long."""
    user = getattr(os, "getuid", int)()  # Windows gives each user a folder of temporary files
    name = hashlib.sha256(os.fsencode(f"{user} {os.path.realpath(file)}")).hexdigest()[:16]
    with FileLock(Path(tempfile.gettempdir()) / f"tx_helpers-{name}.lock", timeout=PATIENCE):
        yield


def text_of(file: Path) -> str:
    """What stands in a text file, "" if there is none. OSError if it is none or may not be read; UnicodeDecodeError."""
    if not file.exists():
        return ""
    if not file.is_file():  # a folder; a pipe, on which one would wait for ever
        raise OSError(f"{file} is not a plain file")
    return file.read_text(encoding="utf-8-sig")


def set_aside(file: Path, why: str) -> None:
    """Give a damaged file another name, so that a new one can begin, and say so."""
    file = Path(os.path.realpath(file))
    now = datetime.now(UTC).strftime("%Y-%m-%d-%H-%M-%S-%f")
    other = file.with_name(f"{file.stem}-damaged-{now}{file.suffix}")
    os.replace(file, other)
    _tell(f"{file.name} is damaged ({why}). It is now called {other.name}, beside it, and a new one begins.")


def reset() -> None:
    """Delete the record."""
    progress_file().unlink(missing_ok=True)


def export(path: str | Path) -> Path:
    """Write a CSV file with a line for each exercise, and for each quiz question and prediction that was answered.

    With an ending .json: the record itself, for `python -m tx_helpers class`.
    """
    if not isinstance(path, str | Path) or not str(path):
        raise ValueError(f"export: path is {described(path)}, expected the name of a file")
    if Path(path).suffix == ".json":
        Path(path).write_text(json.dumps(_readable(), indent=1), encoding="utf-8")
        return Path(path)
    return write_lines(Path(path), lines_of(_readable(), every=True))


def lines_of(content: Mapping[str, Any], *, every: bool = False) -> list[Line]:
    """The lines of a student's work, {column: text}; with `every` also those of exercises that were not begun."""
    entries, known = entries_in(content), lesson_of()
    lines: list[dict[str, Any]] = []
    for name in known | entries if every else entries:
        entry, number = entries.get(name, ENTRY), LESSONS[known[name]].number if name in known else ""
        entry = entry | {part: " ".join(map(str, entry[part])) for part in ("mistakes", "hints")}
        lines.append({"notebook": number, "exercise": name, "kind": EXERCISE} | entry)
    quizzes = content.get(QUIZZES)
    for key, answers in quizzes.items() if isinstance(quizzes, dict) else ():
        shared = {"notebook": LESSONS[key].number if key in LESSONS else "", "kind": QUESTION}
        lines += [shared | line for line in _answered(key, answers if isinstance(answers, list) else [])]
    for key, answer in guesses_in(content).items():
        lines.append({"exercise": key, "kind": PREDICTION, "answer": answer})
    return [{name: str(line.get(name, "")) for name in COLUMNS} | {"student": student_in(content)} for line in lines]


def _answered(key: str, answers: list[object]) -> Iterator[dict[str, object]]:
    """The answers of a quiz; what is right is empty where this version does not have the question."""
    for number, (answer, question) in enumerate(zip_longest(answers, bank(key)[: len(answers)]), 1):
        if type(answer) is int and question and 0 <= answer < len(question.choices):
            choice = question.choices[answer]
            yield {"exercise": f"{key} {number}: {question.text}", "right": choice.right, "answer": choice.text}
        elif answer != -1:
            yield {"exercise": f"{key} {number}", "answer": f"choice {answer}"}


def bank(key: str) -> Sequence[Any]:
    """The questions of a quiz or of the concept test; none where this version does not have them."""
    if key.startswith("concepts-"):
        with contextlib.suppress(ModuleNotFoundError):
            return importlib.import_module("tx_helpers.exercises.concepts").QUESTIONS
    return getattr(modules().get(key), "QUIZ", ())


def write_lines(path: Path, lines: Iterable[Mapping[str, object]], columns: Sequence[str] = COLUMNS) -> Path:
    """Write a CSV file and return its path; what a spreadsheet would run as a formula begins with an apostrophe."""
    with path.open("w", newline="", encoding="utf-8", errors="replace") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        for line in lines:
            writer.writerow([re.sub(r"^(?=[=+\-@\t\r])", "'", str(line.get(name, ""))) for name in columns])
    return path


def progress() -> Svg:
    """The map of the course: a row for each notebook, a mark for each exercise."""
    entries = read()
    return drawn({lesson: states(lesson, entries) for lesson in modules()})


def states(lesson: str, entries: dict[str, Entry]) -> dict[str, str]:
    """Exercise -> "right", "tried" or "open"."""
    found = {}
    for exercise in of_lesson(lesson):
        entry = entries.get(exercise.name)
        found[exercise.name] = "right" if entry and entry["right"] else "tried" if entry and entry["tries"] else "open"
    return found


def drawn(course: dict[str, dict[str, str]]) -> Svg:
    """Lesson -> exercise -> state, as a picture; each state has a sign as well as a colour."""
    looks = {"right": (GREEN, "✓"), "tried": (BLUE, "…"), "open": (GREY, "")}
    parts, y = [], 34
    end = 300 + 30 * max(map(len, course.values()), default=0) + 50  # room for "0 of 8" after the longest row
    for lesson, exercises in course.items():
        done = sum(state == "right" for state in exercises.values())
        parts.append(words(20, y, f"{LESSONS[lesson].number}  {LESSONS[lesson].title}", fill=INK))
        for column, state in enumerate(exercises.values()):
            (stroke, fill, ink), sign = looks[state]
            x = 300 + 30 * column
            parts.append(shape("rect", x=x, y=y - 16, width=24, height=22, rx=5, fill=fill, stroke=stroke))
            parts.append(words(x + 12, y, sign, fill=ink, anchor="middle"))
        parts.append(words(end, y, f"{done} of {len(exercises)}", fill=MUTED, anchor="end"))
        y += 30
    right = sum(state == "right" for exercises in course.values() for state in exercises.values())
    total = sum(map(len, course.values()))
    rows = "; ".join(
        f"{LESSONS[lesson].number}: {sum(state == 'right' for state in exercises.values())} of {len(exercises)}"
        for lesson, exercises in course.items()
    )
    return card(end + 30, y - 4, parts, f"{right} of {total} exercises solved ({rows}).")


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


def _content() -> dict[str, object]:
    """All that the file holds; a damaged file is set aside. OSError if it cannot be read."""
    file = progress_file()
    try:
        content = json.loads(text_of(file) or "{}")
        why = "" if isinstance(content, dict) else f"it holds a {type(content).__name__}, not a dict"
    except (ValueError, RecursionError) as error:
        content, why = {}, f"{type(error).__name__}: {error}"
    if why:
        set_aside(file, why)
    return {} if why else content


def _readable() -> dict[str, object]:
    try:
        with alone(progress_file()):
            return _content()
    except (OSError, ValueError) as error:
        _tell(f"Your progress cannot be read ({error}).")
        return {}


def _change(change: Callable[[dict[str, object]], object]) -> None:
    """Change what the file holds; a file that cannot be written (a read-only home, a full disk) stops nobody."""
    try:
        with alone(progress_file()):
            content = _content()
            change(content)
            replace_file(progress_file(), json.dumps(content, indent=1, ensure_ascii=False))
    except (OSError, ValueError) as error:
        _tell(f"Your progress cannot be recorded ({error}).")


def _tell(line: str) -> None:
    """Print a line, once a session."""
    if line not in _told:
        _told.add(line)
        print(printable(line))
