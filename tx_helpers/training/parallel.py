"""One training run on several processes, or in several pieces: chosen by one argument of `fit`.

    fit(model, batches, …, parallel=Parallel(data="rest"))      # torchrun --nproc-per-node 2 …

What it becomes in a process stands in `layout`. Left out on purpose: pipeline, context and expert parallelism.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from tx_helpers.nn.arguments import check_numbers, check_types

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
        check_numbers("Parallel", numbers, least=1, whole=True, accumulate=self.accumulate)
        check_numbers("Parallel", above=0, timeout=self.timeout)
        check_types("Parallel", bool, checkpointing=self.checkpointing, compile=self.compile)
        check_types("Parallel", (torch.dtype, type(None)), precision=self.precision)
        if len(numbers) < 2:
            raise ValueError(f'Parallel: {sizes}, expected "rest" at most once')
        if self.precision is not None and self.shard == 1:
            raise ValueError(f"Parallel: precision={self.precision} needs shard; without shards use fit's autocast")

    @property
    def fewest(self) -> int:
        """The smallest number of processes that the sizes fit."""
        return math.prod(size for size in (self.data, self.shard, self.tensor) if isinstance(size, int))

    def sizes(self, processes: int) -> tuple[int, int, int]:
        """data, shard, tensor as numbers. Raises ValueError unless their product is the number of processes."""
        sizes, known = (self.data, self.shard, self.tensor), self.fewest
        data, shard, tensor = (size if isinstance(size, int) else processes // known for size in sizes)
        if data * shard * tensor != processes:
            raise ValueError(
                f"Parallel: data={self.data}, shard={self.shard}, tensor={self.tensor} do not fit {processes} "
                "process(es); start N of them by: torchrun --nproc-per-node N your_file.py"
            )
        return data, shard, tensor


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


def _computed_again(forward: Callable[..., Any]) -> Callable[..., Any]:
    """A function, since torch.compile does not look into a `functools.partial` of `checkpoint`."""

    def computed_again(*inputs: Any, **options: Any) -> Any:
        return checkpoint(forward, *inputs, use_reentrant=False, **options)

    return computed_again
