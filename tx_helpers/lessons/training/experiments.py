"""The notebook's trainings that would take too long in it: three experiments, each at several seeds, recorded.

    recorded("starts")            {"as it was": [run of seed 0, …], …}, a run: {"losses", "held_out", "exact", …}

starts     the model of notebook 08 as it is, and three mends that put its first loss at ln V; 150 steps
schedules  five ways from the largest rate to the end of 200 steps, at three largest rates
remedies   dropout and weight decay, with 100 and with 5,000 pairs; 180 steps of 32 pairs
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import nn

from tx_helpers.lessons.training.schedules import KINDS, PEAKS, STEPS, WARMUP, factors
from tx_helpers.nn.arguments import check_one_of
from tx_helpers.nn.models import EncoderDecoder
from tx_helpers.plain import Transformer
from tx_helpers.text.data import PairBatches, PairData, sequence_batch, word_pairs
from tx_helpers.text.number_words import number_pairs
from tx_helpers.training.experiment import Experiment
from tx_helpers.training.loop import Run, fit
from tx_helpers.training.losses import translation_loss
from tx_helpers.training.optimizers import adamw, linear_warmup_decay
from tx_helpers.zoo.recipes import Translator, translator_config

EVERY = 5  # a recorded loss is the mean of EVERY steps
PAIRS = number_pairs()
BETAS, DECAY = (0.9, 0.98), 0.01


# --- how a model starts -----------------------------------------------------------------------------------------------
def small_target_table(model: nn.Module) -> None:
    """The decoder's table, which is the output's too, gets the standard deviation 0.02 instead of 1/√D = 0.125."""
    model.decoder.input.tokens.weight.mul_(0.02 * model.decoder.input.tokens.embedding_dim**0.5)


def small_tables(model: nn.Module) -> None:
    """Both tables get the standard deviation 0.02, as in GPT-2."""
    small_target_table(model)
    model.encoder.input.tokens.weight.mul_(0.02 * model.encoder.input.tokens.embedding_dim**0.5)


def small_last_gain(model: nn.Module) -> None:
    """The scale of the last norm is 0.1, so all logits are a tenth of what they were."""
    model.decoder.norm.weight.mul_(0.1)


STARTS: dict[str, Callable[[nn.Module], None]] = {
    "as it was": lambda model: None,
    "both tables small": small_tables,
    "last norm's gain 0.1": small_last_gain,
    "target table small": small_target_table,
}


def started(start: str, seed: int, data: PairData) -> Transformer:
    """The model of notebook 08 with the first weights of a seed, changed as `STARTS` says."""
    check_one_of("started", STARTS, start=start)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = Transformer(len(data.source_tokenizer), len(data.target_tokenizer))
    with torch.no_grad():
        STARTS[start](model)
    return model


# --- the three experiments --------------------------------------------------------------------------------------------
def train_start(start: str, seed: int) -> dict[str, Any]:
    """150 steps from one of STARTS, with the notebook's settings."""
    data = word_pairs(PAIRS.train)
    model = started(start, seed, data)
    run = _fit(model, data, seed, 150, 5e-3, linear_warmup_decay(150, warmup=50))
    near = next((step for step in range(5, 151) if sum(run.losses[step - 5 : step]) < 5 * 0.3), None)
    return {"start": start, "seed": seed, "steps_to_0.3": near} | _end(model, data, run)


def train_schedule(kind: str, peak: float, seed: int) -> dict[str, Any]:
    """200 steps on one of KINDS, 50 of them warm-up, from the mended start."""
    data = word_pairs(PAIRS.train)
    model = started("target table small", seed, data)
    rate = factors(kind, warmup=WARMUP, steps=STEPS)
    run = _fit(model, data, seed, STEPS, peak, rate)
    return {"kind": kind, "peak": peak, "seed": seed} | _end(model, data, run)


