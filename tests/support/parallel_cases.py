"""Trainings that the tests of `Parallel` run in one process, and again in several.

As a script, started by torchrun: trains and checks what is named; the first process writes the results as JSON.
"""

import faulthandler
import json
import math
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn

import tx_helpers  # noqa: F401  sets how idle threads wait
from tx_helpers.lessons.what_changed.token_values import TokenValues
from tx_helpers.nn.config import AttentionConfig, FeedForwardConfig, PositionConfig, TransformerConfig
from tx_helpers.nn.models import DecoderOnly
from tx_helpers.text.data import IGNORE, TextBatch
from tx_helpers.training.gradients import whole
from tx_helpers.training.loop import Run, fit
from tx_helpers.training.losses import language_model_loss
from tx_helpers.training.optimizers import adamw, muon
from tx_helpers.training.parallel import Parallel
from tx_helpers.training.sharded import export_weights, last_checkpoint

V, D, T, ROWS = 11, 24, 5, 8
MOST_SECONDS = 900  # of one launch, on a busy machine; a quiet one takes a minute


def batches(step: int) -> TextBatch:
    """Rows of unequal length: a mean over processes of their means would be wrong."""
    generator = torch.Generator().manual_seed(step)
    ids = torch.randint(0, V, (ROWS, T + 1), generator=generator)
    target = ids[:, 1:].clone()
    for row in range(ROWS):
        target[row, 1 + row % T :] = IGNORE
    return TextBatch(ids[:, :-1], target)


def small_model(seed: int = 0, **changes) -> nn.Module:
    """Grouped queries, norms of queries and keys, a gated network, tied embeddings: each is cut in its own way."""
    options = dict(
        d_model=D,
        attention=AttentionConfig(4, n_kv_heads=2, qk_norm=True),
        feed_forward=FeedForwardConfig(d_ff=20, activation="silu", gated=True),
        positions=PositionConfig("rotary"),
    )
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return DecoderOnly(TransformerConfig(V, **options | changes))


OPTIMIZERS: dict[str, Callable] = {
    "sgd": lambda model: torch.optim.SGD(model.parameters(), lr=0.3),
    "adamw": lambda model: adamw(model, 0.01),
    "muon": lambda model: muon(model, 0.02, adamw_lr=0.01),
}


@dataclass(frozen=True)
class Case:
    """A training of the small model, and how far its losses may be from those of one process."""

    parallel: Parallel
    bound: float = 1e-6
    optimizer: str = "sgd"
    dtype: torch.dtype = torch.float64
    options: dict = field(default_factory=dict)
    steps: int = 50

    def train(self, parallel: Parallel | None, model: nn.Module | None = None, device: str = "cpu", **options) -> Run:
        model = (model or small_model()).to(device, self.dtype)
        plain = {"steps": self.steps, "clip": 0.5, "loss": language_model_loss, "progress": False}
        options = plain | self.options | options
        return fit(model, batches, optimizer=OPTIMIZERS[self.optimizer](model), parallel=parallel, **options)


