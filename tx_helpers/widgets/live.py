"""Training that is watched: a choice of runs, and a button that starts, stops and continues the chosen one.

    live = Live("race", {"one head": make_one, "two heads": make_two}, draw, describe, steps=200, every=2)
    live.explore

It goes on step by step, as `steps.py` says.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Protocol

import ipywidgets as widgets

from tx_helpers.show.explore import Explore
from tx_helpers.show.plots import Svg
from tx_helpers.show.steps import Steps

REST = 0.002  # seconds between two steps, in which the kernel handles messages


class Watched(Protocol):
    """A training run that can be taken step by step: `step` of them are done, and it is `done` after the last."""

    step: int
    done: bool

    def advance(self) -> None:
        """One more step. Errors in the training are raised."""

    def look(self) -> Any:
        """What can be seen of it now."""


class Live:
    """The state behind the explorer: a run for each choice, and which one is going.

    runs      name -> a function that makes a new run
    draw      draw(name, moment or None, alt, others) -> Svg; others: the moments of the other runs, by name
    describe  describe(moment) -> str
    steps     of a run; `every` so many of them are drawn
    control   makes the control that chooses: widgets.SelectionSlider, say, in place of a drop-down list
    dials     argument -> control, in place of the one: the runs are then named by the tuples of their values
    ended     name -> a run that has ended; it is shown until Start begins another, and the first of them at once

    Start continues a run that was stopped, or begins a new one after its end or an error. Choosing another model stops
    the one that is running. Where no event loop runs (in a script), Start trains to the end at once.
    """

    def __init__(
        self,
        name: str,
        runs: Mapping[Any, Callable[[], Watched]],
        draw: Callable[[Any, Any, str, dict], Svg],
        describe: Callable[[Any], str],
        *,
        steps: int,
        every: int,
        label: str = "Model",
        rest: float = REST,
        control: Callable[..., Any] = widgets.Dropdown,
        ended: Mapping[Any, Watched] | None = None,
        dials: Mapping[str, widgets.Widget] | None = None,
    ):
        self.make, self.draw, self.describe, self.steps, self.every = runs, draw, describe, steps, every
        self.runs: dict[Any, Watched] = dict(ended or {})
        # name -> the step, and what was seen then
        self.moments: dict[Any, tuple[int, Any]] = {one: (run.step, run.look()) for one, run in self.runs.items()}
        self.failures: dict[Any, str] = {}
        self.busy: Any = None  # the model whose last picture is still to come
        self.work = Steps(rest)
        one = {} if dials else {"model": control(options=list(runs), description=label, value=[*self.runs, *runs][0])}
        self.dials = dict(dials or one)
        self.button = widgets.ToggleButton(description="Start", layout={"width": "120px"})
        self.explore = Explore(self.picture, name=name, told=True, **self.dials, training=self.button)
        for dial in self.dials.values():
            dial.observe(lambda change: self._stop(), "value")
        self.button.observe(lambda change: self._start() if change["new"] else self._stop(), "value")

    @property
    def chosen(self) -> Any:
        """The name of the run that the controls choose."""
        values = tuple(dial.value for dial in self.dials.values())
        return values if "model" not in self.dials else values[0]

    def picture(self, training: bool, **_values: Any) -> Svg:
        """The chosen run as it was last looked at; the error that ended it, if one did."""
        model = self.chosen
        told = " · ".join(map(str, model)) if isinstance(model, tuple) else model
        if model in self.failures:
            raise ValueError(self.failures[model])
        others = {name: moment for name, (_, moment) in self.moments.items() if name != model}
        if model not in self.moments:
            alt = f"{told}: starting" if training else f"not started: press Start to train {told!r}"
            return self.draw(model, None, alt, others)
        step, moment = self.moments[model]
        state = "done," if step >= self.steps else "training," if training or self.busy == model else "stopped at"
        return self.draw(model, moment, f"{told}: {state} step {step} of {self.steps}, {self.describe(moment)}", others)

    def _start(self) -> None:
        name, self.button.description = self.chosen, "Stop"
        if name not in self.runs or self.runs[name].done or name in self.failures:
            self.runs[name] = self.make[name]()
            self.failures.pop(name, None)
            self.moments.pop(name, None)
        self.busy = name
        self.work.start(partial(self._step, name), partial(self._ended, name))

    def _stop(self) -> None:
        self.work.stop()
        self.button.value, self.button.description = False, "Start"

    def _step(self, name: Any) -> bool:
        run = self.runs[name]
        try:
            run.advance()
            if run.step == 1 or run.step % self.every == 0:
                self._show(name)
        except Exception as error:  # of the learner's own model, perhaps: shown in place, whatever it is
            self._failed(name, error)
        return name not in self.failures and not run.done

    def _ended(self, name: Any, whole: bool) -> None:
        """Whole: after its last step; else it was stopped, and perhaps started again since."""
        self.busy = None
        try:
            self._show(name)
        except Exception as error:
            self._failed(name, error)
        if whole:
            self._stop()
        self.explore.redraw()

    def _failed(self, name: Any, error: Exception) -> None:
        self.failures.setdefault(name, f"step {self.runs[name].step + 1} failed: {type(error).__name__}: {error}")

    def _show(self, name: Any) -> None:
        run = self.runs[name]
        if run.step:
            self.moments[name] = run.step, run.look()
        self.explore.redraw()
