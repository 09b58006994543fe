"""Picture and caption in one space: two small Transformers, trained only to find each other's partner.

    model = train_pairs(PictureAndCaption(), steps=400)
    share_found(model, one_shape(200, generator=…, pairs=HELD_OUT), captions_of(PAIRS))

Each side has a class token and blocks of its own, and ends in a vector of 16 numbers, of length 1. A batch's scores
are all products of pictures and captions, divided by a learned temperature τ; the pairs are on the diagonal
(Radford et al. 2021, CLIP, figure 3):

    s_ij = p_i · c_j / τ,    loss = ½ (cross-entropy of the rows + cross-entropy of the columns)
"""

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tx_helpers.lessons.beyond_text.drawn_shapes import (
    HELD_OUT,
    PAIRS,
    SEEN,
    SIZE,
    WORDS,
    Scenes,
    captions_of,
    one_shape,
    pictures_of_two,
    swapped,
    two_shapes,
)
from tx_helpers.lessons.beyond_text.small_models import small_blocks, train_on_new
from tx_helpers.lessons.beyond_text.stored_weights import save_small
from tx_helpers.nn.arguments import check_numbers, check_one_of, check_types
from tx_helpers.training.contexts import RandomStream
from tx_helpers.training.experiment import Experiment

PATCH = 4  # pixels along a side
TOKENS = (SIZE // PATCH) ** 2
Loss = Callable[[Tensor, Tensor, Tensor], Tensor]


def colour_patches(pixels: Tensor) -> Tensor:
    """Pictures (B, 16, 16, 3) as patches (B, 16, 48)."""
    squares = pixels.unfold(1, PATCH, PATCH).unfold(2, PATCH, PATCH)  # (B, rows, columns, 3, P, P)
    return squares.flatten(3).flatten(1, 2)


class Reader(nn.Module):
    """Vectors (B, N, D) -> (B, E): learned positions and a class token, blocks, and the class token's last vector."""

    def __init__(self, tokens: int, *, d_model: int, n_layers: int, d_out: int):
        super().__init__()
        self.first = nn.Parameter(0.02 * torch.randn(d_model))
        self.positions = nn.Parameter(0.02 * torch.randn(1 + tokens, d_model))
        self.blocks = small_blocks(d_model, n_layers)
        self.norm, self.output = nn.LayerNorm(d_model), nn.Linear(d_model, d_out)

    def forward(self, x: Tensor) -> Tensor:
        x = torch.cat([self.first.expand(len(x), 1, -1), x], 1)
        x = x + self.positions[: x.shape[1]]
        for block in self.blocks:
            x = block(x)
        return self.output(self.norm(x[:, 0]))


class PictureAndCaption(nn.Module):
    """Two readers with one space: `pictures(pixels)` (B, 16) and `words(captions)` (B, 16), not yet of length 1."""

    def __init__(self, *, d_model: int = 32, d_out: int = 16, n_layers: int = 2, seed: int = 0):
        super().__init__()
        check_numbers("PictureAndCaption", least=1, whole=True, d_model=d_model, d_out=d_out, n_layers=n_layers)
        with RandomStream(seed).on(torch.device("cpu")):
            self.patch = nn.Linear(PATCH * PATCH * 3, d_model)
            self.sees = Reader(TOKENS, d_model=d_model, n_layers=n_layers, d_out=d_out)
            self.embedding = nn.Embedding(len(WORDS), d_model)
            self.reads = Reader(5, d_model=d_model, n_layers=1, d_out=d_out)
            self.log_temperature = nn.Parameter(torch.tensor(math.log(0.07)))

    def pictures(self, pixels: Tensor) -> Tensor:
        """(B, 16, 16, 3) -> (B, E)"""
        return self.sees(self.patch(colour_patches(pixels)))

    def words(self, captions: Tensor) -> Tensor:
        """(B, words) -> (B, E)"""
        return self.reads(self.embedding(captions))


def scores_of(pictures: Tensor, captions: Tensor, temperature: Tensor | float) -> Tensor:
    """All cosines of pictures (P, E) and captions (C, E), divided by the temperature: (P, C)."""
    return F.normalize(pictures, dim=-1) @ F.normalize(captions, dim=-1).T / temperature


def contrastive_loss(pictures: Tensor, captions: Tensor, temperature: Tensor | float) -> Tensor:
    """Each picture looks for its caption, each caption for its picture: a scalar. Radford et al. 2021, figure 3."""
    scores = scores_of(pictures, captions, temperature)
    partner = torch.arange(len(scores))
    return (F.cross_entropy(scores, partner) + F.cross_entropy(scores.T, partner)) / 2


def train_pairs(
    model: PictureAndCaption,
    draw: Callable[[int, torch.Generator], Scenes] | None = None,
    *,
    steps: int = 400,
    rows: int = 32,
    rate: float = 3e-3,
    seed: int = 0,
    loss: Loss = contrastive_loss,
) -> PictureAndCaption:
    """Train on new scenes at each step: draw(rows, generator), by default pictures of one shape. -> the model"""
    check_types("train_pairs", PictureAndCaption, model=model)
    check_numbers("train_pairs", least=1, whole=True, steps=steps, rows=rows)
    draw = draw or (lambda rows, generator: one_shape(rows, generator=generator))

    def measure(model: PictureAndCaption, batch: Scenes) -> Tensor:
        pictures, captions = model.pictures(batch.pixels), model.words(batch.captions)
        return loss(pictures, captions, model.log_temperature.exp())

    return train_on_new(model, partial(draw, rows), loss=measure, steps=steps, rate=rate, seed=seed)


def with_opposites(rows: int, generator: torch.Generator) -> Scenes:
    """Scenes of two shapes, half of them the other half with shapes exchanged: each caption meets its opposite."""
    half = two_shapes(rows // 2, generator=generator)
    turned = swapped(half.captions)
    return Scenes(torch.cat([half.pixels, pictures_of_two(turned, generator)]), torch.cat([half.captions, turned]))


@torch.no_grad()
def table(model: PictureAndCaption, pixels: Tensor, captions: Tensor) -> Tensor:
    """The cosines of all pictures and all captions, (P, C)."""
    return scores_of(model.pictures(pixels), model.words(captions), 1.0)


def share_found(model: PictureAndCaption, scenes: Scenes, offered: Tensor) -> float:
    """For how many pictures is their own caption the best of the captions offered (C, words)?"""
    best = table(model, scenes.pixels, offered).argmax(1)
    return (offered[best] == scenes.captions).all(1).double().mean().item()


def share_in_order(model: PictureAndCaption, scenes: Scenes) -> float:
    """For how many pictures of two shapes does the right caption beat the one with the shapes exchanged?"""
    right = (table(model, scenes.pixels, scenes.captions)).diagonal()
    wrong = (table(model, scenes.pixels, swapped(scenes.captions))).diagonal()
    return (right > wrong).double().mean().item()


# --- recorded ---------------------------------------------------------------------------------------------------------
BATCHES = (2, 8, 32)  # pairs in a batch; each run sees PICTURES pictures
PICTURES, ORDER_STEPS, SEEDS = 12_800, 600, range(5)
ORDERS: dict[str, Callable[[int, torch.Generator], Scenes]] = {
    "random": lambda rows, generator: two_shapes(rows, generator=generator),
    "opposites": with_opposites,
}


def fresh_scenes(pairs: Sequence[tuple[str, str]] = SEEN) -> Scenes:
    """400 pictures that no training has seen."""
    return one_shape(400, generator=torch.Generator().manual_seed(9), pairs=pairs)


def learn_captions(rows: int, seed: int, pictures: int = PICTURES) -> dict[str, float]:
    """Train with this number of pairs in a batch; which caption of all 64 is found, for seen and for unseen pairs?"""
    model = train_pairs(PictureAndCaption(seed=seed), rows=rows, steps=pictures // rows, seed=seed)
    all_captions = captions_of(PAIRS)
    return {
        "seen": share_found(model, fresh_scenes(), all_captions),
        "unseen": share_found(model, fresh_scenes(HELD_OUT), all_captions),
    }


def learn_order(kind: str, seed: int, steps: int = ORDER_STEPS) -> PictureAndCaption:
    """Train on pictures of two shapes, with the `ORDERS` of that name."""
    check_one_of("learn_order", ORDERS, kind=kind)
    return train_pairs(PictureAndCaption(seed=seed), ORDERS[kind], steps=steps, seed=seed)


def order_scores(model: PictureAndCaption) -> dict[str, float]:
    """Found among the 32 captions of a random batch, and preferred to the same caption with the shapes exchanged."""
    scenes = two_shapes(384, generator=torch.Generator().manual_seed(9))
    batches = [Scenes(scenes.pixels[i : i + 32], scenes.captions[i : i + 32]) for i in range(0, 384, 32)]
    found = sum(share_found(model, batch, batch.captions) for batch in batches) / len(batches)
    return {"of 32": found, "order": share_in_order(model, scenes)}


def learn_all(begun: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """{"order": {kind: [`order_scores` of each seed]}, "batch": {rows: [`learn_captions` of each seed]}}"""
    found = begun or {"batch": {}, "order": {}}
    scores: list[tuple[str, Any, Callable[[Any, int], dict[str, float]]]] = [
        *(("order", kind, lambda kind, seed: order_scores(learn_order(kind, seed))) for kind in ORDERS),
        *(("batch", rows, learn_captions) for rows in reversed(BATCHES)),
    ]
    for group, key, learned in scores:
        runs = found[group].setdefault(str(key), [])
        for seed in SEEDS[len(runs) :]:
            runs.append({name: round(share, 3) for name, share in learned(key, seed).items()})
            yield found


def store_weights() -> None:
    """Train the models of two shapes of seed 0, and write the weights that come with the lesson."""
    for kind in ORDERS:
        save_small(learn_order(kind, 0), Path(__file__).with_name(f"order_{kind}.safetensors"))


RECORDED = Experiment(Path(__file__).with_suffix(".json"), learn_all, "an hour", {})
recorded_captions = RECORDED.read