DDP, FSDP, TENSOR = Parallel(data=2, timeout=600), Parallel(shard=2, timeout=600), Parallel(tensor=2, timeout=600)
SHORT, SINGLE = 6, torch.float32
CASES = {
    "copies": Case(DDP),
    "shards": Case(FSDP),
    "tensor": Case(TENSOR),
    "copies, accumulated": Case(Parallel(data=2, accumulate=3, timeout=600), steps=SHORT),
    "shards, accumulated": Case(Parallel(shard=2, accumulate=3, timeout=600), steps=SHORT),
    "tensor, accumulated": Case(Parallel(tensor=2, accumulate=3, timeout=600), steps=SHORT),
    "copies, activations again": Case(Parallel(data=2, checkpointing=True, timeout=600), steps=SHORT),
    "shards, activations again": Case(Parallel(shard=2, checkpointing=True, timeout=600), steps=SHORT),
    "tensor, activations again": Case(Parallel(tensor=2, checkpointing=True, timeout=600), steps=SHORT),
    "shards, unclipped": Case(FSDP, options={"clip": None}, steps=SHORT),
    "shards, float32": Case(FSDP, 1e-5, dtype=SINGLE, steps=SHORT),  # in float64 torch never asks gloo for an average
    "copies, adamw": Case(DDP, optimizer="adamw", steps=SHORT),
    "shards, adamw": Case(FSDP, optimizer="adamw", steps=SHORT),
    "tensor, adamw": Case(TENSOR, optimizer="adamw", steps=SHORT),
    "copies, muon": Case(DDP, optimizer="muon", steps=SHORT),
    "shards, muon": Case(FSDP, optimizer="muon", steps=SHORT),
    "tensor, muon": Case(TENSOR, optimizer="muon", steps=SHORT),
    "shards, bfloat16": Case(Parallel(shard=2, precision=torch.bfloat16, timeout=600), 0.05, dtype=SINGLE, steps=SHORT),
    "copies, autocast": Case(DDP, 0.05, dtype=SINGLE, options={"autocast": torch.bfloat16}, steps=SHORT),
    "copies, float16": Case(DDP, 0.01, dtype=SINGLE, options={"autocast": torch.float16}, steps=SHORT),
    "shards, float16": Case(FSDP, 0.01, dtype=SINGLE, options={"autocast": torch.float16}, steps=SHORT),
}
ON_FOUR = {
    "copies of shards": Case(Parallel(data=2, shard=2, timeout=600), steps=SHORT),
    "copies of tensor": Case(Parallel(data=2, tensor=2, timeout=600), steps=SHORT),
    "shards of tensor": Case(Parallel(shard="rest", tensor=2, timeout=600)),
    "shards of tensor, muon": Case(Parallel(shard=2, tensor=2, timeout=600), optimizer="muon", steps=SHORT),
}
# The operation, and which of its arguments is the whole tensor. Under gloo a reduce-scatter is an all-reduce, too.
COLLECTIVES = {
    "all-reduce": ("gloo:all_reduce", 0),
    "all-gather": ("c10d::_allgather_base_", 0),
    "reduce-scatter": ("c10d::_reduce_scatter_base_", 1),
}
LAYOUTS = {"copies": DDP, "shards": FSDP, "tensor": TENSOR}


def resumed(folder: Path) -> dict:
    """Six steps with dropout in one go, and four and two: the losses, and whether weights are equal to the last bit."""
    found = {}
    for name, parallel in LAYOUTS.items():
        case = Case(parallel, optimizer="adamw", dtype=SINGLE)
        straight = case.train(parallel, steps=6, model=small_model(dropout=0.1))
        case.train(parallel, steps=4, model=small_model(dropout=0.1), checkpoint=folder / name)
        again = case.train(parallel, steps=6, model=small_model(seed=1, dropout=0.1), resume=folder / name)
        values = [[whole(p) for p in run.parameters.values()] for run in (straight, again)]
        same = all(torch.equal(a, b) for a, b in zip(*values, strict=True))
        found[name] = {"straight": straight.losses, "again": again.losses, "same weights": same}
    return found


def saved(folder: Path) -> dict:
    """A checkpoint after four of ten steps, and the weights of the tenth as one file."""
    case = Case(FSDP, optimizer="adamw")
    case.train(FSDP, steps=4, checkpoint=folder / "saved", save_every=2)
    run = case.train(FSDP, steps=10, resume=folder / "saved")
    export_weights(run.model, folder / "saved.safetensors")
    return {"losses": run.losses}


def loaded(folder: Path) -> dict:
    """What `saved` has saved goes on with the processes and the layout of now."""
    parallel = Parallel(shard="rest", tensor=2, timeout=600)
    return {"losses": Case(parallel, optimizer="adamw").train(parallel, steps=10, resume=folder / "saved").losses}


def interrupted(folder: Path) -> dict:
    """The second process gets a Ctrl-C in its third step."""

    steps = iter(range(30))

    def loss(model, batch):
        if next(steps) == 2 and dist.get_rank() == 1:
            signal.raise_signal(signal.SIGINT)
        return language_model_loss(model, batch)

    run = Case(DDP).train(DDP, steps=30, loss=loss, checkpoint=folder / "interrupted")
    return {"steps": run.step, "interrupted": run.interrupted, "folders": os.listdir(folder / "interrupted")}


