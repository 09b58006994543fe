"""Scaling laws: the loss over parameters N and tokens D, fitted; the best size for a budget; and how sure one can be.

    L(N, D) = E + A / N^α + B / D^β                        Hoffmann et al. 2022, equation 2
    C ≈ 6 N D operations                                   Kaplan et al. 2020, section 2.1
    best N for C:  G (C / 6)^(β / (α + β)),  G = (α A / (β B))^(1 / (α + β))         Hoffmann et al., equation 4

E is what no model can know, A / N^α the price of few parameters, B / D^β the price of few tokens. For given α and β the
three others follow from linear least squares, so `fit_law` looks through a grid of exponents, and then through finer
ones: it always finds the same answer. Errors are relative. (Hoffmann et al. minimise a Huber loss of the logarithms,
from many starting points.)
"""

from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

import torch
from torch import Tensor

from tx_helpers.nn.arguments import check_numbers, check_tensors, check_types

EXPONENTS = (0.02, 2.0)  # the range of α and β
GRID, ROUNDS = 24, 5


class Law(NamedTuple):
    """The five numbers of L(N, D) = E + A / N^α + B / D^β."""

    E: float
    A: float
    B: float
    alpha: float
    beta: float

    def loss(self, parameters: Tensor | float, tokens: Tensor | float) -> Tensor | float:
        """The loss of a model with so many parameters after so many tokens, in nats per token."""
        return self.E + self.A / parameters**self.alpha + self.B / tokens**self.beta

    @property
    def exponent(self) -> float:
        """The a in "the best N grows as C^a": β / (α + β)."""
        return self.beta / (self.alpha + self.beta)

    def best_size(self, operations: float) -> tuple[float, float]:
        """The N and the D with the smallest loss for C = 6 N D operations: Hoffmann et al. 2022, equation 4."""
        check_numbers("best_size", above=0, operations=operations)
        G = (self.alpha * self.A / (self.beta * self.B)) ** (1 / (self.alpha + self.beta))
        parameters = G * (operations / 6) ** self.exponent
        return parameters, operations / 6 / parameters


def fit_law(parameters: Tensor, tokens: Tensor, losses: Tensor) -> Law:
    """The law with the smallest sum of squared relative errors: three tensors (M,) of M runs, M ≥ 5.

    Errors: a ValueError where no E ≥ 0, A, B > 0 fit, as for losses that rise with the tokens.
    """
    forms = dict(parameters=(parameters, "float M"), tokens=(tokens, "float M"), losses=(losses, "float M"))
    check_tensors("fit_law", **forms)
    if len(losses) < 5:
        raise ValueError(f"fit_law: {len(losses)} runs for a law of five numbers, expected 5 or more")
    for name, values in (("parameters", parameters), ("tokens", tokens), ("losses", losses)):
        if not bool((values > 0).all() and values.isfinite().all()):
            raise ValueError(f"fit_law: {name} from {values.min()} to {values.max()}, expected numbers above 0")
    for name, values in (("parameters", parameters), ("tokens", tokens)):
        if len(values.unique()) < 2:
            raise ValueError(f"fit_law: all runs have {name} {values[0]:g}, expected two different numbers or more")
    log_n, log_d, losses = parameters.double().log(), tokens.double().log(), losses.double()
    low, high = (torch.full((2,), edge, dtype=torch.float64) for edge in EXPONENTS)  # of α and β
    for _ in range(ROUNDS):
        alphas, betas = (torch.linspace(a, b, GRID, dtype=torch.float64) for a, b in zip(low, high, strict=True))
        solution, error = _solve(alphas, betas, log_n, log_d, losses)
        row, column = divmod(int(error.argmin()), GRID)
        if not error[row, column].isfinite():
            raise ValueError("fit_law: no law with E ≥ 0, A > 0, B > 0 fits these losses: do they fall with N and D?")
        best, step = torch.stack([alphas[row], betas[column]]), (high - low) / (GRID - 1)
        low = (best - 2 * step).clamp(min=EXPONENTS[0])
        high = (best + 2 * step).clamp(max=EXPONENTS[1])
    return Law(*solution[row, column].tolist(), *best.tolist())


