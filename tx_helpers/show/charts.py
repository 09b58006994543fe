"""Charts as SVG text, drawn in a millisecond where matplotlib takes fifty: explorers redraw at every move.

    left = line_chart({"loss": (steps, losses)}, size=(420, 240), title="Loss", xlabel="step", ylabel="nats", logy=True)
    right = bar_chart({"exact match": 0.95}, size=(220, 240), title="How good?")
    side_by_side([left, right], alt="The loss falls to 0.03; 95 % exact matches.")

Each chart is a `Panel`: its size in pixels, and SVG text drawn from its own corner (0, 0).
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike

from tx_helpers.nn.arguments import check_types
from tx_helpers.show.plots import COLOURS, Svg
from tx_helpers.show.series import named_lines, named_matrix, named_numbers
from tx_helpers.show.shapes import (
    BLUE,
    GOLD,
    GREEN,
    GREY,
    INK,
    MUTED,
    ORANGE,
    PAPER,
    PINK,
    WEIGHT,
    WHITE,
    card,
    shape,
    words,
)

DASHES = ("none", "7 3", "7 3 2 3", "2 3")  # so that lines differ by more than their colour
GRID, EDGE = "#DDDDDD", 8
BLACK = "#000"  # on light and on dark cards; "#000000" is white on dark ones (shapes.DARK)
# A line on its own band: in its full colour it would not stand out from it (contrast 2.8, expected 3).
ON_BAND = dict(zip(COLOURS, (BLUE.shade, ORANGE.shade, GREEN.shade, PINK.shade, GOLD.shade, COLOURS[-1]), strict=True))
LEFT, TOP, RIGHT, BOTTOM = 52, 26, 12, 40  # margins of a chart, for its labels


@dataclass(frozen=True)
class Panel:
    """A part of a picture: (width, height) in pixels, and what is drawn there."""

    size: tuple[int, int]
    body: str


class Look(NamedTuple):
    """How a line of a chart is drawn."""

    colour: str
    dash: str


def looks(names: Iterable[str]) -> dict[str, Look]:
    """The look of each line of a chart, for what stands beside it."""
    styles = zip(cycle(COLOURS), cycle(DASHES), strict=False)
    return {name: Look(*style) for name, style in zip(names, styles, strict=False)}


def side_by_side(panels: Sequence[Panel], *, alt: str, gap: int = 16) -> Svg:
    """Panels from left to right on one card."""
    check_types("side_by_side", Sequence, panels=panels)
    check_types("side_by_side", Panel, **{f"panels[{place}]": panel for place, panel in enumerate(panels)})
    widths = [panel.size[0] + gap for panel in panels]
    lefts = [EDGE + sum(widths[:place]) for place in range(len(panels))]
    parts = [f'<g transform="translate({x},{EDGE})">{panel.body}</g>' for x, panel in zip(lefts, panels, strict=True)]
    return card(sum(widths) - gap + 2 * EDGE, max(panel.size[1] for panel in panels) + 2 * EDGE, parts, alt)


def line_chart(
    lines: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    *,
    size: tuple[int, int],
    title: str,
    xlabel: str,
    ylabel: str,
    xlim: tuple[float, float] | None = None,
    ylim: tuple[float, float] | None = None,
    logx: bool = False,
    logy: bool = False,
    faint: Sequence[str] = (),
    xticks: Sequence[float] | None = None,
    legend: bool = True,
    dots: bool = False,
    bands: Mapping[str, tuple[Sequence[float], Sequence[float]]] | None = None,
    marks: Mapping[str, tuple[Sequence[float], Sequence[float]]] | None = None,
    hollow: Mapping[str, tuple[Sequence[float], Sequence[float]]] | None = None,
    levels: Mapping[str, float] | None = None,
    at: float | tuple[float, float] | None = None,
    yticks: Sequence[float] | None = None,
    xform: Callable[[float], str] | None = None,
    percent: bool = False,
) -> Panel:
    """Named lines, name -> (x, y), with a legend where there are several; those in `faint` are drawn thin.

    dots: mark each point of the others. The limits default to those of the data. A line without points appears in the
    legend alone. A logarithmic x has its ticks at the values that were measured, unless xticks names others.

    bands          line -> (low, high) at its points
    marks, hollow  line -> (x, y) of discs, and of rings, in its colour
    levels         broken lines across, each with its name, which may be empty
    at             an x that is looked at, shaded, or the stretch from one to another, framed
    xform, percent how the numbers of x are written; whether y is written in %
    """
    points = named_lines("line_chart", lines)
    unknown = [name for name in faint if name not in points] if isinstance(faint, Sequence) else [faint]
    if unknown:
        raise ValueError(f"line_chart: faint names {unknown[0]!r}, but the lines are {', '.join(points)}")
    every_x, every_y = np.concatenate([*points.values(), np.zeros((2, 0))], axis=1)
    xlim = xlim or _range(every_x)
    ylim = ylim or _range(every_y)
    for least in [xlim[0]] * logx + [ylim[0]] * logy:
        if least <= 0:
            raise ValueError(f"line_chart: a logarithmic scale cannot begin at {least:g}; expected more than 0")
    width, height = _checked("line_chart", size)
    x_ticks = xticks or (_measured(every_x) if logx else _ticks(*xlim))
    y_ticks = yticks or (_log_ticks(*ylim) if logy else _ticks(*ylim))
    written = "{:.0%}".format if percent else _log_label if logy else "{:g}".format
    look = looks(points)
    xform = xform or (lambda x: f"{x:g}".replace("e-0", "e-"))

    across = _scale(xlim, LEFT, width - RIGHT, logx)
    down = _scale(ylim, height - BOTTOM, TOP, logy)

    def discs(places: Iterable[Sequence[float]], r: float, **look: Any) -> list[str]:
        xs, ys = (np.asarray(part, dtype=float) for part in places)
        return [shape("circle", cx=x, cy=y, r=r, **look) for x, y in zip(across(xs), down(ys), strict=True)]

    parts = [_frame(size, title, xlabel, ylabel)]
    if at is not None:
        ends = [across(x) for x in at] if isinstance(at, tuple) else [across(at) - 7, across(at) + 7]
        place = dict(x=ends[0], y=TOP, width=max(ends[1] - ends[0], 1), height=height - TOP - BOTTOM)
        # A range is framed: a line in its own colour does not stand out from a filled one on a dark card.
        look_of = dict(fill="none", stroke=MUTED) if isinstance(at, tuple) else dict(fill=GREY.tint)
        parts.append(shape("rect", **place, **look_of))
    for y in y_ticks:
        parts.append(shape("path", d=f"M{LEFT},{down(y):.1f}H{width - RIGHT}", stroke=GRID))
        parts.append(words(LEFT - 6, down(y) + 4, written(y), size=12, anchor="end"))
    for x in x_ticks:
        bold = {"font_weight": "bold"} if x == at else {}
        parts.append(words(across(x), height - BOTTOM + 16, xform(x), size=12, anchor="middle", **bold))
    inside = {name: level for name, level in (levels or {}).items() if ylim[0] <= level <= ylim[1]}
    parts += [_level(name, down(level), size) for name, level in inside.items()]
    for row, (name, (xs, ys)) in enumerate(points.items()):
        colour, dash = look[name]
        band = (bands or {}).get(name)
        drawn = ON_BAND[colour] if band is not None else colour
        style = dict(fill="none", stroke=drawn, stroke_dasharray=dash, stroke_width=1 if name in faint else 2.2)
        if band is not None:
            low, high = (np.asarray(part, dtype=float) for part in band)
            edge = _spots(across(np.array([*xs, *xs[::-1]])), down(np.array([*high, *low[::-1]])))
            parts.append(shape("polygon", points=edge, fill=colour, fill_opacity=0.14))
        parts.append(shape("polyline", points=_spots(across(xs), down(ys)), **style))
        if dots and name not in faint:
            parts += discs((xs, ys), 5, fill=colour)
        parts += discs((marks or {}).get(name, ((), ())), 4, fill=colour, stroke=PAPER)
        parts += discs((hollow or {}).get(name, ((), ())), 4, fill=PAPER, stroke=colour, stroke_width=2)
        if len(points) > 1 and legend:  # one alone is named by the title
            beside = TOP + 12 + 17 * row
            parts.append(shape("path", d=f"M{width - RIGHT - 28},{beside - 4}H{width - RIGHT}", **style))
            parts.append(words(width - RIGHT - 34, beside, name, size=12, anchor="end"))
    return Panel(size, "".join(parts))


def _scale(limits: tuple[float, float], begin: float, end: float, log: bool) -> Callable[[ArrayLike], Any]:
    """From values to pixels, which begin at the lower limit; what lies beyond the limits is drawn at their ends."""
    scale = np.log10 if log else np.asarray
    low, high = (float(scale(limit)) for limit in limits)
    return lambda values: begin + (scale(np.clip(values, *limits)) - low) / ((high - low) or 1) * (end - begin)


def _level(name: str, y: float, size: tuple[int, int]) -> str:
    """A broken line across a chart; its name stands below it, or above it near the axis."""
    path = f"M{LEFT},{y:.1f}H{size[0] - RIGHT}"
    drawn = shape("path", d=path, stroke=INK, stroke_dasharray="2 4" if name else "8 4")
    below = 14 if y < size[1] - BOTTOM - 18 else -5
    return drawn + (words(LEFT + 4, y + below, name, size=12, fill=MUTED) if name else "")


def _spots(xs: np.ndarray, ys: np.ndarray) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in zip(xs, ys, strict=True))


def bar_chart(
    values: Mapping[str, float], *, size: tuple[int, int], title: str, form: str = "{:.1%}", colour: str = ""
) -> Panel:
    """Named shares (0 … 1) as upright bars, each with its number on top; in the lines' colours unless one is given."""
    values = named_numbers("bar_chart", values)
    width, height = _checked("bar_chart", size)
    slot = width / len(values)
    parts = [heading(width / 2, title)]
    fills = cycle([colour] if colour else COLOURS)
    for place, (name, value) in enumerate(values.items()):
        middle = slot * (place + 0.5)
        tall = (height - TOP - BOTTOM - 14) * value
        top = height - BOTTOM - tall
        parts.append(shape("rect", x=middle - 22, y=top, width=44, height=tall, fill=next(fills)))
        parts.append(words(middle, top - 5, form.format(value), anchor="middle"))
        for row, line in enumerate(_two_lines(name)):
            parts.append(words(middle, height - BOTTOM + 16 + 14 * row, line, size=12, anchor="middle"))
    parts.append(shape("path", d=f"M0,{height - BOTTOM}H{width}", stroke=INK))
    return Panel(size, "".join(parts))


