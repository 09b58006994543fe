"""Labels against accuracy: means and spreads, the drawing, the words, and the explorer."""

import pytest

from tx_helpers.lessons.adapting.few_labels import WAYS, recorded
from tx_helpers.lessons.adapting.few_labels_explorer import (
    NAMES,
    describe,
    draw,
    enough,
    few_labels_explorer,
    spread,
    spreads,
)

TABLE = {
    "labels": [10, 100],
    "guess": [0.25, 0.35],
    "prompted": {"2": [0.25, 0.3]},
    "trained": {"scratch": 5000, "frozen": 30, "whole": 5000, "lora": 400},
    "scores": {},
}
SCORES = {
    "scratch": {"10": [0.25, 0.5], "100": [0.5, 0.75]},
    "frozen": {"10": [0.75, 0.75], "100": [0.75, 0.8]},
    "whole": {"10": [0.5, 0.75], "100": [0.9, 1.0]},
    "lora": {"10": [0.5, 0.5], "100": [0.85, 0.75]},
}
TABLE["scores"] = {"steps": SCORES, "passes": SCORES}


def test_mean_worst_and_best_of_the_seeds():
    assert spread([0.5, 0.25, 0.75]) == ([0.5, 0.25, 0.75], 0.5, 0.25, 0.75)
    found = spreads(TABLE)
    assert list(found) == list(WAYS) == list(NAMES)
    assert found["lora"][100] == ([0.85, 0.75], pytest.approx(0.8), 0.75, 0.85)


def test_enough_labels_are_the_fewest_whose_mean_reaches_the_target():
    found = spreads(TABLE)
    assert [enough(found[way], 0.75) for way in WAYS] == [None, 10, 100, 100]
    assert enough(found["frozen"], 0.8) is None


def test_what_is_drawn_and_said(as_stored):
    """Lines go through the means, bands from the worst to the best, dots are the seeds; the words rank the ways."""
    as_stored(few=draw(TABLE, 10, 0.9), seeds=draw(TABLE, 100, 0.8, "passes", True))


def test_the_explorer_follows_its_controls():
    explorer = few_labels_explorer(TABLE)
    assert explorer.summary == describe(TABLE, 10, 0.8)
    explorer.set(labels=100, target=0.95, seeds=True)
    assert explorer.summary == describe(TABLE, 100, 0.95)
    assert explorer.shown[0].count("<circle ") == 16


def test_the_recorded_table_is_drawn():
    table = recorded()
    explorer = few_labels_explorer()
    assert explorer.controls["labels"].options == tuple((f"{labels:,}", labels) for labels in table["labels"])
    assert explorer.summary == describe(table, table["labels"][0])


@pytest.mark.parametrize(
    ("table", "error"),
    [
        ([1], "few_labels: table is a list, expected a dictionary"),
        ({"labels": [1]}, "few_labels: the table has no 'guess', expected what `record` writes"),
        (
            TABLE | {"scores": {"steps": {"scratch": {}}, "passes": {}}},
            "few_labels: the table has no 'frozen', expected what `record` writes",
        ),
    ],
)
def test_a_foreign_table_is_refused(table, error):
    with pytest.raises(ValueError) as raised:
        few_labels_explorer(table)
    assert str(raised.value) == error
