"""Layer by layer: the outputs of a translator's blocks, the gradients that arrive there, and which units are dead.

layers = {factor: layer_by_layer(data, batch, factor) for factor in (0.1, 1, 10)}
draw_layers(layers)
"""

from collections.abc import Mapping
from typing import NamedTuple

import torch
from torch import nn

from tx_helpers.nn.arguments import check_numbers, check_types
from tx_helpers.nn.models import EncoderDecoder
from tx_helpers.show.charts import line_chart, side_by_side
from tx_helpers.show.plots import Svg
from tx_helpers.text.data import PairData, SequenceBatch
from tx_helpers.training.losses import translation_loss
from tx_helpers.zoo.recipes import translator_config


class Layers(NamedTuple):
    """For each decoder block the deviation of its output, and the norm of the gradient of all its parameters."""

    outputs: list[float]
    gradients: list[float]

    @property
    def spread(self) -> float:
        """The largest gradient as a multiple of the smallest."""
        return max(self.gradients) / min(self.gradients)


def layer_by_layer(data: PairData, batch: SequenceBatch, factor: float, *, n_layers: int = 8, seed: int = 0) -> Layers:
    """One forward and backward pass of a fresh translator; the matrices in its blocks are `factor` times as large."""
    check_types("layer_by_layer", PairData, data=data)
    check_numbers("layer_by_layer", above=0, factor=factor)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = EncoderDecoder(translator_config(data, n_layers=n_layers))
    outputs: list[float] = []
    for block in model.decoder.blocks:
        block.register_forward_hook(lambda block, inputs, output: outputs.append(output.std().item()))
    with torch.no_grad():
        for name, weight in model.named_parameters():
            weight.mul_(factor if weight.dim() == 2 and ".blocks." in name else 1)
    translation_loss(model, batch).backward()
    squares = [
        sum(float(weight.grad.square().sum()) for weight in block.parameters()) for block in model.decoder.blocks
    ]
    return Layers(outputs, [square**0.5 for square in squares])


def dead_units(model: nn.Module, batch: SequenceBatch) -> float:
    """The share of hidden units, over all layers named `feed_forward.expand`, that are 0 or below for every word."""
    check_types("dead_units", SequenceBatch, batch=batch)
    alive: list[torch.Tensor] = []
    layers = [layer for name, layer in model.named_modules() if name.endswith("feed_forward.expand")]
    if not layers:
        raise ValueError(f"dead_units: {type(model).__name__} has no layer named feed_forward.expand")
    hooks = [
        layer.register_forward_hook(lambda layer, inputs, units: alive.append((units > 0).flatten(0, 1).any(0)))
        for layer in layers
    ]
    with torch.no_grad():
        model(batch.source, batch.decoder_input)
    for hook in hooks:
        hook.remove()
    return 1 - torch.cat(alive).double().mean().item()


def draw_layers(layers: Mapping[float, Layers]) -> Svg:
    """Two charts over the blocks, with a line for each start: factor -> what was measured."""
    check_types("draw_layers", Mapping, layers=layers)
    panels = [
        line_chart(
            {f"start × {factor}": (range(1, 1 + len(one[place])), one[place]) for factor, one in layers.items()},
            size=(370, 270),
            title=title,
            xlabel="decoder block",
            ylabel="(log scale)",
            ylim=limits,
            logy=True,
            dots=True,
        )
        for place, title, limits in (
            (0, "Deviation of the output", (0.5, 10_000)),
            (1, "Norm of the gradient", (0.05, 10_000)),
        )
    ]
    told = [
        f"start × {factor}: outputs {one.outputs[0]:.0f} to {one.outputs[-1]:.0f}, "
        f"largest gradient / smallest {one.spread:.0f}"
        for factor, one in layers.items()
    ]
    return side_by_side(panels, alt="; ".join(told) + ".")
