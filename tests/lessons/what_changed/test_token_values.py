"""Value embeddings: a row of a table for each token, added to the values of every layer."""

import pytest
import torch

from tx_helpers.lessons.what_changed.token_values import TokenValueAttention, TokenValues
from tx_helpers.nn.attention import eager_attention
from tx_helpers.nn.config import AttentionConfig, TransformerConfig
from tx_helpers.nn.models import DecoderOnly

B, T, D, H, G, K, V = 2, 5, 12, 4, 2, 3, 7
IDS = torch.arange(B * T).view(B, T) % V


def attention() -> TokenValueAttention:
    torch.manual_seed(0)
    return TokenValueAttention(D, H, n_kv_heads=G, d_head=K, vocab_size=V).double()


def test_they_begin_at_zero_in_every_layer_and_change_nothing():
    config = TransformerConfig(V, D, 2, attention=AttentionConfig(H, n_kv_heads=G))
    torch.manual_seed(0)
    plain = DecoderOnly(config)
    torch.manual_seed(0)
    with_values = DecoderOnly(TransformerConfig(V, D, 2, attention=config.attention, mixer=TokenValues()))
    tables = [block.self_attention.table for block in with_values.decoder.blocks]
    assert [tuple(table.shape) for table in tables] == [(V, G, K)] * 2 and not any(table.any() for table in tables)
    assert torch.equal(with_values(IDS), plain(IDS))


def test_attention_mixes_the_sum_of_both_values():
    """Written out: softmax(q kᵀ/√K) (x W_V + E[id]), with two query heads for each head of values."""
    layer, x = attention(), torch.randn(B, T, D).double()
    layer.table.data = torch.randn(V, G, K).double()
    more = torch.stack([torch.stack([layer.table[token] for token in row]) for row in IDS]).flatten(2)

    def heads(y):
        return y.unflatten(-1, (-1, K)).transpose(1, 2)

    q, k, v = heads(layer.query(x)), heads(layer.key(x)), heads(layer.value(x) + more)
    mixed = eager_attention(q, k, v, causal=True).transpose(1, 2).flatten(-2)
    torch.testing.assert_close(layer(x, ids=IDS, causal=True), layer.output(mixed))


def test_wrong_arguments_are_named():
    with pytest.raises(ValueError, match="TokenValueAttention: vocab_size=0, expected"):
        TokenValueAttention(D, H, vocab_size=0)
    with pytest.raises(ValueError, match="TokenValueAttention: ids 7 … 7, but the vocabulary has 7"):
        attention()(torch.randn(1, 2, D).double(), ids=torch.full((1, 2), 7))
