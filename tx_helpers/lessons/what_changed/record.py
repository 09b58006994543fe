"""The record: tinyshakespeare by characters below the published loss of nanoGPT on a GPU, in minutes on one CPU core.

    table = recorded()     # record.json, made by `record_runs`, where the model and its training stand
    ratio(table)           # how many times the processor time of nanoGPT's recipe ours takes
    verdict(table)         # for how many seeds it got below the headline

nanoGPT's headline is a validation loss of 1.4697, with 10.65 million parameters and a GPU (its README, "quick start").
For a CPU the README gives its own flags, and a loss of 1.88. Both are estimates over random windows. Ours is the mean
over the full validation split, the last tenth of the text, in windows of the context's length that do not overlap: each
character but the first is predicted once, and early positions of a window see little.

The file: {"about": {…}, "record": [R, …]}, R = {"name", "seeds", "loss", "processor_seconds", "wall_seconds" (a number
for each seed), "steps", "parameters"}, with the rows "lean" and "nanoGPT".

RECORD is the recipe in the package's own layers: the ladder's last rung, made larger, with windows that grow. It is
slower than the lean code, and what `two_processes` in notebook 20 was measured with.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from tx_helpers.lessons.what_changed.token_values import TokenValues
from tx_helpers.nn.config import (
    AttentionConfig,
    EmbeddingConfig,
    FeedForwardConfig,
    InitConfig,
    NormConfig,
    PositionConfig,
    TransformerConfig,
)
from tx_helpers.nn.models import DecoderOnly
from tx_helpers.text.corpora import TINY_SHAKESPEARE_SHA256
from tx_helpers.text.data import TextBatch, TextBatches, train_validation_split
from tx_helpers.text.tokenizers import CharTokenizer
from tx_helpers.training.contexts import RandomStream
from tx_helpers.training.experiment import Experiment
from tx_helpers.training.loop import Optimizers
from tx_helpers.training.optimizers import Schedule, linear_warmup_decay, muon
from tx_helpers.zoo.parts.inputs import TokenShift

HEADLINE, NANOGPT_ON_A_CPU = 1.4697, 1.88  # as nanoGPT's README gives them
MEASURED = ("seeds", "loss", "processor_seconds", "wall_seconds")  # a number for each seed


class Stage(NamedTuple):
    """Windows of this length and rows of a batch, from a share of the steps on."""

    start: float
    length: int
    rows: int


@dataclass(frozen=True)
class RecordRecipe:
    """A model and how it is trained.

    rates           of Muon: {"lr", "momentum", "adamw_lr"}
    weight_decay    of the matrices in the blocks
    embedding_std   of the embeddings; the output begins at zero
    """

    config: TransformerConfig
    steps: int
    stages: tuple[Stage, ...]
    rates: Mapping[str, float]
    weight_decay: float = 0.1
    embedding_std: float = 0.5


RECORD = RecordRecipe(
    TransformerConfig(
        1,
        128,
        4,
        attention=AttentionConfig(4, bias=False, qk_norm=True),
        feed_forward=FeedForwardConfig(activation="relu2", bias=False),
        positions=PositionConfig("rotary", base=1000.0),
        norm=NormConfig("rms"),
        embedding=EmbeddingConfig(scale=False, tied=False, input=TokenShift(2)),
        init=InitConfig("normal", residual="zero"),
        mixer=TokenValues(),
    ),
    steps=6000,
    stages=(Stage(0.0, 64, 12), Stage(0.4, 128, 6), Stage(0.7, 256, 4), Stage(0.9, 512, 2)),
    rates={"lr": 0.02, "momentum": 0.9, "adamw_lr": 5e-3},
)


class RecordText(NamedTuple):
    """Nine tenths of the text to train on, and the rest, as ids."""

    vocab_size: int
    train: Tensor
    validation: Tensor


def record_text(text: str) -> RecordText:
    """A text by characters, split as nanoGPT splits it."""
    tokenizer = CharTokenizer.train(text)
    return RecordText(len(tokenizer), *train_validation_split(torch.tensor(tokenizer.encode(text))))


def record_model(recipe: RecordRecipe, vocab_size: int, *, seed: int = 0) -> DecoderOnly:
    """The untrained model; its first values depend on the seed alone."""
    with RandomStream(seed).on(torch.device("cpu")):
        model = DecoderOnly(replace(recipe.config, vocab_size=vocab_size))
        nn.init.normal_(model.decoder.input.tokens.weight, std=recipe.embedding_std)
        nn.init.zeros_(model.output.weight)
    return model


def batches_of(recipe: RecordRecipe, ids: Tensor, steps: int, *, seed: int = 0) -> Callable[[int], TextBatch]:
    """batches(step) -> the batch of the stage that the step is in."""
    stages = [(stage.start * steps, TextBatches(ids, stage.length, stage.rows, seed=seed)) for stage in recipe.stages]

    def batches(step: int) -> TextBatch:
        return [batch for start, batch in stages if step >= start][-1](step)

    return batches


def optimizers_of(recipe: RecordRecipe, model: DecoderOnly) -> Optimizers:
    """Muon for the matrices inside the blocks and AdamW without decay for the rest."""
    matrices, rest = muon(model, **recipe.rates, weight_decay=recipe.weight_decay)
    for group in rest.param_groups:
        group["weight_decay"] = 0.0
    return [matrices, rest]


def schedule_of(steps: int) -> Schedule:
    """A linear rise over 5 % of the steps, then a linear fall."""
    return linear_warmup_decay(steps, warmup=max(1, steps // 20))


ABOUT = {"sha256": TINY_SHAKESPEARE_SHA256, "headline": HEADLINE, "nanogpt_on_a_cpu": NANOGPT_ON_A_CPU, "threads": 1}
RECORDED = Experiment(Path(__file__).with_suffix(".json"), f"{__package__}.record_runs:train_all", "15 minutes", ABOUT)
recorded = RECORDED.read


def ratio(table: Mapping[str, Any]) -> float:
    """The processor seconds of our recipe / those of nanoGPT's, on the same core; means over the seeds."""
    ours, theirs = (fmean(row_of(table, name)["processor_seconds"]) for name in ("lean", "nanoGPT"))
    return ours / theirs


def row_of(table: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The row of this name."""
    return next(row for row in table["record"] if row["name"] == name)


def verdict(table: Mapping[str, Any]) -> str:
    """For how many seeds our recipe got below nanoGPT's headline."""
    losses, below = row_of(table, "lean")["loss"], table["about"]["headline"]
    return f"below {below} for {sum(loss < below for loss in losses)} of {len(losses)} seeds"
