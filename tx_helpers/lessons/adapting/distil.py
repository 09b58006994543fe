"""Distillation: a small student learns from a stronger teacher's texts or distributions, or from true texts.

    recorded()["loss"]["distributions"]["200"]   # nats a token on unseen true texts, one a seed
    recorded()["teacher"]                        # the same of the teacher, one a seed

Each student has the same beginning, steps and rate, and as many texts:

    true texts        texts of the world, the next token as target
    teacher's texts   texts that the teacher writes at temperature 1, the next token as target
    distributions     texts of the world; the target at each place is the teacher's softmax over all V tokens

Sources: Hinton et al. 2015, *Distilling the knowledge in a neural network* (distributions); Kim and Rush 2016,
*Sequence-level knowledge distillation* (texts).
"""

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tx_helpers.generation.search import generate
from tx_helpers.lessons.adapting.forgetting import plain_rows, text_loss
from tx_helpers.nn.arguments import check_numbers, check_one_of
from tx_helpers.nn.models import DecoderOnly, count_parameters
from tx_helpers.text.data import BOS, EOS, IGNORE, PAD, TextBatch, text_batch
from tx_helpers.training.contexts import RandomStream
from tx_helpers.training.experiment import Experiment
from tx_helpers.training.losses import language_model_loss
from tx_helpers.zoo.world_models import train_on_texts, world_config, world_model

WAYS = ("true texts", "teacher's texts", "distributions")
TEXTS, STEPS, BATCH, LONGEST, SEEDS = (50, 200, 800), 120, 16, 70, (0, 1, 2)


def new_student(seed: int = 0) -> DecoderOnly:
    """An untrained decoder of half the teacher's width and half its blocks."""
    config = world_config("decoder")
    half = replace(config, d_model=48, n_layers=2, feed_forward=replace(config.feed_forward, d_ff=192))
    with RandomStream(seed).on(torch.device("cpu")):
        return DecoderOnly(half)


def written_rows(teacher: nn.Module, count: int, seed: int = 0) -> list[tuple[list[int], list[int]]]:
    """Texts that the teacher writes at temperature 1, as (input, target)."""
    drawn = torch.Generator().manual_seed(seed)
    ids = generate(
        teacher, [[BOS]] * count, max_new_tokens=LONGEST, end_id=EOS, pad_id=PAD, temperature=1.0, generator=drawn
    )
    rows = [[BOS, *(token for token in row if token != PAD)] for row in ids.tolist()]
    return [(row[:-1], row[1:]) for row in rows]


def soft_loss(teacher: nn.Module, student: nn.Module, batch: TextBatch) -> Tensor:
    """The mean cross-entropy between the teacher's and the student's distributions, in nats a token."""
    with torch.no_grad():
        target = teacher(batch.input).softmax(-1)  # (B, T, V)
    kept = batch.target != IGNORE
    return F.cross_entropy(student(batch.input)[kept], target[kept])


def distil(way: str, texts: int, *, steps: int = STEPS, seed: int = 0) -> DecoderOnly:
    """A student trained in one of WAYS on so many texts."""
    check_one_of("distil", WAYS, way=way)
    check_numbers("distil", least=1, whole=True, texts=texts)
    teacher, student = world_model("decoder"), new_student(seed)
    rows = written_rows(teacher, texts, seed) if way == "teacher's texts" else plain_rows(texts, seed=seed)

    def loss(model: nn.Module, batch: TextBatch) -> Tensor:
        return soft_loss(teacher, model, batch) if way == "distributions" else language_model_loss(model, batch)

    def batches(step: int) -> TextBatch:
        return text_batch(random.Random(f"distil {seed} {step}").choices(rows, k=BATCH))

    train_on_texts(student, batches, steps=steps, loss=loss, seed=seed, progress=False)
    return student.eval()


# --- recorded ---------------------------------------------------------------------------------------------------------
def distil_all() -> dict[str, Any]:
    """{"teacher": [nats a token, one a seed], "loss": {way: {texts: [one a seed]}}, parameters of both}"""
    teacher = world_model("decoder")
    table: dict[str, Any] = {
        "parameters": {"teacher": count_parameters(teacher), "student": count_parameters(new_student())},
        "teacher": [round(text_loss(teacher, seed=seed), 4) for seed in SEEDS],
        "loss": {way: {} for way in WAYS},
    }
    for way in WAYS:
        for texts in TEXTS:
            found = [round(text_loss(distil(way, texts, seed=seed), seed=seed), 4) for seed in SEEDS]
            table["loss"][way][str(texts)] = found
            print(f"{way}, {texts} texts: {found}")
    return table


RECORDED = Experiment(Path(__file__).with_suffix(".json"), distil_all, "2 minutes", {"seeds": SEEDS})
recorded = RECORDED.read
