"""On real processes, what the notebook simulates in one: the ways to train a model, collectives, and a checkpoint.

    torchrun --standalone --nproc-per-node 2 -m tx_helpers.lessons.scaling_up.real.on_processes FOLDER

Every layout is the same call of `fit`, with another `Parallel(…)`. The first process prints two tables. FOLDER then has
a checkpoint of half the steps, with which `train(Parallel(shard="rest"), resume=FOLDER)` goes on in one process.
Numbers are float64: their losses do not depend on the order in which processes add, but for the last digits.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from tx_helpers.lessons.scaling_up.real.measured import measured_state
from tx_helpers.lessons.scaling_up.real.processes import ProcessRank
from tx_helpers.lessons.scaling_up.simulated import collectives
from tx_helpers.nn.config import AttentionConfig, TransformerConfig
from tx_helpers.nn.models import DecoderOnly
from tx_helpers.text.data import TextBatches
from tx_helpers.training.contexts import RandomStream
from tx_helpers.training.loop import Run, fit
from tx_helpers.training.losses import language_model_loss
from tx_helpers.training.optimizers import adamw
from tx_helpers.training.parallel import Parallel

STEPS = 20
LAYOUTS = {
    "data=2 (DDP)": Parallel(data=2),
    "shard=2 (FSDP2)": Parallel(shard=2),
    "tensor=2": Parallel(tensor=2),
    "shard=2, 2 pieces": Parallel(shard=2, accumulate=2),
}


def train(parallel: Parallel | None = None, *, steps: int = STEPS, **options: Any) -> Run:
    """Train a model of 15,000 parameters to count: 0 1 2 … 9 0 1 …, alone or on several processes. -> its `Run`"""
    with RandomStream(0).on(torch.device("cpu")):
        model = DecoderOnly(TransformerConfig(10, d_model=24, n_layers=2, attention=AttentionConfig(4))).double()
    batches = TextBatches(torch.arange(1000) % 10, length=16, batch_size=8)
    optimizer = adamw(model, 3e-3)
    return fit(
        model,
        batches,
        steps=steps,
        loss=language_model_loss,
        optimizer=optimizer,
        parallel=parallel,
        progress=False,
        **options,
    )


def layouts() -> str:
    """Train in every layout. -> a table of the last losses, and of what each process holds"""
    lines = [f"{'':20}loss after {STEPS} steps   largest gap   kB in each process: weights, gradients, optimizer"]
    alone = train()
    for name, parallel in {"one process": None, **LAYOUTS}.items():
        run = train(parallel) if parallel else alone
        gap = max(abs(a - b) for a, b in zip(run.losses, alone.losses, strict=True))
        if gap > 1e-6:
            raise AssertionError(f"{name}: losses differ by {gap} from those of one process")
        held = "   ".join(f"{held / 1000:6.1f}" for held in measured_state(run).values())
        lines.append(f"{name:20}{run.losses[-1]:.6f}              {gap if parallel else 0:<11.5f}   {held}")
    return "\n".join(lines)


def rings(rank: ProcessRank) -> str:
    """Run our collectives on these processes. -> a table of bytes sent, and of how far they are from PyTorch's"""
    n, generator = rank.count, torch.Generator().manual_seed(rank.number)
    x = torch.randint(-1000, 1000, (n, 30_000), generator=generator).double()
    cases: dict[str, tuple[Callable[[], Tensor], Callable[[], Tensor]]] = {
        "all_reduce": (lambda: collectives.all_reduce(rank, x), lambda: _torch_all_reduce(x)),
        "reduce_scatter": (lambda: collectives.reduce_scatter(rank, list(x)), lambda: _torch_reduce_scatter(x)),
        "all_gather": (lambda: torch.stack(collectives.all_gather(rank, x[0])), lambda: _torch_all_gather(x[0])),
        "all_to_all": (lambda: torch.stack(collectives.all_to_all(rank, list(x))), lambda: _torch_all_to_all(x)),
    }
    lines = [f"{'':20}bytes sent by each   by formula   largest gap to torch.distributed"]
    for name, (ours, torchs) in cases.items():
        before = len(rank.messages)
        gap = (ours() - torchs()).abs().max()
        dist.all_reduce(gap, dist.ReduceOp.MAX)
        sent = sum(message.bytes for message in rank.messages[before:])
        formula = collectives.bytes_sent(name, x.nbytes, n)
        lines.append(f"{name:20}{sent:18,}   {formula:10,.0f}   {gap.item():g}")
    return "\n".join(lines)


def _torch_all_reduce(x: Tensor) -> Tensor:
    x = x.clone()
    dist.all_reduce(x)
    return x


def _torch_reduce_scatter(x: Tensor) -> Tensor:
    mine = torch.empty_like(x[:1])
    dist.reduce_scatter_tensor(mine, x)
    return mine[0]


def _torch_all_gather(part: Tensor) -> Tensor:
    parts = part.new_empty(dist.get_world_size(), len(part))
    dist.all_gather_into_tensor(parts, part[None])
    return parts


def _torch_all_to_all(x: Tensor) -> Tensor:
    received = torch.empty_like(x)
    dist.all_to_all_single(received, x)
    return received


def main(folder: Path) -> None:
    """Train, compare, save a checkpoint; the first process prints."""
    tables = [layouts(), rings(ProcessRank())]
    half = train(Parallel(shard=2), steps=STEPS // 2, checkpoint=folder)
    if half.layout.first:
        print(*tables, f"saved after {half.step} steps, shard=2", sep="\n\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
