"""Heads taken out of a trained translator, and what that costs.

    with heads_removed(model, [Head("decoder.blocks.0.self_attention", 2)]):
        translator.exact_match(pairs)

A head acts only through its K columns of the output matrix (PyTorch stores W_O transposed), so setting these to zero
removes the head. The explorer has a button for each head, which shows the exact match without it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from itertools import combinations, groupby, pairwise
from pathlib import Path
from typing import NamedTuple

import anywidget
import torch
import traitlets
from torch import nn

from tx_helpers.nn.arguments import check_numbers, check_types
from tx_helpers.nn.attention import MultiHeadAttention
from tx_helpers.show.charts import Panel, line_chart, side_by_side
from tx_helpers.show.controls import typed
from tx_helpers.show.explore import Explore
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import BLUE, GREY, INK, MUTED, ORANGE, TARGET, box, card, line, shape, sheet, words
from tx_helpers.text.data import text_pairs
from tx_helpers.text.number_words import english, german
from tx_helpers.widgets.scripts import script
from tx_helpers.zoo.recipes import Translator

WIDTH, HEIGHT, BAR = 760, 236, 560  # of the picture in pixels, and of its bar
STYLE = """
.tx-heads [role="button"] { cursor: pointer; outline: none; }
.tx-heads [role="button"]:hover rect { stroke-width: 2.5; }
.tx-heads [role="button"]:focus-visible rect {
  stroke: light-dark(#1F2933, #E6EAEE); stroke-width: 3.5; stroke-dasharray: 5 2;
}
"""


# --- compute ----------------------------------------------------------------------------------------------------------
class Head(NamedTuple):
    """One head: the path of its attention in the model, and its number there, from 0."""

    path: str
    number: int

    def __str__(self) -> str:
        """ "decoder block 1 self-attention, head 3": in words one counts from 1."""
        return f"{layer_name(self.path)}, head {self.number + 1}"


def layer_name(path: str) -> str:
    """ "decoder.blocks.0.self_attention" -> "decoder block 1 self-attention"."""
    stack, _, block, kind = path.split(".")
    return f"{stack} block {int(block) + 1} {kind.replace('_', '-')}"


def heads_of(model: nn.Module) -> list[Head]:
    """Every head of every attention in the model, in the order of the modules."""
    attentions = ((path, part) for path, part in model.named_modules() if isinstance(part, MultiHeadAttention))
    return [Head(path, number) for path, part in attentions for number in range(part.n_heads)]


@contextmanager
def heads_removed(model: nn.Module, heads: Iterable[Head]) -> Iterator[None]:
    """Inside the `with` block these heads add nothing; afterwards the model is as before, to the bit.

    Raises ValueError, before anything is changed, for a head that the model does not have.
    """
    heads = list(dict.fromkeys(heads))
    known = heads_of(model)
    if missing := [head for head in heads if head not in known]:
        raise ValueError(
            f"heads_removed: {tuple(missing[0])} is none of the model's {len(known)} heads, expected one of `heads_of`"
        )
    attentions = {path: model.get_submodule(path) for path, _ in heads}
    before = {path: attention.output.weight.detach().clone() for path, attention in attentions.items()}
    try:
        with torch.no_grad():
            for path, number in heads:
                K = attentions[path].d_head
                attentions[path].output.weight[:, number * K : (number + 1) * K] = 0.0
        yield
    finally:
        with torch.no_grad():
            for path, attention in attentions.items():
                attention.output.weight.copy_(before[path])


def match_without(translator: Translator, heads: Iterable[Head], pairs: Sequence[tuple]) -> float:
    """The share of pairs (…, source, target) translated without a fault while these heads are removed.

    A translation that is longer than the longest target is wrong in any case, so it is cut off there.
    """
    with heads_removed(translator.model, heads):
        return translator.exact_match(pairs, max_new_tokens=_most_tokens(pair[-1] for pair in pairs))


def match_each(translator: Translator, pairs: Sequence[tuple]) -> dict[Head, float]:
    """The exact match of these pairs without each head, one at a time."""
    return {head: match_without(translator, [head], pairs) for head in heads_of(translator.model)}


def match_in_turn(translator: Translator, heads: Sequence[Head], pairs: Sequence[tuple]) -> list[float]:
    """The exact match with all heads, without the first of these, without the first two, and so on, (N + 1)."""
    return [match_without(translator, heads[:count], pairs) for count in range(len(heads) + 1)]


def _most_tokens(targets: Iterable[str]) -> int:
    """The words of the longest target, and its <eos>."""
    return max(len(target.split()) for target in targets) + 1


class Damaged(NamedTuple):
    """What a translator without some heads does: one number, and its exact match over many."""

    removed: tuple[Head, ...]
    count: int  # of all heads
    number: int
    written: str
    match: float
    pairs: int

    @property
    def right(self) -> bool:
        return self.written == german(self.number)


def damaged(translator: Translator, removed: Iterable[Head], number: int, pairs: Sequence[tuple]) -> Damaged:
    """Translate one number and the pairs, in one batch, while these heads are removed.

    Raises ValueError if the number is not a whole one from 0 to 999,999.
    """
    removed = tuple(removed)
    sources, targets = zip(*(pair[-2:] for pair in pairs), strict=True)
    longest = _most_tokens([german(number), *targets])
    with heads_removed(translator.model, removed):
        written, *others = translator.translate_all([english(number), *sources], max_new_tokens=longest)
    match = sum(map(str.__eq__, others, targets)) / len(targets)
    return Damaged(removed, len(heads_of(translator.model)), number, written, match, len(targets))


# --- draw -------------------------------------------------------------------------------------------------------------
def draw(seen: Damaged) -> Svg:
    """The words written, each beside the one it should be, and the exact match as a bar."""
    written, expected = seen.written.split(), german(seen.number).split()
    parts = [
        words(24, 32, f"{seen.number:,}: {english(seen.number)}", size=16, font_weight="bold"),
        words(WIDTH - 24, 162, f"{len(seen.removed)} of {seen.count} heads removed", fill=MUTED, anchor="end"),
    ]
    for y, label, row in ((54, "should be", expected), (104, "writes", written)):
        parts.append(words(24, y + 22, label, fill=MUTED))
        if not row:
            parts.append(words(112, y + 22, "nothing", fill=MUTED, font_style="italic"))
        step = min(92, (WIDTH - 136) / max(1, len(row)))
        for place, word in enumerate(row):
            same = place < len(expected) and word == expected[place]
            edge = {} if same else dict(stroke_width=2.5, stroke_dasharray="5 3")  # a wrong word
            parts.append(box(112 + place * step, y, step - 6, 34, word, TARGET, size=12, **edge))
    mark = "✓ right" if seen.right else "✗ wrong: what differs is dashed"
    parts.append(words(112, 162, mark, font_weight="bold"))
    parts.append(words(24, 196, f"exact match of {seen.pairs} numbers that training never saw", fill=MUTED))
    parts.append(shape("rect", x=24, y=204, width=BAR, height=16, rx=3, fill=GREY.tint))
    parts.append(shape("rect", x=24, y=204, width=BAR * seen.match, height=16, rx=3, fill=INK))
    parts.append(words(24 + BAR + 14, 217, f"{seen.match:.0%}", size=15, font_weight="bold"))
    return card(WIDTH, HEIGHT, parts, describe(seen))


def draw_fall(together: Sequence[float], alone: Sequence[float]) -> Svg:
    """Exact match (N + 1) after removing 0 … N heads in turn, beside the sum of the single losses.

    alone: the exact match (N) without each of these heads by itself.
    """
    if len(together) != len(alone) + 1:
        raise ValueError(f"draw_fall: {len(together)} shares for {len(alone)} heads, expected one more than heads")
    expected = [together[0]]
    for share in alone:
        expected.append(max(0.0, expected[-1] - (together[0] - share)))
    counts = list(range(len(together)))
    lines = {"if each cost what it costs alone": (counts, expected), "removed together": (counts, list(together))}
    chart = line_chart(
        lines,
        size=(720, 260),
        title="Heads that are harmless one at a time",
        xlabel="heads removed",
        ylabel="exact match",
        ylim=(0, 1),
        dots=True,
        legend=False,
    )
    below = []  # the legend: above, it would cover the curve that stays high
    for x, name, colour, dash in zip((170, 440), lines, (BLUE, ORANGE), (None, "6 3"), strict=True):
        below.append(line(x, 272, x + 30, 272, colour.full, stroke_width=2, stroke_dasharray=dash))
        below.append(words(x + 38, 277, name))
    chart = Panel((720, 286), chart.body + "".join(below))
    return side_by_side([chart], alt=describe_fall(together, expected))


# --- describe ---------------------------------------------------------------------------------------------------------
def describe_fall(together: Sequence[float], expected: Sequence[float]) -> str:
    """How far the exact match falls, where it falls most, and what the heads' single losses together would leave."""
    drops = [before - after for before, after in pairwise(together)]
    worst = max(range(len(drops)), key=drops.__getitem__) + 1
    return (
        f"Exact match while {len(drops)} heads that are harmless alone are removed one after another: from "
        f"{together[0]:.0%} to {together[-1]:.0%}, with the largest fall ({100 * drops[worst - 1]:.0f} points) at head "
        f"{worst}. Their single losses together would leave {expected[-1]:.0%}."
    )


def describe(seen: Damaged) -> str:
    """Which heads are removed, what is written, and how many numbers are still right."""
    names = "; ".join(map(str, seen.removed[:3])) + ("; …" if len(seen.removed) > 3 else "")
    removed = f"{len(seen.removed)} of {seen.count} heads removed" + (f" ({names})" if names else "")
    result = "right" if seen.right else f"wrong: it should be '{german(seen.number)}'"
    numbers = f"{round(seen.match * seen.pairs)} of {seen.pairs} held-out numbers are right"
    return f"{removed}. {seen.number:,} → '{seen.written}', {result}. {numbers}."


# --- bind -------------------------------------------------------------------------------------------------------------
class HeadGrid(anywidget.AnyWidget):
    """A row of buttons for each attention, a button for each head; `value` lists the removed heads as [path, number].

    shares  head -> exact match without it alone (0 … 1), which is written on its button
    The module head_grid.js draws it. It is used like any other control of an explorer.
    """

    _esm = script(Path(__file__).with_name("head_grid.js"))
    _css = STYLE + sheet()
    value = traitlets.List().tag(sync=True)
    description = traitlets.Unicode().tag(sync=True)
    heads = traitlets.List().tag(sync=True)

    def __init__(self, shares: Mapping[Head, float], description: str, value: Sequence[Head] = ()):
        rows = {path: row for row, path in enumerate(dict.fromkeys(path for path, _ in shares))}
        heads = [
            dict(value=list(head), name=str(head), layer=layer_name(head.path), share=share)
            | dict(row=rows[head.path], column=head.number)
            for head, share in shares.items()
        ]
        super().__init__(value=[list(head) for head in value], description=description, heads=heads)
        self.layout.width = "100%"

    def __repr__(self) -> str:
        return f"HeadGrid: {len(self.value)} of {len(self.heads)} heads removed"


def _of_one_attention(heads: Iterable[Head]) -> list[list]:
    """No head, and all choices of heads of one and the same attention, as [path, number]."""
    rows = [[list(head) for head in row] for _, row in groupby(heads, key=lambda head: head.path)]
    return [[], *(list(some) for row in rows for count in range(1, len(row) + 1) for some in combinations(row, count))]


def head_removal_explorer(
    translator: Translator, pairs: Sequence[tuple], number: int = 421, *, alone: Mapping[Head, float] | None = None
) -> Explore:
    """Buttons that remove heads, and a number to translate without them.

    pairs  (…, source, target), as `number_pairs` gives them; all of them are translated again at every click
    alone  their exact match without each head (`match_each`), where it is known already
    """
    check_types("head_removal_explorer", Translator, translator=translator)
    pairs = text_pairs("head_removal_explorer", pairs)
    check_numbers("head_removal_explorer", least=0, most=999_999, whole=True, number=number)
    shares = match_each(translator, pairs) if alone is None else dict(alone)
    if list(shares) != heads_of(translator.model):
        raise ValueError(f"head_removal_explorer: alone names {len(shares)} heads, expected those of `heads_of`")
    see = lru_cache(maxsize=256)(lambda removed, number: damaged(translator, removed, number, pairs))

    def picture(removed: list, number: int) -> Svg:
        return draw(see(tuple(sorted(Head(*head) for head in removed)), number))

    return Explore(
        picture,
        name="head-removal",
        recorded={"removed": _of_one_attention(shares)},
        removed=HeadGrid(shares, description="Heads of the translator"),
        number=typed("Number", number, width=200),
    )
