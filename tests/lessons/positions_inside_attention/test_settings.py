"""Today's settings and the facts in filler: the texts, the models, and what was recorded of them."""

import pytest
import torch

from tx_helpers.lessons.cheaper_and_longer import context
from tx_helpers.lessons.positions_inside_attention.needles import (
    FACTS,
    FILLERS,
    NAMES,
    RATES,
    N,
    accuracy,
    needles,
    reader_config,
    stretched_reader,
    train_reader,
    ways,
)
from tx_helpers.lessons.positions_inside_attention.settings import (
    SETTINGS,
    by_position,
    losses,
    measure,
    recorded,
    score_over_distance,
    stretched,
    trained,
)
from tx_helpers.nn.config import PositionConfig
from tx_helpers.nn.positions import Rotary, ntk_base
from tx_helpers.text.data import IGNORE


@pytest.mark.parametrize("length", [3 * FACTS, 64, 256])
def test_every_answer_stands_behind_the_name_that_is_asked_for(length):
    batch = needles(5, length, torch.Generator().manual_seed(0))
    assert batch.input.shape == batch.target.shape == (5, length)
    for ids, targets in zip(batch.input.tolist(), batch.target.tolist(), strict=True):
        text, asked = ids[:-FACTS], ids[-FACTS:]
        assert targets[:-FACTS] == [IGNORE] * (length - FACTS)
        assert [text[text.index(name) + 1] for name in asked] == targets[-FACTS:]
        assert len({name for name in text if name >= FILLERS}) == 2 * FACTS
    with pytest.raises(ValueError, match="needles: length=17, expected at least 18"):
        needles(1, 3 * FACTS - 1)


def test_the_reader_is_that_of_the_notebook_on_long_contexts():
    assert reader_config(context.VOCABULARY, shift=True) == context.reader_config()
    assert RATES == context.RATES and N == context.N
    assert reader_config(9, shift=False).embedding.input is None


def test_the_three_ways():
    found = ways(Rotary(16), 4)
    assert found == {
        "plain": Rotary(16),
        "interpolation": Rotary(16, interpolation=4.0),
        "NTK": Rotary(16, base=ntk_base(10000.0, 4, 16)),
    }


def test_short_trainings_run_and_are_measured():
    model = trained(PositionConfig("rotary"), steps=2)
    at = by_position(model)
    assert at.shape == (256,) and losses(model)[0] == pytest.approx(at[16:64].mean().item(), abs=1e-3)
    assert score_over_distance(model).shape == (2, 4, 192)
    assert 0 <= accuracy(train_reader(shift=False, steps=2), 64) < 0.3
    assert NAMES == 24


def test_what_was_recorded_has_a_row_for_each_setting():
    table = recorded()
    assert list(table["settings"]) == list(SETTINGS)
    assert all(
        len(runs) == len(table["about"]["seeds"]) >= 2
        for task in ("settings", "stories", "facts")
        for runs in table[task].values()
    )


@pytest.mark.thorough
def test_what_was_recorded_can_be_measured_again():
    table = recorded()
    for name in ("base 10,000, all features, all layers", "a quarter of the features"):
        again = torch.tensor(measure(SETTINGS[name], seed=0))
        torch.testing.assert_close(again, torch.tensor(table["settings"][name][0]), atol=0.15, rtol=0)
    again = stretched(reader=True, seed=0)
    assert again["interpolation"][0] > again["plain"][0] + 1
    again = stretched_reader(shift=False, seed=0)
    assert again["plain"][0] > again["interpolation"][0] + 0.15
