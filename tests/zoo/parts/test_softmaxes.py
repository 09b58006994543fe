"""Capped scores by their formula, and what is refused of a sink; gpt-oss and Gemma 2 are compared in tests/parity."""

import math

import pytest
import torch

from parity import B, H, S, T, normal
from tx_helpers.nn.attention import eager_attention
from tx_helpers.nn.capture import capture
from tx_helpers.nn.config import AttentionConfig, TransformerConfig
from tx_helpers.nn.models import DecoderOnly
from tx_helpers.zoo.parts.softmaxes import CappedScores, LearnedSink, SinkAttention, capped_softmax, soft_cap

K = 4


def test_soft_cap_by_hand():
    """Small numbers pass, large ones stop at the cap, and the order stays."""
    x = torch.tensor([-1e9, -1.0, 0.0, 0.01, 1.0, 3.0, 1e9]).double()
    out = soft_cap(x, 2.0)
    assert (out[0], out[2], out[-1]) == (-2.0, 0.0, 2.0)
    assert out[3].item() == pytest.approx(0.01, rel=1e-4)
    assert out[5].item() == pytest.approx(2 * math.tanh(1.5))
    assert (out.diff() > 0).all()


def capped(**options) -> torch.Tensor:
    q, k, v = normal(B, H, T, K), normal(B, H, S, K, seed=1), normal(B, H, S, K, seed=2)
    return CappedScores(0.7).new(TransformerConfig(8))(q, k, v, **options)


def test_scores_are_capped_before_the_softmax():
    q, k, v = normal(B, H, T, K), normal(B, H, S, K, seed=1), normal(B, H, S, K, seed=2)
    scores = 0.7 * torch.tanh(q @ k.mT / K**0.5 / 0.7)
    torch.testing.assert_close(capped(), scores.softmax(dim=-1) @ v)


def test_a_cap_does_not_reopen_what_a_bias_or_a_mask_closed():
    """cap · tanh(−∞) would be −cap: a finite score."""
    mask = torch.ones(T, S, dtype=torch.bool).tril()
    mask[3] = False
    bias = torch.zeros(T, S).double().masked_fill(~mask, float("-inf"))
    torch.testing.assert_close(capped(bias=bias), capped(mask=mask))
    assert not capped(bias=bias)[:, :, 3].any()
    assert torch.equal(capped_softmax(torch.tensor([0.0, float("-inf")]), 2.0), torch.tensor([1.0, 0.0]))


def test_a_sink_for_another_number_of_heads_is_named():
    q, k = normal(B, 2, T, K), normal(B, 2, S, K)
    with pytest.raises(ValueError, match=r"attention: sink .*\(2\)"):
        SinkAttention(H).double()(q, k, k)


def test_a_closed_row_gets_zeros_even_where_the_sink_is_closed():
    q = normal(B, H, T, K).requires_grad_()
    mask = torch.ones(T, T, dtype=torch.bool)
    mask[2] = False
    for value in (0.5, float("-inf")):
        attend = SinkAttention(H).double()
        attend.sink.data.fill_(value)
        out = attend(q, q, q, mask=mask)
        assert not out[:, :, 2].any() and out.isfinite().all()
        assert all(grad.isfinite().all() for grad in torch.autograd.grad(out.sum(), [q, attend.sink]))
    torch.testing.assert_close(out, eager_attention(q, q, q, mask=mask))


def test_what_is_seen_of_a_sink_is_named_as_of_any_attention():
    model = DecoderOnly(TransformerConfig(8, 12, attention=AttentionConfig(3, attend=LearnedSink())))
    with capture(model, "*.weights") as seen:
        model(torch.arange(4)[None])
    assert list(seen) == [f"decoder.blocks.{i}.self_attention.weights" for i in (0, 1)]


def test_wrong_arguments_are_named():
    with pytest.raises(ValueError, match="CappedScores: cap=0, expected more than 0"):
        CappedScores(0)
    with pytest.raises(ValueError, match=r"soft_cap: cap=0\.0, expected more than 0"):
        soft_cap(torch.ones(3), 0.0)
    with pytest.raises(ValueError, match=r"AttentionConfig: attend is 0\.7, expected an Attend or None"):
        AttentionConfig(3, attend=0.7)
