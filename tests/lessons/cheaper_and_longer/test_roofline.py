"""The roofline: formulas of operations and bytes, and orders that hold on every machine."""

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from tx_helpers.lessons.cheaper_and_longer.cache_bytes import Intensity
from tx_helpers.lessons.cheaper_and_longer.roofline import (
    Row,
    adamw_cost,
    attention_cost,
    big_decoder,
    decoder_cost,
    matmul_cost,
    measure_cases,
    roofline_picture,
)
from tx_helpers.nn.models import count_parameters
from tx_helpers.show.plots import Picture
from tx_helpers.training.machine_speed import Machine, measure_machine
from tx_helpers.zoo.parts.flash import Blocks
from wrong_arguments import faults


def test_costs_by_hand():
    assert matmul_cost(2, 3, 5) == Intensity(60, 4 * (6 + 15 + 10))
    assert attention_cost(3, 5, 2, heads=7) == Intensity(7 * 4 * 30, 7 * 4 * (4 * 15 + 2 * 8 * 2))
    assert adamw_cost(10) == Intensity(140, 280)


def test_a_square_product_gets_denser_and_a_vector_does_not():
    assert [matmul_cost(n, n, n).per_byte for n in (6, 60, 600)] == pytest.approx([1, 10, 100])
    assert all(matmul_cost(n, n, 1).per_byte < 0.5 for n in (10, 1000))


def test_blocks_move_less_for_the_same_operations():
    written = attention_cost(1024, 1024, 32)
    blocks = attention_cost(1024, 1024, 32, blocks=Blocks(64, 256))
    assert blocks.operations == written.operations and blocks.per_byte > 5 * written.per_byte


@pytest.mark.parametrize("before", [0, 7])
def test_the_operations_of_a_decoder_are_those_that_pytorch_counts(before):
    model = big_decoder(width=128, layers=3)
    state = model.start(2, cached=True)
    if before:
        state.step(torch.ones(2, before, dtype=torch.long))
    with FlopCounterMode(display=False) as counted:
        state.step(torch.ones(2, 5, dtype=torch.long))
    cost = decoder_cost(model.config, new=5, before=before, rows=2)
    scores = 2 * 3 * 2 * 5 * (before + 5)  # rows, layers, heads, queries, keys: PyTorch leaves them out here
    assert cost.operations == counted.get_total_flops() + 4 * 64 * scores
    cache = 2 * 3 * 2 * 128 * (before + 5)
    norms = sum(parameter.numel() for parameter in model.parameters() if parameter.dim() == 1)
    assert cost.bytes_read == 4 * (count_parameters(model) - norms + cache)


def test_decoding_moves_all_weights_for_each_token():
    config = big_decoder(width=128, layers=1).config
    prefill, decode = decoder_cost(config, new=256), decoder_cost(config, new=1, before=256)
    assert prefill.per_byte > 50 * decode.per_byte
    assert 0.3 < decode.per_byte <= 0.51
    assert (
        decoder_cost(config, new=1, before=16, rows=32).per_byte > 5 * decoder_cost(config, new=1, before=16).per_byte
    )


@pytest.mark.slow
def test_the_cases_are_measured_and_their_order_holds():
    rows = {row.name: row for row in measure_cases(measure_machine(megabytes=16, rounds=3), rounds=2)}
    assert len(rows) == 7 and all(row.measured > 0 and row.predicted > 0 for row in rows.values())
    dense, vector = rows["matrix · matrix"], rows["matrix · vector"]
    assert dense.reached > 2 * vector.reached  # some 20 times here
    assert rows["prefill, 256 tokens"].measured > 2 * rows["decode, one token"].measured  # 256 times the work


def test_wrong_arguments_are_named():
    assert faults(matmul_cost, dict(n=2, m=3, p=5)) == []
    assert faults(decoder_cost, dict(config=big_decoder(width=64, layers=1).config, new=2, before=3, rows=1)) == []
    assert faults(attention_cost, dict(T=2, S=3, K=5, heads=1)) == []


MACHINE = Machine(1e11, 2e10)  # the ridge is at 5 operations for each byte
ROWS = [
    Row("a product", Intensity(10**9, 10**7), 0.01, 0.02),
    Row("a copy <b>", Intensity(10**6, 10**7), 0.0005, 0.001),
]


def test_the_picture_and_its_words():
    picture = roofline_picture(MACHINE, ROWS)
    assert isinstance(picture, Picture) and picture.png().startswith(b"\x89PNG")
    assert "Limited by memory: a copy <b>. Limited by multiplications: a product." in picture.alt
    axis = picture.figure.axes[0]
    roof, *points, ridge = axis.get_lines()
    assert list(roof.get_ydata()) == [MACHINE.roof(x) / 1e9 for x in roof.get_xdata()]
    assert [tuple(point.get_xydata()[0]) for point in points] == [(100, 50), (0.1, 1)]
    assert ridge.get_xdata()[0] == 5
    assert "Limited by memory: none." in roofline_picture(MACHINE, ROWS[:1]).alt
