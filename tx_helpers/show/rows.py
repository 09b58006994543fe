"""A picture in rows: texts, bars and charts one below the other, so that no drawing counts its pixels.

    stacked([title("A step: 0.52 s"), waterfall(seconds, fills, spoken), Text("MFU 52%", bold=True)], width=760, alt=…)

A row is a text, which is cut into lines where it is too long, a `Panel`, or several panels side by side.
"""

from collections.abc import Callable, Mapping, Sequence
from textwrap import wrap
from typing import NamedTuple

from tx_helpers.show.charts import Look, Panel
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import EDGE, GREY, INK, MUTED, bar, card, line, named_bar, shape, words

MARGIN, GAP = 16, 8  # pixels: around all rows, and below a panel
LETTER = 0.53  # the width of a letter, as a share of its size: wide ones, so that no line ends behind the margin
STEP = 26  # pixels from one bar to the next


class Text(NamedTuple):
    """A row of words."""

    text: str
    colour: str = INK
    bold: bool = False
    size: float = 13


class Bar(NamedTuple):
    """A value, what stands behind its bar, and the colours of both; the first `muted` of it are grey."""

    value: float
    said: str
    fill: str
    ink: str = INK
    muted: float = 0


def title(text: str) -> Text:
    """A heading."""
    return Text(text, bold=True, size=15)


def stacked(rows: Sequence[str | Text | Panel | Sequence[Panel]], *, width: int, alt: str) -> Svg:
    """Rows from top to bottom on a card of this width."""
    parts, y = [], float(MARGIN - 4)
    for row in rows:
        if isinstance(row, (str, Text)):
            drawn, tall = _lines(Text(row) if isinstance(row, str) else row, y, width - 2 * MARGIN)
            parts += drawn
            y += tall
            continue
        panels, x = [row] if isinstance(row, Panel) else list(row), MARGIN
        for panel in panels:
            parts.append(f'<g transform="translate({x},{y:g})">{panel.body}</g>')
            x += panel.size[0] + MARGIN
        y += max(panel.size[1] for panel in panels) + GAP
    return card(width, y + MARGIN - GAP, parts, alt)


def _lines(row: Text, y: float, width: float) -> tuple[list[str], float]:
    """The text in lines below y, and how much room they take."""
    step, bold = row.size + 7, {"font_weight": "bold"} if row.bold else {}
    lines = wrap(row.text, int(width / (LETTER * row.size)))
    places = [y + row.size + step * place for place in range(len(lines))]
    return [
        words(MARGIN, at, said, size=row.size, fill=row.colour, **bold) for at, said in zip(places, lines, strict=True)
    ], step * len(lines)


def bars(values: Mapping[str, Bar], *, names: int, length: int, room: int, full: float | None = None) -> Panel:
    """Named bars, one below the other, each with its number behind it.

    names, length, room: the pixels of the names, of the longest bar, and of what stands behind it
    full: the value of a bar as long as `length`, all longer ones are cut off there, and a frame shows its length;
          without it the largest value is the longest bar, and no frame is drawn
    """
    most, parts = full or max(one.value for one in values.values()) or 1, []
    for row, (name, one) in enumerate(values.items()):
        y, scale = STEP * row + 4, length / most
        long = scale * min(one.value, most)
        if full:
            ground = dict(x=names, y=y, width=length, height=18, rx=2, fill=GREY.tint, stroke=EDGE)
            parts.append(shape("rect", **ground))
        parts += named_bar(names, y, name, long, "", one.fill)[:2]
        if one.muted:
            parts.append(bar(names, y, scale * min(one.muted, most), 18, MUTED))
        parts.append(words(names + (length if full else max(long, 1)) + 8, y + 14, one.said, fill=one.ink))
    return Panel((names + length + room, STEP * len(values) + 4), "".join(parts))


def waterfall(
    values: Mapping[str, float],
    fills: Mapping[str, str],
    said: Callable[[float], str],
    *,
    names: int,
    length: int,
    limit: float = 0,
) -> Panel:
    """A bar for each part of a whole, which begins where the one before ended, with its number behind it.

    limit: an upright line stands where the bars together would reach this, with its number below
    """
    scale, step, parts, x = length / max(sum(values.values()), limit), 22, [], float(names)
    for row, (name, value) in enumerate(values.items()):
        top, long = step * row, scale * value
        parts += [
            words(names - 8, top + 14, name, anchor="end"),
            line(names, top + 19, names + length, top + 19, EDGE),
            bar(x, top, long, 18, fills[name]) if value else "",
            words(x + long + 6, top + 14, said(value) if value else "0", fill=INK if value else MUTED),
        ]
        x += long
    high = step * len(values)
    if limit:
        edge = names + scale * limit
        parts.append(line(edge, 0, edge, high, INK, stroke_width=2, stroke_dasharray="5 3"))
        parts.append(words(edge, high + 14, said(limit), anchor="middle", size=12.5))
    return Panel((names + length, high + 18 * bool(limit)), "".join(parts))


def listed(rows: Mapping[str, Sequence[str]], looks: Mapping[str, Look], *, title: str, size: tuple[int, int]) -> Panel:
    """Beside a chart: for each of its lines its look, a bold text, and more texts below."""
    parts, y = [words(0, 14, title, font_weight="bold")], 50
    for name, (head, *more) in rows.items():
        style = dict(stroke_width=2.5, stroke_dasharray=looks[name].dash)
        parts += [line(0, y - 5, 34, y - 5, looks[name].colour, **style), words(44, y, head, font_weight="bold")]
        parts += [words(44, y + 18 + 16 * place, text, size=12, fill=MUTED) for place, text in enumerate(more)]
        y += 32 + 16 * len(more)
    return Panel(size, "".join(parts))


def legend(x: float, y: float, entries: Mapping[str, Mapping[str, object]], *, size: float = 16) -> list[str]:
    """What swatches mean, from left to right: name -> the look of its rectangle, whose top is y."""
    parts = []
    for name, look in entries.items():
        parts.append(shape("rect", x=x, y=y, width=size, height=size, **look))
        parts.append(words(x + size + 6, y + size / 2 + 5, name))
        x += size + 22 + LETTER * 13 * len(name)
    return parts
