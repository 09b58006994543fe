"""Running a learner's code so that nothing is spoilt: a time limit, copies of the inputs, random states put back."""

import builtins
import contextlib
import copy
import ctypes
import io
import linecache
import math
import random
import threading
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

SHARED = (torch, torch.Tensor, torch.nn.functional, builtins, math, np)  # whose functions an answer may not replace


class TooLong(BaseException):
    """The time is over."""


@dataclass
class Outcome:
    """What came of a call: its value, or the problem that ended it; and remarks on what it did besides."""

    value: object = None
    problem: str = ""
    not_written: bool = False
    remarks: list[str] = field(default_factory=list)


def guarded(call: Callable[..., object], inputs: tuple, seconds: float) -> Outcome:
    """call(*inputs) on copies of the inputs, ended after `seconds`; what it printed or changed is told, not kept."""
    own = copy.deepcopy(inputs)
    printed, outcome = io.StringIO(), Outcome()
    with _left_as_found() as touched:
        try:
            with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed), time_limit(seconds):
                outcome.value = call(*own)
        except TooLong:
            outcome.problem = f"it had not ended after {seconds:g} seconds; look for a loop that never ends"
        except NotImplementedError:
            outcome.not_written = True
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # SystemExit and its like, too: no answer ends the learner's session
            outcome.problem = f"it raised {type(error).__name__}: {_short(error)}{_place(error)}"
    if printed.getvalue():
        outcome.remarks.append(
            f"it prints ({_short(printed.getvalue().strip() or 'an empty line')!r}); fine while you search"
        )
    if not same(own, inputs):
        outcome.remarks.append("it changes its inputs in place, which whoever calls it will not expect; work on a copy")
    outcome.remarks += touched
    return outcome


@contextlib.contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raises TooLong inside the block when its time is over.

    The exception is set for this thread by a timer's thread: signals would do on Linux's main thread only. It comes
    between two steps of Python, so a single long call of a library is waited for. Code that catches it is asked again.
    """
    thread, over, lock = threading.get_ident(), threading.Event(), threading.Lock()

    def watch() -> None:
        wait = seconds
        while not over.wait(wait):
            with lock:
                if not over.is_set():
                    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(TooLong))
            wait = 0.1

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        while not over.is_set():
            with contextlib.suppress(TooLong), lock:  # it may come this late
                over.set()
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), None)  # one that is still on its way


@contextlib.contextmanager
def _left_as_found() -> Iterator[list[str]]:
    """Global state is as before afterwards; the list says what had changed."""
    touched: list[str] = []
    states = torch.get_rng_state(), np.random.get_state(), random.getstate()
    dtype, gradients, device = torch.get_default_dtype(), torch.is_grad_enabled(), torch.get_default_device()
    owned = [(place, dict(vars(place))) for place in SHARED]
    try:
        yield touched
    finally:
        for place, before in owned:
            changed = [name for name, value in vars(place).items() if before.get(name, value) is not value]
            for name in [name for name in changed if not _wrapped_by_torch(vars(place)[name])]:
                setattr(place, name, before[name])
                touched.append(f"it replaces {place.__name__}.{name} for everybody")
            for name in (vars(place).keys() - before.keys()) if isinstance(place, type) else ():  # modules load parts
                delattr(place, name)
                touched.append(f"it replaces {place.__name__}.{name} for everybody")
        if torch.get_default_device() != device:
            torch.set_default_device(None if device.type == "cpu" else device)
            touched.append("it changes PyTorch's default device for everybody")
        after = torch.get_rng_state(), np.random.get_state(), random.getstate()
        if not same(after, states):
            touched.append("it draws from or seeds the global random numbers, which all other code shares")
        if (torch.get_default_dtype(), torch.is_grad_enabled()) != (dtype, gradients):
            touched.append("it changes PyTorch's default dtype or switches gradients for everybody")
        torch.set_rng_state(states[0])
        np.random.set_state(states[1])
        random.setstate(states[2])
        torch.set_default_dtype(dtype)
        torch.set_grad_enabled(gradients)


def _wrapped_by_torch(value: object) -> bool:
    """Is it a function that PyTorch has wrapped itself, as it does with manual_seed when torch.func is first used?"""
    code = getattr(value, "__code__", None)
    return hasattr(value, "__wrapped__") and code is not None and code.co_filename.startswith(torch.__path__[0])


def same(one: object, other: object) -> bool:
    """Equal to the bit, NaN equal to NaN; whatever cannot be compared counts as the same."""
    if isinstance(one, Tensor) and isinstance(other, Tensor):
        if one.shape != other.shape or one.dtype != other.dtype:
            return False
        return torch.allclose(one, other, rtol=0, atol=0, equal_nan=True)
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return np.array_equal(one, other)
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, (str, int, float, bool, set, frozenset)):
        return one == other
    return True


def _short(text: object, most: int = 160) -> str:
    words = " ".join(str(text).split())
    return words if len(words) <= most else words[: most - 1] + "…"


def _place(error: BaseException) -> str:
    """The deepest line of the learner's own code on the way to the error; libraries and the course are left out."""
    own = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if "site-packages" not in frame.filename
        and "tx_helpers" not in frame.filename
        and not frame.filename.startswith("<frozen")
    ]
    if not own:
        return ""
    line = own[-1].line or linecache.getline(own[-1].filename, own[-1].lineno or 0).strip()
    return f" (in {own[-1].name}, line {own[-1].lineno}: `{line}`)" if line else ""
