"""Training runs with a planted fault, and what each of them records for the training doctor.

    record = planted_run("no warm-up", seed=0)                         a second or two
    recorded_runs()["no warm-up"]                                      the same, from runs.json

A small translator of number words (width 32, two blocks a side) is trained for 80 steps of 32 sentences. One thing is
wrong in each run, all others are healthy.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch
from torch import nn

from tx_helpers.nn.arguments import check_numbers, check_one_of
from tx_helpers.nn.models import EncoderDecoder
from tx_helpers.text.data import PAD, PairData, SequenceBatch, sequence_batch, word_pairs
from tx_helpers.text.number_words import number_pairs
from tx_helpers.training.contexts import RandomStream, cpu_threads
from tx_helpers.training.experiment import Experiment
from tx_helpers.training.losses import translation_loss
from tx_helpers.training.optimizers import Schedule, adamw, constant, cosine, linear_warmup_decay
from tx_helpers.zoo.recipes import translator_config

STEPS, BATCH, RATE, WARMUP = 80, 32, 5e-3, 15
Batches = Callable[[int], SequenceBatch]


@lru_cache(1)
def _data() -> tuple[PairData, SequenceBatch]:
    pairs = number_pairs(below=10_000, held_out=200)
    data = word_pairs(pairs.train)
    return data, sequence_batch(data.encode(pairs.held_out))


def guess_by_frequency(data: PairData) -> float:
    """The loss of the best answer that looks at nothing: −Σ p ln p of the words' shares p, in nats."""
    target = sequence_batch(data.pairs).target
    counts = torch.bincount(target[target != PAD]).double()
    shares = counts[counts > 0] / counts.sum()
    return -float((shares * shares.log()).sum())


def the_same_two(batches: Batches) -> Batches:
    """The first two batches over and over."""
    return lambda step: batches(step % 2)


def shuffled(batches: Batches) -> Batches:
    """The words of all targets of a batch in another order."""

    def batch(step: int) -> SequenceBatch:
        given = batches(step)
        target, real = given.target.clone(), given.target != PAD
        order = torch.randperm(int(real.sum()), generator=torch.Generator().manual_seed(step))
        target[real] = target[real][order]
        return given._replace(target=target)

    return batch


def one_wrong(batches: Batches) -> Batches:
    """In step 50 the words of the targets are drawn at random."""

    def batch(step: int) -> SequenceBatch:
        given = batches(step)
        if step != 50:
            return given
        drawn = torch.randint(4, 30, given.target.shape, generator=torch.Generator().manual_seed(step))
        return given._replace(target=torch.where(given.target == PAD, PAD, drawn))

    return batch


def freeze_a_block(model: nn.Module) -> None:
    """The encoder's second block does not learn."""
    model.encoder.blocks[1].requires_grad_(False)


RECIPE = linear_warmup_decay(STEPS, warmup=WARMUP)


@dataclass(frozen=True)
class Plan:
    """How to train: what differs from the healthy run."""

    rate: float = RATE
    schedule: Schedule = RECIPE
    clip: float | None = 1.0
    momentum: float | None = None  # SGD in place of AdamW
    changes: dict[str, Any] | None = None
    batches: Callable[[Batches], Batches] = lambda batches: batches
    prepare: Callable[[nn.Module], None] = lambda model: None
    half_scale: float | None = None  # gradients times this pass through float16
    steps: int = STEPS


POST = {"wiring": "post_norm"}
FAULTS = {
    "rate too high": Plan(rate=0.3),
    "rate too low": Plan(rate=3e-5),
    "no warm-up": Plan(rate=0.04, schedule=linear_warmup_decay(STEPS), changes=POST),
    "exploding norm": Plan(rate=3.0, clip=None, momentum=0.9),
    "data repeated": Plan(batches=the_same_two),
    "labels shuffled": Plan(batches=shuffled),
    "half precision": Plan(half_scale=2.0**20),
    "frozen part": Plan(prepare=freeze_a_block),
    "one bad batch": Plan(batches=one_wrong),
}
HEALTHY = {
    "the recipe": Plan(),
    "no warm-up, but a small rate": Plan(rate=2e-3, schedule=constant()),
    "cosine": Plan(schedule=cosine(STEPS, warmup=10)),
    "SGD": Plan(rate=0.5, momentum=0.9),
    "post-norm": Plan(changes=POST),
    "float16, scaled as it should be": Plan(half_scale=2.0**10),
    "twice the rate": Plan(rate=1e-2),
    "250 steps": Plan(steps=250, schedule=linear_warmup_decay(250, warmup=WARMUP)),
}


