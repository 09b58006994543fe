"""A training run as a file: `python -m tx_helpers train RECIPE`, in one process or under torchrun and Slurm.

    text = "stories"                # of the course's grammar, or a file beside the recipe
    steps = 500
    checkpoint = "runs/stories"     # a folder beside the recipe; a training run that finds its checkpoint there goes on

    [model]                         # a `TransformerConfig`, its parts as tables: [model.attention] n_heads = 4
    d_model = 128

    [parallel]                      # a `Parallel`
    shard = "rest"

All keys are those of `Recipe`. tools/recipes/ has two examples. A recipe with the key `checker` trains on reward:
`publish.reward_recipe`.
"""

import json
import math
import os
import time
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import torch

from tx_helpers.nn.arguments import check_numbers, check_one_of, check_types
from tx_helpers.nn.config import TransformerConfig
from tx_helpers.nn.models import DecoderOnly
from tx_helpers.text.data import TextBatches, train_validation_split
from tx_helpers.text.stories import stories
from tx_helpers.text.tokenizers import CharTokenizer
from tx_helpers.training.contexts import RandomStream
from tx_helpers.training.costs import flops, memory, parameters_by_part
from tx_helpers.training.loop import Run, fit
from tx_helpers.training.losses import language_model_loss
from tx_helpers.training.optimizers import adamw, cosine, linear_warmup_decay, muon
from tx_helpers.training.parallel import Parallel
from tx_helpers.training.sharded import last_checkpoint

STORIES = 5_000
LETTERS = "letters.json"
DTYPES = {"bfloat16": torch.bfloat16, "float16": torch.float16}
OPTIMIZERS: dict[str, Callable] = {"adamw": adamw, "muon": muon}
SCHEDULES: dict[str, Callable] = {"linear": linear_warmup_decay, "cosine": cosine}


@dataclass(frozen=True)
class Recipe:
    """What the file says. The model is a decoder over the characters of the text; it trains on the first 90 %."""

    checkpoint: Path
    model: dict[str, Any] = field(default_factory=dict)
    parallel: Parallel = field(default_factory=Parallel)
    text: str = "stories"
    steps: int = 500
    rows: int = 16  # of a batch, in all processes together
    length: int = 64
    optimizer: str = "adamw"
    lr: float = 3e-3
    schedule: str = "linear"
    warmup: int = 25
    clip: float = 1.0
    autocast: str | None = None
    seed: int = 0
    every: int = 100  # steps from one checkpoint and validation to the next

    def __post_init__(self) -> None:
        sizes = {"steps": self.steps, "rows": self.rows, "length": self.length, "every": self.every}
        check_numbers("recipe", sizes, least=1, whole=True)
        check_numbers("recipe", least=0, whole=True, warmup=self.warmup)
        check_numbers("recipe", least=0, less_than=math.inf, lr=self.lr)
        check_numbers("recipe", above=0, clip=self.clip)
        check_numbers("recipe", whole=True, seed=self.seed)
        check_one_of("recipe", OPTIMIZERS, optimizer=self.optimizer)
        check_one_of("recipe", SCHEDULES, schedule=self.schedule)
        check_types("recipe", str, text=self.text)
        there = next(path for path in (self.checkpoint, *self.checkpoint.parents) if path.exists())
        if not there.is_dir():
            found = f"checkpoint={str(self.checkpoint)!r}, but {there.name} is a file"
            raise ValueError(f"recipe: {found}, expected a folder")
        if self.autocast is not None:
            check_one_of("recipe", DTYPES, autocast=self.autocast)


def read_recipe(file: str | Path) -> Recipe:
    """Read a recipe. Raises ValueError that names the key which is unknown or wrong, and FileNotFoundError."""
    file = Path(file)
    found = read_toml(file)
    if "checkpoint" not in found:
        raise ValueError(f"{file}: has no checkpoint, expected the folder of the training's checkpoints")
    check_types("recipe", str, checkpoint=found["checkpoint"], text=found.get("text", "stories"))
    found["checkpoint"] = file.parent / found["checkpoint"]
    if found.get("text", "stories") != "stories":
        found["text"] = str(file.parent / found["text"])
    parallel = found.get("parallel", {})
    if isinstance(parallel, dict) and "precision" in parallel:
        check_one_of("recipe", DTYPES, precision=parallel["precision"])
        parallel["precision"] = DTYPES[parallel["precision"]]
    found["parallel"] = with_values(Parallel(), parallel, "parallel")
    return with_values(Recipe(found["checkpoint"]), found, "recipe")


