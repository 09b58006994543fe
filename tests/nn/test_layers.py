"""Feed-forward networks and RMSNorm, against their formulas. RMSNorm's parity with PyTorch is in test_parity_torch."""

import math

import pytest
import torch
import torch.nn.functional as functional
from torch import nn

from parity import DEVICES, B, D, F, T, normal, randomise
from tx_helpers.nn.capture import capture
from tx_helpers.nn.layers import ACTIVATIONS, FeedForward, GatedFeedForward, RMSNorm, squared_relu, tanh_gelu

FORMULAS = {
    "relu": lambda x: max(0.0, x),
    "relu2": lambda x: max(0.0, x) ** 2,
    "gelu": lambda x: x * 0.5 * (1 + math.erf(x / math.sqrt(2))),
    "gelu_tanh": lambda x: 0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
    "silu": lambda x: x / (1 + math.exp(-x)),
    "sigmoid": lambda x: 1 / (1 + math.exp(-x)),
}


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations_are_their_formulas(name):
    x = torch.linspace(-3, 3, 25, dtype=torch.float64)
    expected = torch.tensor([FORMULAS[name](value) for value in x.tolist()], dtype=torch.float64)
    torch.testing.assert_close(ACTIVATIONS[name](x), expected, rtol=1e-12, atol=1e-12)


def test_every_formula_is_tested():
    assert set(FORMULAS) == set(ACTIVATIONS)
    assert ACTIVATIONS["relu2"] is squared_relu
    assert ACTIVATIONS["gelu_tanh"] is tanh_gelu


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_feed_forward_is_its_formula(activation, bias):
    layer, x = randomise(FeedForward(D, F, activation=activation, bias=bias).double()), normal(B, T, D)
    first, second = layer.expand, layer.contract
    hidden = ACTIVATIONS[activation](x @ first.weight.T + (first.bias if bias else 0))
    expected = hidden @ second.weight.T + (second.bias if bias else 0)
    torch.testing.assert_close(layer(x), expected, rtol=1e-12, atol=1e-12)
    assert sum(p.numel() for p in layer.parameters()) == 2 * D * F + (D + F if bias else 0)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_gated_feed_forward_is_its_formula(activation, bias):
    """The activation acts on the gate alone."""
    layer, x = randomise(GatedFeedForward(D, F, activation=activation, bias=bias).double()), normal(B, T, D)
    gate, first, second = layer.gate, layer.expand, layer.contract
    gated = ACTIVATIONS[activation](functional.linear(x, gate.weight, gate.bias))
    expected = functional.linear(gated * functional.linear(x, first.weight, first.bias), second.weight, second.bias)
    torch.testing.assert_close(layer(x), expected, rtol=1e-12, atol=1e-12)
    assert sum(p.numel() for p in layer.parameters()) == 3 * D * F + (D + 2 * F if bias else 0)


@pytest.mark.parametrize("kind", [FeedForward, GatedFeedForward])
def test_dropout_falls_on_the_hidden_numbers_in_training_alone(kind):
    layer, x = randomise(kind(D, F, dropout=0.5).double()), normal(B, T, D)
    torch.manual_seed(2)
    with capture(layer) as seen:
        out = layer(x)
    torch.manual_seed(2)
    hidden = functional.dropout(seen["activation"], 0.5)
    torch.testing.assert_close(out, functional.linear(hidden, layer.contract.weight, layer.contract.bias))
    layer.eval()
    assert torch.equal(layer(x), functional.linear(seen["activation"], layer.contract.weight, layer.contract.bias))
    assert not torch.allclose(layer(x), out)


def test_rms_norm_plus_one_begins_as_the_plain_one():
    plain, other = RMSNorm(D).double(), RMSNorm(D, plus_one=True).double()
    assert not other.weight.any()
    assert torch.equal(other(normal(B, T, D)), plain(normal(B, T, D)))
    randomise(other)
    close = torch.testing.assert_close
    close(other(normal(B, T, D)), plain(normal(B, T, D)) * (1 + other.weight), rtol=1e-12, atol=1e-12)


def test_rms_norm_of_zeros_is_zero():
    assert torch.equal(RMSNorm(D)(torch.zeros(T, D)), torch.zeros(T, D))


def test_rms_norm_takes_its_mean_in_float32():
    """300² is infinite in float16: the squares must not be taken there."""
    x = torch.full((1, D), 300.0, dtype=torch.float16)
    torch.testing.assert_close(RMSNorm(D).half()(x), torch.ones(1, D, dtype=torch.float16))
    x = normal(B, T, D, dtype=torch.bfloat16)
    expected = (x.float() / x.float().square().mean(-1, keepdim=True).sqrt()).bfloat16()
    torch.testing.assert_close(RMSNorm(D).bfloat16()(x), expected, rtol=0, atol=0)


@pytest.mark.parametrize("device", [*DEVICES, "meta"])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_layers_follow_device_and_precision(device, dtype):
    layers: list[nn.Module] = [FeedForward(D, F, activation="relu2"), GatedFeedForward(D, F), RMSNorm(D)]
    for layer in layers:
        expected = randomise(layer.double())(normal(B, T, D))
        out = layer.to(device, dtype)(normal(B, T, D).to(device, dtype))
        assert (out.shape, out.dtype, out.device.type) == ((B, T, D), dtype, device)
        if device != "meta":
            tolerance = {torch.float64: 1e-9, torch.float32: 1e-5, torch.bfloat16: 0.1}[dtype]
            torch.testing.assert_close(out.cpu().double(), expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: FeedForward(D, F, activation="swish"),
            "feed-forward: activation='swish', expected one of relu, relu2, gelu, gelu_tanh, silu, sigmoid",
        ),
        (lambda: GatedFeedForward(D, F, activation=""), "gated feed-forward: activation='', expected one of"),
        (
            lambda: FeedForward(D, F)(torch.ones(B, T, 10)),
            r"feed-forward: x of shape \(2, 5, 10\), expected float \(…, 12\)",
        ),
        (lambda: GatedFeedForward(D, F)(torch.ones(B, T, 10)), r"gated feed-forward: x of shape \(2, 5, 10\)"),
        (lambda: RMSNorm(D)(torch.ones(B, T, 1)), r"RMSNorm: x of shape \(2, 5, 1\), expected float \(…, 12\)"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
