"""Drag the hands of a head's eight clocks, and watch its score: the clocks of a query and of a key turn together.

    hands_explorer(ahead=3)

Pair i of a head of width 16 turns by position · ω_i, ω_i = 10000^(−2i/16). Its part of the score of the query at m
and the key at n is cos((a − (m − n)) ω_i): at position 0 the key's hands stand as far ahead as a positions turn them.
The module hands.js draws the clocks and computes their parts by the same formula; the curve is drawn here.
"""

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import anywidget
import ipywidgets as widgets
import numpy as np
import torch
import traitlets

from tx_helpers.nn.arguments import check_numbers
from tx_helpers.nn.positions import Rotary, wavelengths
from tx_helpers.show.controls import slider
from tx_helpers.show.explore import Explore
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import EDGE, INK, MUTED, SCORE, card, line, number, shape, sheet, words
from tx_helpers.widgets.scripts import script

WIDTH, LAST = 16, 30  # the head's width; the last position of the two, before both are moved
PAIRS, DISTANCES = WIDTH // 2, range(-LAST, LAST + 1)
AHEAD = 6  # at most: how far ahead the key begins
LEFT, RIGHT, TOP, FLOOR = 60.0, 740.0, 56.0, 236.0  # pixels: where the curve stands
STYLE = """
.tx-hands [data-hand] { cursor: grab; outline: none; touch-action: none; }
.tx-hands [role="slider"]:focus-visible { stroke: light-dark(#1F2933, #E6EAEE); stroke-width: 4; }
"""


# --- compute ----------------------------------------------------------------------------------------------------------
def parts_of_score(query: Sequence[int], key: int, ahead: int) -> np.ndarray:
    """What each pair gives to the scores of queries at these positions and a key, by the package's `Rotary`: (T, 8)."""
    rotary = Rotary(WIDTH)
    plain = torch.tensor([1.0] * PAIRS + [0.0] * PAIRS, dtype=torch.float64)  # each hand at 0 degrees

    def turned(positions: Sequence[int]) -> torch.Tensor:
        return rotary.at(torch.tensor(positions), torch.float64)(plain.expand(1, 1, len(positions), -1))[0, 0]

    both = turned(query) * turned([key + ahead])
    return (both[:, :PAIRS] + both[:, PAIRS:]).numpy()


@cache
def table(ahead: int) -> np.ndarray:
    """The parts at the distances −LAST … LAST: (2 · LAST + 1, 8)."""
    return parts_of_score(DISTANCES, 0, ahead)


# --- draw -------------------------------------------------------------------------------------------------------------
def across(distance: float) -> float:
    """Where a distance from −LAST to LAST stands, in pixels."""
    return LEFT + (RIGHT - LEFT) * (distance + LAST) / (2 * LAST)


def down(score: float) -> float:
    """Where a score from −2 to 8 stands, in pixels."""
    return TOP + (FLOOR - TOP) * (8 - score) / 10


@cache
def curves(ahead: int) -> str:
    """The parts of the eight pairs over the distance, thin, and their sum, thick."""

    def polyline(heights: np.ndarray, **style: object) -> str:
        points = " ".join(f"{number(across(d))},{number(down(h))}" for d, h in zip(DISTANCES, heights, strict=True))
        return shape("polyline", points=points, fill="none", **style)

    parts = [words(24, 30, "Thick: the score, the sum of the eight pairs. Thin: each pair's part.", size=15)]
    for level in (0, 2, 4, 6, 8):
        name = words(LEFT - 10, down(level) + 4, str(level), anchor="end", fill=MUTED)
        parts += [line(LEFT, down(level), RIGHT, down(level), EDGE), name]
    parts += [polyline(part, stroke=MUTED, stroke_width=1) for part in table(ahead).T]
    parts.append(polyline(table(ahead).sum(1), stroke=INK, stroke_width=3))
    for d in DISTANCES[::10]:
        parts.append(words(across(d), FLOOR + 20, f"{d}".replace("-", "−"), anchor="middle", fill=MUTED))
    return "".join([*parts, words((LEFT + RIGHT) / 2, FLOOR + 40, "distance m − n", anchor="middle", fill=MUTED)])


