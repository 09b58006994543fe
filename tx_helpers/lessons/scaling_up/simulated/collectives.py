"""The collectives, written with send and receive: what all ranks do together, and how many bytes it costs.

Each function is one rank's part. `simulate` runs it on all ranks; n is their number.

    all-reduce       every rank has a tensor and gets the sum of all           2 (n − 1) / n of it sent by each rank
    reduce-scatter   every rank gets one part of the sum                         (n − 1) / n
    all-gather       every rank has a part and gets all of them                  (n − 1) / n
    all-to-all       rank i's part j goes to rank j                              (n − 1) / n
    broadcast        every rank gets the tensor of one rank                    n − 1 of it, by all ranks together

On a ring every rank talks only to its two neighbours, all links work at the same time, and the bytes per rank hardly
grow with n. Sources: Patarasu & Yuan 2009 for the ring; Rajbhandari et al. 2020, section 7, for the counts.
"""

import torch
from torch import Tensor

from tx_helpers.lessons.scaling_up.simulated.ranks import Rank
from tx_helpers.nn.arguments import check_numbers, check_one_of, check_tensors, check_types, described


def reduce_scatter(rank: Rank, parts: list[Tensor]) -> Tensor:
    """The sum over all ranks of part number `rank.number`: n parts of any equal shape -> one part.

    In n − 1 steps each part travels once around the ring and collects a summand at every rank.
    """
    _check("reduce_scatter", rank, parts)
    travelling = parts[rank.previous]
    for step in range(1, rank.count):
        received = rank.swap(travelling, to=rank.next, source=rank.previous)
        travelling = received + parts[(rank.number - step - 1) % rank.count]
    return travelling


def all_gather(rank: Rank, part: Tensor) -> list[Tensor]:
    """The parts of all ranks in the order of their numbers: in n − 1 steps each part travels around the ring."""
    _check("all_gather", rank, [part], parts=1)
    parts = {rank.number: part}
    for step in range(1, rank.count):
        part = rank.swap(part, to=rank.next, source=rank.previous)
        parts[(rank.number - step) % rank.count] = part
    return [parts[number] for number in range(rank.count)]


def all_reduce(rank: Rank, x: Tensor) -> Tensor:
    """The sum of the tensors of all ranks, on every rank: a reduce-scatter, then an all-gather."""
    _check("all_reduce", rank, [x], parts=1)
    flat = x.reshape(-1)
    padded = torch.cat([flat, flat.new_zeros(-len(flat) % rank.count)])
    mine = reduce_scatter(rank, list(padded.tensor_split(rank.count)))
    return torch.cat(all_gather(rank, mine))[: len(flat)].reshape(x.shape)


def all_reduce_at_one(rank: Rank, x: Tensor) -> Tensor:
    """The same sum without a ring: rank 0 receives every tensor and sends the sum to everybody."""
    _check("all_reduce_at_one", rank, [x], parts=1)
    if rank.number:
        rank.send(x, to=0)
        return rank.receive(0)
    for source in range(1, rank.count):
        x = x + rank.receive(source)
    for to in range(1, rank.count):
        rank.send(x, to)
    return x


def all_to_all(rank: Rank, parts: list[Tensor]) -> list[Tensor]:
    """Part j of this rank goes to rank j. Returns one part from each rank, in the order of their numbers."""
    _check("all_to_all", rank, parts, equal=False)
    received = {rank.number: parts[rank.number]}
    for step in range(1, rank.count):
        to, source = (rank.number + step) % rank.count, (rank.number - step) % rank.count
        received[source] = rank.swap(parts[to], to=to, source=source)
    return [received[number] for number in range(rank.count)]


SHARES = {  # of a tensor's bytes, the share that each rank sends, by the number n of ranks
    "all_reduce": lambda n: 2 * (n - 1) / n,
    "reduce_scatter": lambda n: (n - 1) / n,
    "all_gather": lambda n: (n - 1) / n,
    "all_to_all": lambda n: (n - 1) / n,
}


def bytes_sent(collective: str, size: int, n: int) -> float:
    """Bytes that each rank sends, on average: `size` is the whole tensor in bytes (all-gather: the gathered one)."""
    check_one_of("bytes_sent", SHARES, collective=collective)
    check_numbers("bytes_sent", least=0, whole=True, size=size)
    check_numbers("bytes_sent", least=1, whole=True, n=n)
    return SHARES[collective](n) * size


def _check(where: str, rank: Rank, tensors: list[Tensor], *, parts: int | None = None, equal: bool = True) -> None:
    check_types(where, Rank, rank=rank)
    check_types(where, (list, tuple), parts=tensors)
    named = {"the tensor" if parts == 1 else f"part {i}": tensor for i, tensor in enumerate(tensors)}
    for name, tensor in named.items():
        if not isinstance(tensor, Tensor):
            raise ValueError(f"{where}: {name} is {described(tensor)}, expected a tensor")
    check_tensors(where, **{name: (tensor, "…") for name, tensor in named.items()})
    if len(tensors) != (parts or rank.count):
        raise ValueError(f"{where}: {len(tensors)} parts, expected one for each of the {rank.count} ranks")
    if equal and len({tensor.shape for tensor in tensors}) > 1:
        raise ValueError(f"{where}: parts of shapes {[tuple(t.shape) for t in tensors]}, expected one shape")
