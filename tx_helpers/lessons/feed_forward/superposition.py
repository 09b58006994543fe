"""Superposition: more features than dimensions, each feature a direction, and how much they interfere.

    superposition_explorer()

n features have the unit vectors w₁ … w_n in D dimensions. A layer adds up the vectors of those that are on, and reads
each feature i by a dot product; it counts as read where that is above ½:

    x = Σ_{j on} w_j,    x · wᵢ = [i is on] + Σ_{j on, j ≠ i} wᵢ · w_j        the second part is the interference

Source: Elhage et al. 2022, *Toy models of superposition*. No n directions have all |wᵢ · w_j| below Welch's bound,
√((n − D) / (D (n − 1))) (Welch 1974).
"""

from functools import cache

import ipywidgets as widgets
import numpy as np

from tx_helpers.nn.arguments import check_numbers, check_one_of
from tx_helpers.show.charts import Panel, heading, line_chart, side_by_side
from tx_helpers.show.explore import Explore
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import GREEN, GREY, INK, MUTED, ORANGE, arrow, line, shape, words

KINDS = ("spread apart", "random")
MOST, WIDEST, AT_ONCE = 50, 32, 8  # features, dimensions, features that are on together
STEPS, DRAWS, THRESHOLD = 150, 300, 0.5
LEFT, RIGHT = (430, 280), (330, 280)


# --- compute ----------------------------------------------------------------------------------------------------------
def directions(features: int, dimensions: int, kind: str = "spread apart") -> np.ndarray:
    """Unit vectors (features, dimensions), the same at every call: random ones, or those spread as far as possible.

    Where there is room, spread ones are at right angles. Else gradient descent makes the largest |dot product| small.
    """
    check_numbers("directions", least=2, most=MOST, whole=True, features=features)
    check_numbers("directions", least=2, most=WIDEST, whole=True, dimensions=dimensions)
    check_one_of("directions", KINDS, kind=kind)
    return _directions(features, dimensions, kind)


@cache
def _directions(features: int, dimensions: int, kind: str) -> np.ndarray:
    vectors = _unit(np.random.default_rng(0).standard_normal((features, dimensions)))
    if kind == "random":
        return vectors
    return np.linalg.qr(vectors.T)[0].T if features <= dimensions else _spread(vectors)


