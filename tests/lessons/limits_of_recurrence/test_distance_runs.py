"""distance.json: whole, made with the settings of today, and what it says of the fair opponents."""

import re
from statistics import mean

import pytest
import torch
from torch import nn

from tx_helpers.lessons.limits_of_recurrence.distance_chart import draw_distances
from tx_helpers.lessons.limits_of_recurrence.distance_runs import (
    COUNTRIES,
    DISTANCES,
    OTHERS,
    RUNS,
    STEPS,
    WIDTH,
    WORDS,
    language_batch,
    learn_language,
    recorded_runs,
    recorded_shares,
    share_right,
    train_recaller,
)


def test_the_recorded_runs_are_whole():
    runs = recorded_runs()["runs"]
    seeds = {run["seed"] for run in runs}
    assert len(seeds) >= 3
    expected = {(seed, name, noise) for seed in seeds for name in RUNS for noise in DISTANCES}
    assert sorted((run["seed"], run["name"], run["noise"]) for run in runs) == sorted(expected)
    assert all(0 <= run["share"] <= 1 and 1 <= run["steps"] <= STEPS for run in runs)


def test_what_was_recorded_says_what_the_notebook_says():
    table = {name: {noise: mean(shares) for noise, shares in row.items()} for name, row in recorded_shares().items()}
    assert all(row[5] > 0.9 for row in table.values())
    assert max(table["RNN"][10], table["LSTM"][20], table["GRU"][40]) < 0.3
    assert min(table["LSTM, forget bias 3"][20], table["LSTM, forget bias 3"][40]) > 0.9
    assert table["LSTM, forget bias 3"][100] < 0.5 and table["LSTM, forget bias 1"][40] < 0.3
    assert table["LSTM, all lengths"][40] > 0.9 > table["LSTM, all lengths"][100]
    for name in ("GRU, forget bias 3", "GRU, all lengths", "attention"):
        assert min(table[name].values()) > 0.9


def test_a_sentence_begins_with_the_country_and_ends_in_fluent():
    ids, answers = language_batch(4, 50, generator=torch.Generator().manual_seed(0))
    assert ids.shape == (50, 6) and torch.equal(ids[:, 0], answers)
    assert {WORDS[one] for one in ids[:, 0].tolist()} == set(COUNTRIES)
    assert {WORDS[one] for one in ids[:, 1:5].flatten().tolist()} == set(OTHERS)
    assert {WORDS[one] for one in ids[:, 5].tolist()} == {"fluent"}


def test_a_run_sets_what_its_name_says():
    learned = learn_language("LSTM, forget bias 3", 3, steps=1)
    assert learned.steps == 1 and 2.9 < learned.model.layer.bias_ih_l0[WIDTH : 2 * WIDTH].mean().item() < 3.1
    with pytest.raises(ValueError, match="learn_language: name='Mamba', expected one of RNN"):
        learn_language("Mamba", 3)


def test_all_lengths_are_drawn_and_the_exam_has_the_longest():
    seen = []

    def task(noise, batch, *, generator):
        seen.append(noise)
        return language_batch(noise, batch, generator=generator)

    class Constant(nn.Module):
        def __init__(self):
            super().__init__()
            self.bias = nn.Parameter(torch.zeros(8))

        def forward(self, ids):
            return self.bias.expand(len(ids), 8)

    assert train_recaller(Constant(), task, 6, steps=40, all_lengths=True).steps == 40
    assert set(seen[:-1]) == set(range(1, 7)) and seen[-1] == 6
    seen.clear()
    train_recaller(Constant(), task, 6, steps=4)
    assert seen == [6] * 5


def test_the_share_of_right_answers():
    batch = torch.tensor([[0, 9], [1, 9], [2, 9], [3, 9]]), torch.tensor([0, 1, 2, 0])
    assert share_right(lambda ids: nn.functional.one_hot(ids[:, 0], 8), batch) == 0.75


def test_the_drawing_has_a_bar_a_seed():
    drawn = draw_distances({"RNN": {5: [1.0, 0.5], 20: [0.125, 0.375]}})
    tall = [float(one) for one in re.findall(r'height="([\d.]+)" fill="#1F2933"', drawn.svg)]
    assert tall == pytest.approx([30, 15, 3.75, 11.25], abs=0.01)
    assert ">75 %<" in drawn.svg and ">25 %<" in drawn.svg
    assert drawn.alt.endswith("RNN: 75 % at 5, 25 % at 20.")
