"""The explorer of terms in the score: what no term, ALiBi and T5's bias add, and what weights they make of it.

    bias_explorer()

weight_d = softmax(bias_d): the weights of the keys at the distances 0, 1, 2 … if all contents fit equally well.
"""

from dataclasses import dataclass

import numpy as np
import torch

from tx_helpers.nn.arguments import check_numbers
from tx_helpers.nn.positions import ALiBi, T5Bias
from tx_helpers.show.controls import slider
from tx_helpers.show.explore import Explore
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import EDGE, INK, MUTED, WEIGHT, card, line, shape, words

HEADS, SHARE = 4, 0.95
LEVELS = ((0.0, "0"), (-5.0, "−5"))
BUCKETS = dict(buckets=16, max_distance=48)
# What the four heads of the notebook's story model learned for T5's 16 buckets, rounded to a tenth.
LEARNED = (
    (-0.1, 0.8, 0.7, -0.3, -0.5, -0.7, -0.4, -0.2, -0.5, -0.3, -0.6, -0.6, -0.5, -0.3, -0.6, -0.4),
    (0.2, 0.9, 0.3, -0.3, 0.2, -0.3, -0.2, -0.5, -0.6, -0.5, -0.4, -0.6, -0.5, -0.9, -0.7, -0.9),
    (0.3, 0.9, 0.4, 0.7, 0.2, -0.4, -0.4, -0.4, -0.4, -0.2, -0.4, -0.4, -0.7, -0.6, -0.7, -0.5),
    (0.1, 0.8, 0.7, 0.3, 0.0, -0.7, 0.1, -0.1, -0.4, -0.2, -0.4, -0.1, -0.3, -0.4, -0.5, -0.7),
)
LOWEST, HIGHEST = -5.0, 1.0  # of what is added, as far as the drawing shows it
PANEL, GAP, LEFT = 212, 26, 40  # pixels: width of a panel, space between two, and where the first begins


# --- compute ----------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Term:
    """What is added to the scores of the keys at the distances 0 … N − 1, and the weights that follow."""

    name: str
    bias: np.ndarray  # (N,)
    weights: np.ndarray  # (N,)

    @property
    def reach(self) -> int:
        """How many of the nearest keys hold 95 % of the weight together."""
        return int((self.weights.cumsum() < SHARE - 1e-9).sum()) + 1


def terms(head: int, length: int) -> list[Term]:
    """No term, ALiBi and T5's bias for head 1 … 4, over `length` keys that end with the query's own."""
    check_numbers("terms", least=1, most=HEADS, whole=True, head=head)
    check_numbers("terms", least=2, whole=True, length=length)
    distance = torch.arange(length)
    learned = torch.tensor(LEARNED[head - 1], dtype=torch.float64)
    biases = {
        "no term": torch.zeros(length, dtype=torch.float64),
        "ALiBi": ALiBi(HEADS)(1, length, dtype=torch.float64)[0, head - 1, 0].flip(0),
        "T5's bias": learned[T5Bias(HEADS, **BUCKETS).bucket(-distance)],
    }
    return [Term(name, bias.numpy(), bias.softmax(0).numpy()) for name, bias in biases.items()]


# --- draw -------------------------------------------------------------------------------------------------------------
def draw(head: int, length: int) -> Svg:
    """Three panels: above what is added over the distance, below the weights."""
    found = terms(head, length)
    most = max(term.weights.max() for term in found)
    parts = [
        words(14, 30, f"Head {head} of {HEADS}: added to the score", size=15, font_weight="bold"),
        words(14, 194, "and the weight, if all keys fit equally well", size=15, font_weight="bold"),
    ]
    for place, term in enumerate(found):
        left = LEFT + place * (PANEL + GAP)
        parts += panel(term, left, most)
    return card(LEFT + 3 * PANEL + 2 * GAP + 20, 352, parts, describe(head, length, found))


def panel(term: Term, left: float, most: float) -> list[str]:
    """One of the three, beginning at `left`; the line ends where it leaves the scale, the weights share theirs."""
    length = len(term.bias)
    top, tall, floor, bar = 66, 84, 296, 80

    def across(distance: float) -> float:
        return left + PANEL * distance / length

    def down(bias: float) -> float:
        return top + tall * (HIGHEST - bias) / (HIGHEST - LOWEST)

    steps = " ".join(
        f"{across(d + e):.1f},{down(b):.1f}" for d, b in enumerate(term.bias) if b >= LOWEST for e in (0, 1)
    )
    heights = [bar * w / most for w in term.weights]
    area = " ".join(f"{across(d + e):.1f},{floor - h:.1f}" for d, h in enumerate(heights) for e in (0, 1))
    return [
        words(left, 54, term.name, fill=MUTED),
        line(left, down(0), left + PANEL, down(0), EDGE),
        *(words(left - 6, down(level) + 4, text, anchor="end", size=12, fill=MUTED) for level, text in LEVELS),
        shape("polyline", points=steps, fill="none", stroke=INK, stroke_width=2),
        shape("polygon", points=f"{left},{floor} {area} {left + PANEL},{floor}", fill=WEIGHT.full),
        line(left, floor, left + PANEL, floor, EDGE),
        line(across(term.reach), floor - bar, across(term.reach), floor, INK, stroke_dasharray="3 3"),
        words(left, floor + 18, "distance 0", size=12, fill=MUTED),
        words(left + PANEL, floor + 18, str(length - 1), anchor="end", size=12, fill=MUTED),
        words(left, floor + 36, f"95 % within the nearest {term.reach}", fill=WEIGHT.shade),
    ]


# --- describe ---------------------------------------------------------------------------------------------------------
def describe(head: int, length: int, found: list[Term]) -> str:
    """For each of the three: what is added next door and furthest away, and how many keys hold 95 % of the weight."""
    said = "; ".join(
        f"{term.name} adds {term.bias[1]:.2f} at distance 1 and {term.bias[-1]:.2f} at {length - 1}, and 95 % of the "
        f"weight are on the nearest {term.reach}"
        for term in found
    )
    return f"Head {head} of {HEADS}, {length} keys that fit equally well: {said}.".replace("-0.00", "0.00").replace(
        " -", " −"
    )


# --- bind -------------------------------------------------------------------------------------------------------------
def bias_explorer() -> Explore:
    """A head, and how far back the text goes."""
    return Explore(
        draw,
        name="bias-by-distance",
        told=True,
        head=slider("Head h", 1, HEADS, start=2),
        length=slider("Keys", 16, 256, step=16, start=64),
    )
