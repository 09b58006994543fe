"""The lists of the course's notebooks: in README.md, in TEACHING.md, below the map in the first notebook.

`python tools/refresh_notebooks.py --frame` writes them, from the table `tx_helpers/exercises/course.py`. A list is
found by the form of its lines, so the text around it may change.
"""

import re
import textwrap

from notebook_header import TIME_LINE, exercises, groups, minutes
from tx_helpers.exercises.course import LESSONS, Lesson

TOGETHER = "\0"  # a space at which no line is broken
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

    The last three columns are the minutes of reading, the number of exercises, and their minutes. A notebook that is
    still to be written has none.
    """

    def line(lesson: Lesson) -> str:
        read = minutes(TIME_LINE.search(headers.get(lesson.name, "")), "read about") or 0
        numbers = (read, *exercises(lesson.name))
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


def _replaced(where: str, form: str, text: str, lines: list[str]) -> str:
    """The text with these lines in the place of the first block of lines of that form; ValueError if there is none."""
    block = re.compile(rf"^{form}(?:\n{form})*$", re.MULTILINE)
    if not block.search(text):
        raise ValueError(f"{where}: the list of notebooks is not found (lines of the form {form})")
    return block.sub(lambda _: "\n".join(lines), text, count=1)
