"""What reward does to the base models: runs of some seconds, and the same at five seeds, recorded.

    run = learn(SIX)                 # 40 updates of 16 problems × 16 answers: some seconds
    run.curves["right"]              # the share of right answers, update by update, by the exact checker
    measure(run.model, SIX)          # on 512 other problems: right, steps, length …
    recorded()["six"]                # the five seeds of a run: {"curves": …, "before": …, "after": …} each

In runs.json each seed has a base model of its own (`base.pretrain`), seed 0 the shipped one. How the file that is
shipped was made, seed by seed, stands in it under "made".
"""

from copy import deepcopy
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from tx_helpers.lessons.learning_from_reward.base import base_model, pretrain
from tx_helpers.lessons.learning_from_reward.checkers import (
    Checker,
    by_steps,
    coin,
    exact,
    upside_down,
    with_hole,
)
from tx_helpers.lessons.learning_from_reward.sums import FOUR, PAD, SIX, STOP, Sums
from tx_helpers.nn.arguments import check_types
from tx_helpers.training.experiment import Experiment
from tx_helpers.training.optimizers import adamw
from tx_helpers.training.reward import Sampled, answer_log_probs, sample_answers, train_on_reward

SEEDS = range(5)
KEPT = {"reward", "length", "entropy", "equal", "kl", "right", "steps"}  # of a run's curves
FRESH = {"count": 2048, "seed": 4242}  # problems that no rate was chosen on
USUAL = {"updates": 40, "problems": 16, "group": 16, "rate": 4e-4}
GENTLE = {"problems": 32, "rate": 1e-4}  # what four digits need: there most answers are right from the start
RUNS: dict[str, tuple[Sums, Any, dict[str, Any]]] = {  # name: task, checker, what differs from USUAL
    "six": (SIX, exact, {}),
    "four": (FOUR, exact, GENTLE),
    "four, usual rate": (FOUR, exact, {}),
    "six, coin": (SIX, coin, {}),
    "six, upside down": (SIX, upside_down, {}),
    "six, by steps": (SIX, by_steps, {}),
    "six, rate × 10": (SIX, exact, {"rate": 4e-3}),
    "four, hole": (FOUR, with_hole, {"updates": 60}),
    "four, hole, KL 0.3": (FOUR, with_hole, {"updates": 60, "kl_weight": 0.3}),
    "six, hole": (SIX, with_hole, {}),
}


class Learned(NamedTuple):
    """A model after its training, and its curves: reward, right, steps, length, entropy, kl, equal, ratio."""

    model: nn.Module
    curves: dict[str, list[float]]


class _Watched:
    """A checker that also notes what the exact one says, and how many answers have steps."""

    def __init__(self, task: Sums, checker: Checker):
        self.task, self.checker, self.seen = task, checker, {"right": 0.0, "steps": 0.0}

    def __call__(self, ids: Tensor, written: Tensor) -> Tensor:
        self.seen = {
            "right": self.task.reward(ids, written).mean().item(),
            "steps": self.task.with_steps(written).float().mean().item(),
        }
        return self.checker(ids, written)


def learn(
    task: Sums = SIX, checker: Checker | None = None, *, model: nn.Module | None = None, seed: int = 0, **options: Any
) -> Learned:
    """Train a copy of the base model on what the checker pays; options of `train_on_reward`."""
    check_types("learn", Sums, task=task)
    model = deepcopy(base_model(task) if model is None else model)
    watched = _Watched(task, checker or exact(task))
    given = USUAL | options
    records = train_on_reward(
        model,
        task.draw,
        watched,
        stop=STOP,
        max_new=task.longest + 4,
        seed=seed,
        after=lambda update, record: dict(watched.seen),
        **given,
    )
    return Learned(model.eval(), {name: [one[name] for one in records] for name in records[0]})


def filtered(task: Sums = SIX, *, model: nn.Module | None = None, seed: int = 0, updates: int = 40) -> Learned:
    """The rival without a baseline: keep the right answers and train on them as on texts (rejection sampling)."""
    model = deepcopy(base_model(task) if model is None else model)
    optimizer = adamw(model, USUAL["rate"], weight_decay=0.0)
    watched = _Watched(task, exact(task))
    curves: dict[str, list[float]] = {"right": [], "steps": []}
    for update in range(updates):
        sampled = answers(model, task, count=USUAL["problems"], each=USUAL["group"], seed=seed * 1_000_003 + update)
        kept = watched(sampled.ids, sampled.answer) > 0
        for name, value in watched.seen.items():
            curves[name].append(value)
        if kept.any():
            ids, answer = sampled.ids[kept], sampled.answer[kept]
            loss = -answer_log_probs(model, ids, answer).sum() / answer.sum()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
    return Learned(model.eval(), curves)


