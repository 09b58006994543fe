"""What the ladder's figures say about sentences that people repeat. Every word follows from the numbers.

    compare(("alone", "SwiGLU"), ("rungs", "2017"))      # lower, higher, or no clear difference in 5 of 5 seeds

Two entries are compared seed by seed: equal seeds have equal batches, so the difference is the change's alone. "lower"
means lower for every seed, "no clear difference" that the seeds disagree.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from tx_helpers.lessons.what_changed.ladder import BUDGETS, FIRST, recorded_ladder
from tx_helpers.lessons.what_changed.rungs import RUNGS
from tx_helpers.nn.arguments import check_one_of

WORDS = {"steps": "equal steps", "flops": "equal FLOPs", "seconds": "equal seconds"}


class Comparison(NamedTuple):
    """Loss of the first minus loss of the second, seed by seed, in one budget; below zero the first is better."""

    first: str
    second: str
    budget: str
    differences: tuple[float, ...]

    @property
    def mean(self) -> float:
        return sum(self.differences) / len(self.differences)

    @property
    def outcome(self) -> str:
        """ "lower", "higher" or "no clear difference"."""
        if all(d < 0 for d in self.differences):
            return "lower"
        return "higher" if all(d > 0 for d in self.differences) else "no clear difference"

    def __str__(self) -> str:
        low, high = min(self.differences), max(self.differences)
        spread = f"{self.mean:+.3f} ({low:+.3f} … {high:+.3f})"
        return f"{self.first} against {self.second}, {WORDS[self.budget]}: {spread}, {self.outcome}"


def entry(table: Mapping[str, Any], group: str, name: str) -> Mapping[str, Any]:
    """The row R of ladder.json with this name."""
    named = {row["name"]: row for row in table[group]}
    check_one_of(f"the ladder's {group!r}", tuple(named), name=name)
    return named[name]


def compare(
    first: tuple[str, str], second: tuple[str, str], budget: str = "steps", table: Mapping[str, Any] | None = None
) -> Comparison:
    """Two entries, each (group, name), in one budget."""
    check_one_of("compare", BUDGETS, budget=budget)
    table = recorded_ladder() if table is None else table
    one, two = entry(table, *first), entry(table, *second)
    differences = tuple(a - b for a, b in zip(one[budget], two[budget], strict=True))
    return Comparison(_title(*first), _title(*second), budget, differences)


def _title(group: str, name: str) -> str:
    if name == FIRST:
        return FIRST
    if (group, name) == ("rungs", RUNGS[-1].name):
        return "today's model"
    return {"rungs": f"up to {name}", "alone": f"2017 with {name}", "without": f"today without {name}"}[group]
