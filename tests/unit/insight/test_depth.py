"""The same parts wired in other ways: against the course's own block, and what depth does to gradients and tokens."""

from functools import partial

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from tx_helpers.blocks import EncoderBlock
from tx_helpers.inside.depth import (
    WiredStack,
    gradient_by_block,
    likeness,
    likeness_by_block,
    mean_of_last,
    no_norm,
    nothing_around,
    post_norm,
    post_norm_without_residual,
    pre_norm,
    pre_norm_without_residual,
    rows,
    train_to_sort,
)


@pytest.mark.parametrize(
    ("wiring", "placement", "residual"),
    [
        (pre_norm, "pre", True),
        (post_norm, "post", True),
        (pre_norm_without_residual, "pre", False),
        (post_norm_without_residual, "post", False),
    ],
)
def test_the_known_wirings_are_those_of_the_encoder_block(wiring, placement, residual):
    block = WiredStack(wiring, d_model=12, n_heads=3, depth=1).double().blocks[0]
    new_norm = partial(nn.LayerNorm, 12, dtype=torch.float64)
    theirs = EncoderBlock(block.attention, block.feed_forward, new_norm, placement=placement, residual=residual)
    x = torch.randn(2, 5, 12, dtype=torch.float64)
    torch.testing.assert_close(block(x), theirs(x), rtol=0, atol=1e-12)


def test_without_norm_the_sublayers_are_added_or_chained():
    block = WiredStack(no_norm, d_model=12, n_heads=3, depth=1).double().blocks[0]
    x = torch.randn(2, 5, 12, dtype=torch.float64)
    after = x + block.attention(x)
    torch.testing.assert_close(block(x), after + block.feed_forward(after), rtol=0, atol=1e-12)
    block.wiring = nothing_around
    torch.testing.assert_close(block(x), block.feed_forward(block.attention(x)), rtol=0, atol=1e-12)


def test_stacks_of_one_seed_have_the_same_numbers_and_leave_the_global_generator_alone():
    state = torch.random.get_rng_state()
    a, b, other = WiredStack(pre_norm, depth=2), WiredStack(post_norm, depth=2), WiredStack(pre_norm, depth=2, seed=1)
    assert torch.equal(state, torch.random.get_rng_state())
    assert all(torch.equal(p, q) for p, q in zip(a.parameters(), b.parameters(), strict=True))
    assert not torch.equal(a.output.weight, other.output.weight)


def test_a_stack_needs_a_block():
    with pytest.raises(ValueError, match="depth=0, expected at least 1"):
        WiredStack(pre_norm, depth=0)


def test_the_gradient_of_each_block_is_that_of_backward():
    stack = WiredStack(pre_norm, depth=3, d_model=12, n_heads=3).double()
    ids = rows(16, 5, torch.Generator().manual_seed(0), batch=2)
    found = gradient_by_block(stack, ids, ids)
    F.cross_entropy(stack(ids).flatten(0, 1), ids.flatten()).backward()
    for block, length in zip(stack.blocks, found, strict=True):
        inside = [*block.attention.parameters(), *block.feed_forward.parameters()]
        assert length == pytest.approx(torch.cat([p.grad.flatten() for p in inside]).norm().item())


def test_likeness_is_the_mean_cosine_of_different_positions():
    hidden = torch.tensor([[[1.0, 0.0], [0.0, 2.0], [3.0, 0.0]]])
    assert likeness(hidden) == pytest.approx((0 + 1 + 0) / 3)
    assert likeness(torch.ones(2, 4, 3)) == pytest.approx(1.0)
    with pytest.raises(ValueError, match="1 positions, expected at least 2"):
        likeness(torch.ones(2, 1, 3))


def test_likeness_is_told_at_the_start_and_after_each_block():
    ids = rows(16, 8, torch.Generator().manual_seed(0), batch=4)
    kept, lost = (likeness_by_block(WiredStack(w, depth=6), ids) for w in (pre_norm, pre_norm_without_residual))
    assert len(kept) == len(lost) == 7
    assert kept[0] == lost[0] < 0.5
    assert kept[3] < 0.8
    assert lost[3] > 0.99


def test_training_to_sort_starts_small_with_warm_up_and_learns():
    ids = rows(16, 8, torch.Generator().manual_seed(0))
    assert ids.shape == (32, 8)
    assert 1 <= ids.min() <= ids.max() <= 15
    cold, warm = (train_to_sort(WiredStack(pre_norm, depth=1), steps=12, warmup=w) for w in (0, 100))
    assert cold[0] == warm[0]
    assert mean_of_last(cold, 3) < mean_of_last(warm, 3) - 0.1
    assert mean_of_last([9.0, 1.0, 3.0], 2) == 2.0
    with pytest.raises(ValueError, match="steps=0 and warmup=0, expected at least 1 and 0"):
        train_to_sort(WiredStack(pre_norm, depth=1), steps=0)
