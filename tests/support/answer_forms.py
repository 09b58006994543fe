"""A right answer in other forms, made of the solution: what `check` accepts whatever a learner computes with."""

from collections.abc import Callable
from typing import Any

from torch import Tensor


def each(change: Callable[[Tensor], Any]) -> Callable[[Any], Any]:
    """The function that changes every tensor of a value, through tuples, lists and dictionaries."""

    def convert(value: Any) -> Any:
        if isinstance(value, Tensor):
            return change(value)
        if isinstance(value, tuple | list):
            return type(value)(map(convert, value)) if type(value) in (tuple, list) else value
        return {key: convert(one) for key, one in value.items()} if isinstance(value, dict) else value

    return convert


FORMS = {
    "in NumPy": each(lambda x: x.detach().numpy()),
    "in float64": each(lambda x: x.double() if x.is_floating_point() else x),
    "as a list": each(lambda x: x.tolist()),
    "on the tape": each(lambda x: x.clone().requires_grad_() if x.is_floating_point() else x),
    "not contiguous": each(lambda x: x.mT.contiguous().mT if x.dim() > 1 else x),
    "a list for a tuple": lambda value: list(value) if isinstance(value, tuple) else value,
}


def in_form(answer: Callable, form: Callable[[Any], Any]) -> Callable:
    """The answer, whose result is given in this form."""

    def changed(*given: Any, **options: Any) -> Any:
        return form(answer(*given, **options))

    changed.__name__ = answer.__name__
    return changed
