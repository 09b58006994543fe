"""Checkpoints: files that are complete, or do not exist.

A file is written under another name, forced to the disk and then renamed, so that a crash leaves the old file or the
new one, never half of one. It loads with `weights_only=True`: it can carry no code. It is read in full and compared
with its checksums, which `torch.load` leaves out: a flipped bit would otherwise load as another number.
"""

import glob
import io
import os
import time
import zipfile
from collections.abc import Mapping
from contextlib import suppress
from copy import copy, deepcopy
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import Tensor, nn

FORMAT, VERSION = "tx_helpers checkpoint", 1
ABANDONED = 600  # seconds without a write after which an unfinished file counts as abandoned


def save_checkpoint(path: str | Path, kind: str, content: dict[str, Any]) -> None:
    """Write content (tensors, numbers, strings, and lists and dicts of them); `kind` says what it is, e.g. "run".

    Unfinished files that killed processes have left beside it are removed. Raises OSError if the file cannot be
    written; the old one is then untouched.
    """
    path, data = Path(path), io.BytesIO()
    torch.save({"format": FORMAT, "version": VERSION, "kind": kind, "content": content}, data)
    path.parent.mkdir(parents=True, exist_ok=True)
    for other in path.parent.glob(f".{glob.escape(path.name)}.*.unfinished"):
        with suppress(OSError):  # it is gone by now, or another user's
            if _is_abandoned(other):
                other.unlink()
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.unfinished")
    try:
        with open(unfinished, "wb") as file:
            file.write(data.getbuffer())
            file.flush()
            os.fsync(file.fileno())
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)


def load_checkpoint(path: str | Path, kind: str) -> dict[str, Any]:
    """The content that `save_checkpoint` wrote, with all tensors on the CPU.

    Raises FileNotFoundError, another OSError if the file cannot be read, and ValueError for a file that is damaged,
    foreign or of another kind.
    """
    path = Path(path)
    expected = f"expected a {FORMAT}, version {VERSION}, of kind {kind!r}"
    if not path.exists():
        raise FileNotFoundError(f"load_checkpoint: no file {str(path)!r}; {expected}")
    if not path.is_file():  # reading a named pipe would wait for ever
        raise ValueError(f"load_checkpoint: {str(path)!r} is a folder or a device, not a file; {expected}")
    data = path.read_bytes()
    try:
        damaged = zipfile.ZipFile(io.BytesIO(data)).testzip()
        if damaged is not None:
            raise zipfile.BadZipFile(f"wrong checksum of {damaged!r}")
        file = torch.load(io.BytesIO(data), map_location="cpu", weights_only=True)
    except Exception as error:  # a damaged file can raise nearly anything
        raise ValueError(
            f"load_checkpoint: {str(path)!r} is damaged or no checkpoint at all ({type(error).__name__}); {expected}"
        ) from error
    if not isinstance(file, dict) or file.get("format") != FORMAT:
        raise ValueError(f"load_checkpoint: {str(path)!r} is another program's file; {expected}")
    if (file.get("version"), file.get("kind")) != (VERSION, kind):
        found = f"is of version {file.get('version')} and kind {file.get('kind')!r}"
        raise ValueError(f"load_checkpoint: {str(path)!r} {found}; {expected}")
    if not isinstance(file.get("content"), dict):
        raise ValueError(f"load_checkpoint: {str(path)!r} has no content; {expected}")
    return file["content"]


def load_weights(model: nn.Module, weights: dict[str, Tensor]) -> None:
    """Copy saved values (a model's `state_dict`) into the model, if they are this model's, by name and shape.

    Raises ValueError naming the first parameter that differs; the model is then as before.
    """
    check_weights(model, weights)
    model.load_state_dict(weights)


def save_tensors(file: str | Path, tensors: Mapping[str, Tensor], facts: Mapping[str, str] | None = None) -> None:
    """Write tensors in the format safetensors, with facts about them, and force the file to the disk.

    Tensors that share their numbers, as tied matrices do, are written one by one.
    """
    apart: dict[str, Tensor] = {}
    places = set()
    for name, tensor in tensors.items():
        tensor = tensor.detach().cpu().contiguous()
        place = tensor.untyped_storage().data_ptr()
        apart[name] = tensor.clone() if place in places else tensor
        places.add(place)
    save_file(apart, file, {"format": "pt", **(facts or {})})
    force_to_disk(file)


def force_to_disk(file: str | Path) -> None:
    """Wait until a file that has been written would outlive a power cut."""
    with open(file, "r+b") as opened:
        os.fsync(opened.fileno())


def check_weights(model: nn.Module, weights: dict[str, Tensor]) -> None:
    """Raise ValueError unless names and shapes are those of the model."""
    own = {name: tuple(value.shape) for name, value in model.state_dict().items()}
    saved = {name: tuple(value.shape) for name, value in weights.items()}
    for name in [*own, *saved]:
        if own.get(name) != saved.get(name):
            raise ValueError(
                f"load_weights: {name!r} is {own.get(name, 'missing')} in {type(model).__name__}, "
                f"but {saved.get(name, 'missing')} in the checkpoint"
            )


def check_optimizer(optimizer: torch.optim.Optimizer, state: dict[str, Any]) -> None:
    """Raise an error unless the state loads into this optimizer, with every setting and the right shapes."""
    trial = copy(optimizer)
    try:
        trial.load_state_dict(deepcopy(state))
    except ValueError as error:
        name = type(optimizer).__name__
        raise ValueError(
            f"load_checkpoint: the state of {name} in the checkpoint does not fit ({error}); "
            "resume with the model and the optimizer that were saved"
        ) from error
    for own, group in zip(optimizer.param_groups, trial.param_groups, strict=True):
        if missing := own.keys() - group.keys():
            raise KeyError(*sorted(missing))
    for parameter, values in trial.state.items():
        shapes = {tuple(value.shape) for value in values.values() if isinstance(value, Tensor) and value.dim()}
        if shapes - {tuple(parameter.shape)}:
            raise TypeError(f"shapes {shapes} for a parameter {tuple(parameter.shape)}")


def _is_abandoned(unfinished: Path) -> bool:
    """Has the process that wrote this file ended? If that cannot be known: is the last write long ago?"""
    process = unfinished.suffixes[-2][1:]
    if os.name == "posix" and process.isdigit():
        try:
            os.kill(int(process), 0)
        except ProcessLookupError:
            return True
        except (PermissionError, OverflowError):
            pass
    return time.time() - unfinished.stat().st_mtime > ABANDONED
