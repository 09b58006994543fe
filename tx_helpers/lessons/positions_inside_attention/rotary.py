"""The explorers of rotary positions: one turning pair, and what becomes of all pairs on a longer text.

    rotary_explorer()
    stretched_explorer()

Pair i of a head's features is turned by position · ω_i, with ω_i = base^(−2i/d_k).
"""

import math
from dataclasses import dataclass

import ipywidgets as widgets
import numpy as np
import torch

from tx_helpers.nn.arguments import check_numbers, check_one_of
from tx_helpers.nn.positions import Rotary, ntk_base, wavelengths
from tx_helpers.show.explore import Explore
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import (
    BLUE,
    EDGE,
    INK,
    KEY,
    MUTED,
    ORANGE,
    QUERY,
    SCORE,
    WHITE,
    card,
    line,
    number,
    shape,
    words,
)

QUERY_PAIR, KEY_PAIR = (1.0, 0.0), (0.8, 0.6)  # what `rotary-angle` turns: both of length 1
AHEAD = math.degrees(math.atan2(KEY_PAIR[1], KEY_PAIR[0]))  # of the key before the query at position 0, in degrees
WIDTH, TRAINED = 16, 64  # the head of `stretched-clocks`, and the positions it was trained on
METHODS = {"nothing": "as trained", "interpolation": "position interpolation", "NTK": "NTK scaling"}


# --- compute ----------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Turn:
    """One pair of features of a query and of a key, turned by their positions."""

    query: np.ndarray  # (2,)
    key: np.ndarray  # (2,)
    score: float


def turn_pair(query_position: int, key_position: int, degrees: float) -> Turn:
    """QUERY_PAIR and KEY_PAIR turned by position · degrees, and their dot product; by the package's own `Rotary`."""
    step = math.radians(degrees)  # Rotary of width 2 turns by 1 radian a position: so positions are counted in steps
    places = torch.tensor([query_position, key_position], dtype=torch.float64) * step
    pairs = torch.tensor([[[QUERY_PAIR, KEY_PAIR]]], dtype=torch.float64)
    query, key = Rotary(2).at(places, torch.float64)(pairs)[0, 0].numpy()
    return Turn(query, key, float(query @ key))


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
def draw_turn(query_position: int, key_position: int, degrees: float, seen: Turn) -> Svg:
    """Query and key in the plane: dashed as they are, solid as turned by their positions."""
    x, y, radius = 190, 180, 135
    parts = [shape("circle", cx=x, cy=y, r=radius, fill="none", stroke=EDGE)]
    # where the two nearly meet, their names are pushed apart, away from each other round the circle
    ahead = seen.query[0] * seen.key[1] - seen.query[1] * seen.key[0]  # above 0: the key is further round
    push = math.copysign(math.radians(10), ahead) if seen.score > 0.9 else 0.0
    both = (("query", QUERY_PAIR, seen.query, QUERY, -push), ("key", KEY_PAIR, seen.key, KEY, push))
    for name, plain, turned, colour, apart in both:
        tip = x + radius * turned[0], y - radius * turned[1]
        angle = math.atan2(turned[1], turned[0]) + apart
        mark = dict(fill=colour.full)
        dot = shape("circle", cx=tip[0], cy=tip[1], r=6, **mark)
        square = shape("rect", x=tip[0] - 5.5, y=tip[1] - 5.5, width=11, height=11, **mark)
        parts += [
            line(x, y, x + radius * plain[0], y - radius * plain[1], colour.full, stroke_dasharray="4 4"),
            line(x, y, *tip, colour.full, stroke_width=3),
            dot if name == "query" else square,
            words(x + 163 * math.cos(angle), y - 153 * math.sin(angle) + 4, name, anchor="middle", fill=colour.shade),
        ]
    low, middle, high, level = 400, 530, 660, 220
    between = AHEAD - (query_position - key_position) * degrees
    parts += [
        words(
            low,
            60,
            f"query turned by {query_position} · {degrees:g}° = {query_position * degrees:g}°",
            fill=QUERY.shade,
        ),
        words(low, 84, f"key turned by {key_position} · {degrees:g}° = {key_position * degrees:g}°", fill=KEY.shade),
        words(low, 120, f"from query to key at the start: {AHEAD:.0f}°", fill=MUTED),
        words(low, 144, f"now: {AHEAD:.0f}° − (m − n) · {degrees:g}° = {signed(between)}°", fill=MUTED),
        words(low, 180, f"score = cos({signed(between)}°) = {seen.score:.3f}".replace(" -", " −"), size=18),
        line(low, level, high, level, EDGE),
        shape("circle", cx=middle + (high - low) / 2 * seen.score, cy=level, r=7, fill=SCORE.full, stroke=INK),
        *(words(end, level + 28, f"{sign}1", anchor="middle") for end, sign in ((low, "−"), (high, "+"))),
        words(middle, level + 28, "0", anchor="middle"),
        words(low, 300, "dashed: at position 0, before any turn", fill=MUTED),
    ]
    return card(700, 360, parts, describe_turn(query_position, key_position, degrees, seen))


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


def signed(degrees: float) -> str:
    """Whole degrees with a true minus sign."""
    return f"{degrees:.0f}".replace("-", "−")


# --- describe ---------------------------------------------------------------------------------------------------------
def describe_turn(query_position: int, key_position: int, degrees: float, seen: Turn) -> str:
    """By how much each was turned, and the angle whose cosine is the score."""
    distance = query_position - key_position
    turned = f"{distance * degrees:g}°" if distance >= 0 else f"(−{-distance * degrees:g}°)"
    return (
        f"Query at {query_position} turned by {query_position * degrees:g}°, key at {key_position} by "
        f"{key_position * degrees:g}°. The key began {AHEAD:.0f}° ahead of the query; {AHEAD:.0f}° − {turned} = "
        f"{signed(AHEAD - distance * degrees)}°, and the score is the cosine of that, {seen.score:.3f}. "
        f"It is the same at all positions with m − n = {distance}."
    ).replace(" -", " −")


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
def rotary_explorer() -> Explore:
    """Positions of a query and a key, how far both are moved on, and the angle by which a position turns them."""

    def draw(query: int, key: int, both: int, degrees: int) -> Svg:
        m, n = query + both, key + both
        return draw_turn(m, n, degrees, turn_pair(m, n, degrees))

    return Explore(
        draw,
        name="rotary-angle",
        told=True,
        query=widgets.IntSlider(5, 0, 40, description="Query position m"),
        key=widgets.IntSlider(2, 0, 40, description="Key position n"),
        both=widgets.IntSlider(0, 0, 40, description="Move both by"),
        degrees=widgets.IntSlider(20, 0, 90, 5, description="Angle per position"),
    )


def stretched_explorer() -> Explore:
    """The length of the text, and what is done about it."""
    return Explore(
        lambda length, method: draw_clocks(length, method, clocks(length, method)),
        name="stretched-clocks",
        length=widgets.IntSlider(TRAINED, TRAINED, 512, TRAINED, description="Length of the text"),
        method=widgets.Dropdown(options=[(words, key) for key, words in METHODS.items()], description="Stretched by"),
    )
