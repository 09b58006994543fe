"""The header's two lines that tools write: where a notebook stands in the course, and how long it takes."""

from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output

import course_lists
import notebook_header as header
from repository import COURSE
from tx_helpers.exercises.catalogue import of_lesson
from tx_helpers.exercises.course import LESSONS


def here(path: Path) -> str:
    return header.here_line(path).removeprefix("**You are here:** ").removesuffix(f"<br>{header.HOW_TO_WAKE}")


def test_the_line_leads_to_the_neighbours_and_to_the_map():
    course = [f"[{one.number} {one.title}]({one.stem}.ipynb)" for one in LESSONS.values()]
    first, *_, last = COURSE
    end = last.name[:2]
    assert here(first) == f"00 of 00 to {end} · next: {course[1]} · [map]({header.MAP})"
    way = f"previous: {course[2]} · next: {course[4]} · [map]({first.name}{header.MAP})"
    assert here(COURSE[3]) == f"03 of 00 to {end} · {way}"
    assert here(last) == f"{end} of 00 to {end} · previous: {course[-2]} · [map]({first.name}{header.MAP})"
    assert course_lists.MAP_TITLE.replace("## ", "#").replace(" ", "-") == header.MAP


def test_a_notebook_has_the_title_of_the_table():
    titles = {path.stem: nbformat.read(path, as_version=4).cells[0].source.split("\n")[0] for path in COURSE}
    expected = {lesson.stem: f"# {lesson.number} {lesson.title}" for lesson in LESSONS.values()}
    assert {stem: title for stem, title in titles.items() if not title.startswith(expected[stem])} == {}


def test_a_group_of_the_map_stands_in_one_place():
    groups = [lesson.group for lesson in LESSONS.values()]
    assert list(header.groups()) == [group for place, group in enumerate(groups) if groups[place - 1] != group]


CODE, PICTURE = new_code_cell("x = 1"), new_output("display_data", {"image/png": "iVBO"})
SVG = new_output("display_data", {"text/html": "<svg></svg>", "text/plain": "a drawing"})


@pytest.mark.parametrize(
    ("cells", "minutes"),
    [
        ([new_markdown_cell("word " * 360)], 2),
        ([CODE, CODE], 1),
        ([new_code_cell("plot(x)", outputs=[PICTURE]), new_code_cell("draw(x)", outputs=[SVG])], 3),
        ([new_code_cell("plot(x)", outputs=[PICTURE], metadata={"tags": ["hide-input"]})], 1),
        ([new_code_cell("toy_explorer(x)", outputs=[SVG])], 3.5),
        ([new_code_cell('guess = predict("a", "Which?", ["b", "c"])')], pytest.approx(1 + 3 / 180)),
        ([new_markdown_cell("![](a.svg)")], 1),
        ([new_markdown_cell("## Optional: more"), new_markdown_cell("word " * 900), CODE], 0),
        ([new_markdown_cell("## Exercises"), CODE], 0),
        ([new_code_cell("f = your_turn('f', f)", id="exercise-f")], 0),
    ],
)
def test_reading_takes(cells, minutes):
    assert header.reading_minutes(cells) == minutes


def line(text: str, words: int, seconds: float | None = None) -> str:
    cells = [new_markdown_cell(f"# 00 T\n\n**Time:** {text}"), new_markdown_cell("word " * (180 * words - 2))]
    return header.time_line(cells, "reference", seconds).removeprefix("**Time:** ")


@pytest.mark.parametrize(
    ("old", "words", "seconds", "new"),
    [
        ("not measured yet", 23, None, "core path about 25 min · machine not measured yet"),
        ("not measured yet", 1, 20, "core path about 5 min · machine 1 min"),
        ("not measured yet", 18, 100, "core path about 20 min · machine 2 min"),
        (
            "core path about 20 min · machine 2 min",
            24,
            None,
            "core path about 20 min · machine 2 min",
        ),  # still true enough
        ("core path about 20 min · machine 2 min", 25, 160, "core path about 25 min · machine 2 min"),
        ("core path about 20 min · machine 2 min", 20, 170, "core path about 20 min · machine 3 min"),
        ("core path about 20 min · machine 2 min", 20, 20, "core path about 20 min · machine 1 min"),
        (
            "core path about 20 min · exercises 9 min · machine 1 min",
            20,
            None,
            "core path about 20 min · machine 1 min",
        ),
    ],
)
def test_the_line_does_not_follow_every_noise(old, words, seconds, new):
    assert line(old, words, seconds) == new


def test_minutes_of_exercises_are_those_of_the_bank_and_five_for_the_quiz():
    bank = header.exercises("self_attention")
    inline = [exercise.minutes for exercise in of_lesson("self_attention") if exercise.inline]
    last = [exercise.minutes for exercise in of_lesson("self_attention") if not exercise.inline]
    assert bank == (len(inline), sum(inline), len(last), sum(last) + 5) and bank.count and bank.inline
    assert header.exercises("reference") == (0, 0, 0, 0)
    cells = [new_markdown_cell("# 04 T\n\n**Time:** core path about 5 min · machine 1 min")]
    line = header.time_line(cells, "self_attention")
    assert line.endswith(f" · exercises at the end {bank.minutes} min · machine 1 min")
    assert line.startswith(f"**Time:** core path about {max(5, 5 * round(sum(inline) / 5))} min · ")


def test_a_header_says_what_its_minutes_hold():
    asks = [new_code_cell('guess = predict("a", "Which?", ["b", "c"])')]
    cells = [new_markdown_cell("# 04 T\n\n**Time:** not measured yet")]
    assert "min, with its questions, explorers and exercises · " in header.time_line(cells + asks, "self_attention")
    assert "min, with its questions and explorers · " in header.time_line(cells + asks, "reference")
