"""The file in which a learner's progress is kept: where it lies, how it is written, and what was predicted.

`tx_helpers.exercises.solved` reads and writes it. What stands here needs no torch, because Jupyter's server reads the
predictions when it opens a notebook (`tx_helpers.opening`).
"""

import glob
import os
import re
import shutil
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import platformdirs

UNFINISHED, ABANDONED = ".unfinished", 600  # seconds after which an unfinished file is that of a killed process
PREDICTIONS = "the-predictions"  # they stand under one name that no exercise can have
# In version 0.1 the key of a prediction began with its notebook's number; these needed a new name to be unique.
FORMERLY = {
    "09-blind": "blind-twin",
    "12-order": "early-text",
    "13-reach": "reach-of-a-head",
    "14-few": "few-labels",
    "16-kept": "most-memory",
}


def progress_file() -> Path:
    """The path of the record; the file may not exist yet. ValueError if TX_PROGRESS begins with an unknown user."""
    named = os.path.expanduser(os.environ.get("TX_PROGRESS", ""))
    if named.startswith("~"):
        raise ValueError(f"TX_PROGRESS: {named!r} begins with a user that this machine does not have")
    folder = platformdirs.user_data_dir("tx_helpers", appauthor=False)
    return Path(named) if named else Path(folder) / "progress.json"


def replace_file(file: Path, text: str) -> None:
    """Write a file in one step: another kernel may read it at this moment. OSError where it cannot be written.

    What a process that was killed has left of its own write is removed.
    """
    file = Path(os.path.realpath(file))  # a link stays a link
    file.parent.mkdir(parents=True, exist_ok=True)
    for left in file.parent.glob(f".{glob.escape(file.name)}.*{UNFINISHED}"):
        with suppress(OSError):  # it is gone by now, or another user's
            if time.time() - left.stat().st_mtime > ABANDONED:
                left.unlink()
    handle, temporary = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.", suffix=UNFINISHED)
    try:
        if file.exists():
            shutil.copymode(file, temporary)
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(temporary, file)
    except OSError:
        Path(temporary).unlink(missing_ok=True)
        raise


def guesses_in(content: Mapping[str, object]) -> dict[str, str | float]:
    """The predictions in the file's content by today's keys: "05-one-head" is "one-head"."""
    found = content.get(PREDICTIONS)
    answers = found if isinstance(found, dict) else {}
    return {_today(key): answer for key, answer in answers.items()}


def _today(key: str) -> str:
    """Today's key of a prediction: renamed since 0.1, or that without its number, or renamed after that."""
    since = FORMERLY.get(key) or re.sub(r"^\d\d-", "", key)
    return FORMERLY.get(since, since)
