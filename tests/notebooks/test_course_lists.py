"""The lists of notebooks in README.md, in TEACHING.md and below the map, and the map itself, are those of the table."""

import nbformat
import pytest

import course_lists
import draw_figures
from notebook_frame import ROOT
from notebook_header import exercises
from repository import COURSE
from tx_helpers.exercises.course import LESSONS

STALE = "run tools/renumber.py"
FIRST = LESSONS["start_here"]


def test_the_readme_lists_the_notebooks_of_the_table():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert course_lists.readme(text) == text, STALE
    assert all(f"| [{lesson.title}](notebooks/{lesson.stem}.ipynb): " in text for lesson in LESSONS.values())


def test_the_plan_of_lessons_has_the_headers_minutes():
    text = (ROOT / "TEACHING.md").read_text(encoding="utf-8")
    headers = {path.stem[3:]: nbformat.read(path, as_version=4).cells[0].source for path in COURSE}
    assert course_lists.teaching(text, headers) == text, STALE


def test_the_list_below_the_map_is_that_of_the_table():
    cells = nbformat.read(ROOT / "notebooks" / f"{FIRST.stem}.ipynb", as_version=4).cells
    (text,) = [cell.source for cell in cells if cell.source.startswith(course_lists.MAP_TITLE)]
    assert course_lists.below_the_map(text) == text, STALE
    assert all(
        f"[{lesson.number} {lesson.title}]({lesson.stem}.ipynb)" in text for lesson in list(LESSONS.values())[1:]
    )


def test_the_map_is_drawn_from_the_table():
    drawn = draw_figures.script("course_map").draw().svg()
    assert (ROOT / "figures" / "course_map.svg").read_text(encoding="utf-8") == drawn, STALE
    for lesson in LESSONS.values():
        assert f">{lesson.number}</text>" in drawn and f"{lesson.number} {lesson.title}" in drawn


def test_a_list_is_replaced_whole_and_what_stands_around_it_stays():
    lesson = LESSONS["masking"]
    count, minutes = exercises("masking")
    text = "before\n\n| lesson | show |\n|---|---|\n| 06 Old | x | 1 |\n| 07 Gone | y | 2 |\n\nafter | 08\n"
    told = course_lists.teaching(text, {"masking": "# 06 T\n\n**Time:** read about 40 min · machine 1 min"})
    assert f"\n| {lesson.number} Masking | {lesson.ask} | 40 | {count} | {minutes} |\n" in told
    assert told.startswith("before\n\n| lesson | show |\n|---|---|\n| 00 Start here |") and "Gone" not in told
    assert told.endswith(" |\n\nafter | 08\n") and "Reference" not in told  # which is looked up, not taught


def test_a_text_without_the_list_is_named():
    with pytest.raises(ValueError, match=r"README\.md: the list of notebooks is not found"):
        course_lists.readme("| | notebook |\n|---|---|\n")
