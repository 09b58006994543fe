"""The tournament: three families, nine tasks, the same budget.

    play("decoder", "answer")                    # Result(score=0.59, …): one cell of the table, in some seconds
    recorded()                                   # the full table, over five seeds, as it was recorded

Held equal: the examples of a task, their order and batches, the questions of the test, the number of steps, optimizer,
learning rates and schedule, the width, the number of parameters (within 2 %), and the texts of pretraining. What
differs is the family: who sees whom, the objective of pretraining that goes with it, and the way in which the family is
asked (`contestants`). The time of a step is not equal: each half of an encoder–decoder reads only one of the two texts.

The questions are about combinations that do not occur in training. A share p of 100 questions has a standard error of
√(p (1 − p) / 100), which is part of the spread over the seeds.

The file tournament.json:

    {"about": {"seeds": [0, …], "steps", "batch", "rates", "examples", "questions",    # of every cell
               "parameters": {family: count}, "weights": {family: hash}, "cores", "torch", "minutes"},
     "tasks": {task: {"measure": "right labels", "guess": […], "best": […]}},          # a number for each seed
     "scores": {"pretrained": {family: {task: [a score for each seed]}},
                "scratch": {family: {task: […]}}},                                     # the tasks of FROM_SCRATCH
     "longer": {"steps": 240, "seeds", "scores": {family: {task: […]}}}}             # the tasks of LONGER, three seeds

guess is the score without a model (`Task.guess`), and best that of a model which knows the world exactly: in `fill_gap`
several words are often possible, and `most_hits` says how often the likeliest one is right. `weights` are the first
digits of the SHA-256 of the pretrained weights; `weights_hash` gives those of the weights in the package.
"""

import hashlib
import random
import time
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import torch

from tx_helpers.lessons.families.contestants import CONTESTANTS, Contestant, contestant, family_loss
from tx_helpers.lessons.families.tasks import TASKS, most_hits, task_named
from tx_helpers.nn.arguments import check_numbers, check_one_of
from tx_helpers.nn.models import TransformerModel, count_parameters
from tx_helpers.training.contexts import RandomStream
from tx_helpers.training.experiment import Experiment
from tx_helpers.training.loop import Optimizers, fit
from tx_helpers.training.optimizers import linear_warmup_decay, muon
from tx_helpers.zoo.world_models import FOLDER, new_world_model, world_model

FAMILIES = tuple(CONTESTANTS)
STARTS = ("pretrained", "scratch")
FROM_SCRATCH = ("fill_gap", "sentiment", "resolve")  # the tasks that are also learned without pretraining
STEPS, BATCH, SEEDS = 60, 16, range(5)
LONGER_STEPS, LONGER_SEEDS = 240, 3
LONGER = tuple(task for task in TASKS if task != "sentiment")  # which all three have learned after STEPS
RATES = {"lr": 0.02, "momentum": 0.8, "adamw_lr": 6e-3}  # of Muon, and of AdamW for embeddings and what is new
EXAMPLES, QUESTIONS = STEPS * BATCH, 100
FRESH = 1000  # added to the seed of questions: examples of the same seed would be near copies


class Result(NamedTuple):
    """One cell of the table."""

    family: str
    task: str
    start: str
    seed: int
    score: float
    loss: float  # mean of the last ten steps
    seconds: float


def play(
    family: str,
    task: str,
    *,
    seed: int = 0,
    start: str = "pretrained",
    steps: int = STEPS,
    model: TransformerModel | None = None,
) -> Result:
    """Fine-tune the family's model on a task and test it. `model` takes the place of the world model; it is changed.

    All that is random depends on `seed`: examples, batches, questions, and the values of what is new.
    """
    check_one_of("play", FAMILIES, family=family)
    check_one_of("play", STARTS, start=start)
    check_numbers("play", least=1, whole=True, steps=steps)
    check_numbers("play", least=0, whole=True, seed=seed)
    began = time.perf_counter()
    player = new_player(family, task, start=start, seed=seed, model=model)
    given, targets = examples(task, EXAMPLES, "train", seed)
    losses = train(player, given, targets, muon(player, **RATES), steps=steps, batch=BATCH, seed=seed)
    given, targets = examples(task, QUESTIONS, "test", FRESH + seed)
    score = player.task.score(given, targets, player.answers(given))
    last = losses[-10:]
    return Result(family, task, start, seed, score, sum(last) / len(last), time.perf_counter() - began)


def new_player(
    family: str, task: str, *, start: str = "pretrained", seed: int = 0, model: TransformerModel | None = None
) -> Contestant:
    """The family's model, pretrained or new, as one that is asked this task. New values depend on the seed alone."""
    with RandomStream(seed).on(torch.device("cpu")):
        if model is None:
            model = world_model(family) if start == "pretrained" else new_world_model(family)
        return contestant(family, model, task).eval()


