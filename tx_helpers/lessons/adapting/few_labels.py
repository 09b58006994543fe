"""Pretraining pays: the same classifier from 10, 30, 100 or 1,000 labelled texts.

    learn("lora", 100).score           # 0.89: the share of right labels on 200 texts, after some seconds
    learn("whole", 30, passes=10)      # as many steps as ten passes over the 30 texts need
    recorded()                         # all ways and numbers of labels over several seeds, from few_labels.json

Four ways, with the same texts in the same batches:

    scratch   a new model, all of it trained
    frozen    the pretrained encoder as it is; only the linear map on top of it is trained
    whole     the pretrained encoder, all of it trained
    lora      the pretrained encoder, frozen, with two narrow matrices beside each query and value map (`lora`)

Each way has its own learning rate; those of whole and lora are the best of RATES on other seeds, those of scratch and
frozen on one. "Equal" can mean two things: equally many steps (then 10 texts are read 96 times, and 1,000 texts once),
or equally many passes over the texts (then 10 texts get 10 steps, and 1,000 texts 630). Both are recorded. The test
texts tell of combinations that do not occur in training.
"""

import random
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from tx_helpers.lessons.adapting.lora import add_lora
from tx_helpers.nn.arguments import check_numbers, check_one_of
from tx_helpers.nn.models import TransformerModel
from tx_helpers.text.data import BOS, PAD, pad_right
from tx_helpers.text.world_tasks import sentiment
from tx_helpers.text.world_vocabulary import CLS, SENTIMENTS, SEP, world_tokenizer
from tx_helpers.training.contexts import RandomStream
from tx_helpers.training.experiment import Experiment
from tx_helpers.training.optimizers import adamw, linear_warmup_decay
from tx_helpers.zoo.world_models import new_world_model, world_model

BEST = {"scratch": 5e-4, "frozen": 3e-1, "whole": 2e-3, "lora": 2e-2}
WAYS = tuple(BEST)
LABELS = (10, 30, 100, 1000)
BUDGETS = {"steps": 60, "passes": 10}
BATCH, QUESTIONS, RANK = 16, 200, 4
RATES = (2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 1e-2, 2e-2, 5e-2)
RANKS, RANK_RATES = (1, 2, 4, 8, 16), (5e-3, 1e-2, 2e-2, 4e-2)
SLOWER = 5e-3  # the best of three rates, on other seeds, of LoRA beside all maps
SHOTS = (0, 2)  # of each label, in a prompt
MAPS = ("query", "key", "value", "output", "expand", "contract")  # all of a block
SEEDS, TUNING_SEEDS = (0, 1, 2), (10, 11, 12)
FRESH = 1000  # added to the seed of test texts: training texts of the same seed would be near copies


class Classifier(nn.Module):
    """ids (B, T) -> logits (B, 3): a linear map of the mean of the encoder's vectors."""

    def __init__(self, encoder: TransformerModel):
        super().__init__()
        self.encoder = encoder
        self.head = nn.Linear(encoder.config.d_model, len(SENTIMENTS))

    def vectors(self, ids: Tensor) -> Tensor:
        """The mean vector of each text, padding left out. (B, T) -> (B, D)"""
        weights = (ids != PAD) / (ids != PAD).sum(-1, keepdim=True)
        return (weights.unsqueeze(1) @ self.encoder.encode(ids)).squeeze(1)

    def forward(self, ids: Tensor) -> Tensor:
        return self.head(self.vectors(ids))


class Learned(NamedTuple):
    """What `learn` found."""

    score: float  # the share of right labels
    trained: int  # parameters that learned
    steps: int
    model: Classifier


@lru_cache(maxsize=16)
def examples(count: int, split: str, seed: int) -> tuple[list[list[int]], Tensor]:
    """Texts as ids, and the number of each text's label."""
    texts, labels = sentiment(count, split=split, seed=seed)
    rows = [world_tokenizer().encode(f"{CLS} {text} {SEP}") for text in texts]
    return rows, torch.tensor([SENTIMENTS.index(label) for label in labels])


