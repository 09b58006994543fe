"""What fine-tuning forgets: a chat model learns summaries; its old answers and old texts are measured on the way.

    follow("whole", tuned)        # [{"step": 0, "new": 0.0, "old": 0.4, "loss": 1.1}, …], one entry each EVERY steps
    recorded()                    # all WAYS over several seeds, from forgetting.json

Before: a decoder pretrained on texts, tuned to answer questions and to tell stories (`chat.tune`). The new task:
summaries. Measured on texts of combinations that no training had:

    new    the share of summaries that are right, word for word
    old    the share of answers that are right, word for word: the task before
    loss   nats a token on plain texts: what pretraining was for

    whole      all parameters, at the rate that learns the new task fastest
    slower     the same at a third of the rate
    lora       rank 4 beside each query and value
    rehearsal  as whole, but one text in ten of each batch is an old one: a plain text, or a chat with answers
"""

import random
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import torch
from torch import nn

from tx_helpers.lessons.adapting.lora import add_lora
from tx_helpers.nn.arguments import check_numbers, check_one_of
from tx_helpers.text.data import BOS, EOS, TextBatch, text_batch
from tx_helpers.text.world import little_world
from tx_helpers.text.world_vocabulary import world_tokenizer
from tx_helpers.training.contexts import RandomStream, in_mode
from tx_helpers.training.experiment import Experiment
from tx_helpers.training.loop import fit
from tx_helpers.training.losses import language_model_loss
from tx_helpers.training.optimizers import adamw, linear_warmup_decay
from tx_helpers.zoo.world_chat import chat_ids, chats, exact_match, tune
from tx_helpers.zoo.world_models import world_model

RATES = {"whole": 1e-3, "slower": 3e-4, "lora": 1e-2, "rehearsal": 1e-3}
WAYS = tuple(RATES)
STEPS, EVERY, BATCH, OLD, RANK = 80, 20, 20, 2, 4
SEEDS = (0, 1, 2)


def plain_rows(count: int, *, split: str = "train", seed: int = 0) -> list[tuple[list[int], list[int]]]:
    """Texts of the world as (input, target), each token scored, as in pretraining."""
    tokenizer = world_tokenizer()
    rows = [[BOS, *tokenizer.encode(text), EOS] for text in little_world(split).texts(count, seed=seed)]
    return [(row[:-1], row[1:]) for row in rows]


def text_loss(model: nn.Module, *, count: int = 100, seed: int = 0) -> float:
    """Nats a token on plain texts that no training had."""
    with in_mode(model, training=False), torch.no_grad():
        return language_model_loss(model, text_batch(plain_rows(count, split="test", seed=1000 + seed))).item()


def mixed_batches(way: str, seed: int) -> Callable[[int], TextBatch]:
    """batches(step): chats that ask for a summary; in rehearsal OLD of the BATCH rows are old ones."""
    new = [chat_ids(chat) for chat in chats(600, kinds=["summarise"], seed=seed)]
    old = [chat_ids(chat) for chat in chats(300, kinds=["answer"], seed=seed + 1)] + plain_rows(300, seed=seed + 1)
    kept = OLD if way == "rehearsal" else 0

    def batch(step: int) -> TextBatch:
        drawn = random.Random(f"forgetting {seed} {step}")
        return text_batch(drawn.choices(new, k=BATCH - kept) + drawn.choices(old, k=kept))

    return batch


def follow(
    way: str, model: nn.Module, *, steps: int = STEPS, every: int = EVERY, rate: float | None = None, seed: int = 0
) -> list[dict[str, float]]:
    """Train a copy of the model on summaries, and measure it before, and after each `every` steps."""
    check_one_of("forgetting", WAYS, way=way)
    check_numbers("forgetting", least=2, whole=True, steps=steps)
    learner = deepcopy(model)
    if way == "lora":
        with RandomStream(seed).on(torch.device("cpu")):
            add_lora(learner, RANK)
    asked = {
        "new": chats(60, split="test", kinds=["summarise"], seed=seed + 7),
        "old": chats(60, split="test", kinds=["answer"], seed=seed + 7),
    }
    found: list[dict[str, float]] = []

    def look(now: nn.Module) -> dict[str, float]:
        scores = {name: exact_match(now, some) for name, some in asked.items()} | {"loss": text_loss(now, seed=seed)}
        found.append({"step": len(found) * every, **{name: round(value, 4) for name, value in scores.items()}})
        return {"loss": scores["loss"]}

    with torch.no_grad():
        look(learner.eval())
    fit(
        learner,
        mixed_batches(way, seed),
        steps=steps,
        loss=language_model_loss,
        optimizer=adamw(learner, rate or RATES[way], weight_decay=0.0),
        schedule=linear_warmup_decay(steps, warmup=min(10, steps // 2)),
        seed=seed,
        evaluate=look,
        every=every,
        progress=False,
    )
    return found


def chat_model(seed: int = 0, steps: int = 80) -> nn.Module:
    """The model before: the pretrained decoder, tuned to answer questions and to tell stories."""
    return tune(world_model("decoder"), chats(1500, kinds=["answer", "story"], seed=seed), steps=steps, seed=seed)


# --- recorded ---------------------------------------------------------------------------------------------------------
def follow_all() -> dict[str, Any]:
    """{"runs": {way: [a list of `follow` for each seed]}}"""
    runs: dict[str, list] = {way: [] for way in WAYS}
    for seed in SEEDS:
        tuned = chat_model(seed)
        for way in WAYS:
            runs[way].append(follow(way, tuned, seed=seed))
            print(f"seed {seed} {way}: {runs[way][-1][0]} {runs[way][-1][-1]}")
    return {"runs": runs}


RECORDED = Experiment(Path(__file__).with_suffix(".json"), follow_all, "5 minutes", {"seeds": SEEDS, "rates": RATES})
recorded = RECORDED.read
