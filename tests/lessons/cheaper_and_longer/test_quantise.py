"""Quantised numbers: never off by more than half a step, and exact where they must be."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from parity import B, T, normal, properties, tokens
from toy_models import model
from tx_helpers.lessons.cheaper_and_longer.quantise import (
    dequantise,
    quantise,
    quantised_copy,
    relative_errors,
)
from tx_helpers.nn.models import DecoderOnly
from wrong_arguments import faults


@given(
    seed=st.integers(0, 999),
    bits=st.integers(2, 8),
    group=st.sampled_from([None, 1, 3, 12]),
    symmetric=st.booleans(),
    shift=st.sampled_from([0.0, 5.0, -5.0]),
)
@properties
def test_no_number_is_off_by_more_than_half_a_step(seed, bits, group, symmetric, shift):
    x = normal(5, 12, seed=seed) + shift
    quantised = quantise(x, bits=bits, group=group, symmetric=symmetric)
    back = dequantise(quantised)
    step = quantised.scale.expand_as(quantised.codes).reshape(x.shape)
    assert ((back - x).abs() <= 0.5 * step * (1 + 1e-9)).all()
    codes = quantised.codes.int()
    most = 2 ** (bits - 1) - 1
    assert (-most <= codes).all() and (codes <= most).all() if symmetric else (codes < 2**bits).all()
    assert quantised.scale.numel() == (1 if group is None else x.numel() // group)
    again = dequantise(quantise(back, bits=bits, group=group)) if symmetric else back
    torch.testing.assert_close(again, back, rtol=0, atol=1e-12)


def test_by_hand():
    x = torch.tensor([[1.0, -2.0, 0.3, 0.0], [0.0, 0.0, 0.0, 0.0]])
    quantised = quantise(x, bits=3, group=4)  # codes −3 … 3
    assert quantised.scale.flatten().tolist() == pytest.approx([2 / 3, 1.0])
    assert quantised.codes.flatten().tolist() == [2, -3, 0, 0, 0, 0, 0, 0]  # 1.5 is rounded to the even 2
    assert dequantise(quantised)[0].tolist() == pytest.approx([4 / 3, -2.0, 0.0, 0.0])
    skew = quantise(torch.tensor([[0.0, 1.0, 2.0, 3.0]]), bits=2, group=4, symmetric=False)
    assert skew.codes.flatten().tolist() == [0, 1, 2, 3] and skew.zero.item() == 0
    shifted = quantise(torch.tensor([-1.0, 0.0, 2.0]), bits=2, symmetric=False)
    assert (shifted.codes.flatten().tolist(), shifted.zero.item()) == ([0, 1, 3], 1)


def error(x, **options) -> float:
    return (dequantise(quantise(x, **options)) - x).square().mean().sqrt().item()


def test_smaller_groups_contain_an_outlier():
    weight = normal(8, 96)
    weight[3, 7] = 50.0
    tensor, channel, group = (error(weight, bits=4, group=size) for size in (None, 96, 12))
    assert tensor > 2 * channel > 4 * group
    assert error(normal(8, 96), bits=4) / error(normal(8, 96), bits=8) == pytest.approx(127 / 7, rel=0.1)
    positive = normal(8, 96).abs()  # half of the symmetric codes would stay unused
    assert error(positive, bits=4, group=96) > 1.5 * error(positive, bits=4, group=96, symmetric=False)


def test_weights_are_rounded_in_a_copy_and_what_is_tied_stays():
    built, ids = model(DecoderOnly), tokens(B, T)
    before = {name: x.clone() for name, x in built.state_dict().items()}
    with torch.no_grad():
        right = built(ids)
        gaps = [(quantised_copy(built, bits=bits)(ids) - right).abs().max().item() for bits in (3, 5, 8)]
    assert gaps[0] > gaps[1] > gaps[2] > 0
    copy = quantised_copy(built, bits=4, group=4)
    assert copy.state_dict().keys() == before.keys()
    assert all(torch.equal(x, before[name]) for name, x in built.state_dict().items())
    weight = built.decoder.blocks[0].self_attention.query.weight
    rounded = copy.decoder.blocks[0].self_attention.query.weight
    torch.testing.assert_close(rounded, dequantise(quantise(weight.detach(), bits=4, group=4)))
    tied = model(DecoderOnly)
    tied.output.weight = tied.decoder.input.tokens.weight
    assert torch.equal(quantised_copy(tied, bits=2).output.weight, tied.output.weight)


def test_float16_is_wide_enough_for_its_range():
    x = torch.tensor([4e4, -4e4, 0.0, 1e4], dtype=torch.float16)
    back = dequantise(quantise(x, symmetric=False))
    assert back.dtype == torch.float16 and back[2] == 0
    torch.testing.assert_close(back, x, rtol=0, atol=8e4 / 255)


def test_wrong_arguments():
    x = normal(3, 8)
    assert faults(quantise, dict(x=x, bits=4, group=4, symmetric=True)) == []
    assert faults(quantised_copy, dict(model=nn.Linear(8, 4), bits=4, group=4)) == []
    with pytest.raises(ValueError, match=r"quantise: x of shape \(3, 8\), expected whole groups of 3"):
        quantise(x, group=3)
    with pytest.raises(ValueError, match="dequantise: quantised is 3, expected a Quantised"):
        dequantise(3)


def test_outputs_are_off_as_far_as_weights_and_fewer_bits_are_worse():
    one, ids = model(DecoderOnly), tokens(B, T)
    found = {bits: relative_errors(one, quantised_copy(one, bits=bits), ids) for bits in (8, 4, 3)}
    assert relative_errors(one, one, ids) == (0, 0)
    assert found[8][0] < found[4][0] < found[3][0] and found[8][1] < found[4][1] < found[3][1]
    assert all(0.5 < outputs / weights < 2 for weights, outputs in found.values())
