"""What plots and charts draw, checked at the door: an error names the line, the bar or the argument that is wrong."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress

import numpy as np

from tx_helpers.nn.arguments import check_numbers, check_types, described


def named_lines(where: str, lines: Mapping[str, object], least: int = 0) -> dict[str, np.ndarray]:
    """Lines name -> (x, y) as arrays (2, N); ValueError names a line with fewer than `least` points."""
    check_types(where, Mapping, lines=lines)
    found = {}
    for name, line in lines.items():
        if not isinstance(line, Sequence) or len(line) != 2:
            raise ValueError(f"{where}: line {name!r} is {described(line)}, expected (x, y)")
        x, y = (numbers(where, f"line {name!r}", part, "(x, y)") for part in line)
        if x.ndim != 1 or x.shape != y.shape or len(x) < least:
            raise ValueError(f"{where}: line {name!r} has x {x.shape} and y {y.shape}, expected {least} points or more")
        found[name] = np.stack([x, y])
    return found


def named_numbers(where: str, values: Mapping[str, float]) -> dict[str, float]:
    """The named numbers, at least one; ValueError names the one that is not a number."""
    check_types(where, Mapping, values=values)
    for name, value in values.items():
        check_numbers(f"{where}: {name!r}", value=value)
    return dict(values)


def named_matrix(where: str, weights: object, queries: Sequence[str], keys: Sequence[str]) -> np.ndarray:
    """Weights (T, S) as an array; ValueError unless there are T queries and S keys, at least one of each."""
    check_types(where, Sequence, queries=queries, keys=keys)
    matrix = numbers(where, "weights", weights, "(T, S)")
    if matrix.shape != (len(queries), len(keys)):
        raise ValueError(f"{where}: weights {matrix.shape}, but there are {len(queries)} queries and {len(keys)} keys")
    return matrix


def numbers(where: str, name: str, values: object, expected: str) -> np.ndarray:
    """Numbers as an array of any shape; ValueError for anything else."""
    with suppress(TypeError, ValueError):
        if isinstance(values, Iterable):
            return np.asarray(values if hasattr(values, "__array__") else list(values), dtype=float)
    raise ValueError(f"{where}: {name} is {described(values)}, expected {expected}, of numbers")