def prepare(
    way: str,
    *,
    seed: int = 0,
    rank: int = RANK,
    model: TransformerModel | None = None,
    put: Callable[[nn.Module], object] | None = None,
) -> Classifier:
    """The classifier before it has seen a label; what is not to be trained is frozen. `put` replaces `add_lora`."""
    check_one_of("few_labels", WAYS, way=way)
    with RandomStream(seed).on(torch.device("cpu")):
        if model is None:
            model = new_world_model("encoder") if way == "scratch" else world_model("encoder")
        classifier = Classifier(model).eval()
        if way == "frozen":
            classifier.encoder.requires_grad_(False)
        elif way == "lora":
            put(classifier.encoder) if put else add_lora(classifier.encoder, rank)
    return classifier


def beside_all(encoder: nn.Module) -> nn.Module:
    """LoRA beside all maps of each block: a `put` for `learn`."""
    return add_lora(encoder, RANK, targets=MAPS)


def learn(
    way: str,
    labels: int,
    *,
    steps: int | None = None,
    passes: int | None = None,
    rate: float | None = None,
    rank: int = RANK,
    seed: int = 0,
    model: TransformerModel | None = None,
    put: Callable[[nn.Module], object] | None = None,
) -> Learned:
    """Train a classifier on `labels` labelled texts for some steps, or some passes over them, and test it.

    `model` takes the place of the pretrained encoder; it is changed.
    """
    check_numbers("few_labels", least=1, whole=True, labels=labels)
    if steps is None:
        steps = BUDGETS["steps"] if passes is None else passes * -(-labels // BATCH)
    check_numbers("few_labels", least=2, whole=True, steps=steps)
    classifier = prepare(way, seed=seed, rank=rank, model=model, put=put)
    rows, right = (part[:labels] for part in examples(max(*LABELS, labels), "train", seed))
    lengths = [len(row) for row in rows]

    def read(chosen: list[int]) -> Tensor:
        return classifier(pad_right([rows[n] for n in chosen], PAD))

    if way == "frozen":  # its vectors never change: read each text once
        with torch.no_grad():
            known = torch.cat([classifier.vectors(pad_right(rows[n : n + 50], PAD)) for n in range(0, labels, 50)])
        train(classifier, lambda chosen: classifier.head(known[chosen]), right, lengths, steps, rate or BEST[way], seed)
    else:
        train(classifier, read, right, lengths, steps, rate or BEST[way], seed)
    given, targets = examples(QUESTIONS, "test", FRESH + seed)
    with torch.no_grad():
        score = (classifier(pad_right(given, PAD)).argmax(-1) == targets).double().mean().item()
    learned = sum(parameter.numel() for parameter in classifier.parameters() if parameter.requires_grad)
    return Learned(score, learned, steps, classifier)


def train(
    classifier: nn.Module,
    read: Callable[[list[int]], Tensor],
    right: Tensor,
    lengths: list[int],
    steps: int,
    rate: float,
    seed: int,
) -> None:
    """Steps of AdamW on batches of texts of similar lengths; `read` gives the logits of chosen texts."""
    optimizer, factor = adamw(classifier, rate, weight_decay=0.01), linear_warmup_decay(steps, warmup=steps // 10)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, factor)
    for chosen in batches(lengths, steps, seed):
        loss = nn.functional.cross_entropy(read(chosen), right[chosen])
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(classifier.parameters(), 1.0)
        optimizer.step()
        scheduler.step()


def batches(lengths: list[int], steps: int, seed: int) -> list[list[int]]:
    """`steps` batches of numbers of texts. Each pass cuts all texts into batches of similar length."""
    drawn, found = random.Random(seed), []
    while len(found) < steps:
        order = sorted(range(len(lengths)), key=lambda n: (lengths[n] // 6, drawn.random()))
        cut = [order[first : first + BATCH] for first in range(0, len(order), BATCH)]
        drawn.shuffle(cut)
        found += cut
    return found[:steps]


def guess(seed: int) -> float:
    """The share of right labels of whoever always gives the commonest label."""
    commonest = examples(max(LABELS), "train", seed)[1].mode().values
    return (examples(QUESTIONS, "test", FRESH + seed)[1] == commonest).double().mean().item()


def prompted(shots: int, seed: int, words: Sequence[str] = ("sad", "neutral", "happy")) -> float:
    """The share of right labels of the pretrained decoder, untrained: the likeliest of three words behind a text.

    Before the text stand `shots` short texts of each label, drawn by the seed, each with its word; `words` are in the
    order of SENTIMENTS.
    """
    tokenizer, drawn = world_tokenizer(), random.Random(seed)
    texts, labels = sentiment(max(LABELS), split="train", seed=seed)
    said = dict(zip(SENTIMENTS, words, strict=True))
    pool = [(text, label) for text, label in zip(texts, labels, strict=True) if len(text.split()) < 30]
    shown = [pair for label in SENTIMENTS for pair in drawn.sample([p for p in pool if p[1] == label], shots)]
    drawn.shuffle(shown)
    before = " ".join(f"{text} {said[label]}" for text, label in shown)
    asked, right = sentiment(QUESTIONS, split="test", seed=FRESH + seed)
    rows = [torch.tensor([[BOS, *tokenizer.encode(f"{before} {text}")]]) for text in asked]
    ids, model = [tokenizer.tokens.index(word) for word in words], world_model("decoder")
    with torch.no_grad():
        found = [SENTIMENTS[int(model(row)[0, -1, ids].argmax())] for row in rows]
    return sum(map(str.__eq__, found, right)) / QUESTIONS


def best_rate(rates: dict[str, list[float]]) -> float:
    """The rate with the highest mean score."""
    return float(max(rates, key=lambda rate: mean(rates[rate])))


# --- recorded ---------------------------------------------------------------------------------------------------------
def learn_all() -> dict[str, Any]:
    """Train all that the file holds.

    {"made": how, "guess": [one a seed], "trained": {way: parameters},
     "scores": {budget: {way: {labels: [one a seed]}}},      budget: "steps" or "passes", see BUDGETS
     "rates": {way: {rate: [one a tuning seed]}},            100 labels, 60 steps
     "prompted": {examples of each label: [one a seed]},
     "rank_rates": {rank: {rate: [one a tuning seed]}},      LoRA, 100 labels, 60 steps
     "ranks": {rank: [one a seed]}, "rank_parameters": {rank: parameters},       each at the best of these rates
     "all_maps": {"right": [one a seed], "rate": SLOWER, "trained": parameters, "rates": {rate: [one a tuning seed]}}}
    """

    def scores(name: str, seeds: tuple[int, ...], *given: Any, **options: Any) -> list[float]:
        found = [round(learn(*given, seed=seed, **options).score, 4) for seed in seeds]
        print(f"{name} {given} {options}: {mean(found):.3f} {found}")
        return found

    table: dict[str, Any] = {
        "made": "In one process. The rates of scratch and frozen were chosen on seed 10, the others on tuning_seeds.",
        "guess": [round(guess(seed), 4) for seed in SEEDS],
        "trained": {way: learn(way, 10, steps=2).trained for way in WAYS},
    }
    tried = {
        way: {f"{r:g}": scores("rate", TUNING_SEEDS, way, 100, rate=r) for r in RATES} for way in ("whole", "lora")
    }
    table["rank_rates"] = {
        str(r): {f"{rate:g}": scores("rank", TUNING_SEEDS, "lora", 100, rank=r, rate=rate) for rate in RANK_RATES}
        for r in RANKS
    }
    table["ranks"] = {
        r: scores("rank", SEEDS, "lora", 100, rank=int(r), rate=best_rate(rates))
        for r, rates in table["rank_rates"].items()
    }
    table["all_maps"] = {
        "right": scores("all maps", SEEDS, "lora", 100, rate=SLOWER, put=beside_all),
        "rate": SLOWER,
        "trained": learn("lora", 10, steps=2, put=beside_all).trained,
        "rates": {
            f"{r:g}": scores("all maps", TUNING_SEEDS, "lora", 100, rate=r, put=beside_all)
            for r in (SLOWER / 2, SLOWER, 2 * SLOWER)
        },
    }
    table["rank_parameters"] = {str(r): learn("lora", 10, steps=2, rank=r).trained for r in RANKS}
    table["scores"] = {
        budget: {
            way: {str(n): scores(budget, SEEDS, way, n, **{budget: BUDGETS[budget]}) for n in LABELS} for way in WAYS
        }
        for budget in BUDGETS
    }
    table["rates"] = tried
    table["prompted"] = {str(shots): [prompted(shots, seed) for seed in SEEDS] for shots in SHOTS}
    return table


SETTINGS = {"seeds": SEEDS, "tuning_seeds": TUNING_SEEDS, "labels": LABELS}
RECORDED = Experiment(Path(__file__).with_suffix(".json"), learn_all, "8 minutes", SETTINGS)
recorded = RECORDED.read