def weight_map(
    weights: ArrayLike,
    keys: Sequence[str],
    queries: Sequence[str],
    *,
    size: tuple[int, int],
    title: str,
    forbidden: ArrayLike | None = None,
) -> Panel:
    """Weights (T, S) as a table: a row for each query, a column for each key; darker is more, with the number.

    forbidden (T, S): where no query may look; such a cell has a dash and an orange edge.
    """
    values = named_matrix("weight_map", weights, queries, keys)
    hidden = (
        np.zeros((len(queries), len(keys)))
        if forbidden is None
        else named_matrix("weight_map", forbidden, queries, keys)
    )
    width, height = _checked("weight_map", size)
    left, top = 70, TOP + 24
    wide, high = (width - left) / len(keys), (height - top) / len(queries)
    parts = [heading(width / 2, title)]
    parts += [words(left + wide * (s + 0.5), top - 7, key, anchor="middle") for s, key in enumerate(keys)]
    for t, (query, row) in enumerate(zip(queries, values, strict=True)):
        parts.append(words(left - 8, top + high * (t + 0.5) + 5, query, anchor="end"))
        for s, weight in enumerate(row):
            x, y = left + wide * s, top + high * t
            share = round(min(1.0, max(0.0, weight)), 3)
            cell = dict(x=x, y=y, width=wide - 2, height=high - 2, fill_opacity=share)
            parts.append(shape("rect", fill=WEIGHT.full, stroke=ORANGE.full if hidden[t, s] else GRID, **cell))
            text = "–" if hidden[t, s] else f"{weight:.2f}"
            parts.append(words(x + wide / 2 - 1, y + high / 2 + 4, text, fill=ink_on(weight), anchor="middle"))
    return Panel(size, "".join(parts))


