"""FlashAttention equals the attention written out, both ways, and moves what the formulas say."""

import math
from functools import partial

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from parity import D, H, K, S, T, normal, properties, randomise
from tx_helpers.nn.attention import MultiHeadAttention, eager_attention
from tx_helpers.nn.masks import sliding_window_mask
from tx_helpers.zoo.parts.flash import (
    Blocks,
    SlowMemory,
    blocks_for,
    flash_attention,
    flash_cost,
    merge,
    partial_attention,
    written_out_cost,
)
from wrong_arguments import faults

B, G = 2, 1


def qkv(T=T, S=S, heads=H, groups=H):
    return normal(B, heads, T, K), normal(B, groups, S, K, seed=1), normal(B, groups, S, K, seed=2)


def random_mask(*shape, seed=3):
    """Open with probability ½, and one row of every matrix is closed."""
    mask = normal(*shape, seed=seed) > 0
    mask[..., 1, :] = False
    return mask


def equal(ours, theirs):
    torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-12)


def test_two_halves_merge_to_the_whole_in_any_order():
    q, k, v = qkv()
    options = dict(scale=0.7)
    first, second, third = (
        partial_attention(q, k[..., part, :], v[..., part, :], **options)
        for part in (slice(0, 2), slice(2, 3), slice(3, S))
    )
    whole = partial_attention(q, k, v, **options)
    for merged in (merge(merge(first, second), third), merge(first, merge(third, second))):
        for part, right in zip(merged, whole, strict=True):
            equal(part, right)
    equal(whole.out, eager_attention(q, k, v, scale=0.7))


@given(
    T=st.integers(1, 9),
    more=st.integers(0, 5),
    block_q=st.integers(1, 11),
    block_k=st.integers(1, 15),
    causal=st.booleans(),
    masked=st.booleans(),
)
@properties
def test_equals_the_formula_with_all_gradients(T, more, block_q, block_k, causal, masked):
    tensors = [x.requires_grad_() for x in qkv(T, T + more)]
    mask = normal(B, 1, T, T + more, seed=4) > 0 if masked else None
    ours = flash_attention(*tensors, mask=mask, causal=causal, block_q=block_q, block_k=block_k)
    right = eager_attention(*tensors, mask=mask, causal=causal)
    equal(ours, right)
    direction = normal(*right.shape, seed=5)
    for mine, other in zip(*(torch.autograd.grad(x, tensors, direction) for x in (ours, right)), strict=True):
        equal(mine, other)


def test_a_query_that_sees_nothing_gets_zeros_and_gives_no_gradient():
    q, k, v = (x.requires_grad_() for x in qkv())
    out = flash_attention(q, k, v, mask=random_mask(T, S), block_q=2, block_k=3)
    out.sum().backward()
    assert out[..., 1, :].eq(0).all() and q.grad[..., 1, :].eq(0).all()
    assert all(x.isfinite().all() for x in (out, q.grad, k.grad, v.grad))
    assert out[..., 0, :].ne(0).all()


def test_large_scores_and_float32():
    q, k, v = (x.float() for x in qkv())
    torch.testing.assert_close(flash_attention(q, k, v, block_k=2), eager_attention(q, k, v))
    assert flash_attention(q * 1e4, k * 1e4, v, block_k=2).isfinite().all()


def test_a_layer_can_use_it_with_shared_heads_and_a_window():
    layer = randomise(MultiHeadAttention(D, H, n_kv_heads=G)).double()
    x, mask = normal(B, T, D), sliding_window_mask(T, window=3)
    right = layer(x, mask=mask, causal=True)
    layer.attend = flash_attention
    equal(layer(x, mask=mask, causal=True), right)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(("T", "S", "blocks"), [(5, 7, Blocks(2, 3)), (7, 7, Blocks(7, 7)), (11, 13, Blocks(4, 1))])
