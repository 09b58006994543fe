"""LoRA: the same map at the start, the paper's formula, merged back."""

import copy

import pytest
import torch
from torch import nn

from parity import D, randomise
from toy_models import model as toy_model
from tx_helpers.lessons.adapting.lora import LoRA, add_lora, merge_lora
from tx_helpers.nn.models import DecoderOnly, EncoderDecoder, EncoderOnly
from tx_helpers.training.optimizers import adamw

IN, OUT, RANK = 5, 7, 3


def small_lora(dtype=torch.float64):
    torch.manual_seed(0)
    linear = nn.Linear(IN, OUT).to(dtype)
    return LoRA(linear, RANK, alpha=6.0), copy.deepcopy(linear)


def test_at_the_start_it_is_the_same_map_bit_for_bit():
    lora, linear = small_lora(torch.float32)
    x = torch.randn(2, 4, IN)
    assert torch.equal(lora(x), linear(x))
    assert torch.equal(lora.merged().weight, linear.weight)


def test_the_formula():
    lora, linear = small_lora()
    with torch.no_grad():
        lora.up.normal_()
    x = torch.randn(4, IN, dtype=torch.float64)
    change = 6.0 / RANK * lora.up @ lora.down  # (α / r) B A
    assert change.shape == (OUT, IN) and torch.linalg.matrix_rank(change) == RANK
    torch.testing.assert_close(lora(x), x @ (linear.weight + change).T + linear.bias, rtol=0, atol=1e-13)


def test_only_the_narrow_matrices_learn():
    lora, _ = small_lora()
    lora(torch.randn(4, IN, dtype=torch.float64)).square().sum().backward()
    assert {name for name, parameter in lora.named_parameters() if parameter.grad is not None} == {"down", "up"}
    assert lora.up.grad.abs().min() > 0 and lora.down.grad.abs().max() == 0  # B is zero: A waits one step


def logits_of(kind, model):
    ids = torch.randint(1, 11, (2, 5), generator=torch.Generator().manual_seed(0))
    return model(ids, ids) if kind is EncoderDecoder else model(ids)


@pytest.mark.parametrize("kind", [EncoderOnly, DecoderOnly, EncoderDecoder])
@pytest.mark.parametrize("targets", [("query", "value"), ("output",), ("expand", "contract", "key")])
def test_a_model_with_lora_and_merged(kind, targets):
    model = toy_model(kind, n_layers=2)
    before, names = logits_of(kind, model), set(model.state_dict())
    trained_before = {name for name, p in model.named_parameters() if p.requires_grad}
    assert add_lora(model, RANK, targets=targets) is model
    assert torch.equal(logits_of(kind, model), before)
    trained = {name for name, parameter in model.named_parameters() if parameter.requires_grad}
    assert trained and all(name.endswith((".up", ".down")) for name in trained)
    assert not any(name.startswith("output.") for name in trained)  # the output layer stands outside the blocks
    loras = [module for module in model.modules() if isinstance(module, LoRA)]
    randomise(nn.ParameterList([lora.up for lora in loras]), std=0.3)
    changed = logits_of(kind, model)
    assert (changed - before).abs().max() > 1e-3
    assert merge_lora(model) is model
    torch.testing.assert_close(logits_of(kind, model), changed, rtol=0, atol=1e-12)
    assert set(model.state_dict()) == names
    assert {name for name, p in model.named_parameters() if p.requires_grad} == trained_before


def test_merged_in_float32_it_differs_by_rounding():
    model = toy_model(EncoderOnly, dtype=torch.float32, n_layers=2)
    add_lora(model, RANK)
    for lora in [module for module in model.modules() if isinstance(module, LoRA)]:
        nn.init.normal_(lora.up, std=0.05)
    changed = logits_of(EncoderOnly, model)
    torch.testing.assert_close(logits_of(EncoderOnly, merge_lora(model)), changed, rtol=0, atol=1e-6)


def test_the_optimizer_takes_what_is_not_frozen():
    model = add_lora(toy_model(EncoderOnly, n_layers=2), RANK)
    held = [parameter for group in adamw(model).param_groups for parameter in group["params"]]
    assert sum(parameter.numel() for parameter in held) == 2 * 2 * RANK * (D + D)  # two layers, queries and values


def test_wrong_arguments_are_named():
    linear = nn.Linear(IN, OUT)
    with pytest.raises(ValueError, match="LoRA: rank=0, expected at least 1"):
        LoRA(linear, 0)
    with pytest.raises(ValueError, match="LoRA: alpha=0, expected more than 0"):
        LoRA(linear, 1, 0)
    with pytest.raises(ValueError, match="LoRA: linear is a ReLU, expected a Linear"):
        LoRA(nn.ReLU())
    with pytest.raises(
        ValueError, match="add_lora: Linear has no linear map named query or value in a block, expected some"
    ):
        add_lora(linear)
    assert linear.weight.requires_grad
    model = toy_model(EncoderOnly)
    with pytest.raises(ValueError, match="merge_lora: EncoderOnly has no LoRA in it"):
        merge_lora(model)
    with pytest.raises(ValueError, match="add_lora: the model has LoRA in it already"):
        add_lora(add_lora(model))
    shared = toy_model(EncoderOnly, n_layers=2)
    first, second = shared.encoder.blocks
    second.self_attention.query = first.self_attention.query
    with pytest.raises(ValueError, match="add_lora: two parts share a linear map, but LoRA needs each in one place"):
        add_lora(shared)
