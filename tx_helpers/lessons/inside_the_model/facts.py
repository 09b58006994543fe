"""One fact that a decoder knows: which vectors carry it, and how far an edit of it reaches.

    fact = FACTS[0]                                            # ("dog", "cat"): the dog is to do what a cat does
    patched(model, fact)                                       # which vectors carry the fact
    measure(model, fact)                                       # Edited(fact=…, paraphrase=…, neighbours=…, loss=…)

"ada has a dog . every morning it barks": the model says "barks" with p above 0.99, and the seven other animals' sounds.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from tx_helpers.lessons.inside_the_model.world_decoder import BLOCKS, Words, chance, encoded, plain_loss
from tx_helpers.nn.arguments import check_one_of
from tx_helpers.nn.capture import capture
from tx_helpers.text.world_words import PEOPLE, PETS

SOUND = {pet["one"]: pet["sound"] for pet in PETS}
FACTS = (("dog", "cat"), ("hen", "horse"), ("pig", "duck"))
PLACES, KINDS = ("subject", "last"), ("self_attention", "feed_forward")
NAMES = [person["name"] for person in PEOPLE]
Fact = tuple[str, str]


def rows_of(animal: str, *, paraphrase: bool = False) -> list[Words]:
    """Beginnings after which the world says the animal's sound; the paraphrases are of other people, too."""
    how, names = ("there is a {1} in {0} 's house .", NAMES[6:]) if paraphrase else ("{0} has a {1} .", NAMES[:6])
    return [
        tuple(f"{how.format(name, animal)} {when}".split()) for name in names for when in ("it", "every morning it")
    ]


def places_of(fact: Fact, place: str, rows: list[Words]) -> Tensor:
    """Where each row has the animal, or its last word; <bos> is 0."""
    check_one_of("editing", PLACES, place=place)
    return torch.tensor([row.index(fact[0]) + 1 if place == "subject" else len(row) for row in rows])


def name_of(block: int, what: str) -> str:
    """The name of something in a block, as `capture` has it."""
    return f"decoder.blocks.{block}.{what}"


# --- where is the fact? -----------------------------------------------------------------------------------------------
def patched(model: nn.Module, fact: Fact) -> dict[str, list[float]]:
    """ "feed_forward at last" -> p(new word) if the output there comes from the other animal's run, block by block."""
    rows, others = rows_of(fact[0]), rows_of(fact[1])
    with capture(model, "*.output") as other, torch.no_grad():
        model(encoded(others))
    found = {}
    for kind in KINDS:
        for place in PLACES:
            at, n = places_of(fact, place, rows), torch.arange(len(rows))
            row = []
            for block in range(BLOCKS):
                name = name_of(block, f"{kind}.output")
                value = other[name][n, at]
                with capture(model, "none", edit={name: lambda x, at=at, n=n, v=value: x.index_put((n, at), v)}):
                    row.append(chance(model, rows, (SOUND[fact[1]],)))
            found[f"{kind} at {place}"] = row
    return found


# --- measure ----------------------------------------------------------------------------------------------------------
class Edited(NamedTuple):
    """p(new word) of the fact and of paraphrases; p(own sound) of the seven other animals; the loss on other tales."""

    fact: float
    paraphrase: float
    neighbours: float
    loss: float


def measure(model: nn.Module, fact: Fact) -> Edited:
    """How well an edit has worked, and what it has changed."""
    new = (SOUND[fact[1]],)
    others = [
        chance(model, rows_of(pet, paraphrase=p), (SOUND[pet],))
        for pet in SOUND
        if pet != fact[0]
        for p in (False, True)
    ]
    fact_p, paraphrase = (chance(model, rows_of(fact[0], paraphrase=p), new) for p in (False, True))
    return Edited(
        fact_p, paraphrase, sum(others) / len(others), plain_loss(model, ("because", "trip", "market", "lost"))
    )
