"""recall.json: whole, made by the models of today, and what theory says of it."""

import statistics

import pytest

from tx_helpers.lessons.cheaper_and_longer.recall_runs import (
    KINDS,
    LONGER_KINDS,
    LONGER_SIZE,
    PAIRS,
    SIZES,
    recall_config,
    recall_table,
    recorded_recall,
    state_size,
)
from tx_helpers.nn.models import DecoderOnly

MATRICES = ("linear", "delta", "gated delta")


def mean(table: dict, kind: str, pairs: int) -> float:
    return statistics.mean(table[kind][pairs])


def test_the_recorded_runs_are_whole():
    runs = recorded_recall()["runs"]
    seeds = {run["seed"] for run in runs}
    assert len(seeds) >= 3
    expected = {(seed, d_head, kind) for seed in seeds for d_head in SIZES for kind in KINDS}
    assert sorted((run["seed"], run["d_head"], run["kind"]) for run in runs) == sorted(expected)
    assert all(0 <= share <= 1 for run in runs for share in run["accuracy"].values())
    assert list(recall_table(LONGER_SIZE, "longer")) == list(LONGER_KINDS)
    for pairs in PAIRS[1:]:
        by_steps = [mean(recall_table(LONGER_SIZE, group), "hybrid", pairs) for group in ("runs", "longer")]
        assert by_steps[1] > by_steps[0] + 0.1


@pytest.mark.parametrize("K", SIZES)
def test_what_the_models_keep_is_what_was_recorded(K):
    for run in recorded_recall()["runs"]:
        if run["d_head"] == K and run["seed"] == 0:
            assert run["kept"] == state_size(DecoderOnly(recall_config(run["kind"], K)))


@pytest.mark.parametrize("K", SIZES)
def test_softmax_recalls_all_and_a_window_nothing_that_has_left_it(K):
    table = recall_table(K)
    assert min(min(shares) for shares in table["softmax"].values()) > 0.99
    assert max(max(shares) for shares in table["window"].values()) < 0.25


def test_a_state_that_is_too_small_mixes_values_and_a_larger_one_less():
    """With K = 8 there are half as many features as pairs, with K = 16 as many."""
    small, large = recall_table(8), recall_table(16)
    for kind in MATRICES:
        assert mean(small, kind, 16) < 0.8
        assert mean(small, kind, 16) < mean(small, kind, 4)
        assert mean(large, kind, 16) > mean(small, kind, 16) + 0.2


def test_an_unknown_size_is_named():
    with pytest.raises(ValueError, match=r"recall_table: d_head=7, expected one of 8, 16"):
        recall_table(7)
