"""μP: which rates shrink with the width, and what it is for: outputs move alike at every width."""

from dataclasses import replace

import pytest
import torch
from torch import nn
from torch.nn.functional import cross_entropy

from tx_helpers.lessons.scaling_up.laws.mup import matrix_like, mup_adamw, scale_matrices
from tx_helpers.nn.config import EmbeddingConfig, TransformerConfig
from tx_helpers.nn.models import DecoderOnly
from wrong_arguments import faults

CONFIG = TransformerConfig(11, d_model=16, n_layers=1, embedding=EmbeddingConfig(tied=False, scale=False))


def test_linear_maps_get_the_smaller_rate_and_everything_else_the_full_one():
    model = DecoderOnly(CONFIG)
    optimizer = mup_adamw(model, 0.01, width=64, base_width=16)
    maps, rest = optimizer.param_groups
    assert maps["lr"] == pytest.approx(0.0025) and rest["lr"] == 0.01
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    of_maps = {names[id(p)] for p in maps["params"]}
    assert of_maps == {name for name, p in model.named_parameters() if p.ndim == 2 and "tokens" not in name}
    assert len(of_maps) + len(rest["params"]) == len(names)


def moved(width, way):
    """By how much the logits of a two-layer network move in a first step at rate 0.01, root mean square."""
    torch.manual_seed(0)
    hidden, output = nn.Linear(width, width, bias=False), nn.Linear(width, 11, bias=False)
    model = nn.Sequential(nn.Embedding(11, width), hidden, output)
    nn.init.normal_(hidden.weight, std=0.25)
    nn.init.normal_(output.weight, std=0.25)
    scale_matrices(model, output, width=width, base_width=16)
    optimizer = mup_adamw(model, 0.01, width=width if way == "μP" else 16, base_width=16)
    ids = torch.arange(11)
    before = model(ids)
    cross_entropy(before, ids.roll(1)).backward()
    optimizer.step()
    return (model(ids) - before).pow(2).mean().sqrt().item()


def test_with_one_rate_a_wide_model_moves_further_and_with_mup_it_does_not():
    assert moved(16, "μP") == moved(16, "one rate")  # the base width
    assert moved(512, "one rate") > 4 * moved(16, "one rate")
    assert moved(512, "μP") < 2 * moved(16, "μP")


def test_scaled_matrices_have_outputs_of_the_base_width():
    sizes = []
    for width in (16, 256):
        torch.manual_seed(0)
        hidden, output = nn.Linear(width, width, bias=False), nn.Linear(width, 1)
        nn.init.normal_(hidden.weight, std=0.25)
        scale_matrices(nn.Sequential(hidden, output), output, width=width, base_width=16)
        sizes.append(hidden(torch.randn(500, width)).std().item())
    assert sizes[0] == pytest.approx(sizes[1], rel=0.2)


def test_a_tied_output_is_refused_and_wrong_arguments_are_named():
    tied = DecoderOnly(replace(CONFIG, embedding=EmbeddingConfig(tied=True)))
    with pytest.raises(ValueError, match=r"a matrix \(11, 16\) is embedding and output at once"):
        matrix_like(tied)
    arguments = {"model": nn.Linear(2, 2), "lr": 0.1, "width": 4, "base_width": 2}
    assert faults(mup_adamw, arguments) == []
    arguments = {"model": nn.Linear(2, 2), "output": nn.Linear(2, 2), "width": 4, "base_width": 2}
    assert faults(scale_matrices, arguments) == []
