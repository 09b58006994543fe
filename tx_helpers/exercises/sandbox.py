"""Run a learner's code without damage: with a time limit, on copies of the inputs, with global state restored.

It guards against slips, not against malice: the code runs in the learner's own kernel. What ends that process at once
(`os._exit`, a crash inside a library) or keeps it inside one long call of a library cannot be stopped from here.
"""

import builtins
import contextlib
import copy
import ctypes
import io
import linecache
import math
import random
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from tx_helpers.exercises.errors import in_plain_words

MOST_PRINTED = 100_000  # characters
SHARED = (torch, torch.Tensor, torch.nn.functional, builtins, math, np)  # an answer may not replace their functions


class TooLong(BaseException):
    """The learner's code ran longer than it may."""


class TooMuch(BaseException):
    """More was printed than anybody reads."""


@dataclass
class Outcome:
    """The value of a call, or the problem that ended it; and remarks on its side effects."""

    value: object = None
    problem: str = ""
    not_written: bool = False
    remarks: list[str] = field(default_factory=list)


class _Printed(io.StringIO):
    """What the code prints; it stays open whatever the code does, and ends code that prints without end."""

    def write(self, text: str) -> int:
        if self.tell() > MOST_PRINTED:
            raise TooMuch
        return super().write(text[: MOST_PRINTED + 1])

    def close(self) -> None:
        pass


def guarded(call: Callable[..., object], inputs: tuple[object, ...], seconds: float) -> Outcome:
    """call(*inputs) on copies of the inputs, stopped after `seconds`; remarks tell what it printed or changed."""
    own = copy.deepcopy(inputs)
    printed, outcome = _Printed(), Outcome()
    quiet = warnings.catch_warnings(action="ignore")  # a library's warning is nothing that the code prints
    with _left_as_found() as touched, quiet, contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        outcome.problem = stopped(lambda: _run(call, own, outcome), seconds)
    if printed.getvalue():
        text = _short(printed.getvalue().strip() or "an empty line")
        outcome.remarks.append(f"it prints ({text!r}); that is fine while you look for a mistake")
    if not same(own, inputs):
        outcome.remarks.append("it changes its inputs in place, which a caller does not expect; work on a copy")
    outcome.remarks += touched
    return outcome


def _run(call: Callable[..., object], inputs: tuple[object, ...], outcome: Outcome) -> None:
    try:
        outcome.value = call(*inputs)
    except NotImplementedError as error:
        if "not implemented for" in _text(error):  # PyTorch's, for a dtype
            raise
        outcome.not_written = True


def stopped(call: Callable[[], object], seconds: float) -> str:
    """Call it. Returns what ended it before it was done: the end of its time, or an error of any kind; else ""."""
    try:
        with time_limit(seconds):
            try:
                call()
            except (KeyboardInterrupt, TooLong, TooMuch):
                raise
            except BaseException as error:  # SystemExit, too: no answer ends the learner's session
                raised = f"{type(error).__name__}: {_short(_text(error))}{_place(error)}"
                meaning = in_plain_words(raised)
                return (
                    f"{meaning}{'' if meaning.endswith('?') else '.'} It raised {raised}"
                    if meaning
                    else f"it raised {raised}"
                )
    except TooLong:
        return f"it was still running after {seconds:g} seconds; look for a loop that never ends"
    except TooMuch:
        return f"it printed more than {MOST_PRINTED:,} characters; look for a print in a loop that never ends"
    return ""


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:
        return "(an error whose own text raises an error)"


@contextlib.contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise TooLong inside the block when its time is over, and again every 0.1 seconds if the code catches it.

    Python raises it between two bytecode instructions, so it waits for a long call of a library to return.
    """
    main = threading.current_thread() is threading.main_thread()
    stop = _alarm(seconds) if main and hasattr(signal, "setitimer") else _watcher(seconds)
    try:
        yield
    finally:
        try:
            stop()
        except TooLong:  # raised at the last moment; the next one is 0.1 seconds away
            stop()


def _alarm(seconds: float) -> Callable[[], None]:
    """A signal raises TooLong; it interrupts the arithmetic of long integers, too. Returns what turns it off."""

    def ring(*_) -> None:
        raise TooLong

    handler = signal.signal(signal.SIGALRM, ring)
    timer = signal.setitimer(signal.ITIMER_REAL, seconds, 0.1)

    def stop() -> None:
        signal.setitimer(signal.ITIMER_REAL, *timer)
        signal.signal(signal.SIGALRM, handler)

    return stop


def _watcher(seconds: float) -> Callable[[], None]:
    """Another thread raises TooLong in this one: on Windows and beside the main thread. Returns what ends it.

    An exception that is on its way is never cancelled: it is raised in `stop`. Python 3.11 would not forget the
    cancelled one, and with a tracer or a profiler it would hang.
    """
    thread, over, lock = threading.get_ident(), threading.Event(), threading.Lock()

    def watch() -> None:
        wait = seconds
        while not over.wait(wait):
            with lock:
                if not over.is_set():
                    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(TooLong))
            wait = 0.1

    threading.Thread(target=watch, daemon=True).start()

    def stop() -> None:
        with lock:
            over.set()

    return stop


@contextlib.contextmanager
def _left_as_found() -> Iterator[list[str]]:
    """Restore global state at the end; the list says what had changed."""
    touched: list[str] = []
    states = torch.get_rng_state(), np.random.get_state(), random.getstate()
    dtype, gradients = torch.get_default_dtype(), torch.is_grad_enabled()
    device = torch.get_default_device()
    contents = [(place, dict(vars(place))) for place in SHARED]
    recursion, set_recursion = sys.getrecursionlimit(), sys.setrecursionlimit
    sys.setrecursionlimit = lambda limit: touched.append("it sets the recursion limit, which has no effect here")
    try:
        yield touched
    finally:
        sys.setrecursionlimit = set_recursion
        sys.setrecursionlimit(recursion)
        for place, before in contents:
            after = dict(vars(place))
            for name, value in after.items():
                if before.get(name, value) is not value and not _wrapped_by_torch(value):
                    setattr(place, name, before[name])
                    touched.append(f"it replaces {place.__name__}.{name} for everybody")
            if isinstance(place, type):  # a module may have new names, because it loads its parts when they are needed
                for name in after.keys() - before.keys():
                    delattr(place, name)
                    touched.append(f"it replaces {place.__name__}.{name} for everybody")
        if torch.get_default_device() != device:
            torch.set_default_device(None if device.type == "cpu" else device)
            touched.append("it changes PyTorch's default device for everybody")
        if not same((torch.get_rng_state(), np.random.get_state(), random.getstate()), states):
            touched.append("it uses or seeds the global random numbers, which all other code shares")
        if (torch.get_default_dtype(), torch.is_grad_enabled()) != (dtype, gradients):
            touched.append("it changes PyTorch's default dtype or switches gradients for everybody")
        torch.set_rng_state(states[0])
        np.random.set_state(states[1])
        random.setstate(states[2])
        torch.set_default_dtype(dtype)
        torch.set_grad_enabled(gradients)


def _wrapped_by_torch(value: object) -> bool:
    """Has PyTorch itself wrapped this function, as it wraps manual_seed when torch.func is first used?"""
    code = getattr(value, "__code__", None)
    return hasattr(value, "__wrapped__") and code is not None and code.co_filename.startswith(torch.__path__[0])


def same(one: object, other: object) -> bool:
    """Equal to the bit, NaN equal to NaN; what cannot be compared counts as the same."""
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
    """The deepest line of the learner's own code that led to the error, not one of a library or of the course."""
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
