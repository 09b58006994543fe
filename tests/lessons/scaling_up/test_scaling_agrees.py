"""What learners write computes the same as the package and PyTorch, at other sizes than the cases."""

import pytest
import torch

from tx_helpers.exercises.catalogue import find
from tx_helpers.lessons.scaling_up.laws.law import Law
from tx_helpers.lessons.scaling_up.simulated.collectives import reduce_scatter
from tx_helpers.lessons.scaling_up.simulated.layouts import ring_attention
from tx_helpers.lessons.scaling_up.simulated.ranks import simulate
from tx_helpers.lessons.scaling_up.simulated.schedules import one_forward_one_backward

COUNTS = pytest.mark.parametrize("n", [1, 2, 3, 5])


def solved(name: str):
    return find(name).answer


@COUNTS
def test_a_sum_around_the_ring(n):
    parts = [list(torch.randn(n, 3, 2)) for _ in range(n)]
    mine, right = (
        simulate(program, parts, buffered=False) for program in (solved("ring_reduce_scatter"), reduce_scatter)
    )
    torch.testing.assert_close(mine.results, right.results)
    assert mine.messages == right.messages


@COUNTS
def test_a_layer_on_n_ranks(n):
    layers = torch.nn.Linear(6, 4 * n), torch.nn.Linear(4 * n, 6)
    x = torch.randn(2, 5, 6)
    whole = [p.detach() for layer in layers for p in (layer.weight, layer.bias)]
    program = solved("split_feed_forward")
    with torch.no_grad():
        right = layers[1](torch.nn.functional.gelu(layers[0](x)))
        run = simulate(lambda rank: program(rank, x, *whole, torch.nn.functional.gelu), count=n)
    for result in run.results:
        torch.testing.assert_close(result, right)


@pytest.mark.parametrize("ranks", [1, 2, 5])
@pytest.mark.parametrize("microbatches", [1, 3, 8])
def test_the_schedule(ranks, microbatches):
    assert solved("alternating_schedule")(ranks, microbatches) == one_forward_one_backward(ranks, microbatches)


def test_the_best_size():
    law = Law(1.7, 40.0, 900.0, 0.31, 0.37)
    assert solved("compute_optimal")(*law, 3e19) == pytest.approx(law.best_size(3e19))


@pytest.mark.parametrize("stage", range(4))
def test_the_bytes_of_zero(stage):
    """The paper's figure 1: 7.5 billion parameters on 64 ranks take 120, 31.4, 16.6 and 1.9 GB."""
    assert solved("training_bytes")(7.5e9, 64, stage) / 1e9 == pytest.approx((120, 31.4, 16.6, 1.9)[stage], abs=0.05)


@pytest.mark.parametrize("n", [2, 3, 5])
def test_the_masks_of_ring_attention(n):
    q, k, v = torch.randn(3, 4 * n, 3)
    pieces = [list(x.chunk(n)) for x in (q, k, v)]
    run = find("visible_keys").run(solved("visible_keys"), q, k, v, n)
    right = simulate(lambda rank, *qkv: ring_attention(rank, *qkv, causal=True), *pieces)
    for rank, result in enumerate(right.results):
        torch.testing.assert_close(run[f"rank {rank}"], result)


@COUNTS
def test_a_step_on_shards_is_that_of_one_rank(n):
    """Rows of one linear model, cut over the ranks, as its weight is."""
    weight, rows, wanted = torch.randn(2 * n), torch.randn(4 * n, 2 * n), torch.randn(4 * n)

    def of(cut):
        return lambda whole: (rows[cut] @ whole - wanted[cut]) @ rows[cut] / len(cut)

    own = [of(cut) for cut in torch.arange(4 * n).chunk(n)]
    run = simulate(lambda r, part, grad: solved("sharded_step")(r, part, grad, 0.1), list(weight.chunk(n)), own)
    torch.testing.assert_close(torch.cat(run.results), weight - 0.1 * of(torch.arange(4 * n))(weight))
