"""Pretraining pays: the same classifier from 10, 30, 100 or 1,000 labelled texts.

    learn("lora", 100).score    # 0.96: the share of right labels on 200 texts, after some seconds
    recorded()                  # all ways and numbers of labels over five seeds, from tournament.json

Four ways, with the same model, the same texts in the same batches, and the same number of steps:

    scratch   a new model, all of it trained
    frozen    the pretrained encoder as it is; only the linear map on top of it is trained
    whole     the pretrained encoder, all of it trained
    lora      the pretrained encoder, frozen, with two narrow matrices beside each query and value map (`lora`)

Each way has its own learning rate, the best of some that were tried on other seeds. With equal steps, 100 texts are
read about ten times and 1,000 texts once: so a way that learns slowly may end lower with more labels. The test
texts tell of combinations that do not occur in training.
"""

from typing import Any, NamedTuple

import torch

from tx_helpers.lessons.families.contestants import Contestant
from tx_helpers.lessons.adapting.lora import add_lora
from tx_helpers.lessons.families.tournament import examples, new_player, train
from tx_helpers.lessons.families.tournament import recorded as tournament
from tx_helpers.nn.arguments import check_numbers, check_one_of
from tx_helpers.nn.models import TransformerModel
from tx_helpers.training.contexts import RandomStream
from tx_helpers.training.optimizers import adamw

RATES = {"scratch": 1e-3, "frozen": 1e-1, "whole": 2e-3, "lora": 1e-2}
WAYS = tuple(RATES)
LABELS = (10, 30, 100, 1000)
TASK, STEPS, BATCH, QUESTIONS, RANK = "sentiment", 60, 16, 200, 4


class Learned(NamedTuple):
    """What `learn` found."""

    score: float  # the share of right labels
    trained: int  # parameters that learned
    player: Contestant


def prepare(way: str, *, seed: int = 0, model: TransformerModel | None = None) -> Contestant:
    """The encoder with a linear map on top, before it has seen a label; what is not to be trained is frozen."""
    check_one_of("few_labels", WAYS, way=way)
    start = "scratch" if way == "scratch" else "pretrained"
    player = new_player("encoder", TASK, start=start, seed=seed, model=model)
    if way == "frozen":
        player.model.requires_grad_(False)
    elif way == "lora":
        with RandomStream(seed).on(torch.device("cpu")):
            add_lora(player.model, RANK)
    return player


def learn(
    way: str, labels: int, *, seed: int = 0, steps: int = STEPS, model: TransformerModel | None = None
) -> Learned:
    """Train the classifier on `labels` labelled texts and test it. `model` takes the place of the world model."""
    check_numbers("few_labels", least=1, whole=True, labels=labels, steps=steps)
    player = prepare(way, seed=seed, model=model)
    texts, right = examples(TASK, max(*LABELS, labels), "train", seed)
    optimizer = adamw(player, RATES[way], weight_decay=0.01)
    train(player, texts[:labels], right[:labels], optimizer, steps=steps, batch=BATCH, seed=seed)
    given, targets = examples(TASK, QUESTIONS, "test", seed)
    trained = sum(parameter.numel() for parameter in player.parameters() if parameter.requires_grad)
    return Learned(player.task.score(given, targets, player.answers(given)), trained, player)


def recorded() -> dict[str, Any]:
    """What tools/run_tournament.py recorded: see "few_labels" at the head of `tournament`."""
    return tournament()["few_labels"]
