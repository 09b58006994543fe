"""The ladder: from the decoder of 2017 to today's, one change at a time, and what each change is worth.

    as_of("rotary")                       # the recipe with all changes up to and including this one
    with_changes("rotary")                # the recipe of 2017 with this one alone
    without("rotary")                     # today's recipe with all but this one
    ladder_model(as_of("rotary"))         # its model, untrained
    train(as_of("rotary"), steps=50)      # -> Trained(model, losses, validation loss)
    recorded_ladder()                     # what `ladder_runs` measured, over five seeds

Held equal: the text and its batches of each seed, tokens a step, width and layers, the learning rates of each
optimizer (chosen on a seed that is not among the five), warm-up, clipping. What differs is the change alone.

The file ladder.json: {"about": {…}, "rungs": [R, …], "alone": [R, …], "without": [R, …]}. rungs are cumulative and
begin with "2017"; alone is 2017 plus one change, without is today's minus one. R = {"name", "steps": [validation loss
of each seed after equally many steps], "flops": [after equally many FLOPs], "seconds": [after equal time],
"steps_at": {"steps", "flops", "seconds": how many steps that was}, "parameters", "flops_per_token",
"seconds_per_step", "cache_bytes_per_token"}. Equal is what the decoder of 2017 takes for `about["steps"]` steps.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from tx_helpers.lessons.what_changed.rungs import BESIDE, RUNGS, Rung
from tx_helpers.nn.arguments import check_numbers, check_one_of, check_types
from tx_helpers.nn.config import AttentionConfig, TransformerConfig
from tx_helpers.nn.models import DecoderOnly
from tx_helpers.text.data import TextBatches
from tx_helpers.text.stories import stories
from tx_helpers.text.tokenizers import CharTokenizer
from tx_helpers.training.contexts import RandomStream
from tx_helpers.training.experiment import Experiment
from tx_helpers.training.loop import fit
from tx_helpers.training.losses import language_model_loss, text_loss
from tx_helpers.training.optimizers import Schedule, adamw, linear_warmup_decay, muon, warmup_inverse_sqrt

BUDGETS = ("steps", "flops", "seconds")
FIRST = "2017"
CONTEXT, ROWS, STEPS = 64, 16, 200  # tokens in a window; windows in a batch; steps of the first budget
WARMUP, BETAS = 0.1, (0.9, 0.98)  # share of the steps; of Adam
RATES_SEED = 100  # on which they were chosen
RATES = {"adam": {"lr": 8e-3}, "muon": {"lr": 0.04, "adamw_lr": 1e-2}}
STORIES, HELD_OUT = 3000, 60  # stories to train on, and to validate on


@dataclass(frozen=True)
class Recipe:
    """A model and how it is trained; the default is that of 2017, with width 64 and 2 layers.

    optimizer     "adam", or "muon" for the matrices inside the blocks (Adam for the rest)
    schedule      "inverse_sqrt", as in 2017, or "linear": down to zero; both after a warm-up
    weight_decay  of the matrices; autocast: matrix products in bfloat16
    """

    config: TransformerConfig = field(
        default_factory=lambda: TransformerConfig(
            1, 64, 2, context_length=CONTEXT, wiring="post_norm", attention=AttentionConfig(4)
        )
    )
    optimizer: str = "adam"
    schedule: str = "inverse_sqrt"
    weight_decay: float = 0.0
    autocast: bool = False

    def __post_init__(self) -> None:
        check_one_of("Recipe", tuple(RATES), optimizer=self.optimizer)
        check_one_of("Recipe", ("inverse_sqrt", "linear"), schedule=self.schedule)
        check_numbers("Recipe", least=0, weight_decay=self.weight_decay)


def changed(recipe: Recipe, change: Mapping[str, Any]) -> Recipe:
    """The recipe with these fields, "config.norm.kind": "rms" for one, set to these values."""
    for path, value in change.items():
        recipe = _replaced(recipe, path.split("."), value)
    return recipe


def climb(rungs: Iterable[Rung]) -> Recipe:
    """The recipe of 2017 with the changes of these rungs, in their order."""
    recipe = Recipe()
    for rung in rungs:
        recipe = changed(recipe, rung.change)
    return recipe


def as_of(name: str) -> Recipe:
    """The recipe of a rung: "2017", or with all changes up to and including this one."""
    return climb(RUNGS[: _place(name) + 1])


def with_changes(*names: str) -> Recipe:
    """The recipe of 2017 with these changes alone."""
    known = {rung.name: rung for rung in RUNGS + BESIDE}
    for name in names:
        check_one_of("with_changes", tuple(known), name=name)
    return climb(known[name] for name in names)


def without(name: str) -> Recipe:
    """Today's recipe with all changes but this one."""
    place = _place(name)
    return climb(RUNGS[:place] + RUNGS[place + 1 :])


