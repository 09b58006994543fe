"""A scaling law and its extrapolation: fit it to the small runs, and see how far it is from the large ones.

    scaling_law_explorer()              # of what was recorded
    scaling_law_explorer(table)         # of a table of the same shape, see `law_runs.py`

L(N, D) = E + A / N^α + B / D^β, fitted by `laws`. The bands hold 90 % of the laws of a bootstrap.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import torch

from tx_helpers.lessons.scaling_up.laws.law import interval
from tx_helpers.lessons.scaling_up.laws.law_runs import recorded
from tx_helpers.lessons.scaling_up.laws.law_ways import Extrapolation, Points, extrapolate, law_points
from tx_helpers.nn.arguments import check_numbers, check_types
from tx_helpers.show.charts import Panel, line_chart
from tx_helpers.show.controls import choice, stops, tick
from tx_helpers.show.explore import Explore
from tx_helpers.show.plots import Svg
from tx_helpers.show.rows import Text, stacked
from tx_helpers.show.shapes import MUTED

SHARES = {f"up to 1/{part} of the largest": 1 / part for part in (32, 16, 8, 4, 2)}  # by operations
SCHEDULES = {"one for each run": True, "one long, on the way": False}
BUDGETS = {f"10^{exponent:g}": 10**exponent for exponent in (10, 10.5, 11, 11.5, 12, 12.5, 13, 13.5, 14, 15, 16)}
PAD = 1.1  # how far the axis of tokens goes on beyond the runs, as a factor
DRAWS = 100  # laws of the bootstrap


# --- compute ----------------------------------------------------------------------------------------------------------
class Fitted(NamedTuple):
    """A law of the small runs, and what goes with it: does N count the embedding, and the smallest possible loss."""

    found: Extrapolation
    embeddings: bool
    floor: float


def fitted(table: Mapping[str, Any], share: float, ended: bool, embeddings: bool) -> Fitted:
    """Fit the runs with at most this share of the largest run's operations."""
    check_types("scaling-law", Mapping, table=table)
    for part in ("about", "runs"):
        if part not in table:
            raise ValueError(f"scaling-law: the table has no {part!r}, expected what `law_runs` records")
    check_numbers("scaling-law", above=0, less_than=1, share=share)
    points = law_points(table, ended=ended, embeddings=embeddings)
    found = extrapolate(points, share * float(points.operations.max()), count=DRAWS)
    return Fitted(found, embeddings, table["about"]["floor"])


class Best(NamedTuple):
    """The best N and D for a budget, the interval of N, and the loss that the law promises."""

    parameters: float
    tokens: float
    low: float
    high: float
    loss: float


def best_size(found: Extrapolation, budget: float) -> Best:
    """The compute-optimal size for C = `budget` operations."""
    parameters, tokens = found.law.best_size(budget)
    low, high = interval([law.best_size(budget)[0] for law in found.laws])
    return Best(parameters, tokens, low, high, float(found.law.loss(parameters, tokens)))


# --- draw -------------------------------------------------------------------------------------------------------------
def draw(fit: Fitted, budget: float) -> Svg:
    """On the left loss over tokens, a colour for each size; on the right loss over the size at a budget."""
    best = best_size(fit.found, budget)
    rows = [
        [_runs(fit), _sizes(fit, budget, best)],
        Text("Filled: fitted; empty: held back; lines: the law. Right: the lowest point is the best size.", MUTED),
        *_lines(fit, best, budget),
    ]
    return stacked(rows, width=780, alt=describe(fit, budget))


def _runs(fit: Fitted) -> Panel:
    """The chart of the runs: the law's lines, the band of the largest size, and the marks."""
    found = fit.found
    all_tokens = [*found.small.tokens.tolist(), *found.others.tokens.tolist()]
    places = _between(min(all_tokens), max(all_tokens), 24)
    numbers = sorted({*found.small.parameters.tolist(), *found.others.parameters.tolist()})
    sizes = {f"N = {_short(n)}": n for n in numbers}

    def marks(points: Points) -> dict[str, tuple[list, list]]:
        of = {name: points.where(points.parameters == size) for name, size in sizes.items()}
        return {name: (here.tokens.tolist(), here.losses.tolist()) for name, here in of.items()}

    return line_chart(
        {name: (places, [float(found.law.loss(size, tokens)) for tokens in places]) for name, size in sizes.items()},
        size=(478, 330),
        title="Loss over tokens",
        xlabel="tokens D",
        ylabel="",
        xlim=(places[0] / PAD, places[-1] * PAD),
        xticks=sorted({round(value, -3) for value in all_tokens}),
        levels={f"smallest possible loss {fit.floor:.3f}": fit.floor},
        bands={list(sizes)[-1]: _band(found, numbers[-1], places)},
        marks=marks(found.small),
        hollow=marks(found.others),
        **LOSSES,
    )


