"""The budget: what fits into the minutes is arithmetic, and the law is that of the lesson on scaling up."""

import pytest
import torch
from torch import nn

from tx_helpers.lessons.scaling_up.laws.law_ways import hoffmann_way
from tx_helpers.lessons.your_own_model.budget import EPOCHS, LAW, feeds, measure_speed, sizes_for
from tx_helpers.plain import GPT


def test_the_law_is_the_one_of_scaling_up():
    law = hoffmann_way().fit()
    assert pytest.approx((law.A, law.B, law.alpha, law.beta), rel=1e-3) == LAW
    N, D = law.best_size(1e13)
    assert LAW.best_parameters(D) == pytest.approx(N, rel=0.01)


def test_new_tokens_count_in_full_and_repeated_ones_less():
    fresh = LAW.loss(20_000, 1e6, 1e6)
    assert fresh == pytest.approx(LAW.A / 20_000**LAW.alpha + LAW.B / 1e6**LAW.beta)
    assert fresh < LAW.loss(20_000, 1e6, 2e5) < LAW.loss(20_000, 2e5, 2e5)


def test_steps_tokens_and_epochs_follow_from_the_speed():
    for size in sizes_for(10, 200_000, 60, 3e10):
        assert size.parameters == sum(p.numel() for p in GPT(60, **size.shape).parameters())
        assert size.tokens == size.steps * 16 * 64 and size.epochs == pytest.approx(size.tokens / 200_000)
        operations = 6 * size.parameters * size.tokens
        assert operations <= 600 * 3e10 and size.epochs <= EPOCHS
        if size.limit == "time":
            assert operations > 0.99 * 600 * 3e10 - 6 * size.parameters * 1024
        else:
            assert size.epochs > EPOCHS - 0.1


def taken(*given):
    (size,) = [size for size in sizes_for(*given) if size.take]
    return size


def test_more_text_and_more_time_take_a_larger_model():
    assert taken(10, 30_000, 60, 3e10).parameters < taken(60, 5_000_000, 60, 3e10).parameters
    assert taken(1, 5_000_000, 60, 3e10).parameters < taken(60, 5_000_000, 60, 3e10).parameters
    assert "take this one" in str(taken(10, 200_000, 60, 3e10)) and feeds(20_000) < feeds(200_000)


def test_speed_is_measured_without_a_trace():
    model = nn.Sequential(nn.Embedding(5, 4), nn.Linear(4, 5))
    before, state = [p.clone() for p in model.parameters()], torch.get_rng_state()
    speed = measure_speed(model, rows=2, length=8, steps=3)
    assert speed > 0
    assert all(torch.equal(a, b) for a, b in zip(before, model.parameters(), strict=True))
    assert torch.equal(state, torch.get_rng_state())


def test_what_is_no_time_and_no_text_is_refused():
    with pytest.raises(ValueError, match="minutes=0"):
        sizes_for(0, 200_000, 60, 3e10)
    with pytest.raises(ValueError, match="characters=10"):
        sizes_for(1, 10, 60, 3e10)
