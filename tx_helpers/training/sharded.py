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
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

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

from tx_helpers.training.tensor_file import write_tensors

Optimizers = list[torch.optim.Optimizer]
UNFINISHED, REPLACED = ".unfinished", ".replaced"
OPTIONS = StateDictOptions(flatten_optimizer_state_dict=True)


def save_sharded(folder: str | Path, model: nn.Module, optimizers: Optimizers, record: dict[str, Any]) -> None:
    """Write weights, the optimizers' state and a run's record into `folder`, as its last checkpoint.

    The record holds numbers, texts, and lists and dicts of them; its "step" is the checkpoint's. All processes call
    this.
    """
    folder = Path(folder)
    finished = folder / f"step-{record['step']:08}"
    unfinished = finished.with_name(finished.name + UNFINISHED)
    if _first():
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(parents=True)
        about = json.dumps(record | {"torch": torch.__version__})
        (unfinished / "run.json").write_text(about, encoding="utf-8")
    _wait()
    with _quiet():
        dcp.save(_tensors(model, optimizers), checkpoint_id=unfinished)
    if _first():
        if finished.exists():
            aside = finished.with_name(finished.name + REPLACED)
            shutil.rmtree(aside, ignore_errors=True)
            os.replace(finished, aside)
        os.replace(unfinished, finished)
        for other in folder.glob("step-*"):
            if other != finished:
                shutil.rmtree(other, ignore_errors=True)
    _wait()


def load_sharded(
    folder: str | Path, model: nn.Module, optimizers: Optimizers, check: Callable[[dict[str, Any]], None]
) -> dict[str, Any]:
    """Load the last checkpoint of `folder` into this model and these optimizers, on any layout. -> the run's record

    Raises FileNotFoundError if there is none, and ValueError if it is another model's, other optimizers', or damaged,
    or if `check` finds the record wrong: before anything is changed.
    """
    last = last_checkpoint(folder)
    if last is None:
        raise FileNotFoundError(f"load_sharded: no complete checkpoint in {str(folder)!r}")
    try:
        record = json.loads((last / "run.json").read_text("utf-8"))
        saved = dcp.FileSystemReader(last).read_metadata().state_dict_metadata
    except Exception as error:  # a damaged pickle can raise nearly anything
        raise ValueError(f"load_sharded: {str(last)!r} is damaged ({type(error).__name__}: {error})") from error
    check(record)
    tensors = _tensors(model, optimizers)
    _check(tensors, saved)
    try:
        with _quiet():
            dcp.load(tensors, checkpoint_id=last)
    except (dcp.CheckpointException, OSError, RuntimeError) as error:
        raise ValueError(f"load_sharded: {str(last)!r} is damaged ({type(error).__name__})") from error
    weights, states = tensors["model"], tensors["optimizers"]
    set_state_dict(model, optimizers, model_state_dict=weights, optim_state_dict=states, options=OPTIONS)
    return record


def last_checkpoint(folder: str | Path) -> Path | None:
    """The folder of the last complete checkpoint, or None."""
    found = {path: path.name.removeprefix("step-").removesuffix(REPLACED) for path in Path(folder).glob("step-*")}
    steps = {path: int(number) for path, number in found.items() if number.isdigit()}
    return max(steps, key=lambda path: (steps[path], path.name == f"step-{found[path]}"), default=None)


def export_weights(model: nn.Module, file: str | Path) -> None:
    """Write the whole model as one safetensors file, also where its parameters are shards. All processes call this."""
    weights = get_model_state_dict(model, options=StateDictOptions(full_state_dict=True, cpu_offload=True))
    if _first():
        forms = {name: (value.dtype, tuple(value.shape)) for name, value in weights.items()}
        write_tensors(Path(file), forms, weights.__getitem__)
    _wait()


def _tensors(model: nn.Module, optimizers: Optimizers) -> dict[str, Any]:
    weights, states = get_state_dict(model, optimizers, options=OPTIONS)
    return {"model": weights, "optimizers": states}


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


def _first() -> bool:
    """Is this the process that writes what is written once?"""
    return not dist.is_initialized() or dist.get_rank() == 0


def _wait() -> None:
    if dist.is_initialized():
        dist.barrier()
