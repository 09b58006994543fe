"""How much gradient reaches each query, drawn for several widths with the root and without.

    draw_gradients({16: (with_root, without), 64: …})       # the size of the gradient at each of some queries

A dot is a query; its height is the size of its gradient, on a logarithmic scale. What lies below the scale is drawn on
its lower edge.
"""

import math
from collections.abc import Mapping

import torch
from torch import Tensor

from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import EDGE, GREY, INK, MUTED, PAPER, card, line, shape, words

LOWEST, HIGHEST = -6, 2  # powers of ten
TOP, BOTTOM, LEFT, COLUMN = 44, 288, 80, 170


def draw_gradients(sizes: Mapping[int, tuple[Tensor, Tensor]], shown: int = 64) -> Svg:
    """Sizes of the queries' gradients, for each d_k with the root and without; the first `shown` of each as dots."""
    right = LEFT + COLUMN * len(sizes)
    parts = [words(LEFT, 24, "The gradient at each of 64 queries", font_weight="bold")]
    parts += [shape("circle", cx=LEFT + 268, cy=20, r=4, fill=INK), words(LEFT + 278, 24, "with the root")]
    parts += [
        shape("circle", cx=LEFT + 388, cy=20, r=4, fill=PAPER, stroke=INK),
        words(LEFT + 398, 24, "without"),
        line(LEFT + 470, 20, LEFT + 492, 20, INK, stroke_width=3),
        words(LEFT + 498, 24, "median"),
    ]
    dead = _height(0.01 * min(rooted.median().item() for rooted, _ in sizes.values()))
    parts.append(shape("rect", x=LEFT, y=dead, width=right - LEFT, height=BOTTOM + 8 - dead, fill=GREY.tint))
    parts.append(words(LEFT + 6, dead + 18, "dead: below a hundredth of the usual", size=12.5, fill=MUTED))
    for power in range(LOWEST, HIGHEST + 1):
        y = _height(10.0**power)
        parts += [line(LEFT, y, right, y, EDGE), words(LEFT - 8, y + 4, _power(power), size=12.5, anchor="end")]
    for n, (d, pair) in enumerate(sizes.items()):
        parts.append(words(LEFT + COLUMN * (n + 0.5), BOTTOM + 32, f"d_k = {d:,}", anchor="middle"))
        for m, (size, fill) in enumerate(zip(pair, (INK, PAPER), strict=True)):
            parts += _dots(LEFT + COLUMN * n + 50 + 68 * m, size, fill, shown)
    return card(right + 16, BOTTOM + 48, parts, describe_gradients(sizes, shown))


def _dots(x: float, sizes: Tensor, fill: str, shown: int) -> list[str]:
    """A cloud of dots around x, and beside it a line at the median of all."""
    parts = []
    for n, size in enumerate(sizes[:shown].tolist()):
        across = x + 22 * math.sin(2.4 * n)
        parts.append(shape("circle", cx=across, cy=_height(size), r=3, fill=fill, stroke=INK, fill_opacity=0.75))
    middle = _height(sizes.median().item())
    return [*parts, line(x + 27, middle, x + 39, middle, INK, stroke_width=3)]


def _height(size: float) -> float:
    power = min(max(math.log10(max(size, 1e-300)), LOWEST), HIGHEST)
    return BOTTOM - (BOTTOM - TOP) * (power - LOWEST) / (HIGHEST - LOWEST)


def _power(power: int) -> str:
    return (
        f"{10.0**power:g}" if power > -4 else "10" + str(power).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    )


def describe_gradients(sizes: Mapping[int, tuple[Tensor, Tensor]], shown: int) -> str:
    """How many queries are shown, and the medians and the largest of all, for each width."""
    told = [
        f"d_k = {d:,}: median {torch.median(rooted):.2f} with the root, {torch.median(bare):.2g} without; "
        f"largest {rooted.max():.1f} and {bare.max():.0f}"
        for d, (rooted, bare) in sizes.items()
    ]
    (every, _), *_ = sizes.values()
    begins = f"The size of the gradient at each query, dots for {shown} of {len(every):,}, on a logarithmic scale. "
    return begins + ". ".join(told) + "."
