"""Experts in groups, of which each position may use a few: then it is sent to few machines, if each holds a group.

Source: DeepSeek-AI 2024 (DeepSeek-V2), section 2.2.2, and DeepSeek-V3, section 2.1.2.
"""

from dataclasses import dataclass

from torch import Tensor

from tx_helpers.nn.arguments import check_numbers


@dataclass(frozen=True)
class ExpertGroups:
    """E experts in n groups of E/n neighbours; a position chooses among those of the `kept` best groups.

    best  a group is as good as the sum of its `best` highest scores: 1 in DeepSeek-V2, 2 in DeepSeek-V3
    """

    n: int
    kept: int
    best: int = 1

    def __post_init__(self) -> None:
        check_numbers("ExpertGroups", least=1, whole=True, n=self.n, kept=self.kept, best=self.best)
        if self.kept > self.n:
            raise ValueError(f"ExpertGroups: kept={self.kept}, but there are n={self.n} groups")

    def check(self, n_experts: int, top_k: int) -> None:
        """Raise ValueError where so many experts cannot lie in these groups, or a position finds too few."""
        size, rest = divmod(n_experts, self.n)
        if rest or size < self.best:
            raise ValueError(
                f"ExpertGroups: {n_experts} experts in n={self.n} groups, expected equal ones of {self.best} or more"
            )
        if top_k > size * self.kept:
            raise ValueError(
                f"ExpertGroups: top_k={top_k}, but the kept={self.kept} groups have {size * self.kept} experts"
            )

    def limited(self, scores: Tensor) -> Tensor:
        """scores (…, E) -> the same, with −∞ for the experts of all other groups."""
        groups = scores.unflatten(-1, (self.n, -1))  # (…, E) -> (…, n, E/n)
        chosen = groups.topk(self.best, dim=-1).values.sum(dim=-1).topk(self.kept, dim=-1).indices  # (…, kept)
        outside = scores.new_full(groups.shape[:-1], float("-inf")).scatter(-1, chosen, 0.0)  # (…, n)
        return (groups + outside.unsqueeze(-1)).flatten(-2)
