"""The ladder from 2017 to today: tick changes, and see what the model loses and costs.

    ladder_explorer()              # of what was recorded
    ladder_explorer(table)         # of a table of the same shape, see `ladder.py` or with {"pairs": {name: losses}}

Losses are measured, never computed: a combination that was not trained has none, and the nearest that were trained are
named. How near: the number of ticks that differ. Parameters, FLOPs and cache bytes follow from the recipe.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

import ipywidgets as widgets
import torch

from tx_helpers.lessons.what_changed.costs import cache_bytes_per_token, flops_per_token
from tx_helpers.lessons.what_changed.ladder import BUDGETS, FIRST, Recipe, climb, ladder_text, recorded_ladder
from tx_helpers.lessons.what_changed.pairs import recorded as recorded_pairs
from tx_helpers.lessons.what_changed.rungs import RUNGS
from tx_helpers.nn.arguments import check_one_of, check_types
from tx_helpers.nn.models import DecoderOnly
from tx_helpers.show.charts import GRID
from tx_helpers.show.controls import choice, tick
from tx_helpers.show.explore import Explore
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import BLUE, GREY, INK, MUTED, ORANGE, bar, card, line, shape, words

NAMES = [rung.name for rung in RUNGS]
EQUAL = dict(zip(("equal steps", "equal FLOPs", "equal seconds"), BUDGETS, strict=True))
COSTS = {"parameters": "parameters", "flops_per_token": "FLOPs a token", "cache_bytes_per_token": "cache bytes a token"}
SHORT = {  # what each box changes, in a few words
    "pre-norm": "the norm stands in the branch",
    "RMSNorm": "a norm without mean and bias",
    "rotary": "positions turn queries and keys",
    "no biases": "matrices alone",
    "SwiGLU": "a gated feed-forward network",
    "QK-norm": "queries and keys get one length",
    "grouped queries": "two heads share keys and values",
    "own output": "output and embedding differ",
    "small start": "first weights of size 0.02",
    "zero outputs": "each block begins as the identity",
    "ReLU²": "a squared ReLU, in place of a gate",
    "decay to zero": "the rate falls in a line to 0",
    "Muon": "all directions of a step alike",
    "weight decay": "weights shrink at each step",
    "token shift": "adds the two tokens before",
    "soft cap": "logits stay below 30",
    "value embeddings": "adds a token's vector to its value",
    "bfloat16": "products with half the bits",
}
LEFT, WIDE, TOP, ROW = 150, 340, 76, 21  # pixels: where the chart begins, its width, its first line, the height of one
BESIDE, THERE = 520, 220  # where the costs begin, and the longest of their bars


# --- compute ----------------------------------------------------------------------------------------------------------
class Trained(NamedTuple):
    """A combination that was trained: its changes, what was measured, and whether it is a rung of the ladder."""

    changes: frozenset[str]
    measured: Mapping[str, Any]
    rung: bool

    @property
    def name(self) -> str:
        """What to call it in a sentence."""
        return named(self.changes)

    def mean(self, equal: str) -> float:
        """The mean loss over the seeds."""
        return sum(self.measured[equal]) / len(self.measured[equal])


def trained(table: Mapping[str, Any]) -> list[Trained]:
    """All combinations of the table, each once, the rungs first. ValueError for another table."""
    check_types("ladder", Mapping, table=table)
    for part in ("rungs", "alone", "without"):
        if part not in table:
            raise ValueError(f"ladder: the table has no {part!r}, expected what `ladder_runs` records")
    found: dict[frozenset[str], Trained] = {}
    for number, one in enumerate(table["rungs"]):
        expected = [FIRST, *NAMES][number] if number <= len(NAMES) else None
        if one["name"] != expected:
            raise ValueError(f"ladder: rung {number} of the table is {one['name']!r}, expected {expected!r}")
        found[frozenset(NAMES[:number])] = Trained(frozenset(NAMES[:number]), one, True)
    for part, changes in (("alone", lambda name: {name}), ("without", lambda name: {*NAMES} - {name})):
        for one in table[part]:
            if one["name"] in NAMES:  # the others are no rungs
                found.setdefault(key := frozenset(changes(one["name"])), Trained(key, one, False))
    for name, losses in table.get("pairs", {}).items():
        if (key := frozenset(name.split(" + "))) <= {*NAMES}:
            found.setdefault(key, Trained(key, {"name": name, "steps": losses}, False))
    return list(found.values())


@lru_cache(maxsize=256)
def recipe_of(changes: frozenset[str]) -> Recipe:
    """The recipe of 2017 with these changes, in the order of the ladder."""
    return climb(rung for rung in RUNGS if rung.name in changes)


def the_same(all_trained: Sequence[Trained], changes: frozenset[str]) -> Trained | None:
    """What was trained by the same recipe; SwiGLU, for one, makes no difference where ReLU² replaces it."""
    recipe = recipe_of(changes)
    same = (one for one in all_trained if one.changes == changes)
    return next(same, None) or next((one for one in all_trained if recipe_of(one.changes) == recipe), None)


def _measured(all_trained: Sequence[Trained], equal: str) -> list[Trained]:
    """Those with a loss in this budget: pairs have one after equally many steps alone."""
    return [one for one in all_trained if equal in one.measured]


def nearest(all_trained: Sequence[Trained], changes: frozenset[str], most: int = 3) -> list[Trained]:
    """The trained combinations with the fewest other ticks."""
    return sorted(all_trained, key=lambda one: len(one.changes ^ changes))[:most]


def bought_alone(all_trained: Sequence[Trained], equal: str = "steps") -> dict[str, float]:
    """By how much each change alone lowers the loss of 2017; a negative number: it raises it."""
    first = next(one for one in all_trained if not one.changes).mean(equal)
    return {
        one.name.removeprefix("2017 with "): first - one.mean(equal) for one in all_trained if len(one.changes) == 1
    }


@lru_cache(maxsize=256)
def costs(changes: frozenset[str]) -> dict[str, float]:
    """Parameters, FLOPs of training and cache bytes, by formula: they need no training."""
    recipe, V = recipe_of(changes), len(ladder_text().tokenizer)
    with torch.device("meta"):
        model = DecoderOnly(replace(recipe.config, vocab_size=V))
    counted = sum(parameter.numel() for parameter in model.parameters())
    return dict(zip(COSTS, (counted, flops_per_token(recipe, V), cache_bytes_per_token(recipe.config)), strict=True))


def named(changes: Collection[str]) -> str:
    """A combination in words, as short as can be."""
    ticked = [name for name in NAMES if name in changes]
    missing = [name for name in NAMES if name not in changes]
    if not ticked or not missing:
        return "today's model" if ticked else "the model of 2017"
    if len(missing) <= 2:
        return f"today's without {' and '.join(missing)}"
    if len(ticked) > 2 and ticked == NAMES[: len(ticked)]:
        return f"2017 up to {ticked[-1]}"
    return f"2017 with {', '.join(ticked[:-1])}{' and ' * (len(ticked) > 1)}{ticked[-1]}"


# --- draw -------------------------------------------------------------------------------------------------------------
def draw(all_trained: Sequence[Trained], changes: frozenset[str], equal: str = "steps") -> Svg:
    """A line for each rung with the loss of each seed; your choice in orange, above; on the right what it costs."""
    check_one_of("draw", BUDGETS, equal=equal)
    all_trained = _measured(all_trained, equal)
    found, rungs = the_same(all_trained, changes), [one for one in all_trained if one.rung]
    losses = [loss for one in all_trained for loss in one.measured[equal]]
    low, high = min(losses), max(losses)

    def across(loss: float) -> float:
        return LEFT + 10 + (WIDE - 20) * (loss - low) / ((high - low) or 1)

    title = next(name for name, key in EQUAL.items() if key == equal)
    bottom = TOP + ROW * (len(rungs) + 1) + 6
    parts = [
        words(16, 26, f"Validation loss after {title}", size=15, font_weight="bold"),
        words(16, 44, "A line has all changes down to it; a dot is a seed, a stroke the mean.", fill=MUTED),
    ]
    for share in (0, 0.5, 1):
        x = across(low + share * (high - low))
        parts.append(line(x, TOP - 12, x, bottom, GRID))
        parts.append(words(x, bottom + 16, f"{low + share * (high - low):.2f}", size=12.5, anchor="middle"))
    if found:
        parts += _line(TOP, "your choice", across, found.measured[equal], ORANGE.full, bold=True)
        x = across(found.mean(equal))
        parts.append(line(x, TOP + 8, x, bottom, ORANGE.full, stroke_dasharray="4 4"))
    else:
        near = nearest(all_trained, changes, 1)[0]
        parts += _line(TOP, "the nearest", across, near.measured[equal], GREY.full, bold=True)
    for number, one in enumerate(rungs):
        y, name = TOP + ROW * (number + 1) + 6, one.measured["name"]
        if one is found:
            frame = dict(x=10, y=y - 11, width=LEFT + WIDE - 10, height=ROW, rx=4, fill="none")
            parts.append(shape("rect", stroke=ORANGE.full, stroke_width=2, **frame))
        label = f"{'✓ ' * (name in changes)}{name}"
        parts += _line(y, label, across, one.measured[equal], BLUE.full, bold=name in changes)
    parts += _beside(all_trained, changes, equal, found)
    return card(760, bottom + 30, parts, describe(all_trained, changes, equal))


def _line(
    y: float, name: str, across: Callable[[float], float], losses: Sequence[float] | None, colour: str, bold: bool
) -> list[str]:
    """A name, a dot for each seed, and a stroke at their mean."""
    weight = {"font_weight": "bold"} if bold else {}
    parts = [words(LEFT - 8, y + 4, name, anchor="end", **weight)]
    if losses:
        parts.append(line(across(min(losses)), y, across(max(losses)), y, colour, stroke_width=1.5))
        mean = across(sum(losses) / len(losses))
        parts.append(line(mean, y - 7, mean, y + 7, INK, stroke_width=2))  # below the dots: dark on blue is hard to see
        parts += [shape("circle", cx=across(loss), cy=y, r=3, fill=colour) for loss in losses]
    return parts


def _beside(all_trained: Sequence[Trained], changes: frozenset[str], equal: str, found: Trained | None) -> list[str]:
    """What the choice costs beside 2017; and the nearest measured combinations, if it was not measured."""
    parts, first, here = [], costs(frozenset()), costs(changes)
    told = f"loss {_spread(found.measured[equal])}" if found else "no loss: not measured"
    parts.append(words(BESIDE, TOP + 4, told, fill=ORANGE.shade, font_weight="bold"))
    for row, (key, name) in enumerate(COSTS.items()):
        y, ratio = TOP + 38 + 62 * row, here[key] / first[key]
        parts.append(words(BESIDE, y, f"{here[key]:,.0f} {name}", font_weight="bold"))
        parts.append(bar(BESIDE, y + 8, THERE / 2 * min(ratio, 2), 12, BLUE.full))
        parts.append(line(BESIDE + THERE / 2, y + 20, BESIDE + THERE / 2, y + 26, INK, stroke_width=2))
        parts.append(words(BESIDE, y + 40, f"{ratio:.2f} times that of 2017", fill=MUTED))
    y = TOP + 38 + 62 * len(COSTS)
    if found and "seconds_per_step" in found.measured:
        seconds = f"{1000 * found.measured['seconds_per_step']:.0f} ms a step"
        return [*parts, words(BESIDE, y, seconds, font_weight="bold")]
    if found:
        return parts
    parts.append(words(BESIDE, y, "Nearest measured:", font_weight="bold"))
    for row, one in enumerate(nearest(all_trained, changes)):
        told = one.name if len(one.name) <= 34 else f"{one.name[:33]}…"
        parts.append(words(BESIDE, y + 24 + 40 * row, told))
        parts.append(words(BESIDE, y + 41 + 40 * row, _spread(one.measured[equal]), fill=MUTED))
    return parts


def _spread(losses: Sequence[float]) -> str:
    return f"{sum(losses) / len(losses):.3f} ({min(losses):.3f} to {max(losses):.3f})"


# --- describe ---------------------------------------------------------------------------------------------------------
def describe(all_trained: Sequence[Trained], changes: frozenset[str], equal: str = "steps") -> str:
    """The loss with its spread beside those of 2017 and today, or that there is none and the nearest; and the costs."""
    all_trained = _measured(all_trained, equal)
    found, here = the_same(all_trained, changes), costs(changes)
    title = next(name for name, key in EQUAL.items() if key == equal)
    counted = ", ".join(f"{here[key]:,.0f} {name}" for key, name in COSTS.items())
    start = f"{named(changes)[0].upper()}{named(changes)[1:]}"
    if found is None:
        near = "; ".join(f"{one.name} {_spread(one.measured[equal])}" for one in nearest(all_trained, changes))
        return f"{start}: this combination was not measured. Nearest, after {title}: {near}. It has {counted}."
    losses, first = found.measured[equal], next(one for one in all_trained if not one.changes)
    gap = found.mean(equal) - first.mean(equal)
    start += "" if found.changes == changes else f" (the same as {found.name})"
    against = f", {abs(gap):.3f} {'below' if gap < 0 else 'above'} 2017" if found.changes else ""
    return f"{start}, after {title}: loss {_spread(losses)} over {len(losses)} seeds{against}. It has {counted}."


# --- bind -------------------------------------------------------------------------------------------------------------
def ladder_explorer(table: Mapping[str, Any] | None = None) -> Explore:
    """Tick any of the changes; two buttons tick none or all. The recorded table, or one like it."""
    table = recorded_ladder() | {"pairs": recorded_pairs()["losses"]} if table is None else table
    all_trained = trained(table)
    bought = bought_alone(all_trained)
    ticks = {name: _box(name, bought.get(name)) for name in NAMES}

    def picture(equal: str, **ticked: bool) -> Svg:
        return draw(all_trained, frozenset(name for name in NAMES if ticked[name]), equal)

    return Explore(
        picture,
        name="ladder",
        recorded=lambda: for_pages(all_trained),
        equal=choice("Compare after", EQUAL),
        none=_setter("2017: tick none", ticks, False),
        all=_setter("Today: tick all", ticks, True),
        **ticks,
    )


def _box(name: str, bought: float | None) -> widgets.Checkbox:
    """A box with its name, what it changes, and by how much it lowers the loss of 2017 alone."""
    said = "" if bought is None else f" ({-bought:+.2f})".replace("-", "−")
    told = f"{name}: {SHORT[name]}{said}"
    return tick(told, width=365)


def _setter(description: str, ticks: Mapping[str, widgets.Checkbox], value: bool) -> widgets.Button:
    """A button that ticks every change, or none."""
    button = widgets.Button(description=description, layout={"width": "160px"})
    button.sets = dict.fromkeys(ticks, value)  # a page without a kernel sets them itself

    def pressed(_) -> None:
        for box in ticks.values():
            box.value = value

    button.on_click(pressed)
    return button


def for_pages(all_trained: Sequence[Trained]) -> list[dict[str, Any]]:
    """The settings for pages without a kernel: what was trained, and all that is one tick away from a rung."""
    near = [one.changes for one in all_trained]
    near += [one.changes ^ {name} for one in all_trained if one.rung for name in NAMES]
    return [
        {"equal": equal, **{name: name in changes for name in NAMES}}
        for changes in dict.fromkeys(near)
        for equal in BUDGETS
    ]
