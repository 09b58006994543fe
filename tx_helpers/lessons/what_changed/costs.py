"""What a recipe of the ladder costs, by formula: FLOPs of training, and bytes of the cache.

    forward and backward   `training.costs.flops`
    Muon, a step           5 iterations of 4 r² c + 2 r³ for each matrix of r ≤ c

A product of (a, b) and (b, c) has 2abc FLOPs: a multiplication and an addition each. As in PyTorch's flop counter,
which a test compares, only products of matrices count, and attention counts all T × T scores. What is not counted
(norms, activations, rotation, look-ups) takes time all the same: that is why the ladder also weighs by seconds.
"""

from dataclasses import replace

import torch

from tx_helpers.lessons.what_changed.ladder import CONTEXT, ROWS, Recipe
from tx_helpers.nn.config import TransformerConfig
from tx_helpers.nn.models import DecoderOnly
from tx_helpers.training.costs import block_matrices, cache_width, flops

NEWTON_SCHULZ = 5  # iterations of `optimizers.orthogonalise`


def muon_flops(config: TransformerConfig) -> int:
    """Of one step: Newton–Schulz on every matrix of every block."""
    total = 0
    for shape in block_matrices(config):
        r, c = sorted(shape)
        total += NEWTON_SCHULZ * (4 * r * r * c + 2 * r**3)
    return config.n_layers * total


def step_flops(recipe: Recipe, vocab_size: int, *, T: int = CONTEXT, rows: int = ROWS) -> int:
    """Of one training step: forward, backward, and the optimizer's products of matrices."""
    with torch.device("meta"):  # shapes without numbers
        model = DecoderOnly(replace(recipe.config, vocab_size=vocab_size))
    return flops(model, rows, T) + (muon_flops(recipe.config) if recipe.optimizer == "muon" else 0)


def flops_per_token(recipe: Recipe, vocab_size: int) -> float:
    """Of training, with the optimizer's share."""
    return step_flops(recipe, vocab_size) / (ROWS * CONTEXT)


def cache_bytes_per_token(config: TransformerConfig, bytes_each: int = 2) -> int:
    """Keys and values of one position in all layers; 2 bytes each, as in bfloat16."""
    return config.n_layers * cache_width(config) * bytes_each