def read_toml(file: Path) -> dict[str, Any]:
    """The keys of a TOML file."""
    try:
        return tomllib.loads(read_text(file))
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{file}: no valid TOML: {error}") from error


def train(recipe: Recipe, *, progress: bool = True) -> Run:
    """Train as the recipe says, from the last checkpoint if there is one; validated and saved each `every` steps.

    Where TensorBoard is installed, losses go to the folder logs beside the checkpoints.
    """
    tokenizer, ids = _text(recipe.text)
    _check_length(recipe, ids[1])
    found = last_checkpoint(recipe.checkpoint)
    _check_letters(recipe, tokenizer, begun=found is not None)
    model, batches = _model(recipe, tokenizer), TextBatches(ids[0], recipe.length, recipe.rows, seed=recipe.seed)
    held_out = TextBatches(ids[1], recipe.length, 64, seed=recipe.seed)(0)
    with _logger(recipe.checkpoint / "logs") as log:
        return fit(
            model,
            batches,
            steps=recipe.steps,
            loss=language_model_loss,
            optimizer=OPTIMIZERS[recipe.optimizer](model, recipe.lr),
            schedule=SCHEDULES[recipe.schedule](recipe.steps, warmup=min(recipe.warmup, recipe.steps - 1)),
            clip=recipe.clip,
            autocast=DTYPES.get(recipe.autocast),
            seed=recipe.seed,
            parallel=recipe.parallel,
            evaluate=lambda model: {"validation": language_model_loss(model, held_out.to(_device())).item()},
            every=recipe.every,
            checkpoint=recipe.checkpoint,
            save_every=recipe.every,
            resume=None if found is None else recipe.checkpoint,
            after_step=log,
            progress=progress,
        )


def plan(recipe: Recipe, *, processes: int = 1) -> str:
    """What the training will need in each of so many processes, by formula; and the time, by three steps done here."""
    check_numbers("plan", least=1, whole=True, processes=processes)
    tokenizer, ids = _text(recipe.text)
    data, shard, tensor = recipe.parallel.sizes(processes)
    groups, again = data * shard, recipe.parallel.checkpointing
    rows = -(-recipe.rows // (groups * recipe.parallel.accumulate))  # of the largest piece
    model = _model(recipe, tokenizer)
    needed = memory(
        model, rows, recipe.length, optimizer=recipe.optimizer, shard=shard, tensor=tensor, checkpointing=again
    )
    a_step, tokens = flops(model, recipe.rows, recipe.length, checkpointing=again), recipe.rows * recipe.length
    parts = parameters_by_part(model)
    seconds = _seconds_of_a_step(recipe, model, ids[0], processes)
    lines = [
        f"processes      {processes}: data {data} · shard {shard} · tensor {tensor}",
        f"parameters     {sum(parts.values()):,}: " + ", ".join(f"{name} {n:,}" for name, n in parts.items() if n),
        "memory         in each process, float32, at most:",
        *(f"  {part.name:<13}{_bytes(getattr(needed, part.name))}" for part in fields(needed)),
        f"  {'together':<13}{_bytes(needed.total)}",
        f"FLOPs          {a_step:.3g} a step, {a_step * recipe.steps:.3g} in all",
        f"tokens         {tokens:,} a step, {tokens * recipe.steps:,} in all, {len(ids[0]):,} in the text",
        f"time           {seconds:.3f} s a step, {_time(seconds * recipe.steps)} in all: measured here, in one process "
        f"that does {1 / processes:.0%} of the work; what processes send each other is not in it",
    ]
    return "\n".join(lines)


def _check_length(recipe: Recipe, held_out: torch.Tensor) -> None:
    """The held-out tenth of the text must hold a window and its target."""
    if len(held_out) <= recipe.length:
        needed = f"length = {recipe.length:,} needs {recipe.length + 1:,}"
        raise ValueError(
            f"recipe: the last tenth of {recipe.text!r}, held out, has {len(held_out):,} letters, but {needed}: take a "
            f"shorter length, or a text of at least {10 * (recipe.length + 1):,} letters"
        )


def _check_letters(recipe: Recipe, tokenizer: CharTokenizer, *, begun: bool) -> None:
    """The letters, in the order of their ids, stand beside the checkpoints: another text may not go on with them."""
    file, letters = recipe.checkpoint / LETTERS, list(tokenizer.pieces)
    if begun and file.exists():
        before = json.loads(file.read_text("utf-8"))
        if before != letters:
            alone = [sorted(set(one) - set(other)) for one, other in ((before, letters), (letters, before))]
            told = [" ".join(map(repr, some[:5])) + " …" * (len(some) > 5) or "none" for some in alone]
            raise ValueError(
                f"recipe: the checkpoint in {str(recipe.checkpoint)!r} was trained on other letters than those of "
                f"{recipe.text!r}: it alone has {told[0]}, the text alone has {told[1]}; take another folder"
            )
    elif os.environ.get("RANK", "0") == "0":
        recipe.checkpoint.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(letters, ensure_ascii=False), "utf-8")


