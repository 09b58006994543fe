"""The explorer of the full model: click a part of the model, and see what goes in, what comes out, and its source.

    parts_explorer(model, batch.source, batch.decoder_input, own)

Shapes are those of one real forward pass of the package's model, and parameters are counted in it. The source is that
of `own`, the learner's model, whose parts bear the same names: the `forward` of the class in which the part stands.
"""

import ast
import inspect
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn
from traitlets import link

from tx_helpers import plain
from tx_helpers.lessons.full_model.model_map import ModelMap
from tx_helpers.nn.arguments import check_tensors, check_types
from tx_helpers.nn.attention import MultiHeadAttention
from tx_helpers.nn.blocks import Block, DecoderBlock
from tx_helpers.nn.capture import capture
from tx_helpers.nn.layers import FeedForward
from tx_helpers.nn.models import EncoderDecoder, Stack, count_parameters
from tx_helpers.show.controls import choice
from tx_helpers.show.explore import Explore
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import EDGE, MONO, MUTED, card, shape, words

MOST_LINES, MOST_SIGNS = 30, 103  # of source, and of one line of it
MOST_BLOCKS = 2  # of a stack: further blocks are alike
PURPOSE: dict[type, str] = {
    Stack: "Ids become vectors, which pass all blocks and a last norm.",
    nn.Embedding: "A table with a row for each word: an id picks its row.",
    Block: "Self-attention, then feed-forward; each adds what it found to the stream.",
    DecoderBlock: "Self-attention, cross-attention, feed-forward; each adds what it found to the stream.",
    MultiHeadAttention: "Each position collects what it needs from others. Positions meet in attention alone.",
    FeedForward: "Goes from D to F and back to D, at each position separately.",
    nn.LayerNorm: "Brings each vector to mean 0 and deviation 1, then applies a learned gain and bias.",
    nn.Linear: "A number for each word of the vocabulary: the dot product with its row of the table.",
}
SUBLAYERS = {"self_attention": "self-attention", "cross_attention": "cross-attention", "feed_forward": "feed-forward"}
Shape = tuple[int, ...]


@dataclass
class Part:
    """A module of the model, and what one forward pass showed of it: names of tensors with their shapes.

    written: the learner's class that computes it.
    shared: the name of another part, if it is the same parameters that this one uses.
    """

    name: str
    module: nn.Module
    written: type = plain.Transformer
    inputs: dict[str, Shape] = field(default_factory=dict)
    inside: dict[str, Shape] = field(default_factory=dict)
    output: Shape = ()
    shared: str = ""

    @property
    def parameters(self) -> int:
        """All trainable numbers of the part."""
        return count_parameters(self.module)


# --- compute ---------------------------------------------------------------------------------------------------------
def names(model: EncoderDecoder) -> dict[str, str]:
    """Path -> name of each part, in the order of the computation: "encoder.blocks.0" -> "encoder block 1"."""
    found = {}
    for side in ("encoder", "decoder"):
        stack = model.get_submodule(side)
        found |= {side: side, f"{side}.input.tokens": f"{side} › embedding"}
        if stack.input.positions is not None:
            found[f"{side}.input.positions"] = f"{side} › positions"
        for i, block in enumerate(stack.blocks[:MOST_BLOCKS]):
            path, name = f"{side}.blocks.{i}", f"{side} block {i + 1}"
            found[path] = name
            for end, sublayer in SUBLAYERS.items():
                if hasattr(block, end):
                    found[f"{path}.{end}_norm"] = f"{name} › norm of {sublayer}"
                    found[f"{path}.{end}"] = f"{name} › {sublayer}"
        if not isinstance(stack.norm, nn.Identity):
            found[f"{side}.norm"] = f"{side} › last norm"
    return found | {"output": "output"}


def writer(own: nn.Module, path: str) -> type:
    """The learner's class at a path; where PyTorch's stands there, or none, that of the part around it."""
    while path:
        with suppress(AttributeError):
            kind = type(own.get_submodule(path))
            if not kind.__module__.startswith("torch."):
                return kind
        path = path.rpartition(".")[0]
    return type(own)


def trace(model: EncoderDecoder, source: Tensor, target: Tensor, own: nn.Module | None = None) -> dict[str, Part]:
    """Path -> part, from one forward pass of source (B, S) and target (B, T); own: whose source is shown, else ours."""
    own = own or plain.Transformer(1, 1, 4, 1, 4, n_layers=MOST_BLOCKS)
    parts = {path: Part(name, model.get_submodule(path), writer(own, path)) for path, name in names(model).items()}

    def watch(path: str, part: Part):
        def hook(module: nn.Module, positional: tuple, named: dict, output: Tensor) -> None:
            if part.output and path.startswith("encoder"):
                return  # a table that both sides share runs twice
            given = inspect.signature(module.forward).bind(*positional, **named).arguments
            part.inputs = {name: tuple(x.shape) for name, x in given.items() if isinstance(x, Tensor)}
            part.output = tuple(output.shape)

        return part.module.register_forward_hook(hook, with_kwargs=True)

    with ExitStack() as cleanup, capture(model) as seen, torch.no_grad():
        for path, part in parts.items():
            cleanup.callback(watch(path, part).remove)
        model(source, target)
    for name in seen:
        path, _, what = name.rpartition(".")
        if path in parts and what not in ("output", "hidden"):
            parts[path].inside[what] = tuple(seen[name].shape)
    if model.config.embedding.tied:
        parts["output"].shared = parts["decoder.input.tokens"].name
    return parts


