"""Advertised against effective length: how well a model still finds a fact, the longer the text around it.

    effective_context_explorer()              # of what was recorded
    effective_context_explorer(table)         # of a table of the same shape, see `context.py`

A model with rotary positions accepts a text of any length, so any can be advertised. Effective is the longest tested
length up to which the mean accuracy stays at or above a share of that at the trained length.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from tx_helpers.lessons.cheaper_and_longer.context import WAYS, effective_length, recorded
from tx_helpers.nn.arguments import check_numbers, check_one_of, check_types
from tx_helpers.show.charts import line_chart, looks
from tx_helpers.show.controls import choice, slider, stops, tick
from tx_helpers.show.explore import Explore
from tx_helpers.show.plots import Svg
from tx_helpers.show.rows import Bar, Text, bars, listed, stacked
from tx_helpers.show.shapes import GREEN, ORANGE

TUNED = ", tuned"  # what the file adds to the name of a way
PAD = 1.2  # how far the axis goes on beyond the first and the last length, as a factor


# --- compute ----------------------------------------------------------------------------------------------------------
class Reach(NamedTuple):
    """One way to stretch: accuracy at each length, by seed and on average, and how far it reaches."""

    seeds: Sequence[Sequence[float]]
    mean: list[float]
    effective: int


def check(table: Mapping[str, Any]) -> None:
    """ValueError for a table that lacks a part of what `context` records."""
    check_types("effective-context", Mapping, table=table)
    missing = [key for key in ("trained", "lengths", "tasks", "curves") if key not in table]
    if not missing:
        names = [f"{way}{tuned}" for way in WAYS for tuned in ("", TUNED)]
        missing = [name for task in table["tasks"] for name in names if name not in table["curves"].get(task, ())]
    if missing:
        raise ValueError(f"effective-context: no {missing[0]!r} in the table, expected what `context` records")


def reaches(table: Mapping[str, Any], task: str, tuned: bool = False, share: float = 0.9) -> dict[str, Reach]:
    """Way -> its `Reach`."""
    check_one_of("effective-context", table["tasks"], task=task)
    check_numbers("effective-context", above=0, most=1, share=share)
    found = {}
    for way in WAYS:
        seeds = table["curves"][task][f"{way}{TUNED * tuned}"]
        mean = [sum(column) / len(seeds) for column in zip(*seeds, strict=True)]
        found[way] = Reach(seeds, mean, effective_length(table["lengths"], mean, share=share))
    return found


# --- draw -------------------------------------------------------------------------------------------------------------
def draw(table: Mapping[str, Any], task: str, advertised: int, tuned: bool = False, share: float = 0.9) -> Svg:
    """Accuracy over the length, a line and a band of all seeds for each way; below, how far each reaches.

    A frame is as long as the advertised length, its bar as the effective one, in doublings of the shortest.
    """
    found, lengths = reaches(table, task, tuned, share), table["lengths"]
    check_one_of("effective-context", map(str, lengths), advertised=str(advertised))
    seeds = {way: list(zip(*one.seeds, strict=True)) for way, one in found.items()}
    chart = line_chart(
        {way: (lengths, one.mean) for way, one in found.items()},
        size=(500, 250),
        title=f"Right answers: {task}",
        xlabel=f"tokens; trained on {table['trained']:,}",
        ylabel="",
        xlim=(lengths[0] / PAD, lengths[-1] * PAD),
        ylim=(0, 1),
        yticks=(0, 0.25, 0.5, 0.75, 1),
        logx=True,
        legend=False,
        bands={way: (list(map(min, columns)), list(map(max, columns))) for way, columns in seeds.items()},
        at=advertised,
        xform="{:,.0f}".format,
        percent=True,
    )
    place, look = lengths.index(advertised), looks(found)
    right = {way: (way, f"{one.mean[place]:.0%} right at {advertised:,}") for way, one in found.items()}
    reach = {
        way: Bar(
            doublings(one.effective, lengths),
            f"effective {one.effective:,}",
            look[way].colour,
            (GREEN if one.effective >= advertised else ORANGE).shade,
        )
        for way, one in found.items()
    }
    rows = [
        [chart, listed(right, look, title="", size=(220, 250))],
        Text("Effective length; a frame is as long as the advertised one", bold=True),
        bars(reach, names=124, length=360, room=180, full=doublings(advertised, lengths)),
    ]
    return stacked(rows, width=760, alt=describe(table, task, advertised, tuned, share))


def doublings(length: int, lengths: Sequence[int]) -> float:
    """How many times half the shortest length is doubled to get this one: 1 for the shortest itself."""
    return 1 + math.log2(length / lengths[0])


# --- describe ---------------------------------------------------------------------------------------------------------
def describe(table: Mapping[str, Any], task: str, advertised: int, tuned: bool = False, share: float = 0.9) -> str:
    """For each way the accuracy at the advertised length with its worst and best seed, and the effective length."""
    found, at = reaches(table, task, tuned, share), table["lengths"].index(advertised)
    told = []
    for way, one in found.items():
        seeds = [seed[at] for seed in one.seeds]
        right = f"{one.mean[at]:.0%} ({min(seeds):.0%} to {max(seeds):.0%})"
        told.append(f"{way} {right}, effective {one.effective:,}")
    return (
        f"Trained on {table['trained']:,} tokens{', then tuned on longer texts' if tuned else ''}; {task}, advertised "
        f"{advertised:,}: {'; '.join(told)}. Effective: at least {share:.0%} of the accuracy at {table['trained']:,}."
    )


# --- bind -------------------------------------------------------------------------------------------------------------
def effective_context_explorer(table: Mapping[str, Any] | None = None) -> Explore:
    """Choose a task and an advertised length; with or without some steps of training on longer texts."""
    table = recorded() if table is None else table
    check(table)
    lengths = [(f"{length:,}", length) for length in table["lengths"]]
    return Explore(
        lambda task, advertised, tuned, share: draw(table, task, advertised, tuned, share),
        name="effective-context",
        told=True,
        task=choice("Task", list(table["tasks"])),
        advertised=stops("Advertised", lengths, table["lengths"][-1]),
        tuned=tick("Tuned a little on longer texts"),
        share=slider("Effective from", 0.5, 1.0, step=0.05, start=0.9, form=".0%"),
    )
