"""Positions: against the formulas, and the invariances they are made for.

Rotary, T5's bias and ALiBi are compared with the library `transformers` in test_parity_transformers.
"""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from parity import DEVICES, B, D, H, S, T, normal, properties
from tx_helpers.nn.positions import (
    ALiBi,
    LearnedPositions,
    Rotary,
    SinusoidalPositions,
    T5Bias,
    ntk_base,
    relative_rotation,
    sinusoidal,
    wavelengths,
)
from tx_helpers.zoo.parts.yarn import WavelengthStretch

LAYOUTS = ["half", "interleaved"]


def exact(*values: int) -> torch.Tensor:
    return torch.tensor(values)


# ---------------------------------------------------------------------------------------------------------- sinusoidal


def test_in_halves_the_same_numbers_are_in_another_order():
    interleaved = sinusoidal(torch.arange(T), D)
    expected = torch.cat([interleaved[:, 0::2], interleaved[:, 1::2]], dim=-1)
    assert torch.equal(sinusoidal(torch.arange(T), D, halves=True), expected)
    assert torch.equal(SinusoidalPositions(D, halves=True)(torch.arange(T)), expected)


@pytest.mark.parametrize("base", [10000.0, 100.0])
def test_sinusoidal_is_the_formula(base):
    expected = torch.empty(T, D, dtype=torch.float64)
    for p in range(T):
        for i in range(D // 2):
            expected[p, 2 * i] = math.sin(p / base ** (2 * i / D))
            expected[p, 2 * i + 1] = math.cos(p / base ** (2 * i / D))
    actual = sinusoidal(torch.arange(T), D, base=base, dtype=torch.float64)
    torch.testing.assert_close(actual, expected, rtol=1e-12, atol=1e-12)


def test_rows_may_count_for_themselves():
    positions = exact(0, 1, 2, 5, 6, 7).view(2, 3)
    assert torch.equal(sinusoidal(positions, D), torch.stack([sinusoidal(row, D) for row in positions]))


@properties
@given(st.integers(0, 300), st.integers(-50, 300), st.sampled_from([4, D, 64]), st.sampled_from([10000.0, 50.0]))
def test_relative_rotation_turns_a_position_into_the_one_k_further(p, k, width, base):
    rotation = relative_rotation(k, width, base=base)
    here, there = sinusoidal(exact(p, p + k), width, base=base, dtype=torch.float64)
    torch.testing.assert_close(rotation @ here, there, rtol=0, atol=1e-9)
    torch.testing.assert_close(rotation @ rotation.T, torch.eye(width).double(), rtol=0, atol=1e-12)


def test_wavelengths_are_the_periods():
    periods = wavelengths(D, base=100.0)
    assert periods[0].item() == pytest.approx(2 * math.pi)
    assert periods[-1].item() == pytest.approx(2 * math.pi * 100 ** (10 / 12))
    for i, period in enumerate(periods):
        pair = slice(2 * i, 2 * i + 2)
        encoded = sinusoidal(torch.stack([period * 0, period, period / 2]), D, base=100.0, dtype=torch.float64)[:, pair]
        torch.testing.assert_close(encoded[0], encoded[1], rtol=0, atol=1e-9)
        torch.testing.assert_close(encoded[0], -encoded[2] + torch.zeros(2), rtol=0, atol=1e-9)


def test_reduced_precision_rounds_the_sines_and_not_the_positions():
    """In bfloat16 itself 256 and 257 would be the same position."""
    far = exact(256, 257, 4001)
    expected = sinusoidal(far, D, dtype=torch.float32).bfloat16()
    actual = sinusoidal(far, D, dtype=torch.bfloat16)
    assert torch.equal(actual, expected)
    assert not torch.equal(actual[0], actual[1])
    x = normal(1, 1, 3, 8, dtype=torch.bfloat16)
    for layout in LAYOUTS:
        turned = Rotary(8, layout=layout).at(far, torch.bfloat16)(x.new_ones(1, 1, 3, 8))
        wide = Rotary(8, layout=layout).at(far, torch.float32)(torch.ones(1, 1, 3, 8))
        torch.testing.assert_close(turned.float(), wide, rtol=0, atol=0.02)


def test_the_sinusoidal_module_is_the_function_and_has_no_parameters():
    module = SinusoidalPositions(D, base=100.0)
    assert torch.equal(module(torch.arange(T)), sinusoidal(torch.arange(T), D, base=100.0))
    assert module(torch.arange(T), torch.float64).dtype == torch.float64
    assert not list(module.parameters())
    assert not module.state_dict()


# ------------------------------------------------------------------------------------------------------------- learned


def test_learned_positions_are_rows_of_the_table():
    module = LearnedPositions(S, D)
    positions = exact(4, 0, 6, 6).view(2, 2)
    assert torch.equal(module(positions), module.table.weight[positions])
    assert module(positions, torch.bfloat16).dtype == torch.bfloat16


# -------------------------------------------------------------------------------------------------------------- rotary


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("interpolation", [1.0, 4.0])
def test_rotary_turns_each_pair_as_a_complex_number(layout, interpolation):
    width, base, positions = 6, 100.0, exact(0, 1, 5, 9, 2)
    x = normal(B, H, T, width)
    expected = torch.empty_like(x)
    for t, p in enumerate(positions.tolist()):
        for i in range(width // 2):
            a, b = (i, i + width // 2) if layout == "half" else (2 * i, 2 * i + 1)
            angle = p / interpolation * base ** (-2 * i / width)
            turned = torch.complex(x[:, :, t, a], x[:, :, t, b]) * complex(math.cos(angle), math.sin(angle))
            expected[:, :, t, a], expected[:, :, t, b] = turned.real, turned.imag
    actual = Rotary(width, base, layout, interpolation).at(positions, torch.float64)(x)
    torch.testing.assert_close(actual, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_rotary_with_positions_of_each_row(layout):
    positions = torch.stack([torch.arange(T), torch.arange(T) + 7])
    x, rotary = normal(B, H, T, 4), Rotary(4, layout=layout)
    rows = [rotary.at(positions[b], torch.float64)(x[b : b + 1]) for b in range(B)]
    assert torch.equal(rotary.at(positions, torch.float64)(x), torch.cat(rows))


def scores(rotary: Rotary, q: torch.Tensor, k: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
    rotate = rotary.at(positions, torch.float64)
    return rotate(q) @ rotate(k).transpose(-2, -1)


@pytest.mark.parametrize("layout", LAYOUTS)
@properties
@given(shift=st.integers(-200, 2000), seed=st.integers(0, 99), base=st.sampled_from([10000.0, 20.0]))
def test_rotary_scores_do_not_move_when_all_positions_shift(layout, shift, seed, base):
    q, k, rotary = normal(B, H, T, 8, seed=seed), normal(B, H, T, 8, seed=seed + 100), Rotary(8, base, layout)
    here = scores(rotary, q, k, torch.arange(T))
    torch.testing.assert_close(scores(rotary, q, k, torch.arange(T) + shift), here, rtol=0, atol=1e-9)
    assert (scores(rotary, q, k, torch.arange(T) * 2) - here).abs().max() > 1e-3  # and are not blind to distances


def test_ntk_base_stretches_the_longest_wavelength_and_leaves_the_shortest():
    before, after = wavelengths(8, base=10000.0), wavelengths(8, base=ntk_base(10000.0, 4.0, 8))
    assert (after[-1] / before[-1]).item() == pytest.approx(4.0)
    assert after[0].item() == before[0].item()


# -------------------------------------------------------------------------------------------------------- T5 and ALiBi


def test_a_stretch_keeps_short_wavelengths_and_lengthens_long_ones():
    """T = 24, low 1, high 4: up to 6 positions a wavelength stays, from 24 on it is eight times as long."""
    stretch = WavelengthStretch(8.0, low=1.0, high=4.0, context=24)
    wavelength = torch.tensor([2.0, 6.0, 9.6, 24.0, 100.0], dtype=torch.float64)
    middle = 1 / (0.5 / 9.6 + 0.5 / (8 * 9.6))  # T / 9.6 = 2.5, halfway from 1 to 4
    expected = torch.tensor([2.0, 6.0, middle, 8 * 24.0, 800.0], dtype=torch.float64)
    torch.testing.assert_close(2 * math.pi / stretch(2 * math.pi / wavelength), expected)
    turned = Rotary(D, base=50.0, stretch=stretch).at(torch.arange(T))(normal(B, H, T, D))
    assert not torch.allclose(turned, Rotary(D, base=50.0).at(torch.arange(T))(normal(B, H, T, D)))


def test_t5_bias_depends_on_the_distance_alone_and_takes_the_last_queries():
    bias = T5Bias(H, buckets=8, max_distance=16)
    whole = bias(S, S)
    assert whole.shape == (1, H, S, S)
    assert torch.equal(whole[:, :, 1:, 1:], whole[:, :, :-1, :-1])
    assert torch.equal(bias(T, S), whole[:, :, S - T :])


def test_alibi_is_minus_slope_times_distance():
    alibi = ALiBi(H)
    actual = alibi(T, S)
    assert actual.shape == (1, H, T, S)
    for h in range(H):
        for t in range(T):
            for s in range(S):
                assert actual[0, h, t, s].item() == pytest.approx(-alibi.slopes[h] * abs(t + S - T - s))
    assert not alibi.state_dict()


# -------------------------------------------------------------------------------------------------- devices, precisions


@pytest.mark.parametrize("device", [*DEVICES, "meta"])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_positions_follow_device_and_precision(device, dtype):
    positions = torch.arange(T, device=device)
    with torch.device(device):
        for module in (SinusoidalPositions(D), LearnedPositions(T, D).to(dtype)):
            encoded = module(positions, dtype)
            assert (encoded.shape, encoded.dtype, encoded.device.type) == ((T, D), dtype, device)
        learned = T5Bias(H).to(dtype)
        for bias in (learned(T, S), T5Bias(H)(T, S, dtype=dtype), ALiBi(H)(T, S, dtype=dtype)):
            assert (bias.shape, bias.dtype, bias.device.type) == ((1, H, T, S), dtype, device)
        for layout in LAYOUTS:
            turned = Rotary(4, layout=layout).at(positions, dtype)(torch.ones(B, H, T, 4, dtype=dtype))
            assert (turned.shape, turned.dtype, turned.device.type) == ((B, H, T, 4), dtype, device)
    assert ALiBi(H)(T, S, device=device).device.type == device


# ----------------------------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sinusoidal(torch.arange(3), 5), "positions: dim=5, .* an even number is needed"),
        (lambda: sinusoidal(torch.arange(3), 0), "positions: dim=0, .* an even number is needed"),
        (lambda: SinusoidalPositions(7), "positions: dim=7"),
        (lambda: relative_rotation(1, 3), "positions: dim=3"),
        (lambda: Rotary(5), "positions: dim=5"),
        (lambda: Rotary(4, layout="neox"), "Rotary: layout='neox', expected one of half, interleaved"),
        (lambda: WavelengthStretch(0, 1, 4, 8), "WavelengthStretch: factor=0, expected more than 0"),
        (lambda: WavelengthStretch(8.0, 4.0, 4.0, 8), "WavelengthStretch: high=4.0, expected more than 4.0"),
        (lambda: WavelengthStretch(8.0, 1.0, 4.0, 8.5), "WavelengthStretch: context is 8.5, expected a whole number"),
        (
            lambda: Rotary(4, interpolation=float("inf")),
            "Rotary: interpolation=inf, expected more than 0 and less than",
        ),
        (lambda: Rotary(4, interpolation=0), "Rotary: interpolation=0, expected more than 0"),
        (
            lambda: Rotary(12).at(torch.arange(3))(torch.ones(B, H, 3, 4)),
            "Rotary: a head width of 4, but this rotation is for 12",
        ),
        (lambda: Rotary(12).at(torch.arange(3))(torch.ones(B, H, 3, 2)), "Rotary: a head width of 2"),
        (lambda: LearnedPositions(4, D)(exact(2, 4)), "LearnedPositions: position 4, but only 4 were learned"),
        (lambda: T5Bias(H, buckets=10), "T5Bias: buckets=10, expected a multiple of 4"),
        (lambda: T5Bias(H, buckets=0), "T5Bias: buckets=0, expected a multiple of 4"),
        (lambda: T5Bias(H, buckets=32, max_distance=32), "T5Bias: max_distance=32 must exceed buckets=32"),
        (lambda: T5Bias(H)(5, 3), "position bias: 5 query positions, 3 key positions; .* 0 < T <= S"),
        (lambda: ALiBi(H)(5, 3), "position bias: 5 query positions, 3 key positions"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_partial_rotary_turns_the_first_features_as_a_narrower_head_would():
    x, positions = normal(B, H, T, 8), torch.arange(T)
    for layout in ("half", "interleaved"):
        out = Rotary(8, 50.0, layout, d_rotary=6).at(positions, x.dtype)(x)
        assert torch.equal(out[..., 6:], x[..., 6:])
        assert torch.equal(out[..., :6], Rotary(6, 50.0, layout).at(positions, x.dtype)(x[..., :6]))
    with pytest.raises(ValueError, match="Rotary: d_rotary=10, expected at most 8"):
        Rotary(8, d_rotary=10)
    with pytest.raises(ValueError, match="dim=3, but sines and cosines come in pairs"):
        Rotary(8, d_rotary=3)
