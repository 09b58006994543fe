"""What you have solved: stored in a file on your machine, shown as a map of the course, never sent anywhere.

    progress()                          # the map
    student("Ada Lovelace")             # a name or an id, for a teacher
    reset()                             # delete the record

The file is progress.json in the user's data folder; the environment variable TX_PROGRESS names another. It holds an
ENTRY for each exercise; what is no exercise stands under names that begin with "the-", as no exercise's name can.

Nothing about this file stops a notebook. A damaged one is set aside under another name, and what cannot be read or
written is told in a line.
"""

import contextlib
import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import zip_longest
from pathlib import Path
from typing import Any

from filelock import FileLock

from tx_helpers.environment import printable
from tx_helpers.exercises.catalogue import modules, of_lesson
from tx_helpers.exercises.course import LESSONS
from tx_helpers.nn.arguments import described
from tx_helpers.progress_file import PREDICTIONS, guesses_in, progress_file, replace_file
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import BLUE, GREEN, GREY, INK, MUTED, card, shape, words

Entry = dict[str, Any]  # a part of a JSON file
ENTRY: Entry = {"right": False, "tries": 0, "mistakes": [], "first": "", "last": "", "hints": [], "hints_before": 0}
OTHERS, STUDENT, QUIZZES = "the-", "the-student", "the-quizzes"
PATIENCE = 10.0  # seconds for which a kernel waits until another one has written
_told: set[str] = set()


def read() -> dict[str, Entry]:
    """Exercise -> its ENTRY: hints in the order in which they were first read, and how many before it was right."""
    return entries_in(whole_file())


def guesses() -> dict[str, str | float]:
    """Key of a prediction -> what the learner said."""
    return guesses_in(whole_file())


def quizzes() -> dict[str, list[int]]:
    """Key of a quiz, "self_attention" -> for each question the index of the kept choice, -1 where there is none."""
    return quizzes_in(whole_file())


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
        return student_in(whole_file())
    if not isinstance(name, str) or not name.strip() or not name.isprintable():
        raise ValueError(f"student: name is {described(name)}, expected a name or an id in a line of text")
    _change(lambda content: content.update({STUDENT: name.strip()}))
    return name.strip()


def note_guess(key: str, answer: str | float) -> None:
    """Record a prediction, unless there is one already: the first is kept."""

    def add(content: dict[str, object]) -> None:
        content[PREDICTIONS] = {key: answer} | guesses_in(content)

    _change(add)


def note_quiz(key: str, answers: Sequence[int], *, first: bool = True) -> None:
    """Record the choices of a quiz: an index for each question, -1 where there is none (which erases nothing).

    The first choice of each question stays; with first=False a new one takes its place.
    """

    def add(content: dict[str, object]) -> None:
        kept = quizzes_in(content)
        pairs = zip_longest(answers, kept.get(key, [])[: len(answers)], fillvalue=-1)
        now = [old if new < 0 or (first and old >= 0) else new for new, old in pairs]
        content[QUIZZES] = kept | {key: now}

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


def quizzes_in(content: Mapping[str, object]) -> dict[str, list[int]]:
    """Key of a quiz -> the kept choices; what is no list of whole numbers is left out."""
    found = content.get(QUIZZES)
    lists = {key: made for key, made in found.items() if isinstance(made, list)} if isinstance(found, dict) else {}
    return {key: made for key, made in lists.items() if all(type(one) is int for one in made)}


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


def whole_file() -> dict[str, object]:
    """All that the file holds; nothing where it cannot be read, which is told."""
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
