"""One training run on several processes, or in several pieces: chosen by one argument of `fit`.

    fit(model, batches, …, parallel=Parallel(data="rest"))      # torchrun --nproc-per-node 2 …

A part of a batch counts by its targets: a mean of means would be another loss where the padding differs. How the model
is spread stands in `spread`, which is imported only where there are several processes.

Left out on purpose: pipeline, context and expert parallelism.
"""

import os
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
import torch.distributed as dist
from torch import nn
from torch.utils.checkpoint import checkpoint

from tx_helpers.nn.arguments import check_numbers, check_types
from tx_helpers.training.contexts import RandomStream

REST = "rest"


@dataclass(frozen=True)
class Parallel:
    """How a training run is spread. Whatever is chosen, it is the same training, up to rounding.

    data           this many copies of the model, each with its part of every batch (DistributedDataParallel)
    shard          parameters, gradients and the optimizer's state are cut into this many parts (FSDP2), and batches too
    tensor         attention (by heads) and feed-forward networks (by hidden features) are cut into this many parts
    accumulate     a process works through its part of the batch in this many pieces, one after the other
    checkpointing  the backward pass computes each block's activations again, instead of keeping them
    compile        `torch.compile` for every block
    precision      with shard: the dtype in which parameters are gathered and used; gradients are summed in float32
    timeout        seconds after which a process that waits for another gives up

    data · shard · tensor is the number of processes, which `torchrun` starts. One of the three may be "rest", as many
    as are left: `Parallel(shard="rest")` runs on 1, 2 or 4 processes. Blocks are the members of an `nn.ModuleList`.
    """

    data: int | str = 1
    shard: int | str = 1
    tensor: int | str = 1
    accumulate: int = 1
    checkpointing: bool = False
    compile: bool = False
    precision: torch.dtype | None = None
    timeout: float = 60.0

    def __post_init__(self) -> None:
        sizes = {"data": self.data, "shard": self.shard, "tensor": self.tensor}
        numbers = {name: size for name, size in sizes.items() if size != REST}
        check_numbers("Parallel", least=1, whole=True, **numbers, accumulate=self.accumulate)
        check_numbers("Parallel", above=0, timeout=self.timeout)
        check_types("Parallel", bool, checkpointing=self.checkpointing, compile=self.compile)
        check_types("Parallel", (torch.dtype, type(None)), precision=self.precision)
        if len(numbers) < 2:
            raise ValueError(f'Parallel: {sizes}, expected "rest" at most once')
        if self.precision is not None and self.shard == 1:
            raise ValueError(f"Parallel: precision={self.precision} needs shard; without shards use fit's autocast")

    def sizes(self, processes: int) -> tuple[int, int, int]:
        """data, shard, tensor as numbers. Raises ValueError unless their product is the number of processes."""
        sizes = (self.data, self.shard, self.tensor)
        known = 1
        for size in sizes:
            known *= 1 if size == REST else size
        data, shard, tensor = (size if isinstance(size, int) else processes // known for size in sizes)
        if data * shard * tensor != processes:
            raise ValueError(
                f"Parallel: data={self.data}, shard={self.shard}, tensor={self.tensor} do not fit {processes} "
                "process(es); start N of them by: torchrun --nproc-per-node N your_file.py"
            )
        return data, shard, tensor


class Layout:
    """What a `Parallel` has become in this process: the model in its new form, and its place among the processes.

    Each of the data · shard groups has its own part of a batch; the processes of a tensor group share theirs.

    model         the given one; its parameters may have become DTensors
    module        what the loss calls: the model, or DistributedDataParallel around it
    synchronise   synchronise(last) is called before each piece: gradients are sent to the other processes with the last
                  one only
    first         is this the process that prints and writes?
    """

    def __init__(self, parallel: Parallel | None, model: nn.Module, optimizers: list[torch.optim.Optimizer]):
        self.processes = 1 if parallel is None else int(os.environ.get("WORLD_SIZE", 1))
        parallel = parallel or Parallel()
        data, shard, tensor = parallel.sizes(self.processes)
        self.model, self.module, self.pieces = model, model, parallel.accumulate
        self.groups, self.group, self.first = data * shard, 0, True
        self.synchronise: Callable[[bool], object] = bool  # one process has nobody to send to
        if self.processes == 1:
            prepare_blocks(model, parallel)
            return
        from tx_helpers.training.spread import spread  # takes half a second to import

        self.module, self.synchronise = spread(model, optimizers, parallel, (data, shard, tensor))
        self.group, self.first = dist.get_rank() // tensor, dist.get_rank() == 0

    def parts(self, batch: Any) -> Iterator[tuple[Any, float]]:
        """The pieces of a batch that this process works through, each with a factor for its loss.

        With these factors, the mean over all processes of their sums is the loss of the full batch.
        """
        if self.groups * self.pieces == 1:
            yield batch, 1.0
            return
        for need in ("part", "scored"):
            if not hasattr(batch, need):
                raise ValueError(
                    f"fit: {type(batch).__name__} has no {need}(), expected batches with part(number, parts) and "
                    "scored(), like those of text.data"
                )
        scored = max(1, batch.scored())
        for number in range(self.pieces):
            self.synchronise(number == self.pieces - 1)
            piece = batch.part(self.group * self.pieces + number, self.groups * self.pieces)
            yield piece, self.groups * piece.scored() / scored

    def mean(self, value: float) -> float:
        """The mean over all processes."""
        return self._sum(value) / self.processes

    def any(self, flag: bool) -> bool:
        """Is it true in any process?"""
        return self._sum(float(flag)) > 0

    def _sum(self, value: float) -> float:
        if self.processes == 1:
            return value
        total = torch.tensor(value, dtype=torch.float64, device=next(self.model.parameters()).device)
        dist.all_reduce(total)
        return total.item()

    def stream(self, seed: int, step: int) -> RandomStream:
        """What dropout draws from in a step. It depends on seed, step and group alone, so there is nothing to save."""
        return RandomStream(random.Random(f"dropout {seed} {step} {self.group}").getrandbits(63))


def blocks_of(model: nn.Module) -> list[nn.Module]:
    """The members of the outermost `nn.ModuleList`s."""
    if isinstance(model, nn.ModuleList):
        return list(model)
    return [block for child in model.children() for block in blocks_of(child)]


def prepare_blocks(model: nn.Module, parallel: Parallel) -> None:
    """Let every block compute its activations again, and be compiled, as `parallel` says."""
    for block in blocks_of(model):
        if parallel.checkpointing and "forward" not in vars(block):
            block.forward = _computed_again(block.forward)
        if parallel.compile:
            block.compile()


def _computed_again(forward: Callable) -> Callable:
    """A function, since torch.compile does not look into a `functools.partial` of `checkpoint`."""

    def computed_again(*inputs: Any, **options: Any) -> Any:
        return checkpoint(forward, *inputs, use_reentrant=False, **options)

    return computed_again
