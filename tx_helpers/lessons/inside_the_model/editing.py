"""Editing one fact: a rank-one change of one matrix, so that a dog purrs. And what else changes?

    fact = FACTS[0]                                            # ("dog", "cat"): the dog is to do what a cat does
    W = rank_one_edit(model, fact, block=3, place="last")      # the new `contract` matrix (D, F)
    with replaced(model, 3, W):
        measure(model, fact)                                   # see `facts`

A feed-forward layer is read as a memory: the key k (F,) is its activation, the value its output W k. The edit

    W' = W + (v − W k) uᵀ / (u · k),      u = C⁻¹ k,      C = E[k kᵀ] over texts of the world

gives W' k = v, and changes W' k' as little as possible for the keys k' of other texts. v is found by gradient, so that
the model says the new word. Source: Meng et al. 2022, ROME. That where a fact is found does not say where to edit it:
Hase et al. 2023.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from tx_helpers.lessons.inside_the_model.facts import (
    FACTS,
    PLACES,
    SOUND,
    Fact,
    measure,
    name_of,
    patched,
    places_of,
    rows_of,
)
from tx_helpers.lessons.inside_the_model.world_decoder import (
    BLOCKS,
    SEEDS,
    STEPS,
    Words,
    encoded,
    next_word,
    told,
    trained,
)
from tx_helpers.nn.arguments import check_numbers, check_tensors, check_types
from tx_helpers.nn.capture import capture
from tx_helpers.text.data import PAD
from tx_helpers.text.world_vocabulary import world_id
from tx_helpers.training.experiment import Experiment

Update = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]
RUNS = ((0, 0), (0, 1), (0, 2), (1, 1), (2, 2))  # a model's seed, and the number of a fact


# --- edit -------------------------------------------------------------------------------------------------------------
def rank_one(W: Tensor, k: Tensor, v: Tensor, C: Tensor) -> Tensor:
    """W' (D, F) with W' k = v: k (F,), v (D,), and C (F, F) the second moment of all keys."""
    check_tensors("rank_one", W=(W, "float D F"), k=(k, "float F"), v=(v, "float D"), C=(C, "float F F"))
    u = torch.linalg.solve(C, k)
    return W + (v - W @ k)[:, None] * (u / (u @ k))


def _contract(model: nn.Module, block: int) -> nn.Parameter:
    return model.get_parameter(name_of(block, "feed_forward.contract.weight"))


@torch.no_grad()
def keys(model: nn.Module, block: int, rows: list[Words]) -> Tensor:
    """The activations (B, T, F) of a feed-forward layer."""
    with capture(model, name := name_of(block, "feed_forward.activation")) as seen:
        model(encoded(rows))
    return seen[name]


def second_moment(model: nn.Module, block: int, texts: int = 300) -> Tensor:
    """E[k kᵀ] (F, F) over the words of texts of all tales; a little more on the diagonal, so that it has an inverse."""
    rows = [words for _, words in told(("pet", "market", "lost", "trip", "firm", "cafe", "job"), texts, seed=5)]
    k = keys(model, block, rows)[encoded(rows) != PAD]
    C = k.T @ k / len(k)
    return C + 0.01 * C.diagonal().mean() * torch.eye(len(C))


def rank_one_edit(
    model: nn.Module, fact: Fact, block: int, place: str, *, whiten: bool = True, update: Update = rank_one
) -> Tensor:
    """The new matrix (D, F) of a block, counted from 0. place: whose key, that of the "subject" or of the "last" word.

    whiten=False takes C = I; update(W, k, v, C) makes the new matrix.
    """
    check_types("rank_one_edit", nn.Module, model=model)
    check_numbers("rank_one_edit", least=0, less_than=BLOCKS, whole=True, block=block)
    rows, W = rows_of(fact[0]), _contract(model, block).detach()
    at, n = places_of(fact, place, rows), torch.arange(len(rows))
    k = keys(model, block, rows)[n, at].mean(0)
    change = torch.zeros(len(W), requires_grad=True)
    optimizer = torch.optim.Adam([change], lr=1.0 if block == BLOCKS - 1 else 0.1)
    put = {name_of(block, "feed_forward.output"): lambda x: x.index_put((n, at), change, accumulate=True)}
    for _ in range(50):
        with capture(model, "none", edit=put):
            loss = -next_word(model, rows)[:, world_id(SOUND[fact[1]])].mean()
        if loss < 0.05:
            break
        (change.grad,) = torch.autograd.grad(loss, change)
        optimizer.step()
    C = second_moment(model, block) if whiten else torch.eye(len(k))
    return update(W, k, W @ k + change.detach(), C)


def fine_tuned(model: nn.Module, fact: Fact, block: int, steps: int = 60) -> Tensor:
    """The rival: the same matrix after steps of Adam on the same beginnings, until the new word has p > 0.95."""
    W, rows = _contract(model, block), rows_of(fact[0])
    with replaced(model, block, W.detach().clone()):
        optimizer = torch.optim.Adam([W], lr=1e-3)
        for _ in range(steps):
            loss = -next_word(model, rows)[:, world_id(SOUND[fact[1]])].mean()
            if loss < 0.05:
                break
            (W.grad,) = torch.autograd.grad(loss, W)
            optimizer.step()
        W.grad = None
        return W.detach().clone()


@contextmanager
def replaced(model: nn.Module, block: int, matrix: Tensor) -> Iterator[None]:
    """While the block of code runs, this layer's `contract` has another matrix (D, F)."""
    weight = _contract(model, block)
    before = weight.detach().clone()
    try:
        weight.data.copy_(matrix)
        yield
    finally:
        weight.data.copy_(before)


# --- recorded ---------------------------------------------------------------------------------------------------------
def edits(model: nn.Module, fact: Fact) -> dict[str, list[list[float]]]:
    """Each way to edit -> what comes of it, block by block: the fields of `Edited`."""

    def matrix(way: str, block: int) -> Tensor:
        if way == "fine-tuning":
            return fine_tuned(model, fact, block)
        return rank_one_edit(model, fact, block, way.split()[-1], whiten=not way.startswith("C = I"))

    found: dict[str, list[list[float]]] = {}
    for way in (*(f"rank one at {place}" for place in PLACES), "C = I at last", "fine-tuning"):
        for block in range(BLOCKS):
            with replaced(model, block, matrix(way, block)):
                found.setdefault(way, []).append([round(x, 3) for x in measure(model, fact)])
    return found


def run() -> dict[str, Any]:
    """{"runs": [{"seed", "fact", "patched", "before", "edits"}]}, one for each of RUNS."""
    found = []
    for seed, number in RUNS:
        model, fact = trained(seed), FACTS[number]
        places = {name: [round(x, 3) for x in row] for name, row in patched(model, fact).items()}
        before = [round(x, 3) for x in measure(model, fact)]
        one = {"seed": seed, "fact": list(fact), "patched": places, "before": before, "edits": edits(model, fact)}
        found.append(one)
    return {"runs": found}


EDITING = Experiment(Path(__file__).with_suffix(".json"), run, "10 minutes", {"seeds": SEEDS, "steps": STEPS})
