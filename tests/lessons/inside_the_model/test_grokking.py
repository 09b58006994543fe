"""Grokking: the pairs, the Fourier transform of the numbers' vectors, and what was recorded."""

import math

import pytest
import torch

from tx_helpers.lessons.inside_the_model import grokking
from tx_helpers.lessons.inside_the_model.grokking import RECORDED, P, concentration, energies, only, pairs


def circle(*turns):
    """Vectors (P, 2 n) that turn so often around n circles."""
    angles = 2 * math.pi * torch.arange(P)[:, None] * torch.tensor(turns) / P
    return torch.cat([angles.cos(), angles.sin()], dim=1)


def test_each_pair_is_on_one_side_alone():
    train, test = pairs(1)
    assert len(train.input) == round(0.4 * P * P)
    together = torch.cat([train.input, test.input])
    assert len(together.unique(dim=0)) == P * P
    assert torch.equal(together[:, :2].sum(1) % P, torch.cat([train.target, test.target]))
    assert together[:, 2].eq(P).all()
    assert not torch.equal(train.input, pairs(2)[0].input)


def test_a_circle_has_one_frequency():
    assert energies(circle(7)).argmax() == 6
    assert energies(circle(7)).max() == pytest.approx(1)
    assert energies(circle(3, 7, 9) + 5).topk(3).indices.sort().values.tolist() == [2, 6, 8]
    assert concentration(circle(*range(1, 11))) == pytest.approx(0.5)
    mixed = circle(7)[torch.randperm(P, generator=torch.Generator().manual_seed(0))]
    assert energies(mixed).max() < 0.4  # the same vectors in another order


def test_frequencies_can_be_left_out():
    vectors = circle(3, 9) + 2
    assert torch.allclose(only(vectors, torch.arange(P // 2)), vectors, atol=1e-5)
    kept = only(vectors, torch.tensor([8]))
    assert torch.allclose(kept[:, [1, 3]], vectors[:, [1, 3]], atol=1e-5)
    assert torch.allclose(kept[:, [0, 2]], torch.full((P, 2), 2.0), atol=1e-5)


@pytest.mark.slow
def test_the_training_pairs_are_learned_first():
    found = grokking.train_one(1, steps=100)
    assert found["training"][-1] > 0.9 > 0.3 > found["others"][-1]
    assert "vectors" not in found


def test_what_is_told_is_recorded():
    for seed in RECORDED.read()["seeds"].values():
        _alone, without, others = seed["edited"]
        assert seed["training"][9] == 1 > 0.7 > seed["others"][9]  # step 500
        assert seed["others"][-1] > 0.9
        assert seed["energy"][-1] > 0.5
        assert without < 0.2 < others


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: energies(torch.ones(5)), r"energies: vectors of shape \(5,\)"),
        (lambda: only(torch.ones(5, 2), torch.ones(2)), "only: places is a tensor of torch.float32"),
    ],
)
def test_bad_input_is_named(call, said):
    with pytest.raises(ValueError, match=said):
        call()