def shaded_cell(
    x: float, y: float, size: float, share: float, text: str = "", *, colour: str = WEIGHT.full, edge: str = GRID
) -> str:
    """A square cell of a table with a text in it; the greater its share (0 … 1), the darker it is."""
    place = dict(x=x, y=y, width=size - 3, height=size - 3)
    drawn = shape("rect", fill=colour, fill_opacity=round(min(share, 1.0), 3), stroke=edge, **place)
    middle, baseline = x + size / 2 - 1.5, y + size / 2 + 3
    return drawn + (words(middle, baseline, text, size=12, fill=ink_on(share, colour), anchor="middle") if text else "")


def ink_on(share: float, colour: str = WEIGHT.full) -> str:
    """What to write in on so much of a colour, with a contrast of 4.5 : 1 on light and on dark cards; INK has less.

    ValueError for a colour that no numbers are written on.
    """
    limits = {BLUE.full: (0.93, WHITE), GOLD.full: (0.62, BLACK)}  # from there on the same on both
    if colour not in limits:
        raise ValueError(f"ink_on: colour={colour!r}, expected one of {', '.join(limits)}")
    limit, ink = limits[colour]
    return ink if share > limit else "#000000"


def message(text: str, *, size: tuple[int, int]) -> Panel:
    """A few words in the middle of a panel that has nothing to draw."""
    width, height = _checked("message", size)
    return Panel(size, words(width / 2, height / 2, text, anchor="middle"))


