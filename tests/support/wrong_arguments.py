"""A sweep of wrong arguments: whatever a learner passes, the error names it, and does not come from deep inside."""

import traceback
from collections.abc import Callable

import torch
from torch import Tensor

ANYTHING = [None, [1, 2], "abc", {}, object()]


def wrong_values(right: object) -> list[object]:
    """Values in place of a right one: of other types, and of the same type with another shape, dtype, sign or NaN."""
    if isinstance(right, Tensor):
        return [
            *ANYTHING,
            1,
            right.to(torch.complex64),
            right.float() if right.dtype in (torch.int64, torch.bool) else right.long(),
            right[..., :0],
            right.new_ones(3, 1, 2, 1, 7),
            right.new_ones(()),
            -right - 1 if right.dtype != torch.bool else right.int(),
        ]
    if isinstance(right, bool):
        return [[1, 2], "abc", object()]
    if isinstance(right, int | float):
        return [*ANYTHING, -right - 1, 0, float("nan"), right + 0.5 if isinstance(right, int) else float("inf")]
    if isinstance(right, str):
        return [None, 1, [1, 2], object(), "", "unheard of"]
    if isinstance(right, list | tuple):
        return [None, 1, "abc", object(), type(right)(), type(right)([None]), type(right)([object(), -1])]
    return [None, 1, "abc", [1, 2]]


def faults(call: Callable, arguments: dict[str, object]) -> list[str]:
    """Wrong arguments, one at a time, that end in anything but an answer or a ValueError of the package's own."""
    call(**arguments)  # what is right works
    found = []
    for name, right in arguments.items():
        for wrong in wrong_values(right):
            try:
                call(**arguments | {name: wrong})
            except ValueError as error:
                if "tx_helpers" not in traceback.extract_tb(error.__traceback__)[-1].filename:
                    found.append(f"{name}={_short(wrong)}: ValueError from outside: {error}")
            except Exception as error:
                found.append(f"{name}={_short(wrong)}: {type(error).__name__}: {error}")
    return found


def _short(value: object) -> str:
    text = f"tensor {value.dtype} {tuple(value.shape)}" if isinstance(value, Tensor) else repr(value)
    return text.replace("\n", " ")[:60]
