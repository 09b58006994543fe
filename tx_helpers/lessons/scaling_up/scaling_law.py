"""A scaling law and its extrapolation: fit it to the small runs, and see how far it is from the large ones.

    scaling_law_explorer()              # of what tools/run_scaling.py recorded
    scaling_law_explorer(table)         # of a table of the same shape, see `law_runs.py`

L(N, D) = E + A / N^α + B / D^β, fitted by `laws`. The bands hold 90 % of the laws of a bootstrap.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import torch

from tx_helpers.lessons.scaling_up.law_runs import recorded
from tx_helpers.lessons.scaling_up.law_ways import Extrapolation, extrapolate, law_points
from tx_helpers.lessons.scaling_up.laws import interval
from tx_helpers.nn.arguments import check_numbers, check_types
from tx_helpers.show.charts import GRID
from tx_helpers.show.controls import choice, stops, tick
from tx_helpers.show.explore import Explore
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import BLUE, GOLD, GREEN, GREY, INK, MUTED, ORANGE, PAPER, PINK, card, line, shape, words

SHARES = {f"up to 1/{part} of the largest": 1 / part for part in (32, 16, 8, 4, 2)}  # by operations
SCHEDULES = {"one for each run": True, "one long, on the way": False}
BUDGETS = {f"10^{exponent:g}": 10**exponent for exponent in (10, 10.5, 11, 11.5, 12, 12.5, 13, 13.5, 14, 15, 16)}
COLOURS = (BLUE, ORANGE, GREEN, PINK, GOLD, GREY)  # of the sizes; each also has dashes of its own
DASHES = ("none", "8 3", "3 3", "12 3 3 3", "1 3", "6 6")
LOW, HIGH = 0.45, 1.4  # the losses on both charts
LEFT, WIDE, TOP, TALL = 56, 400, 62, 250  # pixels: the chart of the runs
SIZES, NARROW = LEFT + WIDE + 86, 190  # pixels: the chart of the sizes
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
            raise ValueError(f"scaling-law: the table has no {part!r}, expected what run_scaling.py records")
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
    bottom = TOP + TALL
    parts = [
        words(16, 26, "Loss over tokens", size=15, font_weight="bold"),
        words(16, 44, "filled: fitted; empty: held back; lines: the law", fill=MUTED),
        words(SIZES - 40, 26, "Loss over N, at your budget", size=15, font_weight="bold"),
        words(SIZES - 40, 44, "the lowest point is the best size", fill=MUTED),
    ]
    for left, width in ((LEFT, WIDE), (SIZES, NARROW)):
        for loss in (0.5, 0.6, 0.8, 1.0, 1.2):
            parts.append(line(left, _down(loss), left + width, _down(loss), GRID))
            parts.append(words(left - 6, _down(loss) + 4, f"{loss:g}", size=13, anchor="end"))
        parts.append(line(left, _down(fit.floor), left + width, _down(fit.floor), INK, stroke_dasharray="2 4"))
    parts.append(words(LEFT + 4, _down(fit.floor) + 14, f"smallest possible loss {fit.floor:.3f}", size=13, fill=MUTED))
    parts += _runs(fit.found)
    parts += _sizes(fit.found, budget)
    best, told = best_size(fit.found, budget), 0
    for text in _lines(fit, best, budget):
        parts.append(words(16, bottom + 62 + 20 * told, text))
        told += 1
    return card(760, bottom + 62 + 20 * told, parts, describe(fit, budget))


def _runs(found: Extrapolation) -> list[str]:
    """The chart of the runs: the law's lines, the band of the largest size, and the marks."""
    all_tokens = [*found.small.tokens.tolist(), *found.others.tokens.tolist()]
    across = _axis(min(all_tokens), max(all_tokens), LEFT + 14, WIDE - 28)
    places = _between(min(all_tokens), max(all_tokens), 24)
    sizes = sorted({*found.small.parameters.tolist(), *found.others.parameters.tolist()})
    parts = [_band(found, sizes[-1], places, across)]
    for tokens in sorted({round(value, -3) for value in all_tokens}):
        parts.append(words(across(tokens), TOP + TALL + 18, _short(tokens), size=13, anchor="middle"))
    parts.append(words(LEFT + WIDE / 2, TOP + TALL + 36, "tokens D", size=13, anchor="middle", fill=MUTED))
    for size, colour, dashes in zip(sizes, COLOURS, DASHES, strict=False):
        spots = [(across(tokens), _down(found.law.loss(size, tokens))) for tokens in places]
        parts.append(
            shape(
                "polyline",
                points=_points(spots),
                fill="none",
                stroke_dasharray=dashes,
                stroke=colour.shade,
                stroke_width=1.8,
            )
        )
        for points, fill in ((found.small, colour.shade), (found.others, PAPER)):
            here = points.where(points.parameters == size)
            for tokens, loss in zip(here.tokens.tolist(), here.losses.tolist(), strict=True):
                place = dict(cx=round(across(tokens), 1), cy=round(_down(loss), 1))
                parts.append(shape("circle", **place, r=4.5, fill=fill, stroke=colour.shade, stroke_width=2))
    for row, (size, colour, dashes) in enumerate(zip(sizes, COLOURS, DASHES, strict=False)):
        y = TOP + 10 + 17 * row
        parts.append(
            line(
                LEFT + WIDE - 96, y - 4, LEFT + WIDE - 76, y - 4, colour.shade, stroke_width=3, stroke_dasharray=dashes
            )
        )
        parts.append(words(LEFT + WIDE - 70, y, f"N = {_short(size)}", size=13))
    return parts


