"""Quantised numbers: never off by more than half a step, exact where they must be, and trained through."""

from functools import partial

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from parity import B, H, K, S, T, normal, properties, tokens
from toy_models import feed, model
from tx_helpers.lessons.cheaper_and_longer.quantise import (
    QuantisedCache,
    dequantise,
    fake_quantise,
    quantisation_aware,
    quantise,
    quantised_copy,
    relative_errors,
    round_to_float,
)
from tx_helpers.nn.blocks import BlockCache
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


def test_the_small_float_is_torchs_fp8():
    codes = torch.arange(256, dtype=torch.uint8).view(torch.float8_e4m3fn).float()
    numbers = codes[codes.isfinite()]
    assert numbers.max() == 448 and torch.equal(round_to_float(numbers), numbers)  # each stays as it is
    spread = torch.cat(
        [normal(2000) * 10.0 ** normal(2000, seed=1), numbers[:-1].double() + numbers.diff().double() / 2]
    )
    spread = spread[spread.abs() <= 448].float()  # with the middles between neighbours, where rounding is to even
    assert len(spread) > 2000
    assert torch.equal(round_to_float(spread), spread.to(torch.float8_e4m3fn).float())
    assert round_to_float(torch.tensor([1e5, -1e5])).tolist() == [448.0, -448.0]
    wide = partial(round_to_float, exponent_bits=5, mantissa_bits=2, largest=57344.0)
    assert torch.equal(wide(spread), spread.to(torch.float8_e5m2).float())


def test_the_gradient_goes_straight_through():
    x = normal(3, 8).requires_grad_()
    out = fake_quantise(x, bits=3, group=8)
    torch.testing.assert_close(out, dequantise(quantise(x.detach(), bits=3, group=8)))
    (gradient,) = torch.autograd.grad(out, x, direction := normal(3, 8, seed=1))
    assert torch.equal(gradient, direction)


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


@pytest.mark.parametrize("seed", range(3))
def test_trained_with_rounding_a_layer_is_better_after_it(seed):
    """Inputs in 4 of 64 directions: other weights can make up for what rounding takes from one."""
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(100, 4, generator=generator) @ torch.randn(4, 64, generator=generator) / 8
    layer = nn.Linear(64, 4, bias=False)
    with torch.no_grad():
        layer.weight.copy_(torch.randn(4, 64, generator=generator))
        target = layer(x)
        rounded = (quantised_copy(layer, bits=3)(x) - target).square().mean()
    aware = quantisation_aware(layer, bits=3)
    optimizer = torch.optim.Adam(aware.parameters(), lr=0.01)
    for step in range(100):
        optimizer.param_groups[0]["lr"] = 0.01 * (1 - step / 100)
        optimizer.zero_grad()
        (aware(x) - target).square().mean().backward()
        optimizer.step()
    with torch.no_grad():
        assert (aware(x) - target).square().mean() < 0.5 * rounded  # measured at six seeds: 0.04 to 0.25 of it
    assert torch.equal(aware.weight, dequantise(quantise(aware.parametrizations.weight.original, bits=3, group=64)))


def test_a_quantised_cache_in_the_place_of_the_plain_one():
    built, ids = model(DecoderOnly, "rotary, halves", n_layers=2), tokens(B, 12)
    gaps, sizes = [], []
    with torch.no_grad():
        right = built(ids)
        for bits in (3, 5, 8):
            state = built.start(B)
            state.caches = [BlockCache(self_attention=QuantisedCache(bits)) for _ in state.caches]
            logits = torch.cat([state.step(part) for part in ids.split([5, 1, 6], dim=1)], dim=1)
            gaps.append((logits - right).abs().max().item())
            sizes.append(state.caches[0].self_attention.bytes)
    assert gaps[0] > gaps[1] > gaps[2] > 0 and sizes[0] < sizes[1] < sizes[2]


def test_a_quantised_cache_keeps_what_it_was_given():
    cache, k, v = QuantisedCache(4), normal(B, H, S, K), normal(B, H, S, K, seed=1)
    assert len(cache) == 0 and cache.keys is None and cache.bytes == 0
    with torch.no_grad():
        cache.append(k[:, :, :3], v[:, :, :3])
        keys, values = cache.append(k[:, :, 3:], v[:, :, 3:])
    torch.testing.assert_close(keys, dequantise(quantise(k, bits=4, group=K)))
    torch.testing.assert_close(values, dequantise(quantise(v, bits=4, group=K)))
    assert cache.bytes == 2 * B * H * S * (K * 4 / 8 + 8)  # the scales are in float64 here
    cache.select(torch.tensor([1, 1, 0]))
    assert torch.equal(cache.keys, keys[[1, 1, 0]])
    cache.rewind(2)
    assert len(cache) == 2 and torch.equal(cache.values, values[[1, 1, 0], :, :2])


def test_float16_is_wide_enough_for_its_range():
    x = torch.tensor([4e4, -4e4, 0.0, 1e4], dtype=torch.float16)
    back = dequantise(quantise(x, symmetric=False))
    assert back.dtype == torch.float16 and back[2] == 0
    torch.testing.assert_close(back, x, rtol=0, atol=8e4 / 255)


def test_wrong_arguments():
    x = normal(3, 8)
    assert faults(quantise, dict(x=x, bits=4, group=4, symmetric=True)) == []
    assert faults(fake_quantise, dict(x=x, bits=4, group=4)) == []
    assert faults(round_to_float, dict(x=x, exponent_bits=4, mantissa_bits=3, largest=448.0)) == []
    assert faults(quantised_copy, dict(model=nn.Linear(8, 4), bits=4, group=4)) == []
    assert faults(QuantisedCache, dict(bits=4)) == []
    assert faults(QuantisedCache().append, dict(keys=normal(B, H, T, K), values=normal(B, H, T, K))) == []
    with pytest.raises(ValueError, match=r"quantise: x of shape \(3, 8\), expected whole groups of 3"):
        quantise(x, group=3)
    with pytest.raises(ValueError, match="dequantise: quantised is 3, expected a Quantised"):
        dequantise(3)


def test_a_decoder_takes_it_in_the_place_of_its_own_and_goes_back():
    made, ids = model(DecoderOnly, "rotary, halves"), tokens(B, 7)
    with torch.no_grad():
        state = made.start(B)
        state.caches = [BlockCache(self_attention=QuantisedCache(8)) for _ in state.caches]
        feed(state, ids, [3, 1, 1, 1, 1])
        state.rewind(5)
        assert [len(cache) for cache in state.caches] == [5, 5]
        torch.testing.assert_close(state.step(ids[:, 5:]), made(ids)[:, 5:], rtol=0.05, atol=0.2)


def test_outputs_are_off_as_far_as_weights_and_fewer_bits_are_worse():
    one, ids = model(DecoderOnly), tokens(B, T)
    found = {bits: relative_errors(one, quantised_copy(one, bits=bits), ids) for bits in (8, 4, 3)}
    assert relative_errors(one, one, ids) == (0, 0)
    assert found[8][0] < found[4][0] < found[3][0] and found[8][1] < found[4][1] < found[3][1]
    assert all(0.5 < outputs / weights < 2 for weights, outputs in found.values())
