"""Looking into a model that one knows nothing about: its softmaxes, and where in it something begins to move.

PyTorch itself tells: every softmax, also inside `nn.MultiheadAttention` and the fused attention kernels, passes the
dispatcher, where it can be read; and every module can be asked for what it was given and what it made of it.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils._python_dispatch import TorchDispatchMode

from tx_helpers.diagnose.subject import Ids, Subject

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

    Empty where attention does without PyTorch's softmax, or does not let itself be watched (compiled models).
    """
    lengths = lengths or {subject.T, *([subject.S] if subject.kind == "seq2seq" else [])}
    try:
        with softmaxes(subject.model) as seen:
            subject(*ids)
    except Exception:
        return []
    return [softmax for softmax in seen if softmax.weights.dim() >= 3 and set(softmax.weights.shape[-2:]) <= lengths]


@contextmanager
def softmaxes(model: Any) -> Iterator[list[Softmax]]:
    """Every softmax that runs inside the block, in order."""
    listener = _Listener()
    with _paths(model, listener.path), sdpa_kernel(SDPBackend.MATH), no_fast_path(), listener:
        yield listener.seen


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
    """The first place in the model where two runs differ, in words; "" if none is to be seen.

    Compared are the rows that are named (by default all), the first of `one` and the second of `other`, at the
    positions before `columns`, in all that modules take and make with one vector for each position.
    """
    kind = {name: type(module).__name__ for name, module in _modules(subject.model)}
    for mine, theirs in zip(_trace(subject, one), _trace(subject, other), strict=False):
        a, b = mine.tensor[rows[0], :columns], theirs.tensor[rows[1], :columns]
        if a.shape != b.shape or torch.equal(a, b) or (a - b).abs().max() <= tolerance * a.square().mean().sqrt():
            continue
        if mine.caller is None:
            return f"{mine.name or 'the model itself'} ({kind[mine.name]}) is the first part whose output moves"
        return f"{mine.caller or 'the model'} ({kind[mine.caller]}), in its own lines before it calls {mine.name}"
    return ""


@torch.no_grad()
def first_broken(subject: Subject, ids: Ids) -> str:
    """The first place in the model where a number is NaN or infinite, in words; "" if none is to be seen."""
    for event in _trace(subject, ids):
        if not event.tensor.isfinite().all():
            made = f"{event.name or 'the model itself'} is the first part to make one"
            return made if event.caller is None else f"{event.caller or 'the model'}, before it calls {event.name}"
    return ""


@dataclass(frozen=True)
class _Event:
    """A module `name` was given a tensor by its caller ("" is the model itself), or made it (caller is None)."""

    name: str
    caller: str | None
    tensor: Tensor


def _trace(subject: Subject, ids: Ids) -> list[_Event]:
    """What every module was given and what it made of it, where that is one vector for each position."""
    events: list[_Event] = []
    path: list[str] = []

    def note(name: str, caller: str | None, value: Any) -> None:
        value = value[0] if isinstance(value, tuple | list) and value else value
        if isinstance(value, Tensor) and value.is_floating_point() and value.shape[:2] == ids[-1].shape:
            events.append(_Event(name, caller, value.clone()))

    def enter(name: str, given: Any) -> None:
        if path:
            note(name, path[-1], given)
        path.append(name)

    def leave(made: Any) -> None:
        note(path.pop(), None, made)

    with ExitStack() as cleanup:
        for name, module in _modules(subject.model):
            before = module.register_forward_pre_hook(lambda _, given, name=name: enter(name, given))
            after = module.register_forward_hook(lambda _, __, made: leave(made), always_call=True)
            cleanup.callback(before.remove)
            cleanup.callback(after.remove)
        subject(*ids)
    return events


def _modules(model: Any) -> list[tuple[str, nn.Module]]:
    """By name; those of TorchScript do not let themselves be watched."""
    named = model.named_modules() if isinstance(model, nn.Module) else ()
    return [(name, module) for name, module in named if not isinstance(module, torch.jit.ScriptModule)]


@contextmanager
def _paths(model: Any, path: list[str]) -> Iterator[None]:
    """While the block runs, `path` ends in the name of the module that computes."""
    with ExitStack() as cleanup:
        for name, module in _modules(model):
            before = module.register_forward_pre_hook(lambda *_, name=name: path.append(name))
            after = module.register_forward_hook(lambda *_: path.__delitem__(-1), always_call=True)
            cleanup.callback(before.remove)
            cleanup.callback(after.remove)
        yield


class _Listener(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.path: list[str] = []
        self.seen: list[Softmax] = []

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        if function in _SOFTMAXES:
            axis = args[1] if args[1] < 0 else args[1] - result.dim()
            self.seen.append(Softmax(self.path[-1] if self.path else "", axis, result.detach().clone()))
        return result
