"""Advertised against effective length: how well a model still finds a fact, the longer the text around it.

    effective_context_explorer()              # of what tools/measure_context.py recorded
    effective_context_explorer(table)         # of a table of the same shape, see `context.py`

A model with rotary positions accepts a text of any length, so any can be advertised. Effective is the longest tested
length up to which the mean accuracy stays at or above a share of that at the trained length.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from tx_helpers.lessons.cheaper_and_longer.context import WAYS, effective_length, recorded
from tx_helpers.nn.arguments import check_numbers, check_one_of, check_types
from tx_helpers.show.charts import DASHES, GRID
from tx_helpers.show.controls import choice, slider, stops, tick
from tx_helpers.show.explore import Explore
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import BLUE, EDGE, GREEN, INK, MUTED, ORANGE, PINK, bar, card, line, shape, words

LOOKS = dict(zip(WAYS, zip((ORANGE, BLUE, PINK, GREEN), DASHES, strict=True), strict=True))
TUNED = ", tuned"  # what the file adds to the name of a way
LEFT, WIDE, TOP, HIGH, ROW = 140, 400, 44, 170, 42  # pixels: the chart's left edge, width, top, height; a line below
BESIDE = LEFT + WIDE + 20


# --- compute ----------------------------------------------------------------------------------------------------------
class Reach(NamedTuple):
    """One way to stretch: accuracy at each length, by seed and on average, and how far it reaches."""

    seeds: Sequence[Sequence[float]]
    mean: list[float]
    effective: int


def check(table: Mapping[str, Any]) -> None:
    """ValueError for a table that lacks a part of what tools/measure_context.py records."""
    check_types("effective-context", Mapping, table=table)
    missing = [key for key in ("trained", "lengths", "tasks", "curves") if key not in table]
    if not missing:
        names = [f"{way}{tuned}" for way in WAYS for tuned in ("", TUNED)]
        missing = [name for task in table["tasks"] for name in names if name not in table["curves"].get(task, ())]
    if missing:
        raise ValueError(f"effective-context: no {missing[0]!r} in the table, expected what measure_context.py records")


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
    """Above accuracy over the length, a line and a band of all seeds for each way; below, how far each reaches.

    On both the same axis of lengths; the upright line is the advertised one.
    """
    found, lengths = reaches(table, task, tuned, share), table["lengths"]
    check_one_of("effective-context", map(str, lengths), advertised=str(advertised))

    def across(length: float) -> float:
        return LEFT + 20 + (WIDE - 40) * math.log(length / lengths[0]) / (math.log(lengths[-1] / lengths[0]) or 1)

    def down(accuracy: float) -> float:
        return TOP + HIGH * (1 - accuracy)

    bars = TOP + HIGH + 58
    bottom, mark = bars + ROW * len(WAYS), across(advertised)
    parts = [
        words(16, 26, f"Right answers: {task}", size=15, font_weight="bold"),
        line(mark, TOP, mark, bottom - 8, EDGE, stroke_width=12, stroke_opacity=0.5),
    ]
    for percent in (0, 25, 50, 75, 100):
        parts.append(line(LEFT, down(percent / 100), LEFT + WIDE, down(percent / 100), GRID))
        parts.append(words(LEFT - 8, down(percent / 100) + 4, f"{percent}%", anchor="end"))
    for length in lengths:
        bold = {"font_weight": "bold"} if length == advertised else {}
        parts.append(words(across(length), TOP + HIGH + 20, f"{length:,}", anchor="middle", **bold))
    parts.append(words(BESIDE, TOP + HIGH + 20, f"tokens; trained on {table['trained']:,}", fill=MUTED))
    for way, one in found.items():
        colour, dash = LOOKS[way]
        columns = list(zip(lengths, zip(*one.seeds, strict=True), strict=True))
        band = [(across(n), down(max(c))) for n, c in columns] + [(across(n), down(min(c))) for n, c in columns[::-1]]
        parts.append(shape("polygon", points=_points(band), fill=colour.full, fill_opacity=0.14))
        style = dict(fill="none", stroke=colour.shade, stroke_width=2.5, stroke_dasharray=dash)
        means = [(across(n), down(mean)) for n, mean in zip(lengths, one.mean, strict=True)]
        parts.append(shape("polyline", points=_points(means), **style))
    parts.append(words(16, bars - 14, "Effective length", font_weight="bold"))
    at = lengths.index(advertised)
    for row, (way, one) in enumerate(found.items()):
        y, (colour, dash) = bars + ROW * row, LOOKS[way]
        reached = one.effective >= advertised
        parts += [
            words(LEFT - 8, y + 15, way, anchor="end", font_weight="bold"),
            shape("rect", x=LEFT, y=y, width=mark - LEFT, height=20, fill="none", stroke=EDGE, stroke_dasharray="3 3"),
            bar(LEFT, y, across(one.effective) - LEFT, 20, colour.full),
            line(LEFT, y + 26, across(one.effective), y + 26, colour.shade, stroke_width=2.5, stroke_dasharray=dash),
            words(BESIDE, y + 8, f"effective {one.effective:,}", fill=(GREEN if reached else ORANGE).shade),
            words(BESIDE, y + 25, f"{one.mean[at]:.0%} right at {advertised:,}", fill=MUTED),
        ]
    parts.append(line(LEFT, TOP, LEFT, bottom - 8, INK))
    return card(760, bottom + 8, parts, describe(table, task, advertised, tuned, share))


def _points(places: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in places)


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
