"""The parts of a block beside attention: feed-forward networks and RMSNorm.

Left out on purpose: LayerNorm, linear maps and embeddings are PyTorch's own, and so is what dropout does.
"""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tx_helpers.nn.arguments import check_numbers, check_one_of, check_tensors
from tx_helpers.nn.observe import observe


def squared_relu(x: Tensor) -> Tensor:
    """max(0, x)². Source: So et al. 2021 (Primer)."""
    positive = F.relu(x)
    return positive * positive  # a product has a cheaper gradient than a power


def tanh_gelu(x: Tensor) -> Tensor:
    """GELU by its tanh approximation, as GPT-2 and T5 v1.1 use it. Source: Hendrycks and Gimpel 2016."""
    return F.gelu(x, approximate="tanh")


ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": F.relu,
    "relu2": squared_relu,
    "gelu": F.gelu,
    "gelu_tanh": tanh_gelu,
    "silu": F.silu,
    "sigmoid": torch.sigmoid,
}


class Dropout(nn.Dropout):
    """PyTorch's dropout, without the cost of a call in evaluation, which a model pays for every token it generates."""

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x) if self.training else x


class FeedForward(nn.Module):
    """FFN(x) = f(x W₁ + b₁) W₂ + b₂, the same at every position. (B, T, D) -> (B, T, D)

    d_ff is F, usually 4 D; f is ReLU in Vaswani et al. 2017, eq. 2.
    """

    def __init__(self, d_model: int, d_ff: int, *, activation: str = "relu", bias: bool = True, dropout: float = 0.0):
        super().__init__()
        _check_options("feed-forward", d_model, d_ff, activation, dropout)
        self.activation = ACTIVATIONS[activation]
        self.expand = nn.Linear(d_model, d_ff, bias=bias)
        self.contract = nn.Linear(d_ff, d_model, bias=bias)
        self.dropout = Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        _check_width("feed-forward", x, self.expand.in_features)
        hidden = observe("activation", self.activation(self.expand(x)))  # (B, T, D) -> (B, T, F)
        return observe("output", self.contract(self.dropout(hidden)))


class GatedFeedForward(nn.Module):
    """(f(x W_g) ⊙ x W₁) W₂: one branch decides how much of the other passes. (B, T, D) -> (B, T, D)

    f = SiLU: SwiGLU; GELU: GEGLU; ReLU: ReGLU; sigmoid: the original GLU. Source: Shazeer 2020, eq. 5 and 6.
    """

    def __init__(self, d_model: int, d_ff: int, *, activation: str = "silu", bias: bool = False, dropout: float = 0.0):
        super().__init__()
        _check_options("gated feed-forward", d_model, d_ff, activation, dropout)
        self.activation = ACTIVATIONS[activation]
        self.gate = nn.Linear(d_model, d_ff, bias=bias)
        self.expand = nn.Linear(d_model, d_ff, bias=bias)
        self.contract = nn.Linear(d_ff, d_model, bias=bias)
        self.dropout = Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        _check_width("gated feed-forward", x, self.expand.in_features)
        hidden = observe("activation", self.activation(self.gate(x)) * self.expand(x))  # (B, T, D) -> (B, T, F)
        return observe("output", self.contract(self.dropout(hidden)))


class RMSNorm(nn.Module):
    """x / √(mean(x²) + ε) · g: LayerNorm without the mean and without the bias. (…, D) -> (…, D)

    g is the `weight`, as in `nn.RMSNorm`. With plus_one it is 1 + weight, as in Gemma: then weight decay draws the gain
    towards 1. The mean is computed in float32 or better.
    Source: Zhang and Sennrich 2019, eq. 4.
    """

    def __init__(self, dim: int, *, eps: float = 1e-6, plus_one: bool = False):
        super().__init__()
        check_numbers("RMSNorm", least=1, whole=True, dim=dim)
        check_numbers("RMSNorm", least=0, eps=eps)
        self.eps, self.plus_one = eps, plus_one
        self.weight = nn.Parameter(torch.zeros(dim) if plus_one else torch.ones(dim))

    def forward(self, x: Tensor) -> Tensor:
        _check_width("RMSNorm", x, self.weight.shape[0])
        wide = x.to(torch.promote_types(x.dtype, torch.float32))  # squares would overflow in float16
        normed = wide * torch.rsqrt((wide * wide).mean(-1, keepdim=True) + self.eps)
        gain = 1.0 + self.weight.to(wide.dtype) if self.plus_one else self.weight
        return (normed * gain).to(x.dtype)


def _check_options(operation: str, d_model: int, d_ff: int, activation: str, dropout: float) -> None:
    check_numbers(operation, least=1, whole=True, d_model=d_model, d_ff=d_ff)
    check_one_of(operation, ACTIVATIONS, activation=activation)
    check_numbers(operation, least=0, most=1, dropout=dropout)


def _check_width(operation: str, x: Tensor, width: int) -> None:
    if not isinstance(x, Tensor) or x.shape[-1:] != (width,) or not x.is_floating_point():
        check_tensors(operation, x=(x, f"float … {width}"))