def _unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def _spread(vectors: np.ndarray) -> np.ndarray:
    """Steps down the gradient of Σ |wᵢ · w_j|^p; the power grows, so that in the end the largest one counts alone."""
    moved = np.zeros_like(vectors)
    for step in range(STEPS):
        power, rate = (6, 12, 30)[3 * step // STEPS], 0.3 * (1 - step / STEPS) + 0.005
        dots = vectors @ vectors.T
        np.fill_diagonal(dots, 0.0)
        push = (np.sign(dots) * (abs(dots) / abs(dots).max()) ** (power - 1)) @ vectors
        push -= (push * vectors).sum(1, keepdims=True) * vectors  # along the sphere
        moved = 0.8 * moved + 0.2 * push / (np.linalg.norm(push, axis=1).max() + 1e-12)
        vectors = _unit(vectors - rate * moved)
    return vectors


def overlaps(vectors: np.ndarray) -> tuple[float, float]:
    """The largest |dot product| of two different vectors, and the mean."""
    pairs = abs(vectors @ vectors.T)[np.triu_indices(len(vectors), 1)]
    return float(pairs.max()), float(pairs.mean())


def bound(features: int, dimensions: int) -> float:
    """Welch's bound: no directions have a smaller largest |dot product|; 0 where all can be at right angles."""
    return max(0.0, (features - dimensions) / (dimensions * (features - 1))) ** 0.5


def read(vectors: np.ndarray, on: np.ndarray) -> np.ndarray:
    """What is read for each feature, (…, n), where the features in on (…, n) are added up."""
    return on @ vectors @ vectors.T


def recovered(vectors: np.ndarray, at_once: int) -> float:
    """The share of random mixtures of so many features in which every feature, on or off, is read right."""
    n = len(vectors)
    order = np.random.default_rng(1).random((DRAWS, n)).argsort(1)
    on = order < min(at_once, n)
    return float(((read(vectors, on) > THRESHOLD) == on).all(1).mean())


# --- draw -------------------------------------------------------------------------------------------------------------
def draw(features: int, dimensions: int, at_once: int, kind: str) -> Svg:
    """What is read for each feature; beside it the directions, or in more than two dimensions the shares."""
    vectors = directions(features, dimensions, kind)
    right = _fan(vectors, at_once) if dimensions == 2 else _shares(features, dimensions)
    alt = describe(features, dimensions, at_once, kind)
    return side_by_side([_reading(vectors, at_once), right], alt=alt, gap=24)


def _reading(vectors: np.ndarray, at_once: int) -> Panel:
    """A bar for each feature, green where it is on, orange where the reading is wrong."""
    on = np.arange(len(vectors)) < at_once
    values = read(vectors, on)
    high = max(1.5, float(values.max()))
    low = min(-0.8, float(values.min()))
    unit = (LEFT[1] - 78) / (high - low)
    zero, slot = 34 + unit * high, (LEFT[0] - 40) / len(vectors)
    which = f"Features 1 to {at_once} are" if at_once > 1 else "Feature 1 is"
    parts = [heading(LEFT[0] / 2, f"{which} on: what is read?")]
    for level, name in ((1.0, "1"), (THRESHOLD, "½"), (0.0, "0")):
        y = zero - unit * level
        dash = "5 4" if level else None
        parts.append(line(34, y, LEFT[0], y, INK, stroke_dasharray=dash, stroke_width=1))
        parts.append(words(28, y + 4, name, anchor="end"))
    for place, value in enumerate(values):
        wrong = bool(on[place]) != bool(value > THRESHOLD)
        colour = ORANGE if wrong else GREEN if on[place] else GREY
        top = zero - unit * max(value, 0)
        bar = dict(x=36 + slot * place, y=top, width=max(1.5, 0.8 * slot), height=max(1.0, unit * abs(value)))
        parts.append(shape("rect", fill=colour.full, **bar))
    parts.append(words(LEFT[0] / 2, LEFT[1] - 26, f"the {len(vectors)} features", anchor="middle", fill=MUTED))
    key = ((GREEN, "on, read"), (GREY, "off, not read"), (ORANGE, "read wrongly"))
    for place, (colour, name) in enumerate(key):
        x = 44 + 132 * place
        parts.append(shape("rect", x=x, y=LEFT[1] - 12, width=12, height=12, fill=colour.full))
        parts.append(words(x + 17, LEFT[1] - 1, name))
    return Panel(LEFT, "".join(parts))


def _fan(vectors: np.ndarray, at_once: int) -> Panel:
    """The directions in the plane, those that are on in green."""
    middle, radius = (RIGHT[0] / 2, RIGHT[1] / 2 + 10), 108
    parts = [heading(middle[0], "The directions in the plane")]
    parts.append(shape("circle", cx=middle[0], cy=middle[1], r=radius, fill="none", stroke=GREY.full))
    for place in reversed(range(len(vectors))):  # those that are on lie above the others
        x, y = middle[0] + radius * vectors[place][0], middle[1] - radius * vectors[place][1]
        parts.append(arrow(*middle, x, y, GREEN.shade if place < at_once else MUTED, gap=0))
    return Panel(RIGHT, "".join(parts))


def _shares(features: int, dimensions: int) -> Panel:
    """The share of mixtures that are read without a fault, over the number of features in them."""
    counts = range(1, min(AT_ONCE, features) + 1)
    lines = {
        kind: (counts, [recovered(directions(features, dimensions, kind), count) for count in counts]) for kind in KINDS
    }
    text = dict(title="All features read right?", xlabel="features on at once", ylabel="share of mixtures")
    return line_chart(lines, size=RIGHT, ylim=(0.0, 1.3), xlim=(1, max(2, counts[-1])), **text)


# --- describe ---------------------------------------------------------------------------------------------------------
def describe(features: int, dimensions: int, at_once: int, kind: str) -> str:
    """The overlaps with their bound, and the share of mixtures that are read without a fault."""
    vectors = directions(features, dimensions, kind)
    largest, mean = overlaps(vectors)
    shares = [f"{recovered(vectors, count):.0%} with {count} on" for count in sorted({1, at_once})]
    return (
        f"{features} features in {dimensions} dimensions, {kind}: largest overlap |w · w'| {largest:.2f} "
        f"(at best {bound(features, dimensions):.2f} or more), mean {mean:.2f}. All features are read right in "
        f"{', '.join(shares)}."
    )


# --- bind -------------------------------------------------------------------------------------------------------------
def superposition_explorer() -> Explore:
    """Features, dimensions, how many are on at once, and which directions; it opens in the plane, where all is seen."""
    return Explore(
        lambda features, dimensions, at_once, kind: draw(features, dimensions, min(at_once, features), kind),
        name="superposition",
        told=True,
        features=widgets.IntSlider(5, 2, MOST, description="Features n"),
        dimensions=widgets.IntSlider(2, 2, WIDEST, description="Dimensions D"),
        at_once=widgets.IntSlider(1, 1, AT_ONCE, description="On at once"),
        kind=widgets.Dropdown(options=list(KINDS), description="Directions"),
    )