def with_values(default: Any, given: Any, where: str, operation: str = "recipe") -> Any:
    """A dataclass with other values, which are a table of TOML or an object of JSON."""
    if not isinstance(given, dict):
        raise ValueError(f"{operation}: {where} is {given!r}, expected a table")
    names = [part.name for part in fields(default)]
    for name in given:
        if name not in names:
            raise ValueError(f"{operation}: {where} has no {name!r}, expected one of {', '.join(names)}")
    nested = {name: getattr(default, name) for name in given if is_dataclass(getattr(default, name))}
    made = {
        name: with_values(part, given[name], name, operation)
        for name, part in nested.items()
        if isinstance(given[name], dict)
    }
    return replace(default, **given | made)


def _model(recipe: Recipe, tokenizer: CharTokenizer) -> DecoderOnly:
    config = with_values(TransformerConfig(len(tokenizer)), recipe.model, "model")
    with RandomStream(recipe.seed).on(torch.device("cpu")):
        return DecoderOnly(config).to(_device())


def _text(name: str) -> tuple[CharTokenizer, tuple[torch.Tensor, torch.Tensor]]:
    text = stories(STORIES) if name == "stories" else read_text(Path(name))
    tokenizer = CharTokenizer.train(text)
    return tokenizer, train_validation_split(torch.tensor(tokenizer.encode(text)))


def read_text(file: Path) -> str:
    """A text. Raises ValueError that names the file where it is none, and FileNotFoundError."""
    if file.is_dir():
        raise ValueError(f"recipe: {str(file)!r} is a folder, expected a file")
    try:
        return file.read_text("utf-8-sig")  # Windows' editors put a mark at the beginning
    except UnicodeDecodeError as error:
        raise ValueError(f"recipe: {str(file)!r} is no UTF-8 from byte {error.start} on, expected a text") from error


def _device() -> torch.device:
    """This process's own GPU, if there is one: else all models would be made on the first."""
    if not torch.cuda.is_available():
        return torch.device("cpu")
    return torch.device("cuda", int(os.environ.get("LOCAL_RANK", 0)))


@contextmanager
def _logger(folder: Path) -> Iterator[Callable[[Run], None] | None]:
    """Writes the last loss, norm and rate for TensorBoard, from the first process; closed at the end of the block."""
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:  # it is not installed
        yield None
        return
    writers: list[Any] = []

    def log(run: Run) -> None:
        if not run.layout.first:
            return
        if not writers:
            writers.append(SummaryWriter(str(folder)))
        for name in ("losses", "gradient_norms", "rates"):
            writers[0].add_scalar(name, getattr(run, name)[-1], run.step)
        if run.evaluations and run.evaluations[-1]["step"] == run.step:
            writers[0].add_scalar("validation", run.evaluations[-1]["validation"], run.step)

    try:
        yield log
    finally:
        for writer in writers:
            writer.close()


def _seconds_of_a_step(recipe: Recipe, model: DecoderOnly, ids: torch.Tensor, processes: int) -> float:
    """The quickest of three steps on the rows of one process; the model is then another one."""
    batches = TextBatches(ids, recipe.length, max(1, recipe.rows // processes), seed=recipe.seed)
    run = Run(model, batches, loss=language_model_loss, optimizer=OPTIMIZERS[recipe.optimizer](model))
    seconds = []
    for _ in range(3):
        start = time.perf_counter()
        run.train_step()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def _bytes(number: int) -> str:
    return f"{number / 2**20:,.1f} MiB" if number < 2**30 else f"{number / 2**30:,.2f} GiB"


def _time(seconds: float) -> str:
    return (
        f"{seconds:.0f} s"
        if seconds < 120
        else f"{seconds / 60:.0f} min"
        if seconds < 7200
        else f"{seconds / 3600:.1f} h"
    )
