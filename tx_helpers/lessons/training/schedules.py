"""Learning-rate schedules: the rate of every step, for any warm-up and peak."""

from typing import NamedTuple

import ipywidgets as widgets

from tx_helpers.nn.arguments import check_numbers, check_one_of
from tx_helpers.show.charts import line_chart, side_by_side
from tx_helpers.show.explore import Explore
from tx_helpers.show.plots import Svg
from tx_helpers.training.optimizers import Schedule, constant, cosine, linear_warmup_decay, warmup_inverse_sqrt

KINDS = ("2017", "linear decay", "cosine", "constant")
PEAKS = (0.001, 0.002, 0.005, 0.01)


# --- compute ----------------------------------------------------------------------------------------------------------
class Rates(NamedTuple):
    """The learning rate of each step; `top` is the step, counted from 1, from which on it no longer rises."""

    kind: str
    rates: list[float]
    top: int


def rates(kind: str, *, warmup: int, peak: float, steps: int) -> Rates:
    """The rates of steps 1 to `steps`, the largest of them `peak` (2017's formula, too, is scaled to it).

    Raises ValueError for a kind that is not in KINDS, and as the schedules themselves do.
    """
    makers = {
        "2017": lambda: warmup_inverse_sqrt(1, warmup=warmup),
        "linear decay": lambda: linear_warmup_decay(steps, warmup=warmup),
        "cosine": lambda: cosine(steps, warmup=warmup),
        "constant": lambda: constant(warmup=warmup),
    }
    check_one_of("rates", KINDS, kind=kind)
    schedule: Schedule = makers[kind]()
    top = max(1, warmup)
    largest = schedule(top - 1)
    return Rates(kind, [peak * schedule(step) / largest for step in range(steps)], top)


# --- draw -------------------------------------------------------------------------------------------------------------
def draw(curve: Rates) -> Svg:
    """The curve over all steps; the axis reaches to the largest peak there is to choose, so that curves compare."""
    steps = len(curve.rates)
    chart = line_chart(
        {curve.kind: (range(1, steps + 1), curve.rates)},
        size=(680, 260),
        title=f"Learning rate: {curve.kind}",
        xlabel="step",
        ylabel="rate",
        xlim=(0, steps),
        ylim=(0, 1.05 * max(PEAKS[-1], *curve.rates)),
    )
    return side_by_side([chart], alt=describe(curve))


# --- describe ---------------------------------------------------------------------------------------------------------
def describe(curve: Rates) -> str:
    """The rate at the first step, at the end of the warm-up, at the last step, and what is left of the largest."""
    first, largest, last = curve.rates[0], curve.rates[curve.top - 1], curve.rates[-1]
    return (
        f"{curve.kind}: the rate is {first:.6f} at step 1, {largest:.6f} at step {curve.top}, where it is largest, and "
        f"{last:.6f} at step {len(curve.rates)}: {last / largest:.1%} of the largest."
    )


# --- bind -------------------------------------------------------------------------------------------------------------
def schedule_explorer(steps: int = 500) -> Explore:
    """Kind of schedule, warm-up and peak of a training run of `steps` steps."""

    check_numbers("schedule_explorer", least=1, whole=True, steps=steps)
    return Explore(
        lambda kind, warmup, peak: draw(rates(kind, warmup=warmup, peak=peak, steps=steps)),
        name="schedule",
        told=True,
        kind=widgets.Dropdown(options=KINDS, description="Schedule"),
        warmup=widgets.IntSlider(value=min(50, steps // 2), min=0, max=steps // 2, step=25, description="Warm-up"),
        peak=widgets.Dropdown(options=PEAKS, value=0.005, description="Peak"),
    )
