"""Speculative decoding measured: what is counted agrees with the formula."""

import math

import pytest

from tx_helpers.lessons.cheaper_and_longer.drafting import Speculation, measure_speculation, train_draft
from tx_helpers.zoo.world_models import world_model


@pytest.fixture(scope="module")
def large():
    return world_model("decoder")


@pytest.mark.slow
def test_a_perfect_draft_is_always_kept(large):
    found = measure_speculation(large, large, ahead=3, tokens=16, texts=1)
    assert found.acceptance_rate == pytest.approx(1, abs=1e-5) and found.expected == pytest.approx(4, abs=1e-4)
    assert found.tokens_per_pass == 4  # three drafted ones and one of its own
    assert min(found.alone, found.drafted, found.draft_alone) > 0


@pytest.mark.slow
def test_an_untrained_draft_saves_nothing_and_a_trained_one_some_passes(large):
    draft = train_draft(steps=2)
    poor = measure_speculation(large, draft, ahead=2, tokens=12, texts=1)
    assert 1 <= poor.tokens_per_pass <= 3
    better = measure_speculation(large, train_draft(steps=30), ahead=2, tokens=20, texts=2)
    assert better.acceptance_rate > poor.acceptance_rate
    assert math.isclose(better.expected, 1 + better.acceptance_rate + better.acceptance_rate**2)
    again = measure_speculation(large, draft, ahead=2, tokens=12, texts=1, temperature=0.0)
    assert 0 <= again.acceptance_rate <= 1


def test_speed_up_by_hand():
    assert Speculation(0.5, 2, 2, alone=0.3, drafted=0.2).speed_up == pytest.approx(1.5)
    assert Speculation(0.5, 2, 2, alone=0.3, drafted=0.2, draft_alone=0.06).cost == pytest.approx(0.2)
    with pytest.raises(ValueError, match="ahead=0"):
        measure_speculation(world_model("decoder"), world_model("decoder"), ahead=0)
