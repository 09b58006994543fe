"""Files of tensors in the format safetensors: read one tensor at a time, written whole or not at all.

A file is the length of the header (8 bytes, little-endian), the header in JSON, and the numbers of all tensors, one
after the other:

    {"wte.weight": {"dtype": "F32", "shape": [11, 12], "data_offsets": [0, 528]}, …}

"__metadata__" may stand there, too, with a text for each name: where the numbers come from. The file holds numbers and
texts, and nothing that could run. A header is believed only if it accounts for every byte of the file. The
bytes of a tensor are read straight into the tensor, so that nothing is ever in memory twice.
Source: the description of the format in the repository of the library safetensors.
"""

import json
import math
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import torch
from torch import Tensor

DTYPES = {
    **{"F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16},
    **{"I64": torch.int64, "I32": torch.int32, "I16": torch.int16, "I8": torch.int8, "U8": torch.uint8},
    "BOOL": torch.bool,
}
LONGEST_HEADER = 100_000_000  # bytes, as in the library
MAX_BYTES = 100_000_000  # of a file of texts; the largest tokenizer.json in use has some 30 million


class Entry(NamedTuple):
    """One tensor of a file: where its numbers are."""

    file: Path
    name: str
    dtype: torch.dtype
    shape: tuple[int, ...]
    start: int
    length: int


def read_header(file: Path) -> dict[str, Entry]:
    """The tensors of a file by name. Raises ValueError for a file that is damaged, truncated or of another format."""
    header, length, size = _header(file)
    header.pop("__metadata__", None)
    entries = {name: _entry(file, name, what, 8 + length) for name, what in header.items()}
    end = 8 + length
    for entry in sorted(entries.values(), key=lambda entry: (entry.start, entry.length)):
        if entry.start != end:
            raise ValueError(f"{file}: tensor {entry.name!r} begins at byte {entry.start}, expected {end}")
        end += entry.length
    if end != size:
        raise ValueError(f"{file}: has {size} bytes, but its header describes {end}: it is truncated or damaged")
    return entries


def read_metadata(file: Path) -> dict[str, str]:
    """What the file says about itself, a text for each name; empty if nothing is written there."""
    metadata = _header(file)[0].get("__metadata__", {})
    if not isinstance(metadata, dict) or not all(isinstance(text, str) for text in metadata.values()):
        raise ValueError(f"{file}: __metadata__ is {str(metadata)[:80]}, expected a text for each name")
    return metadata


def _header(file: Path) -> tuple[dict[str, Any], int, int]:
    """The header, how long it is, and how long the file is."""
    if not file.is_file():  # reading a named pipe would wait for ever
        raise ValueError(f"{file}: no such file; expected a file of tensors in the format safetensors")
    size = file.stat().st_size
    with open(file, "rb") as opened:
        length = int.from_bytes(opened.read(8), "little")
        if size < 8 or not 2 <= length <= min(size - 8, LONGEST_HEADER):
            raise ValueError(
                f"{file}: a header of {length} bytes in a file of {size}: no file in the format safetensors"
            )
        return parse_json(opened.read(length), f"{file}: the header"), length, size


def _entry(file: Path, name: str, what: Any, data: int) -> Entry:
    """One line of the header, checked by itself; `data` is where the numbers of the file begin."""
    try:
        dtype, shape, (start, end) = what["dtype"], what["shape"], what["data_offsets"]
        whole = all(type(n) is int and n >= 0 for n in (*shape, start, end))
    except (KeyError, TypeError, ValueError):
        whole = False
    if not whole:
        raise ValueError(f"{file}: tensor {name!r} is {str(what)[:80]}, expected dtype, shape and data_offsets")
    if not isinstance(dtype, str) or dtype not in DTYPES:
        raise ValueError(f"{file}: tensor {name!r} is of dtype {dtype!r}, expected one of {', '.join(DTYPES)}")
    length = math.prod(shape) * DTYPES[dtype].itemsize
    if length != end - start:
        raise ValueError(
            f"{file}: tensor {name!r} of shape {tuple(shape)} in {dtype} takes {length} bytes, but has {end - start}"
        )
    return Entry(file, name, DTYPES[dtype], tuple(shape), data + start, length)


def read_tensor(entry: Entry, room: Tensor | None = None) -> Tensor:
    """The tensor, in the dtype of the file; its numbers are put into `room`, bytes (N,), if that is given."""
    memory = torch.empty(entry.length, dtype=torch.uint8) if room is None else room[: entry.length]
    with open(entry.file, "rb", buffering=0) as opened:
        opened.seek(entry.start)
        left = memoryview(memory.numpy())
        while len(left):
            read = opened.readinto(left)
            if not read:
                raise ValueError(f"{entry.file}: ends within tensor {entry.name!r}; {len(left)} bytes are missing")
            left = left[read:]
    return memory.view(entry.dtype).view(entry.shape)


def write_tensors(
    file: Path,
    tensors: Mapping[str, tuple[torch.dtype, tuple[int, ...]]],
    value: Callable[[str], Tensor],
    metadata: Mapping[str, str] | None = None,
) -> None:
    """Write tensors, given by name as (dtype, shape); `value` gives the numbers of each when its turn has come."""
    names = {dtype: name for name, dtype in DTYPES.items()}
    header, end = {"__metadata__": {"format": "pt", **(metadata or {})}}, 0
    for name, (dtype, shape) in tensors.items():
        start, end = end, end + math.prod(shape) * dtype.itemsize
        header[name] = {"dtype": names[dtype], "shape": list(shape), "data_offsets": [start, end]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(file, "wb") as opened:
        opened.write(len(text).to_bytes(8, "little") + text)
        for name, (dtype, shape) in tensors.items():
            tensor = value(name).detach().to("cpu", dtype).reshape(shape).contiguous()
            opened.write(memoryview(tensor.reshape(-1).view(torch.uint8).numpy()))
        opened.flush()
        os.fsync(opened.fileno())


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
        raise ValueError(f"holds {constant}, expected a finite number")

    def finite(number: str) -> float:
        return float(number) if math.isfinite(float(number)) else refuse(number)

    try:
        parsed = json.loads(text, object_pairs_hook=unique, parse_constant=refuse, parse_float=finite)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{where} is no valid JSON: {error}") from error
    if not isinstance(parsed, dict):
        raise ValueError(f"{where} is {type(parsed).__name__} in JSON, expected an object")
    return parsed
