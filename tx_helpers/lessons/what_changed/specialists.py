"""A small mixture of experts on the little world: do all experts find work, and what do they specialise in?

    found = train_specialists("bias")                # some seconds: a decoder of two blocks with eight experts each
    experts_in_use(found.load[-1])                   # of 8, for each block: e^H of the load
    specialisation(found.model)                      # how much of the choice the word explains, its class, or its sense

Each position uses one expert, as in Fedus et al. 2021 (Switch Transformer). Its gate is the expert's own probability: a
gate divided by the sum over the one chosen expert would always be 1, and the router would get no gradient.

How balance is kept: "none"; "loss", by `experts.balance_loss`; "bias", by `Router.rebalance`. All else is equal.
Shapes: N blocks, E experts.
"""

import math
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import torch
from torch import Tensor, nn

from tx_helpers.nn.arguments import check_ids, check_numbers, check_one_of
from tx_helpers.nn.config import FeedForwardConfig, TransformerConfig
from tx_helpers.nn.models import DecoderOnly
from tx_helpers.text.data import BOS, IGNORE, PAD, pad_right
from tx_helpers.text.world import little_world
from tx_helpers.text.world_vocabulary import world_tokenizer
from tx_helpers.training.contexts import RandomStream, in_mode
from tx_helpers.training.objectives import ObjectiveBatch, ObjectiveBatches, objective_loss
from tx_helpers.zoo.parts.experts import ExpertsConfig, Routing, balance_loss, expert_load
from tx_helpers.zoo.parts.experts import routes as collected_routes
from tx_helpers.zoo.world_models import train_on_texts, world_config

BALANCES = ("none", "loss", "bias")
WIDTH, BLOCKS, EXPERTS = 64, 2, 8
STEPS, TEXTS_IN_BATCH, TEXTS = 120, 16, 4000
LOSS_FACTOR, BIAS_RATE = 0.05, 0.02
SMALL_WORDS = """a an the in to of at on for with from by under and but so because that when then now there was were is
    are had has have did not no too very all one will would could"""


def specialist_config(n_experts: int = EXPERTS, *, width: int = WIDTH, biased: bool = False) -> TransformerConfig:
    """A decoder of the little world whose blocks have `n_experts` gated experts with F = width; 1: an ordinary one.

    Every position uses one expert, so the active parameters are the same for each number of experts, up to the router.
    """
    check_numbers("specialist_config", least=1, whole=True, n_experts=n_experts, width=width)
    chosen = ExpertsConfig(n_experts, 1, normalised=False, biased=biased) if n_experts > 1 else None
    feed_forward = FeedForwardConfig(width, "silu", gated=True, bias=False, experts=chosen)
    return replace(world_config("decoder"), d_model=WIDTH, n_layers=BLOCKS, feed_forward=feed_forward)


class Specialists(NamedTuple):
    """A trained model and how the experts shared the work."""

    model: DecoderOnly
    load: Tensor  # (steps, N, E): the share of the positions of each batch that each expert got
    loss: float  # on texts about combinations that do not occur in training
    seconds: float  # of this process on the processor


def train_specialists(
    balance: str = "bias", *, n_experts: int = EXPERTS, width: int = WIDTH, steps: int = STEPS, seed: int = 0
) -> Specialists:
    """Train a decoder of the little world. With the same seed, all three ways of balance see the same texts."""
    check_one_of("train_specialists", BALANCES, balance=balance)
    check_numbers("train_specialists", least=2, whole=True, steps=steps)
    check_numbers("train_specialists", whole=True, seed=seed)
    with RandomStream(seed).on(torch.device("cpu")):
        model = DecoderOnly(specialist_config(n_experts, width=width, biased=balance == "bias" and n_experts > 1))
    loads: list[Tensor] = []

    def loss(model: nn.Module, batch: ObjectiveBatch) -> Tensor:
        if n_experts == 1:
            return objective_loss(model, batch)
        real = batch.target != IGNORE
        with collected_routes(model) as found:
            value = objective_loss(model, batch)
        loads.append(torch.stack([expert_load(each.chosen, n_experts, real=real) for each in found.values()]))
        if balance == "loss":
            value = value + LOSS_FACTOR * balance_loss(list(found.values()), real=real)
        if balance == "bias":
            for path, each in found.items():
                model.get_submodule(path).rebalance(each.chosen, real=real, rate=BIAS_RATE)
        return value

    batches = ObjectiveBatches("causal", TEXTS_IN_BATCH, texts=TEXTS, seed=seed)
    began = time.process_time()
    train_on_texts(model, batches, steps=steps, loss=loss, seed=seed, progress=False)
    seconds = time.process_time() - began
    model.eval()
    load = torch.stack(loads) if loads else torch.empty(0, BLOCKS, 1)
    return Specialists(model, load, held_out_loss(model), seconds)


def held_out_loss(model: nn.Module, *, texts: int = 200) -> float:
    """The loss per token on texts about combinations that the training texts never tell of."""
    batch = ObjectiveBatches("causal", texts, texts=texts, split="test")(0)
    with in_mode(model, training=False), torch.no_grad():
        return objective_loss(model, batch).item()


def experts_in_use(load: Tensor) -> Tensor:
    """e^H with H = −Σ f ln f of the shares f: E if all experts get as much, 1 if one gets everything. (…, E) -> (…)"""
    share = load / load.sum(dim=-1, keepdim=True)
    return torch.special.entr(share).sum(dim=-1).exp()