def heading(middle: float, title: str) -> str:
    """The title of a panel, in its first line."""
    return words(middle, 14, title, anchor="middle", font_weight="bold")


def _checked(where: str, size: tuple[int, int]) -> tuple[int, int]:
    """The width and the height of a chart, in pixels."""
    if not isinstance(size, Sequence) or len(size) != 2 or not all(isinstance(one, Real) and one > 0 for one in size):
        raise ValueError(f"{where}: size is {size!r}, expected a pair (width, height) in pixels")
    return size


def _frame(size: tuple[int, int], title: str, xlabel: str, ylabel: str) -> str:
    width, height = size
    middle = (LEFT + width - RIGHT) / 2
    turned = f"translate(12,{(TOP + height - BOTTOM) / 2:.1f}) rotate(-90)"
    return (
        heading(middle, title)
        + words(middle, height - 6, xlabel, size=12, anchor="middle")
        + words(0, 0, ylabel, size=12, anchor="middle", transform=turned)
        + shape("path", d=f"M{LEFT},{TOP}V{height - BOTTOM}H{width - RIGHT}", fill="none", stroke=INK)
    )


def _two_lines(name: str) -> list[str]:
    """A name in one line or, if it is long, in two, cut at the space nearest to its middle."""
    spaces = [place for place, letter in enumerate(name) if letter == " "]
    if len(name) <= 14 or not spaces:
        return [name]
    cut = min(spaces, key=lambda place: abs(place - len(name) / 2))
    return [name[:cut], name[cut + 1 :]]


def _range(values: np.ndarray) -> tuple[float, float]:
    """The limits of an axis that shows these values."""
    return (float(values.min()), float(values.max())) if values.size else (0.0, 1.0)


def _ticks(low: float, high: float) -> list[float]:
    ticks = MaxNLocator(nbins=5, steps=[1, 2, 5, 10]).tick_values(low, high)
    return [float(tick) for tick in ticks if low <= tick <= high]


def _measured(values: np.ndarray) -> list[float]:
    """The values themselves, or some of them if there are many."""
    found = sorted({float(value) for value in values})
    return found[:: (len(found) - 1) // 8 + 1]


def _log_ticks(low: float, high: float) -> list[float]:
    """1, 2, 5, 10 … between the limits; over two decades or more only powers of ten, over many only some of these."""
    all_powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    steps = (1, 2, 5) if high < 100 * low else (1,)
    every = (len(all_powers) - 1) // 10 + 1
    powers = [power for power in all_powers if power % every == 0]
    return [tick for power in powers for step in steps if low <= (tick := float(f"{step}e{power}")) <= high]


def _log_label(tick: float) -> str:
    """0.001 … 10000 as they are, powers of ten beyond as 1e-20 or 1e10."""
    power = round(math.log10(tick))
    return f"1e{power}" if not -3 <= power < 5 and tick == float(f"1e{power}") else f"{tick:g}"
