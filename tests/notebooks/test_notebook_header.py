"""The header's two lines that tools write: where a notebook stands in the course, and how long it takes."""

import re

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output

import notebook_header as header
from notebook_frame import ROOT
from repository import COURSE
from tx_helpers.exercises.catalogue import of_notebook


def test_the_line_names_the_notebooks_that_are_there(tmp_path):
    for name in ("00_start_here", "03_positional_encodings", "04_self_attention", "04_copy", "18_reference"):
        (tmp_path / f"{name}.ipynb").touch()
    assert header.here_line(tmp_path / "03_positional_encodings.ipynb") == (
        "**You are here:** Start: [00](00_start_here.ipynb) | Parts: **03 Positions** · "
        "[04 Self-attention](04_self_attention.ipynb) | Look up: [18 Reference](18_reference.ipynb)"
    )


def test_the_map_holds_every_notebook_of_the_course():
    known = [stem for names in header.MAP.values() for stem in names]
    assert [path.stem for path in COURSE if path.stem not in known] == []


CODE, PICTURE = new_code_cell("x = 1"), new_output("display_data", {"image/png": "iVBO"})
SVG = new_output("display_data", {"text/html": "<svg></svg>", "text/plain": "a drawing"})


@pytest.mark.parametrize(
    ("cells", "minutes"),
    [
        ([new_markdown_cell("word " * 360)], 2),
        ([CODE, CODE], 1),
        ([new_code_cell("plot(x)", outputs=[PICTURE]), new_code_cell("draw(x)", outputs=[SVG])], 3),
        ([new_code_cell("plot(x)", outputs=[PICTURE], metadata={"tags": ["hide-input"]})], 1),
        ([new_code_cell("toy_explorer(x)", outputs=[SVG])], 2.5),
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
    return header.time_line(cells, "00", seconds).removeprefix("**Time:** ")


@pytest.mark.parametrize(
    ("old", "words", "seconds", "new"),
    [
        ("not measured yet", 23, None, "read about 25 min · machine not measured yet"),
        ("not measured yet", 1, 20, "read about 5 min · machine 1 min"),
        ("not measured yet", 18, 100, "read about 20 min · machine 2 min"),
        ("read about 20 min · machine 2 min", 24, None, "read about 20 min · machine 2 min"),  # still true enough
        ("read about 20 min · machine 2 min", 25, 160, "read about 25 min · machine 2 min"),
        ("read about 20 min · machine 2 min", 20, 170, "read about 20 min · machine 3 min"),
        ("read about 20 min · machine 2 min", 20, 20, "read about 20 min · machine 1 min"),
        ("read about 20 min · exercises 9 min · machine 1 min", 20, None, "read about 20 min · machine 1 min"),
    ],
)
def test_the_line_does_not_follow_every_noise(old, words, seconds, new):
    assert line(old, words, seconds) == new


def test_minutes_of_exercises_are_those_of_the_bank_and_five_for_the_quiz():
    assert header.exercises("00") == (0, 0)
    count, minutes = len(of_notebook("04")), sum(exercise.minutes for exercise in of_notebook("04")) + 5
    assert header.exercises("04") == (count, minutes)
    cells = [new_markdown_cell("# 04 T\n\n**Time:** read about 5 min · machine 1 min")]
    assert f" · exercises {minutes} min · machine 1 min" in header.time_line(cells, "04")


def test_the_plan_of_lessons_gets_its_numbers():
    count, minutes = header.exercises("04")
    text = "| lesson | show | a | b | c |\n|---|---|\n| 04 Self | drag: why? | 1 | 2 | 3 |\n| 05 Heads | x | 7 |\n"
    told = header.plan_of_lessons(text, {"04": "# 04 Self\n\n**Time:** read about 40 min · machine 1 min"})
    assert told == text.replace("1 | 2 | 3", f"40 | {count} | {minutes}")


def test_the_plan_of_lessons_has_the_headers_minutes():
    text = (ROOT / "TEACHING.md").read_text(encoding="utf-8")
    headers = {path.stem[:2]: nbformat.read(path, as_version=4).cells[0].source for path in COURSE}
    assert header.plan_of_lessons(text, headers) == text
    lessons = re.findall(r"^\| (\d\d) .* \| \d+ \| \d+ \| \d+ \|$", text, re.MULTILINE)
    assert lessons == [number for number in headers if number != "18"]  # which is looked up, not taught
