"""Two sentences of the same words, drawn as two clouds of points: does each word end at the same place?

    two_clouds({"the dog bites the man": out, "the man bites the dog": other})

A word's point is at the first two numbers of its vector. Words are matched by their spelling, the first "the" with the
first "the".
"""

import math
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from tx_helpers.nn.arguments import check_types
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import EDGE, INK, MUTED, PINK, WHITE, card, line, shape, words

SIZE, MARGIN, TOP = 300, 34, 46  # of one cloud in pixels; the space around its points; where it begins
COLOURS = {"dog": PINK.full, "man": INK}  # the two that change places; the other words are grey
HEIGHT = 15  # of a line of letters


# --- compute ----------------------------------------------------------------------------------------------------------
def named_rows(sentence: str) -> list[tuple[str, int]]:
    """Each word with its count so far: "the dog the" gives (the, 0), (dog, 0), (the, 1)."""
    spelt = sentence.split()
    return [(word, spelt[:place].count(word)) for place, word in enumerate(spelt)]


def moved(outputs: Mapping[str, Tensor]) -> dict[str, float]:
    """How far each word's vector (T, D) moves from the first sentence to the second; of two "the" the larger way."""
    (first, before), (second, after) = outputs.items()
    places = {name: row for row, name in enumerate(named_rows(second))}
    gaps: dict[str, float] = {}
    for row, name in enumerate(named_rows(first)):
        gap = float((before[row] - after[places[name]]).norm())
        gaps[name[0]] = max(gap, gaps.get(name[0], 0.0))
    return gaps


# --- draw -------------------------------------------------------------------------------------------------------------
def two_clouds(outputs: Mapping[str, Tensor]) -> Svg:
    """Side by side, on the same scale: the points of both sentences, each with its word."""
    check_types("two_clouds", Mapping, outputs=outputs)
    if len(outputs) != 2 or sorted(first_words(outputs, 0)) != sorted(first_words(outputs, 1)):
        raise ValueError(f"two_clouds: {list(outputs)}, expected two sentences of the same words")
    points = torch.cat([out[:, :2] for out in outputs.values()]).double()
    low, high = points.min(0).values, points.max(0).values
    scale = (SIZE - 2 * MARGIN) / max(float((high - low).max()), 1e-9)
    middle = (low + high) / 2
    parts: list[str] = []
    before: list[tuple[float, float]] = []
    rings: list[str] = []
    for left, (sentence, out) in zip((50, 450), outputs.items(), strict=True):
        parts.append(words(left + SIZE / 2, 30, sentence, size=16, anchor="middle", font_weight="bold"))
        parts.append(shape("rect", x=left, y=TOP, width=SIZE, height=SIZE, rx=8, fill=WHITE, stroke=EDGE))
        spots = [
            (left + SIZE / 2 + scale * float(x - middle[0]), TOP + SIZE / 2 - scale * float(y - middle[1]))
            for x, y in out[:, :2].double()
        ]
        if left == 450:  # rings where the words were on the left, unless a word is there again
            rings = [_ring(x + 400, y) for x, y in before if all(math.dist((x + 400, y), one) > 10 for one in spots)]
            parts += rings
        before = spots
        parts += _cloud(sentence.split(), spots, left)
    said = "across: a vector's first number; up: its second"
    if rings:
        said += "; dashed: where the word was on the left"
    parts.append(words(400, TOP + SIZE + 24, said, anchor="middle", fill=MUTED))
    return card(800, TOP + SIZE + 38, parts, describe(outputs))


def _ring(x: float, y: float) -> str:
    return shape("circle", cx=x, cy=y, r=7, fill="none", stroke=MUTED, stroke_dasharray="2 2")


def first_words(outputs: Mapping[str, Tensor], which: int) -> list[str]:
    """The words of the first or the second sentence."""
    return list(outputs)[which].split()


def _cloud(spelt: list[str], spots: list[tuple[float, float]], left: float) -> list[str]:
    """Dots and their words; a word that would cover another moves down."""
    together: dict[tuple[int, int], list[str]] = {}
    for word, (x, y) in zip(spelt, spots, strict=True):
        together.setdefault((round(x), round(y)), []).append(word)
    parts, taken = [], [(y, x - 8, x + 8) for x, y in together]
    for (x, y), here in sorted(together.items(), key=lambda one: one[0][1]):
        text = here[0] if len(here) == 1 else f"{here[0]} (twice)"
        width = 8.5 * len(text)
        sides = {True: x + 10, False: x - 10 - width}
        fits = [side for side, begin in sides.items() if left + 4 < begin and begin + width < left + SIZE - 4]
        right = next((side for side in fits if not _covers(y + 5, sides[side], width, taken)), fits[0])
        begin, at = sides[right], y + 5
        while _covers(at, begin, width, taken):
            at += 4
        taken.append((at, begin, begin + width))
        colour = COLOURS.get(here[0], MUTED)
        if at - y > 12:
            parts.append(line(x, y, begin - 1 if right else begin + width + 1, at - 5, EDGE))
        parts.append(shape("circle", cx=x, cy=y, r=7, fill=colour))
        bold = "bold" if here[0] in COLOURS else None
        parts.append(words(x + 10 if right else x - 10, at, text, anchor="start" if right else "end", font_weight=bold))
    return parts


def _covers(at: float, begin: float, width: float, taken: Sequence[tuple[float, float, float]]) -> bool:
    """Would a word at this height, from `begin` on, cover a dot or another word?"""
    return any(abs(at - other) < HEIGHT and begin < end and start < begin + width for other, start, end in taken)


# --- describe ---------------------------------------------------------------------------------------------------------
def describe(outputs: Mapping[str, Tensor]) -> str:
    """How far each word's whole vector moves from one sentence to the other."""
    gaps = moved(outputs)
    said = ", ".join(f"{word} {gap:.2f}" for word, gap in gaps.items())
    kind = "Two identical clouds of points" if max(gaps.values()) < 0.005 else "Two different clouds of points"
    return f"{kind}, one for each sentence. How far each word's vector has moved from left to right: {said}."
