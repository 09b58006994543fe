"""A learning rate for one and the same training: choose it, press Start, and watch the loss crawl, fall or explode.

    learning_rate_explorer(begin, nothing=math.log(V))         # begin(rate) -> Run, with no step done yet
    learning_rate_explorer(begin, nothing=3.6, trained={"0.003": run})          # a run that has ended is shown at once

Each rate has a run of its own. Its curve stays beside those that come after it, and its last losses become a point of
the second chart: the loss after all steps over the learning rate. `nothing` is the loss of a model that knows nothing,
drawn as a level.

`live.py` starts, stops and continues the runs.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from statistics import mean

import ipywidgets as widgets

from tx_helpers.nn.arguments import Function, check_numbers, check_one_of, check_types
from tx_helpers.show.charts import line_chart, side_by_side
from tx_helpers.show.explore import Explore
from tx_helpers.show.plots import Svg
from tx_helpers.training.contexts import cpu_threads
from tx_helpers.training.loop import Run
from tx_helpers.widgets.live import Live

RATES = ("0.00001", "0.0001", "0.001", "0.003", "0.01", "0.03", "0.1", "0.3", "1")
LOSSES = (0.03, 1000.0)  # the limits of both charts
LAST = 5  # steps whose mean loss is "the loss at the end": a single batch is noisy
SIZE = (372, 300)


# --- compute ----------------------------------------------------------------------------------------------------------
@dataclass
class RateRun:
    """A training run at one rate that can be taken step by step."""

    begin: Callable[[float], Run]
    rate: float
    steps: int
    run: Run | None = field(default=None, repr=False)

    @property
    def step(self) -> int:
        return 0 if self.run is None else self.run.step

    @property
    def done(self) -> bool:
        return self.step >= self.steps

    def advance(self) -> None:
        """One more step. Errors in the training are raised; the run is then as before the step."""
        with cpu_threads(1):
            if self.run is None:
                self.run = self.begin(self.rate)
            self.run.train_step()

    def look(self) -> tuple[float, ...]:
        """The losses so far."""
        return tuple(self.run.losses)


def at_the_end(losses: Sequence[float]) -> float:
    """The mean of the last losses."""
    return mean(losses[-LAST:])


# --- draw -------------------------------------------------------------------------------------------------------------
def draw(
    name: str, losses: Sequence[float] | None, steps: int, nothing: float, alt: str, others: Mapping[str, Sequence]
) -> Svg:
    """The chosen rate's losses, those of the other rates thin; beside them the loss at the end over the rate."""
    runs = {name: losses or (), **others}
    lines = {rate: (range(1, len(values) + 1), values) for rate, values in runs.items()}
    level = {"knows nothing": ((0, steps), (nothing, nothing))}
    curves = line_chart(
        {name: lines.pop(name), **level, **lines},  # the level is always the second line, which is dashed
        size=SIZE,
        title=f"Loss of each step at the rate {name}",
        xlabel="step",
        ylabel="loss (log scale)",
        xlim=(0, steps),
        ylim=LOSSES,
        logy=True,
        faint=(*others, *level),
        legend=False,
    )
    ended = sorted((float(rate), at_the_end(values)) for rate, values in runs.items() if len(values) >= steps)
    limits = float(RATES[0]), float(RATES[-1])
    beside = line_chart(
        {"loss at the end": tuple(zip(*ended, strict=True)) or ((), ()), "knows nothing": (limits, (nothing, nothing))},
        size=SIZE,
        title=f"Loss after {steps} steps (dashed: knows nothing)",
        xlabel="learning rate (log scale)",
        ylabel="loss (log scale)",
        xlim=limits,
        ylim=LOSSES,
        logx=True,
        logy=True,
        xticks=[float(rate) for rate in RATES if "3" not in rate],
        faint=("knows nothing",),
        legend=False,
        dots=True,
    )
    return side_by_side([curves, beside], alt=alt + describe_ends(runs, steps))


# --- describe ---------------------------------------------------------------------------------------------------------
def describe(losses: Sequence[float]) -> str:
    """Where the loss began and where it is, and what that is called."""
    first, last = losses[0], at_the_end(losses)
    verdict = "it explodes" if last > 1.5 * first else "it crawls" if last > 0.8 * first else "it learns"
    return f"loss {first:.2f} at first, now {last:.2f}: {verdict}."


def describe_ends(runs: Mapping[str, Sequence[float]], steps: int) -> str:
    """The loss at the end of each run that is done; "" if none is."""
    ended = {rate: at_the_end(values) for rate, values in runs.items() if len(values) >= steps}
    each = ", ".join(f"{rate}: {ended[rate]:.2f}" for rate in sorted(ended, key=float))
    return f" Loss after {steps} steps by rate: {each}." if ended else ""


# --- bind -------------------------------------------------------------------------------------------------------------
def learning_rate_explorer(
    begin: Callable[[float], Run], *, nothing: float, steps: int = 60, trained: Mapping[str, Run] | None = None
) -> Explore:
    """A slider of rates, and a button that starts and stops the training at the chosen one."""
    check_types("learning_rate_explorer", Function, begin=begin)
    check_numbers("learning_rate_explorer", least=1, whole=True, steps=steps)
    check_numbers("learning_rate_explorer", above=0, nothing=nothing)
    for rate in trained or {}:
        check_one_of("learning_rate_explorer", RATES, rate=rate)

    def picture(name: str, losses: Sequence[float] | None, alt: str, others: Mapping[str, Sequence]) -> Svg:
        return draw(name, losses, steps, nothing, alt, others)

    runs = {rate: partial(RateRun, begin, float(rate), steps) for rate in RATES}
    ended = {rate: RateRun(begin, float(rate), steps, run) for rate, run in (trained or {}).items()}
    options = dict(steps=steps, every=3, label="Rate", control=widgets.SelectionSlider, ended=ended)
    return Live("learning-rate", runs, picture, describe, **options).explore
