"""How a forward pass can be watched.

The layers call `observe("weights", weights)` at the points worth seeing. Without a listener, `observe` returns the
tensor and does nothing else. A listener (see `capture`) is called with the name and the tensor of the real computation.
It may return another tensor, and the computation continues with that one: this is how a head is switched off.

Nothing is reported while `torch.compile` or `torch.export` traces a model, so that its graph stays in one piece.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import torch
from torch import Tensor

Listener = Callable[[str, Tensor], Tensor | None]

_listener: ContextVar[Listener | None] = ContextVar("tx_helpers.nn.observe", default=None)


def observe(name: str, tensor: Tensor) -> Tensor:
    """Report a named tensor to the listener, if there is one. Returns the tensor to continue with."""
    listener = None if torch.compiler.is_compiling() else _listener.get()
    replacement = None if listener is None else listener(name, tensor)
    return tensor if replacement is None else replacement


def observed() -> bool:
    """Is there a listener, in this thread or task?"""
    return not torch.compiler.is_compiling() and _listener.get() is not None


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """While the block runs, everything observed goes to `listener`. Of nested blocks, only the innermost listens."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)
