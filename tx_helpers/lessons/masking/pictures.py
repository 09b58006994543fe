"""Drawings of masks: tables of who may look at whom, one pass beside many, and the paths through several layers.

In every table a row is a query and a column a key; ✓ on white means "may look", dark grey "may not".
"""

from collections.abc import Mapping, Sequence
from itertools import product

import torch
from torch import Tensor

from tx_helpers.nn.arguments import check_tensors
from tx_helpers.show.charts import GRID, Panel, heading, side_by_side
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import GREY, INK, MUTED, ORANGE, PINK, WHITE, arrow, box, card, number, shape, words

CELL, LEFT, TOP, GAP = 28, 66, 84, 10  # of a table, and the room around it
WIDE, HIGH = 60, 26  # a word's box
STEP, RISE = 39, 74  # from one position to the next, from one layer to the next


# --- masks -----------------------------------------------------------------------------------------------------------


def mask_tables(tables: Mapping[str, tuple[Tensor, Sequence[str], Sequence[str]]], *, alt: str = "") -> Svg:
    """Masks, two in a line: title -> (mask (T, S), the words of the queries, those of the keys)."""
    panels = [_table(title, *table) for title, table in tables.items()]
    wide = max(panel.size[0] for panel in panels) + GAP
    parts, top = [], GAP
    for first in range(0, len(panels), 2):
        pair = panels[first : first + 2]
        for place, panel in enumerate(pair):
            parts.append(f'<g transform="translate({GAP + wide * place},{top})">{panel.body}</g>')
        top += max(panel.size[1] for panel in pair) + GAP
    counts = "; ".join(
        f"{title}: {int(mask.sum())} of {mask.numel()} cells allowed" for title, (mask, *_) in tables.items()
    )
    said = f"Tables of masks. {counts}.{alt and ' '}{alt}"
    return card(GAP + wide * min(2, len(panels)), top, parts, said)


def _table(title: str, mask: Tensor, queries: Sequence[str], keys: Sequence[str]) -> Panel:
    check_tensors("mask_tables", {"T": len(queries), "S": len(keys)}, mask=(mask, "bool T S"))
    parts = [
        heading(LEFT + CELL * len(keys) / 2, title),
        words(LEFT - 8, TOP - 26, "key →", size=12, anchor="end", fill=MUTED),
        words(LEFT - 8, TOP - 10, "query ↓", size=12, anchor="end", fill=MUTED),
    ]
    for s, key in enumerate(keys):
        turned = f"translate({LEFT + CELL * (s + 0.5) + 2:.0f},{TOP - 8}) rotate(-45)"
        parts.append(words(0, 0, key, size=12.5, transform=turned))
    for cells, fill in ((mask, WHITE), (~mask, GRID)):  # one path each, which keeps the drawing small
        corners = [f"M{LEFT + CELL * s},{TOP + CELL * t}h25v25h-25z" for t, s in cells.nonzero().tolist()]
        parts.append(shape("path", d="".join(corners), fill=fill, stroke=MUTED, stroke_width=0.5))
    for t, (query, row) in enumerate(zip(queries, mask.tolist(), strict=True)):
        middle = TOP + CELL * (t + 0.5) + 3
        parts.append(words(LEFT - 8, middle, query, size=12.5, anchor="end"))
        spots = [number(LEFT + CELL * (s + 0.5) - 1.5) for s, may in enumerate(row) if may]
        if spots:
            place = dict(x=" ".join(spots), y=middle + 1, text_anchor="middle")
            parts.append(shape("text", "✓" * len(spots), font_size=13, fill=INK, **place))
    wide = max(LEFT + CELL * len(keys) + 34, LEFT + CELL * len(keys) / 2 + 3.8 * len(title))
    return Panel((round(wide), TOP + CELL * len(queries) + 6), "".join(parts))


# --- one pass beside many --------------------------------------------------------------------------------------------


def passes(reads: Sequence[str], names: Sequence[str]) -> Svg:
    """T passes, one for each prefix, beside one pass over the whole text; `names[t]` follows on the prefix 0 … t."""
    T = len(reads)
    read = T * (T + 1) // 2
    alt = (
        f"Left: {T} passes. Each reads one prefix of '{' '.join(reads)}' and names the next word; together they read "
        f"{read} words. Right: one pass reads the {T} words once. Lines lead to each answer from its own word and "
        f"those before it, and from no later one, so that it names the same {T} next words."
    )
    left, _ = _many_passes(reads, names)
    right, height = _one_pass(reads, names)
    return card(800, height, [left, f'<g transform="translate(422,0)">{right}</g>'], alt)