def refused(folder: Path) -> dict:
    """What an error says, by what was wrong."""
    spread = small_model()
    Case(FSDP).train(FSDP, steps=1, model=spread)
    attempts = {
        "another number of processes": lambda: Case(DDP).train(Parallel(data=3, timeout=600)),
        "spread twice": lambda: Case(FSDP).train(FSDP, model=spread),
        "other values": lambda: Case(DDP).train(DDP, model=small_model(seed=dist.get_rank())),
        "heads": lambda: Case(TENSOR).train(TENSOR, model=small_model(attention=AttentionConfig(3))),
        "hidden": lambda: Case(TENSOR).train(TENSOR, model=small_model(feed_forward=FeedForwardConfig(d_ff=9))),
        "bias": lambda: Case(TENSOR).train(TENSOR, model=small_model(positions=PositionConfig("alibi"))),
        "values": lambda: Case(TENSOR).train(TENSOR, model=small_model(mixer=TokenValues())),
        "float16": lambda: Case(TENSOR).train(TENSOR, autocast=torch.float16),
        "rows": lambda: Case(DDP).train(Parallel(data=2, accumulate=5, timeout=600)),
        "another model": lambda: Case(FSDP).train(FSDP, model=small_model(n_layers=3), resume=folder / "saved"),
        "a run": lambda: Case(FSDP).train(FSDP, resume={"step": 0}),
        "no checkpoint": lambda: Case(FSDP).train(FSDP, resume=folder / "nothing"),
    }
    return {name: _message(attempt) for name, attempt in attempts.items()}


def _message(attempt: Callable[[], object]) -> str:
    try:
        attempt()
    except (ValueError, FileNotFoundError) as error:
        return str(error)
    return "nothing was wrong"


def counted(folder: Path) -> dict:
    """Bytes of the collectives in one step, by layout, as PyTorch's profiler sees them; without clipping."""
    found = {}
    for name, parallel in LAYOUTS.items():
        model = small_model()
        run = Run(model, batches, loss=language_model_loss, optimizer=OPTIMIZERS["sgd"](model), parallel=parallel)
        run.train_step()  # the first step also tells the processes about shapes
        with torch.profiler.profile(record_shapes=True) as profiled:
            run.train_step()
        found[name] = {kind: 0 for kind in COLLECTIVES}
        for event in profiled.events():
            for kind, (operation, place) in COLLECTIVES.items():
                if event.name == operation:
                    found[name][kind] += 4 * math.prod(event.input_shapes[place])
    return found


def slow(folder: Path) -> dict:
    """A training that saves after every step, to be killed in the middle, and goes on where it was."""
    (folder / f"pid-{os.environ['RANK']}").write_text(str(os.getpid()))
    last = last_checkpoint(folder / "slow")
    options = {"steps": int(os.environ["STEPS"]), "checkpoint": folder / "slow", "save_every": 1}
    parallel = Parallel(shard="rest", timeout=float(os.environ.get("TIMEOUT", 600)))
    return {"losses": Case(FSDP).train(parallel, resume=last and folder / "slow", **options).losses}


CHECKS = {check.__name__: check for check in (resumed, saved, loaded, interrupted, refused, counted, slow)}


def main(names: list[str], folder: Path) -> None:
    """Train and check what is named, a case or a check, one after the other."""
    faulthandler.dump_traceback_later(MOST_SECONDS, exit=True)  # whatever happens, the process ends
    measured = {}
    for name in names:
        if name in CHECKS:
            measured[name] = CHECKS[name](folder)
        else:
            case = (CASES | ON_FOUR)[name]
            run = case.train(case.parallel)
            measured[name] = {"losses": run.losses, "norms": run.gradient_norms}
    if os.environ["RANK"] == "0":
        (folder / "measured.json").write_text(json.dumps(measured))


if __name__ == "__main__":
    main(json.loads(sys.argv[1]), Path(sys.argv[2]))
