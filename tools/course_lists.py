"""The lists of the course's notebooks: in README.md, in TEACHING.md, below the map in the first notebook.

`python tools/refresh_notebooks.py --frame` writes them, from the table `tx_helpers/exercises/course.py`. A list is
found by the form of its lines, so the text around it may change.
"""

import re
import textwrap
from collections.abc import Iterable

from notebook_header import TIME_LINE, exercises, groups, path_minutes
from tx_helpers.exercises.course import LESSONS, ROUTES, Lesson

TOGETHER = "\0"  # a space at which no line is broken
ROUTES_TITLE = "## How long it takes"  # the cell of the first notebook that holds the routes
NEEDED = re.compile(r"\*\*You need first:\*\*.*(?:\n[^\n*]+)*")
MAP_TITLE = "## The map of the course"  # the cell of the first notebook that holds the list


def readme(text: str) -> str:
    """README.md with a line for each notebook."""
    lines = [
        f"| {lesson.number} | [{lesson.title}](notebooks/{lesson.stem}.ipynb): {lesson.about} |"
        for lesson in LESSONS.values()
    ]
    return _replaced("README.md", r"\| \d\d \| \[.*\|", text, lines)


def teaching(text: str, headers: dict[str, str]) -> str:
    """TEACHING.md with a line for each lesson that is taught; `headers`: its name -> the first cell of its notebook.

    The last three columns are the minutes of the core path, the number of exercises at the end, and their minutes. A
    notebook that is still to be written has none.
    """

    def line(lesson: Lesson) -> str:
        bank = exercises(lesson.name)
        numbers = (_minutes(headers, lesson.name), bank.count, bank.minutes)
        return f"| {lesson.number} {lesson.title} | {lesson.ask} | {' | '.join(map(str, numbers))} |"

    lines = [line(lesson) for lesson in LESSONS.values() if lesson.ask]
    return _replaced("TEACHING.md", r"\| \d\d .*\|", text, lines)


def below_the_map(text: str) -> str:
    """The cell of the first notebook with a point for each part of the course, itself left out."""
    lines, first = [], next(iter(LESSONS.values()))
    for group, lessons in groups().items():
        links = [f"[{one.number} {one.title}]({one.stem}.ipynb)" for one in lessons if one is not first]
        if links:
            point = f"- **{group}:** {', '.join(link.replace(' ', TOGETHER) for link in links)}."
            wrapped = textwrap.fill(point, 120, subsequent_indent="  ", break_on_hyphens=False, break_long_words=False)
            lines.append(wrapped.replace(TOGETHER, " "))
    return _replaced(MAP_TITLE, r"(?:- \*\*|  \[|  \S).*", text, lines)


def routes(text: str, headers: dict[str, str]) -> str:
    """A text with a line for each route through the course and one for the whole.

    What the notebooks of a route need first, by their headers, and the route leaves out, stands in a column of its own.
    """
    lines = []
    for route in ROUTES:
        total = sum(_minutes(headers, name) for name in route.lessons)
        needed = {number for name in route.lessons for number in _needed_first(headers, name)}
        known = [name for name, lesson in LESSONS.items() if lesson.number in needed and name not in route.lessons]
        cells = (_links(route.lessons), _links(known) or "nothing", _hours(total))
        lines.append(f"| **{route.title}**: {route.about} | {' | '.join(cells)} |")
    taught = [name for name, lesson in LESSONS.items() if lesson.ask]
    (looked_up,) = set(LESSONS) - set(taught)
    everything = sum(_minutes(headers, name) for name in taught)
    last = sum(exercises(name).minutes for name in LESSONS)
    lines.append(
        f"| **The whole course** | all | nothing | {_hours(everything)}, {_hours(last)} of exercises at the end, "
        f"and {_hours(_minutes(headers, looked_up))} to read {_links([looked_up])}, which is for looking up |"
    )
    return _replaced("routes", r"\| \*\*.*\|", text, lines)


def _links(names: Iterable[str]) -> str:
    return " ".join(f"[{LESSONS[name].number}]({LESSONS[name].stem}.ipynb)" for name in names)


def _needed_first(headers: dict[str, str], name: str) -> list[str]:
    """The numbers of the notebooks that a header says one needs first, also those of "04 to 07"."""
    found = NEEDED.search(headers.get(name, ""))
    text = found[0] if found else ""
    spans = re.findall(r"\b(\d\d) to (\d\d)\b", text)
    return re.findall(r"\[(\d\d) ", text) + [f"{n:02}" for a, b in spans for n in range(int(a), int(b) + 1)]


def _minutes(headers: dict[str, str], name: str) -> int:
    return path_minutes(TIME_LINE.search(headers.get(name, ""))) or 0


def _hours(minutes: int) -> str:
    """Minutes as one says them, to the quarter of an hour."""
    quarters = round(minutes / 15)
    return f"{quarters // 4} h" + (f" {quarters % 4 * 15} min" if quarters % 4 else "")


def _replaced(where: str, form: str, text: str, lines: list[str]) -> str:
    """The text with these lines in the place of the first block of lines of that form; ValueError if there is none."""
    block = re.compile(rf"^{form}(?:\n{form})*$", re.MULTILINE)
    if not block.search(text):
        raise ValueError(f"{where}: the list of notebooks is not found (lines of the form {form})")
    return block.sub(lambda _: "\n".join(lines), text, count=1)
