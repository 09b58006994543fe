"""The recorded runs of the scaling laws as pictures: losses with the laws that fit them, and rates by width."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from tx_helpers.lessons.scaling_up.laws.law_runs import WAYS, recorded
from tx_helpers.lessons.scaling_up.laws.law_ways import (
    Extrapolation,
    extrapolate,
    hoffmann_way,
    kaplan_way,
    mean_losses,
    transfer,
)
from tx_helpers.nn.arguments import check_numbers
from tx_helpers.show.plots import COLOURS, Picture, new_figure, show

MARKS = "os^Dv*"
SHARE = 1 / 16  # of the largest run's operations: what the law is fitted to


def plot_law(table: Mapping[str, Any] | None = None, *, share: float = SHARE) -> Picture:
    """Loss over tokens, a colour for each size; a law of the runs with at most `share` of the largest one's operations.

    On the left each run has its own schedule (Hoffmann's way), on the right one schedule is read on the way and N is
    without embeddings (Kaplan's). Filled marks were fitted, empty ones held back; lines are the law, the grey area
    holds 90 % of the bootstrap for the largest model, and the dotted line is the smallest possible loss.
    """
    check_numbers("plot_law", above=0, less_than=1, share=share)
    table = recorded() if table is None else table
    floor = table["about"]["floor"]
    figure, axes = new_figure(9.0, 4.2, columns=2, sharey=True)
    told = []
    ways = {"a schedule for each run": hoffmann_way(table), "one schedule, read on the way": kaplan_way(table)}
    for axis, (name, points) in zip(axes, ways.items(), strict=True):
        found = extrapolate(points, share * float(points.operations.max()))
        _draw_law(axis, found)
        axis.axhline(floor, color="#555555", linewidth=1, linestyle=(0, (1, 2)))
        axis.set_xscale("log")
        seen = sorted({*points.tokens.tolist()})
        axis.set_xticks(seen, [f"{tokens / 1e6:.2g} M" for tokens in seen])
        axis.minorticks_off()
        axis.set(title=name, xlabel="tokens D")
        axis.grid(alpha=0.3)
        told.append(f"{name[0].upper()}{name[1:]}: {_in_words(found)}")
    axes[0].set_ylabel("held-out loss (nats a token)")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, fontsize=9, frameon=False, loc="outside lower center", ncols=3)
    alt = f"Loss over tokens for {len(table['runs'])} runs, smallest possible loss {floor:.3f}. {' '.join(told)}"
    return show(figure, alt)


def _draw_law(axis: Axes, found: Extrapolation) -> None:
    sizes = sorted({*found.small.parameters.tolist(), *found.others.parameters.tolist()})
    every = np.concatenate([found.small.tokens, found.others.tokens])
    tokens = np.geomspace(every.min(), every.max(), 60)
    drawn = np.array([law.loss(sizes[-1], tokens) for law in found.laws])
    axis.fill_between(tokens, *np.quantile(drawn, [0.05, 0.95], axis=0), color="#999999", alpha=0.35, linewidth=0)
    for size, colour, mark in zip(sizes, COLOURS, MARKS, strict=False):
        axis.plot(tokens, found.law.loss(size, tokens), color=colour, linewidth=1.2)
        for points, fill in ((found.small, colour), (found.others, "white")):
            here = points.where(points.parameters == size)
            label = f"N = {size:,.0f}" if fill == colour else None
            style = dict(linestyle="", marker=mark, color=colour, markerfacecolor=fill, markersize=6, label=label)
            axis.plot(here.tokens, here.losses, **style)


def _in_words(found: Extrapolation) -> str:
    last = int(found.others.operations.argmax())
    return (
        f"law of {len(found.small.losses)} small runs, E = {found.law.E:.2f}, best N grows as C^"
        f"{found.law.exponent:.2f}; for the largest run {found.predicted[last]:.3f} "
        f"({found.low[last]:.3f} to {found.high[last]:.3f}), measured {found.others.losses[last]:.3f}."
    )


def _power_of_two(rate: float) -> str:
    """2⁻⁵ in plain characters: TeX's fonts are not everywhere."""
    return "2" + str(round(math.log2(rate))).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def plot_rates(table: Mapping[str, Any] | None = None) -> Picture:
    """Loss over the learning rate, a line for each width: one rate for all parameters, and μP. A ring is the best."""
    table = recorded() if table is None else table
    rates, best, told = table["rates"], transfer(table), []
    figure, axes = new_figure(9.0, 3.8, columns=2, sharey=True)
    for axis, way in zip(axes, WAYS, strict=True):
        for number, width in enumerate(best[way]):
            losses, colour = mean_losses(rates, way, width).numpy(), COLOURS[number % len(COLOURS)]
            style = dict(color=colour, marker=MARKS[number % 6], markersize=5, label=f"width {width}")
            axis.plot(rates["rates"], losses, **style)
            rate, loss, _ = best[way][width]
            axis.plot([rate], [loss], "o", markersize=13, markerfacecolor="none", color=colour)
        axis.set_xscale("log", base=2)
        axis.set_xticks(rates["rates"], [_power_of_two(rate) for rate in rates["rates"]])
        axis.set(title=way, xlabel="learning rate")
        axis.grid(alpha=0.3)
        shown = ", ".join(f"{rate:.4f} at width {width}" for width, (rate, _, _) in best[way].items())
        widest = max(best[way])
        _, lowest, moved = best[way][widest]
        told.append(
            f"With {way}: best {shown}; at width {widest} the rate of width {min(best[way])} costs "
            f"{moved - lowest:.3f} more than the best."
        )
    axes[0].set_yscale("log")  # so that the lowest points stand apart; both panels share it
    axes[0].set_yticks([0.7, 1, 2, 5], ["0.7", "1", "2", "5"])
    axes[0].minorticks_off()
    axes[0].set_ylabel("held-out loss (nats a token)")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, fontsize=9, frameon=False, loc="outside lower center", ncols=len(labels))
    return show(figure, f"Loss over the learning rate by width, {rates['steps']} steps with Adam. {' '.join(told)}")
