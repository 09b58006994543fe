"""Learning-rate schedules side by side: the rate of every step, and where trainings with these schedules ended.

schedule_explorer(recorded("schedules"))
"""

from collections.abc import Sequence
from statistics import mean
from typing import Any

from tx_helpers.nn.arguments import check_numbers, check_one_of, check_types
from tx_helpers.show.charts import line_chart, side_by_side
from tx_helpers.show.controls import choice
from tx_helpers.show.explore import Explore
from tx_helpers.show.plots import Svg
from tx_helpers.training.optimizers import Schedule, constant, cosine, linear_warmup_decay, warmup_inverse_sqrt

KINDS = ("constant", "2017", "linear decay", "cosine", "warm-up, stable, decay")
PEAKS = (0.0025, 0.005, 0.01)
STEPS, WARMUP = 200, 50


# --- compute ----------------------------------------------------------------------------------------------------------
def factors(kind: str, *, warmup: int, steps: int) -> Schedule:
    """step -> share of the largest rate, 1 at the end of the warm-up; steps are counted from 0, as in `optimizers`.

    The last kind stays at the largest rate, and falls in a line over the last fifth (Hu et al. 2024, MiniCPM).
    Raises ValueError for a kind that is not in KINDS, and as the schedules themselves do.
    """
    check_one_of("factors", KINDS, kind=kind)
    check_numbers("factors", least=0, whole=True, warmup=warmup)
    check_numbers("factors", least=max(1, warmup + 1), whole=True, steps=steps)
    if kind == "2017":
        original = warmup_inverse_sqrt(1, warmup=max(1, warmup))
        return lambda step: original(step) / original(max(1, warmup) - 1)
    if kind == "linear decay":
        return linear_warmup_decay(steps, warmup=warmup)
    if kind == "cosine":
        return cosine(steps, warmup=warmup)
    rising, last = constant(warmup=warmup), max(1, steps // 5)
    return rising if kind == "constant" else lambda step: min(rising(step), (steps - step) / last)


def ends(runs: Sequence[dict[str, Any]], what: str = "held_out") -> dict[str, dict[float, float]]:
    """kind -> peak -> the mean over the seeds of a figure of `experiments.recorded("schedules")`."""
    found = {(run["kind"], run["peak"]): [] for run in runs}
    for run in runs:
        found[run["kind"], run["peak"]].append(run[what])
    return {kind: {peak: mean(found[kind, peak]) for peak in PEAKS} for kind in KINDS}


# --- draw -------------------------------------------------------------------------------------------------------------
def draw(runs: Sequence[dict[str, Any]], kind: str, peak: float) -> Svg:
    """All schedules over the steps, and the loss at the end of each over its largest rate; the chosen one is bold."""
    check_one_of("draw", KINDS, kind=kind)
    check_numbers("draw", above=0, peak=peak)
    others = [other for other in KINDS if other != kind]
    steps = range(1, STEPS + 1)
    rates = {other: [peak * factors(other, warmup=WARMUP, steps=STEPS)(step - 1) for step in steps] for other in KINDS}
    left = line_chart(
        {other: (steps, rates[other]) for other in KINDS},
        size=(400, 290),
        title=f"Learning rate, at most {peak:g}",
        xlabel="step",
        ylabel="rate",
        xlim=(0, STEPS),
        ylim=(0, 1.9 * peak),  # room for the legend above the curves
        faint=others,
    )
    right = line_chart(
        {other: (list(PEAKS), list(losses.values())) for other, losses in ends(runs).items()},
        size=(360, 290),
        title="Held-out loss after 200 steps",
        xlabel="largest rate",
        ylabel="nats a word (log scale)",
        xlim=(0.0022, 0.0115),
        logx=True,
        logy=True,
        faint=others,
        legend=False,
        dots=True,
    )
    return side_by_side([left, right], alt=describe(runs, kind, peak))


# --- describe ---------------------------------------------------------------------------------------------------------
def describe(runs: Sequence[dict[str, Any]], kind: str, peak: float) -> str:
    """The chosen schedule's last rate, its loss and exact match at the end, and the best of all at this rate."""
    last = peak * factors(kind, warmup=WARMUP, steps=STEPS)(STEPS - 1)
    losses, exact = ends(runs), ends(runs, "exact")
    best = min(KINDS, key=lambda other: losses[other][peak])
    return (
        f"{kind}, at most {peak:g}: the last step has the rate {last:.5f}; the held-out loss ends at "
        f"{losses[kind][peak]:.3f} with {exact[kind][peak]:.1%} exact matches. "
        f"The lowest loss at this rate: {best}, {losses[best][peak]:.3f}."
    )


# --- bind -------------------------------------------------------------------------------------------------------------
def schedule_explorer(runs: Sequence[dict[str, Any]]) -> Explore:
    """Kind of schedule and largest rate; runs are those of `experiments.recorded("schedules")`."""
    check_types("schedule_explorer", (list, tuple), runs=runs)
    if not runs or not all(isinstance(run, dict) and {"kind", "peak", "held_out", "exact"} <= set(run) for run in runs):
        raise ValueError("schedule_explorer: runs, expected those of experiments.recorded('schedules')")
    return Explore(
        lambda kind, peak: draw(runs, kind, peak),
        name="schedule",
        told=True,
        kind=choice("Schedule", KINDS),
        peak=choice("Largest rate", PEAKS, 0.005),
    )
