"""What findings of the core path say at other seeds: the record of `tools/run_seeds.py` is whole and of today's cells.

nbval runs the notebook's own seeds; the nightly test here runs each notebook at one seed more. Try one notebook:

    python -m pytest -m thorough tests/notebooks/test_other_seeds.py -k masking
"""

import json
import re

import pytest

from claims import stands_in
from notebook_frame import ROOT
from other_seeds import UNNAMED_SEEDS, fill, reseeded
from refresh_notebooks import load
from run_seeds import FILE, SEEDS, fingerprint, lines_of, recorded, rests_on, right_answer
from tx_helpers.exercises.course import LESSONS

RECORD = json.loads(FILE.read_text(encoding="utf-8"))
AGAIN = "run `python tools/run_seeds.py {}`"
by_lesson = pytest.mark.parametrize("lesson", [lesson for lesson in LESSONS if lesson != "reference"])


def cells_of(lesson: str) -> list:
    return load(ROOT / "notebooks" / f"{LESSONS[lesson].stem}.ipynb").cells


def answers(found: dict) -> list[str]:
    """What a recorded finding calls right, at each of its seeds."""
    said = found["at"].values() if "at" in found else [found["the same at all"]]
    return [right_answer(lines[-1]) for lines in said]


def is_one_voice(said: list[str]) -> bool:
    """Is it the same choice, or the same numbers within a tenth?"""
    numbers = [[float(one) for one in re.findall(r"-?\d+(?:\.\d+)?", text)] for text in said]
    if said[0].startswith("The answer"):
        return len({*said}) == 1
    return all(max(each) - min(each) <= 0.1 * abs(max(each)) for each in zip(*numbers, strict=True))


@by_lesson
def test_each_finding_was_run_at_three_seeds_with_todays_cells(lesson):
    cells = cells_of(lesson)
    now = {key: fingerprint(cells, places) for key, places in rests_on(cells).items()}
    assert {key: found["code"] for key, found in RECORD[lesson]["findings"].items()} == now, AGAIN.format(lesson)
    assert all(len(found["seeds"]) >= SEEDS for found in RECORD[lesson]["findings"].values())


@by_lesson
def test_no_cell_failed_and_no_right_answer_turned_with_the_seed(lesson):
    cells = cells_of(lesson)
    for key, places in rests_on(cells).items():
        stored = right_answer(lines_of(cells[places[-1]])[-1])
        assert is_one_voice([stored, *answers(RECORD[lesson]["findings"][key])]), key
    assert RECORD[lesson]["fails"] == {}


@pytest.mark.thorough
@by_lesson
def test_so_it_is_at_a_fourth_seed(lesson, tmp_path):
    fill(tmp_path, SEEDS)
    found = recorded(lesson, range(SEEDS, SEEDS + 1), {SEEDS: tmp_path})
    assert found["fails"] == {}
    for key, one in RECORD[lesson]["findings"].items():
        assert is_one_voice([*answers(one), *answers(found["findings"][key])]), key


@by_lesson
def test_calls_that_use_a_default_seed_are_where_they_were(lesson):
    code = "\n".join(cell.source for cell in cells_of(lesson) if cell.cell_type == "code")
    assert [old for old in UNNAMED_SEEDS.get(lesson, {}) if not stands_in(old, code)] == []


def test_every_seed_is_raised():
    source = "manual_seed(0); RandomStream(7); f(seed=10**6, n=3); Generator().manual_seed(step); data.batches(64)"
    assert reseeded(source, "limits_of_recurrence", 2) == (
        "manual_seed(2); RandomStream(9); f(seed=12**6, n=3); Generator().manual_seed(step); data.batches(64, seed=2)"
    )


def test_a_right_answer_is_read_off_its_finding():
    assert right_answer("The answer is “0.5”. Half of it.") == "The answer is “0.5”"
    assert right_answer("It is 0.5 nats. So it is.") == "It is 0.5 nats."
    assert right_answer("Any answer from 45 to 56 counts as right. 51 on average.").endswith(
        "from 45 to 56 counts as right"
    )


def test_numbers_may_differ_by_a_tenth_and_choices_not_at_all():
    assert is_one_voice(["It is 12.2 %.", "It is 12.7 %."]) and not is_one_voice(["It is 12 %.", "It is 14 %."])
    assert not is_one_voice(["The answer is “two”", "The answer is “one”"])
