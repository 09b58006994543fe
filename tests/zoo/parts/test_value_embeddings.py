"""Value embeddings: a row of a table for each token, added to the values of every layer."""

from dataclasses import replace

import pytest
import torch

from tx_helpers.nn.attention import MultiHeadAttention, eager_attention
from tx_helpers.nn.config import AttentionConfig, EmbeddingConfig, LayerConfig, TransformerConfig
from tx_helpers.nn.models import DecoderOnly
from tx_helpers.zoo.parts.latent import LatentConfig
from tx_helpers.zoo.parts.value_embeddings import ValueEmbeddings

B, T, D, H, G, K, V, L = 2, 5, 12, 4, 2, 3, 7, 3
IDS = torch.arange(B * T).view(B, T) % V


def filled() -> ValueEmbeddings:
    made = ValueEmbeddings(V, L, G * K)
    made.tables.data = torch.arange(V * L * G * K).view(V, -1).float()
    return made


def test_every_layer_has_a_row_for_each_token():
    of_layers = filled()(IDS)
    assert len(of_layers) == L
    for layer, rows in enumerate(of_layers):
        expected = [[[(v * L + layer) * G * K + n for n in range(G * K)] for v in row] for row in IDS.tolist()]
        assert torch.equal(rows, torch.tensor(expected).float())


def test_they_begin_at_zero():
    assert all(not rows.any() for rows in ValueEmbeddings(V, L, G * K)(IDS))


def test_attention_mixes_the_sum_of_both_values():
    """Written out: softmax(q kᵀ/√K) (x W_V + E[id]), with two query heads for each head of values."""
    torch.manual_seed(0)
    attention, x = MultiHeadAttention(D, H, n_kv_heads=G, d_head=K).double(), torch.randn(B, T, D).double()
    more = torch.randn(B, T, G * K).double()

    def heads(y):
        return y.unflatten(-1, (-1, K)).transpose(1, 2)

    q, k, v = heads(attention.query(x)), heads(attention.key(x)), heads(attention.value(x) + more)
    mixed = eager_attention(q, k, v, causal=True).transpose(1, 2).flatten(-2)
    torch.testing.assert_close(attention(x, causal=True, more_values=more), attention.output(mixed))


def test_wrong_arguments_are_named():
    with pytest.raises(ValueError, match="ValueEmbeddings: n_layers=0, expected"):
        ValueEmbeddings(V, 0, 6)
    with pytest.raises(ValueError, match="ValueEmbeddings: ids 7 … 7, but the vocabulary has 7"):
        filled()(torch.full((1, 2), 7))


def test_a_model_without_values_of_one_width_refuses_them():
    config = TransformerConfig(V, D, 2, attention=AttentionConfig(H), embedding=EmbeddingConfig(values=True))
    DecoderOnly(config)
    narrow = LayerConfig(attention=AttentionConfig(H, n_kv_heads=G))
    for changes in (dict(layers=(narrow, LayerConfig())), dict(mixer=LatentConfig(8, 4))):
        with pytest.raises(ValueError, match=r"embedding\.values=True needs attention with values of the same width"):
            DecoderOnly(replace(config, **changes))
