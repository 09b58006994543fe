"""The explorer of sums: a word and a position are added; can both be read from the sum?

    two_in_one_explorer()

Words E (V, D) are drawn at random, deviation 1; positions P (T, D) are sinusoids. From x = E[v] + P[p] the word is read
as argmax_v (x·E[v] − |E[v]|²/2), which is the row nearest to x. The position is read in the same way, from x itself or
from what is left when the word that was read is taken off.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
import torch
from torch import Tensor

from tx_helpers.nn.arguments import check_numbers
from tx_helpers.nn.positions import sinusoidal
from tx_helpers.show.controls import stops
from tx_helpers.show.explore import Explore
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import EDGE, INK, MUTED, PINK, WHITE, bar, card, line, shape, words

WORDS, PLACES, SUMS = 1000, 64, 1000  # V, T, and how many sums are read
WIDTHS = (2, 4, 8, 16, 32, 64, 128, 256, 512)
BINS = 40  # of the histogram, from −1 to 1


# --- compute ----------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Sums:
    """How near words and positions are to a right angle, and what share of the sums is read rightly."""

    cosines: np.ndarray  # (BINS,): share of all pairs of a word and a position in each bin
    typical: float  # the root of the mean squared cosine
    word: float  # read from the sum
    place: float  # read from the sum
    after: float  # read from what is left without the word


def nearest(x: Tensor, rows: Tensor) -> Tensor:
    """For each x (R, D) the index of the nearest row (V, D). (R,)"""
    return (x @ rows.T - rows.square().sum(1) / 2).argmax(1)


@cache
def read_sums(width: int) -> Sums:
    """A thousand sums of a word and a position of this width, read by the nearest row."""
    check_numbers("read_sums", least=2, whole=True, width=width)
    g = torch.Generator().manual_seed(width)
    E = torch.randn(WORDS, width, generator=g, dtype=torch.float64)
    P = sinusoidal(torch.arange(PLACES), width, dtype=torch.float64)
    v, p = torch.randint(WORDS, (SUMS,), generator=g), torch.randint(PLACES, (SUMS,), generator=g)
    x = E[v] + P[p]
    cosines = (E / E.norm(dim=1, keepdim=True)) @ (P / P.norm(dim=1, keepdim=True)).T
    counts = torch.histc(cosines, BINS, -1, 1) / cosines.numel()
    read = nearest(x, E)
    shares = [(read == v), (nearest(x, P) == p), (nearest(x - E[read], P) == p)]
    return Sums(counts.numpy(), float(cosines.square().mean().sqrt()), *(float(s.double().mean()) for s in shares))


# --- draw -------------------------------------------------------------------------------------------------------------
def draw(width: int) -> Svg:
    """On the left a histogram of the cosines of words and positions; on the right what is read rightly, as bars."""
    seen = read_sums(width)
    left, floor, across, tall = 40, 250, 330, 180
    parts = [words(24, 28, f"Width {width}: a word and a position", size=15, font_weight="bold")]
    parts.append(words(24, 48, "cosine of the angle between them, all pairs", fill=MUTED))
    step, top = across / BINS, max(seen.cosines.max(), 1e-9)
    for place, share in enumerate(seen.cosines.tolist()):
        high = tall * share / top
        spot = dict(x=left + place * step + 0.5, y=floor - high, width=step - 1, height=high)
        parts.append(shape("rect", **spot, fill=MUTED))
    parts.append(line(left, floor, left + across, floor, EDGE))
    for x, text in ((0, "−1"), (0.5, "0: at right angles"), (1, "1")):
        parts.append(words(left + across * x, floor + 20, text, anchor="middle"))
    parts.append(words(430, 28, "What 1,000 sums give back", size=15, font_weight="bold"))
    rows = (("the word", seen.word), ("the position", seen.place), ("the position, once the word is off", seen.after))
    for row, (name, share) in enumerate(rows):
        y = 60 + 66 * row
        parts += [
            words(430, y, name),
            shape("rect", x=430, y=y + 8, width=270, height=22, rx=3, fill=WHITE, stroke=EDGE),
            bar(430, y + 8, 270 * share, 22, INK if row == 0 else PINK.full),
            words(710, y + 24, f"{share:.0%}", size=15),
        ]
    return card(780, 284, parts, describe(width, seen))


# --- describe ---------------------------------------------------------------------------------------------------------
def describe(width: int, seen: Sums) -> str:
    """The typical cosine, and the three shares."""
    return (
        f"Width {width}: the cosine of a word and a position is typically {seen.typical:.2f}. From the sum of both, "
        f"{seen.word:.0%} of the words and {seen.place:.0%} of the positions are read rightly; with the word that was "
        f"read taken off, {seen.after:.0%} of the positions."
    )


# --- bind -------------------------------------------------------------------------------------------------------------
def two_in_one_explorer() -> Explore:
    """The width of both vectors."""
    return Explore(draw, name="two-in-one", width=stops("Width D", WIDTHS, 4))
