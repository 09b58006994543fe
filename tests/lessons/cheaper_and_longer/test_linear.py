"""Linear attention and the delta rule: their forms agree, with each other and with the library's."""

from functools import partial

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from transformers.models.qwen3_next.modeling_qwen3_next import (
    torch_chunk_gated_delta_rule,
    torch_recurrent_gated_delta_rule,
)

from parity import B, H, K, T, normal, properties
from tx_helpers.lessons.cheaper_and_longer.linear import (
    chunked,
    delta_chunked,
    delta_recurrent,
    positive_features,
    quadratic,
)
from wrong_arguments import faults

E = 3


def features(T=T):
    return (
        positive_features(normal(B, H, T, K)),
        positive_features(normal(B, H, T, K, seed=1)),
        normal(B, H, T, E, seed=2),
    )


def gated(T=T, dtype=torch.float64):
    """q, keys of length 1, v, β in (0, 1), log-decays below 0."""
    q, k, v = normal(B, H, T, K), F.normalize(normal(B, H, T, K, seed=1), dim=-1), normal(B, H, T, E, seed=2)
    beta, log_decay = normal(B, H, T, seed=3).sigmoid(), F.logsigmoid(normal(B, H, T, seed=4))
    return [x.to(dtype) for x in (q, k, v, beta, log_decay)]


def equal(ours, theirs):
    torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-12)


def gradients(out, inputs):
    return torch.autograd.grad(out, inputs, normal(*out.shape, seed=9))


def test_the_quadratic_form_is_the_formula():
    q, k, v = features()
    assert (q > 0).all() and positive_features(torch.tensor([-1.0, 2.0])).tolist() == pytest.approx([0.3678794, 3.0])
    t, s = 3, slice(0, 4)
    weights = k[1, 2, s] @ q[1, 2, t]
    equal(quadratic(q, k, v)[1, 2, t], weights @ v[1, 2, s] / weights.sum())


@given(T=st.integers(1, 9), chunk=st.integers(1, 10), cut=st.integers(0, 9))
@properties
def test_both_forms_are_equal_and_chunks_go_on_from_a_state(T, chunk, cut):
    tensors = [x.requires_grad_() for x in features(T)]
    right = quadratic(*tensors)
    wanted = gradients(right, tensors)
    for form in (partial(chunked, chunk=size) for size in (1, chunk)):
        parts = [x[..., :cut, :] for x in tensors], [x[..., cut:, :] for x in tensors]
        outs, state = [], None
        for part in parts:
            if part[0].shape[-2]:
                out, state = form(*part, state=state)
                outs.append(out)
        equal(torch.cat(outs, dim=-2), right)
        for mine, other in zip(gradients(torch.cat(outs, dim=-2), tensors), wanted, strict=True):
            equal(mine, other)


@given(T=st.integers(1, 9), chunk=st.integers(1, 10), cut=st.integers(1, 9), gate=st.booleans())
@properties
def test_the_delta_rules_chunks_equal_its_steps(T, chunk, cut, gate):
    tensors = [x.requires_grad_() for x in gated(T)][: 5 if gate else 4]
    right, last = delta_recurrent(*tensors)
    ours, ours_last = delta_chunked(*tensors, chunk=chunk)
    equal(ours, right)
    equal(ours_last, last)
    for mine, other in zip(*(gradients(out, tensors) for out in (ours, right)), strict=True):
        equal(mine, other)
    if cut < T:
        parts = [[x[:, :, part] for x in tensors] for part in (slice(0, cut), slice(cut, T))]
        first, state = delta_chunked(*parts[0], chunk=chunk)
        second, state = delta_chunked(*parts[1], state=state, chunk=chunk)
        equal(torch.cat([first, second], dim=-2), right)
        equal(state, last)


@pytest.mark.parametrize(
    "theirs", [torch_recurrent_gated_delta_rule, partial(torch_chunk_gated_delta_rule, chunk_size=3)]
)
def test_parity_with_qwen3_next(theirs):
    q, k, v, beta, log_decay = gated(T=7, dtype=torch.float32)
    state = normal(B, H, K, E, seed=5, dtype=torch.float32)
    by_position = [x.transpose(1, 2) for x in (q, k, v)]
    gate = dict(g=log_decay.transpose(1, 2), beta=beta.transpose(1, 2))
    right, last = theirs(*by_position, **gate, initial_state=state, output_final_state=True)
    for ours in (delta_recurrent, partial(delta_chunked, chunk=2)):
        out, ours_last = ours(q * K**-0.5, k, v, beta, log_decay, state)  # theirs scales the queries
        torch.testing.assert_close(out.transpose(1, 2), right, rtol=1e-5, atol=1e-5)
        torch.testing.assert_close(ours_last, last, rtol=1e-5, atol=1e-5)


def test_a_small_gate_does_not_overflow():
    q, k, v, beta, _ = gated(T=7)
    log_decay = torch.full((B, H, 7), -500.0)  # e^(+500 · 6) would be infinite
    equal(delta_chunked(q, k, v, beta, log_decay)[0], delta_recurrent(q, k, v, beta, log_decay)[0])


@pytest.mark.parametrize(("dtype", "low"), [(torch.float32, -30), (torch.float32, -80), (torch.bfloat16, -8)])
def test_small_features_give_numbers(dtype, low):
    """elu(x) + 1 is 0 there, and so is a product of two that are as small as e⁻⁸⁰."""
    q, k = (positive_features(torch.full((1, 1, T, K), low, dtype=dtype)) for _ in range(2))
    v = torch.arange(T, dtype=dtype).view(1, 1, T, 1).expand(1, 1, T, E)
    assert (q > 0).all()
    means = v.cumsum(dim=-2) / torch.arange(1, T + 1).view(T, 1)  # all keys are alike
    wanted = means if low > -40 else torch.zeros_like(means)
    for out in (quadratic(q, k, v), chunked(q, k, v, 2)[0]):
        torch.testing.assert_close(out, wanted.to(dtype), rtol=0.02 if dtype == torch.bfloat16 else 1e-5, atol=0)


def test_a_state_that_is_forgotten_at_once():
    """log a = −∞ at some steps: what came before is gone."""
    q, k, v, beta, log_decay = gated()
    log_decay = log_decay.masked_fill(torch.arange(T) % 3 == 1, -torch.inf)
    wanted, state = delta_recurrent(q, k, v, beta, log_decay)
    for chunk in (1, 2, T):
        out, after = delta_chunked(q, k, v, beta, log_decay, chunk=chunk)
        equal(out, wanted)
        equal(after, state)


def test_wrong_arguments():
    q, k, v = features()
    for form in (quadratic, partial(chunked, chunk=2)):
        assert faults(form, dict(q=q, k=k, v=v)) == []
    assert faults(chunked, dict(q=q, k=k, v=v, chunk=2)) == []
    names = dict(zip(("q", "k", "v", "beta", "log_decay"), gated(), strict=True)) | {"state": normal(B, H, K, E)}
    assert faults(delta_recurrent, names) == []
    assert faults(delta_chunked, names | {"chunk": 2}) == []
    with pytest.raises(ValueError, match=r"quadratic: q \(2, 3, 5, 4\), k \(1, 3, 5, 4\), v \(2, 3, 5, 3\); expected"):
        quadratic(q, k[:1], v)
    with pytest.raises(ValueError, match=r"delta_recurrent: beta of shape \(2, 3, 4\), expected float \(2, 3, 5\)"):
        delta_recurrent(q, k, v, normal(B, H, T - 1))
