"""Look into a real forward pass: scores, weights, heads and hidden states, by readable names.

    with capture(model, "*.weights") as seen:
        model(source, target)
    seen["decoder.blocks.0.cross_attention.weights"]        # (B, H, T, S)

What is recorded is what the computation used (`observe`), never a second calculation. A name is the path of the module
and what it reported. The hooks that know the path are gone when the block ends, and the model is as before.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from fnmatch import fnmatchcase
from threading import get_ident

from torch import Tensor, nn

from tx_helpers.observe import listening


class Seen(Mapping[str, Tensor]):
    """What was observed: `seen[name]` is the latest tensor of that name, `seen.history(name)` every one, in order."""

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
        return f"Seen({len(self)} names: {', '.join(f'{n} {tuple(self[n].shape)}' for n in self)})"


@contextmanager
def capture(
    model: nn.Module,
    *patterns: str,
    edit: Mapping[str, Callable[[Tensor], Tensor]] | None = None,
    detach: bool = True,
) -> Iterator[Seen]:
    """Record what `model` observes while the block runs.

    patterns  which names to keep, all by default: capture(model, "*.weights", "*.hidden")
    edit      pattern -> function: the computation goes on with what the function returns, and that is recorded; so a
              head can be switched off, or a hidden state replaced
    detach    False keeps the graph, to differentiate through what was recorded

    Any `nn.Module` that contains our layers will do. Only the thread (or task) that entered the block is recorded.
    """
    seen, unused = Seen(), set(edit or {})
    paths: dict[int, list[str]] = defaultdict(list)  # where each thread stands

    def enter(name: str) -> None:
        paths[get_ident()].append(name)

    def leave() -> None:
        del paths[get_ident()][-1:]  # which is empty where the block began inside the forward

    def listener(name: str, tensor: Tensor) -> Tensor | None:
        path = paths[get_ident()]
        if not path:  # another model of the same thread
            return None
        full = f"{path[-1]}.{name}".lstrip(".")
        replacement = None
        for pattern, change in (edit or {}).items():
            if fnmatchcase(full, pattern):
                unused.discard(pattern)
                replacement = tensor = change(tensor)
                if not isinstance(tensor, Tensor):
                    raise ValueError(f"capture: the edit of {full!r} returned {tensor!r}, expected a tensor")
        if not patterns or any(fnmatchcase(full, pattern) for pattern in patterns):
            seen._tensors.setdefault(full, []).append(tensor.detach() if detach else tensor)
        return replacement

    with ExitStack() as cleanup:
        for name, module in model.named_modules():
            before = module.register_forward_pre_hook(lambda *_, name=name: enter(name))
            after = module.register_forward_hook(lambda *_: leave(), always_call=True)
            cleanup.callback(before.remove)
            cleanup.callback(after.remove)
        cleanup.enter_context(listening(listener))
        yield seen
    if unused:
        raise ValueError(f"capture: nothing was observed that matches the edits {', '.join(map(repr, sorted(unused)))}")
