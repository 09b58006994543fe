"""What the lesson's small models share: their blocks, and a training on new examples at each step."""

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from tx_helpers.nn.attention import MultiHeadAttention
from tx_helpers.nn.blocks import Block
from tx_helpers.nn.layers import FeedForward
from tx_helpers.training.loop import fit
from tx_helpers.training.optimizers import adamw, linear_warmup_decay

Model = TypeVar("Model", bound=nn.Module)


def small_blocks(d_model: int, n_layers: int, *, n_heads: int = 4, d_ff: int | None = None) -> nn.ModuleList:
    """Pre-norm blocks, (B, T, D) -> (B, T, D): LayerNorm, GELU, 2 D hidden units where d_ff says no other number."""
    return nn.ModuleList(
        Block(
            MultiHeadAttention(d_model, n_heads),
            FeedForward(d_model, d_ff or 2 * d_model, activation="gelu"),
            partial(nn.LayerNorm, d_model),
        )
        for _ in range(n_layers)
    )


def train_on_new(
    model: Model,
    draw: Callable[[torch.Generator], Any],
    *,
    loss: Callable[[Model, Any], Tensor],
    steps: int,
    rate: float,
    seed: int,
) -> Model:
    """Train on examples that `draw` makes anew at each step, with a warm-up of a tenth and a fall to 0. -> the model"""
    fit(
        model,
        lambda step: draw(torch.Generator().manual_seed(1_000_003 * (1 + seed) + step)),
        steps=steps,
        loss=loss,
        optimizer=adamw(model, rate),
        schedule=linear_warmup_decay(steps, warmup=max(1, steps // 10)),
        progress=False,
    )
    return model.eval()