def answers(
    model: nn.Module, task: Sums, *, count: int, each: int = 1, seed: int = 0, temperature: float = 1.0
) -> Sampled:
    """`each` answers to each of `count` problems, in this order."""
    generator = torch.Generator().manual_seed(seed)
    prompts = task.draw(count, generator).repeat_interleave(each, 0)
    return sample_answers(
        model, prompts, stop=STOP, max_new=task.longest + 4, temperature=temperature, generator=generator
    )


@torch.no_grad()
def measure(model: nn.Module, task: Sums, *, count: int = 512, seed: int = 77_777) -> dict[str, float]:
    """On problems that no training drew: right, steps (share), right with and without steps, length, greedy; and
    the loss on right texts, in nats a token: `direct_loss`, `steps_loss`. A share of nothing is −1."""
    sampled = answers(model, task, count=count, seed=seed)
    right, long = task.reward(sampled.ids, sampled.answer), task.with_steps(sampled.answer)
    greedy = answers(model, task, count=count, seed=seed, temperature=0.0)
    prompts, found = sampled.ids[:, : task.terms + 1], {}
    for name, steps in (("direct", False), ("steps", True)):
        texts = task.texts(prompts, torch.full((count,), steps))
        scored = (texts != PAD) & (torch.arange(texts.shape[1]) > task.terms)
        found[f"{name}_loss"] = (-answer_log_probs(model, texts, scored).sum() / scored.sum()).item()
    return {
        "right": right.mean().item(),
        "steps": long.float().mean().item(),
        "right_with": right[long].mean().item() if long.any() else -1.0,
        "right_without": right[~long].mean().item() if (~long).any() else -1.0,
        "length": sampled.answer.sum(1).float().mean().item(),
        "greedy": task.reward(greedy.ids, greedy.answer).mean().item(),
        **found,
    }


def right_counts(model: nn.Module, task: Sums, *, count: int = 100, each: int = 256, seed: int = 55_555) -> Tensor:
    """How many of `each` answers to a problem are right: (count,)."""
    sampled = answers(model, task, count=count, each=each, seed=seed)
    return task.reward(sampled.ids, sampled.answer).view(count, each).sum(1).int()


def record_all() -> dict[str, dict[str, list]]:
    """{"runs": {name: a row for each seed, as `record_seed` gives them}}"""
    found: dict[str, list] = {}
    for seed in SEEDS:
        for name, row in record_seed(seed).items():
            found.setdefault(name, []).append(row)
    return {"runs": found}


def record_seed(seed: int) -> dict[str, dict]:
    """All runs of one seed."""
    bases = {task: base_model(task) if seed == 0 else pretrain(task, seed=seed) for task in (SIX, FOUR)}
    before = {task: measure(model, task) for task, model in bases.items()}
    found, models = {}, {}
    for name, (task, checker, options) in RUNS.items():
        run = learn(task, checker(task), model=bases[task], seed=seed, **options)
        found[name] = _row(run, task, before[task])
        if name in {"six", "four", "four, hole"}:
            models[name] = run.model
    run = filtered(model=bases[SIX], seed=seed)
    found["six, filtered"] = _row(run, SIX, before[SIX])
    mended = learn(FOUR, model=models["four, hole"], seed=seed + 100)
    found["four, hole mended"] = _row(mended, FOUR, measure(models["four, hole"], FOUR))
    both = {"before": bases[FOUR], "after": models["four"]}
    found["four"]["fresh"] = {when: round(measure(one, FOUR, **FRESH)["right"], 4) for when, one in both.items()}
    for name, task in (("six", SIX), ("four", FOUR)):
        found[name]["counts before"] = right_counts(bases[task], task).tolist()
        found[name]["counts after"] = right_counts(models[name], task).tolist()
    return found


def _row(run: Learned, task: Sums, before: dict[str, float]) -> dict:
    """A run as it is kept: every fifth update of the curves that are shown."""
    kept = {name: values[::5] for name, values in run.curves.items() if name in KEPT}
    thin = {name: [round(value, 4) for value in values] for name, values in kept.items()}
    after = measure(run.model, task)
    rounded = [{name: round(value, 4) for name, value in one.items()} for one in (before, after)]
    return {"curves": thin, "before": rounded[0], "after": rounded[1]}


RECORDED = Experiment(Path(__file__).with_suffix(".json"), record_all, "half an hour", {})


def recorded() -> dict[str, list[dict]]:
    """name -> a row for each seed, as `record_seed` gives them."""
    return RECORDED.read()["runs"]
