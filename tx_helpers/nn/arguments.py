"""Checks of arguments: the function that a learner calls names a wrong argument, before an error occurs deep inside.

    sizes = check_tensors("attention", q=(q, "B H T K"), k=(k, "B H S K"))      # {"B": 2, "H": 3, …}
    check_numbers("sampler", above=0, temperature=temperature)

Each check raises ValueError with the operation, the argument, what it is and what was expected. Letters are the
legend's (B T S D H K F V): one letter is one size in all tensors of a call.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral, Real
from typing import Protocol, runtime_checkable

import torch
from torch import Tensor, nn

_KINDS = {
    "bool": lambda dtype: dtype == torch.bool,
    "int": lambda dtype: dtype in (torch.int64, torch.int32),
    "float": lambda dtype: dtype.is_floating_point,
}


@runtime_checkable
class Function(Protocol):
    """What can be called, as a type for `check_types`; to mypy, Callable is none."""

    def __call__(self) -> object: ...


_TYPES = {Function: "a Callable", Mapping: "a dictionary", Sequence: "a list", str: "a text", type(None): "None"}


def check_tensors(where: str, sizes: dict[str, int] | None = None, /, **tensors: tuple[Tensor, str]) -> dict[str, int]:
    """Check type, dtype and shape of tensors, each given as (tensor, form). Returns the size of each letter.

    A form is an optional "bool", "int" or "float", then a letter or a number for each dimension: "int B T",
    "float … H T K", where "…" in front stands for any further dimensions. `sizes` are letters known beforehand.
    """
    sizes = dict(sizes or {})
    for name, (tensor, form) in tensors.items():
        kind, letters = _read(form)
        found = None
        if isinstance(tensor, Tensor) and (not kind or _KINDS[kind](tensor.dtype)):
            found = _sizes_of(tensor.shape, letters, sizes)
        if found is None:
            raise ValueError(f"{where}: {_mismatch(name, tensor, kind, letters, sizes)}")
        sizes = found
    return sizes


def check_broadcast(name: str, tensor: Tensor | None, shape: tuple[int, ...], kind: str) -> None:
    """Check that a mask or a bias ("bool" or "float") can be broadcast to scores of this shape; None is allowed."""
    if tensor is None:
        return
    expected = "torch.bool with True = may attend" if kind == "bool" else f"a tensor of {kind}"
    if not isinstance(tensor, Tensor):
        raise ValueError(f"{name} is {described(tensor)}, expected {expected}")
    if not _KINDS[kind](tensor.dtype):
        raise ValueError(f"{name} of {tensor.dtype}, expected {expected}")
    fits = (n in (1, m) for n, m in zip(reversed(tensor.shape), reversed(shape), strict=False))
    if tensor.dim() > len(shape) or not all(fits):
        raise ValueError(f"{name} of shape {tuple(tensor.shape)} for scores of shape {tuple(shape)}")


def check_numbers(
    where: str,
    named: Mapping[str, object] | None = None,
    /,
    *,
    least: float | None = None,
    above: float | None = None,
    most: float | None = None,
    less_than: float | None = None,
    whole: bool = False,
    optional: bool = False,
    **numbers: float | None,
) -> None:
    """Check numbers, named in a dictionary or as arguments: not NaN, n >= least, n > above, n <= most, n < less_than.

    With `whole` they must be whole numbers; with `optional`, None is allowed. Nothing is checked while a graph is
    traced: a size may be a symbol there.
    """
    if traced():
        return
    limits = {"at least": least, "more than": above, "at most": most, "less than": less_than}
    bounds = [f"{words} {limit}" for words, limit in limits.items() if limit is not None]
    kind = "a whole number" if whole else "a number"
    expected = f"expected {' and '.join(bounds)}" if bounds else f"expected {kind}"
    for name, number in {**(named or {}), **numbers}.items():
        if number is None and optional:
            continue
        if isinstance(number, bool) or not isinstance(number, Integral if whole else Real):
            raise ValueError(f"{where}: {name} is {described(number)}, expected {' '.join([kind, *bounds])}")
        too_small = (least is not None and number < least) or (above is not None and number <= above)
        too_large = (most is not None and not number <= most) or (less_than is not None and not number < less_than)
        if math.isnan(number) or too_small or too_large:
            raise ValueError(f"{where}: {name}={number}, {expected}")


def check_one_of(where: str, choices: Iterable[str], **values: str) -> None:
    """Check that each value is one of the choices."""
    choices = tuple(choices)
    for name, value in values.items():
        if not isinstance(value, str) or value not in choices:
            raise ValueError(f"{where}: {name}={value!r}, expected one of {', '.join(choices)}")


def check_types(where: str, kind: type | tuple[type, ...], **values: object) -> None:
    """Check that each value is of this type (or of one of these), and not empty if it has a length.

    A module is not asked for one: what `torch.compile` returns has it for any model.
    """
    kinds = kind if isinstance(kind, tuple) else (kind,)
    expected = " or ".join(_TYPES.get(one) or _with_article(one.__name__) for one in kinds)
    for name, value in values.items():
        if not isinstance(value, kinds):
            raise ValueError(f"{where}: {name} is {described(value)}, expected {expected}")
        if hasattr(value, "__len__") and not isinstance(value, nn.Module) and not len(value):
            raise ValueError(f"{where}: {name} is empty, expected {expected} that is not")


def check_points(where: str, points: Mapping[str, Sequence[float]]) -> None:
    """Check a dictionary, not empty, of name -> (x, y)."""
    check_types(where, Mapping, points=points)
    for name, point in points.items():
        pair = isinstance(point, Sequence) and len(point) == 2 and all(isinstance(part, Real) for part in point)
        if not pair or not all(map(math.isfinite, point)):
            raise ValueError(f"{where}: {name}={point!r}, expected two numbers (x, y)")


def check_ids(where: str, vocab_size: int, **ids: Tensor) -> None:
    """Check token ids (B, T): whole numbers from 0 to vocab_size − 1, at least one of them."""
    for name, tensor in ids.items():
        check_tensors(where, **{name: (tensor, "int B T")})
        if 0 in tensor.shape:
            raise ValueError(
                f"{where}: {name} of shape {tuple(tensor.shape)}, expected (B, T) with at least one of each"
            )
        if values_are_known(tensor):
            lowest, highest = map(int, tensor.aminmax())
            if not 0 <= lowest <= highest < vocab_size:
                raise ValueError(f"{where}: {name} {lowest} … {highest}, but the vocabulary has {vocab_size}")


def traced() -> bool:
    """Is a graph being traced, by torch.compile, torch.export or torch.jit.trace?"""
    return torch.compiler.is_compiling() or torch.jit.is_tracing()


def values_are_known(*tensors: Tensor) -> bool:
    """Can values be read? Not on the meta device, nor while a graph is traced or torch.func transforms a call."""
    if traced():
        return False
    return not any(tensor.is_meta or torch._C._functorch.is_functorch_wrapped_tensor(tensor) for tensor in tensors)


def described(value: object) -> str:
    """A value of the wrong type, in a few words: "None", "'abc'", "a list"."""
    if value is None or isinstance(value, str | int | float):
        text = repr(value)
        return text if len(text) <= 40 else f"{text[:37]}…"
    if isinstance(value, Tensor):
        return f"a tensor of shape {tuple(value.shape)}"
    return _with_article(type(value).__name__)


def _with_article(name: str) -> str:
    return f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"


def _read(form: str) -> tuple[str, list[str]]:
    first, _, rest = form.partition(" ")
    return (first, rest.split()) if first in _KINDS else ("", form.split())


def _sizes_of(shape: torch.Size, letters: list[str], sizes: dict[str, int]) -> dict[str, int] | None:
    """The sizes, with those of this shape; None if the shape is not of this form."""
    if letters and letters[0] == "…":
        letters = letters[1:]
        shape = shape[max(0, len(shape) - len(letters)) :]
    if len(shape) != len(letters):
        return None
    sizes = dict(sizes)
    for letter, size in zip(letters, shape, strict=True):
        expected = int(letter) if letter.isdigit() else sizes.setdefault(letter, size)
        if size != expected:
            return None
    return sizes


def _mismatch(name: str, tensor: object, kind: str, letters: list[str], sizes: dict[str, int]) -> str:
    """What the argument is, and what was expected."""
    expected = f"expected {kind + ' ' if kind else ''}({', '.join(letters)})"
    if not isinstance(tensor, Tensor):
        return f"{name} is {described(tensor)}, {expected}"
    if kind and not _KINDS[kind](tensor.dtype):
        return f"{name} is a tensor of {tensor.dtype}, {expected}"
    known = ", ".join(f"{letter} = {sizes[letter]}" for letter in letters if letter in sizes)
    return f"{name} of shape {tuple(tensor.shape)}, {expected}{' with ' * bool(known)}{known}"
