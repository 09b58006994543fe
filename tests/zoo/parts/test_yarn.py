"""YaRN: the exercise's formula, and by how much the scores grow; its frequencies are compared in tests/parity."""

import math

import pytest
import torch

from parity import B, H, T, normal
from toy_models import close
from tx_helpers.lessons.cheaper_and_longer.exercises_scales import yarn_frequencies
from tx_helpers.nn.positions import Rotary, wavelengths
from tx_helpers.zoo.parts.yarn import Yarn
from wrong_arguments import faults


def frequencies(d_head: int, base: float) -> torch.Tensor:
    return 2 * math.pi / wavelengths(d_head, base=base)


def test_the_exercise_teaches_the_same_formula():
    """With bounds that are no whole pairs; both lie within the head."""
    before = frequencies(128, 1e4)
    close(Yarn(8.0, 4096, whole=False)(before), yarn_frequencies(before, 8.0, 4096, 1.0, 32.0), 1e-9)


def test_the_scores_grow_by_the_square_of_the_gain():
    """At one and the same position the rotation leaves the product alone: what is left is m²."""
    x, positions, stretch = normal(B, H, T, 8), torch.arange(T), Yarn(4.0, 16)
    turned = Rotary(8, 50.0, stretch=stretch).at(positions, x.dtype)(x)
    m = 0.1 * math.log(4) + 1
    assert stretch.gain == m
    close(turned.square().sum(-1), m**2 * x.square().sum(-1), 1e-12)
    assert Yarn(0.5, 16).gain == 1.0


@pytest.mark.parametrize(
    ("call", "arguments"),
    [
        (Yarn, dict(factor=4.0, context=16, fast=32.0, slow=1.0)),
        (Yarn, dict(factor=4.0, context=16, attention_factor=1.5)),
        (Yarn(4.0, 16), dict(frequencies=frequencies(8, 50.0))),
    ],
)
def test_every_wrong_argument_is_named(call, arguments):
    assert faults(call, arguments) == []


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Yarn(4.0, 16, fast=1.0), "Yarn: fast=1.0, expected more than 1.0"),
        (lambda: Yarn(4.0, 16)(torch.ones(1)), "Yarn: 1 frequency, expected at least 2: a head width of 4 or more"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
