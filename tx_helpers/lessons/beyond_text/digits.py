"""1,797 handwritten digits of 8 × 8 pixels: small enough to train a model that sees in seconds.

    seen, unseen = digits("train"), digits("test")
    seen.images.shape, seen.labels.shape      # (1297, 8, 8) from 0 (paper) to 1 (ink), (1297,)

They are the test set of *Optical Recognition of Handwritten Digits* (Alpaydin and Kaynak 1998, UCI Machine Learning
Repository, CC BY 4.0, https://doi.org/10.24432/C50P49), in the order and with the values of scikit-learn's copy, which
`digits.npz` holds unchanged. Each pixel counts the dark ones, 0 to 16, among 4 × 4 pixels of a scan.

13 people wrote them, and nothing says who wrote which. A random division has every writer on both sides, so its test
part asks for new digits of known writers. With `in_order=True` the last 500 are the test part. Digits near each other
in the file look alike: for 58 % of them, the most similar one of the same class is less than 130 places away (for 14 %
if the order meant nothing). Probably a writer's digits stand together. So this test part asks mostly for digits of new
writers, and is harder.
"""

import random
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from tx_helpers.nn.arguments import check_one_of, check_types

FILE = Path(__file__).with_name("digits.npz")
TEST = 500  # images of the test part
DARKEST = 16


class Digits(NamedTuple):
    """Images (N, 8, 8) in float32, and what they show, (N,)."""

    images: Tensor
    labels: Tensor

    def to(self, device: torch.device) -> "Digits":
        """The same images on a device, as `fit` asks of a batch."""
        return Digits(self.images.to(device), self.labels.to(device))


def digits(part: str = "train", *, in_order: bool = False) -> Digits:
    """The 1,297 digits to train on ("train"), or the 500 to test on ("test"). The same at every call."""
    check_one_of("digits", ("train", "test"), part=part)
    check_types("digits", bool, in_order=in_order)
    images, labels = _all()
    order = list(range(len(labels)))
    if not in_order:
        uniform = random.Random(0).random
        order.sort(key=lambda _: uniform())
    rows = order[:-TEST] if part == "train" else order[-TEST:]
    return Digits(images[rows], labels[rows])


@cache
def _all() -> Digits:
    with np.load(FILE) as file:
        return Digits(torch.from_numpy(file["images"]) / DARKEST, torch.from_numpy(file["labels"]).long())
