"""What some models have around their output layer, as parts for `EmbeddingConfig(output=…)`.

Each is, or makes, a function of the last hidden states (B, T, D) and the output layer that returns logits (B, T, V).
"""

import math
from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor, nn

from tx_helpers.nn.arguments import check_numbers, check_one_of
from tx_helpers.nn.building import new_norm
from tx_helpers.nn.config import TransformerConfig
from tx_helpers.nn.layers import ACTIVATIONS
from tx_helpers.nn.parts import Output
from tx_helpers.zoo.parts.softmaxes import soft_cap


@dataclass(frozen=True)
class BiasedOutput(Output):
    """The output layer has a bias, as in BART."""

    bias: ClassVar[bool] = True

    def __call__(self, hidden: Tensor, output: nn.Module) -> Tensor:
        return output(hidden)


@dataclass(frozen=True)
class ScaledOutput(Output):
    """The last hidden states times a factor: D^−½ in T5."""

    factor: float

    def __post_init__(self) -> None:
        check_numbers("ScaledOutput", factor=self.factor)

    def __call__(self, hidden: Tensor, output: nn.Module) -> Tensor:
        return output(hidden * self.factor)


@dataclass(frozen=True)
class CappedOutput(Output):
    """The logits stay between ±cap, as in Gemma 2."""

    cap: float

    def __post_init__(self) -> None:
        check_numbers("CappedOutput", above=0, less_than=math.inf, cap=self.cap)

    def __call__(self, hidden: Tensor, output: nn.Module) -> Tensor:
        return soft_cap(output(hidden), self.cap)


@dataclass(frozen=True)
class TransformedOutput(Output):
    """`Transform` before the output layer, which has a bias, as in BERT."""

    activation: str
    bias: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_one_of("TransformedOutput", ACTIVATIONS, activation=self.activation)

    def new(self, config: TransformerConfig) -> "Transform":
        return Transform(config.d_model, self.activation, new_norm(config))


class Transform(nn.Module):
    """The output layer of norm(f(x W + b)), as in BERT. (B, T, D) -> (B, T, V)"""

    def __init__(self, d_model: int, activation: str, norm: nn.Module):
        super().__init__()
        self.dense = nn.Linear(d_model, d_model)
        self.activation = ACTIVATIONS[activation]
        self.norm = norm

    def forward(self, hidden: Tensor, output: nn.Module) -> Tensor:
        return output(self.norm(self.activation(self.dense(hidden))))
