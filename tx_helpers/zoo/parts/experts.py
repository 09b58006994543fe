"""Mixture of experts: many feed-forward networks, of which each position uses a few.

    y = Σᵢ gᵢ(x) · FFNᵢ(x),  gᵢ(x) = 0 for all but k of the E experts

A router, one linear map, scores the experts for each position and chooses k. So the parameters grow with E and the
multiplications with k. Nothing keeps a router from sending all positions to the same experts. There are three remedies:
a loss (`balance_loss`), a bias that acts on the choice alone (`Router.rebalance`), and a capacity, beyond which an
expert drops positions.

Shapes: x (B, T, D); scores and gates (B, T, E); chosen (B, T, k), the likeliest expert first.
Sources: Shazeer et al. 2017; Fedus et al. 2021 (Switch); Jiang et al. 2024 (Mixtral); DeepSeek-AI 2024 (DeepSeek-V3).
"""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tx_helpers.nn.arguments import check_numbers, check_one_of, check_tensors, check_types, values_are_known
from tx_helpers.nn.config import TransformerConfig
from tx_helpers.nn.layers import FeedForward, GatedFeedForward
from tx_helpers.nn.observe import observe
from tx_helpers.nn.parts import Experts

SCORES = ("softmax", "sigmoid")


@dataclass(frozen=True)
class ExpertGroups:
    """E experts in n groups of E/n neighbours; a position chooses among those of the `kept` best groups.

    Then it is sent to few machines, if each holds a group.

    best  a group is as good as the sum of its `best` highest scores: 1 in DeepSeek-V2, 2 in DeepSeek-V3
    Source: DeepSeek-AI 2024 (DeepSeek-V2), section 2.2.2, and DeepSeek-V3, section 2.1.2.
    """

    n: int
    kept: int
    best: int = 1

    def __post_init__(self) -> None:
        check_numbers("ExpertGroups", least=1, whole=True, n=self.n, kept=self.kept, best=self.best)
        if self.kept > self.n:
            raise ValueError(f"ExpertGroups: kept={self.kept}, but there are n={self.n} groups")

    def check(self, n_experts: int, top_k: int) -> None:
        """Raise ValueError where the experts cannot be divided into these groups, or a position finds too few."""
        size, rest = divmod(n_experts, self.n)
        if rest or size < self.best:
            raise ValueError(
                f"ExpertGroups: {n_experts} experts in n={self.n} groups, expected equal ones of {self.best} or more"
            )
        if top_k > size * self.kept:
            raise ValueError(
                f"ExpertGroups: top_k={top_k}, but the kept={self.kept} groups have {size * self.kept} experts"
            )

    def close_others(self, scores: Tensor) -> Tensor:
        """scores (…, E) -> the same, with −∞ for the experts of all other groups."""
        groups = scores.unflatten(-1, (self.n, -1))  # (…, E) -> (…, n, E/n)
        chosen = groups.topk(self.best, dim=-1).values.sum(dim=-1).topk(self.kept, dim=-1).indices  # (…, kept)
        outside = scores.new_full(groups.shape[:-1], float("-inf")).scatter(-1, chosen, 0.0)  # (…, n)
        return (groups + outside.unsqueeze(-1)).flatten(-2)


