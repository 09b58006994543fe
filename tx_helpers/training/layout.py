"""A process's place in a training run: which part of a batch is its own, and what it sums with the other processes.

A part of a batch counts by its targets: a mean of means would be another loss where the padding differs. How the model
is spread stands in `spread`, which is imported only where there are several processes.
"""

import os
import random
from collections.abc import Callable, Iterator
from typing import Any

import torch
import torch.distributed as dist
from torch import nn

from tx_helpers.training.contexts import RandomStream
from tx_helpers.training.parallel import Parallel, prepare_blocks


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
