"""A row of weights: rounded as `quantise` does, and an outlier makes the steps of all four times as wide."""

import pytest
import torch

from tx_helpers.lessons.cheaper_and_longer.weight_row import describe_weight_row, draw_weight_row, weight_rows

ROW = torch.tensor([0.7, -0.33, 0.1, 0.0])


def test_an_outlier_widens_the_steps_of_all():
    lines = weight_rows(ROW)
    assert [line[2] for line in lines.values()] == pytest.approx([0.7 / 127, 0.1, 0.4])
    assert lines["4 bits"][1].tolist() == pytest.approx([0.7, -0.3, 0.1, 0.0])
    assert lines["4 bits, outlier"][1].tolist() == pytest.approx([0.8, -0.4, 0.0, 0.0, 2.8])


def test_the_drawing_has_each_weight_twice_and_tells_how_far_it_moves():
    drawn = draw_weight_row(ROW)
    assert repr(drawn) == describe_weight_row(ROW) or describe_weight_row(ROW) in drawn.svg + drawn.alt
    assert drawn.svg.count("<circle") == 3 * 2 * len(ROW)
    assert "4 bits: moved by 1.1% on average, 4 different values" in describe_weight_row(ROW)
    assert "4 bits, outlier: moved by 9.6% on average, 3 different values" in describe_weight_row(ROW)
    with pytest.raises(ValueError, match="row"):
        draw_weight_row(ROW[None])
