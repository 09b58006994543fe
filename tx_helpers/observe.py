"""How the maths lets itself be watched.

The layers call `observe("weights", weights)` at the points worth seeing. Nobody listening: the tensor comes back
untouched and nothing is kept. Somebody listening (see `capture`): the listener is handed name and tensor of the real
computation, and may return another tensor to continue with, which is how a head is switched off.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from torch import Tensor

Listener = Callable[[str, Tensor], Tensor | None]

_listener: ContextVar[Listener | None] = ContextVar("tx_helpers.observe", default=None)


def observe(name: str, tensor: Tensor) -> Tensor:
    """Report a named tensor to the listener, if any; the tensor to go on with comes back."""
    listener = _listener.get()
    if listener is None:
        return tensor
    replacement = listener(name, tensor)
    return tensor if replacement is None else replacement


def observed() -> bool:
    """Is anybody listening, in this thread or task?"""
    return _listener.get() is not None


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Everything observed inside the block goes to `listener` (an inner block hides an outer one)."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)
