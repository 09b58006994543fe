"""What steering and editing share: beginnings of the world's texts, what a decoder says next, decoders of three seeds.

rows = beginnings("cafe", ("tasted", "paid"), 40)          # "… in the end she chose apple . it"
chance(model, rows, ("tasted",))                           # the mean of p("tasted")
model = trained(1)                                         # another decoder than the shipped one
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from tx_helpers.nn.arguments import check_numbers
from tx_helpers.text.data import PAD, pad_right
from tx_helpers.text.world import little_world
from tx_helpers.text.world_vocabulary import world_id, world_tokenizer
from tx_helpers.training.contexts import RandomStream
from tx_helpers.training.objectives import ObjectiveBatches
from tx_helpers.zoo.world_models import new_world_model, train_on_texts, world_model

SEEDS, STEPS, BLOCKS = (0, 1, 2), 1200, 4
OTHER_TALES = ("pet", "because", "trip", "market")
Words = tuple[str, ...]


@cache
def told(tales: Words, count: int, split: str = "train", seed: int = 0) -> tuple[tuple[str, Words], ...]:
    """(tale, words) of the texts of some tales among `count` texts of the world."""
    world = little_world(split)
    named = ((world.truth(text).tale, tuple(text.split())) for text in world.texts(count, seed=seed))
    return tuple((tale, words) for tale, words in named if tale in tales)


@cache
def beginnings(tale: str, before: Words, count: int, split: str = "train", seed: int = 0) -> tuple[Words, ...]:
    """`count` beginnings of a tale's texts, each up to the pronoun before one of the words `before`."""
    check_numbers("beginnings", least=1, whole=True, count=count)
    found = []
    for _, words in told((tale,), 60 * count, split, seed):
        after = {place for place, word in enumerate(words) if word in ("it", "she", "he")}
        places = [place for place, word in enumerate(words) if word in before and place - 1 in after]
        found += [words[: places[0]]] if places else []
    return tuple(found[:count])


def encoded(rows: Sequence[Words]) -> Tensor:
    """Beginnings as ids (B, T), <bos> first, padded on the right."""
    return pad_right([world_tokenizer().encode(" ".join(row), bos=True) for row in rows], PAD)


def next_word(model: nn.Module, rows: Sequence[Words]) -> Tensor:
    """log p of each word behind each beginning: (B, V)."""
    ids = encoded(rows)
    return model(ids)[torch.arange(len(ids)), (ids != PAD).sum(1) - 1].log_softmax(-1)


def chance(model: nn.Module, rows: Sequence[Words], words: Words) -> float:
    """p that one of `words` comes next, the mean over the beginnings."""
    with torch.no_grad():
        return next_word(model, rows)[:, [world_id(word) for word in words]].exp().sum(1).mean().item()


@contextmanager
def biased(model: nn.Module, words: Mapping[str, float]) -> Iterator[None]:
    """While the block of code runs, the logit of each of these words is so much higher, wherever it may stand."""
    bias = torch.zeros(len(world_tokenizer()))
    for word, by in words.items():
        bias[world_id(word)] = by
    hook = model.register_forward_hook(lambda _module, _arguments, logits: logits + bias)
    try:
        yield
    finally:
        hook.remove()


@torch.no_grad()
def plain_loss(model: nn.Module, tales: Words = OTHER_TALES, seed: int = 77) -> float:
    """The loss on texts of other tales, nats a token: what an intervention should leave as it was."""
    ids = encoded([words for _, words in told(tales, 150, seed=seed)[:40]])
    logits = model(ids[:, :-1])
    return F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten(), ignore_index=PAD).item()


@cache
def trained(seed: int) -> nn.Module:
    """Seed 0: the shipped decoder. Other seeds: one of the same shape after STEPS steps, two to three minutes."""
    check_numbers("trained", least=0, most=max(SEEDS), whole=True, seed=seed)
    if seed == 0:
        return world_model("decoder")
    with RandomStream(seed).on(torch.device("cpu")):
        model = new_world_model("decoder")
    batches = ObjectiveBatches("causal", 32, texts=50_000, seed=seed)
    return train_on_texts(model, batches, steps=STEPS, warmup=50, seed=seed, progress=False).model.eval()