def letters(model: EncoderDecoder, source: Tensor, target: Tensor) -> dict[int, str]:
    """Size -> letter of the legend, for each size that can mean one letter only."""
    config, (B, S), T = model.config, source.shape, target.shape[1]
    sizes = dict(B=B, T=T, S=S, D=config.d_model, H=config.attention.n_heads, K=config.d_head, F=config.d_ff)
    sizes["V"] = config.vocab_size
    return {size: letter for letter, size in sizes.items() if [1, *sizes.values()].count(size) == 1}


def spelt(shape: Sequence[int], letter: Mapping[int, str]) -> str:
    """(2, 5, 24) as "(B, S, D) = (2, 5, 24)"; a size without a letter stays a number."""
    numbers = str(tuple(shape))
    spelt = str(tuple(letter.get(size, size) for size in shape)).replace("'", "")
    return numbers if spelt == numbers else f"{spelt} = {numbers}"


def source_lines(kind: type) -> list[str]:
    """The source of the class's forward, without its docstring and not longer than a card; ours where it has none."""
    try:
        text = inspect.getsource(kind.forward)
    except (OSError, TypeError):
        if hasattr(plain, "PACKED"):  # the edition without solutions
            return ["(ours: not in this edition)"]
        text = inspect.getsource(getattr(plain, kind.__name__, plain.Transformer).forward)
    text = textwrap.dedent(text)
    lines, first = text.splitlines(), ast.parse(text).body[0].body[0]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
        del lines[first.lineno - 1 : first.end_lineno]
    lines = [line if len(line) <= MOST_SIGNS else line[: MOST_SIGNS - 1] + "…" for line in lines if line.strip()]
    more = len(lines) - MOST_LINES
    return lines if more <= 0 else [*lines[:MOST_LINES], f"… and {more} more lines"]


def owned(part: Part, total: int) -> str:
    """How many parameters, and their share of the model's `total`."""
    if not part.parameters:
        return "no parameters"
    if part.shared:
        return f"{part.parameters:,} parameters, those of {part.shared}"
    return f"{part.parameters:,} parameters, {part.parameters / total:.1%} of the model"


# --- draw ------------------------------------------------------------------------------------------------------------
def draw(part: Part, letter: Mapping[int, str], total: int) -> Svg:
    """A card: what goes in, what is inside, what comes out, the parameters, and below them the source."""
    kind, code = type(part.module), part.written.__name__
    purpose = PURPOSE.get(kind) or (kind.__doc__ or "").strip().split("\n")[0]
    columns = {
        "goes in": [f"{name} {spelt(shape, letter)}" for name, shape in part.inputs.items()],
        "inside": [f"{name} {spelt(shape, letter)}" for name, shape in part.inside.items()],
        "comes out": [spelt(part.output, letter), "", *owned(part, total).split(", ")],
    }
    parts = [
        words(24, 34, part.name, size=17, font_weight="bold"),
        words(24, 58, purpose, fill=MUTED),
    ]
    for x, (title, lines) in zip((24, 286, 572), columns.items(), strict=True):
        parts += [words(x, 88, title, font_weight="bold")] if any(lines) else []
        parts += [words(x, 107 + 18 * n, line, size=12.5, font_family=MONO) for n, line in enumerate(lines) if line]
    top = 118 + 18 * max(map(len, columns.values()))
    source = source_lines(part.written)
    height = top + 17 * len(source) + 40
    parts.append(words(24, top + 6, f"{code}.forward", size=13, fill=MUTED, font_family=MONO))
    frame = dict(x=16, y=top + 14, width=768, height=height - top - 26, rx=8)
    parts.append(shape("rect", **frame, fill="#FFFFFF", stroke=EDGE))
    parts += list(_code(source, 28, top + 32))
    return card(800, height, parts, describe(part, letter, total))


def _code(lines: Sequence[str], x: float, y: float) -> Iterator[str]:
    """Lines of a program, indented by place, since SVG swallows spaces."""
    for n, line in enumerate(lines):
        indent = 7.2 * (len(line) - len(line.lstrip()))
        yield words(x + indent, y + 17 * n, line.strip(), size=12, font_family=MONO)


# --- describe ---------------------------------------------------------------------------------------------------------
def describe(part: Part, letter: Mapping[int, str], total: int) -> str:
    """What goes in, what comes out, how many parameters."""
    given = ", ".join(f"{name} {spelt(shape, letter)}" for name, shape in part.inputs.items())
    return f"{part.name} receives {given} and returns {spelt(part.output, letter)}; {owned(part, total)}."


# --- bind -------------------------------------------------------------------------------------------------------------
def parts_explorer(model: EncoderDecoder, source: Tensor, target: Tensor, own: nn.Module | None = None) -> Explore:
    """Click a part on the map, or choose it from the list: its shapes, its parameters, and its source in `own`."""
    check_types("parts_explorer", EncoderDecoder, model=model)
    check_tensors("parts_explorer", source=(source, "int B S"), target=(target, "int B T"))
    if own is not None:
        check_types("parts_explorer", nn.Module, own=own)
    parts = trace(model, source, target, own)
    letter, total = letters(model, source, target), count_parameters(model)
    cards = {path: draw(part, letter, total) for path, part in parts.items()}  # all now: a move has only to show one
    start = "decoder.blocks.0.cross_attention"
    options = [(part.name, path) for path, part in parts.items()]
    part = choice("Part", options, start)
    plan = ModelMap(names(model), description="Map of the model", value=start)
    link((part, "value"), (plan, "value"))
    return Explore(lambda part, plan: cards[part], name="parts", recorded={"plan": "part"}, plan=plan, part=part)
