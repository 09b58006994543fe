"""The record: tinyshakespeare by characters below the published loss of nanoGPT on a GPU, in minutes on one CPU core.

    text = record_text(tinyshakespeare())                  # see `text.corpora` for the three ways to the file
    trained = train_recipe(RECORD, text, seed=0)           # -> Attempt(loss=…, processor_seconds=…, …)
    train_recipe(NANOGPT, text)                            # nanoGPT's own recipe for a CPU
    train_recipe(leave_out("Muon"), text, share=0.1)       # what a part is worth, at a tenth of the steps

nanoGPT's headline is a validation loss of 1.4697, with 10.65 million parameters and a GPU (its README, "quick start").
For a CPU the README gives its own flags, and a loss of 1.88. Both are estimates over random windows. Ours is the mean
over the full validation split, the last tenth of the text, in windows of the context's length that do not overlap: each
character but the first is predicted once, and early positions of a window see little.

The file record.json: {"about": {…}, "record": [R, …], "without": [R, …]}, R = {"name", "seeds", "loss",
"processor_seconds", "wall_seconds" (a number for each seed), "steps", "parameters"}. "record" has the rows "record",
"nanoGPT" and "4,600 steps", the same recipe in about five minutes; "without" has "all parts" and the recipe without
each one, at `about["share_without"]` of the steps. It is empty where these have not been trained.

The recipe is the ladder's last rung, made larger: width 128, 4 layers. Two things are its own. The windows grow,
64 → 128 → 256 → 512, since short windows are cheaper and teach most of what is to be learned. And embeddings begin
larger, the output at zero.
"""

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from tx_helpers.lessons.what_changed.token_values import TokenValues
from tx_helpers.nn.arguments import check_numbers, check_one_of
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
from tx_helpers.text.data import TextBatch, TextBatches, train_validation_split
from tx_helpers.text.tokenizers import CharTokenizer
from tx_helpers.training.contexts import RandomStream
from tx_helpers.training.loop import Optimizers, Run, fit
from tx_helpers.training.losses import language_model_loss, text_loss
from tx_helpers.training.optimizers import Schedule, adamw, cosine, linear_warmup_decay, muon
from tx_helpers.zoo.parts.inputs import TokenShift

FILE = Path(__file__).with_name("record.json")
HEADLINE, NANOGPT_ON_A_CPU = 1.4697, 1.88  # as nanoGPT's README gives them


class Stage(NamedTuple):
    """Windows of this length and rows of a batch, from a share of the steps on."""

    start: float
    length: int
    rows: int


@dataclass(frozen=True)
class RecordRecipe:
    """A model and how it is trained.

    rates           of Muon, {"lr", "momentum", "adamw_lr"}, or of AdamW alone, {"lr"}
    weight_decay    of the matrices in the blocks; without Muon of all matrices
    schedule        "linear" after a warm-up of 5 %, or nanoGPT's: a cosine down to a tenth after 100 steps
    embedding_std   None: as the config says; otherwise of the embeddings, and the output begins at zero
    """

    config: TransformerConfig
    steps: int
    stages: tuple[Stage, ...]
    rates: Mapping[str, float] = field(default_factory=dict)
    weight_decay: float = 0.1
    schedule: str = "linear"
    autocast: bool = True
    embedding_std: float | None = None


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
    embedding_std=0.5,
)

# nanoGPT's settings for Shakespeare by characters, with its README's flags for a CPU. Our LayerNorm has a bias.
NANOGPT = RecordRecipe(
    TransformerConfig(
        1,
        128,
        4,
        context_length=64,
        attention=AttentionConfig(4, bias=False),
        feed_forward=FeedForwardConfig(activation="gelu", bias=False),
        positions=PositionConfig("learned"),
        embedding=EmbeddingConfig(scale=False),
        init=InitConfig("normal", residual="scaled"),
    ),
    steps=2000,
    stages=(Stage(0.0, 64, 12),),
    rates={"lr": 1e-3},
    schedule="nanoGPT",
    autocast=False,
)


SHORTER = replace(RECORD, steps=4600)  # about five minutes of a core


def _config(**changes: Any) -> TransformerConfig:
    return replace(RECORD.config, **changes)


_EMBEDDING = RECORD.config.embedding
LEFT_OUT: dict[str, dict[str, Any]] = {  # what stands in the place of a part
    "Muon": dict(rates={"lr": 4e-3}),
    "growing windows": dict(stages=(Stage(0.0, 64, 12),)),
    "rotary": dict(config=_config(positions=PositionConfig("learned"), context_length=512)),
    "QK-norm": dict(config=_config(attention=AttentionConfig(4, bias=False))),
    "ReLU²": dict(config=_config(feed_forward=FeedForwardConfig(activation="gelu", bias=False))),
    "zero outputs": dict(config=_config(init=InitConfig("normal")), embedding_std=None),
    "token shift": dict(config=_config(embedding=replace(_EMBEDDING, input=None))),
    "value embeddings": dict(config=_config(mixer=None)),
}