def _many_passes(reads: Sequence[str], names: Sequence[str]) -> tuple[str, float]:
    T, small = len(reads), 48
    parts = [words(20, 28, f"{T} passes: one for each prefix", size=14, font_weight="bold")]
    for t in range(T):
        y = 48 + 46 * t
        for s in range(t + 1):
            parts.append(box(14 + (small + 3) * s, y, small, HIGH, reads[s], GREY, 12.5 if len(reads[s]) < 8 else 11))
        end = 14 + (small + 3) * (t + 1)
        parts.append(arrow(end - 7, y + HIGH / 2, end + 27, y + HIGH / 2, MUTED))
        parts.append(box(end + 22, y, 52, HIGH, names[t], ORANGE, 12.5 if len(names[t]) < 8 else 11))
    read = T * (T + 1) // 2
    said = " + ".join(str(t) for t in range(1, T + 1))
    parts.append(words(20, 48 + 46 * T + 14, f"{said} = {read} words read, {T} answers", size=13))
    return "".join(parts), 48 + 46 * T + 30


def _one_pass(reads: Sequence[str], names: Sequence[str]) -> tuple[str, float]:
    T, bottom, top = len(reads), 48 + 46 * (len(reads) - 1), 66
    parts = [words(8, 28, "One pass with a causal mask", size=14, font_weight="bold")]
    for t in range(T):
        for s in range(t + 1):
            strong = dict(stroke=INK, stroke_width=2.6) if t == 2 else dict(stroke=MUTED, stroke_width=1.2)
            x1, x2 = WIDE * (s + 0.5), WIDE * (t + 0.5)
            parts.append(shape("line", x1=x1, y1=bottom, x2=x2, y2=top + HIGH, **strong))
    for t in range(T):
        parts.append(box(WIDE * t + 3, top, WIDE - 6, HIGH, names[t], ORANGE, 12.5 if len(names[t]) < 8 else 11.5))
        parts.append(box(WIDE * t + 3, bottom, WIDE - 6, HIGH, reads[t], GREY, 12.5 if len(reads[t]) < 8 else 11.5))
    parts.append(words(8, 54, "next word of each prefix", size=12.5, fill=MUTED))
    parts.append(words(8, bottom + HIGH + 34, f"{T} words read, {T} answers", size=13))
    return "".join(parts), 48 + 46 * T + 30


# --- paths through layers --------------------------------------------------------------------------------------------


def fans(stacks: Mapping[str, tuple[Tensor, int, int]]) -> Svg:
    """Paths to one output, as fans side by side: title -> (mask (T, T), number of layers, the output)."""
    found, panels = [], []
    for title, (mask, depth, output) in stacks.items():
        levels = on_a_path(mask, depth, output)
        sources = levels[0].nonzero().flatten().tolist()
        found.append(f"{title}: paths lead to output {output} from inputs {', '.join(map(str, sources))}")
        panels.append(_fan(title, mask, levels, output))
    return side_by_side(panels, alt=f"Layers of points, joined where the mask allows. {'; '.join(found)}.", gap=20)


def on_a_path(mask: Tensor, depth: int, output: int) -> list[Tensor]:
    """Of each level, from the inputs up, the positions (T,) from which a path leads to the output; depth + 1 levels."""
    check_tensors("on_a_path", mask=(mask, "bool T T"))
    step = mask | torch.eye(len(mask), dtype=torch.bool)  # the residual path
    levels = [torch.arange(len(mask)) == output]
    for _ in range(depth):
        levels.append(step[levels[-1]].any(0))
    return levels[::-1]


def _fan(title: str, mask: Tensor, levels: list[Tensor], output: int) -> Panel:
    T, depth = len(mask), len(levels) - 1
    width, foot = 62 + STEP * T, 56 + RISE * depth
    parts = [heading(width / 2, title)]
    step = (mask | torch.eye(T, dtype=torch.bool)).nonzero().tolist()

    def spot(level: int, position: int) -> tuple[float, float]:
        return 62 + STEP * (position + 0.5), foot - RISE * level

    lines: dict[bool, list[str]] = {False: [], True: []}
    for level, (t, s) in product(range(depth), step):
        (x1, y1), (x2, y2) = spot(level, s), spot(level + 1, t)
        lines[bool(levels[level + 1][t])].append(f"M{number(x1)},{number(y1)}L{number(x2)},{number(y2)}")
    parts.append(shape("path", d="".join(lines[False]), stroke=GRID))
    parts.append(shape("path", d="".join(lines[True]), stroke=PINK.full, stroke_width=3))  # those on a path come last
    for level, reached in enumerate(levels):
        name = "input" if level == 0 else f"layer {level}"
        parts.append(words(0, spot(level, 0)[1] + 4, name, size=12.5))
        for position in range(T):
            x, y = spot(level, position)
            lit = bool(reached[position])
            parts.append(shape("circle", cx=x, cy=y, r=8, fill=PINK.full if lit else GREY.tint, stroke=MUTED))
    x, y = spot(depth, output)
    parts.append(shape("circle", cx=x, cy=y, r=12, fill="none", stroke=INK, stroke_width=2))
    parts += [words(spot(0, j)[0], foot + 26, str(j), size=12.5, anchor="middle") for j in range(T)]
    return Panel((width, foot + 32), "".join(parts))
