"""The two lines of a notebook's first cell that tools write: where it stands in the course, and how long it takes.

    **You are here:** 03 of 00 to 21 · previous: [02 Tokens and embeddings](…) · next: [04 Self-attention](…) · [map](…)
    **Time:** core path about 60 min, with its questions, explorers and exercises · exercises at the end 45 min · …

The core path: 180 words a minute, half a minute for each code cell that is not folded, one minute for each picture and
each question, three for each explorer, and the minutes of the exercises that stand in it; rounded to five minutes. It
comes near what three readers took (45 to 85 minutes a notebook). Exercises at the end: the minutes of the bank, and
five for the quiz. Machine: the measured time of all cells on two cores, at least one minute. A number that is still
nearly right stays, so that a changed word or a slow run changes no file.
"""

import re
from pathlib import Path
from typing import NamedTuple

from notebook_parts import EXPLORER, PREDICTION, asks_or_tells, core_path, is_folded, words
from tx_helpers.exercises.course import LESSONS, Lesson

HERE_MARK = "**You are here:**"
TIME_MARK = "**Time:**"
TIME_LINE = re.compile(rf"^{re.escape(TIME_MARK)} .*$", re.MULTILINE)
UNMEASURED = "not measured yet"
MAP = "#The-map-of-the-course"  # its heading in the first notebook
HOW_TO_WAKE = "*Explorers and questions are still pictures until their cells run: Run → Run All Cells, then scroll up.*"
WORDS_A_MINUTE, CODE, PICTURE, ASKED, EXPLORED, QUIZ = 180, 0.5, 1, 1, 3, 5
LONG = 45  # minutes of a core path that needs a place to stop half-way
HALF_WAY = "**Half-way stop.**"  # how the text at that place begins
PICTURES = ("image/png", "image/svg+xml")


def groups() -> dict[str, list[Lesson]]:
    """The lessons by the parts of the course, both in its order."""
    found: dict[str, list[Lesson]] = {}
    for lesson in LESSONS.values():
        found.setdefault(lesson.group, []).append(lesson)
    return found


def here_line(path: Path) -> str:
    """Links to the notebooks before and behind this one and to the map, as far as they lie beside it, and how its
    explorers come to life."""
    number, course = path.name[:2], list(LESSONS.values())
    there = [one for one in course if one.stem == path.stem or (path.parent / f"{one.stem}.ipynb").exists()]
    links = {one.number: f"[{one.number} {one.title}]({one.stem}.ipynb)" for one in there}
    way = [f"{number} of {course[0].number} to {course[-1].number}"]
    way += [f"previous: {link}" for other, link in links.items() if other < number][-1:]
    way += [f"next: {link}" for other, link in links.items() if other > number][:1]
    if course[0] in there:
        way.append(f"[map]({'' if path.stem == course[0].stem else f'{course[0].stem}.ipynb'}{MAP})")
    return f"{HERE_MARK} {' · '.join(way)}<br>{HOW_TO_WAKE}"


def reading_minutes(cells: list[dict]) -> float:
    """How long the core path takes, without the exercises in it, which have minutes of their own."""
    path = [cell for cell in core_path(cells) if not cell.get("id", "").startswith("exercise-")]
    code = [cell for cell in path if cell["cell_type"] == "code"]
    explorers = [cell for cell in code if EXPLORER.search(cell["source"])]
    shown = sum(not is_folded(cell) for cell in code)
    pictures = sum(is_picture(cell) for cell in path) - sum(is_picture(cell) for cell in explorers)
    asked = sum(len(PREDICTION.findall(cell["source"])) for cell in code)
    tried = ASKED * asked + EXPLORED * len(explorers)
    return words(path) / WORDS_A_MINUTE + CODE * shown + PICTURE * pictures + tried


def is_picture(cell: dict) -> bool:
    """Whether a cell shows one: in its text, or in a stored output."""
    if cell["cell_type"] != "code":
        return "![" in cell["source"] or "<img" in cell["source"].replace("colab-badge", "")
    data = [output.get("data", {}) for output in cell["outputs"]]
    html = ["".join(kinds.get("text/html", "")) for kinds in data]
    return any(set(PICTURES) & set(kinds) for kinds in data) or any("<svg" in text or "<img" in text for text in html)


class Bank(NamedTuple):
    """How many exercises a lesson has in its core path and at its end, and their minutes, the quiz's at the end."""

    inline: int = 0
    inline_minutes: int = 0
    count: int = 0
    minutes: int = 0


def exercises(lesson: str) -> Bank:
    """What the lesson's bank holds; nothing where it has none."""
    from tx_helpers.exercises.catalogue import modules, of_lesson  # needs torch, which takes seconds

    if lesson not in modules():
        return Bank()
    inline = [exercise.minutes for exercise in of_lesson(lesson) if exercise.inline]
    last = [exercise.minutes for exercise in of_lesson(lesson) if not exercise.inline]
    return Bank(len(inline), sum(inline), len(last), sum(last) + QUIZ)


def time_line(cells: list[dict], lesson: str, seconds: float | None = None) -> str:
    """The line for these cells. The machine's minutes stay as they are where no time was measured."""
    old = TIME_LINE.search(cells[0]["source"])
    old_path, old_machine = path_minutes(old), minutes(old, r"(?:machine|\*\* (?:under|about))")
    bank = exercises(lesson)
    path = reading_minutes(cells) + bank.inline_minutes
    if old_path is None or abs(path - old_path) > 4:
        old_path = max(5, 5 * round(path / 5))
    if seconds is not None and (old_machine is None or abs(seconds / 60 - old_machine) > 0.75):
        old_machine = max(1, round(seconds / 60))
    asks = any(asks_or_tells(cell) for cell in cells if cell["cell_type"] == "code")
    within = ", with its questions, explorers and exercises" if bank.inline else ", with its questions and explorers"
    parts = [f"core path about {old_path} min{within if asks else ''}"]
    parts += [f"exercises at the end {bank.minutes} min"] if bank.count else []
    parts += [f"machine {UNMEASURED if old_machine is None else f'{old_machine} min'}"]
    return f"{TIME_MARK} {' · '.join(parts)}"


def path_minutes(line: re.Match | None) -> int | None:
    """The minutes of the core path that stand in the line."""
    return minutes(line, "core path about")


def minutes(line: re.Match | None, what: str) -> int | None:
    """The minutes that stand in the line behind these words."""
    found = re.search(rf"{what} (\d+) min", line[0]) if line else None
    return int(found[1]) if found else None
