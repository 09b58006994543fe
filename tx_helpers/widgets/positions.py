"""The explorers of notebook 03: sinusoids as a heatmap, two positions compared, and rotary's turn in the plane."""

import math
from dataclasses import dataclass

import ipywidgets as widgets
import numpy as np
import torch

from tx_helpers.arguments import check_numbers
from tx_helpers.positions import Rotary, sinusoidal, wavelengths
from tx_helpers.show.explore import Explore
from tx_helpers.show.pixels import pixel_image, two_sided
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import BLUE, EDGE, INK, MUTED, ORANGE, SCORE, card, line, shape, words

FARTHEST = 128  # the distances that the curve of `two-positions` shows
QUERY, KEY = (1.0, 0.0), (0.8, 0.6)  # what `rotary-angle` turns: both of length 1
BLUE_TO_ORANGE = two_sided(BLUE.full, ORANGE.full)
HEAD_START = math.degrees(math.atan2(KEY[1], KEY[0]))  # of the key before the query, in degrees
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


@dataclass(frozen=True)
class Turn:
    """One pair of features of a query and of a key, turned by their positions."""

    query: np.ndarray  # (2,)
    key: np.ndarray  # (2,)
    score: float

    @property
    def angle(self) -> float:
        """Between the two, 0 … 180 degrees; the score is its cosine, since both have length 1."""
        return math.degrees(math.acos(max(-1.0, min(1.0, self.score))))


def turn_pair(query_position: int, key_position: int, degrees: float) -> Turn:
    """QUERY and KEY turned by position · degrees, and their dot product; by the package's own `Rotary`."""
    step = math.radians(degrees)  # Rotary of width 2 turns by 1 radian a position: so positions are counted in steps
    places = torch.tensor([query_position, key_position], dtype=torch.float64) * step
    pairs = torch.tensor([[[QUERY, KEY]]], dtype=torch.float64)
    query, key = Rotary(2).at(places, torch.float64)(pairs)[0, 0].numpy()
    return Turn(query, key, float(query @ key))


# --- draw -------------------------------------------------------------------------------------------------------------
def draw_table(table: Table) -> Svg:
    """Positions downward, dimensions across; blue is −1, white 0, orange 1."""
    length, width = table.values.shape
    top, height = 34, 300
    parts = [
        pixels(table.values, top, height),
        words(LEFT, 22, "blue −1, white 0, orange +1", fill=MUTED),
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
        colour = ORANGE if term >= 0 else BLUE
        place = dict(x=LEFT + (i + 0.15) * step, y=zero - 32 * max(term, 0.0))
        parts.append(shape("rect", **place, width=0.7 * step, height=32 * abs(term), fill=colour.full))
    parts += [line(LEFT, zero, RIGHT, zero, EDGE), beside(120, "each pair's"), beside(136, "product")]

    def place(k: int) -> tuple[float, float]:
        """A distance and its dot product on the paper: 0 … D/2 over 150 pixels."""
        return LEFT + (RIGHT - LEFT) * k / FARTHEST, 340 - 150 * seen.curve[k] / pairs

    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in map(place, range(FARTHEST + 1)))
    x, y = place(distance)
    parts += [
        line(LEFT, 340, RIGHT, 340, EDGE),
        shape("polyline", points=points, fill="none", stroke=INK, stroke_width=1.6),
        shape("circle", cx=x, cy=y, r=6, fill=ORANGE.full),
        beside(195, f"PE·PE = {pairs}"),
        beside(344, "0"),
        words(LEFT, 358, "distance 0"),
        words(RIGHT, 358, str(FARTHEST), anchor="end"),
    ]
    return card(700, 370, parts, describe_comparison(m, n, seen))


