"""Explorers of positions: sinusoids as a heatmap, and two positions compared."""

import math
from dataclasses import dataclass

import numpy as np
import torch

from tx_helpers.nn.arguments import check_numbers
from tx_helpers.nn.positions import sinusoidal, wavelengths
from tx_helpers.show.controls import choice, slider
from tx_helpers.show.explore import Explore
from tx_helpers.show.pixels import pixel_image, two_sided
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import EDGE, INK, MUTED, PINK, card, line, shape, words

FARTHEST = 128  # the distances that the curve of `two-positions` shows
SLATE_TO_PINK = two_sided(MUTED, PINK.full)
BASES = (1, 10, 100, 1000, 10_000)
LEFT, RIGHT = 116, 684  # edges of the pictures, in pixels; on the left of them stand words


# --- compute ----------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Table:
    """The sinusoidal vectors of the first T positions and how well they can be told apart."""

    values: np.ndarray  # (T, D), in −1 … 1
    turns: int  # pairs of dimensions whose wave fits at least once into the T positions
    wavelengths: np.ndarray  # (D/2,), in positions
    closest: int  # how far apart the two most similar of the T positions stand
    gap: float  # length of the difference between those two


def position_table(width: int, length: int, base: float) -> Table:
    """The table of `length` positions (at least 2) of `width` dimensions, in float64."""
    check_numbers("position_table", least=2, whole=True, length=length)
    values = sinusoidal(torch.arange(length), width, base=base, dtype=torch.float64).numpy()
    waves = wavelengths(width, base=base).numpy()
    # |PE(m) − PE(n)|² = 2 (D/2 − PE(m)·PE(n)) depends on the distance alone: position 0 against all others is enough
    products = values[1:] @ values[0]
    closest = int(products.argmax()) + 1
    gap = math.sqrt(max(0.0, width - 2 * products[closest - 1]))
    return Table(values, int((waves <= length).sum()), waves, closest, gap)


@dataclass(frozen=True)
class Comparison:
    """Two positions m and n: their vectors, and what each pair of dimensions adds to the dot product."""

    vectors: np.ndarray  # (2, D)
    terms: np.ndarray  # (D/2,): cos((m − n) ω_i)
    product: float
    curve: np.ndarray  # dot product at the distances 0, 1, 2 … FARTHEST


def compare_positions(m: int, n: int, width: int) -> Comparison:
    """PE(m), PE(n), and their dot product pair by pair, in float64."""
    vectors = sinusoidal(torch.tensor([m, n]), width, dtype=torch.float64).numpy()
    along = sinusoidal(torch.arange(FARTHEST + 1), width, dtype=torch.float64).numpy()
    terms = (vectors[0] * vectors[1]).reshape(-1, 2).sum(axis=1)
    return Comparison(vectors, terms, float(terms.sum()), along @ along[0])


# --- draw -------------------------------------------------------------------------------------------------------------
def draw_table(table: Table) -> Svg:
    """Positions downward, dimensions across; slate is −1, white 0, pink 1."""
    length, width = table.values.shape
    top, height = 34, 300
    parts = [
        pixels(table.values, top, height),
        words(LEFT, 22, "slate −1, white 0, pink +1", fill=MUTED),
        beside(top + 12, "position 0"),
        beside(top + height, str(length - 1)),
        words(LEFT, top + height + 18, "dimension 0"),
        words(RIGHT, top + height + 18, str(width - 1), anchor="end"),
    ]
    return card(700, 366, parts, describe_table(table))


