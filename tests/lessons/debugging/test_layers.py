"""Layer by layer: what is measured in the blocks, and its two charts."""

import pytest
import torch

from tx_helpers.lessons.debugging.layers import Layers, dead_units, draw_layers, layer_by_layer
from tx_helpers.plain import Transformer
from tx_helpers.text.data import sequence_batch, word_pairs

DATA = word_pairs([("one two", "eins zwei"), ("two", "zwei")])
BATCH = sequence_batch(DATA.pairs)


def test_a_larger_start_has_larger_outputs_and_leaves_the_random_state_alone():
    state = torch.get_rng_state()
    usual, large = (layer_by_layer(DATA, BATCH, factor, n_layers=3) for factor in (1, 10))
    assert torch.equal(torch.get_rng_state(), state)
    assert len(usual.outputs) == len(usual.gradients) == 3
    assert large.outputs[-1] > 20 * usual.outputs[-1] and usual == layer_by_layer(DATA, BATCH, 1, n_layers=3)


def test_the_charts_say_what_was_measured():
    drawn = draw_layers({10: Layers([140.0, 420.0], [30.0, 0.1])})
    assert drawn.alt == "start × 10: outputs 140 to 420, largest gradient / smallest 300."
    assert drawn.svg.count("<circle") == 4


def test_a_unit_is_dead_if_it_is_0_for_every_word():
    model = Transformer(6, 6)
    layers = [layer for name, layer in model.named_modules() if name.endswith("feed_forward.expand")]
    with torch.no_grad():
        for layer in layers:
            layer.bias.fill_(100.0)
    assert dead_units(model, BATCH) == 0
    with torch.no_grad():
        layers[0].bias[: len(layers[0].bias) // 2] = -100.0
    assert dead_units(model, BATCH) == pytest.approx(0.5 / len(layers))
    assert not any(layer._forward_hooks for layer in layers)


def test_what_layers_refuse():
    with pytest.raises(ValueError, match="dead_units: Linear has no layer named"):
        dead_units(torch.nn.Linear(1, 1), BATCH)
    with pytest.raises(ValueError, match="layer_by_layer: factor=0, expected more than 0"):
        layer_by_layer(DATA, BATCH, 0)
    with pytest.raises(ValueError, match="draw_layers: layers is empty"):
        draw_layers({})
