"""Maps of influence: which input moves which output, what is forbidden, and what comes from there all the same.

influence_map(influence, words, title="decoder", forbidden=~mask)           one map, a `Panel` for `side_by_side`
influence_maps({"no mask": influence, …}, forbidden=~mask, alt="…")         several small ones with one scale
"""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from tx_helpers.show.charts import GRID, LEFT, TOP, Panel, heading, shaded_cell
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import BLUE, GREY, MUTED, ORANGE, WEIGHT, card, shape, words

TINY = 1e-12  # in double precision: below it there is no influence
FRAME = dict(fill="none", stroke=ORANGE.full, stroke_width=2.5, stroke_linecap="square")  # around what is forbidden
MARKS = [(BLUE.full, share**0.25, f"{share:g}") for share in (1e-4, 0.1, 1)]
STEP = 62  # from one mark of a scale to the next
COLUMNS, SMALL, GAP = 3, 22, 14  # of several maps: how many stand side by side, their cells, the room between them

Scale = Sequence[tuple[str, float, str]]  # a colour, its opacity, and what it means


def influence_map(influence: Tensor, names: Sequence[str], *, title: str, forbidden: Tensor | None = None) -> Panel:
    """Influence (T, T), output by input, as shades: the fourth root of the share of the largest, so that little shows.

    forbidden (T, T): what no output may read; it is framed, and what comes from there all the same is orange.
    """
    across = "input (shade: share of the largest)"
    return _map(influence, names, title=title, across=across, forbidden=forbidden, scale=_scale(forbidden))


def influence_maps(maps: Mapping[str, Tensor], *, forbidden: Tensor, alt: str) -> Svg:
    """Several maps by their titles, (T, T) each, three side by side, with numbers for words and one scale below."""
    names = [str(place) for place in range(len(forbidden))]
    panels = [
        _map(influence, names, title=title, across="input", forbidden=forbidden, cell=SMALL)
        for title, influence in maps.items()
    ]
    wide, high = (length + GAP for length in panels[0].size)
    parts = [
        f'<g transform="translate({GAP + wide * (n % COLUMNS)},{GAP + high * (n // COLUMNS)})">{panel.body}</g>'
        for n, panel in enumerate(panels)
    ]
    bottom = GAP + high * (-(-len(panels) // COLUMNS))
    said = "Shade: share of the largest influence"
    parts += [words(GAP + LEFT, bottom + 11, said, size=12), *_marks(_scale(forbidden), GAP + LEFT + 240, bottom)]
    return card(GAP + wide * min(COLUMNS, len(panels)), bottom + 28, parts, alt)


def share_table(
    values: Tensor,
    names: Sequence[str],
    *,
    title: str,
    across: str,
    down: str,
    forbidden: Tensor | None,
    scale: Scale = (),
    colour: str = WEIGHT.full,
    numbers: bool = False,
    cell: int = 36,
) -> Panel:
    """A (T, T) matrix of shares as shades, on request with its numbers, its scale below; forbidden cells framed."""
    size, long = len(names), max(map(len, names)) > 2
    left, top = (84, TOP + 54) if long else (LEFT, TOP + 18)
    middle, bottom = left + size * cell / 2, top + size * cell
    turned = f"translate(12,{top + size * cell // 2}) rotate(-90)"
    parts = [
        heading(middle, title),
        words(middle, bottom + 18, across, anchor="middle", size=12),
        words(0, 0, down, anchor="middle", size=12, transform=turned),
    ]
    for i, row in enumerate(values.tolist()):
        at = left + cell * (i + 0.5)
        place = dict(transform=f"translate({at:.0f},{top - 6}) rotate(-45)") if long else dict(anchor="middle")
        parts.append(words(*((0, 0) if long else (at, top - 6)), names[i], size=12, **place))
        parts.append(words(left - 8, top + cell * (i + 0.5) + 4, names[i], anchor="end", size=12))
        for j, share in enumerate(row):
            nothing = not numbers and share <= TINY**0.25
            leaks = not (numbers or nothing) and forbidden is not None and bool(forbidden[i, j])
            fill = GREY.tint if nothing else ORANGE.full if leaks else colour
            style = dict(colour=fill, edge=ORANGE.full if leaks else GRID)
            text, x, y = f"{share:.2f}" if numbers else "", left + cell * j, top + cell * i
            parts.append(shaded_cell(x, y, cell, 1 if nothing else share, text, **style))
            if nothing:
                parts.append(words(x + cell / 2 - 1.5, y + cell / 2 + 2.5, "0", size=11, anchor="middle", fill=MUTED))
    if forbidden is not None:
        parts.append(shape("path", d=_outline(forbidden, left, top, cell), **FRAME))
    parts += _marks(scale, left, bottom + 30)
    width = max(left + size * cell + 30 * long, left + STEP * len(scale))
    return Panel((width, bottom + (50 if scale else 24)), "".join(parts))


def _map(influence: Tensor, names: Sequence[str], **options: Any) -> Panel:
    return share_table((influence / influence.max()) ** 0.25, names, down="output", colour=BLUE.full, **options)


def _scale(forbidden: Tensor | None) -> Scale:
    return [(GREY.tint, 1, "0, none"), *MARKS, *([] if forbidden is None else [(ORANGE.full, 1, "leak")])]


def _marks(scale: Scale, left: float, top: float) -> list[str]:
    parts = []
    for n, (fill, opacity, said) in enumerate(scale):
        place = dict(x=left + STEP * n, y=top, width=14, height=14, rx=3)
        parts.append(shape("rect", fill=fill, **place, fill_opacity=round(opacity, 3), stroke=MUTED))
        parts.append(words(left + STEP * n + 19, top + 11, said, size=11))
    return parts


def _outline(mask: Tensor, left: float, top: float, cell: float) -> str:
    """The path around the cells of a mask: every edge between a cell in it and one that is not."""
    wide = torch.nn.functional.pad(mask.int(), (1, 1, 1, 1))
    down, across = wide.diff(dim=0)[:, 1:-1].nonzero().tolist(), wide.diff(dim=1)[1:-1].nonzero().tolist()
    flat = [f"M{left + cell * j - 1.5:g},{top + cell * i - 1.5:g}h{cell}" for i, j in down]
    return "".join(flat + [f"M{left + cell * j - 1.5:g},{top + cell * i - 1.5:g}v{cell}" for i, j in across])
