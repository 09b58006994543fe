"""Labels against accuracy: the same classifier from 10, 30, 100, 1,000 labelled texts, learned in four ways.

    few_labels_explorer()              # of what `few_labels.record` recorded
    few_labels_explorer(table)         # of a table of the same shape

A line is the mean over the seeds, its band goes from the worst to the best of them. A seed decides the texts, their
order, what is new in the model, and the texts of the test.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from tx_helpers.lessons.adapting.few_labels import BUDGETS, WAYS, recorded
from tx_helpers.nn.arguments import check_types
from tx_helpers.show.charts import DASHES, GRID
from tx_helpers.show.controls import choice, slider, tick
from tx_helpers.show.explore import Explore
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import BLUE, EDGE, GREEN, INK, MUTED, ORANGE, PINK, card, line, shape, words

NAMES = {"scratch": "from scratch", "frozen": "frozen encoder", "whole": "fine-tuned whole", "lora": "LoRA"}
LOOKS = dict(zip(WAYS, zip((BLUE, ORANGE, GREEN, PINK), DASHES, strict=True), strict=True))
X, Y, WIDE, HIGH = 60, 36, 400, 250  # pixels: where the chart begins, and its size
BESIDE = X + WIDE + 44  # where the table beside it begins


# --- compute ----------------------------------------------------------------------------------------------------------
class Spread(NamedTuple):
    """The scores of some seeds, and their mean, worst and best."""

    scores: Sequence[float]
    mean: float
    low: float
    high: float


def spread(scores: Sequence[float]) -> Spread:
    """Mean, worst and best of the scores."""
    return Spread(scores, sum(scores) / len(scores), min(scores), max(scores))


def spreads(table: Mapping[str, Any], budget: str = "steps") -> dict[str, dict[int, Spread]]:
    """Way -> number of labels -> the spread of its scores. ValueError for a table that lacks one of them."""
    check_types("few_labels", Mapping, table=table)
    missing = [key for key in ("labels", "guess", "trained", "scores") if key not in table]
    missing += [] if missing else [equal for equal in BUDGETS if equal not in table["scores"]]
    missing += [] if missing else [way for way in WAYS if way not in table["scores"][budget]]
    if missing:
        raise ValueError(f"few_labels: the table has no {missing[0]!r}, expected what `record` writes")
    return {way: {n: spread(table["scores"][budget][way][str(n)]) for n in table["labels"]} for way in WAYS}


def enough(by_labels: Mapping[int, Spread], target: float) -> int | None:
    """The smallest number of labels, of those tried, whose mean reaches `target`; None if none does."""
    return next((labels for labels, found in sorted(by_labels.items()) if found.mean >= target), None)


# --- draw -------------------------------------------------------------------------------------------------------------
def draw(table: Mapping[str, Any], labels: int, target: float = 0.8, budget: str = "steps", seeds: bool = False) -> Svg:
    """A line with its band for each way, over the number of labels; beside it the figures for `labels`.

    seeds: a dot for each seed. A broken line at `target`, a dotted one where guessing is.
    """
    found, tried = spreads(table, budget), sorted(table["labels"])
    guess = spread(table["guess"]).mean
    floor = (
        math.floor(10 * min(guess, *(min(rows) for way in table["scores"][budget].values() for rows in way.values())))
        / 10
    )

    def across(count: float) -> float:
        return X + 20 + (WIDE - 40) * math.log(count / tried[0]) / (math.log(tried[-1] / tried[0]) or 1)

    def down(score: float) -> float:
        return Y + HIGH - HIGH * (score - floor) / (1 - floor)

    of = len(table["guess"])
    parts = [words(X, 20, f"right labels in the test, {of} seed{'s' * (of != 1)}", font_weight="bold")]
    for tenth in range(round(10 * floor), 11):
        y = down(tenth / 10)
        parts += [line(X, y, X + WIDE, y, GRID), words(X - 8, y + 4, f"{10 * tenth}%", size=12, anchor="end")]
    for count in tried:
        bold = {"font_weight": "bold"} if count == labels else {}
        parts.append(words(across(count), Y + HIGH + 20, f"{count:,}", size=12.5, anchor="middle", **bold))
    parts.append(line(across(labels), Y, across(labels), Y + HIGH, EDGE, stroke_width=14, stroke_opacity=0.5))
    parts.append(line(X, down(guess), X + WIDE, down(guess), INK, stroke_dasharray="2 4"))
    parts.append(words(X + WIDE, down(guess) - 5, "without a model", size=12, fill=MUTED, anchor="end"))
    if target >= floor:
        parts.append(line(X, down(target), X + WIDE, down(target), INK, stroke_dasharray="8 4"))
    for way, by_labels in found.items():
        colour, dash = LOOKS[way]
        tops = [(across(n), down(by_labels[n].high)) for n in tried]
        bottoms = [(across(n), down(by_labels[n].low)) for n in reversed(tried)]
        parts.append(shape("polygon", points=_points([*tops, *bottoms]), fill=colour.full, fill_opacity=0.14))
        means = [(across(n), down(by_labels[n].mean)) for n in tried]
        style = dict(fill="none", stroke=colour.shade, stroke_width=2.5, stroke_dasharray=dash)
        parts.append(shape("polyline", points=_points(means), **style))
        if seeds:
            dots = [(across(n), down(score)) for n in tried for score in by_labels[n].scores]
            parts += [
                shape("circle", cx=x, cy=y, r=3, fill=colour.shade, stroke=INK, stroke_width=0.5) for x, y in dots
            ]
    parts += _figures(table, found, labels, target)
    return card(BESIDE + 290, Y + HIGH + 44, parts, describe(table, labels, target, budget))


def _points(places: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in places)


def _figures(table: Mapping[str, Any], found: Mapping, labels: int, target: float) -> list[str]:
    parts = [words(BESIDE, 20, f"from {labels:,} labelled texts", font_weight="bold")]
    for row, (way, by_labels) in enumerate(_best_first(found, labels)):
        y, (colour, dash), one = 56 + 62 * row, LOOKS[way], by_labels[labels]
        parts.append(line(BESIDE, y - 5, BESIDE + 34, y - 5, colour.shade, stroke_width=2.5, stroke_dasharray=dash))
        parts.append(words(BESIDE + 44, y, f"{NAMES[way]}: {one.mean:.0%}", font_weight="bold"))
        said = f"{one.low:.0%} to {one.high:.0%}; {table['trained'][way]:,} parameters learn"
        needed = enough(by_labels, target)
        reached = f"reaches {target:.0%} with {needed:,} labels" if needed else f"never reaches {target:.0%}"
        parts += [
            words(BESIDE + 44, y + 18 + 16 * n, text, size=12, fill=MUTED) for n, text in enumerate((said, reached))
        ]
    return parts


def _best_first(found: Mapping[str, Mapping[int, Spread]], labels: int) -> list[tuple[str, Mapping[int, Spread]]]:
    return sorted(found.items(), key=lambda entry: -entry[1][labels].mean)


# --- describe ---------------------------------------------------------------------------------------------------------
def describe(table: Mapping[str, Any], labels: int, target: float = 0.8, budget: str = "steps") -> str:
    """The ways in the order of their means, with worst and best seed, and the labels that each needs for the target."""
    found = spreads(table, budget)
    ranked = [
        f"{NAMES[way]} {by_labels[labels].mean:.0%} ({by_labels[labels].low:.0%} to {by_labels[labels].high:.0%})"
        for way, by_labels in _best_first(found, labels)
    ]
    needs = {NAMES[way]: enough(by_labels, target) for way, by_labels in found.items()}
    needed = ", ".join(f"{way} {'never' if count is None else f'{count:,}'}" for way, count in needs.items())
    return (
        f"From {labels:,} labels, equal {budget}: {', '.join(ranked)}; "
        f"without a model {spread(table['guess']).mean:.0%}. "
        f"Labels for {target:.0%}: {needed}."
    )


# --- bind -------------------------------------------------------------------------------------------------------------
def few_labels_explorer(table: Mapping[str, Any] | None = None) -> Explore:
    """Choose a number of labels and the share of right answers that you need; the recorded table, or one like it."""
    table = recorded() if table is None else table
    spreads(table)
    tried = sorted(table["labels"])
    return Explore(
        lambda labels, budget, target, seeds: draw(table, labels, target, budget, seeds),
        name="few-labels",
        told=True,
        labels=choice("Labelled texts", [(f"{n:,}", n) for n in tried]),
        budget=choice("Equal", [("steps: 60", "steps"), ("passes: 10", "passes")]),
        target=slider("Needed", 0.4, 1.0, step=0.05, start=0.8, form=".0%"),
        seeds=tick("A dot for each seed"),
    )