def train(
    player: Contestant,
    given: Sequence,
    targets: Sequence,
    optimizer: Optimizers,
    *,
    steps: int,
    batch: int,
    seed: int,
) -> list[float]:
    """Train a contestant on examples. -> the losses"""
    task = player.task
    lengths = [len(task.question(*pair[:1])) + len(task.answer(*pair)) for pair in zip(given, targets, strict=True)]
    numbers = batches_of_a_length(lengths, batch, steps=steps, seed=seed)
    run = fit(
        player,
        lambda step: player.batch([given[n] for n in numbers[step]], [targets[n] for n in numbers[step]], seed=step),
        steps=steps,
        loss=family_loss,
        optimizer=optimizer,
        schedule=linear_warmup_decay(steps, warmup=steps // 10),
        seed=seed,
        progress=False,
    )
    return run.losses


def batches_of_a_length(
    lengths: Sequence[int], size: int, *, steps: int, seed: int, together: int = 8
) -> list[list[int]]:
    """`steps` batches of numbers of examples; those of a batch have similar lengths, which saves padding.

    The examples are shuffled. Then those of `together` batches at a time are sorted by length and cut into batches,
    which are shuffled. Each example comes once in an epoch, and every batch is full.
    """
    drawn, waiting, batches = random.Random(seed), [], []
    while len(batches) < steps:
        while len(waiting) < size * together:
            epoch = list(range(len(lengths)))
            drawn.shuffle(epoch)
            waiting += epoch
        chosen = sorted(waiting[: size * together], key=lengths.__getitem__)
        waiting = waiting[size * together :]
        cut = [chosen[first : first + size] for first in range(0, len(chosen), size)]
        drawn.shuffle(cut)
        batches += cut
    return batches[:steps]


@lru_cache(maxsize=32)
def examples(task: str, count: int, split: str, seed: int) -> tuple[list, list]:
    """Examples of a task; made once, because all families get the same."""
    return task_named(task).examples(count, split=split, seed=seed)


def measured(seed: int) -> dict[str, Any]:
    """All cells of a seed: {"scores": {start: {family: {task: score}}}, "guess": {task: …}, "best": {task: …}}."""
    found: dict[str, Any] = {"scores": {}, "guess": {}, "best": {}}
    for start in STARTS:
        for task in TASKS if start == "pretrained" else FROM_SCRATCH:
            for family in FAMILIES:
                result = play(family, task, seed=seed, start=start)
                found["scores"].setdefault(start, {}).setdefault(family, {})[task] = round(result.score, 4)
                print(f"seed {seed}  {start:10} {task:10} {family:16} {result.score:.3f}  {result.seconds:5.1f} s")
    for name, task in TASKS.items():
        test = examples(name, QUESTIONS, "test", FRESH + seed)
        found["guess"][name] = task.guess(*test, *examples(name, EXAMPLES, "train", seed))
        found["best"][name] = most_hits(*test) if name == "fill_gap" else 1.0
    return found


def measured_longer(seed: int) -> dict[str, dict[str, float]]:
    """The tasks of LONGER for a seed, {family: {task: score}}: the same examples, four times over."""
    found: dict[str, dict[str, float]] = {}
    for family in FAMILIES:
        for task in LONGER:
            result = play(family, task, seed=seed, steps=LONGER_STEPS)
            found.setdefault(family, {})[task] = round(result.score, 4)
            print(f"seed {seed}  longer     {task:10} {family:16} {result.score:.3f}  {result.seconds:5.1f} s")
    return found


def weights_hash(family: str) -> str:
    """The first 12 digits of the SHA-256 of the pretrained weights that come with the package, without their header."""
    content = (FOLDER / f"{family}.safetensors").read_bytes()
    header = 8 + int.from_bytes(content[:8], "little")  # its length, then what stands where, and what was measured
    return hashlib.sha256(content[header:]).hexdigest()[:12]


# --- recorded ---------------------------------------------------------------------------------------------------------
def play_all(begun: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """What the head of this file says of tournament.json, after each part of a seed that it did not hold."""
    made_with = {
        "parameters": {family: count_parameters(new_world_model(family)) for family in FAMILIES},
        "weights": {family: weights_hash(family) for family in FAMILIES},
    }
    table = begun or {
        "about": {"seeds": [], **made_with},
        "tasks": {name: {"measure": task.measure, "guess": [], "best": []} for name, task in TASKS.items()},
        "scores": {},
        "longer": {"steps": LONGER_STEPS, "seeds": [], "scores": {}},
    }
    about, longer = table["about"], table["longer"]
    if {name: about[name] for name in made_with} != made_with or longer["steps"] != LONGER_STEPS:
        raise ValueError("families/tournament: made with other weights or longer steps, expected today's; --anew")
    for seed in SEEDS:
        if seed not in about["seeds"]:
            found = measured(seed)
            table["scores"] = appended(table["scores"], found["scores"])
            for name, entry in table["tasks"].items():
                entry["guess"].append(round(found["guess"][name], 4))
                entry["best"].append(round(found["best"][name], 4))
            about["seeds"].append(seed)
            yield table
        if seed not in longer["seeds"] and seed < LONGER_SEEDS:
            longer["scores"] = appended(longer["scores"], measured_longer(seed))
            longer["seeds"].append(seed)
            yield table


def appended(before: Any, found: Any) -> Any:
    """The scores of one more seed behind those of the seeds before, at every place of a table."""
    if isinstance(found, dict):
        return {key: appended((before or {}).get(key), value) for key, value in found.items()}
    return [*(before or []), found]


SETTINGS = {"steps": STEPS, "batch": BATCH, "rates": RATES, "examples": EXAMPLES, "questions": QUESTIONS}
RECORDED = Experiment(Path(__file__).with_suffix(".json"), play_all, "80 minutes", SETTINGS)
recorded = RECORDED.read


def mean_and_spread(scores: Sequence[float]) -> tuple[float, float, float]:
    """Mean, smallest and largest of the scores of all seeds."""
    return sum(scores) / len(scores), min(scores), max(scores)