def draw_comparison(m: int, n: int, seen: Comparison) -> Svg:
    """Above the two vectors and what each pair adds; below the dot product over the distance, with a mark."""
    distance, pairs = abs(m - n), len(seen.terms)
    parts = [pixels(seen.vectors[:1], 18, 24), beside(35, f"PE({m})")]
    parts += [pixels(seen.vectors[1:], 52, 24), beside(69, f"PE({n})")]
    step, zero = (RIGHT - LEFT) / pairs, 124
    for i, term in enumerate(seen.terms):
        colour = PINK.full if term >= 0 else MUTED
        corner = dict(x=LEFT + (i + 0.15) * step, y=zero - 32 * max(term, 0.0))
        parts.append(shape("rect", **corner, width=0.7 * step, height=32 * abs(term), fill=colour))
    parts += [line(LEFT, zero, RIGHT, zero, EDGE), beside(120, "each pair's"), beside(136, "product")]

    def place(k: int) -> tuple[float, float]:
        """A distance and its dot product on the paper: 0 … D/2 over 150 pixels."""
        return LEFT + (RIGHT - LEFT) * k / FARTHEST, 340 - 150 * seen.curve[k] / pairs

    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in map(place, range(FARTHEST + 1)))
    x, y = place(distance)
    parts += [
        line(LEFT, 340, RIGHT, 340, EDGE),
        shape("polyline", points=points, fill="none", stroke=INK, stroke_width=1.6),
        shape("circle", cx=x, cy=y, r=6, fill=PINK.full),
        beside(195, f"PE·PE = {pairs}"),
        beside(344, "0"),
        words(LEFT, 358, "distance 0"),
        words(RIGHT, 358, str(FARTHEST), anchor="end"),
    ]
    return card(700, 370, parts, describe_comparison(m, n, seen))


def beside(y: float, text: str) -> str:
    """Words on the left of a picture."""
    return words(LEFT - 8, y, text, anchor="end")


def pixels(values: np.ndarray, y: float, height: float) -> str:
    """A matrix of −1 … 1, from slate over white to pink, between LEFT and RIGHT."""
    levels = np.rint((values + 1) * 127)
    return pixel_image(levels, SLATE_TO_PINK, x=LEFT, y=y, width=RIGHT - LEFT, height=height)


# --- describe ---------------------------------------------------------------------------------------------------------
def describe_table(table: Table) -> str:
    """The wavelengths, how many pairs of dimensions turn fully, and the two most similar positions."""
    length, width = table.values.shape
    alike = "neighbours" if table.closest == 1 else f"{table.closest} apart"
    return (
        f"Heatmap of {length} positions by {width} dimensions. Wavelengths run from {table.wavelengths[0]:.1f} to "
        f"{table.wavelengths[-1]:,.1f} positions; {table.turns} of {width // 2} pairs make a full turn within "
        f"{length} positions. The two most similar positions are {alike} (they differ by {table.gap:.2f})."
    )


def describe_comparison(m: int, n: int, seen: Comparison) -> str:
    """The dot product, beside that of the next smaller distance, and how many terms are negative."""
    distance = abs(m - n)
    compared = "the most there is"
    if distance:
        nearer = seen.curve[distance - 1]
        compared = f"{'more' if seen.product > nearer else 'less'} than the {nearer:.2f} at distance {distance - 1}"
    return (
        f"Positions {m} and {n}, distance {distance}: dot product {seen.product:.2f}, {compared}. "
        f"Of {len(seen.terms)} pairs of dimensions {int((seen.terms < 0).sum())} add a negative term."
    )


# --- bind -------------------------------------------------------------------------------------------------------------
def heatmap_explorer() -> Explore:
    """Width, length and base of the table of sinusoids."""
    return Explore(
        lambda width, length, base: draw_table(position_table(width, length, base)),
        name="positions-heatmap",
        told=True,
        width=slider("Width D", 4, 128, step=4, start=64),
        length=slider("Length T", 8, 200, step=8, start=64),
        base=choice("Base", [(f"{b:,}", b) for b in BASES], 10_000),
    )


def two_positions_explorer() -> Explore:
    """Two positions, their vectors and their dot product."""
    return Explore(
        lambda m, n, width: draw_comparison(m, n, compare_positions(m, n, width)),
        name="two-positions",
        told=True,
        m=slider("Position m", 0, FARTHEST, start=10),
        n=slider("Position n", 0, FARTHEST, start=15),
        width=choice("Width D", [("64", 64), ("128", 128), ("512", 512)], 64),
    )
