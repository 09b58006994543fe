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
from tx_helpers.show.charts import line_chart, looks, side_by_side
from tx_helpers.show.controls import choice, slider, tick
from tx_helpers.show.explore import Explore
from tx_helpers.show.plots import Svg
from tx_helpers.show.rows import listed

NAMES = {"scratch": "from scratch", "frozen": "frozen encoder", "whole": "fine-tuned whole", "lora": "LoRA"}
PAD = 1.2  # how far the axis goes on beyond the first and the last number of labels, as a factor


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
    missing = [key for key in ("labels", "guess", "prompted", "trained", "scores") if key not in table]
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
    found, guess, seeds_of = spreads(table, budget), spread(table["guess"]), len(table["guess"])
    told = spread(table["prompted"]["2"])
    tried = sorted(table["labels"])
    worst = min(min(rows) for way in table["scores"][budget].values() for rows in way.values())
    by_way = {NAMES[way]: [by_labels[n] for n in tried] for way, by_labels in found.items()}
    dots = {
        way: (
            [n for n, one in zip(tried, row, strict=True) for _ in one.scores],
            [score for one in row for score in one.scores],
        )
        for way, row in by_way.items()
    }
    chart = line_chart(
        {way: (tried, [one.mean for one in row]) for way, row in by_way.items()},
        size=(470, 330),
        title=f"right labels in the test, {seeds_of} seed{'s' * (seeds_of != 1)}",
        xlabel="labelled texts",
        ylabel="",
        xlim=(tried[0] / PAD, tried[-1] * PAD),
        ylim=(math.floor(10 * min(guess.mean, worst)) / 10, 1),
        logx=True,
        legend=False,
        bands={way: ([one.low for one in row], [one.high for one in row]) for way, row in by_way.items()},
        marks=dots if seeds else {},
        levels={
            f"prompted {told.mean:.0%}, the commonest label {guess.mean:.0%}": guess.mean,
            " ": told.mean,
            "": target,
        },
        at=labels,
        xform="{:,.0f}".format,
        percent=True,
    )
    beside = {}
    for way, by_labels in _best_first(found, labels):
        one, needed = by_labels[labels], enough(by_labels, target)
        said = f"{one.low:.0%} to {one.high:.0%}; {table['trained'][way]:,} parameters learn"
        reached = f"reaches {target:.0%} with {needed:,} labels" if needed else f"never reaches {target:.0%}"
        beside[NAMES[way]] = (f"{NAMES[way]}: {one.mean:.0%}", said, reached)
    figures = listed(beside, looks(by_way), title=f"from {labels:,} labelled texts", size=(290, 330))
    return side_by_side([chart, figures], alt=describe(table, labels, target, budget))


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
        f"prompted with six examples {spread(table['prompted']['2']).mean:.0%}, "
        f"the commonest label {spread(table['guess']).mean:.0%}. "
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
