import math
from copy import deepcopy

import pytest
import torch

from tx_helpers.lessons.limits_of_recurrence.recurrence import (
    backward_norms,
    draw_gradient,
    exploding_losses,
    gradient_explorer,
    gradient_parts,
    path_lengths,
)


def test_the_gradient_grows_in_the_end_by_the_spectral_radius():
    norms = backward_norms(0.9, steps=2000)
    rate = ((norms[2000] / norms[1000]) ** (1 / 1000)).item()
    assert norms[0] == 1 and rate == pytest.approx(0.9, abs=1e-3)
    scaled = backward_norms(1.8, steps=50) / backward_norms(0.9, steps=50)
    torch.testing.assert_close(scaled, 2.0 ** torch.arange(51, dtype=torch.float64))


@pytest.mark.parametrize(("radius", "fate"), [(0.5, "vanishes"), (1.0, "survives"), (1.5, "explodes")])
def test_what_becomes_of_it_is_said(radius, fate):
    assert draw_gradient(radius).alt.endswith(f"It {fate}.")


@pytest.mark.parametrize("kernel", [2, 3, 5])
@pytest.mark.parametrize("distance", [1, 2, 7, 8, 9, 26, 100])
def test_path_lengths_are_those_of_real_layers(distance, kernel):
    """A stack of convolutions with as many layers reaches that far back, and with one layer less it does not."""

    def reach(dilations):
        x = torch.zeros(1, 1, distance + 1, dtype=torch.float64)
        x[..., 0] = 1.0
        for dilation in dilations:
            x = torch.conv1d(
                torch.nn.functional.pad(x, ((kernel - 1) * dilation, 0)),
                torch.ones(1, 1, kernel, dtype=torch.float64),
                dilation=dilation,
            )
        return bool(x[..., -1] > 0)

    lengths = path_lengths(distance, kernel)
    plain, dilated = lengths["convolution"], lengths["dilated convolution"]
    assert reach([1] * plain) and not reach([1] * (plain - 1))
    assert reach([kernel**n for n in range(dilated)]) and not reach([kernel**n for n in range(dilated - 1)])
    assert lengths["recurrence"] == distance and lengths["attention"] == 1


def test_the_explorer_answers():
    gradient = gradient_explorer()
    gradient.set(radius=0.5)
    assert "vanishes" in gradient.summary and not gradient.error


@pytest.mark.parametrize("call", [lambda: backward_norms(0), lambda: path_lengths(0), lambda: path_lengths(3, 1)])
def test_bad_input(call):
    with pytest.raises(ValueError, match="expected"):
        call()


def test_a_radius_of_one_neither_vanishes_nor_explodes():
    assert 0.01 < backward_norms(1.0)[-1] < 100 and math.isfinite(backward_norms(1.6)[-1])


def test_the_parts_of_a_gradient_sum_to_autograd_s():
    torch.manual_seed(0)
    layer = torch.nn.RNN(5, 7, batch_first=True)
    parts = gradient_parts(layer, 6, generator=torch.Generator().manual_seed(1))
    double = deepcopy(layer).double()
    x = torch.randn(1, 6, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    (expected,) = torch.autograd.grad(double(x)[0][0, -1].sum(), double.weight_ih_l0)
    torch.testing.assert_close(parts.sum(dim=0), expected)
    (last,) = torch.autograd.grad(double(x[:, -1:], double(x[:, :-1])[1].detach())[0].sum(), double.weight_ih_l0)
    torch.testing.assert_close(parts[0], last)


def test_clipping_repairs_an_explosion():
    free, clipped = exploding_losses(math.inf, steps=3), exploding_losses(1.0)
    assert free[0] > 1e6 and math.isnan(free[2]) and clipped[0] == free[0] and clipped[-1] < 5
