"""A vision model against convolutions of equal size and of equal cost, over several amounts of data: recorded.

    amounts()["right"]["ViT"]["1297"]        # the share of right answers on 500 new digits, one for each of five seeds
    learn("ViT", 162, seed=0)                # one of the runs again

Each model trains on the first so many digits of the training part, 300 steps of 64, the same rows for each. `changed`
asks what a model knows of the plane: all pictures (to train on and to test on) have their 16 patches, or their 64
pixels, in another, always the same order; or only the test's pictures are moved by a pixel.
"""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from tx_helpers.lessons.beyond_text.digits import Digits, digits
from tx_helpers.lessons.beyond_text.vit import SIDE, SmallConvolution, TinyViT, accuracy, patches, train_on_digits
from tx_helpers.nn.arguments import check_one_of
from tx_helpers.training.experiment import Experiment

MODELS: dict[str, Callable[..., nn.Module]] = {
    "ViT": TinyViT,
    "ViT, patches of 4 × 4": partial(TinyViT, size=4),
    "ViT, one patch of 8 × 8": partial(TinyViT, size=8),
    "convolution, equal size": SmallConvolution,
    "convolution, equal cost": partial(SmallConvolution, widths=(16, 24, 23)),
}
AMOUNTS = (40, 81, 162, 324, 648, 1297)
SEEDS = range(5)
FEW = 162  # digits at which the changes are measured
CHANGES = ("as they are", "patches shuffled", "pixels shuffled", "tested a pixel to the right")
STEPS = 300


def unpatched(tokens: Tensor) -> Tensor:
    """Patches (B, N, P²) back as pictures (B, 8, 8)."""
    size = round(tokens.shape[-1] ** 0.5)
    squares = tokens.unflatten(2, (size, size)).unflatten(1, (SIDE // size, SIDE // size))
    return squares.transpose(2, 3).reshape(-1, SIDE, SIDE)


def rearranged(images: Tensor, change: str) -> Tensor:
    """The pictures (B, 8, 8) with patches or pixels in another order, the same for all; or moved to the right."""
    check_one_of("rearranged", CHANGES, change=change)
    generator = torch.Generator().manual_seed(17)
    if change == "patches shuffled":
        return unpatched(patches(images)[:, torch.randperm(16, generator=generator)])
    if change == "pixels shuffled":
        return images.flatten(1)[:, torch.randperm(SIDE * SIDE, generator=generator)].view_as(images)
    if change == CHANGES[3]:
        return torch.cat([torch.zeros(len(images), SIDE, 1), images[:, :, :-1]], dim=2)
    return images


def learn(name: str, amount: int, seed: int, change: str = "as they are", steps: int = STEPS) -> float:
    """Train one model, and give its share of right answers on the test part."""
    check_one_of("learn", MODELS, name=name)
    (images, labels), test = digits("train"), digits("test")
    shown = images if change == CHANGES[3] else rearranged(images, change)
    model = train_on_digits(
        MODELS[name](seed=seed), Digits(shown[:amount], labels[:amount]), steps=steps, seed=100 + seed
    )
    return accuracy(model, Digits(rearranged(test.images, change), test.labels))


def learn_all(begun: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """{"right": {model: {amount: [one a seed]}}, "changed": {model: {change: [one a seed]}}}"""
    found = begun or {"right": {}, "changed": {}}
    asked = [("right", str(amount), amount, CHANGES[0]) for amount in AMOUNTS]
    asked += [("changed", change, FEW, change) for change in CHANGES[1:]]
    for name in MODELS:
        for group, key, amount, change in asked:
            if key not in (row := found[group].setdefault(name, {})):
                row[key] = [round(learn(name, amount, seed, change), 3) for seed in SEEDS]
                yield found


RECORDED = Experiment(Path(__file__).with_suffix(".json"), learn_all, "10 minutes", {})
amounts = RECORDED.read
