"""Masks: against their definition position by position, and by property."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from parity import DEVICES, B, S, T, properties
from tx_helpers.nn.masks import (
    additive_mask,
    causal_mask,
    combine_masks,
    padding_mask,
    sliding_window_mask,
)


def table(T: int, S: int, may_attend) -> torch.Tensor:
    """The definition written out: query t stands at position t + S − T."""
    return torch.tensor([[may_attend(t + S - T, s) for s in range(S)] for t in range(T)])


def test_causal_mask_is_aligned_bottom_right():
    """Two new queries after two cached positions: the first sees three keys, the last sees all."""
    assert causal_mask(2, 4).tolist() == [[True, True, True, False], [True, True, True, True]]


def test_sliding_window_mask_by_hand():
    expected = [[True, False, False, False], [True, True, False, False], [False, True, True, False]]
    assert sliding_window_mask(4, window=2).tolist() == [*expected, [False, False, True, True]]


lengths = st.tuples(st.integers(1, 9), st.integers(0, 9)).map(lambda x: (x[0], x[0] + x[1]))


@properties
@given(lengths)
def test_causal_mask_is_its_definition(lengths):
    T, S = lengths
    assert torch.equal(causal_mask(T, S), table(T, S, lambda query, key: key <= query))


@properties
@given(lengths, st.integers(1, 12))
def test_sliding_window_mask_is_its_definition(lengths, window):
    T, S = lengths
    assert torch.equal(
        sliding_window_mask(T, S, window=window), table(T, S, lambda query, key: query - window < key <= query)
    )


def test_padding_mask_is_true_at_real_tokens():
    ids = torch.tensor([[5, 6, 0, 0], [0, 7, 8, 9]])
    mask = padding_mask(ids, 0)
    assert mask.shape == (2, 1, 1, 4)
    assert mask[:, 0, 0].tolist() == [[True, True, False, False], [False, True, True, True]]


def test_combine_masks_allows_what_all_allow():
    one = torch.tensor([[[[True, False, True]]], [[[True, True, False]]]])  # (2, 1, 1, 3)
    other = causal_mask(2, 3)
    combined = combine_masks(None, one, None, other)
    assert combined.shape == (2, 1, 2, 3)
    assert combined.tolist() == [[[[True, False, False], [True, False, True]]], [[[True, True, False]] * 2]]
    assert combine_masks() is None
    assert combine_masks(None, None) is None
    assert combine_masks(one) is one


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16])
def test_additive_mask_is_zero_or_minus_infinity(dtype):
    mask = torch.tensor([[True, False], [False, True]])
    expected = torch.tensor([[0.0, -torch.inf], [-torch.inf, 0.0]], dtype=dtype)
    assert torch.equal(additive_mask(mask, dtype), expected)
    assert additive_mask(mask, dtype).dtype == dtype


@pytest.mark.parametrize("device", [*DEVICES, "meta"])
def test_masks_live_where_they_are_asked_to(device):
    ids = torch.zeros(B, S, dtype=torch.long, device=device)
    causal = causal_mask(T, S, device=device)
    combined = combine_masks(causal, sliding_window_mask(T, S, window=2, device=device), padding_mask(ids, 0))
    assert combined.shape == (B, 1, T, S)
    assert {causal.device.type, combined.device.type, additive_mask(combined).device.type} == {device}
    assert {causal.dtype, combined.dtype} == {torch.bool}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: causal_mask(5, 3), "mask: 5 query positions, 3 key positions; .* 0 < T <= S"),
        (lambda: causal_mask(0), "mask: 0 query positions, 0 key positions"),
        (lambda: causal_mask(-2, 3), "mask: -2 query positions, 3 key positions"),
        (lambda: sliding_window_mask(4, 3, window=2), "mask: 4 query positions, 3 key positions"),
        (lambda: sliding_window_mask(4, window=0), "sliding_window_mask: window=0, expected at least 1"),
        (lambda: padding_mask(torch.tensor([1, 2]), 0), r"padding_mask: ids of shape \(2,\), expected int \(B, S\)"),
        (lambda: combine_masks(torch.zeros(3, 3)), "combine_masks: a mask of torch.float32, expected torch.bool"),
        (
            lambda: combine_masks(causal_mask(3), torch.ones(3, 3, dtype=torch.long)),
            "combine_masks: a mask of torch.int64, expected torch.bool",
        ),
        (
            lambda: combine_masks(causal_mask(3), causal_mask(5)),
            r"combine_masks: masks of shape \(3, 3\) and \(5, 5\) do not broadcast",
        ),
        (lambda: additive_mask(torch.zeros(2, 2)), "additive_mask: a mask of torch.float32, expected torch.bool"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