def _band(found: Extrapolation, size: float, places: Sequence[float]) -> list[list[float]]:
    """The middle 90 % of the bootstrap's laws for one size: low and high."""
    drawn = torch.stack([law.loss(size, torch.tensor(places, dtype=torch.float64)) for law in found.laws])
    return drawn.quantile(torch.tensor([0.05, 0.95], dtype=torch.float64), dim=0).tolist()


def _sizes(fit: Fitted, budget: float, best: Best) -> Panel:
    """The chart of the sizes: what the law says of every N for the same operations, and its lowest point."""
    low, high = best.parameters / 30, best.parameters * 30
    places = _between(low, high, 30)
    return line_chart(
        {"law": (places, [float(fit.found.law.loss(n, budget / 6 / n)) for n in places])},
        size=(254, 330),
        title="Loss over N, at your budget",
        xlabel="size N",
        ylabel="",
        xticks=(low, best.parameters, high),
        levels={"": fit.floor},
        marks={"law": ([best.parameters], [best.loss])},
        at=(min(max(best.low, low), high), min(max(best.high, low), high)),
        **LOSSES,
    )


def _between(low: float, high: float, count: int) -> list[float]:
    return [low * (high / low) ** (place / (count - 1)) for place in range(count)]


def _short(value: float) -> str:
    """14,352 as 14k, with two digits or more."""
    for unit, name in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= unit:
            return f"{value / unit:,.{1 if value < 10 * unit else 0}f}{name}"
    return f"{value:.0f}"


# what both charts have
LOSSES: dict[str, Any] = dict(ylim=(0.45, 1.4), yticks=(0.5, 0.6, 0.8, 1, 1.2), logx=True, logy=True, xform=_short)


# --- describe ---------------------------------------------------------------------------------------------------------
def _lines(fit: Fitted, best: Best, budget: float) -> list[str]:
    """What the fit says, in five sentences."""
    found, law = fit.found, fit.found.law
    low, high = interval([one.exponent for one in found.laws])
    e_low, e_high = interval([one.E for one in found.laws])
    last = int(found.others.operations.argmax())
    error = float(found.errors.abs().mean())
    n = "N" if fit.embeddings else "N without the embedding"
    return [
        f"Fitted to {len(found.small.losses)} runs: E = {law.E:.3f} ({e_low:.3f} to {e_high:.3f}), "
        f"α = {law.alpha:.2f}, β = {law.beta:.2f}; the smallest possible loss is {fit.floor:.3f}.",
        f"{len(found.others.losses)} runs held back: the law misses them by {error:.3f} on average.",
        f"Largest run: {float(found.predicted[last]):.3f} predicted ({float(found.low[last]):.3f} to "
        f"{float(found.high[last]):.3f}), {float(found.others.losses[last]):.3f} measured.",
        f"The best {n} grows as C^{law.exponent:.2f} ({low:.2f} to {high:.2f}).",
        f"For {budget:.1e} operations the best {n} is {_short(best.parameters)} ({_short(best.low)} to "
        f"{_short(best.high)}), with {_short(best.tokens)} tokens: loss {best.loss:.3f}.",
    ]


def describe(fit: Fitted, budget: float) -> str:
    """The law beside the exact floor, how far it is from the runs held back, and the best size for the budget."""
    return " ".join(_lines(fit, best_size(fit.found, budget), budget))


# --- bind -------------------------------------------------------------------------------------------------------------
def scaling_law_explorer(table: Mapping[str, Any] | None = None) -> Explore:
    """Choose which runs are fitted and how they are read; a slider sets the budget. table: like the recorded."""
    table = recorded() if table is None else table
    fits = cache(lambda share, ended, embeddings: fitted(table, share, ended, embeddings))
    fits(1 / 16, True, True)  # a wrong table is named here

    return Explore(
        lambda share, ended, embeddings, budget: draw(fits(share, ended, embeddings), budget),
        name="scaling-law",
        share=choice("Fit runs", SHARES, 1 / 16),
        ended=choice("Schedule", SCHEDULES),
        embeddings=tick("N counts the embedding", on=True),
        budget=stops("Operations", BUDGETS, 10**13),
    )
