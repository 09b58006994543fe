"""Live training: start, watch loss and attention form, stop while it runs, go on or leave out another part.

    live_training_explorer(retrain, {"the right model": {}, "no causal mask": dict(prepare=…)})

`retrain(steps=…, **options)` trains a translator, as `functools.partial(recipes.train_translator, pairs, …)` does; the
dictionary names the options to choose from. Each choice has a run of its own, so one can leave it and come back.

`live.py` starts, stops and continues the runs.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch

from tx_helpers.nn.arguments import check_numbers, check_types, described
from tx_helpers.nn.capture import capture
from tx_helpers.show.charts import line_chart, message, side_by_side, weight_map
from tx_helpers.show.explore import Explore
from tx_helpers.show.plots import Svg
from tx_helpers.text.data import sequence_batch
from tx_helpers.text.number_words import english, german
from tx_helpers.training.contexts import cpu_threads
from tx_helpers.widgets.live import Live
from tx_helpers.zoo.recipes import Translator


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
    """A training run that can be taken step by step; `retrain` makes the translator and takes the first step."""

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
class LiveTraining(Live):
    """The runs of a translator's variants: their losses, the cross-attention of the last block, and what is written.

    trained: name -> a run of this choice that has ended; it is shown until Start begins another.
    """

    def __init__(
        self,
        retrain: Callable[..., Translator],
        choices: Mapping[str, Mapping],
        *,
        steps: int = 70,
        every: int = 5,
        number: int = 421,
        trained: Mapping[str, Translator] | None = None,
    ):
        check_types("live_training", Mapping, choices=choices)
        for name, options in choices.items():
            if not isinstance(options, Mapping):
                raise ValueError(f"live_training: choices[{name!r}] is {described(options)}, expected a dictionary")
        check_numbers("live_training", least=1, whole=True, steps=steps, every=every)
        check_numbers("live_training", least=0, most=999_999, whole=True, number=number)

        def picture(name: str, moment: Moment | None, alt: str, others: dict) -> Svg:
            return draw(name, moment, steps, alt, {other: seen.losses for other, seen in others.items()})

        def run(options: Mapping) -> LiveRun:
            return LiveRun(partial(retrain, **options), steps, number)

        runs = {name: partial(run, options) for name, options in choices.items()}
        ended = {
            name: LiveRun(partial(retrain, **choices[name]), steps, number, translator)
            for name, translator in (trained or {}).items()
            if name in choices
        }
        describing = partial(describe, number=number)
        super().__init__("live-training", runs, picture, describing, steps=steps, every=every, ended=ended)


def live_training_explorer(
    retrain: Callable[..., Translator], choices: Mapping[str, Mapping], **options: Any
) -> Explore:
    """The explorer of a `LiveTraining`: a choice of models, and a button that starts and stops."""
    return LiveTraining(retrain, choices, **options).explore
