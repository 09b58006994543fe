"""Networks that learn to multiply: what is asked, equal sizes, and that a gate or a square helps."""

import torch
import torch.nn.functional as F

from tx_helpers.lessons.what_changed.products import SHAPES, learn_products, products


def test_the_target_is_the_product_of_pairs():
    x = torch.arange(32.0).view(2, 16)
    assert products(x)[0].tolist() == [n * (n + 8) for n in range(8)]


def test_all_networks_have_the_same_parameters():
    assert {sum(rows * columns for rows, columns in shapes) for shapes in SHAPES.values()} == {1440}


def test_a_gate_and_a_square_explain_more_than_a_relu():
    relu = learn_products(lambda x, up, down: (x @ up).relu() @ down, SHAPES["ReLU"], seed=1)
    square = learn_products(lambda x, up, down: (x @ up).relu().square() @ down, SHAPES["ReLU²"], seed=1)
    gated = learn_products(lambda x, gate, up, down: (F.silu(x @ gate) * (x @ up)) @ down, SHAPES["gated"], seed=1)
    assert 0.7 < relu < min(square, gated) < 1
