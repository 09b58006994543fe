"""Shapes and words for the explorers' drawings, and the visual grammar of the course: what has which colour and mark.

A drawing is a list of strings made by `box`, `words`, `line` and the like, from back to front; `card` makes an `Svg`.
Sizes are pixels. Text is escaped here, so any token may be drawn.

Colours are written as those of a light page. `theme` makes the style sheet that a drawing carries in itself: it puts
the dark partner in place of a colour wherever the page's `color-scheme` is dark. JupyterLab and Notebook 7 set that
with their theme, for drawings in the page and for those in an <img>; elsewhere the card is light, and can be read.
"""

import math
import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from tx_helpers.show.plots import Svg, svg_text


class Colour(NamedTuple):
    """A colour for lines and bars, a tint of it to fill with, and a shade of it to write in."""

    full: str
    tint: str
    shade: str


# Okabe and Ito 2008: colours that colour-blind readers tell apart, here for explorers and for the course's figures;
# their pink is darkened, since next to our grey some would not know it. Each shade has a contrast of more than 4.5 : 1
# on its tint and on the card, and so have their dark partners.
INK, MUTED, PAPER, EDGE, WHITE = "#1F2933", "#52606D", "#FCFCFA", "#CBD2D9", "#FFFFFF"
BLUE = Colour("#0072B2", "#DCECF7", "#00527F")
ORANGE = Colour("#D55E00", "#FCE6D6", "#9A4400")
GREEN = Colour("#009E73", "#D8F1E8", "#00664A")
GOLD = Colour("#E69F00", "#FDF0D0", "#7A5400")
PINK = Colour("#AF4B85", "#F8E7F0", "#8A3B66")
GREY = Colour("#9AA5B1", "#ECEFF2", INK)
DEEP_GREEN = Colour(GREEN.full, "#9FD9C3", "#00402E")  # another green, for a second head

# The visual grammar. Orange asks, blue is found, green is read; what attention computes from them is grey, then gold.
# Attention has one look: a weight is gold, WEIGHT.full as opaque as the weight is large, on the paper of the theme,
# here as `fill_opacity`, in pixels as `transparent_to`, on Matplotlib's white as `cells.GOLD`. No other matrix is gold.
QUERY, KEY, VALUE = ORANGE, BLUE, GREEN
SCORE, WEIGHT, RESIDUAL = GREY, GOLD, PINK
# Where words are drawn and no query, key or value: the target asks, the source is found, the memory is read.
SOURCE, TARGET, MEMORY, SPECIAL, PADDING = BLUE, ORANGE, GREEN, PINK, GREY

# The marks in formulas, below a symbol: \underset{…}{Q}. They have one colour on white and on the #111 of dark pages.
# No colour has the 4.5 : 1 on both that letters need, so the letters keep the colour of the text.
FORMULA = {
    "query": r"\textcolor{#C75800}{\Large\bullet}",
    "key": r"\textcolor{#007FC7}{\blacksquare}",
    "value": r"\textcolor{#008A64}{\blacklozenge}",
    "score": r"\textcolor{#6C7B8C}{\square}",
    "weight": r"\textcolor{#A16F00}{\blacksquare\blacksquare}",
}

# Light -> dark. A full colour is the same on both. White is that of a box on the card: white words stay white, for
# they stand on a full colour.
DARK = {
    **{INK: "#E6EAEE", MUTED: "#A9B4BF", PAPER: "#1B2127", EDGE: "#47525D", WHITE: "#12161B"},
    **{BLUE.tint: "#0C2536", BLUE.shade: "#8CC8F0", ORANGE.tint: "#402009", ORANGE.shade: "#FFB27A"},
    **{GREEN.tint: "#0A3328", GREEN.shade: "#6FD6B4", GOLD.tint: "#3A2B06", GOLD.shade: "#F5C752"},
    **{PINK.tint: "#351B2E", PINK.shade: "#EDA9CF", GREY.tint: "#2B333B"},
    **{DEEP_GREEN.tint: "#15604B", DEEP_GREEN.shade: "#D2F5E8"},
    **{"#000000": "#FFFFFF", "#DDDDDD": "#3A434C"},  # words on a shaded cell, and the grid of a chart
}
SIGNS = str.maketrans({" ": "␣", "\n": "↵", "\t": "⇥", "\r": "␍"})
MONO = "ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace"


def shape(tag: str, content: str = "", /, **attributes: object) -> str:
    """One element: shape("circle", cx=3, cy=4, r=1.5); stroke_width becomes stroke-width, None is left out."""
    said = "".join(
        f' {name.replace("_", "-")}="{number(value) if isinstance(value, (int, float)) else svg_text(value)}"'
        for name, value in attributes.items()
        if value is not None
    )
    return f"<{tag}{said}>{svg_text(content)}</{tag}>" if content else f"<{tag}{said}/>"


def setting(control: str, value: object, parts: Iterable[str]) -> str:
    """Elements that set a control of their explorer when they are clicked; the keyboard needs the control itself."""
    return f'<g data-sets="{svg_text(f"{control}={value}")}" style="cursor: pointer">{"".join(parts)}</g>'


