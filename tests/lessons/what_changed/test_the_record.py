"""The record: its model, nanoGPT's beside it, and what is recorded of both. No test needs the text itself."""

import math

import pytest
import torch
from torch import nn

from tx_helpers.lessons.what_changed import record, record_runs
from tx_helpers.lessons.what_changed.record import RECORD, batches_of, optimizers_of, record_model, verdict

TEXT = record.record_text("the quick brown fox jumps over the lazy dog. " * 150)
MODELS = {"lean": record_runs.Lean, "nanoGPT": record_runs.Nano}


@pytest.mark.parametrize("name", MODELS)
def test_the_models_are_as_large_as_nanogpts_for_a_cpu_and_see_no_future(name):
    """About 0.8 million parameters: 4 layers of width 128, with the 65 characters of tinyshakespeare."""
    torch.manual_seed(0)
    model = MODELS[name](65)
    assert 0.80e6 < sum(p.numel() for p in model.parameters()) < 0.81e6
    for parameter in model.parameters():
        if parameter.dim() > 1:
            nn.init.normal_(parameter, std=0.1)
    ids = torch.randint(65, (2, 12))
    changed = ids.clone()
    changed[:, 7:] = (ids[:, 7:] + 1) % 65
    before, after = model(ids), model(changed)
    assert torch.equal(before[:, :7], after[:, :7])
    assert not torch.allclose(before[:, 7], after[:, 7])
    assert not torch.allclose(before[:, 6], model(ids.roll(1, 0))[:, 6]), "and each row is another text"


def test_the_untrained_lean_model_finds_all_characters_equally_likely():
    loss = record_runs.mean_loss(record_runs.Lean(65), TEXT.validation, 64)
    assert loss == pytest.approx(math.log(65))


def test_lean_code_computes_what_plain_code_does():
    """Attention with QK-norm, turned by the position, in 32 bits; bfloat16 keeps 8 bits of it."""
    torch.manual_seed(1)
    model, length = record_runs.Lean(65), 9
    y, weights = torch.randn(length, 128), torch.randn(3 * 128, 128) * 0.1
    lean = model.attend(y.bfloat16(), weights.bfloat16(), 1, length).float()
    q, k, v = (y @ weights.T).view(length, 3, 4, 32).permute(1, 2, 0, 3)
    q, k = (_turned(nn.functional.layer_norm(x, (32,))) for x in (q, k))
    plain = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    assert torch.allclose(lean, plain.transpose(0, 1).reshape(length, 128), atol=0.05)


def _turned(x):
    angles = torch.arange(x.shape[1])[:, None] * 1000.0 ** (-torch.arange(0, 32, 2) / 32)
    a, b = x[..., ::2], x[..., 1::2]
    return torch.stack([a * angles.cos() - b * angles.sin(), a * angles.sin() + b * angles.cos()], -1).flatten(-2)


def test_all_matrices_of_a_stack_are_orthogonalised():
    values = torch.linalg.svdvals(record_runs.orthogonal(torch.randn(3, 16, 64)))
    assert values.min() > 0.6 and values.max() < 1.3


def test_relu_squared_has_the_right_gradient():
    hidden = torch.tensor([-1.0, 0.5, 3.0], requires_grad=True)
    record_runs.SquaredReLU.apply(hidden).sum().backward()
    assert hidden.grad.tolist() == [0.0, 1.0, 6.0]


@pytest.mark.parametrize("name", MODELS)
def test_a_recipe_trains(name):
    train_one, _, length = record_runs.RECIPES[name]
    ids = TEXT.train
    attempt = train_one(ids, TEXT.vocab_size, seed=0, steps=10)
    assert len(attempt.losses) == 10 and attempt.losses[-1] < attempt.losses[0]
    assert record_runs.mean_loss(attempt.model, TEXT.validation, length) == pytest.approx(attempt.losses[-1], abs=1.0)
    assert attempt.processor_seconds > 0 and attempt.wall_seconds > 0
    assert train_one(ids, TEXT.vocab_size, seed=0, steps=10).losses == attempt.losses


def test_the_loss_counts_each_character_but_the_first_once():
    class Counts(nn.Module):
        seen = 0

        def forward(self, ids):
            self.seen += ids.numel()
            return torch.zeros(*ids.shape, 65)

    model, ids = Counts(), torch.randint(65, (100,))
    assert record_runs.mean_loss(model, ids, 32) == pytest.approx(math.log(65))
    assert model.seen == 99


def test_a_training_is_written_into_its_row_once():
    table, model = {"about": {"headline": 1.4697}, "record": []}, nn.Linear(2, 1, bias=False)
    for seed, name, loss, seconds in ((0, "lean", 1.46789, 120.04), (1, "lean", 1.5, 120), (0, "nanoGPT", 1.9, 60)):
        attempt = record_runs.Attempt(model, seconds, 130.0, [3.0] * 10)
        record_runs.add(record_runs.row_of(table, name), seed, loss, attempt)
    row = {"name": "lean", "seeds": [0, 1], "loss": [1.4679, 1.5], "processor_seconds": [120.0, 120]}
    assert table["record"][0] == row | {"wall_seconds": [130.0, 130.0], "steps": 10, "parameters": 2}
    assert record.ratio(table) == 2
    assert verdict(table) == "below 1.4697 for 1 of 2 seeds"


def test_the_recorded_losses_are_below_nanogpts_headline_for_every_seed():
    table = record.recorded()
    ours, theirs = record.row_of(table, "lean"), record.row_of(table, "nanoGPT")
    assert ours["seeds"] == theirs["seeds"] == [0, 1, 2]
    assert (ours["steps"], theirs["steps"]) == (record_runs.LEAN_STEPS, record_runs.NANO_STEPS)
    assert max(ours["loss"]) < table["about"]["headline"] == record.HEADLINE
    assert record.ratio(table) < 2.5
    assert min(theirs["loss"]) > 1.85, "over the full split nanoGPT's recipe is at 1.9"
    for row in (ours, theirs):
        spent = zip(row["wall_seconds"], row["processor_seconds"], strict=True)
        assert all(wall > 0.9 * processor for wall, processor in spent)
    assert {"chosen on", "date", "torch", "threads"} <= set(table["about"])


def test_windows_grow_with_the_steps():
    batches = batches_of(RECORD, TEXT.train, 100)
    shapes = [tuple(batches(step).input.shape) for step in (0, 39, 40, 69, 70, 89, 90, 99)]
    assert shapes == [(12, 64)] * 2 + [(6, 128)] * 2 + [(4, 256)] * 2 + [(2, 512)] * 2


def test_in_the_packages_layers_muon_has_the_matrices_of_the_blocks_and_the_rest_no_decay():
    model = record_model(RECORD, 65)
    matrices, rest = optimizers_of(RECORD, model)
    assert not model.output.weight.any()
    assert type(matrices).__name__ == "Muon"
    assert {group["weight_decay"] for group in rest.param_groups} == {0.0}
    assert record.schedule_of(6000)(5999) < 0.001
