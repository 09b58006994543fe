"""Look into a real forward pass: scores, weights, heads and hidden states, by readable names.

    with capture(model, "*.weights") as activations:
        model(source, target)
    activations["decoder.blocks.0.cross_attention.weights"]        # (B, H, T, S)

What is recorded is what the computation used (`observe`), never a second calculation. A name is the path of the module
followed by what the module reported. All hooks are removed when the block ends.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from fnmatch import fnmatchcase
from threading import get_ident
from typing import Any

import torch
from torch import Tensor, nn

from tx_helpers.nn.arguments import check_types
from tx_helpers.nn.observe import listening


@contextmanager
def module_paths(
    model: Any,
    *,
    entering: Callable[[str, str | None, tuple], None] | None = None,
    leaving: Callable[[str, Any], None] | None = None,
) -> Iterator[Callable[[], str | None]]:
    """Follow the forward pass of `model`. The block gets a function that returns the path of the running module.

    The path is that of `named_modules`: "decoder.blocks.0.self_attention". "" is the model itself, and None means that
    no module of it is running in this thread.

    entering  called with (path, path of the calling module or None, positional arguments) before a module runs
    leaving   called with (path, output) after a module has run; the output is None if the module raised an error

    Modules of TorchScript take no hooks and are left out. The hooks are removed when the block ends.
    """
    running: dict[int, list[str]] = defaultdict(list)  # for each thread the modules that are running, innermost last

    def current() -> str | None:
        modules = running[get_ident()]
        return modules[-1] if modules else None

    def enter(path: str, arguments: tuple) -> None:
        if entering is not None:
            entering(path, current(), arguments)
        running[get_ident()].append(path)

    def leave(path: str, output: Any) -> None:
        del running[get_ident()][-1:]  # the list is empty where the block began while this module was running
        if leaving is not None:
            leaving(path, output)

    named_modules = model.named_modules() if isinstance(model, nn.Module) else ()
    with ExitStack() as hooks:
        for path, module in named_modules:
            if isinstance(module, torch.jit.ScriptModule):
                continue
            before = module.register_forward_pre_hook(lambda _, arguments, path=path: enter(path, arguments))
            hooks.callback(before.remove)
            after = module.register_forward_hook(
                lambda _, __, output, path=path: leave(path, output),
                always_call=True,
            )
            hooks.callback(after.remove)
        yield current


class Activations(Mapping[str, Tensor]):
    """What was observed: `activations[name]` is the latest tensor of that name, `history(name)` a list of all."""

    def __init__(self):
        self._tensors: dict[str, list[Tensor]] = {}

    def __getitem__(self, name: str) -> Tensor:
        return self.history(name)[-1]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tensors)

    def __len__(self) -> int:
        return len(self._tensors)

    def history(self, name: str) -> list[Tensor]:
        """All tensors reported under a name, one for each time the module ran."""
        if name not in self._tensors:
            raise KeyError(f"nothing named {name!r} was observed; there is: {', '.join(self._tensors) or 'nothing'}")
        return self._tensors[name]

    def names(self, pattern: str = "*") -> list[str]:
        """The names that match a pattern such as "*.cross_attention.weights", in the order of the computation."""
        return [name for name in self._tensors if fnmatchcase(name, pattern)]

    def __repr__(self) -> str:
        shapes = ", ".join(f"{name} {tuple(self[name].shape)}" for name in self)
        return f"Activations({len(self)} names: {shapes})"


@contextmanager
def capture(
    model: nn.Module,
    *patterns: str,
    edit: Mapping[str, Callable[[Tensor], Tensor]] | None = None,
    detach: bool = True,
) -> Iterator[Activations]:
    """Record what `model` observes while the block runs.

    patterns  which names to record, all by default: capture(model, "*.weights", "*.hidden")
    edit      pattern -> function: the computation continues with what the function returns, and that is recorded; so
              a head can be switched off, or a hidden state replaced
    detach    False keeps the graph, to differentiate through what was recorded

    Any `nn.Module` that contains our layers will do. Only the thread (or task) that entered the block is recorded.
    """
    check_types("capture", nn.Module, model=model)
    for pattern in (*patterns, *(edit or {})):
        check_types("capture", str, **{"a pattern": pattern})
    activations, unused = Activations(), set(edit or {})

    def listener(name: str, tensor: Tensor) -> Tensor | None:
        path = running_module()
        if path is None:  # another model of the same thread
            return None
        full_name = f"{path}.{name}".lstrip(".")
        replacement = None
        for pattern, change in (edit or {}).items():
            if fnmatchcase(full_name, pattern):
                unused.discard(pattern)
                replacement = tensor = change(tensor)
                if not isinstance(tensor, Tensor):
                    raise ValueError(f"capture: the edit of {full_name!r} returned {tensor!r}, expected a tensor")
        if not patterns or any(fnmatchcase(full_name, pattern) for pattern in patterns):
            activations._tensors.setdefault(full_name, []).append(tensor.detach() if detach else tensor)
        return replacement

    with module_paths(model) as running_module, listening(listener):
        yield activations
    if unused:
        raise ValueError(f"capture: nothing was observed that matches the edits {', '.join(map(repr, sorted(unused)))}")
