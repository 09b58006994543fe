"""Features in superposition, and a sparse autoencoder that looks for them where all of them are known.

    directions = toy_directions(seed=0)                        # (20, 8): what the toy writes for each feature
    found = dictionaries(directions, 40, (0.05, 0.2), seed=0)  # a sparse autoencoder for each weight of L1
    report(directions, found[0].columns)                       # Report(found=…, split=…, merged=…, true=…)

The toy has 20 features in 8 dimensions. A feature is on in 1 of 20 examples, with a size between 0 and 1, but for two
pairs: features 1 and 2 are always on together, and feature 4 is on in half of the examples that have feature 3. The
autoencoder sees the sums h (D,) alone:

    f = ReLU((h − b_dec) W_enc + b_enc),   ĥ = f W_dec + b_dec,   loss = |ĥ − h|² + λ Σ_j f_j |w_j|

w_j is row j of W_dec. All are called columns of the dictionary, as in the literature, whose matrix is transposed.

Sources: Elhage et al. 2022 (the toy); Bricken et al. 2023, Cunningham et al. 2023 (sparse autoencoders); Templeton et
al. 2024 (the lengths |w_j| in the loss); Chanin et al. 2024 (absorption).
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from tx_helpers.nn.arguments import check_numbers

FEATURES, DIMENSIONS, SHARE = 20, 8, 0.05
PAIRS = ((0, 1), (2, 3))  # always together; the second only with the first
SAME, ON = 0.9, 1e-3  # the cosine from which two directions count as one, the code from which a column is on
SEEDS, WIDTHS, WEIGHTS = (0, 1, 2), (10, 20, 40, 80), (0.02, 0.1, 0.2, 0.4, 0.8)


# --- the toy ----------------------------------------------------------------------------------------------------------
def examples(count: int, draw: torch.Generator) -> Tensor:
    """The sizes of all features in `count` examples, (count, 20); most are 0."""
    size, dice = torch.rand(2, count, FEATURES, generator=draw)
    on = dice < SHARE
    (first, twin), (whole, part) = PAIRS
    on[:, twin] = on[:, first]
    on[:, part] = on[:, whole] & (dice[:, part] < 0.5)
    return size * on


@cache
def toy_directions(seed: int = 0, steps: int = 1000) -> Tensor:
    """The directions (20, 8) that a toy model learned, which writes h = x W and reads ReLU(h Wᵀ + b) back."""
    check_numbers("toy_directions", least=0, whole=True, seed=seed, steps=steps)
    draw = torch.Generator().manual_seed(seed)
    W = (0.3 * torch.randn(FEATURES, DIMENSIONS, generator=draw)).requires_grad_()
    b = torch.zeros(FEATURES, requires_grad=True)
    optimizer = torch.optim.Adam([W, b], lr=1e-2)
    for _ in range(steps):
        x = examples(512, draw)
        loss = (F.relu(x @ W @ W.T + b) - x).square().mean() / SHARE
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return W.detach()


def random_directions(seed: int = 0) -> Tensor:
    """The harder toy: directions (20, 8) of length 1 that nobody trained to be far apart."""
    return unit(torch.randn(FEATURES, DIMENSIONS, generator=torch.Generator().manual_seed(seed)))


def unit(x: Tensor) -> Tensor:
    """Vectors (…, D) scaled to the length 1; zero stays zero."""
    return x / x.norm(dim=-1, keepdim=True).clamp(min=1e-9)


# --- the sparse autoencoder -------------------------------------------------------------------------------------------
class Dictionary(NamedTuple):
    """A trained autoencoder: its decoder's rows (M, D), how often each is on (M,), and the two that one trades.

    active  L0: the mean number of codes that are on.   error  the share of the variance that is not reconstructed
    """

    rows: Tensor
    often: Tensor
    active: float
    error: float
    encode: Callable[[Tensor], Tensor]

    @property
    def columns(self) -> Tensor:
        """The directions that are on in 1 of 1,000 examples or more; the others are dead."""
        return self.rows[self.often > ON]


def autoencoders(
    batches: Callable[[torch.Generator], Tensor],
    test: Tensor,
    width: int,
    weights: Sequence[float],
    *,
    seed: int = 0,
    steps: int = 2000,
    loss: Callable[..., Tensor] | None = None,
) -> list[Dictionary]:
    """Train a sparse autoencoder with `width` codes on batches (B, D) for each L1 weight, all side by side.

    loss: your own, loss(h, W_enc, b_enc, W_dec, b_dec, l1), in place of the same one for all at once
    """
    check_numbers("autoencoders", least=1, whole=True, width=width, steps=steps)
    draw, l1 = torch.Generator().manual_seed(1000 + seed), torch.tensor(weights)
    W_dec = unit(torch.randn(len(weights), width, test.shape[1], generator=draw))
    b_enc, b_dec = torch.zeros(len(weights), 1, width), test.mean(0).expand(len(weights), 1, -1).clone()
    parts = [part.requires_grad_() for part in (W_dec.mT.clone(), b_enc, W_dec, b_dec)]
    W_enc = parts[0]

    def code(h: Tensor) -> Tensor:
        return F.relu((h - b_dec) @ W_enc + b_enc)

    optimizer = torch.optim.Adam(parts, lr=3e-3)
    rate = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (steps - step) / (0.3 * steps)))
    for _ in range(steps):
        h = batches(draw)
        if loss is None:
            f = code(h)
            sparse = (f * W_dec.norm(dim=-1)[:, None]).sum(-1).mean(1)
            total = ((f @ W_dec + b_dec - h).square().sum(-1).mean(1) + l1 * sparse).sum()
        else:
            each = zip(W_enc, b_enc[:, 0], W_dec, b_dec[:, 0], l1, strict=True)
            total = torch.stack([loss(h, *one) for one in each]).sum()
        optimizer.zero_grad()
        total.backward()
        optimizer.step()
        rate.step()
    with torch.no_grad():
        f = code(test)
        error = (f @ W_dec + b_dec - test).square().sum((1, 2)) / (test - test.mean(0)).square().sum()
    often = (f > ON).float().mean(1)
    return [
        Dictionary(W_dec[n].detach(), often[n], often[n].sum().item(), error[n].item(), lambda h, n=n: code(h)[n])
        for n in range(len(weights))
    ]


def dictionaries(
    directions: Tensor, width: int, weights: Sequence[float] = WEIGHTS, *, seed: int = 0, **options: Any
) -> list[Dictionary]:
    """Sparse autoencoders on the hidden vectors of a toy, one for each L1 weight; the options of `autoencoders`."""
    test = examples(4096, torch.Generator().manual_seed(2000 + seed)) @ directions
    return autoencoders(lambda draw: examples(512, draw) @ directions, test, width, weights, seed=seed, **options)


# --- the score --------------------------------------------------------------------------------------------------------
class Report(NamedTuple):
    """What a dictionary is: features found, features that have two columns or more, columns between two, right ones.

    found   true directions that have a column with a cosine above 0.9.   split   those that have several
    merged  columns above 0.9 with the sum of two features, and with none alone.   true  the share of right columns
    """

    found: int
    split: int
    merged: int
    true: float


def report(directions: Tensor, columns: Tensor) -> Report:
    """Compare a dictionary's columns (M, D) with the true directions (N, D)."""
    if columns.dim() != 2 or columns.shape[-1] != directions.shape[-1]:
        raise ValueError(f"report: columns of shape {tuple(columns.shape)}, but directions {tuple(directions.shape)}")
    true, cosines = unit(directions), unit(directions) @ unit(columns).T
    i, j = torch.triu_indices(len(true), len(true), 1)
    near, alone = cosines > SAME, (cosines <= SAME).all(0)
    between = (unit(true[i] + true[j]) @ unit(columns).T > SAME).any(0) & alone
    right = near.any(0).double().mean().item() if len(columns) else 0.0
    return Report(int(near.any(1).sum()), int((near.sum(1) > 1).sum()), int(between.sum()), round(right, 3))
