from typing import NamedTuple

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from parity import B, D, S, T, V, normal, tokens
from tx_helpers.training.losses import language_model_loss, sequence_loss, translation_loss


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_the_loss_is_its_formula_over_what_is_not_padding(smoothing):
    logits, targets = normal(B, T, V), tokens(B, T)
    targets[0, 3:] = 0
    real, total = 0, 0.0
    for b in range(B):
        for t in range(T):
            if targets[b, t] != 0:
                log_p = logits[b, t] - logits[b, t].exp().sum().log()
                wanted = torch.full((V,), smoothing / V, dtype=torch.float64)
                wanted[targets[b, t]] += 1 - smoothing
                real, total = real + 1, total - (wanted * log_p).sum()
    loss = sequence_loss(logits, targets, pad_id=0, label_smoothing=smoothing)
    torch.testing.assert_close(loss, total / real)
    assert not torch.isclose(loss, sequence_loss(logits, targets, label_smoothing=smoothing))


def test_without_pad_id_every_target_counts():
    logits, targets = normal(B, T, V), tokens(B, T, low=0)
    assert torch.equal(sequence_loss(logits, targets), F.cross_entropy(logits.mT, targets))


def test_what_stands_at_padding_changes_neither_loss_nor_gradient():
    targets = tokens(B, T)
    targets[1, 2:] = 0
    gradients = []
    for filler in (0.0, 9.0):
        logits = normal(B, T, V)
        logits[1, 2:] = filler
        logits.requires_grad_()
        sequence_loss(logits, targets, pad_id=0).backward()
        gradients.append(logits.grad)
    assert torch.equal(*gradients)
    assert torch.equal(gradients[0][1, 2:], torch.zeros(T - 2, V, dtype=torch.float64))


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_a_batch_of_padding_alone_costs_nothing_and_changes_nothing(smoothing):
    logits = normal(B, T, V).requires_grad_()
    loss = sequence_loss(logits, torch.zeros(B, T, dtype=torch.long), pad_id=0, label_smoothing=smoothing)
    loss.backward()
    assert loss.item() == 0.0
    assert torch.equal(logits.grad, torch.zeros(B, T, V, dtype=torch.float64))


def test_half_precision_is_summed_in_float32_and_double_stays():
    logits, targets = normal(B, T, V), tokens(B, T)
    half = logits.bfloat16()
    assert torch.equal(sequence_loss(half, targets), sequence_loss(half.float(), targets))
    assert sequence_loss(half, targets).dtype == torch.float32
    assert sequence_loss(logits, targets).dtype == torch.float64


class Translation(NamedTuple):
    source: Tensor
    decoder_input: Tensor
    target: Tensor


class Text(NamedTuple):
    input: Tensor
    target: Tensor


class Translator(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens, self.output = nn.Embedding(V, D), nn.Linear(D, V)

    def forward(self, source, target):
        return self.output(self.tokens(source).mean(1, keepdim=True) + self.tokens(target))


def test_translation_loss_is_teacher_forcing():
    model, batch = Translator(), Translation(tokens(B, S), tokens(B, T, seed=1), tokens(B, T, seed=2))
    batch.target[0, 4:] = 0
    logits = model(batch.source, batch.decoder_input)
    assert torch.equal(translation_loss(model, batch), sequence_loss(logits, batch.target, pad_id=0))
    assert torch.equal(
        translation_loss(model, batch, pad_id=None, label_smoothing=0.1),
        sequence_loss(logits, batch.target, label_smoothing=0.1),
    )


def test_language_model_loss_asks_for_the_next_token():
    model = nn.Sequential(nn.Embedding(V, D), nn.Linear(D, V))
    batch = Text(tokens(B, T, low=0), tokens(B, T, seed=1, low=0))
    assert torch.equal(language_model_loss(model, batch), sequence_loss(model(batch.input), batch.target))


def test_the_loss_refuses():
    with pytest.raises(ValueError) as error:
        sequence_loss(normal(B, T, V), tokens(B, S))
    assert str(error.value) == (
        "sequence_loss: logits (2, 5, 11) do not fit targets (2, 7): expected (B, T, V) and (B, T)"
    )
    with pytest.raises(ValueError) as error:
        sequence_loss(normal(1, 2, V), torch.tensor([[3, V]]))
    assert str(error.value) == "sequence_loss: targets 3 … 11, expected 0 … 10, since the logits are over 11 tokens"