def _solve(alphas: Tensor, betas: Tensor, log_n: Tensor, log_d: Tensor, losses: Tensor) -> tuple[Tensor, Tensor]:
    """For each α (P,) with each β (Q,) the best E, A, B (P, Q, 3) and the error (P, Q): ∞ if E < 0, A ≤ 0 or B ≤ 0.

    The relative errors are X b − 1, where X (M, 3) has the columns 1 / L, N^−α / L and D^−β / L, and b is E, A, B. The
    smallest sum of squares has XᵀX b = Xᵀ1, and is then M − b · Xᵀ1.
    """
    # The powers are taken relative to their mean, so that the three columns have about the same size.
    centre_n, centre_d = log_n.mean(), log_d.mean()
    one = 1 / losses  # (M,)
    n = torch.exp(-alphas[:, None] * (log_n - centre_n)) / losses  # (P, M)
    d = torch.exp(-betas[:, None] * (log_d - centre_d)) / losses  # (Q, M)
    one_n, one_d, n_d = (n @ one)[:, None], d @ one, n @ d.T  # (P, 1), (Q,), (P, Q)
    products = [one @ one, one_n, one_d, one_n, (n * n).sum(-1, keepdim=True), n_d, one_d, n_d, (d * d).sum(-1)]
    square = torch.stack([product.expand_as(n_d) for product in products], dim=-1).unflatten(-1, (3, 3))  # XᵀX
    right = torch.stack([sums.expand_as(n_d) for sums in (one.sum(), n.sum(-1, keepdim=True), d.sum(-1))], dim=-1)
    solution = torch.linalg.solve_ex(square, right).result
    error = len(losses) - (solution * right).sum(-1)
    wrong = (solution[..., 0] < 0) | (solution[..., 1:] <= 0).any(-1) | error.isnan()
    error = error.masked_fill(wrong, float("inf"))
    solution[..., 1] *= (alphas[:, None] * centre_n).exp()
    solution[..., 2] *= (betas * centre_d).exp()
    return solution, error


def bootstrap(parameters: Tensor, tokens: Tensor, losses: Tensor, *, count: int = 100, seed: int = 0) -> list[Law]:
    """Laws of `count` samples of the runs, drawn with replacement: how much the answer depends on the runs one has.

    A sample that no law fits (too few different runs) is drawn again.
    """
    check_numbers("bootstrap", least=1, whole=True, count=count)
    check_numbers("bootstrap", least=0, whole=True, seed=seed)
    fit_law(parameters, tokens, losses)  # wrong arguments are named
    return resample(lambda drawn: fit_law(parameters[drawn], tokens[drawn], losses[drawn]), len(losses), count, seed)


def resample(fit: Callable[[Tensor], Any], runs: int, count: int, seed: int) -> list[Any]:
    """What `fit` says of `count` samples of the runs, given their numbers; a sample that it refuses is drawn again."""
    generator, found = torch.Generator().manual_seed(seed), []
    while len(found) < count:
        with suppress(ValueError):
            found.append(fit(torch.randint(runs, (runs,), generator=generator)))
    return found


def interval(values: list[float], share: float = 0.9) -> tuple[float, float]:
    """The middle `share` of the values: between their (1 − share) / 2 and (1 + share) / 2 quantiles."""
    check_types("interval", list, values=values)
    check_numbers("interval", **{f"value {i}": value for i, value in enumerate(values)})
    check_numbers("interval", above=0, less_than=1, share=share)
    edges = torch.tensor([(1 - share) / 2, (1 + share) / 2], dtype=torch.float64)
    return tuple(torch.tensor(values, dtype=torch.float64).quantile(edges).tolist())
