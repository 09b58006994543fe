"""What the thirty runs of `law_runs` say: two ways to fit a law to them, how far each extrapolates, and the best rates.

    law = hoffmann_way().fit()                       # E, A, B, α, β of the recorded runs
    extrapolate(kaplan_way(), up_to=1e12).errors      # a law of the small runs, beside what the large ones measured

Hoffmann et al. 2022 give every run a schedule that ends with it, and count all parameters. Kaplan et al. 2020 gave all
models one long schedule and read losses on the way, where the rate is still high; and they did not count embeddings.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import torch
from torch import Tensor

from tx_helpers.lessons.scaling_up.laws.law import Law, bootstrap, fit_law, interval, resample
from tx_helpers.lessons.scaling_up.laws.law_runs import WAYS, recorded
from tx_helpers.nn.arguments import check_numbers, check_one_of, check_types


# --- two ways to read them --------------------------------------------------------------------------------------------
class Points(NamedTuple):
    """What a law is fitted to, a number for each of M runs: (M,) float64. operations: 6 N D, N with the embedding."""

    parameters: Tensor
    tokens: Tensor
    losses: Tensor
    operations: Tensor

    def where(self, chosen: Tensor) -> "Points":
        """Some of the runs: chosen (M,) bool, or the numbers of the runs."""
        return Points(*(values[chosen] for values in self))

    def fit(self) -> Law:
        return fit_law(self.parameters, self.tokens, self.losses)

    def bootstrap(self, count: int = 100, *, seed: int = 0) -> list[Law]:
        return bootstrap(self.parameters, self.tokens, self.losses, count=count, seed=seed)


def law_points(table: Mapping[str, Any] | None = None, *, ended: bool = True, embeddings: bool = True) -> Points:
    """The loss of each width after each number of steps, of the recorded runs or of a table like them.

    ended       the run's schedule ends at these steps; else they are steps on the way of the longest run of this width,
                whose rate has not fallen yet
    embeddings  N counts the embedding, too
    """
    runs = (recorded() if table is None else table)["runs"]
    most = max(one["steps"] for one in runs)
    longest = [one for one in runs if one["steps"] == most]
    on_the_way = {(one["width"], steps): loss for one in longest for steps, _, loss in one["on_the_way"]}
    rows = []
    for one in runs:
        at_the_end = ended or one["steps"] == most
        loss = one["loss"] if at_the_end else on_the_way[one["width"], one["steps"]]
        counted = one["parameters" if embeddings else "without_embeddings"]
        rows.append((counted, one["tokens"], loss, 6 * one["parameters"] * one["tokens"]))
    return Points(*torch.tensor(rows, dtype=torch.float64).T)


def hoffmann_way(table: Mapping[str, Any] | None = None) -> Points:
    """Every run has a schedule that ends with it, and N counts all parameters: Hoffmann et al. 2022."""
    return law_points(table)


def kaplan_way(table: Mapping[str, Any] | None = None) -> Points:
    """One schedule for all, losses read on the way, and N without embeddings: Kaplan et al. 2020, sections 2.1, 2.2."""
    return law_points(table, ended=False, embeddings=False)


class Extrapolation(NamedTuple):
    """A law from the small runs, and what it says about the others, with its interval, beside what was measured."""

    law: Law
    laws: list[Law]
    small: Points
    others: Points
    predicted: Tensor
    low: Tensor
    high: Tensor

    @property
    def errors(self) -> Tensor:
        """Predicted less measured, in nats per token."""
        return self.predicted - self.others.losses


def extrapolate(points: Points, up_to: float, *, count: int = 100, seed: int = 0) -> Extrapolation:
    """Fit the runs of at most `up_to` operations, and predict the others; low and high hold 90 % of the bootstrap."""
    check_types("extrapolate", Points, points=points)
    check_numbers("extrapolate", above=0, up_to=up_to)
    small, others = points.where(points.operations <= up_to), points.where(points.operations > up_to)
    if not len(others.losses):
        raise ValueError(
            f"extrapolate: all {len(small.losses)} runs have at most {up_to:g} operations, expected one of more"
        )
    law, laws = small.fit(), small.bootstrap(count, seed=seed)
    sizes = others.parameters, others.tokens
    drawn = torch.stack([one.loss(*sizes) for one in laws])
    low, high = drawn.quantile(torch.tensor([0.05, 0.95], dtype=torch.float64), dim=0)
    return Extrapolation(law, laws, small, others, law.loss(*sizes), low, high)


def exponents(table: Mapping[str, Any] | None = None, *, count: int = 100) -> dict[str, tuple[float, float, float]]:
    """The a of "the best N grows as C^a" with its interval: one change at a time from Hoffmann's way to Kaplan's."""
    ways = {
        "own schedule, all parameters": (True, True),
        "own schedule, without embeddings": (True, False),
        "on the way, all parameters": (False, True),
        "on the way, without embeddings": (False, False),
    }
    found = {}
    for name, (ended, embeddings) in ways.items():
        points = law_points(table, ended=ended, embeddings=embeddings)
        found[name] = (points.fit().exponent, *interval([law.exponent for law in points.bootstrap(count)]))
    return found


def exponent_gap(first: Points, second: Points, *, count: int = 100, seed: int = 0) -> tuple[float, float, float]:
    """The a of the first less that of the second, with its interval: both are fitted to the same drawn runs.

    If 0 lies within the interval, these runs do not show that the two differ.
    """
    check_types("exponent_gap", Points, first=first, second=second)
    check_numbers("exponent_gap", least=1, whole=True, count=count)
    check_numbers("exponent_gap", least=0, whole=True, seed=seed)
    if len(first.losses) != len(second.losses):
        raise ValueError(f"exponent_gap: {len(first.losses)} and {len(second.losses)} runs, expected the same ones")
    gap = first.fit().exponent - second.fit().exponent  # before the draws: if no law fits, this says so

    def drawn_gap(drawn: Tensor) -> float:
        return first.where(drawn).fit().exponent - second.where(drawn).fit().exponent

    return gap, *interval(resample(drawn_gap, len(first.losses), count, seed))


# --- learning rates ---------------------------------------------------------------------------------------------------
def mean_losses(rates: Mapping[str, Any], way: str, width: int) -> Tensor:
    """The mean over the seeds for each rate: (R,)."""
    check_one_of("mean_losses", WAYS, way=way)
    return torch.tensor(rates["losses"][way][str(width)], dtype=torch.float64).mean(-1)


def transfer(table: Mapping[str, Any] | None = None) -> dict[str, dict[int, tuple[float, float, float]]]:
    """{way: {width: (best rate, its loss, loss with the rate that was best at the smallest width)}}."""
    rates = (recorded() if table is None else table)["rates"]
    found = {}
    for way in WAYS:
        widths = [int(width) for width in rates["losses"][way]]
        small = int(mean_losses(rates, way, min(widths)).argmin())
        found[way] = {}
        for width in widths:
            losses = mean_losses(rates, way, width)
            best = int(losses.argmin())
            found[way][width] = (rates["rates"][best], float(losses[best]), float(losses[small]))
    return found
