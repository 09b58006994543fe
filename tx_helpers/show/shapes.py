"""Shapes and words for the explorers' drawings, on a light card that looks the same on light and dark pages.

A drawing is a list of strings made by `box`, `words`, `line` and the like, from back to front; `card` makes an `Svg`.
Sizes are pixels. Text is escaped here, so any token may be drawn.
"""

import math
from collections.abc import Iterable
from typing import NamedTuple

from tx_helpers.show.plots import Svg, svg_text


class Colour(NamedTuple):
    """A colour for lines and bars, a tint of it to fill with, and a shade of it to write in."""

    full: str
    tint: str
    shade: str


# Okabe and Ito 2008: colours that colour-blind readers tell apart, here for explorers and for the course's figures.
# Each shade has a contrast of more than 4.5 : 1 on its tint and on the card.
INK, MUTED, PAPER, EDGE = "#1F2933", "#52606D", "#FCFCFA", "#CBD2D9"
BLUE = Colour("#0072B2", "#DCECF7", "#00527F")
ORANGE = Colour("#D55E00", "#FCE6D6", "#9A4400")
GREEN = Colour("#009E73", "#D8F1E8", "#00664A")
GOLD = Colour("#E69F00", "#FDF0D0", "#7A5400")
PINK = Colour("#CC79A7", "#F8E7F0", "#8A3B66")
GREY = Colour("#9AA5B1", "#ECEFF2", INK)
SIGNS = str.maketrans({" ": "␣", "\n": "↵", "\t": "⇥", "\r": "␍"})
MONO = "ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace"


def shape(tag: str, content: str = "", **attributes) -> str:
    """One element: shape("circle", cx=3, cy=4, r=1.5); stroke_width becomes stroke-width, None is left out."""
    said = "".join(
        f' {name.replace("_", "-")}="{number(value) if isinstance(value, (int, float)) else svg_text(value)}"'
        for name, value in attributes.items()
        if value is not None
    )
    return f"<{tag}{said}>{svg_text(content)}</{tag}>" if content else f"<{tag}{said}/>"


def words(x: float, y: float, text: str, *, size: float = 13, fill: str = INK, anchor: str = "start", **style) -> str:
    """One line of text; y is its baseline, x its "start", "middle" or "end"."""
    return shape("text", text, x=x, y=y, font_size=size, fill=fill, text_anchor=anchor, **style)


def box(
    x: float,
    y: float,
    width: float,
    height: float,
    text: str,
    colour: Colour,
    size: float = 13,
    below: str = "",
    **style,
) -> str:
    """A rounded box with a word in its middle, or with two, one `below` the other."""
    stroke, fill, ink = colour
    drawn = shape("rect", x=x, y=y, width=width, height=height, rx=6, fill=fill, stroke=stroke, **style)
    middle, baseline = x + width / 2, y + height / 2 + 0.36 * size - (7 if below else 0)
    for row, part in enumerate((text, below) if below else (text,)):
        drawn += words(middle, baseline + 14 * row, part, size=size, fill=ink, anchor="middle")
    return drawn


def bar(x: float, y: float, width: float, height: float, fill: str, **style) -> str:
    """A bar of a chart, at least one pixel long, so that it can be seen."""
    return shape("rect", x=x, y=y, width=max(width, 1), height=height, rx=2, fill=fill, **style)


def named_bar(
    x: float, y: float, name: str, length: float, number: str, fill: str, *, gap: float = 8, size: float = 13
) -> list[str]:
    """A horizontal bar that starts at x, its name on the left and its number, in letters of `size`, after a gap."""
    baseline = y + size + 1
    return [
        words(x - 8, baseline, name, anchor="end"),
        bar(x, y, length, 18, fill),
        words(x + gap + length, baseline, number, size=size),
    ]


def visible(text: str) -> str:
    """A text whose spaces and line breaks can be seen: a space is ␣, a new line ↵, a tab ⇥."""
    return text.translate(SIGNS)


def percent(share: float) -> str:
    """A share (0 … 1): "47.6%", and "under 0.1%" for a smaller one that is not 0."""
    return "under 0.1%" if 0 < share < 0.0005 else f"{share:.1%}"


def line(x1: float, y1: float, x2: float, y2: float, stroke: str, **style) -> str:
    """A straight line."""
    return shape("line", x1=x1, y1=y1, x2=x2, y2=y2, stroke=stroke, **style)


def arrow(x1: float, y1: float, x2: float, y2: float, colour: str, *, gap: float = 7) -> str:
    """An arrow between the discs around two points, `gap` pixels away from both; nothing where there is no room."""
    length = math.hypot(x2 - x1, y2 - y1)
    head = min(9, length - 2 * gap)
    if head < 4:
        return ""
    u, v = (x2 - x1) / length, (y2 - y1) / length
    tip = x2 - gap * u, y2 - gap * v
    back = tip[0] - head * u, tip[1] - head * v
    corners = (tip, (back[0] - 4 * v, back[1] + 4 * u), (back[0] + 4 * v, back[1] - 4 * u))
    points = " ".join(f"{number(x)},{number(y)}" for x, y in corners)
    shaft = line(x1 + gap * u, y1 + gap * v, *back, colour, stroke_width=2)
    return shaft + shape("polygon", points=points, fill=colour)


def curve(x0: float, y0: float, x1: float, y1: float, *, stroke: str, weight: float) -> str:
    """A soft S from top to bottom, the thicker and darker the greater the weight (0 … 1)."""
    middle = number((y0 + y1) / 2)
    path = f"M{number(x0)},{number(y0)} C{number(x0)},{middle} {number(x1)},{middle} {number(x1)},{number(y1)}"
    width, opacity = 1.5 + 6 * weight, 0.15 + 0.75 * weight
    return shape("path", d=path, fill="none", stroke=stroke, stroke_width=width, stroke_opacity=opacity)


def card(width: float, height: float, parts: Iterable[str], alt: str) -> Svg:
    """The drawing on its card, with its alt text."""
    opening = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {number(width)} {number(height)}" '
        f'width="{number(width)}" height="{number(height)}" style="max-width: 100%; height: auto" '
        f'font-family="sans-serif">'
    )
    ground = shape("rect", x=0.5, y=0.5, width=width - 1, height=height - 1, rx=12, fill=PAPER, stroke=EDGE)
    return Svg("\n".join([opening, ground, *parts, "</svg>"]), alt)


def rgb(colour: str) -> list[int]:
    """The hexadecimal "#0072B2" as [0, 114, 178]."""
    return [int(colour[i : i + 2], 16) for i in (1, 3, 5)]


def number(value: float) -> str:
    """At most two decimals, and no more than needed."""
    return f"{value:.2f}".rstrip("0").rstrip(".")
