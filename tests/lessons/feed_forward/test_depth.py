"""What depth does to gradients and tokens."""

import pytest
import torch
import torch.nn.functional as F

from tx_helpers.lessons.feed_forward.depth import (
    ToyEncoder,
    gradient_by_block,
    mean_of_last,
    random_rows,
    token_similarity,
    token_similarity_by_block,
    train_to_sort,
)
from tx_helpers.nn.blocks import post_norm, pre_norm, pre_norm_without_residual


def test_models_of_one_seed_have_the_same_numbers_and_leave_the_global_generator_alone():
    state = torch.random.get_rng_state()
    a, b, other = (
        ToyEncoder(pre_norm, n_layers=2),
        ToyEncoder(post_norm, n_layers=2),
        ToyEncoder(pre_norm, n_layers=2, seed=1),
    )
    assert torch.equal(state, torch.random.get_rng_state())
    assert all(torch.equal(p, q) for p, q in zip(a.parameters(), b.parameters(), strict=True))
    assert not torch.equal(a.output.weight, other.output.weight)


def test_a_model_needs_a_block():
    with pytest.raises(ValueError, match="n_layers=0, expected at least 1"):
        ToyEncoder(pre_norm, n_layers=0)


def test_the_gradient_of_each_block_is_that_of_backward():
    stack = ToyEncoder(pre_norm, n_layers=3, d_model=12, n_heads=3).double()
    ids = random_rows(16, 5, torch.Generator().manual_seed(0), batch=2)
    found = gradient_by_block(stack, ids, ids)
    F.cross_entropy(stack(ids).flatten(0, 1), ids.flatten()).backward()
    for block, length in zip(stack.blocks, found, strict=True):
        inside = [*block.self_attention.parameters(), *block.feed_forward.parameters()]
        assert length == pytest.approx(torch.cat([p.grad.flatten() for p in inside]).norm().item())


def test_token_similarity_is_the_mean_cosine_of_different_positions():
    hidden = torch.tensor([[[1.0, 0.0], [0.0, 2.0], [3.0, 0.0]]])
    assert token_similarity(hidden) == pytest.approx((0 + 1 + 0) / 3)
    assert token_similarity(torch.ones(2, 4, 3)) == pytest.approx(1.0)
    with pytest.raises(ValueError, match="T = 1, expected at least 2"):
        token_similarity(torch.ones(2, 1, 3))


def test_similarity_is_told_at_the_start_and_after_each_block():
    ids = random_rows(16, 8, torch.Generator().manual_seed(0), batch=4)
    kept, lost = (
        token_similarity_by_block(ToyEncoder(w, n_layers=6), ids) for w in (pre_norm, pre_norm_without_residual)
    )
    assert len(kept) == len(lost) == 7
    assert kept[0] == lost[0] < 0.5
    assert kept[3] < 0.8
    assert lost[3] > 0.99


def test_training_to_sort_starts_small_with_warm_up_and_learns():
    ids = random_rows(16, 8, torch.Generator().manual_seed(0))
    assert ids.shape == (32, 8)
    assert 1 <= ids.min() <= ids.max() <= 15
    cold, warm = (train_to_sort(ToyEncoder(pre_norm, n_layers=1), steps=12, warmup=w) for w in (0, 100))
    assert cold[0] == warm[0]
    assert mean_of_last(cold, 3) < mean_of_last(warm, 3) - 0.1
    assert mean_of_last([9.0, 1.0, 3.0], 2) == 2.0
    with pytest.raises(ValueError, match="train_to_sort: steps=0, expected at least 1"):
        train_to_sort(ToyEncoder(pre_norm, n_layers=1), steps=0)
