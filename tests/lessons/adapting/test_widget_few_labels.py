"""Labels against accuracy: means and spreads, the drawing, the words, and the explorer."""

import re

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
from tx_helpers.show.charts import BOTTOM, TOP
from tx_helpers.show.plots import COLOURS

TABLE = {
    "labels": [10, 100],
    "guess": [0.25, 0.35],
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


@pytest.mark.parametrize("seeds", [False, True])
def test_lines_go_through_the_means_and_bands_from_worst_to_best(seeds):
    picture = draw(TABLE, 100, 0.8, "passes", seeds)
    lines = re.findall(r'<polyline points="([^"]+)"[^>]*stroke="(#\w+)"', picture.svg)
    bands = re.findall(r'<polygon points="([^"]+)" fill="(#\w+)"', picture.svg)
    assert [colour for _, colour in lines] == [colour for _, colour in bands] == list(COLOURS[:4])
    tenth = (330 - TOP - BOTTOM) / 8  # pixels: the chart's for 20 % to 100 %
    for (way, by_labels), (line, _), (band, _) in zip(spreads(TABLE).items(), lines, bands, strict=True):
        ys = [float(point.split(",")[1]) for point in f"{line} {band}".split()]
        expected = [by_labels[10].mean, by_labels[100].mean]
        expected += [by_labels[10].high, by_labels[100].high, by_labels[100].low, by_labels[10].low]
        assert ys == pytest.approx([TOP + 10 * tenth * (1 - share) for share in expected], abs=0.06), way
    assert picture.svg.count("<circle ") == (16 if seeds else 0)
    assert picture.svg.index(">fine-tuned whole: 95%<") < picture.svg.index(">LoRA: 80%<")
    assert ">75% to 85%; 400 parameters learn<" in picture.svg and ">right labels in the test, 2 seeds<" in picture.svg
    assert ">reaches 80% with 100 labels<" in picture.svg and picture.svg.count(">never reaches 80%<") == 2
    assert picture.alt == describe(TABLE, 100, 0.8, "passes")


def test_the_words_rank_the_ways():
    assert describe(TABLE, 10, 0.9) == (
        "From 10 labels, equal steps: frozen encoder 75% (75% to 75%), fine-tuned whole 62% (50% to 75%), "
        "LoRA 50% (50% to 50%), from scratch 38% (25% to 50%); without a model 30%. "
        "Labels for 90%: from scratch never, frozen encoder never, fine-tuned whole 100, LoRA never."
    )


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
