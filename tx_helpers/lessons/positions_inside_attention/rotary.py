"""The explorer of stretched rotary positions: what becomes of a head's clocks on a longer text.

    stretched_explorer()

Pair i of a head's features is turned by position · ω_i, with ω_i = base^(−2i/d_k).
"""

import math
from dataclasses import dataclass

import numpy as np

from tx_helpers.nn.arguments import check_numbers, check_one_of
from tx_helpers.nn.positions import ntk_base, wavelengths
from tx_helpers.show.controls import choice, slider
from tx_helpers.show.explore import Explore
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import (
    BLUE,
    EDGE,
    INK,
    MUTED,
    ORANGE,
    WHITE,
    card,
    line,
    number,
    shape,
    words,
)

WIDTH, TRAINED = 16, 64  # the head of `stretched-clocks`, and the positions it was trained on
METHODS = {"nothing": "as trained", "interpolation": "position interpolation", "NTK": "NTK scaling"}


# --- compute ----------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Clocks:
    """The pairs of a head as clocks: how far each turned in training, and how far it turns on a longer text."""

    seen: np.ndarray  # (K/2,), radians: from 0 to this in training
    used: np.ndarray  # (K/2,), radians, on the text in hand
    step: float  # radians by which the fastest pair turns from one position to the next

    @property
    def beyond(self) -> np.ndarray:
        """How many times as far as ever seen each pair turns; 1 for one that has gone full circle in training."""
        return np.where(self.seen >= 2 * math.pi, 1.0, self.used / self.seen)


def clocks(length: int, method: str) -> Clocks:
    """All pairs of a head of width 16, trained on 64 positions and used on `length`, stretched by one of METHODS."""
    check_numbers("clocks", least=TRAINED, whole=True, length=length)
    check_one_of("clocks", METHODS, method=method)
    factor = length / TRAINED
    base = ntk_base(10000.0, factor, WIDTH) if method == "NTK" else 10000.0
    slower = factor if method == "interpolation" else 1.0
    trained = 2 * math.pi / wavelengths(WIDTH).numpy()
    now = 2 * math.pi / wavelengths(WIDTH, base=base).numpy() / slower
    return Clocks(trained * TRAINED, now * length, float(now[0]))


# --- draw -------------------------------------------------------------------------------------------------------------
def draw_clocks(length: int, method: str, seen: Clocks) -> Svg:
    """A dial for each pair: blue as far as it turned in training, orange what is new, a hand at the last position."""
    radius, gap = 40, 96
    parts = [
        words(
            24, 28, f"Trained on {TRAINED} positions, used on {length}, {METHODS[method]}", size=15, font_weight="bold"
        ),
        shape("rect", x=24, y=42, width=14, height=14, fill=BLUE.full),
        words(46, 54, "angles met in training", fill=MUTED),
        shape("rect", x=214, y=42, width=14, height=14, fill=ORANGE.full),
        words(236, 54, "angles never met", fill=MUTED),
    ]
    waves = wavelengths(WIDTH)
    for i, (before, now, beyond) in enumerate(zip(seen.seen, seen.used, seen.beyond, strict=True)):
        x, y = 60 + gap * (i % 8), 122
        parts.append(shape("circle", cx=x, cy=y, r=radius, fill=WHITE, stroke=EDGE))
        if beyond > 1.005:
            parts.append(sector(x, y, radius, before, min(now, 2 * math.pi), ORANGE.full))
        parts += [
            sector(x, y, radius, 0.0, before, BLUE.full),
            line(x, y, x + radius * math.cos(now), y - radius * math.sin(now), INK, stroke_width=2),
            words(x, y + 62, f"pair {i}", anchor="middle"),
            words(x, y + 80, f"wave {waves[i]:,.0f}", anchor="middle", size=12, fill=MUTED),
            words(x, y + 98, f"× {beyond:.1f}" if beyond > 1.005 else "nothing new", anchor="middle", size=12),
        ]
    parts.append(
        words(24, 252, f"From one position to the next the fastest pair turns by {math.degrees(seen.step):.0f}°.")
    )
    return card(792, 270, parts, describe_clocks(length, method, seen))


def sector(x: float, y: float, radius: float, start: float, end: float, fill: str) -> str:
    """The part of a disc between two angles in radians, counted as a clock's hand is not: to the left."""
    if end - start >= 2 * math.pi:
        return shape("circle", cx=x, cy=y, r=radius - 1, fill=fill, fill_opacity=0.45)
    (x0, y0), (x1, y1) = ((x + radius * math.cos(a), y - radius * math.sin(a)) for a in (start, end))
    large = int(end - start > math.pi)
    first, last = f"{number(x0)},{number(y0)}", f"{number(x1)},{number(y1)}"
    path = f"M{number(x)},{number(y)} L{first} A{radius},{radius} 0 {large} 0 {last} Z"
    return shape("path", d=path, fill=fill, fill_opacity=0.45, stroke=fill)


# --- describe ---------------------------------------------------------------------------------------------------------
def describe_clocks(length: int, method: str, seen: Clocks) -> str:
    """How many pairs meet angles never seen, how far beyond, and what has become of one step."""
    new = seen.beyond > 1.005
    far = f"the furthest {seen.beyond.max():.1f} times as far as in training" if new.any() else "none turns further"
    return (
        f"Trained on {TRAINED} positions, used on {length}, {METHODS[method]}: {int(new.sum())} of {len(new)} pairs "
        f"meet angles they have never met, {far}. From one position to the next the fastest pair turns by "
        f"{math.degrees(seen.step):.0f}°."
    )


# --- bind -------------------------------------------------------------------------------------------------------------
def stretched_explorer() -> Explore:
    """The length of the text, and what is done about it."""
    return Explore(
        lambda length, method: draw_clocks(length, method, clocks(length, method)),
        name="stretched-clocks",
        length=slider("Length of the text", TRAINED, 512, step=TRAINED),
        method=choice("Stretched by", [(words, key) for key, words in METHODS.items()]),
    )
