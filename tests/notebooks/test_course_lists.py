"""The lists of notebooks in README.md, in TEACHING.md and below the map, and the map itself, are those of the table."""

import pytest

import course_lists
from notebook_header import exercises
from tx_helpers.exercises.course import LESSONS


def test_a_route_takes_the_sum_of_its_notebooks():
    names = ("start_here", "self_attention", "multi_head_attention", "masking")  # the first route
    minutes = dict(zip(names, (45, 60, 65, 63), strict=True))
    needs = "**You need first:** [00 Start](00_start_here.ipynb),\n[03 Positions](03_x.ipynb), 01 to 02\n\n[07 x](y)"
    minutes["reference"] = 119
    headers = {name: f"# T\n\n{needs}\n\n**Time:** core path about {number} min" for name, number in minutes.items()}
    told = course_lists.routes("| **a** | | | |\n", headers)
    assert told.split("\n")[0].endswith("(02_tokens_and_embeddings.ipynb) [03](03_positional_encodings.ipynb) | 4 h |")
    assert "| **The whole course** | all | nothing | 4 h, " in told
    assert ", and 2 h to read [23](23_reference.ipynb), which is for looking up |" in told


def test_a_list_is_replaced_whole_and_what_stands_around_it_stays():
    lesson = LESSONS["masking"]
    bank = exercises("masking")
    text = "before\n\n| lesson | show |\n|---|---|\n| 06 Old | x | 1 |\n| 07 Gone | y | 2 |\n\nafter | 08\n"
    told = course_lists.teaching(text, {"masking": "# 06 T\n\n**Time:** core path about 40 min · machine 1 min"})
    assert f"\n| {lesson.number} Masking | {lesson.ask} | 40 | {bank.count} | {bank.minutes} |\n" in told
    assert told.startswith("before\n\n| lesson | show |\n|---|---|\n| 00 Start here |") and "Gone" not in told
    assert told.endswith(" |\n\nafter | 08\n") and "Reference" not in told  # which is looked up, not taught


def test_a_text_without_the_list_is_named():
    with pytest.raises(ValueError, match=r"README\.md: the list of notebooks is not found"):
        course_lists.readme("| | notebook |\n|---|---|\n")
