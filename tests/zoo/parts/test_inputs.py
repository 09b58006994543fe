"""Token shift and BERT's input, by their formulas."""

import math

import pytest
import torch
from torch import nn

from parity import B, D, S, T, V, randomise, tokens
from tx_helpers.nn.capture import capture
from tx_helpers.nn.positions import LearnedPositions
from tx_helpers.zoo.parts.inputs import NormedEmbedding, NormedInput, ShiftedEmbedding, TokenShift


def shifted(**options) -> ShiftedEmbedding:
    return randomise(ShiftedEmbedding(nn.Embedding(V, D), LearnedPositions(S, D), **options).double())


def normed(**options) -> NormedEmbedding:
    parts = nn.Embedding(V, D), LearnedPositions(S, D)
    return randomise(NormedEmbedding(*parts, norm=nn.LayerNorm(D), **options).double())


@pytest.mark.parametrize("start", [0, 1, 3])
def test_with_token_shift_the_previous_tokens_are_added(start):
    """Below position n there is nothing n places before: each row counts for itself. The second begins with padding."""
    ids, padding = tokens(B, T), 2
    positions = torch.stack([torch.arange(T), torch.arange(T).sub(padding).clamp(min=0)])
    layer = shifted(shift=2, scale=True)
    expected = layer.tokens.weight[ids] * math.sqrt(D) + layer.positions.table.weight[positions]
    for row, first in ((0, 0), (1, padding)):
        for t in range(T):
            for n in (1, 2):
                if t - first >= n:
                    expected[row, t] += layer.token_shift[n - 1] * layer.tokens.weight[ids[row, t - n]]
    out = layer(ids, positions[:, start:], start)
    torch.testing.assert_close(out, expected[:, start:], rtol=1e-12, atol=1e-12)


def test_the_token_shift_starts_at_zero():
    assert torch.equal(ShiftedEmbedding(nn.Embedding(V, D), shift=3).token_shift, torch.zeros(3, D))


def test_bert_s_embedding_is_the_norm_of_the_sum():
    ids, positions = tokens(B, T), torch.stack([torch.arange(T), torch.arange(T) + 2])
    segments = tokens(B, T, seed=3, low=0, high=2)
    layer = normed(scale=True, segments=2)
    token, table = layer.tokens.weight[ids] * math.sqrt(D), layer.positions.table.weight[positions]
    expected = layer.norm(token + table + layer.segments.weight[segments])
    torch.testing.assert_close(layer(ids, positions, segments=segments), expected, rtol=1e-12, atol=1e-12)
    all_of_the_first = layer.norm(token + table + layer.segments.weight[0])
    torch.testing.assert_close(layer(ids, positions), all_of_the_first, rtol=1e-12, atol=1e-12)
    without = normed()
    expected = without.norm(without.tokens.weight[ids] + without.positions.table.weight[positions])
    torch.testing.assert_close(without(ids, positions), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("made", [lambda **options: shifted(shift=1, **options), normed])
def test_dropout_comes_last_and_the_sum_is_reported(made):
    ids, layer = tokens(B, T), made(dropout=1.0)
    assert torch.equal(layer(ids, torch.arange(T)), torch.zeros(B, T, D).double())
    with capture(layer.eval()) as seen:
        out = layer(ids, torch.arange(T))
    assert torch.equal(seen["hidden"], out) and out.abs().max() > 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: TokenShift(0), "TokenShift: n=0, expected at least 1"),
        (lambda: NormedInput(segments=-1), "NormedInput: segments=-1, expected at least 0"),
        (
            lambda: normed()(tokens(B, T), torch.arange(T), segments=tokens(B, T)),
            r"NormedEmbedding: segments of shape \(2, 5\) for ids of shape \(2, 5\), in a model with 0 segment types",
        ),
        (
            lambda: normed(segments=2)(tokens(B, T), torch.arange(T), segments=tokens(B, S)),
            r"NormedEmbedding: segments of shape \(2, 7\) for ids of shape \(2, 5\), in a model with 2 segment types",
        ),
        (
            lambda: normed(segments=2)(tokens(B, T), torch.arange(T), segments=torch.full((B, T), 2)),
            "NormedEmbedding: segments 2 … 2 of 2 types",
        ),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
