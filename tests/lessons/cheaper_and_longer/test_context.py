"""Needles and chains of two facts: the texts, the ways to stretch positions, the measures, and what was recorded."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from parity import properties
from tx_helpers.lessons.cheaper_and_longer import context
from tx_helpers.lessons.cheaper_and_longer.context import (
    CHAINS,
    FILLERS,
    IGNORE,
    LENGTHS,
    ONE,
    SHORTEST,
    STOP,
    TASKS,
    TWO,
    VOCABULARY,
    WAYS,
    FactBatches,
    N,
    accuracy,
    accuracy_by_place,
    effective_length,
    fact_texts,
    positions,
    reader_config,
    recorded,
    train_reader,
    tuned,
    with_positions,
)
from tx_helpers.nn.models import DecoderOnly
from tx_helpers.nn.positions import Rotary
from tx_helpers.zoo.parts.yarn import Yarn


def facts_of(row: list[int], end: int, first: int = 0) -> dict[int, int]:
    """name -> the name that its fact gives, read from the tokens first … end − 1 alone."""
    stops = [place for place in range(first + 2, end) if row[place] == STOP]
    return {row[place - 2]: row[place - 1] for place in stops}


class Knows(nn.Module):
    """Answers right as far back as it sees: `sees` tokens before the question, for both tasks."""

    def __init__(self, sees: int):
        super().__init__()
        self.sees = sees

    def forward(self, ids):
        logits = torch.zeros(*ids.shape, VOCABULARY)
        for number, row in enumerate(ids.tolist()):
            end = len(row) - 6 * CHAINS
            for place in range(end + 1, len(row), 2):
                facts = facts_of(row, end, max(0, place - self.sees))
                answer = facts.get(row[place])
                answer = facts.get(answer) if row[place - 1] == TWO else answer
                logits[number, place, answer if answer is not None else 3] = 1
        return logits


@given(length=st.sampled_from([SHORTEST, 40, N, 101]), seed=st.integers(0, 99))
@properties
def test_the_answers_follow_from_the_text(length, seed):
    batch = fact_texts(5, length, torch.Generator().manual_seed(seed))
    assert batch.input.shape == batch.target.shape == (5, length)
    end = length - 6 * CHAINS
    for row, target in zip(batch.input.tolist(), batch.target.tolist(), strict=True):
        facts = facts_of(row, end)
        assert len(facts) == 2 * CHAINS and all(name >= 3 + FILLERS for pair in facts.items() for name in pair)
        assert row.count(ONE) == 2 * CHAINS and row.count(TWO) == CHAINS
        assert all(t == IGNORE for t in target[:end] + target[end::2])
        for place in range(end + 1, length, 2):
            answer = facts[row[place]]
            assert target[place] == (answer if row[place - 1] == ONE else facts[answer])
    with pytest.raises(ValueError, match=f"length={SHORTEST - 1}"):
        fact_texts(1, SHORTEST - 1)


def test_batches_repeat():
    batches = FactBatches(50, 3, seed=2)
    assert batches(4).input.equal(FactBatches(50, 3, seed=2)(4).input)
    assert not batches(4).input.equal(batches(5).input)


def test_positions():
    assert positions("plain rotary", 8) == positions("interpolation", 1) == positions("NTK", 1)
    assert positions("interpolation", 4).interpolation == 4
    assert positions("YaRN", 4).stretch == Yarn(4, N)
    config, slow = reader_config(), positions("NTK", 4)
    last = torch.tensor([4.0 * N])
    frequency = Rotary(config.d_head, base=slow.base).at(last), Rotary(config.d_head).at(last / 4)
    unit = torch.zeros(1, 1, 1, config.d_head)
    unit[..., config.d_head // 2 - 1] = 1  # the slowest pair turns as little as with interpolation
    torch.testing.assert_close(frequency[0](unit), frequency[1](unit))
    with pytest.raises(ValueError, match="way='yarn'"):
        positions("yarn", 2)


def test_accuracy_counts_each_task():
    assert accuracy(Knows(10**6), 100, count=8) == {"needle": 1, "two hops": 1}
    assert accuracy(Knows(0), 100, count=8) == {"needle": 0, "two hops": 0}
    near = accuracy(Knows(150), 400, count=32)
    assert 0.15 < near["needle"] < 0.6 and near["two hops"] < near["needle"]


def test_accuracy_by_place_finds_the_part_that_is_not_seen():
    found = accuracy_by_place(Knows(150), 300, parts=4, count=64)
    assert found[0] == 0 and found[3] == 1
    assert accuracy_by_place(Knows(10**6), 200, parts=3, count=16) == [1, 1, 1]


def test_effective_length_by_hand():
    assert (
        effective_length([64, 128, 256, 512], [1.0, 0.95, 0.89, 0.95]) == 128
    )  # what comes after a gap does not count
    assert effective_length([64, 128], [0.5, 0.45]) == 128
    assert effective_length([64, 128], [1.0, 0.2]) == 64
    with pytest.raises(ValueError, match="2 lengths and 1 accuracies"):
        effective_length([64, 128], [1.0])


def test_other_positions_leave_the_weights():
    torch.manual_seed(0)
    model = DecoderOnly(reader_config())
    copy = with_positions(model, positions("YaRN", 4))
    assert all(a.equal(b) for a, b in zip(model.parameters(), copy.parameters(), strict=True))
    copy.output.weight.data.zero_()
    assert model.output.weight.abs().sum() > 0
    assert copy.config.positions.stretch == Yarn(4, N)


def test_training_and_tuning_change_the_model():
    model = train_reader(steps=3, seed=1)
    after = tuned(model, "interpolation", steps=2, length=80)
    assert after.config.positions.interpolation == 80 / N
    assert not after.output.weight.equal(model.output.weight)
    assert train_reader(steps=3, seed=1).output.weight.equal(model.output.weight)


def test_the_file_has_all_curves_and_shows_the_gap():
    table = recorded()
    seeds, lengths = table["about"]["seeds"], table["lengths"]
    assert lengths == list(LENGTHS) and table["trained"] == N == lengths[0] and len(seeds) >= 2
    ways = {*WAYS, *(f"{way}, tuned" for way in WAYS)}
    for task in TASKS:
        assert set(table["curves"][task]) == ways
        for curves in table["curves"][task].values():
            assert len(curves) == len(seeds)
            assert all(len(curve) == len(lengths) and all(0 <= share <= 1 for share in curve) for curve in curves)
    assert len(table["places"]["needle"]) == len(seeds)
    for task in TASKS:
        for curve in table["curves"][task]["plain rotary"]:
            assert curve[0] > (0.9 if task == "needle" else 0.5)
            assert effective_length(lengths, curve) <= 4 * N < lengths[-1]


def test_a_seed_is_added(monkeypatch, capsys):
    small = {"ROWS": 2, "PLACES_ROWS": 2, "LENGTHS": (64, 80), "STEPS": 2, "TUNING_STEPS": 1, "SEEDS": (5, 6)}
    for name, value in small.items():
        monkeypatch.setattr(context, name, value)
    table = next(context.measure_all({}))
    assert table["about"]["seeds"] == [5] and set(table["curves"]["two hops"]) == set(table["curves"]["needle"])
    assert all(len(curves) == 1 for curves in table["curves"]["needle"].values())
    assert "seed 5" in capsys.readouterr().out
    table["about"]["seeds"].append(6)
    assert list(context.measure_all(table)) == []
