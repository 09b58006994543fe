"""Every layout equals the model in one process: outputs and gradients to 1e-12 in float64."""

import pytest
import torch
from torch import nn
from torch.nn.functional import scaled_dot_product_attention

from tx_helpers.lessons.scaling_up.simulated.layouts import (
    data_parallel,
    exchange,
    expert_parallel,
    gather_parts,
    ring_attention,
    scatter_sum,
    sequence_parallel_ffn,
    sharded_linear,
    tensor_parallel_ffn,
)
from tx_helpers.lessons.scaling_up.simulated.ranks import simulate

N = 3
close = dict(rtol=0, atol=1e-12)


def normal(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def leaf(x):
    return x.detach().clone().requires_grad_()


def cut(x, dim):
    return [leaf(part) for part in x.tensor_split(N, dim)]


def test_data_parallel():
    x, y, weight = normal(6, 4), normal(6, 2, seed=1), leaf(normal(2, 4, seed=2))
    (x @ weight.T - y).pow(2).mean().backward()

    def program(rank, x, y, own):
        (x @ own.T - y).pow(2).mean().backward()
        data_parallel(rank, [own])
        return own.grad

    for gradient in simulate(program, cut(x, 0), cut(y, 0), [leaf(weight) for _ in range(N)]).results:
        torch.testing.assert_close(gradient, weight.grad, **close)


def test_sharded_weights_are_gathered_for_use():
    """ZeRO-3, FSDP: each rank keeps a third of the weight and of its gradient."""
    x, weight = normal(6, 4), leaf(normal(9, 4, seed=2))
    torch.tanh(x @ weight.T).sum().backward()
    parts = cut(weight, 0)

    def program(rank, rows, part):
        torch.tanh(rows @ gather_parts(rank, part).T).sum().backward()

    run = simulate(program, list(x.tensor_split(N)), parts)
    torch.testing.assert_close(torch.cat([part.grad for part in parts]), weight.grad, **close)
    assert run.bytes_sent() == [2 * 2 * weight.numel() // N * 8] * N  # gathered once, scattered once


def test_a_sharded_weight_is_gathered_once_more_for_the_backward_pass():
    x, weight = leaf(normal(6, 4)), leaf(normal(9, 4, seed=2))
    torch.tanh(x @ weight.T).sum().backward()
    xs, parts = cut(x, 0), cut(weight, 0)

    def program(rank, x, part):
        torch.tanh(sharded_linear(rank, x, part)).sum().backward()

    run = simulate(program, xs, parts)
    torch.testing.assert_close(torch.cat([part.grad for part in xs]), x.grad, **close)
    torch.testing.assert_close(torch.cat([part.grad for part in parts]), weight.grad, **close)
    assert run.bytes_sent() == [3 * 2 * weight.numel() // N * 8] * N  # gathered twice, scattered once


def test_tensor_parallel_ffn():
    x, expand, contract = leaf(normal(5, 4)), leaf(normal(9, 4, seed=1)), leaf(normal(4, 9, seed=2))
    expected = torch.relu(x @ expand.T) @ contract.T
    expected.pow(2).sum().backward()
    xs, rows, columns = [leaf(x) for _ in range(N)], cut(expand, 0), cut(contract, 1)

    def program(rank, x, expand, contract):
        out = tensor_parallel_ffn(rank, x, expand, contract)
        out.pow(2).sum().backward()
        return out.detach()

    run = simulate(program, xs, rows, columns)
    for rank in range(N):
        torch.testing.assert_close(run.results[rank], expected.detach(), **close)
        torch.testing.assert_close(xs[rank].grad, x.grad, **close)
    torch.testing.assert_close(torch.cat([part.grad for part in rows]), expand.grad, **close)
    torch.testing.assert_close(torch.cat([part.grad for part in columns], 1), contract.grad, **close)


def test_sequence_parallel_ffn_sends_the_bytes_of_tensor_parallel():
    x, expand, contract = leaf(normal(6, 4)), leaf(normal(9, 4, seed=1)), leaf(normal(4, 9, seed=2))
    expected = torch.relu(x @ expand.T) @ contract.T
    expected.pow(2).sum().backward()
    parts, rows, columns = cut(x, 0), cut(expand, 0), cut(contract, 1)

    def program(layer):
        def on_a_rank(rank, x, expand, contract):
            out = layer(rank, x, expand, contract)
            out.pow(2).sum().backward()
            return out.detach()

        return on_a_rank

    run = simulate(program(sequence_parallel_ffn), parts, rows, columns)
    torch.testing.assert_close(torch.cat(run.results), expected.detach(), **close)
    torch.testing.assert_close(torch.cat([part.grad for part in parts]), x.grad, **close)
    torch.testing.assert_close(torch.cat([part.grad for part in rows]), expand.grad, **close)
    torch.testing.assert_close(torch.cat([part.grad for part in columns], 1), contract.grad, **close)
    other = simulate(program(tensor_parallel_ffn), [leaf(x) for _ in range(N)], cut(expand, 0), cut(contract, 1))
    assert run.bytes_sent() == other.bytes_sent() == [4 * (N - 1) * x.numel() // N * 8] * N


@pytest.mark.parametrize("causal", [False, True])
def test_ring_attention(causal):
    q, k, v = (leaf(normal(2, N * 4, 5, seed=seed)) for seed in range(3))
    weights = normal(2, N * 4, 5, seed=9)
    expected = scaled_dot_product_attention(q, k, v, is_causal=causal)
    (expected * weights).sum().backward()
    pieces = [cut(x, 1) for x in (q, k, v)]

    def program(rank, q, k, v, weights):
        out = ring_attention(rank, q, k, v, causal=causal)
        (out * weights).sum().backward()
        return out.detach()

    run = simulate(program, *pieces, list(weights.tensor_split(N, 1)))
    torch.testing.assert_close(torch.cat(run.results, 1), expected.detach(), **close)
    for whole, parts in zip((q, k, v), pieces, strict=True):
        torch.testing.assert_close(torch.cat([part.grad for part in parts], 1), whole.grad, **close)
    # Forward and backward each pass keys and values on n − 1 times.
    assert run.bytes_sent() == [2 * (N - 1) * 2 * pieces[1][0].numel() * 8] * N


@pytest.mark.parametrize("experts_per_rank", [1, 2])
def test_expert_parallel(experts_per_rank):
    torch.manual_seed(0)
    experts = [nn.Linear(4, 4).double() for _ in range(N * experts_per_rank)]
    x, chosen = leaf(normal(10, 4)), torch.randperm(10) % len(experts)
    expected = torch.stack([experts[e](row) for e, row in zip(chosen.tolist(), x, strict=True)])
    expected.pow(2).sum().backward()
    of_weights = [expert.weight.grad.clone() for expert in experts]
    for expert in experts:
        expert.zero_grad()
    xs = cut(x, 0)

    def program(rank, x, chosen):
        out = expert_parallel(rank, x, chosen, lambda number, tokens: experts[number](tokens), experts_per_rank)
        out.pow(2).sum().backward()
        return out.detach()

    run = simulate(program, xs, list(chosen.tensor_split(N)))
    torch.testing.assert_close(torch.cat(run.results), expected.detach(), **close)
    torch.testing.assert_close(torch.cat([part.grad for part in xs]), x.grad, **close)
    torch.testing.assert_close([expert.weight.grad for expert in experts], of_weights, **close)


def test_wrong_arguments_are_named():
    def run(program):
        return simulate(program, count=2)

    with pytest.raises(ValueError, match="ring_attention: causal is 1"):
        run(lambda rank: ring_attention(rank, *[normal(2, 3)] * 3, causal=1))
    with pytest.raises(ValueError, match="scatter_sum: x"):
        run(lambda rank: scatter_sum(rank, torch.ones(2).long()))
    with pytest.raises(ValueError, match=r"sharded_linear: .*\(4, 3\)"):
        run(lambda rank: sharded_linear(rank, normal(2, 4), normal(4, 3)))
    with pytest.raises(ValueError, match="chosen 0 … 2, but there are 2 experts"):
        run(lambda rank: expert_parallel(rank, normal(2, 3), torch.tensor([0, 2]), lambda number, x: x))
    with pytest.raises(ValueError, match="all_to_all: 3 parts, expected one for each of the 2 ranks"):
        run(lambda rank: exchange(rank, [normal(1)] * 3))
    with pytest.raises(ValueError, match=r"tensor_parallel_ffn: contract \(4, 3\)|contract"):
        run(lambda rank: tensor_parallel_ffn(rank, normal(2, 4), normal(2, 4), normal(4, 3)))
