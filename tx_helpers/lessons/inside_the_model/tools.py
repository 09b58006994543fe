"""Interventions: what is put in the place of an activation while a model computes.

    edit = {"encoder.blocks.1.hidden": put(other, at=2)}                     # one vector from another run
    edit = without([Part("decoder.blocks.0.self_attention", 2)], mean_activations(model, batch))
    with capture(model, edit=edit):
        logits = model(source, target)

All of them go through `capture`, so the rest of the forward pass is the model's own. A part is replaced by zero, by its
mean over other sentences, or by its value in another sentence of the batch (resampling): zero may be a value that the
model never computes, the mean is one that tells nothing, and another sentence's is a real one (Wang et al. 2022; Chan
et al. 2022, causal scrubbing). `edited` does the same to any module of PyTorch.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from tx_helpers.nn.attention import MultiHeadAttention
from tx_helpers.nn.capture import capture
from tx_helpers.nn.layers import FeedForward
from tx_helpers.text.data import PAD, SequenceBatch

Edit = Callable[[Tensor], Tensor]
Edits = dict[str, Edit]


class Part(NamedTuple):
    """A head or, with head None, a whole feed-forward layer: the path of its module, and the head's number from 0."""

    path: str
    head: int | None = None

    @property
    def name(self) -> str:
        """What the module reports: the heads' outputs (B, H, T, K), or the layer's output (B, T, D)."""
        return f"{self.path}.output" if self.head is None else f"{self.path}.heads"

    def __str__(self) -> str:
        """ "decoder block 1 cross-attention, head 3": in words one counts from 1."""
        stack, _, block, kind = self.path.split(".")
        said = f"{stack} block {int(block) + 1} {kind.replace('_', '-')}"
        return said if self.head is None else f"{said}, head {self.head + 1}"


def parts_of(model: nn.Module) -> list[Part]:
    """Every head and every feed-forward layer, in the order of the modules."""
    found: list[Part] = []
    for path, module in model.named_modules():
        if isinstance(module, MultiHeadAttention):
            found += [Part(path, head) for head in range(module.n_heads)]
        elif isinstance(module, FeedForward):
            found.append(Part(path))
    return found


def put(value: Tensor, *, at: int) -> Edit:
    """Replace the vectors (B, T, D) at position `at` by those of `value` (B, T, D) or (D,), and leave the others.

    Raises ValueError if there is no such position.
    """

    def replaced(x: Tensor) -> Tensor:
        if not 0 <= at < x.shape[1]:
            raise ValueError(f"put: at={at}, but the activation has {x.shape[1]} positions")
        x = x.clone()
        x[:, at] = value if value.dim() == 1 else value[:, at]
        return x

    return replaced


def mean_activations(model: nn.Module, batch: SequenceBatch) -> dict[Part, Tensor]:
    """Of each part its mean over all words of a batch, (K,) of a head and (D,) of a feed-forward layer."""
    parts = parts_of(model)
    with capture(model, *{part.name for part in parts}) as seen, torch.no_grad():
        model(batch.source, batch.decoder_input)
    words = {"encoder": batch.source != PAD, "decoder": batch.target != PAD}
    means = {}
    for part in parts:
        x = seen[part.name] if part.head is None else seen[part.name][:, part.head]
        means[part] = x[words[part.path.split(".")[0]]].mean(0)
    return means


def without(parts: Iterable[Part], fill: Mapping[Part, Tensor] | str = "zero") -> Edits:
    """Edits that take the information out of these parts.

    fill  "zero"; "resample": of the next sentence in the batch; or each part's mean, from `mean_activations`
    """
    if isinstance(fill, str) and fill not in ("zero", "resample"):
        raise ValueError(f"without: fill={fill!r}, expected 'zero', 'resample' or the parts' means")
    together: dict[str, list[Part]] = {}
    for part in parts:
        together.setdefault(part.name, []).append(part)
    return {name: _filled(members, fill) for name, members in together.items()}


def _filled(parts: list[Part], fill: Mapping[Part, Tensor] | str) -> Edit:
    def replaced(x: Tensor) -> Tensor:
        other = torch.zeros_like(x) if fill == "zero" else x.roll(1, 0)
        result = x.clone()
        for part in parts:
            here = slice(None) if part.head is None else (slice(None), part.head)
            result[here] = other[here] if isinstance(fill, str) else fill[part]
        return result

    return replaced


def score(model: nn.Module, batch: SequenceBatch, edits: Edits | None = None) -> tuple[float, float]:
    """The share of sentences in which every word is the likeliest, and the mean log-probability of a sentence.

    Each word is asked for after the right words before it. A sentence without a fault is one that greedy decoding would
    write, so the first number is the exact match.
    """
    with capture(model, "*.none", edit=edits), torch.no_grad():
        logits = model(batch.source, batch.decoder_input)
    padding = batch.target == PAD
    right = (logits.argmax(-1) == batch.target) | padding
    log_p = logits.log_softmax(-1).gather(-1, batch.target[..., None])[..., 0].masked_fill(padding, 0.0)
    return right.all(1).double().mean().item(), log_p.double().sum(1).mean().item()


def exact(model: nn.Module, batch: SequenceBatch, edits: Edits | None = None) -> float:
    """The share of sentences without a fault."""
    return score(model, batch, edits)[0]


@contextmanager
def edited(model: nn.Module, edits: Mapping[str, Edit]) -> Iterator[dict[str, Tensor]]:
    """The same for any nn.Module, by hooks: path of a module -> what its output is replaced by.

    Gives a dictionary that fills with the outputs as the model continues with them. An output that is a tuple counts by
    its first tensor. Raises ValueError for a path that the model does not have.
    """
    seen: dict[str, Tensor] = {}

    def hook(path: str, edit: Edit) -> Callable[..., Any]:
        def changed(_module: nn.Module, _arguments: Any, output: Any) -> Any:
            seen[path] = edit(output[0] if isinstance(output, tuple) else output)
            return (seen[path], *output[1:]) if isinstance(output, tuple) else seen[path]

        return changed

    modules = dict(model.named_modules())
    if missing := [path for path in edits if path not in modules]:
        raise ValueError(f"edited: {missing[0]!r} is none of the model's {len(modules)} modules")
    with ExitStack() as hooks:
        for path, edit in edits.items():
            hooks.callback(modules[path].register_forward_hook(hook(path, edit)).remove)
        yield seen