def recipes() -> dict[str, dict[str, Recipe]]:
    """All that the tool trains: {"rungs" | "alone" | "without": {name: recipe}}.

    A change that a later one takes back makes no difference to today's recipe: it is not in "without".
    """
    today = climb(RUNGS)
    return {
        "rungs": {name: as_of(name) for name in (FIRST, *(rung.name for rung in RUNGS))},
        "alone": {rung.name: with_changes(rung.name) for rung in RUNGS + BESIDE},
        "without": {rung.name: without(rung.name) for rung in RUNGS if without(rung.name) != today},
    }


def ladder_model(recipe: Recipe, vocab_size: int | None = None, *, seed: int = 0) -> DecoderOnly:
    """The untrained model of a recipe; its first values depend on the seed alone."""
    check_types("ladder_model", Recipe, recipe=recipe)
    vocab_size = vocab_size or len(ladder_text().tokenizer)
    with RandomStream(seed).on(torch.device("cpu")):
        return DecoderOnly(replace(recipe.config, vocab_size=vocab_size))


class LadderText(NamedTuple):
    """What all models read: ids to train on and ids to validate on."""

    tokenizer: CharTokenizer
    train: Tensor
    held_out: Tensor


@lru_cache(maxsize=1)
def ladder_text() -> LadderText:
    """The course's stories, which need no download; those to validate on are drawn from another seed."""
    text, held_out = stories(STORIES, seed=0), stories(HELD_OUT, seed=1)
    tokenizer = CharTokenizer.train(text + held_out)
    return LadderText(tokenizer, *(torch.tensor(tokenizer.encode(part)) for part in (text, held_out)))


class Trained(NamedTuple):
    """A model that was trained, the loss of each step, and the mean loss a character of the held-out text."""

    model: DecoderOnly
    losses: list[float]
    held_out: float


def training(
    recipe: Recipe,
    model: DecoderOnly,
    *,
    steps: int,
    seed: int = 0,
    text: LadderText | None = None,
    rates: Mapping[str, float] | None = None,
) -> dict[str, Any]:
    """What `fit` and `Run` of `training.loop` need; rates replace those of the optimizer in RATES."""
    decay, rates = recipe.weight_decay, rates or RATES[recipe.optimizer]
    make = {"adam": adamw, "muon": muon}[recipe.optimizer]
    return {
        "batches": TextBatches((text or ladder_text()).train, CONTEXT, ROWS, seed=seed),
        "loss": language_model_loss,
        "optimizer": make(model, **rates, betas=BETAS, weight_decay=decay),
        "schedule": schedule_of(recipe, steps),
        "autocast": torch.bfloat16 if recipe.autocast else None,
        "seed": seed,
    }


def schedule_of(recipe: Recipe, steps: int) -> Schedule:
    """A linear rise to 1 over the first tenth, then down as 1/√n, as in 2017, or in a line to 0."""
    warmup = max(1, int(WARMUP * steps))
    if recipe.schedule == "linear":
        return linear_warmup_decay(steps, warmup=warmup)
    fall = warmup_inverse_sqrt(1, warmup=warmup)
    return lambda step: fall(step) * warmup**0.5  # 1 at its highest: the rate is the optimizer's


def train(
    recipe: Recipe,
    *,
    steps: int = STEPS,
    seed: int = 0,
    text: LadderText | None = None,
    rates: Mapping[str, float] | None = None,
) -> Trained:
    """Train a recipe's model; first values and batches depend on the seed alone."""
    text = text or ladder_text()
    model = ladder_model(recipe, len(text.tokenizer), seed=seed)
    options = training(recipe, model, steps=steps, seed=seed, text=text, rates=rates)
    run = fit(model, steps=steps, progress=False, **options)
    return Trained(model.eval(), run.losses, text_loss(model, text.held_out, CONTEXT))


ABOUT = {"data": "stories", "steps": STEPS, "rows": ROWS, "context": CONTEXT, "rates": RATES, "rates_seed": RATES_SEED}
RECORDED = Experiment(Path(__file__).with_suffix(".json"), f"{__package__}.ladder_runs:climb", "40 minutes", ABOUT)
recorded_ladder = RECORDED.read


def _place(name: str) -> int:
    """-1 for "2017", else the place in RUNGS."""
    names = [FIRST, *(rung.name for rung in RUNGS)]
    check_one_of("ladder", tuple(names), name=name)
    return names.index(name) - 1


def _replaced(part: Any, path: Sequence[str], value: Any) -> Any:
    name, *rest = path
    return replace(part, **{name: _replaced(getattr(part, name), rest, value) if rest else value})
