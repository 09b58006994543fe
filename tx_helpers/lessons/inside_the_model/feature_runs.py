"""The sparse autoencoder against its rivals, on the toy and in the translator, at three seeds; and outlier dimensions.

    RECORDED.read()["toy"]["trained"]["40, 0.2"]    # of each seed: found, split, merged, true, active, error
    RECORDED.read()["words"]["0"]["autoencoder"]    # of each next word the best F1 of a code
    RECORDED.read()["outliers"]

Rivals get both signs of their directions. A unit answers to a word if "its value is above a threshold" finds the
positions before that word. The unit is chosen on training numbers; F1 is that of its best threshold on held-out ones.

Sources: Dettmers et al. 2022, Kovaleva et al. 2021 (outlier dimensions); Sun et al. 2024 (massive activations).
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from tx_helpers.lessons.inside_the_model import features
from tx_helpers.lessons.inside_the_model.features import SEEDS, WEIGHTS, WIDTHS, autoencoders, report, unit
from tx_helpers.nn.capture import capture
from tx_helpers.text.data import BOS, EOS, PAD, pad_right, sequence_batch, text_pairs
from tx_helpers.text.number_words import number_pairs
from tx_helpers.training.experiment import Experiment
from tx_helpers.training.objectives import causal, encoded_texts
from tx_helpers.zoo.recipes import Translator, number_translator
from tx_helpers.zoo.world_models import world_model

LAYER, UNITS, CODES, L1, LEAST = "decoder.blocks.0.hidden", "decoder.blocks.0.feed_forward.activation", 256, 1.0, 20


# --- rivals -----------------------------------------------------------------------------------------------------------
def rivals(h: Tensor, *, seed: int = 0) -> dict[str, Tensor]:
    """Directions (M, D) that other methods find in hidden vectors h (N, D)."""
    draw, D = torch.Generator().manual_seed(3000 + seed), h.shape[1]
    components = torch.linalg.svd(h - h.mean(0), full_matrices=False).Vh
    found = {"coordinates": torch.eye(D), "PCA": components, "ICA": independent(h, draw)}
    found = {name: torch.cat([each, -each]) for name, each in found.items()}
    found |= {f"k-means, {k}": clusters(h, k, draw) for k in (20, 40)}
    return found | {"random, 40": torch.randn(40, D, generator=draw)}


def clusters(h: Tensor, k: int, draw: torch.Generator, steps: int = 50) -> Tensor:
    """Spherical k-means: the k mean directions (k, D) of the vectors that are not nearly zero."""
    z = unit(h[h.norm(dim=1) > 0.1])
    centres = z[torch.randperm(len(z), generator=draw)[:k]]
    for _ in range(steps):
        centres = unit(torch.zeros_like(centres).index_add(0, (z @ centres.T).argmax(1), z))
    return centres


def independent(h: Tensor, draw: torch.Generator, steps: int = 100) -> Tensor:
    """FastICA (Hyvärinen 1999): the directions (D, D) whose sizes are as independent as can be."""
    values, axes = torch.linalg.eigh(torch.cov(h.T))
    white = (h - h.mean(0)) @ axes * values.rsqrt()
    B = torch.linalg.qr(torch.randn(len(axes), len(axes), generator=draw)).Q
    for _ in range(steps):
        g = torch.tanh(white @ B.T)
        u, _, v = torch.linalg.svd(g.T @ white / len(white) - (1 - g * g).mean(0)[:, None] * B)
        B = u @ v
    return (B * values.sqrt()) @ axes.T  # h − mean = Σ_j size_j · row_j


def measure_toy(directions: Tensor, seed: int) -> tuple[dict[str, dict[str, float]], dict[str, Any]]:
    """The scores of all widths, weights and rivals, and the columns themselves."""
    scores, kept = {}, {"directions": _rounded(directions)}
    for width in WIDTHS:
        for weight, one in zip(WEIGHTS, features.dictionaries(directions, width, seed=seed), strict=True):
            name, columns = f"{width}, {weight:g}", _rounded(unit(one.columns))
            kept[name] = columns
            seen = report(torch.tensor(kept["directions"]), torch.tensor(columns).reshape(-1, directions.shape[1]))
            scores[name] = seen._asdict() | {"active": round(one.active, 2), "error": round(one.error, 3)}
    h = features.examples(20_000, torch.Generator().manual_seed(2000 + seed)) @ directions
    scores |= {name: report(directions, columns)._asdict() for name, columns in rivals(h, seed=seed).items()}
    return scores, kept


def _rounded(x: Tensor) -> list[list[float]]:
    return [[round(value, 3) for value in row] for row in x.tolist()]


# --- the translator ---------------------------------------------------------------------------------------------------
def states(translator: Translator, pairs: Any, name: str) -> tuple[Tensor, Tensor]:
    """The activation `name` (N, D) at all positions of the target, and the word that comes next (N,)."""
    batch = sequence_batch(translator.data.encode(text_pairs("states", pairs)))
    with capture(translator.model, name) as seen, torch.no_grad():
        translator.model(batch.source, batch.decoder_input)
    real = batch.target != PAD
    return seen[name][real], batch.target[real]


def f1(values: Tensor, right: Tensor) -> Tensor:
    """Of each unit (N, M) the F1 of its best threshold: does a value above it tell the positions `right` (N,)?"""
    ordered, at = values.sort(0, descending=True)
    hits = right[at].double().cumsum(0)
    scores = 2 * hits / (torch.arange(1, len(values) + 1)[:, None] + right.sum())
    ends = torch.cat([ordered[:-1] != ordered[1:], torch.ones(1, values.shape[1], dtype=torch.bool)])
    return (scores * ends).amax(0)


def best_units(fit: tuple[Tensor, Tensor], test: tuple[Tensor, Tensor]) -> list[float]:
    """Of each next word that is frequent enough the F1 of the unit that answers to it best."""
    found = []
    for word in fit[1].unique():
        if min((fit[1] == word).sum(), (test[1] == word).sum()) > LEAST:
            unit_no = f1(fit[0], fit[1] == word).argmax()
            found.append(round(f1(test[0][:, unit_no, None], test[1] == word).item(), 3))
    return found


def measure_words(seed: int) -> dict[str, list[float]]:
    """The F1 of each next word: of coordinates, FFN units, PCA, k-means, random directions, and an autoencoder."""
    translator, numbers = number_translator(progress=False), number_pairs()
    (h, y), (h2, y2) = (states(translator, pairs, LAYER) for pairs in (numbers.train[:3000], numbers.held_out))
    scale, mean = h.square().mean().sqrt(), h.mean(0)
    h, h2 = (h - mean) / scale, (h2 - mean) / scale
    draw = torch.Generator().manual_seed(seed)
    axes = torch.linalg.svd(h, full_matrices=False).Vh
    ways: dict[str, Callable[[Tensor], Tensor]] = {"coordinates": lambda x: torch.cat([x, -x], 1)}
    ways["PCA"] = lambda x: torch.cat([x @ axes.T, -x @ axes.T], 1)
    for name, rows in (
        ("random", torch.randn(CODES, h.shape[1], generator=draw)),
        ("k-means", clusters(h, CODES, draw)),
    ):
        ways[name] = lambda x, rows=rows: x @ rows.T
    one = autoencoders(lambda g: h[torch.randint(len(h), (512,), generator=g)], h2, CODES, (L1,), seed=seed, steps=1500)
    found = {name: best_units((way(h), y), (way(h2), y2)) for name, way in ways.items()}
    with torch.no_grad():
        found["autoencoder"] = best_units((one[0].encode(h), y), (one[0].encode(h2), y2))
    fit, test = (states(translator, pairs, UNITS) for pairs in (numbers.train[:3000], numbers.held_out))
    targets = F.one_hot(y).float()
    probe = torch.linalg.lstsq(torch.cat([h, torch.ones(len(h), 1)], 1), targets).solution[:-1]
    return found | {
        "FFN units": best_units(fit, test),
        "a probe, told the words": best_units((h @ probe, y), (h2 @ probe, y2)),
        "active": [round(one[0].active, 1)],
    }


# --- outliers ---------------------------------------------------------------------------------------------------------
def outliers() -> dict[str, dict[str, list[float]]]:
    """Of each layer: largest |value| over the median one; the loss that its dimension costs, set to its mean and to 0;
    the same of the others on average; the position of the largest value."""
    translator, decoder = number_translator(progress=False), world_model("decoder")
    batch = sequence_batch(translator.data.encode(text_pairs("outliers", number_pairs().held_out[:200])))
    ids, target = causal(pad_right([[BOS, *text, EOS] for text in encoded_texts(60)], PAD))
    return {
        "translator": _outliers(translator.model, (batch.source, batch.decoder_input), batch.target),
        "decoder of the little world": _outliers(decoder, (ids,), target),
    }


def _outliers(model: Any, inputs: tuple[Tensor, ...], target: Tensor) -> dict[str, list[float]]:
    def loss(name: str = "", at: int = 0, value: float = 0.0) -> float:
        def put(x: Tensor) -> Tensor:
            return torch.where(torch.arange(x.shape[-1]) == at, torch.tensor(value), x)

        with capture(model, "*.none", edit={name: put} if name else None), torch.no_grad():
            return F.cross_entropy(model(*inputs)[target != PAD], target[target != PAD]).item()

    with capture(model, "decoder.blocks.*.hidden") as seen, torch.no_grad():
        model(*inputs)
    found, whole = {}, loss()
    for name in seen:
        x = seen[name][target != PAD]
        largest, place = int(x.abs().amax(0).argmax()), (seen[name].abs().amax(-1) * (target != PAD)).amax(0).argmax()
        costs = torch.tensor(
            [[loss(name, d, v) - whole for v in (x[:, d].mean().item(), 0.0)] for d in range(x.shape[1])]
        )
        others = costs[torch.arange(len(costs)) != largest].mean(0)
        ratio = (x.abs().max() / x.abs().median()).item()
        found[name] = [round(v, 4) for v in (ratio, *costs[largest].tolist(), *others.tolist(), float(place))]
    return found


# --- the record -------------------------------------------------------------------------------------------------------
def run_all() -> dict[str, Any]:
    """Everything, at all seeds."""
    toys = {"trained": features.toy_directions, "random": features.random_directions}
    runs = {kind: [measure_toy(make(seed), seed) for seed in SEEDS] for kind, make in toys.items()}
    names = list(runs["trained"][0][0])
    return {
        "toy": {kind: {name: [scores[name] for scores, _ in each] for name in names} for kind, each in runs.items()},
        "shown": runs["trained"][0][1],
        "words": {str(seed): measure_words(seed) for seed in SEEDS},
        "outliers": outliers(),
    }


RECORDED = Experiment(
    Path(__file__).with_suffix(".json"),
    run_all,
    "7 minutes",
    {"seeds": SEEDS, "widths": WIDTHS, "weights": WEIGHTS, "codes": CODES, "l1": L1},
)
