"""The symptom explorer: what runs with a planted fault have recorded, and what the training doctor says.

    symptom_explorer(recorded_runs())

`runs` are records by name, as `tx_helpers.diagnose.doctor` reads them. The explorer shows them by letters, asks what is
wrong with each, and keeps the score; the healthy one comes first.
"""

import math
from collections.abc import Mapping, Sequence
from string import ascii_uppercase
from typing import Any

from tx_helpers.diagnose.doctor import Record, doctor, read_record
from tx_helpers.nn.arguments import check_types
from tx_helpers.show.charts import line_chart, side_by_side
from tx_helpers.show.controls import choice, tick
from tx_helpers.show.explore import Explore
from tx_helpers.show.plots import Svg

ORDER = (0, 5, 3, 8, 1, 7, 2, 6, 4, 9)  # of ten runs, which stands at each letter: no order to be guessed
LIMITS = {"loss": (0.03, 100), "norm": (0.05, 1000), "ratio": (1e-5, 1)}  # of the three charts: the same for all runs
SHOWS = {"loss": ("spike", "repeats", "labels"), "norm": ("finite", "norm"), "ratio": ("rate", "warm-up", "parts")}


# What the charts show where this is the fault; a wrong answer is answered by the sign that it lacks.
SIGNS = {
    "the recipe": "the validation loss follows the training loss down to 0.8, and no chart leaps",
    "rate too high": "update / weight rises above 15 % and falls back with the rate, and the loss falls late",
    "rate too low": "update / weight stays below 0.02 %, with finite norms, and the loss hardly falls",
    "no warm-up": "the very first update is the longest, over 20 %, and the loss stops at 2.8",
    "exploding norm": "the norm grows by powers of ten, and then the loss is no number any more",
    "data repeated": "the training loss falls towards 0, and the validation loss stays behind",
    "labels shuffled": "the loss stops at 2.8, where guessing by frequencies stands, though all updates are calm",
    "half precision": "no norm is finite from the first step on, and nothing moves",
    "frozen part": "the stillest part does not move at all while the others do: it has no line",
    "one bad batch": "the loss leaps up in a single step and is back in the next",
}


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


def verdict(name: str, answers: Mapping[str, str], letter: str, runs: Mapping[str, str]) -> str:
    """What is said to the answer `name` for the run at `letter`, and how many of the first answers are right."""
    if not name:
        return ""
    words = "healthy" if name == "the recipe" else name
    said = f"Right: {words}." if name == runs[letter] else f"No. With “{words}”, {SIGNS[name]}."
    score = sum(runs[run] == answer for run, answer in answers.items())
    return f"{said} Score: {score} of {len(answers)} first answers." if len(answers) > 1 else said


# --- bind -------------------------------------------------------------------------------------------------------------
def symptom_explorer(runs: Mapping[str, Mapping[str, Any]]) -> Explore:
    """Dropdowns of runs under letters and of what is wrong, and a tick for what the doctor says.

    `runs`, of names in SIGNS, are asked for: the first answer to each counts for the score.
    """
    check_types("symptom_explorer", Mapping, runs=runs)
    if unknown := [name for name in runs if name not in SIGNS]:
        raise ValueError(f"symptom_explorer: a run {unknown[0]!r}, expected some of {', '.join(SIGNS)}")
    names = lettered(runs)
    records = {letter: read_record(runs[name]) for letter, name in names.items()}
    for letter, run in records.items():
        if not (run.gradient_norms and run.ratios and run.validation and run.guess):
            name = names[letter]
            raise ValueError(f"symptom_explorer: {name!r} lacks norms, ratios, validation or guess: all are drawn")
    alarms = {letter: doctor(vars(run)).wrong for letter, run in records.items()}
    answers: dict[str, str] = {}  # letter -> the first answer

    def picture(letter: str, fault: str, doctor: bool) -> Svg:
        if fault:
            answers.setdefault(letter, fault)
        said = (verdict(fault, answers, letter, names), describe(letter, records[letter], told=doctor))
        return draw(letter, records[letter], "\n".join(filter(None, said)), alarms[letter] if doctor else ())

    run = choice("Run", list(records))
    faults = sorted(set(SIGNS) - {"the recipe"})
    choices = {"choose": "", "nothing: it is healthy": "the recipe"} | {name: name for name in faults}
    fault = choice("Its fault", choices)
    run.observe(lambda change: fault.set_trait("value", answers.get(change["new"], "")), "value")
    explore = Explore(
        picture,
        name="symptoms",
        told=True,
        letter=run,
        fault=fault,
        doctor=tick("What the doctor says"),
    )
    explore.forget = answers.clear
    return explore