def train_remedy(count: int, dropout: float, decay: float, seed: int) -> dict[str, Any]:
    """180 steps on the last `count` pairs: the package's translator, since it has dropout; both losses every 30."""
    data = word_pairs(PAIRS.train)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = EncoderDecoder(translator_config(data, dropout=dropout))
    learned, unseen = sequence_batch(data.pairs[-100:]), sequence_batch(data.encode(PAIRS.held_out[:200]))

    def both(model: nn.Module) -> dict[str, float]:
        return {"trained": translation_loss(model, learned), "held_out": translation_loss(model, unseen)}

    run = fit(
        model,
        PairBatches(data.pairs[-count:], 32, seed=seed),
        steps=180,
        loss=translation_loss,
        optimizer=adamw(model, 3e-3, betas=BETAS, weight_decay=decay),
        schedule=linear_warmup_decay(180, warmup=20),
        evaluate=both,
        every=30,
        seed=seed,
        progress=False,
    )
    end = {"count": count, "dropout": dropout, "decay": decay, "seed": seed, "evaluations": _rounded(run.evaluations)}
    return end | {"exact": round(Translator(model.eval(), data).exact_match(PAIRS.held_out[:200]), 3)}


def _fit(model: nn.Module, data: PairData, seed: int, steps: int, peak: float, schedule: Callable) -> Run:
    options = dict(loss=translation_loss, schedule=schedule, progress=False)
    optimizer = adamw(model, peak, betas=BETAS, weight_decay=DECAY)
    return fit(model, data.batches(64, seed=seed), steps=steps, optimizer=optimizer, **options)


def _end(model: nn.Module, data: PairData, run: Run) -> dict[str, Any]:
    """The mean losses of every five steps, and loss and exact match on 300 held-out numbers."""
    unseen = PAIRS.held_out[:300]
    with torch.no_grad():
        loss = translation_loss(model.eval(), sequence_batch(data.encode(unseen))).item()
    means = [sum(run.losses[i : i + EVERY]) / EVERY for i in range(0, len(run.losses), EVERY)]
    exact = Translator(model, data).exact_match(unseen)
    curve = {"first": round(run.losses[0], 3), "losses": [round(mean, 4) for mean in means]}
    return curve | {"held_out": round(loss, 4), "exact": round(exact, 3)}


def _rounded(evaluations: list[dict[str, float]]) -> list[dict[str, float]]:
    return [{name: round(value, 4) for name, value in one.items()} for one in evaluations]


# --- what is recorded -------------------------------------------------------------------------------------------------
REMEDIES = {"neither": (0.0, 0.01), "dropout 0.1": (0.1, 0.01), "weight decay 3": (0.0, 3.0)}


def _starts() -> list[dict[str, Any]]:
    return [train_start(start, seed) for seed in range(5) for start in STARTS]


def _schedules() -> list[dict[str, Any]]:
    return [train_schedule(kind, peak, seed) for seed in range(3) for peak in PEAKS for kind in KINDS]


def _remedies() -> list[dict[str, Any]]:
    every = ((count, *remedy) for count in (100, 5000) for remedy in REMEDIES.values())
    return [train_remedy(*one, seed) for one in every for seed in range(3)]


FOLDER = Path(__file__).parent
RECORDED_STARTS = Experiment(FOLDER / "starts.json", _starts, "90 seconds")
RECORDED_SCHEDULES = Experiment(FOLDER / "schedules.json", _schedules, "4 minutes")
RECORDED_REMEDIES = Experiment(FOLDER / "remedies.json", _remedies, "70 seconds")
EXPERIMENTS = {one.file.stem: one for one in (RECORDED_STARTS, RECORDED_SCHEDULES, RECORDED_REMEDIES)}


def recorded(name: str) -> list[dict[str, Any]]:
    """All runs of an experiment, as they were recorded."""
    check_one_of("recorded", EXPERIMENTS, name=name)
    return EXPERIMENTS[name].read()
