"""Of which settings of an explorer's controls pictures are recorded: the stops of each control, and their grid.

All values of lists, checkboxes and sliders. Where these are too many, sliders keep fewer stops, evenly spaced, with
their start and their ends. Where even that is too many, each control is recorded alone and in pairs, with the others as
they were at first. Texts and numbers to be typed, and controls drawn in the browser, are recorded at their start and at
the values that the explorer states.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations, product
from math import prod
from typing import Any, NamedTuple

import ipywidgets as widgets

NUMBERS = (7, 13, 21, 45, 46, 99, 101, 421, 1000, 6437, 54321, 246583, 999999)  # where a number can be typed
LEAST = 5  # stops of a thinned slider; with fewer, controls are recorded in pairs


class Axis(NamedTuple):
    """A control's recorded values, their texts on the page, the place of its start among them; may it be thinned?"""

    key: str
    values: Sequence[Any]
    texts: Sequence[str]
    start: int
    sliding: bool


def axis_of(key: str, control: widgets.Widget, stated: Sequence[Any] | None = None) -> Axis:
    """The values at which a control is recorded: those stated by the explorer, else all that it offers."""
    start = control.value
    if hasattr(control, "options"):
        pairs = [option if isinstance(option, tuple) else (str(option), option) for option in control.options]
    elif hasattr(control, "min"):
        count = round((control.max - control.min) / control.step) + 1
        steps = [round(control.min + control.step * n, 9) for n in range(count)]
        pairs = [(format(value, control.readout_format), value) for value in steps if value <= control.max]
    else:
        pairs = [(str(value), value) for value in ([False, True] if isinstance(start, bool) else [start])]
    if stated is not None:
        written = {repr(value): text for text, value in pairs}
        form = getattr(control, "readout_format", "")
        spelt = (lambda value: format(value, form)) if form else str
        pairs = [(written.get(repr(value), spelt(value)), value) for value in stated]
    if start not in [value for _, value in pairs]:
        pairs = _with_start(pairs, start, control)
    values = [value for _, value in pairs]
    return Axis(key, values, [text for text, _ in pairs], values.index(start), hasattr(control, "min"))


def _with_start(pairs: list[tuple[str, Any]], start: Any, control: widgets.Widget) -> list[tuple[str, Any]]:
    """The start among the stops: in its place on a slider, else in front."""
    if not hasattr(control, "min"):
        return [(str(start), start), *pairs]
    return sorted([*pairs, (format(start, control.readout_format), start)], key=lambda pair: pair[1])


def thinned(axis: Axis, most: int) -> list[int]:
    """At most `most` of a slider's stops, evenly spaced, the ends and the start among them."""
    last = len(axis.values) - 1
    if last < most or not axis.sliding:
        return list(range(last + 1))
    kept = {round(last * n / (most - 1)) for n in range(most)}
    inner = kept - {0, last}
    if axis.start not in kept and inner:
        kept.remove(min(inner, key=lambda stop: abs(stop - axis.start)))
    return sorted(kept | {axis.start})


def grid(axes: Sequence[Axis], most: int) -> list[tuple[int, ...]]:
    """Settings as places on the axes, the start first; neighbours in the list are neighbours on the page."""
    longest = max((len(axis.values) for axis in axes), default=1)
    for stops in range(max(longest, LEAST), LEAST - 1, -1):
        kept = [thinned(axis, stops) for axis in axes]
        if prod(map(len, kept)) <= most:
            return _ordered(axes, product(*kept))
    return _ordered(axes, _in_pairs(axes, most))


def _in_pairs(axes: Sequence[Axis], most: int) -> Iterator[tuple[int, ...]]:
    """Each control alone at all its stops; and as many stops of each two controls as there is room for."""
    start = [axis.start for axis in axes]
    alone = sum(len(axis.values) for axis in axes)
    for place, axis in enumerate(axes):
        yield from (_replaced(start, {place: stop}) for stop in range(len(axis.values)))
    for stops in range(max(len(axis.values) for axis in axes), 2, -1):
        kept = [thinned(axis, stops) for axis in axes]
        if alone + sum(len(a) * len(b) for a, b in combinations(kept, 2)) > most:
            continue
        for one, other in combinations(range(len(axes)), 2):
            yield from (_replaced(start, {one: a, other: b}) for a, b in product(kept[one], kept[other]))
        return


def _replaced(start: list[int], changes: Mapping[int, int]) -> tuple[int, ...]:
    return tuple(changes.get(place, value) for place, value in enumerate(start))


def _ordered(axes: Sequence[Axis], settings: Iterable[tuple[int, ...]]) -> list[tuple[int, ...]]:
    start = tuple(axis.start for axis in axes)
    return [start, *sorted(set(settings) - {start})]