def leave_out(part: str) -> RecordRecipe:
    """The recipe of the record without one part."""
    check_one_of("leave_out", tuple(LEFT_OUT), part=part)
    return replace(RECORD, **LEFT_OUT[part])


class RecordText(NamedTuple):
    """Nine tenths of the text to train on, and the rest, as ids."""

    vocab_size: int
    train: Tensor
    validation: Tensor


def record_text(text: str) -> RecordText:
    """A text by characters, split as nanoGPT splits it."""
    tokenizer = CharTokenizer.train(text)
    return RecordText(len(tokenizer), *train_validation_split(torch.tensor(tokenizer.encode(text))))


class Attempt(NamedTuple):
    """A training run: its loss over the full validation split, and the seconds of its steps, without the evaluation."""

    loss: float
    steps: int
    parameters: int
    processor_seconds: float
    wall_seconds: float
    model: DecoderOnly
    run: Run


def record_model(recipe: RecordRecipe, vocab_size: int, *, seed: int = 0) -> DecoderOnly:
    """The untrained model; its first values depend on the seed alone."""
    with RandomStream(seed).on(torch.device("cpu")):
        model = DecoderOnly(replace(recipe.config, vocab_size=vocab_size))
        if recipe.embedding_std is not None:
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
    """Muon for the matrices inside the blocks and AdamW without decay for the rest, or AdamW for all."""
    if "adamw_lr" not in recipe.rates:
        return adamw(model, **recipe.rates, weight_decay=recipe.weight_decay)
    matrices, rest = muon(model, **recipe.rates, weight_decay=recipe.weight_decay)
    for group in rest.param_groups:
        group["weight_decay"] = 0.0
    return [matrices, rest]


def schedule_of(recipe: RecordRecipe, steps: int) -> Schedule:
    """A linear rise and fall, or nanoGPT's cosine."""
    if recipe.schedule == "nanoGPT":
        return cosine(steps, warmup=min(100, steps // 2), floor=0.1)
    return linear_warmup_decay(steps, warmup=max(1, steps // 20))


def train_recipe(
    recipe: RecordRecipe, text: RecordText, *, seed: int = 0, share: float = 1.0, progress: bool = False
) -> Attempt:
    """Train for this share of the recipe's steps; its stages and its schedule shrink with it."""
    check_numbers("train_recipe", above=0, most=1, share=share)
    steps = max(2, round(recipe.steps * share))
    model = record_model(recipe, text.vocab_size, seed=seed)
    processor, wall = time.process_time(), time.perf_counter()
    run = fit(
        model,
        batches_of(recipe, text.train, steps, seed=seed),
        steps=steps,
        loss=language_model_loss,
        optimizer=optimizers_of(recipe, model),
        schedule=schedule_of(recipe, steps),
        autocast=torch.bfloat16 if recipe.autocast else None,
        seed=seed,
        progress=progress,
    )
    spent = time.process_time() - processor, time.perf_counter() - wall
    parameters = sum(parameter.numel() for parameter in model.parameters())
    loss = text_loss(model.eval(), text.validation, recipe.stages[-1].length)
    return Attempt(loss, steps, parameters, *spent, model, run)


def recorded(file: str | Path = FILE) -> dict[str, Any]:
    """The file that tools/run_record.py wrote."""
    return json.loads(Path(file).read_text(encoding="utf-8"))


def verdict(table: Mapping[str, Any]) -> str:
    """How often the record's recipe got below nanoGPT's headline, and whether within five minutes of the processor."""
    rows = {row["name"]: row for row in table["record"]}
    row, below = rows["record"], table["about"]["headline"]
    met = [minutes / 60 for loss, minutes in zip(row["loss"], row["processor_seconds"], strict=True) if loss < below]
    if not met:
        return f"below {below} for none of {len(row['loss'])} trained; the best is {min(row['loss'])}"
    when = "within five minutes" if max(met) <= 5 else f"after {max(met):.1f} minutes"
    return f"below {below} for {len(met)} of {len(row['loss'])} trained, {when} of one core at the latest"


def as_text(table: Mapping[str, Any]) -> str:
    """All figures as markdown."""
    lines = ["| recipe | loss, by seed | minutes of the processor | minutes of the clock | steps | parameters |"]
    lines += ["|---" * 6 + "|"]
    share = table["about"]["share_without"]
    for row in (*table["record"], *table["without"]):
        losses = ", ".join(f"{loss:.4f}" for loss in row["loss"])
        minutes = [
            ", ".join(f"{seconds / 60:.1f}" for seconds in row[key]) for key in ("processor_seconds", "wall_seconds")
        ]
        name = row["name"] if row in table["record"] else f"{share:.0%} of the steps, {_without(row['name'])}"
        lines.append(f"| {name} | {losses} | {' | '.join(minutes)} | {row['steps']:,} | {row['parameters']:,} |")
    return "\n".join([*lines, "", verdict(table) if table["record"] else ""])


def _without(name: str) -> str:
    return name if name == "all parts" else f"without {name}"
