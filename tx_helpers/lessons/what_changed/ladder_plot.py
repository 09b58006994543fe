"""The ladder as a picture: the loss of each rung, with the spread over its seeds, in up to three budgets."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from tx_helpers.lessons.what_changed.ladder import BUDGETS, recorded_ladder
from tx_helpers.lessons.what_changed.verdicts import WORDS
from tx_helpers.nn.arguments import check_one_of, check_types
from tx_helpers.show.plots import COLOURS, Picture, new_figure, show

MARKS = {"steps": ("o", COLOURS[0]), "flops": ("s", COLOURS[1]), "seconds": ("D", COLOURS[2])}
TITLES = {
    "rungs": "The ladder: each row keeps all changes above it",
    "alone": "The decoder of 2017 with one change",
    "without": "Today's decoder without one change",
}


def plot_ladder(
    table: Mapping[str, Any] | None = None, group: str = "rungs", budgets: Sequence[str] = BUDGETS
) -> Picture:
    """A row for each entry of a group ("rungs", "alone", "without") of ladder.json, by default the recorded one.

    A mark is the mean validation loss over the seeds; its bar goes from the lowest to the highest. A dotted line is the
    mean of what the group is compared with, 2017 or today, in the budget of its colour.
    """
    check_one_of("plot_ladder", tuple(TITLES), group=group)
    check_types("plot_ladder", Sequence, budgets=budgets)
    for budget in budgets:
        check_one_of("plot_ladder", BUDGETS, budget=budget)
    table = recorded_ladder() if table is None else table
    rows, base = table[group], table["rungs"][-1 if group == "without" else 0]
    figure, axis = new_figure(7.0, 1.4 + 0.34 * len(rows))
    for place, budget in enumerate(budgets):
        means = [_mean(row[budget]) for row in rows]
        down = [mean - min(row[budget]) for mean, row in zip(means, rows, strict=True)]
        up = [max(row[budget]) - mean for mean, row in zip(means, rows, strict=True)]
        heights = [row + 0.24 * (place - (len(budgets) - 1) / 2) for row in range(len(rows))]
        mark, colour = MARKS[budget]
        style = dict(fmt=mark, color=colour, markersize=4.5, capsize=2.5, linewidth=1.2)
        axis.axvline(_mean(base[budget]), color=colour, linewidth=1, linestyle=(0, (1, 2)))
        axis.errorbar(means, heights, xerr=(down, up), label=WORDS[budget], **style)
    axis.set_yticks(range(len(rows)), [row["name"] for row in rows])
    axis.invert_yaxis()
    axis.grid(axis="x", alpha=0.3)
    axis.set(title=TITLES[group], xlabel="validation loss (nats a character), mean and range of the seeds")
    figure.legend(fontsize=9, frameon=False, loc="outside lower center", ncols=len(budgets))
    return show(figure, describe(table, group, budgets))


def describe(table: Mapping[str, Any], group: str, budgets: Sequence[str] = BUDGETS) -> str:
    """The picture in words: ends of the ladder and its largest step, or the changes that matter most and least."""
    rows, seeds = table[group], len(table["about"]["seeds"])
    parts = []
    for budget in budgets:
        if group == "rungs":
            means = {row["name"]: _mean(row[budget]) for row in rows}
            names = list(means)
            gains = {new: means[old] - means[new] for old, new in pairwise(names)}
            best = max(gains, key=gains.get)
            parts.append(
                f"at {WORDS[budget]} from {means[names[0]]:.2f} ({names[0]}) to {means[names[-1]]:.2f} ({names[-1]}), "
                f"the largest step down is {best} ({gains[best]:.2f})"
            )
        else:
            base = _mean(table["rungs"][-1 if group == "without" else 0][budget])
            change = {row["name"]: _mean(row[budget]) - base for row in rows}
            low, high = min(change, key=change.get), max(change, key=change.get)
            parts.append(f"at {WORDS[budget]} from {change[low]:+.2f} ({low}) to {change[high]:+.2f} ({high})")
    return f"{TITLES[group]}. Validation loss, {seeds} seeds: {'; '.join(parts)}."


def _mean(numbers: Sequence[float]) -> float:
    return sum(numbers) / len(numbers)
