"""The selective state-space layer: the scan is the recurrence, pieces are the whole, and the library's Mamba agrees."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers import MambaConfig
from transformers.models.mamba.modeling_mamba import MambaMixer

from parity import B, D, Pair, T, assert_same_model, linear, normal, properties, randomise
from tx_helpers.lessons.cheaper_and_longer.state_space import (
    SelectiveStateSpace,
    scan,
    selective_state_space,
)
from wrong_arguments import faults

INNER, N, KERNEL, RANK = 10, 3, 4, 2


def layer(**options):
    return randomise(SelectiveStateSpace(D, d_inner=INNER, d_state=N, kernel=KERNEL, rank=RANK, **options)).double()


def equal(ours, theirs):
    torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-12)


def recurrence(a, b, start=None):
    """h_t = a_t h_{t−1} + b_t, step by step."""
    h, steps = torch.zeros_like(b[:, 0]) if start is None else start, []
    for a_t, b_t in zip(a.unbind(1), b.unbind(1), strict=True):
        h = a_t * h + b_t
        steps.append(h)
    return torch.stack(steps, dim=1)


@given(T=st.integers(1, 18), begun=st.booleans())
@properties
def test_the_scan_is_the_recurrence(T, begun):
    a, b = normal(B, T, INNER, N).sigmoid().requires_grad_(), normal(B, T, INNER, N, seed=1).requires_grad_()
    start = normal(B, INNER, N, seed=2).requires_grad_() if begun else None
    inputs = [x for x in (a, b, start) if x is not None]
    outs = [form(a, b, start) for form in (scan, recurrence)]
    equal(*outs)
    direction = normal(B, T, INNER, N, seed=3)  # from T = 1 and nothing before it, `a` has no effect
    gradients = (torch.autograd.grad(out, inputs, direction, materialize_grads=True) for out in outs)
    for mine, other in zip(*gradients, strict=True):
        equal(mine, other)


def test_the_recurrence_by_hand():
    a, b = torch.tensor([[[0.5], [2.0], [0.0]]]), torch.tensor([[[1.0], [3.0], [7.0]]])
    assert recurrence(a, b).flatten().tolist() == [1.0, 5.0, 7.0]
    assert recurrence(a, b, torch.tensor([[4.0]])).flatten().tolist() == [3.0, 9.0, 7.0]


def test_the_equation_in_plain_loops():
    x, delta, rate = normal(B, T, INNER), normal(B, T, INNER, seed=1).exp(), -normal(INNER, N, seed=2).exp()
    write, read, skip = normal(B, T, N, seed=3), normal(B, T, N, seed=4), normal(INNER, seed=5)
    y, last = selective_state_space(x, delta, rate, write, read, skip)
    h = torch.zeros(N, dtype=torch.float64)
    row, channel = 1, 7
    for t in range(T):
        step = delta[row, t, channel]
        h = (step * rate[channel]).exp() * h + step * write[row, t] * x[row, t, channel]
        equal(y[row, t, channel], read[row, t] @ h + skip[channel] * x[row, t, channel])
    equal(last[row, channel], h)


@pytest.mark.parametrize("cuts", [(1, 4), (3,), (1, 2, 3, 4)])
def test_in_pieces_it_is_the_same(cuts):
    mamba, u = layer(), normal(B, T, D)
    right, last = mamba(u)
    outs, state = [], None
    for piece in u.tensor_split(cuts, dim=1):
        out, state = mamba(piece, state)
        outs.append(out)
    equal(torch.cat(outs, dim=1), right)
    equal(state.h, last.h)
    equal(state.inputs, last.inputs)
    assert state.inputs.shape == (B, KERNEL - 1, INNER) and state.h.shape == (B, INNER, N)


@pytest.mark.parametrize("width", [T, 2])
def test_parity_with_the_librarys_mamba(width):
    config = MambaConfig(
        hidden_size=D,
        intermediate_size=INNER,
        state_size=N,
        conv_kernel=KERNEL,
        time_step_rank=RANK,
        num_hidden_layers=1,
    )
    config.intermediate_size = INNER
    ours, theirs = layer().float(), MambaMixer(config, layer_idx=0).eval()
    pairs = [
        *linear(ours.input, theirs.in_proj),
        *linear(ours.convolution, theirs.conv1d),
        *linear(ours.select, theirs.x_proj),
        *linear(ours.step_size, theirs.dt_proj),
        *linear(ours.output, theirs.out_proj),
        Pair(ours.log_rate, theirs.A_log),
        Pair(ours.skip, theirs.D),
    ]
    u = normal(B, width, D, dtype=torch.float32)
    assert_same_model(ours, theirs, pairs, lambda u: ours(u)[0], theirs, u, tolerance=1e-5)


def test_it_begins_as_the_paper_says():
    mamba = SelectiveStateSpace(D)
    assert (mamba.d_inner, mamba.rank, mamba.d_state) == (2 * D, 1, 16)
    torch.testing.assert_close(-mamba.log_rate.exp()[3], -torch.arange(1.0, 17.0))
    first = torch.nn.functional.softplus(mamba.step_size.bias)
    assert first.min() >= 0.001 and first.max() <= 0.101


def test_wrong_arguments():
    x, delta, rate = normal(B, T, INNER), normal(B, T, INNER).exp(), -normal(INNER, N).exp()
    write, start = normal(B, T, N), normal(B, INNER, N)
    assert faults(scan, dict(a=normal(B, T, INNER, N), b=normal(B, T, INNER, N), start=start)) == []
    names = dict(x=x, delta=delta, rate=rate, write=write, read=write, skip=normal(INNER), start=start)
    assert faults(selective_state_space, names) == []
    sizes = dict(d_model=D, d_inner=INNER, d_state=N, kernel=KERNEL, rank=RANK)
    assert faults(SelectiveStateSpace, sizes) == []
    assert faults(layer(), dict(u=normal(B, T, D))) == []
    with pytest.raises(ValueError, match=r"scan: a \(2, 5\), b \(2, 4\); expected"):
        scan(normal(2, 5), normal(2, 4))
