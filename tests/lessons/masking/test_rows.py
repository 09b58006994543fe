"""Packed rows against separate passes, attention in blocks against one table, operations against a formula."""

import pytest
import torch

from tx_helpers.lessons.masking.rows import in_prefixes, operations, read_row, windowed_in_blocks, without_mask
from tx_helpers.nn.attention import eager_attention
from tx_helpers.nn.config import PositionConfig, TransformerConfig
from tx_helpers.nn.masks import causal_mask, sliding_window_mask
from tx_helpers.nn.models import DecoderOnly


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(0)
    return DecoderOnly(TransformerConfig(11, d_model=12)).double().eval()


def test_a_packed_row_gives_each_text_what_it_gets_alone(model):
    texts = [torch.tensor([3, 5, 1]), torch.tensor([7, 1]), torch.tensor([2, 2, 9, 1])]
    documents = torch.tensor([0, 0, 0, 1, 1, 2, 2, 2, 2])
    row = {
        "ids": torch.cat(texts),
        "positions": torch.tensor([0, 1, 2, 0, 1, 0, 1, 2, 3]),
        "mask": causal_mask(9) & (documents[:, None] == documents),
    }
    alone = torch.cat([model(text[None])[0] for text in texts])
    torch.testing.assert_close(read_row(model, row), alone, atol=1e-12, rtol=0)
    assert (read_row(model, row | {"mask": causal_mask(9)}) - alone).abs().max() > 1e-2
    assert (read_row(model, row | {"positions": torch.arange(9)}) - alone).abs().max() > 1e-2


def test_a_model_with_positions_inside_attention_is_refused():
    rotary = DecoderOnly(TransformerConfig(11, d_model=16, positions=PositionConfig("rotary")))
    with pytest.raises(ValueError, match="positions are inside attention"):
        read_row(rotary, {})


def test_prefixes_end_as_one_pass_does_and_without_a_mask_they_do_not(model):
    ids = torch.tensor([[3, 5, 1, 7, 2]])
    torch.testing.assert_close(in_prefixes(model, ids), model(ids)[0], atol=1e-12, rtol=0)
    assert ((without_mask(model, ids) - model(ids)[0]).abs().amax(-1) > 1e-3).all()


@pytest.mark.parametrize(("T", "window"), [(12, 4), (13, 4), (5, 7), (6, 1)])
def test_a_window_in_blocks_equals_the_masked_table(T, window):
    q, k, v = torch.randn(3, 2, 3, T, 4, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    expected = eager_attention(q, k, v, mask=sliding_window_mask(T, window=window))
    torch.testing.assert_close(windowed_in_blocks(q, k, v, window), expected)


def test_operations_are_those_of_the_two_products():
    q = torch.zeros(1, 2, 8, 3)
    assert operations(lambda: eager_attention(q, q, q)) == 2 * (2 * 2 * 8 * 8 * 3)
    assert operations(lambda: windowed_in_blocks(q, q, q, 2)) == 2 * (2 * 2 * 3) * (2 * 2 + 3 * 2 * 4)
