"""Checkpoints of runs on several processes, by PyTorch's Distributed Checkpoint: each process writes its shards.

    checkpoint/step-00000120/run.json       steps, losses, … to read
    checkpoint/step-00000120/.metadata      which file has which part of which tensor
    checkpoint/step-00000120/__0_0.distcp   the tensors of process 0

A folder is written under another name, and renamed once every process has written: it is complete, or has no number.
Only then the older ones go; one of the same step stands aside until then, and still counts. What 2 processes have saved
loads on 1 or 4, whatever their layout. Unlike the file of `checkpoints`, .metadata is a pickle and could carry code:
load only folders that you have written.
"""

import json
import os
import shutil
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch import nn
from torch.distributed.checkpoint.state_dict import (
    StateDictOptions,
    get_model_state_dict,
    get_state_dict,
    set_state_dict,
)

from tx_helpers.training.state import HISTORY, load_history, load_scaler
from tx_helpers.training.tensor_file import write_tensors

if TYPE_CHECKING:
    from tx_helpers.training.loop import Run

UNFINISHED, REPLACED = ".unfinished", ".replaced"
OPTIONS = StateDictOptions(flatten_optimizer_state_dict=True)


def save_sharded(run: "Run", folder: str | Path) -> None:
    """Write the run's state into `folder`, as its last checkpoint. All processes call this."""
    folder = Path(folder)
    finished = folder / f"step-{run.step:08}"
    unfinished = finished.with_name(finished.name + UNFINISHED)
    if run.layout.first:
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(parents=True)
        state = {name: getattr(run, name) for name in ("step", *HISTORY)}
        about = state | {"seed": run.random.seed, "scaler": run.scaler.state_dict(), "torch": torch.__version__}
        (unfinished / "run.json").write_text(json.dumps(about), encoding="utf-8")
    _wait()
    with _quiet():
        dcp.save(_tensors(run), checkpoint_id=unfinished)
    if run.layout.first:
        if finished.exists():
            aside = finished.with_name(finished.name + REPLACED)
            shutil.rmtree(aside, ignore_errors=True)
            os.replace(finished, aside)
        os.replace(unfinished, finished)
        for other in folder.glob("step-*"):
            if other != finished:
                shutil.rmtree(other, ignore_errors=True)
    _wait()


def load_sharded(run: "Run", folder: str | Path) -> None:
    """Load the last checkpoint of `folder` into a run with this model and these optimizers, on any layout.

    Raises FileNotFoundError if there is none, and ValueError if it is another model's, other optimizers', or damaged.
    """
    last = last_checkpoint(folder)
    if last is None:
        raise FileNotFoundError(f"load_sharded: no complete checkpoint in {str(folder)!r}")
    try:
        about = json.loads((last / "run.json").read_text("utf-8"))
        saved = dcp.FileSystemReader(last).read_metadata().state_dict_metadata
    except Exception as error:  # a damaged pickle can raise nearly anything
        raise ValueError(f"load_sharded: {str(last)!r} is damaged ({type(error).__name__}: {error})") from error
    tensors = _tensors(run)
    _check(tensors, saved)
    try:
        with _quiet():
            dcp.load(tensors, checkpoint_id=last)
    except (dcp.CheckpointException, OSError, RuntimeError) as error:
        raise ValueError(f"load_sharded: {str(last)!r} is damaged ({type(error).__name__})") from error
    model, optimizers = tensors["model"], tensors["optimizers"]
    set_state_dict(run.model, run.optimizers, model_state_dict=model, optim_state_dict=optimizers, options=OPTIONS)
    run.random.seed = about["seed"]
    load_scaler(run, about["scaler"])
    load_history(run, about)


def last_checkpoint(folder: str | Path) -> Path | None:
    """The folder of the last complete checkpoint, or None."""
    found = {path: path.name.removeprefix("step-").removesuffix(REPLACED) for path in Path(folder).glob("step-*")}
    steps = {path: int(number) for path, number in found.items() if number.isdigit()}
    return max(steps, key=lambda path: (steps[path], path.name == f"step-{found[path]}"), default=None)


def export_weights(model: nn.Module, file: str | Path) -> None:
    """Write the whole model as one safetensors file, also where its parameters are shards. All processes call this."""
    weights = get_model_state_dict(model, options=StateDictOptions(full_state_dict=True, cpu_offload=True))
    if not dist.is_initialized() or dist.get_rank() == 0:
        forms = {name: (value.dtype, tuple(value.shape)) for name, value in weights.items()}
        write_tensors(Path(file), forms, weights.__getitem__)
    _wait()


def _tensors(run: "Run") -> dict[str, Any]:
    model, optimizers = get_state_dict(run.model, run.optimizers, options=OPTIONS)
    return {"model": model, "optimizers": optimizers}


def _check(tensors: dict[str, Any], saved: dict[str, Any]) -> None:
    own = {f"model.{name}": tuple(value.shape) for name, value in tensors["model"].items()}
    there = {name: tuple(entry.size) for name, entry in saved.items() if name.startswith("model.")}
    for name in [*own, *there]:
        if own.get(name) != there.get(name):
            raise ValueError(
                f"load_sharded: {name.removeprefix('model.')!r} is {own.get(name, 'missing')} in the model, "
                f"but {there.get(name, 'missing')} in the checkpoint"
            )
    held = {f"optimizers.{name}" for name in tensors["optimizers"]}
    others = {name for name in saved if name.startswith("optimizers.state.")} - held
    for name in sorted(held - saved.keys()) + sorted(others):
        where = "only in the checkpoint" if name in others else "missing in the checkpoint"
        raise ValueError(f"load_sharded: the checkpoint is that of other optimizers: {name!r} is {where}")


@contextmanager
def _quiet() -> Iterator[None]:
    """Without torch's warning that a single process works alone, as is meant here."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "torch.distributed is disabled", UserWarning)
        yield


def _wait() -> None:
    if dist.is_initialized():
        dist.barrier()