def test_the_counter_agrees_with_the_formula(T, S, blocks, causal):
    q, k, v = (x.requires_grad_() for x in qkv(T, S))
    memory = SlowMemory()
    out = flash_attention(q, k, v, causal=causal, block_q=blocks.block_q, block_k=blocks.block_k, memory=memory)
    forward = memory.moved
    assert forward == B * H * flash_cost(T, S, K, blocks, causal=causal).moved
    out.sum().backward()
    assert memory.moved - forward == B * H * flash_cost(T, S, K, blocks, causal=causal, backward=True).moved


def test_the_formulas_by_hand():
    # One block: K and V are read (2 · 3 · 4), then for each of 2 queries q, out, m, l are read, out, m, l written.
    assert flash_cost(2, 3, 4, Blocks(2, 3)) == (2 * 3 * 4 + 2 * (2 * 4 + 2) + 2 * (4 + 2), 4 * 2 * 3 * 4)
    # Two blocks of keys: the queries are read and written twice.
    assert flash_cost(2, 6, 4, Blocks(2, 3)).moved == 2 * 6 * 4 + 2 * (2 * (3 * 4 + 4))
    # Causal, one query and one key in a block: pairs on the diagonal and below, 3 of 4.
    assert flash_cost(2, 2, 4, Blocks(1, 1), causal=True) == (2 * 2 * 4 + 3 * (3 * 4 + 4), 3 * 4 * 4)
    assert written_out_cost(2, 3, 4) == (4 * 6 + 2 * 5 * 4, 4 * 6 * 4)
    assert written_out_cost(2, 3, 4, backward=True) == (7 * 6 + 4 * 5 * 4, 8 * 6 * 4)
    assert blocks_for(4 * 64 * 100, 64) == (64, 100) and blocks_for(4 * 64 * 10 + 1, 64) == (11, 11)


def test_flash_moves_less_and_computes_more():
    """Dao et al. 2022, theorem 2: Θ(N²K²/M) against Θ(NK + N²), here for K = 64 and a fast memory of 100 kB."""
    blocks = blocks_for(100 * 1024 // 2, 64)
    for backward, more in ((False, 1.0), (True, 1.25)):
        flash = flash_cost(4096, 4096, 64, blocks, backward=backward)
        written = written_out_cost(4096, 4096, 64, backward=backward)
        assert flash.moved < written.moved / 3 and flash.operations == more * written.operations
    # Four times the length: four times the blocks of keys, each of which meets four times the queries.
    growth = flash_cost(4 * 4000, 4 * 4000, 64, blocks).moved / flash_cost(4000, 4000, 64, blocks).moved
    assert math.isclose(growth, 16, rel_tol=0.05)


def test_wrong_arguments():
    q, k, v = qkv()
    mask = torch.ones(T, S, dtype=torch.bool)
    options = dict(mask=mask, bias=None, causal=True, scale=0.5, dropout=0.0, block_q=2, block_k=3)
    assert faults(flash_attention, dict(q=q, k=k, v=v, **options)) == []
    assert faults(blocks_for, dict(fast_memory=100, K=4)) == []
    assert faults(written_out_cost, dict(T=2, S=3, K=4)) == []
    assert faults(partial(flash_cost, blocks=Blocks(1, 1)), dict(T=2, S=3, K=4)) == []
    with pytest.raises(ValueError, match="flash_cost: blocks is 3, expected a Blocks"):
        flash_cost(2, 3, 4, 3)
    with pytest.raises(ValueError, match="flash_cost: block_k=0"):
        flash_cost(2, 3, 4, Blocks(1, 0))
    with pytest.raises(ValueError, match=r"flash_attention: q \(2, 3, 5, 4\) and k \(2, 2, 7, 4\), expected H a multi"):
        flash_attention(q, k[:, :2], v[:, :2])
    with pytest.raises(ValueError, match="7 queries, 5 keys; with causal the queries are the last of the keys"):
        flash_attention(k, q, q, causal=True)
    with pytest.raises(ValueError, match=r"dropout=0.1; expected neither"):
        flash_attention(q, k, v, dropout=0.1)
