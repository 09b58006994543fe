"""Live training: start, watch loss and attention form, stop while it runs, go on or leave out another part.

    live_training_explorer(retrain, {"the right model": {}, "no causal mask": dict(prepare=…)})

`retrain(steps=…, **options)` trains a translator, as `functools.partial(recipes.train_translator, pairs, …)` does; the
dictionary names the options to choose from. Each choice has a run of its own, so one can leave it and come back.

A kernel that computes sees no click, so the training is an asyncio task that pauses after every step. Whatever came in
meanwhile (a press of Stop, a cell to run) is done then. It needs no thread. But JupyterLab 4 handles presses in a
thread of the kernel (a "subshell"), so the task runs in the event loop in which the explorer was made, that of the
cells: cells and training never compute at the same time.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial

import ipywidgets as widgets
import torch

from tx_helpers.arguments import check_numbers, check_types, described
from tx_helpers.capture import capture
from tx_helpers.recipes import Translator
from tx_helpers.show.charts import line_chart, message, side_by_side, weight_map
from tx_helpers.show.explore import Explore
from tx_helpers.show.plots import Svg
from tx_helpers.text.data import sequence_batch
from tx_helpers.text.number_words import english, german
from tx_helpers.training.contexts import cpu_threads

REST = 0.002  # seconds between two steps, in which the kernel handles messages


# --- compute ----------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Moment:
    """The state after one step: all losses so far, the last block's cross-attention, and what the model writes.

    weights: (T, S), mean over the heads, of the true words (T) on the source's (S); None without cross-attention.
    """

    losses: Sequence[float]
    weights: Sequence[Sequence[float]] | None
    words: Sequence[str]
    keys: Sequence[str]
    written: str


@dataclass
class LiveRun:
    """A training that can be taken step by step; `retrain` makes the translator and takes the first step."""

    retrain: Callable[..., Translator]
    steps: int
    number: int = 421
    translator: Translator | None = field(default=None, repr=False)

    @property
    def step(self) -> int:
        return 0 if self.translator is None else self.translator.run.step

    @property
    def done(self) -> bool:
        return self.step >= self.steps

    def advance(self) -> None:
        """One more step. Errors in the training are raised; the run is then as before the step."""
        if self.translator is None:
            self.translator = self.retrain(steps=1)
        else:
            with cpu_threads(1):
                self.translator.run.train_step()

    def look(self) -> Moment:
        """Where the model looks while it is given the true words of `number`, and what it writes by itself."""
        model, data = self.translator.model, self.translator.data
        source, target = english(self.number), german(self.number)
        batch = sequence_batch(data.encode([(source, target)]))
        with cpu_threads(1):
            with capture(model, "decoder.*.cross_attention.weights") as seen, torch.no_grad():
                model(batch.source, batch.decoder_input)
            # some of the models have no causal mask: they cannot be cached, and may not know where to end
            written = self.translator.translate(source, cached=False, max_new_tokens=len(batch.target[0]) + 2)
        layers = list(seen.values())
        return Moment(
            losses=tuple(self.translator.run.losses),
            weights=layers[-1][0].mean(dim=0).tolist() if layers else None,
            words=[data.target_tokenizer.tokens[i] for i in batch.target[0]],
            keys=[data.source_tokenizer.tokens[i] for i in batch.source[0]],
            written=written,
        )


# --- draw -------------------------------------------------------------------------------------------------------------
def draw(name: str, moment: Moment | None, steps: int, alt: str, others: Mapping[str, Sequence[float]]) -> Svg:
    """The losses so far on an axis for all `steps`, beside them the map; None: nothing has happened yet.

    others: the losses of other runs, name -> losses, drawn thin for comparison.
    """
    losses = {name: () if moment is None else moment.losses, **others}
    chart = line_chart(
        {name: (range(1, len(values) + 1), values) for name, values in losses.items()},
        size=(400, 290),
        title=f"Loss: {name}",
        xlabel="step",
        ylabel="cross-entropy (log scale)",
        xlim=(0, steps),
        ylim=(0.01, 10),
        logy=True,
        faint=tuple(others),
    )
    size = (350, 290)
    if moment is None or moment.weights is None:
        beside = message("Press Start." if moment is None else "No cross-attention to be seen.", size=size)
    else:
        beside = weight_map(moment.weights, moment.keys, moment.words, size=size, title="Cross-attention, last block")
    return side_by_side([chart, beside], alt=alt)


# --- describe ---------------------------------------------------------------------------------------------------------
def describe(moment: Moment, number: int = 421) -> str:
    """The loss, what is written for `number` and whether that is right, and where each true word looks most."""
    truth = german(number)
    looks = "no cross-attention"
    if moment.weights is not None:
        best = [max(zip(row, moment.keys, strict=True)) for row in moment.weights]
        pairs = [f"{word!r} at {key!r} ({weight:.2f})" for word, (weight, key) in zip(moment.words, best, strict=True)]
        looks = "looks most: " + ", ".join(pairs[:-1])  # the last is <eos>
    result = "right" if moment.written == truth else f"wrong: {truth!r} would be right"
    return f"loss {moment.losses[-1]:.3f}; for {number} it writes {moment.written!r}, {result}; {looks}."


# --- bind -------------------------------------------------------------------------------------------------------------
class LiveTraining:
    """The state behind the explorer: a run for each choice, and which one is going.

    Start continues a run that was stopped, or begins a new one after its end or an error. Choosing another model stops
    the one that is running. Where no event loop runs (in a script), Start trains to the end at once.
    """

    def __init__(
        self,
        retrain: Callable[..., Translator],
        choices: Mapping[str, Mapping],
        *,
        steps: int = 70,
        every: int = 5,
        number: int = 421,
    ):
        check_types("live_training", Mapping, choices=choices)
        for name, options in choices.items():
            if not isinstance(options, Mapping):
                raise ValueError(f"live_training: choices[{name!r}] is {described(options)}, expected a dictionary")
        check_numbers("live_training", least=1, whole=True, steps=steps, every=every)
        check_numbers("live_training", least=0, most=999_999, whole=True, number=number)
        self.retrain, self.choices, self.steps, self.every, self.number = retrain, dict(choices), steps, every, number
        self.runs: dict[str, LiveRun] = {}
        self.moments: dict[str, Moment] = {}
        self.failures: dict[str, str] = {}
        self.going: object | None = None  # a token of the training that may go on
        self.busy: str | None = None  # the model whose last picture is still to come
        self.task: Future | None = None
        try:
            self.loop = asyncio.get_running_loop()
        except RuntimeError:
            self.loop = None
        self.model = widgets.Dropdown(options=list(choices), description="Model")
        self.button = widgets.ToggleButton(description="Start", layout={"width": "120px"})
        self.explore = Explore(self.picture, name="live-training", model=self.model, training=self.button)
        self.model.observe(lambda change: self._stop(), "value")
        self.button.observe(lambda change: self._start() if change["new"] else self._stop(), "value")

    def picture(self, model: str, training: bool) -> Svg:
        """The chosen run as it was last looked at; the error that ended it, if one did."""
        if model in self.failures:
            raise ValueError(self.failures[model])
        moment = self.moments.get(model)
        others = {name: seen.losses for name, seen in self.moments.items() if name != model}
        if moment is None:
            alt = f"{model}: starting" if training else f"not started: press Start to train {model!r}"
            return draw(model, None, self.steps, alt, others)
        step = len(moment.losses)
        state = "done," if step >= self.steps else "training," if training or self.busy == model else "stopped at"
        alt = f"{model}: {state} step {step} of {self.steps}, {describe(moment, self.number)}"
        return draw(model, moment, self.steps, alt, others)

    def _start(self) -> None:
        name, self.button.description = self.model.value, "Stop"
        if name not in self.runs or self.runs[name].done or name in self.failures:
            self.runs[name] = LiveRun(partial(self.retrain, **self.choices[name]), self.steps, self.number)
            self.failures.pop(name, None)
            self.moments.pop(name, None)
        self.going = token = object()
        self.busy = name
        training = self._train(name, token)
        if self.loop is not None and self.loop.is_running():
            self.task = asyncio.run_coroutine_threadsafe(training, self.loop)
        else:
            asyncio.run(training)

    def _stop(self) -> None:
        self.going, self.button.value, self.button.description = None, False, "Start"

    async def _train(self, name: str, token: object) -> None:
        run = self.runs[name]
        try:
            while self.going is token and not run.done:
                run.advance()
                if run.step == 1 or run.step % self.every == 0:
                    self._show(name)
                await asyncio.sleep(REST)
            self.busy = None
            self._show(name)
        except Exception as error:  # of the learner's own model, perhaps: shown in place, whatever it is
            self.failures[name] = f"step {run.step + 1} failed: {type(error).__name__}: {error}"
        if self.going is token:
            self._stop()
        self.explore.redraw()

    def _show(self, name: str) -> None:
        if self.runs[name].step:
            self.moments[name] = self.runs[name].look()
        self.explore.redraw()


def live_training_explorer(retrain: Callable[..., Translator], choices: Mapping[str, Mapping], **options) -> Explore:
    """The explorer of a `LiveTraining`: a choice of models, and a button that starts and stops."""
    return LiveTraining(retrain, choices, **options).explore
