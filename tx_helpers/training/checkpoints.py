"""Checkpoints: files that hold all of their content or are not there.

A file is written beside its place, forced to the disk and then renamed, so that a crash leaves the old file or the new
one, never half of one. It loads with `weights_only=True`: it can carry no code. And it is read in full and compared
with its checksums, which `torch.load` leaves out: a flipped bit would otherwise load as another number.
"""

import io
import os
import zipfile
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

FORMAT, VERSION = "tx_helpers checkpoint", 1


def save_checkpoint(path: str | Path, kind: str, content: dict[str, Any]) -> None:
    """Write content (tensors, numbers, strings, and lists and dicts of them); `kind` says what it is, e.g. "run"."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.unfinished")
    try:
        with open(unfinished, "wb") as file:
            torch.save({"format": FORMAT, "version": VERSION, "kind": kind, "content": content}, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)


def load_checkpoint(path: str | Path, kind: str) -> dict[str, Any]:
    """The content that `save_checkpoint` wrote, with all tensors on the CPU.

    Raises FileNotFoundError, and ValueError for a file that is damaged, foreign or of another kind.
    """
    path = Path(path)
    expected = f"expected a {FORMAT}, version {VERSION}, of kind {kind!r}"
    if not path.exists():
        raise FileNotFoundError(f"load_checkpoint: no file {str(path)!r}; {expected}")
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
    if (file["version"], file["kind"]) != (VERSION, kind):
        found = f"is of version {file['version']} and kind {file['kind']!r}"
        raise ValueError(f"load_checkpoint: {str(path)!r} {found}; {expected}")
    return file["content"]


def load_weights(model: nn.Module, weights: dict[str, Tensor]) -> None:
    """Copy saved values (a model's `state_dict`) into the model, if they are this model's, by name and shape.

    Raises ValueError naming the first parameter that differs; the model is then as before.
    """
    check_weights(model, weights)
    model.load_state_dict(weights)


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
