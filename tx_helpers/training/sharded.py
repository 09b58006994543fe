"""Checkpoints of runs on several processes, by PyTorch's Distributed Checkpoint: each process writes its shards.

    checkpoint/step-00000120/run.json       steps, losses, … to read
    checkpoint/step-00000120/.metadata      which file has which part of which tensor
    checkpoint/step-00000120/__0_0.distcp   the tensors of process 0
    checkpoint/step-00000120/SHA256SUMS     the checksums of all these, as `sha256sum -c` reads them

A folder is written under another name, and renamed once every process has written: it is complete, or has no number.
Before that the older ones step aside (.replaced): they still count where there is no other, and go last. So whenever a
process is killed, the last checkpoint is whole. What 2 processes have saved loads on 1 or 4, whatever their layout.
Unlike the file of `checkpoints`, .metadata is a pickle and could carry code: load only folders that you have written.
"""

import hashlib
import itertools
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
from torch import Tensor, nn
from torch.distributed.checkpoint.state_dict import (
    StateDictOptions,
    get_model_state_dict,
    get_state_dict,
    set_state_dict,
)

from tx_helpers.training.checkpoints import force_to_disk, save_tensors

Optimizers = list[torch.optim.Optimizer]
UNFINISHED, REPLACED = ".unfinished", ".replaced"
RECORD, SUMS = "run.json", "SHA256SUMS"
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
        _write(unfinished / RECORD, json.dumps(record | {"torch": torch.__version__}))
    _wait()
    with _quiet():
        dcp.save(_tensors(model, optimizers), checkpoint_id=unfinished)
    sums = _sums(unfinished)
    if _first():
        _write(unfinished / SUMS, "\n".join([*sums, ""]))
        _put_in_place(unfinished, finished)
    _wait()


def _put_in_place(unfinished: Path, finished: Path) -> None:
    """Give a complete checkpoint its name, and remove all others of the folder; see the head of this file."""
    others = [path for path in finished.parent.glob("step-*") if path != unfinished]
    numbered = [path for path in others if _step(path.name) is not None]
    if numbered:  # so those that stepped aside are no longer needed, and may be half removed
        for path in set(others) - set(numbered):
            shutil.rmtree(path, ignore_errors=True)
    for path in numbered:
        os.replace(path, path.with_name(path.name + REPLACED))
    os.replace(unfinished, finished)
    for path in finished.parent.glob("step-*"):
        if path != finished:
            shutil.rmtree(path, ignore_errors=True)


def _write(file: Path, text: str) -> None:
    """Write a text, and force it to the disk, as torch does with the shards."""
    file.write_text(text, encoding="utf-8")
    force_to_disk(file)


def _sums(folder: Path) -> list[str]:
    """A line for each file of a checkpoint but this list: checksum and name. The processes share the work."""
    rank, processes = (dist.get_rank(), dist.get_world_size()) if dist.is_initialized() else (0, 1)
    lines = []
    files = [file for file in folder.iterdir() if file.is_file() and file.name != SUMS]
    for file in sorted(files)[rank::processes]:
        with open(file, "rb") as opened:
            lines.append(f"{hashlib.file_digest(opened, 'sha256').hexdigest()}  {file.name}")
    if processes == 1:
        return lines
    parts: list[list[str]] = [[]] * processes
    dist.all_gather_object(parts, lines)
    return sorted(itertools.chain(*parts))


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
    _check_sums(last)
    record = json.loads((last / RECORD).read_text("utf-8"))
    saved = dcp.FileSystemReader(last).read_metadata().state_dict_metadata
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
    for ending in ("", REPLACED):
        found = {path: _step(path.name.removesuffix(ending)) for path in Path(folder).glob(f"step-*{ending}")}
        if steps := {path: step for path, step in found.items() if step is not None}:
            return max(steps, key=steps.__getitem__)
    return None


def _step(name: str) -> int | None:
    number = name.removeprefix("step-")
    return int(number) if number.isdigit() else None


def export_weights(model: nn.Module, file: str | Path) -> None:
    """Write the whole model as one safetensors file, also where its parameters are shards. All processes call this."""
    weights = get_model_state_dict(model, options=StateDictOptions(full_state_dict=True, cpu_offload=True))
    if _first():
        save_tensors(file, {name: tensor for name, tensor in weights.items() if isinstance(tensor, Tensor)})
    _wait()


def _tensors(model: nn.Module, optimizers: Optimizers) -> dict[str, Any]:
    weights, states = get_state_dict(model, optimizers, options=OPTIONS)
    return {"model": weights, "optimizers": states}


def _check_sums(folder: Path) -> None:
    """Raise ValueError unless every file of a checkpoint is there and as it was written; others may lie beside them."""
    try:
        written = (folder / SUMS).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"load_sharded: {str(folder)!r} is damaged ({SUMS}: {error})") from error
    lines = set(written.split())
    found = {line for line in _sums(folder) if line.partition("  ")[2] in lines}
    if different := sorted(set(written.split("\n")) ^ {*found, ""}):
        name = different[0].partition("  ")[2]
        raise ValueError(f"load_sharded: {str(folder)!r} is damaged ({name!r} does not have the checksum in {SUMS})")


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