def dragging(rates: Mapping[str, tuple[float, float]], parts: Iterable[str]) -> str:
    """Elements that turn sliders of their explorer when they are dragged; the keyboard needs the sliders themselves.

    rates  slider -> what a pixel to the right adds to its value, and what a pixel down adds
    """
    said = " ".join(f"{control}:{across:.5f}:{down:.5f}" for control, (across, down) in rates.items())
    return f'<g data-drags="{svg_text(said)}" style="cursor: grab; touch-action: none">{"".join(parts)}</g>'


def words(
    x: float, y: float, text: str, *, size: float = 13, fill: str = INK, anchor: str = "start", **style: object
) -> str:
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
    **style: object,
) -> str:
    """A rounded box with a word in its middle, or with two, one `below` the other."""
    stroke, fill, ink = colour
    drawn = shape("rect", x=x, y=y, width=width, height=height, rx=6, fill=fill, stroke=stroke, **style)
    middle, baseline = x + width / 2, y + height / 2 + 0.36 * size - (7 if below else 0)
    for row, part in enumerate((text, below) if below else (text,)):
        drawn += words(middle, baseline + 14 * row, part, size=size, fill=ink, anchor="middle")
    return drawn


def bar(x: float, y: float, width: float, height: float, fill: str, **style: object) -> str:
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


def gibi(size: float) -> str:
    """Bytes as KiB, MiB, GiB or TiB."""
    for power, unit in ((40, "TiB"), (30, "GiB"), (20, "MiB")):
        if size >= 2**power:
            value = size / 2**power
            return f"{value:,.{0 if value >= 100 else 1}f} {unit}"
    return f"{size / 2**10:,.1f} KiB"


def line(x1: float, y1: float, x2: float, y2: float, stroke: str, **style: object) -> str:
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


def curve(x0: float, y0: float, x1: float, y1: float, *, stroke: str, weight: float, **style: object) -> str:
    """A soft S from top to bottom, the thicker and darker the greater the weight (0 … 1)."""
    middle = number((y0 + y1) / 2)
    path = f"M{number(x0)},{number(y0)} C{number(x0)},{middle} {number(x1)},{middle} {number(x1)},{number(y1)}"
    width, opacity = 1.5 + 6 * weight, 0.15 + 0.75 * weight
    return shape("path", d=path, fill="none", stroke=stroke, stroke_width=width, stroke_opacity=opacity, **style)


def query_mark(x: float, y: float, size: float = 7, **style: object) -> str:
    """A circle, the mark of a query; `size` is half its width."""
    return shape("circle", cx=x, cy=y, r=size, **{"fill": QUERY.full, **style})


def key_mark(x: float, y: float, size: float = 7, **style: object) -> str:
    """A square, the mark of a key; `size` is half its width."""
    return shape("rect", x=x - size, y=y - size, width=2 * size, height=2 * size, **{"fill": KEY.full, **style})


def value_mark(x: float, y: float, size: float = 7, **style: object) -> str:
    """A diamond, the mark of a value and of an output, which is a mean of values; `size` is half its width."""
    d = f"M{number(x)},{number(y - size)}l{number(size)},{number(size)}l{number(-size)},{number(size)}"
    return shape("path", d=f"{d}l{number(-size)},{number(-size)}z", **{"fill": VALUE.full, **style})


def card(width: float, height: float, parts: Iterable[str], alt: str) -> Svg:
    """The drawing on its card, with its alt text."""
    parts = list(parts)
    opening = (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="tx-card" viewBox="0 0 {number(width)} {number(height)}" '
        f'width="{number(width)}" height="{number(height)}" style="max-width: 100%; height: auto" '
        f'font-family="sans-serif">'
    )
    ground = shape("rect", x=0.5, y=0.5, width=width - 1, height=height - 1, rx=12, fill=PAPER, stroke=EDGE)
    return Svg("\n".join([opening, theme("".join([ground, *parts])), ground, *parts, "</svg>"]), alt)


def theme(markup: str = "") -> str:
    """The <style> of a drawing with the class "tx-card" for dark pages; of the colours that the markup has, if any."""
    rules = sheet(set(re.findall(r' (fill|stroke)="(#[0-9A-F]{6})"', markup)) if markup else ())
    return f"<style>svg:root{{color-scheme:light dark}}{rules}</style>"


def sheet(used: Iterable[tuple[str, str]] = ()) -> str:
    """The rules that put a dark partner in place of each (attribute, colour), of all colours if none is named."""
    used = set(used) or {(attribute, colour) for attribute in ("fill", "stroke") for colour in DARK}
    rules = []
    for attribute, colour in sorted(pair for pair in used if pair[1] in DARK):
        which = ":not(text)" if (attribute, colour) == ("fill", WHITE) else ""
        rules.append(f'.tx-card {which}[{attribute}="{colour}"]{{{attribute}:{either(colour)}}}')
    return 'html[theme="dark"] .tx-card{color-scheme:dark}' + "".join(rules)  # Colab says it so


def either(colour: str) -> str:
    """The colour in CSS, on light and on dark pages."""
    return f"light-dark({colour},{DARK[colour]})"


def rgb(colour: str) -> list[int]:
    """The hexadecimal "#0072B2" as [0, 114, 178]."""
    return [int(colour[i : i + 2], 16) for i in (1, 3, 5)]


def number(value: float) -> str:
    """At most two decimals, and no more than needed."""
    return f"{value:.2f}".rstrip("0").rstrip(".")
