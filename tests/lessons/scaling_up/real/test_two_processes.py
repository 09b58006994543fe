"""The record on two processes: the file's figures add up, the picture tells them, and the tool measures."""

import json
import os
from itertools import pairwise

import pytest

import run_record_on_two
from notebook_frame import ROOT
from tx_helpers.lessons.scaling_up.real.launch import launch
from tx_helpers.lessons.scaling_up.real.two_processes import (
    PARTS,
    WAYS,
    describe,
    plot_two_processes,
    recorded,
    seconds,
    speedup,
    steps_with_twice_the_batch,
    time_parts,
)
from tx_helpers.lessons.what_changed.record import RECORD

STAGES = [
    {
        "share": 0.75,
        "all_reduce": 0.02,
        "step": {"one": 0.4, "half": 0.3, "apart": 0.32, "two": 0.33},
        "optimizer": {"one": 0.1, "half": 0.1, "apart": 0.1, "two": 0.1},
    },
    {
        "share": 0.25,
        "all_reduce": 0.02,
        "step": {"one": 0.8, "half": 0.5, "apart": 0.5, "two": 0.6},
        "optimizer": {"one": 0.1, "half": 0.1, "apart": 0.1, "two": 0.1},
    },
]
RUNS = [
    {"name": "the recipe", "steps": 10, "loss": 1.5, "losses": [[5, 1.0, 2.0], [10, 2.0, 1.5]]},
    {"name": "a tenth of the steps", "steps": 100, "loss": 1.7},
    {"name": "twice the batch", "steps": 80, "loss": 1.6},
    {"name": "twice the batch", "steps": 60, "loss": 1.8},
]
TABLE = {"about": {"steps": 100}, "stages": STAGES, "runs": RUNS, "evaluation": 7.0}


def test_the_parts_are_what_the_ways_differ_in():
    assert [seconds(TABLE, way) for way in WAYS] == pytest.approx([50.0, 35.0, 36.5, 39.75])
    assert speedup(TABLE) == pytest.approx(50 / 39.75)
    expected = dict(zip(PARTS, (25.0, 5.0, 5.0, 1.5, 3.25, 7.0), strict=True))
    assert time_parts(TABLE) == pytest.approx(expected)
    assert seconds(TABLE, "one", until=85) == pytest.approx(75 * 0.4 + 10 * 0.8)
    with pytest.raises(ValueError, match="seconds: way='three', expected one of one, half, apart, two"):
        seconds(TABLE, "three")


def test_twice_the_batch_is_interpolated_between_trainings_and_not_beyond():
    assert steps_with_twice_the_batch(TABLE) == (pytest.approx(70), 100)
    with pytest.raises(ValueError, match=r"\[1.8\] do not enclose 1.7"):
        steps_with_twice_the_batch(TABLE | {"runs": [RUNS[1], RUNS[3]]})


def test_the_picture_tells_the_figures():
    picture = plot_two_processes(TABLE)
    assert picture.alt == describe(TABLE)
    assert picture.alt == (
        "The recipe's 100 steps take 50 s on one process and 40 s on two, 1.26 times as fast; on two they ended at a "
        "validation loss of 1.500. Two processes: 25 s are half of one's; smaller pieces +5, optimizer twice +5, side "
        "by side +2, sending and waiting +3 s, of which the all-reduce itself is 2 s; the evaluation at the end takes "
        "both 7 s. With batches that are twice as large, 70 steps reach the loss of 100."
    )
    left, right = picture.figure.axes
    one, two = left.lines
    assert list(one.get_ydata()) == list(two.get_ydata()) == [2.0, 1.5]
    assert one.get_xdata()[-1] == pytest.approx(50 / 60) and two.get_xdata()[-1] == pytest.approx(39.75 / 60)
    bars = [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in right.patches]
    assert bars[0] == (0, 57) and bars[-1] == pytest.approx((0, 46.75))
    assert all(end == pytest.approx(start) for (_, end), (start, _) in pairwise(bars[1:-1]))


def test_the_recorded_figures_are_of_the_records_recipe():
    table = recorded()
    assert table["about"]["steps"] == RECORD.steps
    assert [(row["length"], row["rows"]) for row in table["stages"]] == [(s.length, s.rows) for s in RECORD.stages]
    assert sum(row["share"] for row in table["stages"]) == pytest.approx(1)
    double, recipes = table["gaps"]
    assert double["numbers"] == "float64" and double["largest"] < 1e-6
    assert recipes["largest"] < 0.01
    assert sum(time_parts(table).values()) == pytest.approx(seconds(table, "two") + table["evaluation"])
    assert {row["name"] for row in table["runs"]} == {"the recipe", "a tenth of the steps", "twice the batch"}
    assert all(row["losses"][-1][0] <= row["steps"] for row in table["runs"])


def test_losses_are_thinned_to_means():
    assert run_record_on_two.smoothed([4.0, 2.0, 1.0, 0.5], [0.1, 0.2, 0.3, 0.44], points=2) == [
        [2, 0.2, 3.0],
        [4, 0.4, 0.75],
    ]
    stage = run_record_on_two.in_stage(RECORD.stages[1], 2).stages
    assert [(one.start, one.length, one.rows) for one in stage] == [(0.0, 128, 3)]


def test_an_undisturbed_step_is_never_quicker_than_the_quickest():
    """Also of five steps, one of which was much quicker than the others."""
    assert 1 <= run_record_on_two.undisturbed([50.0, 1.0, 50.0, 60.0, 50.0]) < 50
    assert run_record_on_two.undisturbed([float(i) for i in range(101)]) == 10


TRY = """
import json
from dataclasses import replace
import run_record_on_two as tool
import torch.distributed as dist
from tx_helpers.lessons.what_changed import record

stages = (record.Stage(0.0, 8, 4), record.Stage(0.5, 16, 2))
record.RECORD = replace(record.RECORD, config=replace(record.RECORD.config, d_model=32), stages=stages, steps=8)
tool.COMPARED = 3
text = record.record_text("the quick brown fox jumps over the lazy dog. " * 20)
dist.init_process_group("gloo")
table = tool.measured(text, 1) | {"runs": [tool.trained("the recipe", 1, 1.0, text)]}
if dist.get_rank() == 0:
    print(json.dumps(table))
dist.destroy_process_group()
"""


@pytest.mark.thorough
@pytest.mark.skipif(os.name != "posix", reason="torchrun and gloo are tried on Unix only")
def test_the_tool_measures_and_trains():
    """A smaller recipe on another text, launched as the tool launches itself."""
    paths = os.pathsep.join((str(ROOT), str(ROOT / "tools")))
    table = json.loads(launch(2, "-c", TRY, timeout=600, PYTHONPATH=paths))
    assert [(row["length"], row["rows"], row["share"]) for row in table["stages"]] == [(8, 4, 0.5), (16, 2, 0.5)]
    for row in table["stages"]:
        assert set(row["step"]) == set(row["optimizer"]) == set(WAYS)
        assert all(0 < row["optimizer"][way] < row["step"][way] for way in WAYS)
    assert [gap["largest"] < bound for gap, bound in zip(table["gaps"], (1e-6, 0.05), strict=True)] == [True, True]
    run = table["runs"][0]
    assert run["steps"] == run["losses"][-1][0] == 8 and run["loss"] > 0 and run["seconds"] > 0