def draw_turn(query_position: int, key_position: int, degrees: float, seen: Turn) -> Svg:
    """Query and key in the plane: dashed as they are, solid as turned by their positions."""
    x, y, radius = 190, 180, 135
    parts = [shape("circle", cx=x, cy=y, r=radius, fill="none", stroke=EDGE)]
    # where the two nearly meet, their names are pushed apart, away from each other round the circle
    ahead = seen.query[0] * seen.key[1] - seen.query[1] * seen.key[0]  # above 0: the key stands further round
    push = math.copysign(math.radians(10), ahead) if seen.score > 0.9 else 0.0
    both = (("query", QUERY, seen.query, ORANGE, -push), ("key", KEY, seen.key, BLUE, push))
    for name, plain, turned, colour, apart in both:
        tip = x + radius * turned[0], y - radius * turned[1]
        angle = math.atan2(turned[1], turned[0]) + apart
        parts += [
            line(x, y, x + radius * plain[0], y - radius * plain[1], colour.full, stroke_dasharray="4 4"),
            line(x, y, *tip, colour.full, stroke_width=3),
            shape("circle", cx=tip[0], cy=tip[1], r=6, fill=colour.full),
            words(x + 163 * math.cos(angle), y - 153 * math.sin(angle) + 4, name, anchor="middle", fill=colour.shade),
        ]
    low, middle, high, level = 400, 530, 660, 180
    query_turn = f"query: position {query_position} · {degrees:g}° = {query_position * degrees:g}°"
    key_turn = f"key: position {key_position} · {degrees:g}° = {key_position * degrees:g}°, from {HEAD_START:.0f}°"
    parts += [
        words(low, 70, query_turn, fill=ORANGE.shade),
        words(low, 95, key_turn, fill=BLUE.shade),
        words(low, 140, f"score q · k = cos {seen.angle:.0f}° = {seen.score:.3f}", size=18),
        line(low, level, high, level, EDGE),
        shape("circle", cx=middle + (high - low) / 2 * seen.score, cy=level, r=7, fill=SCORE.full, stroke=INK),
        *(words(end, level + 28, f"{sign}1", anchor="middle") for end, sign in ((low, "−"), (high, "+"))),
        words(middle, level + 28, "0", anchor="middle"),
        words(low, 260, "dashed: before the turn, as at position 0", fill=MUTED),
    ]
    return card(700, 360, parts, describe_turn(query_position, key_position, degrees, seen))


def beside(y: float, text: str) -> str:
    """Words on the left of a picture."""
    return words(LEFT - 8, y, text, anchor="end")


def pixels(values: np.ndarray, y: float, height: float) -> str:
    """A matrix of −1 … 1, from blue over white to orange, between LEFT and RIGHT."""
    levels = np.rint((values + 1) * 127)
    return pixel_image(levels, BLUE_TO_ORANGE, x=LEFT, y=y, width=RIGHT - LEFT, height=height)


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


def describe_turn(query_position: int, key_position: int, degrees: float, seen: Turn) -> str:
    """By how much each was turned, and the angle that makes the score."""
    distance = query_position - key_position
    further = f"the {'query' if distance >= 0 else 'key'} was turned {abs(distance) * degrees:g}° further"
    return (
        f"Query at {query_position} turned by {query_position * degrees:g}°, key at {key_position} by "
        f"{key_position * degrees:g}°. Their score is {seen.score:.3f}, the cosine of the {seen.angle:.0f}° between "
        f"them: the key began {HEAD_START:.0f}° ahead, and {further}. "
        f"It is the same for all positions with m − n = {distance}."
    )


# --- bind -------------------------------------------------------------------------------------------------------------
def heatmap_explorer() -> Explore:
    """Width, length and base of the table of sinusoids."""
    return Explore(
        lambda width, length, base: draw_table(position_table(width, length, base)),
        name="positions-heatmap",
        width=widgets.IntSlider(64, 4, 128, 4, description="Width D"),
        length=widgets.IntSlider(64, 8, 200, 8, description="Length T"),
        base=widgets.Dropdown(options=[(f"{b:,}", b) for b in BASES], value=10_000, description="Base"),
    )


def two_positions_explorer() -> Explore:
    """Two positions, their vectors and their dot product."""
    return Explore(
        lambda m, n, width: draw_comparison(m, n, compare_positions(m, n, width)),
        name="two-positions",
        m=widgets.IntSlider(10, 0, FARTHEST, description="Position m"),
        n=widgets.IntSlider(15, 0, FARTHEST, description="Position n"),
        width=widgets.Dropdown(options=[("64", 64), ("128", 128), ("512", 512)], value=64, description="Width D"),
    )


def rotary_explorer() -> Explore:
    """Positions of a query and a key, and the angle by which every position turns them further."""
    return Explore(
        lambda query, key, degrees: draw_turn(query, key, degrees, turn_pair(query, key, degrees)),
        name="rotary-angle",
        query=widgets.IntSlider(5, 0, 40, description="Query position m"),
        key=widgets.IntSlider(2, 0, 40, description="Key position n"),
        degrees=widgets.IntSlider(20, 0, 90, 5, description="Angle per position"),
    )
