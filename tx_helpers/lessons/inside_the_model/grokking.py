"""Grokking: a model that adds modulo 53 knows its training pairs by heart long before it gets the others right.

    RECORDED.read()["seeds"]["0"]      # accuracies over the steps; at the end the vectors of the numbers, and edits
    energies(vectors)                  # of the numbers' vectors, by frequency

The vectors w_a (D,) of the numbers a = 0 … P − 1 are a function on a circle. Its Fourier transform
F_k = Σ_a w_a e^(−2πi ka/P) says how much of it turns k times around: the energy |F_k|².

Source: Power et al. 2022, *Grokking*; Nanda et al. 2023, *Progress measures for grokking via mechanistic
interpretability*.
"""

from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tx_helpers.nn.arguments import check_tensors
from tx_helpers.nn.config import AttentionConfig, EmbeddingConfig, FeedForwardConfig, PositionConfig, TransformerConfig
from tx_helpers.nn.models import DecoderOnly
from tx_helpers.text.data import TextBatch
from tx_helpers.training.contexts import RandomStream
from tx_helpers.training.experiment import Experiment
from tx_helpers.training.loop import fit
from tx_helpers.training.optimizers import adamw

P, SHARE, STEPS, EVERY, SEEDS, STRONGEST = 53, 0.4, 1200, 50, (0, 1, 2), 5


def new_adder(seed: int = 0) -> DecoderOnly:
    """One block; it reads a, b and "=" (the id P), and says a + b modulo P at the last position."""
    config = TransformerConfig(
        P + 1,
        d_model=128,
        n_layers=1,
        context_length=3,
        attention=AttentionConfig(4),
        feed_forward=FeedForwardConfig(512),
        positions=PositionConfig("learned"),
        embedding=EmbeddingConfig(scale=False, tied=False),
    )
    with RandomStream(seed).on(torch.device("cpu")):
        return DecoderOnly(config)


def pairs(seed: int = 0) -> tuple[TextBatch, TextBatch]:
    """All P² sums: 40 % of them for training, and the others."""
    a, b = torch.cartesian_prod(torch.arange(P), torch.arange(P)).T
    ids, sums = torch.stack([a, b, torch.full_like(a, P)], dim=1), (a + b) % P
    order = torch.randperm(P * P, generator=torch.Generator().manual_seed(seed))
    parts = order.split([round(SHARE * P * P), P * P - round(SHARE * P * P)])
    return tuple(TextBatch(ids[part], sums[part]) for part in parts)  # type: ignore[return-value]


def train_one(seed: int, steps: int = STEPS) -> dict[str, Any]:
    """Curves of a training on all training pairs at once; at its end the vectors of the numbers, and edits of them.

    edited  accuracy on the other pairs with the five strongest frequencies alone, without them, without five others
    """
    model, (train, test) = new_adder(seed), pairs(seed)
    vectors = model.decoder.input.tokens.weight.detach()[:P]  # changes with the model

    def accuracy(part: TextBatch) -> float:
        with torch.no_grad():
            return (model(part.input)[:, -1].argmax(-1) == part.target).double().mean().item()

    def evaluate(_: nn.Module) -> dict[str, float]:
        return {"training": accuracy(train), "others": accuracy(test), "energy": concentration(vectors)}

    def loss(adder: nn.Module, batch: TextBatch) -> Tensor:
        return F.cross_entropy(adder(batch.input)[:, -1], batch.target)

    how = dict(optimizer=adamw(model, 3e-3, betas=(0.9, 0.98), weight_decay=1.0), seed=seed, every=EVERY)
    run = fit(model, lambda _: train, steps=steps, loss=loss, evaluate=evaluate, progress=False, **how)
    learned, strongest = vectors.clone(), energies(vectors).argsort(descending=True)
    edited = []
    for kept in (strongest[:STRONGEST], strongest[STRONGEST:], strongest[[*range(5), *range(10, P // 2)]]):
        vectors.copy_(only(learned, kept))
        edited.append(round(accuracy(test), 3))
    curves = {name: [round(one[name], 3) for one in run.evaluations] for name in ("training", "others", "energy")}
    found = {"steps": [one["step"] for one in run.evaluations], **curves, "edited": edited}
    return found | {"vectors": [[round(x, 2) for x in row] for row in learned.tolist()]} if seed == 0 else found


def train_all() -> dict[str, Any]:
    """All seeds."""
    return {"seeds": {str(seed): train_one(seed) for seed in SEEDS}}


SETTINGS = {"p": P, "trained": SEEDS, "steps": STEPS}
RECORDED = Experiment(Path(__file__).with_suffix(".json"), train_all, "5 minutes", SETTINGS)


def energies(vectors: Tensor) -> Tensor:
    """The share of each frequency 1 … P // 2 in the vectors (P, D) of the numbers, their mean left out. -> (P // 2,)"""
    check_tensors("energies", vectors=(vectors, "float P D"))
    energy = torch.fft.rfft(vectors, dim=0).abs().square().sum(-1)[1:]
    return energy / energy.sum()


def concentration(vectors: Tensor) -> float:
    """The share of the five strongest frequencies."""
    return energies(vectors).topk(STRONGEST).values.sum().item()


def only(vectors: Tensor, places: Tensor) -> Tensor:
    """The vectors (P, D) with these frequencies alone, places[i] = k − 1, and their mean."""
    check_tensors("only", vectors=(vectors, "float P D"), places=(places, "int N"))
    spectrum = torch.fft.rfft(vectors, dim=0)
    kept = torch.zeros(len(spectrum), dtype=torch.bool).index_fill(
        0, torch.cat([places.new_zeros(1), places + 1]), True
    )
    return torch.fft.irfft(spectrum * kept[:, None], n=len(vectors), dim=0)