@dataclass(frozen=True)
class ExpertsConfig(Experts):
    """Which experts there are and how they are chosen; see `Router` and `MixtureOfExperts`."""

    n_experts: int = 8
    top_k: int = 2
    shared: int = 0  # experts that every position uses
    score: str = "softmax"
    normalised: bool = True  # the k gates of a position sum to 1
    scale: float = 1.0  # times the gates
    biased: bool = False  # a bias of the choice, for balance without a loss
    capacity_factor: float | None = None  # in training an expert takes at most this times an equal share
    groups: ExpertGroups | None = None  # a position chooses among the experts of a few groups

    def __post_init__(self) -> None:
        check_numbers("ExpertsConfig", least=1, whole=True, n_experts=self.n_experts, top_k=self.top_k)
        check_numbers("ExpertsConfig", least=0, whole=True, shared=self.shared)
        if self.top_k > self.n_experts:
            raise ValueError(f"ExpertsConfig: top_k={self.top_k}, but there are n_experts={self.n_experts}")
        check_one_of("ExpertsConfig", SCORES, score=self.score)
        check_types("ExpertsConfig", bool, normalised=self.normalised, biased=self.biased)
        check_numbers("ExpertsConfig", above=0, less_than=math.inf, scale=self.scale)
        check_numbers("ExpertsConfig", above=0, less_than=math.inf, optional=True, capacity_factor=self.capacity_factor)
        if self.groups is not None:
            check_types("ExpertsConfig", ExpertGroups, groups=self.groups)
            self.groups.check(self.n_experts, self.top_k)

    def new(self, config: TransformerConfig) -> "MixtureOfExperts":
        feed = config.feed_forward
        of_each = dict(gated=feed.gated, activation=feed.activation, bias=feed.bias, dropout=config.dropout)
        return MixtureOfExperts(config.d_model, config.d_ff, **vars(self), **of_each)


class Routing(NamedTuple):
    """What a router decided.

    scores  (…, E) of all experts, before the choice: with "softmax" they sum to 1
    chosen  (…, k) the experts of each position
    gates   (…, E) the weight of each expert, 0 for those that were not chosen or had no room
    """

    scores: Tensor
    chosen: Tensor
    gates: Tensor


class Router(nn.Module):
    """Choose top_k of n_experts for each position: x (…, D) -> `Routing`.

    score            "softmax" of the logits x W over the experts, or the "sigmoid" of each (DeepSeek-V3)
    normalised       the scores of the chosen are divided by their sum, unless all are 0; then `scale` multiplies them
    biased           `bias` (E,) is added to the scores for the choice, not to the gates (Wang et al. 2024, eq. 3)
    capacity_factor  c: in training an expert's capacity is ⌈c · N · k / E⌉ of the N positions of a batch. First choices
                     come before second ones, earlier positions before later ones. A position that finds no room is
                     dropped: its gate there is 0. So in training a position depends on the other texts of its batch,
                     and on later positions too, which can take its room: the future leaks a little. In evaluation
                     nothing is dropped.
    groups           see `ExpertGroups`
    Scores and gates are computed in float32 or better.
    """

    def __init__(
        self,
        d_model: int,
        n_experts: int,
        top_k: int,
        *,
        score: str = "softmax",
        normalised: bool = True,
        scale: float = 1.0,
        biased: bool = False,
        capacity_factor: float | None = None,
        groups: ExpertGroups | None = None,
    ):
        super().__init__()
        check_numbers("Router", least=1, whole=True, d_model=d_model)
        options = dict(score=score, normalised=normalised, scale=scale, biased=biased)
        self.config = ExpertsConfig(n_experts, top_k, **options, capacity_factor=capacity_factor, groups=groups)
        self.logits = nn.Linear(d_model, n_experts, bias=False)
        self.register_buffer("bias", torch.zeros(n_experts) if biased else None)

    def forward(self, x: Tensor) -> Routing:
        if not isinstance(x, Tensor) or x.shape[-1:] != (self.logits.in_features,) or not x.is_floating_point():
            check_tensors("Router", x=(x, f"float … {self.logits.in_features}"))
        config, logits = self.config, self.logits(x)  # (…, D) -> (…, E)
        logits = logits.to(torch.promote_types(logits.dtype, torch.float32))
        scores = logits.softmax(dim=-1) if config.score == "softmax" else logits.sigmoid()
        scores = observe("expert_scores", scores)
        preference = scores if self.bias is None else scores + self.bias
        if config.groups is not None:
            preference = config.groups.close_others(preference)
        chosen = preference.topk(config.top_k).indices  # (…, k)
        values = scores.gather(-1, chosen)
        if config.normalised:
            total = values.sum(dim=-1, keepdim=True)  # 0 where every sigmoid is too small for its precision
            values = values / total.clamp(min=torch.finfo(total.dtype).tiny)
        if config.capacity_factor is not None and self.training:
            values = values * within_capacity(chosen, config.n_experts, config.capacity_factor)
        gates = torch.zeros_like(scores).scatter(-1, chosen, values * config.scale)  # (…, k) -> (…, E)
        return Routing(scores, chosen, observe("gates", gates))

    @torch.no_grad()
    def rebalance(self, chosen: Tensor, *, real: Tensor | None = None, rate: float = 0.001) -> None:
        """b ← b + rate · sign(mean load − load), after each step of training: an expert with few positions gets more.

        chosen (…, k); real (…), True at real tokens: padding does not count.
        Source: Wang et al. 2024, algorithm 1.
        """
        if self.bias is None:
            raise ValueError("Router: rebalance needs a bias, but the router was made with biased=False")
        check_tensors("Router", chosen=(chosen, f"int … {self.config.top_k}"))
        check_numbers("Router", above=0, rate=rate)
        load = expert_load(chosen, self.config.n_experts, real=real)
        self.bias += rate * torch.sign(load.mean() - load)