def _band(found: Extrapolation, size: float, places: Sequence[float], across: Callable[[float], float]) -> str:
    """The middle 90 % of the bootstrap's laws for one size."""
    drawn = torch.stack([law.loss(size, torch.tensor(places, dtype=torch.float64)) for law in found.laws])
    low, high = drawn.quantile(torch.tensor([0.05, 0.95], dtype=torch.float64), dim=0).tolist()
    edge = [(across(x), _down(y)) for x, y in zip(places + places[::-1], high + low[::-1], strict=True)]
    return shape("polygon", points=_points(edge), fill=GREY.tint)


def _sizes(found: Extrapolation, budget: float) -> list[str]:
    """The chart of the sizes: what the law says of every N for the same operations, and its lowest point."""
    best = best_size(found, budget)
    low, high = best.parameters / 30, best.parameters * 30
    across = _axis(low, high, SIZES, NARROW)
    places = _between(low, high, 30)
    spots = [(across(n), _down(found.law.loss(n, budget / 6 / n))) for n in places]
    left, right = (across(min(max(n, low), high)) for n in (best.low, best.high))
    place = dict(x=round(left, 1), y=TOP, width=round(max(right - left, 1), 1), height=TALL)
    parts = [shape("rect", **place, fill=GREY.tint)]
    parts.append(shape("polyline", points=_points(spots), fill="none", stroke=BLUE.shade, stroke_width=2.2))
    at = across(best.parameters), _down(best.loss)
    parts.append(shape("circle", cx=round(at[0], 1), cy=round(at[1], 1), r=5, fill=BLUE.shade))
    parts.append(words(SIZES + NARROW / 2, TOP + TALL + 36, "size N", size=13, anchor="middle", fill=MUTED))
    for n in (low, best.parameters, high):
        parts.append(words(across(n), TOP + TALL + 18, _short(n), size=13, anchor="middle"))
    return parts


def _axis(low: float, high: float, left: float, width: float) -> Callable[[float], float]:
    """A logarithmic axis from left to right."""
    return lambda value: left + width * math.log(value / low) / math.log(high / low)


def _between(low: float, high: float, count: int) -> list[float]:
    return [low * (high / low) ** (place / (count - 1)) for place in range(count)]


def _down(loss: float) -> float:
    """A logarithmic axis of losses; what lies beyond it is drawn at its end."""
    share = math.log(min(max(float(loss), LOW), HIGH) / LOW) / math.log(HIGH / LOW)
    return round(TOP + TALL * (1 - share), 1)


def _points(places: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in places)


def _short(value: float) -> str:
    """14,352 as 14k, with two digits or more."""
    for unit, name in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= unit:
            return f"{value / unit:,.{1 if value < 10 * unit else 0}f}{name}"
    return f"{value:.0f}"


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
