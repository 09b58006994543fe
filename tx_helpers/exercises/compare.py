"""Compare a learner's value with the right one, first its form, then its numbers; say the first difference in words."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from numbers import Number
from typing import SupportsFloat, TypeGuard

import numpy as np
import torch
from torch import Tensor

ORIGIN = "0/0, 0 · ∞, ∞ − ∞, or a softmax over nothing but −∞"


@dataclass(frozen=True)
class Difference:
    """The step of the comparison ("kind", "shape", "dtype", "finite", "value"), and a clause that says what differs."""

    step: str
    says: str


def difference(got: object, right: object, tolerance: float, at: str = "") -> Difference | None:
    """The first difference, in the order kind, shape, dtype, finiteness, value; None if they agree.

    Tensors, arrays, numbers and lists of numbers are compared as numbers, an entry within tolerance · (1 + |right|);
    dicts and other lists and tuples part by part (`at` names the part); all else by ==.
    """
    right = as_tensor(right)
    if isinstance(right, Tensor):
        return _numbers(as_tensor(got), right, tolerance, at)
    if isinstance(right, dict):
        if not isinstance(got, dict) or got.keys() != right.keys():
            return Difference(
                "kind", f"{_it(at)} is {_kind(got)}, expected a dict with the keys {', '.join(map(str, right))}"
            )
        parts = [(f"[{key!r}]", got[key], right[key]) for key in right]
    elif isinstance(right, (list, tuple)) and not all(isinstance(part, (str, int)) for part in right):
        if _stacked(got, right):
            got = list(got)  # one tensor in place of several
        if not isinstance(got, (list, tuple)) or len(got) != len(right):
            return Difference("kind", f"{_it(at)} is {_kind(got)}, expected {len(right)} values")
        parts = [(f"[{index}]", *pair) for index, pair in enumerate(zip(got, right, strict=True))]
    else:
        plain = list(got) if isinstance(got, tuple) else got
        equal = type(plain == right) is bool and plain == (list(right) if isinstance(right, tuple) else right)
        is_what = _kind(got) if got is None else shown(got)
        return (
            None
            if equal
            else Difference("value", f"{_it(at)} is {is_what}, expected {shown(right) if right != [] else 'none'}")
        )
    found = (difference(mine, theirs, tolerance, at + name) for name, mine, theirs in parts)
    return next(filter(None, found), None)


def as_tensor(value: object) -> object:
    """Numbers, arrays and (nested) lists of numbers as a tensor; anything else as it is."""
    if isinstance(value, Tensor):
        return value.detach().as_subclass(Tensor).cpu()
    if isinstance(value, np.ma.MaskedArray):
        value = np.ma.filled(value.astype(float), np.nan)  # a masked entry has no value
    if isinstance(value, (Number, np.ndarray, np.generic)) or (isinstance(value, (list, tuple)) and value):
        try:
            return torch.as_tensor(_plain(value))
        except (TypeError, ValueError):  # texts, objects, rows of different lengths
            return value
    return value


def as_mask(value: object) -> object:
    """A mask; zeros and ones in place of truth values as float64, one mistake whatever their dtype."""
    mask = as_tensor(value)
    if not isinstance(mask, Tensor) or mask.dtype == torch.bool or not ((mask == 0) | (mask == 1)).all():
        return mask
    return mask.double()


def shown(value: object, most: int = 24) -> str:
    """A value in a few words: a tensor of at most `most` numbers by its numbers, a larger one by its shape."""
    if isinstance(value, Tensor):
        if value.numel() > most:
            return f"a tensor {tuple(value.shape)}"
        return str(_rounded(value.detach().cpu().tolist()))
    if isinstance(value, dict) and any(isinstance(part, Tensor) for part in value.values()):
        return "; ".join(f"{name}: {shown(as_tensor(part), most)}" for name, part in value.items())
    if isinstance(value, (list, tuple)) and any(isinstance(part, Tensor) for part in value):
        return "; ".join(shown(as_tensor(part), most) for part in value)
    if isinstance(value, (set, frozenset)) and value:
        words = f"{{{', '.join(sorted(map(repr, value)))}}}"  # in the same order every time
    else:
        words = _written(value)
    return words if len(words) <= 120 else words[:119] + "…"


def _written(value: object) -> str:
    """The repr; functions, classes and objects without a repr of their own by their names alone."""
    if isinstance(value, partial):
        return _written(value.func)
    if callable(value) and hasattr(value, "__name__"):
        name = value.__name__.strip("_")
        return "a function" if name == "<lambda>" else name
    if type(value) is list or type(value) is tuple:
        parts = ", ".join(map(_written, value))
        return f"[{parts}]" if type(value) is list else f"({parts}{',' if len(value) == 1 else ''})"
    if type(value) is dict:
        return f"{{{', '.join(f'{_written(name)}: {_written(part)}' for name, part in value.items())}}}"
    return re.sub(r"<(?:function )?(?:[\w<>]+\.)*_*(\w+|<lambda>)(?: object)? at 0x\w+>", r"\1", repr(value))


def _numbers(got: object, right: Tensor, tolerance: float, at: str) -> Difference | None:
    if not isinstance(got, Tensor):
        return Difference("kind", f"{_it(at)} is {_kind(got)}, expected {_named(right)}")
    if not right.dim() and got.dim():
        return Difference("shape", f"{_it(at)} is {_kind(got)}, expected a number")
    if got.shape != right.shape:
        return Difference("shape", f"{_it(at)} has the shape {tuple(got.shape)}, expected {tuple(right.shape)}")
    if _sort(got) != _sort(right) and (right.dim() or got.is_complex()):
        return Difference(
            "dtype", f"{_it(at)} contains {_sort(got)} ({got.dtype}), expected {_sort(right)} ({right.dtype})"
        )
    mine, theirs = got.double(), right.double()
    if bad := int((mine.isnan() & ~theirs.isnan()).sum()):
        return Difference("finite", f"{_it(at)} is NaN at {bad} of {mine.numel()} places; NaN comes of {ORIGIN}")
    if bad := int((mine.isinf() & ~theirs.isinf()).sum()):
        return Difference("finite", f"{_it(at)} is infinite at {bad} of {mine.numel()} places")
    gap = torch.where(mine == theirs, 0.0, (mine - theirs).abs() / (1 + theirs.abs()))
    gap = torch.where(gap.isnan(), torch.inf, gap)  # an infinity and something else
    gap = torch.where(mine.isnan() & theirs.isnan(), 0.0, gap)
    if gap.numel() == 0 or gap.max() <= tolerance:
        return None
    index = torch.unravel_index(gap.argmax(), gap.shape)
    where = f"[{', '.join(str(int(i)) for i in index)}]" if right.dim() else ""
    wrong = f"; {int((gap > tolerance).sum())} of {gap.numel()} entries are off" if gap.numel() > 1 else ""
    is_what, wanted = (_entry(tensor[index].item()) for tensor in (got, right))
    return Difference("value", f"{_it(at)}{where} is {is_what}, expected {wanted}{wrong}")


def _entry(value: float | bool) -> str:
    return str(value) if isinstance(value, bool) else f"{value:.6g}"


def _plain(value: object) -> object:
    """Numbers as torch takes them, a Fraction or a Decimal as a float; TypeError for anything else."""
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    if isinstance(value, (bool, int, float, complex, np.ndarray, np.generic)):
        return value
    if isinstance(value, Tensor) and value.dim() == 0:
        return value.item()
    if isinstance(value, Number) and isinstance(value, SupportsFloat):
        return float(value)
    raise TypeError(f"{type(value).__name__} is not a number")


def _sort(tensor: Tensor) -> str:
    if tensor.dtype == torch.bool:
        return "True and False"
    if tensor.is_complex():
        return "complex numbers"
    return "real numbers" if tensor.is_floating_point() else "whole numbers"


def _named(tensor: Tensor) -> str:
    return f"a tensor {tuple(tensor.shape)}" if tensor.dim() else "a number"


def _kind(value: object) -> str:
    if value is None:
        return "None (is a `return` missing?)"
    if isinstance(value, Tensor):
        return _named(value)
    length = f" of {len(value)}" if isinstance(value, (list, tuple, dict, str)) else ""
    return f"a {type(value).__name__}{length}"


def _rounded(value: object) -> object:
    if isinstance(value, list):
        return [_rounded(part) for part in value]
    return round(value, 4) if isinstance(value, float) else value


def _it(at: str) -> str:
    return f"result{at}"


def _stacked(got: object, right: Sequence[object]) -> TypeGuard[Tensor]:
    """Is `got` one tensor whose rows have the shapes of the right tensors?"""
    if not isinstance(got, Tensor) or not got.dim():
        return False
    return [part.shape for part in got] == [part.shape if isinstance(part, Tensor) else None for part in right]
