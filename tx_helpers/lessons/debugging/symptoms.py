"""The symptom explorer: what runs with a planted fault have recorded, and what the training doctor says.

    symptom_explorer(recorded_runs())

`runs` are records by name, as `tx_helpers.diagnose.doctor` reads them. The explorer shows them by letters, so that one
has to find out which is which; the healthy one comes first.
"""

import math
from collections.abc import Mapping, Sequence
from string import ascii_uppercase
from typing import Any

import ipywidgets as widgets

from tx_helpers.diagnose.doctor import Record, doctor, read_record
from tx_helpers.nn.arguments import check_types
from tx_helpers.show.charts import line_chart, side_by_side
from tx_helpers.show.explore import Explore
from tx_helpers.show.plots import Svg

ORDER = (0, 5, 3, 8, 1, 7, 2, 6, 4, 9)  # of ten runs, which stands at each letter: no order to be guessed
LIMITS = {"loss": (0.03, 100), "norm": (0.05, 1000), "ratio": (1e-5, 1)}  # of the three charts: the same for all runs
SHOWS = {"loss": ("spike", "repeats", "labels"), "norm": ("finite", "norm"), "ratio": ("rate", "warm-up", "parts")}


# --- compute ----------------------------------------------------------------------------------------------------------
def lettered(runs: Mapping[str, Any]) -> dict[str, str]:
    """Letter -> name of a run, the first run under A."""
    names = list(runs)
    places = [place for place in ORDER if place < len(names)] + list(range(len(ORDER), len(names)))
    return {letter: names[place] for letter, place in zip(ascii_uppercase, places, strict=False)}


def _points(values: Sequence[float], first: int = 0) -> tuple[list[int], list[float]]:
    """Steps and values, without what is not finite, and without zeros, which have no place on a logarithmic axis."""
    kept = {n: value for n, value in enumerate(values, first) if math.isfinite(value) and value > 0}
    return list(kept), list(kept.values())


# --- draw -------------------------------------------------------------------------------------------------------------
def draw(letter: str, run: Record, alt: str, wrong: Sequence[str] = ()) -> Svg:
    """Three charts: the losses, the gradient's norm, and update to weight: the middle part and the stillest one.

    The checks in `wrong` are named above the chart that shows them.
    """
    stillest = min(run.ratios.values(), key=sum)
    validation = ([*run.validation], [*run.validation.values()])
    charts = (
        ("loss", f"Run {letter}: loss (log scale)", {"training": _points(run.losses), "validation": validation}),
        ("norm", "Norm of the gradient", {"norm": _points(run.gradient_norms)}),
        ("ratio", "Update / weight", {"median part": _points(run.moved), "stillest": _points(stillest)}),
    )
    panels = [
        line_chart(
            lines,
            size=(246, 300),
            title=title + "".join(f" ✗ {check}" for check in SHOWS[kind] if check in wrong),
            xlabel="step",
            ylabel="",
            xlim=(0, len(run.losses)),
            ylim=LIMITS[kind],
            logy=True,
        )
        for kind, title, lines in charts
    ]
    return side_by_side(panels, alt=alt, gap=8)


# --- describe ---------------------------------------------------------------------------------------------------------
def describe(letter: str, run: Record, told: bool) -> str:
    """Where the curves begin and end, what is not finite, and, if it is to be told, what the doctor finds."""
    lost = sum(not math.isfinite(norm) for norm in run.gradient_norms)
    finite = [norm for norm in run.gradient_norms if math.isfinite(norm)]
    norms = f"norm at most {max(finite):.2g}" if finite else "no norm is finite"
    text = f"Run {letter}: loss {run.losses[0]:.2f} to {run.losses[-1]:.2f}, "
    text += f"validation {list(run.validation.values())[-1]:.2f}, {norms}, "
    text += f"{lost} of {len(run.losses)} norms not finite, weights change by {sum(run.moved):.0%} in all."
    if not told:
        return text
    report = doctor(vars(run))
    found = [f"{check}: {report[check].causes[0]}" for check in report.wrong]
    return f"{text} The doctor: {'; '.join(found) or 'no alarm'}. (Labels are guessed at {run.guess:.2f}.)"


# --- bind -------------------------------------------------------------------------------------------------------------
def symptom_explorer(runs: Mapping[str, Mapping[str, Any]]) -> Explore:
    """A dropdown of runs under letters, and a tick for what the doctor says."""
    check_types("symptom_explorer", Mapping, runs=runs)
    if len(runs) > len(ascii_uppercase):
        raise ValueError(f"symptom_explorer: {len(runs)} runs, expected at most {len(ascii_uppercase)}")
    records = {letter: read_record(runs[name]) for letter, name in lettered(runs).items()}
    for letter, run in records.items():
        if not (run.gradient_norms and run.ratios and run.validation and run.guess):
            name = lettered(runs)[letter]
            raise ValueError(f"symptom_explorer: {name!r} lacks norms, ratios, validation or guess: all are drawn")

    alarms = {letter: doctor(vars(run)).wrong for letter, run in records.items()}

    def picture(letter: str, doctor: bool) -> Svg:
        run = records[letter]
        return draw(letter, run, describe(letter, run, told=doctor), alarms[letter] if doctor else ())

    return Explore(
        picture,
        name="symptoms",
        told=True,
        letter=widgets.Dropdown(options=list(records), description="Run"),
        doctor=widgets.Checkbox(value=False, description="What the doctor says"),
    )