def place(distance: int, ahead: int) -> list[float]:
    """The point of the curve at this distance, in pixels."""
    return [round(across(distance), 2), round(down(table(ahead)[distance + LAST].sum()), 2)]


def marker(x: float | str, y: float | str) -> str:
    """The present distance on the curve."""
    dot = shape("circle", cx=x, cy=y, r=7, fill=SCORE.full, stroke=INK, stroke_width=2)
    return shape("line", x1=x, y1=TOP - 6, x2=x, y2=FLOOR, stroke=INK, stroke_dasharray="3 4") + dot


def draw(query: int, key: int, ahead: int) -> Svg:
    """The curve of the score over the distance, with a dot at the present one."""
    parts = [curves(ahead), marker(*place(query - key, ahead))]
    return card(792, FLOOR + 54, parts, begin(query, key) + describe(query - key, ahead))


# --- describe ---------------------------------------------------------------------------------------------------------
def begin(query: int, key: int) -> str:
    """Where the two stand."""
    return f"Query at {query}, key at {key}: "


def describe(distance: int, ahead: int) -> str:
    """The distance, the parts of the pairs, and their sum."""
    parts = table(ahead)[distance + LAST]
    said = ", ".join(f"{part:.2f}" for part in parts)
    return f"m − n = {distance}, the eight pairs give {said}, together {parts.sum():.2f} of 8.".replace(
        "-0.00", "0.00"
    ).replace("-", "−")


# --- bind -------------------------------------------------------------------------------------------------------------
class ClockHands(anywidget.AnyWidget):
    """Eight dials with two hands each, which are dragged round, or moved by the arrow keys.

    value  [m, n], the positions of query and key before both are moved, each from 0 to `last`
    both   by how much both are moved on
    ahead  a: the key's hands begin as far ahead as a positions turn them
    """

    _esm = script(Path(__file__).with_name("hands.js"))
    _css = STYLE + sheet()
    value = traitlets.List().tag(sync=True)
    description = traitlets.Unicode().tag(sync=True)
    both = traitlets.Int(0).tag(sync=True)
    ahead = traitlets.Int(0).tag(sync=True)
    last = traitlets.Int(LAST).tag(sync=True)
    waves = traitlets.List().tag(sync=True)

    @traitlets.validate("value")
    def _within(self, proposal: dict) -> list[int]:
        value = proposal["value"]
        if len(value) != 2 or not all(isinstance(part, int) and 0 <= part <= self.last for part in value):
            raise traitlets.TraitError(f"ClockHands: value={value}, expected [m, n], whole and from 0 to {self.last}")
        return value

    def __repr__(self) -> str:
        return f"ClockHands: query at {self.value[0] + self.both}, key at {self.value[1] + self.both}"


def hands_explorer(ahead: int, *, query: int = 9, key: int = 2) -> Explore:
    """Eight clocks with a hand for the query and one for the key, and the score over the distance beneath."""
    check_numbers("hands_explorer", least=0, most=LAST, whole=True, query=query, key=key)
    check_numbers("hands_explorer", least=0, most=AHEAD, whole=True, ahead=ahead)
    waves = wavelengths(WIDTH).tolist()
    room = widgets.Layout(width="792px")  # a row of its own, as wide as the curve
    hands = ClockHands(value=[query, key], description="Clocks", ahead=ahead, waves=waves, layout=room)
    controls = {
        "both": slider("Move both by", 0, LAST),
        "ahead": slider("Key ahead by a", 0, AHEAD, start=ahead),
    }
    hands.follows = [widgets.jsdlink((one, "value"), (hands, name)) for name, one in controls.items()]

    def picture(hands: list[int], both: int, ahead: int) -> Svg:
        return draw(hands[0] + both, hands[1] + both, ahead)

    given = {
        "last": LAST,
        "pictures": [draw(0, 0, a).markup().split(marker(*place(0, a))) for a in range(AHEAD + 1)],
        "marker": marker("X", "Y"),
        "places": [[place(d, a) for d in DISTANCES] for a in range(AHEAD + 1)],
        "said": [[describe(d, a) for d in DISTANCES] for a in range(AHEAD + 1)],
    }
    computed = script(Path(__file__).with_name("hands_page.js")), given
    return Explore(picture, name="clock-hands", told=True, computed=computed, hands=hands, **controls)
