"""The explorer of sinusoids as clocks: their hands at a position, and which other positions look like it.

    clocks_explorer()

Hand i has turned by p · ω_i. fit(p, n) = Σ cos((p − n) ω_i) over the clocks that are kept, divided by their number.
"""

import math
from dataclasses import dataclass

import numpy as np
import torch

from tx_helpers.nn.arguments import check_numbers, check_one_of
from tx_helpers.nn.positions import sinusoidal, wavelengths
from tx_helpers.show.controls import choice, slider
from tx_helpers.show.explore import Explore
from tx_helpers.show.play import play_button
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import EDGE, INK, MUTED, PINK, WHITE, card, line, setting, shape, words

WIDTH, LENGTH = 16, 128  # eight clocks, and the positions that are compared
CLICKED = range(2, LENGTH, 3)  # the positions that a click on the curve can set; pages without a kernel have these
ALIKE = 0.95  # from this fit on, a position looks like another
KEPT = {"all": slice(None), "fastest": slice(0, 1), "fast": slice(0, 2), "slow": slice(2, None)}
NAMES = {
    **{"all": "all eight clocks", "fastest": "the fastest clock alone"},
    **{"fast": "the two fastest", "slow": "the six slow ones"},
}


# --- compute ----------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Reading:
    """The clocks at a position, and how well every position fits what they show."""

    hands: np.ndarray  # (D/2, 2): sine and cosine of each
    fit: np.ndarray  # (LENGTH,), 1 at the position itself

    @property
    def alike(self) -> list[int]:
        """The positions that look like this one, itself among them."""
        return np.flatnonzero(self.fit >= ALIKE - 1e-9).tolist()


def read_clocks(position: int, kept: str) -> Reading:
    """The hands of eight clocks at a position below 128, compared by the clocks named in KEPT."""
    check_numbers("read_clocks", least=0, less_than=LENGTH, whole=True, position=position)
    check_one_of("read_clocks", KEPT, kept=kept)
    table = sinusoidal(torch.arange(LENGTH), WIDTH, dtype=torch.float64).unflatten(1, (-1, 2)).numpy()  # (T, D/2, 2)
    seen = table[:, KEPT[kept]]
    fit = (seen * seen[position]).sum(axis=(1, 2)) / seen.shape[1]
    return Reading(table[position], fit)


# --- draw -------------------------------------------------------------------------------------------------------------
def draw(position: int, kept: str) -> Svg:
    """Above the dials, the hands left out dashed; below the fit of every position, a dot on each that looks alike.

    A click on the curve sets the position.
    """
    seen = read_clocks(position, kept)
    waves = wavelengths(WIDTH).tolist()
    left_out = set(range(WIDTH // 2)) - set(range(WIDTH // 2)[KEPT[kept]])
    parts = [words(24, 28, f"Position {position}, read from {NAMES[kept]}", size=15, font_weight="bold")]
    for i, (sine, cosine) in enumerate(seen.hands.tolist()):
        x, y, radius = 64 + 96 * i, 88, 38
        look = (MUTED, dict(stroke_width=1.5, stroke_dasharray="3 3")) if i in left_out else (INK, dict(stroke_width=3))
        parts += [
            shape("circle", cx=x, cy=y, r=radius, fill=WHITE, stroke=EDGE),
            line(x, y, x + radius * cosine, y - radius * sine, look[0], **look[1]),
            words(x, y + 58, f"wave {waves[i]:,.0f}", anchor="middle", size=12, fill=MUTED),
        ]
    left, right, floor, tall = 64, 736, 286, 92

    def place(n: int) -> tuple[float, float]:
        return left + (right - left) * n / (LENGTH - 1), floor - tall * (seen.fit[n] + 1) / 2

    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in map(place, range(LENGTH)))
    parts += [
        words(24, 182, "How well every position fits", size=15, font_weight="bold"),
        line(left, floor - tall, right, floor - tall, EDGE),
        line(left, floor, right, floor, EDGE),
        *(words(left - 8, y + 4, text, anchor="end", size=12) for y, text in ((floor - tall, "1"), (floor, "−1"))),
        shape("polyline", points=points, fill="none", stroke=INK, stroke_width=1.6),
    ]
    for n in seen.alike:
        x, y = place(n)
        parts.append(shape("circle", cx=x, cy=y, r=6 if n == position else 4, fill=PINK.full))
    parts += [words(left, floor + 20, "position 0"), words(right, floor + 20, str(LENGTH - 1), anchor="end")]
    wide = (right - left) / (LENGTH - 1) * CLICKED.step
    for n in CLICKED:
        strip = dict(x=place(n)[0] - wide / 2, y=floor - tall, width=wide, height=tall, fill="transparent")
        parts.append(setting("position", n, [shape("rect", **strip)]))
    return card(800, 324, parts, describe(position, kept, seen))


# --- describe ---------------------------------------------------------------------------------------------------------
def describe(position: int, kept: str, seen: Reading) -> str:
    """How many positions look like this one, and how far away the furthest of them is."""
    others = [n for n in seen.alike if n != position]
    turned = math.degrees(math.atan2(*seen.hands[0])) % 360
    beginning = f"Position {position}: the fastest hand points {turned:.0f}° from the right. Read from {NAMES[kept]}, "
    if not others:
        return beginning + "no other position looks like it."
    furthest = max(abs(n - position) for n in others)
    several = f"{len(others)} other positions look" if len(others) > 1 else "one other position looks"
    return f"{beginning}{several} like it (a fit of 0.95 or more), the furthest {furthest} away."


# --- bind -------------------------------------------------------------------------------------------------------------
def clocks_explorer() -> Explore:
    """The position, which Play moves on, and the clocks that are kept."""
    position = slider("Position p", 0, LENGTH - 1, start=20)
    return Explore(
        draw,
        name="clocks",
        recorded={"position": [0, *CLICKED, LENGTH - 1]},
        position=position,
        play=play_button(position, pause=0.15),
        kept=choice("Read from", [(text, key) for key, text in NAMES.items()]),
    )
