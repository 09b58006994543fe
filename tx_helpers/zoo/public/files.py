"""Files that somebody else has written: read as far as is needed, and refused by name where they are damaged.

Tensors lie in the format safetensors, and its library reads it: a header that accounts for every byte of the file, and
then the numbers, which are mapped and not copied. JSON and texts are read whole, up to a size.
"""

import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

MAX_BYTES = 100_000_000  # of a file of texts; the largest tokenizer.json in use has some 30 million


class Entry(NamedTuple):
    """One tensor of a file, not yet read."""

    file: Path
    name: str
    dtype: torch.dtype
    shape: tuple[int, ...]


@contextmanager
def open_tensors(file: Path) -> Iterator[safe_open]:
    """A file of tensors, with its header read. Raises ValueError if it is damaged, truncated or of another format."""
    if not file.is_file():  # reading a named pipe would wait for ever
        raise ValueError(f"{file}: no such file; expected a file of tensors in the format safetensors")
    try:
        with safe_open(file, "pt") as opened:
            yield opened
    except SafetensorError as error:
        raise ValueError(f"{file}: is damaged, or not in the format safetensors ({error})") from error


def read_entries_of(file: Path) -> dict[str, Entry]:
    """The tensors of a file by name. A name that occurs twice is refused, too; the library would see one of them."""
    entries = {}
    with open_tensors(file) as opened:
        names = opened.keys()
        for name in names:
            tensor = opened.get_tensor(name)  # mapped: no number is read
            entries[name] = Entry(file, name, tensor.dtype, tuple(tensor.shape))
    for entry in entries.values():
        if entry.dtype.is_floating_point and entry.dtype.itemsize == 1:
            raise ValueError(f"{file}: tensor {entry.name!r} is of {entry.dtype}, expected at least 16 bits a number")
    with open(file, "rb") as raw:
        parse_json(raw.read(int.from_bytes(raw.read(8), "little")), f"{file}: the header")
    return entries


def read_tensor(entry: Entry) -> Tensor:
    """The tensor, in the dtype of the file. It is a view of the file: copy what is to be kept."""
    with open_tensors(entry.file) as opened:
        return opened.get_tensor(entry.name)


def read_file(file: Path) -> bytes:
    """The whole content of a file that is no file of weights: at most MAX_BYTES, so that it cannot fill the memory."""
    if not file.is_file():
        raise ValueError(f"{file}: no such file; expected a checkpoint in the format of the library transformers")
    if (size := file.stat().st_size) > MAX_BYTES:
        raise ValueError(f"{file}: has {size} bytes, expected at most {MAX_BYTES}")
    return file.read_bytes()


def parse_json(text: bytes, where: str) -> dict[str, Any]:
    """A JSON object; ValueError for anything else, for a name that occurs twice, and for NaN and infinities."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            names = [name for name, _ in pairs]
            twice = next(name for name in names if names.count(name) > 1)
            raise ValueError(f"{twice!r} occurs twice")
        return found

    def refuse(constant: str) -> NoReturn:
        raise ValueError(f"{constant} stands for a number, expected a finite one")

    def finite(number: str) -> float:
        return float(number) if math.isfinite(float(number)) else refuse(number)

    try:
        parsed = json.loads(text, object_pairs_hook=unique, parse_constant=refuse, parse_float=finite)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{where} is no valid JSON: {error}") from error
    if not isinstance(parsed, dict):
        raise ValueError(f"{where} is {type(parsed).__name__} in JSON, expected an object")
    return parsed
