"""Muon's iterations on a matrix of 2 × 2 numbers."""

import pytest
import torch

from tx_helpers.lessons.what_changed.muon_explorer import draw_steps, gradient, iterated, muon_explorer, steps
from tx_helpers.training.optimizers import orthogonalise


@pytest.mark.parametrize("weak", [0.02, 0.5])
def test_five_iterations_are_those_of_the_optimizer(weak):
    G = gradient(weak, 60)
    assert torch.linalg.svdvals(G).tolist() == pytest.approx([1, weak])
    assert (iterated(G, 5) - orthogonalise(G.float()[None])[0]).abs().max() < 0.02  # in bfloat16, where that is fast


def test_adam_s_first_step_depends_on_the_axes_and_muon_s_does_not():
    for angle, weak in ((0, 1.0), (60, 0.0)):
        found = {name: torch.linalg.svdvals(step) for name, step in steps(0.1, angle, 5).items()}
        assert found["Adam"].tolist() == pytest.approx([1, weak], abs=1e-7)
        assert 0.6 < found["Muon"][1] <= found["Muon"][0] < 1.3


def test_the_explorer_says_what_each_step_moves():
    explorer = muon_explorer()
    explorer.set(weak=0.1, angle=60, iterations=0)
    assert explorer.summary == (
        "How far a step moves the strong and the weak direction: gradient 1.00 and 0.10; Adam's first step 1.00 and "
        "0.00; Muon's after 0 iterations 1.00 and 0.10."
    )
    assert 'data-sets="iterations=0"' in draw_steps(0.1, 60, 5).svg


def test_what_cannot_be_is_refused():
    with pytest.raises(ValueError, match="weak=0"):
        draw_steps(0, 60, 2)
    with pytest.raises(ValueError, match="iterations=-1"):
        draw_steps(0.1, 60, -1)
