"""The controls of explorers, a line each: a label, what can be chosen, and where it starts.

    choice("Schedule", ["GPipe", "1F1B"])                     a list, the first unless `start` names another
    choice("Tokens", {"1 billion": 1e9, "1 trillion": 1e12})  with a label for each value
    stops("Ranks", [1, 2, 4, 8], start=4)                     a slider over such options
    slider("Layer", 1, 12)                                    over whole numbers, or with a step over others
    tick("Divide by √d_k", on=True)                           yes or no
    typed("Number", 421)                                      a whole number or a text

`Explore` takes them, and its own shorthand where the label is the argument's name.
"""

from collections.abc import Iterable, Mapping
from numbers import Integral
from typing import Any

import ipywidgets as widgets

Options = Iterable[Any] | Mapping[str, Any]  # values, or label -> value
STYLE = {"description_width": "110px"}  # for controls whose labels have one width
LETTERS = 16  # of the longest label that such a width holds
ROOM = 300  # pixels of the narrowest control that has room for such a label


def choice(label: str, options: Options, start: Any = None, *, width: int = 0) -> widgets.Dropdown:
    """A list of options to open, values or label -> value; the first is chosen, or `start`."""
    return widgets.Dropdown(**_options(options, start), **_look(label, width))


def stops(label: str, options: Options, start: Any = None, *, width: int = 0) -> widgets.SelectionSlider:
    """A slider over options, values or label -> value; it begins at the first, or at `start`."""
    return widgets.SelectionSlider(**_options(options, start), **_look(label, width))


def powers(label: str, highest: int, start: int = 1, *, width: int = 0) -> widgets.SelectionSlider:
    """A slider over the powers of two from 1 to 2**highest."""
    return stops(label, {f"{2**n:,}": 2**n for n in range(highest + 1)}, start, width=width)


def slider(
    label: str,
    low: float,
    high: float,
    *,
    step: float = 1,
    start: float | None = None,
    form: str | None = None,
    width: int = 0,
) -> widgets.IntSlider | widgets.FloatSlider:
    """A slider from low to high, which begins at low, or at `start`; of whole numbers if all of them are.

    form: how its value is written, ".0%" for one
    """
    numbers = dict(value=low if start is None else start, min=low, max=high, step=step)
    whole = all(isinstance(number, Integral) for number in (low, high, step))
    kind = widgets.IntSlider if whole else widgets.FloatSlider
    return kind(**numbers, **({"readout_format": form} if form else {}), **_look(label, width))


def tick(label: str, on: bool = False, *, width: int = 0) -> widgets.Checkbox:
    """A box to tick."""
    return widgets.Checkbox(on, indent=False, **_look(label, width) | {"style": {}})


def typed(label: str, begin: str | int, *, at_once: bool = True, width: int = 0) -> widgets.Text | widgets.IntText:
    """A line to type in, a text or a whole number; a text counts at each letter, or else when it is entered."""
    if isinstance(begin, int):
        return widgets.IntText(begin, **_look(label, width))
    return widgets.Text(begin, continuous_update=at_once, **_look(label, width))


def filled_by(
    model: widgets.Dropdown, known: Mapping[str, Mapping[str, Any]], sizes: Mapping[str, widgets.Widget], own: str
) -> None:
    """A known model sets the controls of its sizes; a size that is changed makes it `own`, an option of `model`."""
    filling = []

    def chosen(change: Mapping[str, Any]) -> None:
        if change["new"] in known:
            filling.append(change)
            for key, control in sizes.items():
                control.value = known[change["new"]][key]
            filling.clear()

    def changed(_) -> None:
        if not filling:
            model.value = own

    model.observe(chosen, "value")
    for control in sizes.values():
        control.observe(changed, "value")


def _options(options: Options, start: Any) -> dict[str, Any]:
    listed = list(options.items() if isinstance(options, Mapping) else options)
    return {"options": listed} | ({} if start is None else {"value": start})


def _look(label: str, width: int) -> dict[str, Any]:
    """Labels have one width, so that controls stand in line, where a label and its control have room for it."""
    aligned = len(label) <= LETTERS and (not width or width >= ROOM)
    look = {"description": label} | ({"style": STYLE} if aligned else {})
    return look | ({"layout": {"width": f"{width}px"}} if width else {})
