"""What stands around the output layer, by its formula."""

import pytest
import torch

from parity import B, D, T, normal
from toy_models import close, model
from tx_helpers.nn.config import EmbeddingConfig
from tx_helpers.nn.models import DecoderOnly
from tx_helpers.zoo.parts.outputs import BiasedOutput, CappedOutput, ScaledOutput, TransformedOutput

HIDDEN = normal(B, T, D)


def logits(part) -> tuple[DecoderOnly, torch.Tensor]:
    made = model(DecoderOnly, embedding=EmbeddingConfig(output=part))
    return made, made.logits(HIDDEN)


def test_the_logits_are_those_of_the_formula():
    made, found = logits(BiasedOutput())
    close(found, HIDDEN @ made.output.weight.T + made.output.bias)
    made, found = logits(ScaledOutput(0.25))
    close(found, 0.25 * HIDDEN @ made.output.weight.T)
    made, found = logits(CappedOutput(1.5))
    close(found, 1.5 * torch.tanh(HIDDEN @ made.output.weight.T / 1.5))
    made, found = logits(TransformedOutput("relu"))
    dense, norm = made.transform.dense, made.transform.norm
    close(found, norm((HIDDEN @ dense.weight.T + dense.bias).relu()) @ made.output.weight.T + made.output.bias)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ScaledOutput("0.5"), "ScaledOutput: factor is '0.5', expected a number"),
        (lambda: CappedOutput(0), "CappedOutput: cap=0, expected more than 0"),
        (lambda: TransformedOutput("mish"), "TransformedOutput: activation='mish', expected one of re"),
    ],
)
def test_wrong_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
