"""The collectives equal sums and concatenations, PyTorch's own over gloo, and the bytes of the formula."""

import pytest
import torch
import torch.distributed as dist
import torch.multiprocessing as mp

from tx_helpers.lessons.scaling_up.real.processes import ProcessRank
from tx_helpers.lessons.scaling_up.simulated.collectives import (
    all_gather,
    all_reduce,
    all_reduce_at_one,
    all_to_all,
    bytes_sent,
    reduce_scatter,
)
from tx_helpers.lessons.scaling_up.simulated.ranks import simulate
from wrong_arguments import faults

COUNTS = (1, 2, 3, 4, 7)


def tensors(n, shape=(6, 5)):
    generator = torch.Generator().manual_seed(n)
    return [torch.randn(shape, generator=generator, dtype=torch.float64) for _ in range(n)]


@pytest.mark.parametrize("n", COUNTS)
@pytest.mark.parametrize("form", [all_reduce, all_reduce_at_one])
@pytest.mark.parametrize("shape", [(6, 5), (1,), (), (0, 3)])
def test_all_reduce_is_the_sum_on_every_rank(n, form, shape):
    xs = tensors(n, shape)
    for y in simulate(form, xs).results:
        torch.testing.assert_close(y, sum(xs), rtol=0, atol=1e-14)


@pytest.mark.parametrize("n", COUNTS)
def test_the_others_put_each_part_where_it_belongs(n):
    parts = [tensors(n) for _ in range(n)]
    parts = [[part + 10 * rank for part in own] for rank, own in enumerate(parts)]
    for rank, mine in enumerate(simulate(reduce_scatter, parts).results):
        torch.testing.assert_close(mine, sum(own[rank] for own in parts), rtol=0, atol=1e-12)
    for rank, mine in enumerate(simulate(all_to_all, parts).results):
        assert all(torch.equal(part, parts[source][rank]) for source, part in enumerate(mine))
    own = [row[0] for row in parts]
    for gathered in simulate(all_gather, own).results:
        assert all(torch.equal(a, b) for a, b in zip(gathered, own, strict=True))


@pytest.mark.parametrize("n", [2, 3, 4])
def test_bytes_equal_the_formula(n):
    x = torch.zeros(12, 5)
    size = x.numel() * 4
    parts = list(x.tensor_split(n))
    assert simulate(all_reduce, [x] * n).bytes_sent() == [bytes_sent("all_reduce", size, n)] * n
    assert simulate(reduce_scatter, [parts] * n).bytes_sent() == [bytes_sent("reduce_scatter", size, n)] * n
    assert simulate(all_to_all, [parts] * n).bytes_sent() == [bytes_sent("all_to_all", size, n)] * n
    assert simulate(all_gather, parts).bytes_sent() == [bytes_sent("all_gather", size, n)] * n
    # Without a ring rank 0 alone sends as much as n − 1 others together.
    assert simulate(all_reduce_at_one, [x] * n).bytes_sent() == [(n - 1) * size] + [size] * (n - 1)


def all_of_them(rank, x, parts):
    found = all_reduce(rank, x), all_gather(rank, x), reduce_scatter(rank, parts), all_to_all(rank, parts)
    return *found, all_reduce_at_one(rank, x)


def of_pytorch(number, n, folder, xs, parts):
    dist.init_process_group("gloo", init_method=f"file://{folder}/store", rank=number, world_size=n)
    x = xs[number].clone()
    dist.all_reduce(x)
    gathered = [torch.empty_like(x) for _ in range(n)]
    dist.all_gather(gathered, xs[number])
    scattered = torch.empty_like(parts[number][0])
    dist.reduce_scatter(scattered, [part.clone() for part in parts[number]])
    exchanged = [torch.empty_like(part) for part in parts[number]]
    dist.all_to_all(exchanged, parts[number])
    rank = ProcessRank()
    ours = all_of_them(rank, xs[number], parts[number])
    messages = [tuple(message) for message in rank.messages]
    torch.save(((x, gathered, scattered, exchanged), ours, messages), f"{folder}/{number}.pt")
    dist.destroy_process_group()


@pytest.mark.slow
def test_they_equal_those_of_pytorch(tmp_path):
    """In three simulated ranks, and in three real processes: there with the same messages."""
    n = 3
    xs, parts = tensors(n), [tensors(n, (4, 2)) for _ in range(n)]
    mp.spawn(of_pytorch, (n, tmp_path, xs, parts), nprocs=n)
    run = simulate(all_of_them, xs, parts)
    for number, simulated in enumerate(run.results):
        theirs, real, messages = torch.load(tmp_path / f"{number}.pt")
        torch.testing.assert_close(simulated[:4], theirs, rtol=0, atol=1e-12)
        torch.testing.assert_close(simulated, real, rtol=0, atol=0)
        assert messages == [message for message in run.messages if message.source == number]


def test_wrong_arguments_are_named():
    def of(form):
        return lambda given: simulate(lambda rank: form(rank, given), count=2)

    for form in (reduce_scatter, all_to_all):
        assert faults(of(form), {"given": [torch.ones(2), torch.ones(2)]}) == []
        with pytest.raises(ValueError, match="3 parts, expected one for each of the 2 ranks"):
            of(form)([torch.ones(1)] * 3)
    with pytest.raises(ValueError, match="expected one shape"):
        of(reduce_scatter)([torch.ones(1), torch.ones(2)])
    for form in (all_reduce, all_gather, all_reduce_at_one):
        assert faults(of(form), {"given": torch.ones(2)}) == []
    assert faults(bytes_sent, {"collective": "all_reduce", "size": 4, "n": 2}) == []
