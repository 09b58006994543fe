"""Contexts that restore what they change: a model's mode and buffers, random numbers, threads and Ctrl-C."""

import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor, nn


@contextmanager
def in_mode(model: nn.Module | Sequence[nn.Module], *, training: bool) -> Iterator[None]:
    """Inside the block the model and all its parts are in training mode (with dropout), or in evaluation mode.

    A list of the modules saves the walk through the model; a loop makes that list once.
    """
    modules = model.modules() if isinstance(model, nn.Module) else model
    others = [module for module in modules if module.training != training]
    _set_mode(others, training)
    try:
        yield
    finally:
        _set_mode(others, not training)


@contextmanager
def buffers_restored_on_error(model: nn.Module) -> Iterator[None]:
    """A block that ends in an exception leaves the model's buffers (the running means of BatchNorm) as they were."""
    before = [(buffer, buffer.clone()) for buffer in model.buffers()]
    try:
        yield
    except BaseException:
        for buffer, value in before:
            buffer.copy_(value)
        raise


class RandomStream:
    """A separate stream of random numbers: inside `with stream.on(device):` torch draws from it, outside as before.

    After a block that ends in an exception the stream is as before the block. It covers the CPU and, where it is used,
    CUDA. It swaps torch's global generators, so only one thread may use it at a time.
    """

    def __init__(self, seed: int):
        self.seed = seed
        self.states: dict[str, Tensor] = {}  # of the generator of each kind of device

    @contextmanager
    def on(self, device: torch.device) -> Iterator[None]:
        generators = {"cpu": torch.default_generator}
        if device.type == "cuda":
            index = torch.cuda.current_device() if device.index is None else device.index
            generators["cuda"] = torch.cuda.default_generators[index]
        outside = {kind: generator.get_state() for kind, generator in generators.items()}
        try:
            for kind, generator in generators.items():
                if kind in self.states:
                    generator.set_state(self.states[kind])
                else:
                    generator.manual_seed(self.seed)
            yield
            self.states |= {kind: generator.get_state() for kind, generator in generators.items()}
        finally:
            for kind, generator in generators.items():
                generator.set_state(outside[kind])


@contextmanager
def cpu_threads(count: int | None) -> Iterator[None]:
    """Inside the block torch uses this number of CPU threads; None: the same number as outside."""
    outside = torch.get_num_threads()
    if count is not None:
        torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(outside)


@contextmanager
def interrupts() -> Iterator[list[bool]]:
    """Inside the block a Ctrl-C (SIGINT, a notebook's stop button) is noted in the list that is returned, not raised.

    The block looks at the list where it can stop safely. A second Ctrl-C is raised as KeyboardInterrupt at once.
    Outside the main thread, where Python delivers none, the list stays empty.
    """
    noted: list[bool] = []
    if threading.current_thread() is not threading.main_thread():
        yield noted
        return

    def note(_number: int, _frame: object) -> None:
        if noted:
            raise KeyboardInterrupt
        noted.append(True)

    before = signal.signal(signal.SIGINT, note)
    try:
        yield noted
    finally:
        signal.signal(signal.SIGINT, signal.SIG_DFL if before is None else before)


def _set_mode(modules: list[nn.Module], training: bool) -> None:
    for module in modules:  # nn.Module's own way is five times slower, which slows down generation
        object.__setattr__(module, "training", training)