def planted_run(name: str, seed: int = 0) -> dict[str, Any]:
    """Train the run of this name, of FAULTS or HEALTHY. -> its record, as `doctor` reads it"""
    check_one_of("planted_run", [*FAULTS, *HEALTHY], name=name)
    check_numbers("planted_run", whole=True, seed=seed)
    plan = {**FAULTS, **HEALTHY}[name]
    data, held = _data()
    with cpu_threads(1), RandomStream(seed).on(torch.device("cpu")):
        model = EncoderDecoder(translator_config(data, d_model=32, **(plan.changes or {})))
        plan.prepare(model)
        record = _train(model, plan.batches(data.batches(BATCH, seed=seed)), held, plan)
    return record | {"guess": guess_by_frequency(data)}


def _train(model: nn.Module, batches: Batches, held: SequenceBatch, plan: Plan) -> dict[str, Any]:
    if plan.momentum is None:
        optimizer: torch.optim.Optimizer = adamw(model, plan.rate)
    else:
        optimizer = torch.optim.SGD(model.parameters(), lr=plan.rate, momentum=plan.momentum)
    matrices = _matrices(model)
    losses, norms, rates, validation = [], [], [], {}
    ratios: dict[str, list[float]] = {part: [] for part in matrices}
    for step in range(plan.steps):
        loss = translation_loss(model, batches(step))
        model.zero_grad()
        loss.backward()
        norm = _prepared(model, plan)
        rates.append(plan.rate * plan.schedule(step))
        for group in optimizer.param_groups:
            group["lr"] = rates[-1]
        old = {part: [one.detach().clone() for one in several] for part, several in matrices.items()}
        if math.isfinite(norm):  # a step that overflowed is left out, as GradScaler does
            optimizer.step()
        losses.append(loss.item())
        norms.append(norm)
        for part, several in matrices.items():
            ratios[part].append(
                _size([new - was for new, was in zip(several, old[part], strict=True)]) / _size(old[part])
            )
        if (step + 1) % 10 == 0:
            with torch.no_grad():
                validation[step + 1] = translation_loss(model, held).item()
    return dict(losses=losses, gradient_norms=norms, rates=rates, ratios=ratios, validation=validation)


def _prepared(model: nn.Module, plan: Plan) -> float:
    """Round the gradients to float16 where the plan says so, and clip them. -> their norm before"""
    learned = [parameter for parameter in model.parameters() if parameter.grad is not None]
    if plan.half_scale:
        for parameter in learned:
            parameter.grad = (parameter.grad * plan.half_scale).half().float() / plan.half_scale
    return nn.utils.clip_grad_norm_(learned, plan.clip or math.inf).item()


def _size(tensors: Sequence[torch.Tensor]) -> float:
    return math.sqrt(sum(float(tensor.detach().double().square().sum()) for tensor in tensors))


def _matrices(model: nn.Module) -> dict[str, list[nn.Parameter]]:
    """The matrices of each sub-layer, by a short name: "encoder.0.self_attention"."""
    found: dict[str, list[nn.Parameter]] = {}
    for name, parameter in model.named_parameters():
        if parameter.dim() == 2:
            part = ".".join(name.replace(".blocks", "").split(".")[:3]) if ".blocks." in name else "embedding"
            found.setdefault(part, []).append(parameter)
    return found


# --- recorded ---------------------------------------------------------------------------------------------------------
@lru_cache(1)
def recorded_runs() -> dict[str, dict[str, Any]]:
    """The records of the healthy recipe and of each fault, seed 0, from runs.json."""
    return {
        name: run | {"validation": {int(step): loss for step, loss in run["validation"].items()}}
        for name, run in RECORDED.read().items()
    }


def record_runs() -> dict[str, dict[str, Any]]:
    """Train all of them again, rounded to four digits."""
    return {name: _rounded(planted_run(name)) for name in ("the recipe", *FAULTS)}


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _rounded(one) for name, one in value.items()}
    return [_rounded(one) for one in value] if isinstance(value, list) else float(f"{value:.4g}")


RECORDED = Experiment(Path(__file__).with_suffix(".json"), record_runs, "20 seconds")
