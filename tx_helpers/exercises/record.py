"""What you have solved: stored in a file on your machine, shown as a map of the course, never sent anywhere.

    progress()                          # the map
    export("progress.csv")              # for a teacher: a line for each exercise
    reset()                             # delete the record

The file is progress.json in the user's data folder; the environment variable TX_PROGRESS names another. It also holds
the learner's predictions, all under one name that no exercise can have.
"""

import contextlib
import csv
import json
import os
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import platformdirs

from tx_helpers.exercises.catalogue import notebook_of, of_notebook
from tx_helpers.nn.arguments import described
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import BLUE, GREEN, GREY, INK, MUTED, card, shape, words

PREDICTIONS = "the-predictions"
TITLES = {
    "01": "The limits of recurrence",
    "02": "Tokens and embeddings",
    "03": "Positional encodings",
    "04": "Self-attention",
    "05": "Multi-head attention",
    "06": "Masking",
    "07": "Feed-forward, residuals, normalisation",
    "08": "The full model",
    "09": "Training",
    "10": "Debugging",
    "11": "Decoding",
    "12": "A model that writes",
    "13": "Positions inside attention",
    "14": "Families",
    "15": "Modern Transformers",
    "16": "Scaling up",
}


def progress_file() -> Path:
    """The path of the record; the file may not exist yet."""
    named = os.environ.get("TX_PROGRESS")
    folder = platformdirs.user_data_dir("tx_helpers", appauthor=False)
    return Path(named).expanduser() if named else Path(folder) / "progress.json"


def read() -> dict[str, dict]:
    """Exercise -> {"right": bool, "tries": int, "mistakes": [names], "first": time, "last": time}; times in UTC.

    ValueError if the file exists but cannot be read; it is left as it is.
    """
    return {name: entry for name, entry in _content().items() if name != PREDICTIONS}


def guesses() -> dict[str, str | float]:
    """Key of a prediction -> what the learner said; empty if the file cannot be read."""
    try:
        return _content().get(PREDICTIONS, {})
    except ValueError:
        return {}


def note(name: str, *, right: bool, mistake: str = "") -> None:
    """Record a try. An exercise that was right once stays right; a file that cannot be written is ignored."""

    def add(content: dict[str, dict]) -> None:
        now = datetime.now(UTC).isoformat(timespec="seconds")
        entry = content.setdefault(name, {"right": False, "tries": 0, "mistakes": [], "first": now})
        entry |= {"right": entry["right"] or right, "tries": entry["tries"] + 1, "last": now}
        if mistake and mistake not in entry["mistakes"]:
            entry["mistakes"].append(mistake)

    _change(add)


def note_guess(key: str, answer: str | float) -> None:
    """Record a prediction, unless there is one already: the first is kept. A file that cannot be written is ignored."""
    _change(lambda content: content.setdefault(PREDICTIONS, {}).setdefault(key, answer))


def replace_file(file: Path, text: str) -> None:
    """Write a file in one step: another kernel may read it at this moment. OSError where it cannot be written."""
    file.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=file.parent, prefix=file.name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
        os.replace(temporary, file)
    except OSError:
        Path(temporary).unlink(missing_ok=True)
        raise


def reset() -> None:
    """Delete the record."""
    progress_file().unlink(missing_ok=True)


def export(path: str | Path) -> Path:
    """Write a CSV file with a line for each exercise: notebook, name, right, tries, mistakes, first, last."""
    if not isinstance(path, str | Path) or not str(path):
        raise ValueError(f"export: path is {described(path)}, expected the name of a file")
    entries, path = read(), Path(path)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["notebook", "exercise", "right", "tries", "mistakes", "first", "last"])
        for name, notebook in notebook_of().items():
            entry = entries.get(name, {})
            tries = [entry.get("right", False), entry.get("tries", 0), " ".join(entry.get("mistakes", []))]
            writer.writerow([notebook, name, *tries, entry.get("first", ""), entry.get("last", "")])
    return path


def progress() -> Svg:
    """The map of the course: a row for each notebook, a mark for each exercise."""
    return drawn({notebook: states(notebook, read()) for notebook in sorted(set(notebook_of().values()))})


def states(notebook: str, entries: dict[str, dict]) -> dict[str, str]:
    """Exercise -> "right", "tried" or "open"."""
    found = {}
    for exercise in of_notebook(notebook):
        entry = entries.get(exercise.name)
        found[exercise.name] = "open" if entry is None else "right" if entry["right"] else "tried"
    return found


def drawn(course: dict[str, dict[str, str]]) -> Svg:
    """Notebook -> exercise -> state, as a picture; each state has a sign as well as a colour."""
    looks = {"right": (GREEN, "✓"), "tried": (BLUE, "…"), "open": (GREY, "")}
    parts, y = [], 34
    end = 300 + 30 * max(map(len, course.values()), default=0) + 50  # room for "0 of 8" after the longest row
    for notebook, exercises in course.items():
        done = sum(state == "right" for state in exercises.values())
        parts.append(words(20, y, f"{notebook}  {TITLES.get(notebook, '')}", fill=INK))
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
        f"{notebook}: {sum(state == 'right' for state in exercises.values())} of {len(exercises)}"
        for notebook, exercises in course.items()
    )
    return card(end + 30, y - 4, parts, f"{right} of {total} exercises solved ({rows}).")


def _content() -> dict[str, dict]:
    """All that the file holds; ValueError if it exists but cannot be read."""
    file = progress_file()
    if not file.exists():
        return {}
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
        return {str(name): dict(entry) for name, entry in content.items()}
    except (ValueError, TypeError, AttributeError) as error:
        raise ValueError(f"progress: {file} cannot be read ({error}); repair or delete it") from error


def _change(change: Callable[[dict[str, dict]], object]) -> None:
    """Change what the file holds. Not a spoilt file, which is left alone, nor a read-only one: they stop nobody."""
    with contextlib.suppress(ValueError, OSError):  # OSError: a read-only home, a full disk
        content = _content()
        change(content)
        replace_file(progress_file(), json.dumps(content, indent=1, ensure_ascii=False))
