"""Look into a model about which nothing is known: its softmaxes, and the first place where two runs differ.

Every softmax, also inside `nn.MultiheadAttention` and the fused attention kernels, passes PyTorch's dispatcher, where
it can be read; and hooks see what every module is given and what it makes of it.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch._ops import OpOverload
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils._python_dispatch import TorchDispatchMode

from tx_helpers.diagnose.subject import Ids, Subject
from tx_helpers.nn.capture import module_paths

_SOFTMAXES = (torch.ops.aten._softmax.default, torch.ops.aten._safe_softmax.default)

ALL = slice(None)  # rows of a batch


@dataclass(frozen=True)
class Softmax:
    """One softmax of a forward pass: the module it ran in, the axis it ran over (negative), and its result."""

    module: str
    axis: int
    weights: Tensor  # (…, T, S)


@torch.no_grad()
def attention_weights(subject: Subject, ids: Ids, lengths: set[int] | None = None) -> list[Softmax]:
    """The softmaxes of one forward pass that look like attention: their last two axes are positions.

    Empty where attention does not use PyTorch's softmax, or cannot be watched (compiled models).
    """
    lengths = lengths or {subject.T, *([subject.S] if subject.kind == "seq2seq" else [])}
    try:
        with softmaxes(subject.model) as found:
            subject(*ids)
    except Exception:
        return []
    return [softmax for softmax in found if softmax.weights.dim() >= 3 and set(softmax.weights.shape[-2:]) <= lengths]


@contextmanager
def softmaxes(model: Any) -> Iterator[list[Softmax]]:
    """Every softmax that runs inside the block, in order."""
    with module_paths(model) as running:
        listener = _Listener(running)
        with sdpa_kernel(SDPBackend.MATH), no_fast_path(), listener:
            yield listener.softmaxes


@contextmanager
def random_operations(model: Any) -> Iterator[set[str]]:
    """The names of the operations inside the block that draw random numbers: "native_dropout", "randperm"."""
    listener = _Listener(lambda: None)
    with no_fast_path(), listener:
        yield listener.random


@contextmanager
def no_fast_path() -> Iterator[None]:
    """`nn.TransformerEncoder` and `nn.MultiheadAttention` without the one kernel that hides their softmax."""
    enabled = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        yield
    finally:
        torch.backends.mha.set_fastpath_enabled(enabled)


@torch.no_grad()
def first_to_move(
    subject: Subject,
    one: Ids,
    other: Ids,
    *,
    columns: int,
    rows: tuple[slice, slice] = (ALL, ALL),
    tolerance: float = 1e-6,
) -> str:
    """The first place in the model where two runs differ, in words; "" if none is found.

    Compared are the inputs and outputs of modules that have one vector for each position, at the positions before
    `columns`. `rows` names the rows of `one` and the rows of `other` to compare; by default all.
    """
    kind = {}
    if isinstance(subject.model, nn.Module):
        kind = {name: type(module).__name__ for name, module in subject.model.named_modules()}
    for mine, theirs in zip(_trace(subject, one), _trace(subject, other), strict=False):
        a, b = mine.tensor[rows[0], :columns], theirs.tensor[rows[1], :columns]
        if a.shape != b.shape or torch.equal(a, b):
            continue
        if (a - b).abs().max() <= tolerance * a.square().mean().sqrt():
            continue
        if mine.caller is None:
            return f"{mine.name or 'the model itself'} ({kind[mine.name]}) is the first part whose output moves"
        return f"{mine.caller or 'the model'} ({kind[mine.caller]}), in its own lines before it calls {mine.name}"
    return ""


@torch.no_grad()
def first_broken(subject: Subject, ids: Ids) -> str:
    """The first place in the model where a number is NaN or infinite, in words; "" if none is found."""
    for event in _trace(subject, ids):
        if not event.tensor.isfinite().all():
            made = f"{event.name or 'the model itself'} is the first part to make one"
            return made if event.caller is None else f"{event.caller or 'the model'}, before it calls {event.name}"
    return ""


@dataclass(frozen=True)
class _Event:
    """A tensor that the module `name` got from its caller ("" is the model itself), or returned (caller is None)."""

    name: str
    caller: str | None
    tensor: Tensor


def _trace(subject: Subject, ids: Ids) -> list[_Event]:
    """What every module was given and what it made of it, where that is one vector for each position."""
    events: list[_Event] = []

    def note(name: str, caller: str | None, value: Any) -> None:
        value = value[0] if isinstance(value, tuple | list) and value else value
        if isinstance(value, Tensor) and value.is_floating_point() and value.shape[:2] == ids[-1].shape:
            events.append(_Event(name, caller, value.clone()))

    def entering(name: str, caller: str | None, arguments: tuple[Any, ...]) -> None:
        if caller is not None:
            note(name, caller, arguments)

    with module_paths(subject.model, entering=entering, leaving=lambda name, output: note(name, None, output)):
        subject(*ids)
    return events


class _Listener(TorchDispatchMode):
    """Reads every softmax, and notes the operations that draw random numbers."""

    def __init__(self, running: Callable[[], str | None]):
        super().__init__()
        self.running = running
        self.softmaxes: list[Softmax] = []
        self.random: set[str] = set()

    def __torch_dispatch__(
        self,
        function: OpOverload,
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        result = function(*args, **(kwargs or {}))
        if function in _SOFTMAXES:
            axis = args[1] if args[1] < 0 else args[1] - result.dim()
            self.softmaxes.append(Softmax(self.running() or "", axis, result.detach().clone()))
        elif torch.Tag.nondeterministic_seeded in function.tags:
            self.random.add(function.overloadpacket.__name__)
        return result