def chosen_experts(model: nn.Module, ids: Tensor) -> Tensor:
    """The expert that each position uses first, block by block: ids (B, T) -> (B, T, N)."""
    return torch.stack([each.chosen[..., 0] for each in _routings(model, ids)], dim=2)


def _routings(model: nn.Module, ids: Tensor) -> list[Routing]:
    check_ids("routes", model.config.vocab_size, ids=ids)
    with in_mode(model, training=False), torch.no_grad(), collected_routes(model) as found:
        model(ids)
    return list(found.values())


def second_router(model: nn.Module, *, texts: int = 100) -> Tensor:
    """The probabilities (N, E) of the last block's router, for the N tokens of new texts."""
    rows = [[BOS, *world_tokenizer().encode(text)] for text in little_world("test").texts(texts, seed=0)]
    ids = pad_right(rows, PAD)
    return _routings(model, ids)[-1].scores[ids != PAD]


def word_classes(text: str) -> list[str]:
    """The class of each word of a text of the little world.

    Names have their kind of entity: person, animal, fruit, firm, place, thing, number. Then there are pronouns,
    punctuation, small words ("the", "because"), and the rest, mostly verbs and adjectives.
    """
    truth, small = little_world().truth(text), SMALL_WORDS.split()
    classes = [
        "punctuation" if not word[0].isalnum() else "small word" if word in small else "other word"
        for word in truth.tokens
    ]
    for mention in truth.mentions:
        kind = "pronoun" if mention.pronoun else mention.kind
        classes[mention.start : mention.end] = [kind] * (mention.end - mention.start)
    return classes


class Explained(NamedTuple):
    """Which share of the entropy of the choice is explained, block by block, and what shuffled labels would explain."""

    share: list[float]
    shuffled: list[float]


def specialisation(model: nn.Module, *, texts: int = 200, seed: int = 0) -> dict[str, Explained]:
    """What the choice of the expert depends on: the word, its class, its place in the text, or the sense it has here.

    For each label the mutual information I(expert; label) / H(expert), over texts of the little world. The same labels
    in a random order explain a little, too, since the sample is finite: what matters is the excess over this.
    "sense": only the words with two senses, such as *apple*; the label is the sense, and the share is what it adds to
    the word itself, I(expert; sense | word) / H(expert | word).
    """
    words, classes, places, senses, chosen = _observations(model, texts, seed)
    shuffle = torch.Generator().manual_seed(seed)
    found = {}
    for name, labels in (("word", words), ("class", classes), ("place", places)):
        found[name] = _explained(chosen, labels, None, shuffle)
    kept = [number for number, sense in enumerate(senses) if sense]
    given = [words[number] for number in kept]
    found["sense"] = _explained(chosen[:, kept], [senses[number] for number in kept], given, shuffle)
    return found


def entropy(labels: Sequence) -> float:
    """H(X) = −Σ p log₂ p in bits, of the frequencies of the labels."""
    counts = Counter(labels).values()
    return math.log2(len(labels)) - math.fsum(n * math.log2(n) for n in counts) / len(labels)


def _observations(model: nn.Module, texts: int, seed: int) -> tuple[list, list, list, list, Tensor]:
    """For each word of the texts: itself, its class, its place, its sense if it has two, and the experts (N, words)."""
    check_numbers("specialisation", least=1, whole=True, texts=texts)
    check_numbers("specialisation", whole=True, seed=seed)
    truths = [little_world().truth(text) for text in little_world("test").texts(texts, seed=seed)]
    ids = pad_right([[BOS, *world_tokenizer().encode(truth.text)] for truth in truths], PAD)
    rows = chosen_experts(model, ids)[:, 1:]  # (B, T − 1, N)
    words, classes, places, senses, chosen = [], [], [], [], []
    for truth, row in zip(truths, rows, strict=True):
        count = len(truth.tokens)
        words += truth.tokens
        classes += word_classes(truth.text)
        places += range(count)
        senses += [truth.senses.get(place, "") for place in range(count)]
        chosen.append(row[:count])
    return words, classes, places, senses, torch.cat(chosen).T  # (words, N) -> (N, words)


def _explained(chosen: Tensor, labels: list, given: list | None, shuffle: torch.Generator) -> Explained:
    if not labels:
        return Explained([0.0] * len(chosen), [0.0] * len(chosen))
    given = given or [0] * len(labels)
    mixed = list(labels)
    for value in sorted(set(given)):  # labels change places only where the same is given
        places = [number for number, each in enumerate(given) if each == value]
        order = torch.randperm(len(places), generator=shuffle).tolist()
        for place, number in zip(places, order, strict=True):
            mixed[place] = labels[places[number]]
    rows = chosen.tolist()
    return Explained(*([_share(row, each, given) for row in rows] for each in (labels, mixed)))


def _share(chosen: list[int], labels: list, given: list) -> float:
    """I(X; Y | Z) / H(X | Z) of the expert X, a label Y and what is given, Z."""
    left = entropy(list(zip(chosen, given, strict=True))) - entropy(given)
    both = list(zip(labels, given, strict=True))
    more = left - (entropy(list(zip(chosen, labels, given, strict=True))) - entropy(both))
    return more / left if left > 1e-12 else 0.0