class MixtureOfExperts(nn.Module):
    """Σᵢ gᵢ FFNᵢ(x) over the chosen experts, plus the shared one. (B, T, D) -> (B, T, D)

    d_ff     F, of each expert
    gated    experts are `GatedFeedForward`, otherwise `FeedForward`
    shared   n: one more network, of width n · F, which every position uses (Dai et al. 2024, DeepSeekMoE)
    options  those of `Router`

    Only the chosen experts compute a position. A traced graph (torch.compile, torch.export, torch.func, the meta
    device) cannot depend on values: there all experts compute all positions, with the same result.
    """

    def __init__(
        self,
        d_model: int,
        d_ff: int,
        n_experts: int,
        top_k: int,
        *,
        shared: int = 0,
        gated: bool = True,
        activation: str = "silu",
        bias: bool = False,
        dropout: float = 0.0,
        **options: Any,
    ):
        super().__init__()
        check_numbers("MixtureOfExperts", least=1, whole=True, d_model=d_model, d_ff=d_ff)
        check_numbers("MixtureOfExperts", least=0, whole=True, shared=shared)
        kind, same = GatedFeedForward if gated else FeedForward, dict(activation=activation, bias=bias, dropout=dropout)
        self.d_model = d_model
        self.router = Router(d_model, n_experts, top_k, **options)
        self.experts = nn.ModuleList(kind(d_model, d_ff, **same) for _ in range(n_experts))
        self.shared = kind(d_model, shared * d_ff, **same) if shared else None

    def forward(self, x: Tensor) -> Tensor:
        gates = self.router(x).gates
        gates = gates.reshape(-1, gates.shape[-1])  # (B, T, E) -> (N, E), N positions
        flat = x.reshape(-1, self.d_model)  # (B, T, D) -> (N, D)
        out = torch.zeros_like(flat)
        for i, expert in enumerate(self.experts):
            gate = gates[:, i : i + 1]
            if values_are_known(flat):
                rows = gate.squeeze(-1).nonzero().squeeze(-1)  # (n,): the positions that this expert computes
                out = out.index_add(0, rows, (gate[rows] * expert(flat[rows])).to(x.dtype))
            else:
                out = out + (gate * expert(flat)).to(x.dtype)
        out = out.view_as(x)
        return observe("output", out if self.shared is None else out + self.shared(x))


def within_capacity(chosen: Tensor, n_experts: int, capacity_factor: float) -> Tensor:
    """Which choices find room, if each takes ⌈capacity_factor · N · k / E⌉: chosen (…, k) -> (…, k), boolean.

    Source: Fedus et al. 2021, eq. 3; first choices before second ones as in Lepikhin et al. 2020 (GShard).
    """
    check_numbers("within_capacity", above=0, less_than=math.inf, capacity_factor=capacity_factor)
    _check_chosen("within_capacity", chosen, n_experts)
    room = math.ceil(capacity_factor * chosen.numel() / n_experts)
    in_order = chosen.reshape(-1, chosen.shape[-1]).T.flatten()  # (…, k) -> (N, k) -> (k·N,), all first choices first
    counted = F.one_hot(in_order, n_experts).cumsum(dim=0)  # how many choices of each expert there were up to here
    place = counted.gather(-1, in_order.unsqueeze(-1)).view(chosen.shape[-1], -1).T  # (k·N, 1) -> (N, k)
    return (place <= room).view(chosen.shape)


def expert_load(chosen: Tensor, n_experts: int, *, real: Tensor | None = None) -> Tensor:
    """How often each expert is chosen, per position: (E,), which sums to k.

    chosen (…, k); real (…), True at real tokens: padding does not count.
    """
    _check_chosen("expert_load", chosen, n_experts)
    counts = F.one_hot(chosen, n_experts).sum(dim=-2)  # (…, k) -> (…, E)
    return _mean(counts.to(torch.get_default_dtype()), real)


def balance_loss(routings: Sequence[Routing], *, pooled: bool = False, real: Tensor | None = None) -> Tensor:
    """E · Σᵢ fᵢ Pᵢ, the mean over layers: k where all experts are used alike; up to E where few get all the score.

    fᵢ is the number of choices of expert i per position, Pᵢ its mean score; the gradient flows through P alone. The
    scores should be those of a softmax.

    pooled  as the library transformers has it for Mixtral: f and P are first averaged over all layers. Then one layer's
            favourite can hide another's.
    real    (B, T), True at real tokens: padding does not count
    Source: Fedus et al. 2021, eq. 4 to 6, for k = 1; times a small factor (0.01 there) it is added to the loss.
    """
    check_types("balance_loss", Sequence, routings=routings)
    for routing in routings:
        check_types("balance_loss", Routing, **{"a routing": routing})
        check_tensors("balance_loss", scores=(routing.scores, "float … E"), chosen=(routing.chosen, "int … k"))
    n_experts = routings[0].scores.shape[-1]
    loads = [expert_load(routing.chosen, n_experts, real=real) for routing in routings]
    means = [_mean(routing.scores, real) for routing in routings]
    if pooled:
        loads, means = [sum(loads) / len(loads)], [sum(means) / len(means)]
    losses = [n_experts * (load * mean).sum() for load, mean in zip(loads, means, strict=True)]
    return sum(losses[1:], losses[0]) / len(losses)


@contextmanager
def routes(model: nn.Module) -> Iterator[dict[str, Routing]]:
    """Collect what each `Router` of a model decides while the block runs, by the router's path, with its graph.

        with routes(model) as found:
            logits = model(ids)
        loss = cross_entropy(logits, targets) + 0.01 * balance_loss(list(found.values()))

    A router that runs twice is kept with its last decision.
    """
    check_types("routes", nn.Module, model=model)
    found: dict[str, Routing] = {}
    hooks = [
        router.register_forward_hook(lambda _, __, routing, path=path: found.__setitem__(path, routing))
        for path, router in model.named_modules()
        if isinstance(router, Router)
    ]
    if not hooks:
        raise ValueError(f"routes: the {type(model).__name__} has no router, expected a model with a MixtureOfExperts")
    try:
        yield found
    finally:
        for hook in hooks:
            hook.remove()


def _check_chosen(where: str, chosen: Tensor, n_experts: int) -> None:
    check_tensors(where, chosen=(chosen, "int … k"))
    check_numbers(where, least=1, whole=True, n_experts=n_experts)
    if chosen.numel() == 0:
        raise ValueError(f"{where}: chosen of shape {tuple(chosen.shape)}, expected (…, k) with at least one choice")
    if values_are_known(chosen):
        lowest, highest = map(int, chosen.aminmax())
        if not 0 <= lowest <= highest < n_experts:
            raise ValueError(f"{where}: chosen {lowest} … {highest}, but there are {n_experts} experts")


def _mean(numbers: Tensor, real: Tensor | None) -> Tensor:
    """The mean over all positions, or over the real ones: (…, E) -> (E,)."""
    if real is None:
        return numbers.reshape(-1, numbers.shape[-1]).mean(dim=0)
    if real.shape != numbers.shape[:-1]:
        raise ValueError(f"experts: real of shape {tuple(real.shape)}, expected {tuple(numbers.shape[:-1])}")
    share = real.to(numbers.dtype) / real.sum()
    return (numbers * share.unsqueeze(-1)).reshape(-1, numbers.shape[-1]).sum(dim=0)
