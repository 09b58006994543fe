"""What the ladder's figures say about sentences that people repeat. Every word follows from the numbers.

    compare(two, one)                      # "A has a lower loss in 5 of 5 seeds, by 0.031 (0.021 to 0.040)"
    verdict("SwiGLU is better")            # the comparisons that bear on it, and what they say together

Two entries are compared seed by seed: equal seeds have equal batches, so the difference is the change's alone. "lower"
means lower for every seed, "no clear difference" that the seeds disagree.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from tx_helpers.lessons.modern_transformers.ladder import BUDGETS, FIRST, recorded_ladder
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


CLAIMS: dict[str, tuple[tuple[tuple[str, str], tuple[str, str]], ...]] = {  # pairs of entries (group, name)
    "SwiGLU is better": (
        (("alone", "SwiGLU"), ("rungs", FIRST)),
        (("rungs", "SwiGLU"), ("rungs", "no biases")),
        (("alone", "SwiGLU"), ("alone", "ReLU²")),
        (("rungs", "bfloat16"), ("without", "ReLU²")),
    ),
    "RMSNorm means pre-norm": (
        (("alone", "RMSNorm"), ("rungs", FIRST)),
        (("rungs", "RMSNorm"), ("rungs", "pre-norm")),
        (("rungs", "pre-norm"), ("rungs", FIRST)),
        (("rungs", "RMSNorm"), ("alone", "RMSNorm")),
    ),
    "RoPE is better than sinusoids": (
        (("alone", "rotary"), ("rungs", FIRST)),
        (("rungs", "rotary"), ("rungs", "RMSNorm")),
        (("rungs", "bfloat16"), ("without", "rotary")),
    ),
    "learned positions are modern": (
        (("alone", "learned positions"), ("rungs", FIRST)),
        (("alone", "learned positions"), ("alone", "rotary")),
        (("alone", "learned positions"), ("alone", "no positions")),
    ),
}


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


def verdict(claim: str, table: Mapping[str, Any] | None = None) -> list[Comparison]:
    """All comparisons that bear on the claim, in all three budgets."""
    check_one_of("verdict", tuple(CLAIMS), claim=claim)
    table = recorded_ladder() if table is None else table
    return [compare(*pair, budget, table) for pair in CLAIMS[claim] for budget in BUDGETS]


def in_words(comparisons: Sequence[Comparison]) -> str:
    """How many of the comparisons came out lower, higher or unclear."""
    counted = {word: 0 for word in ("lower", "higher", "no clear difference")}
    for comparison in comparisons:
        counted[comparison.outcome] += 1
    parts = [f"{word} in {count}" for word, count in counted.items() if count]
    return f"of {len(comparisons)} comparisons: {', '.join(parts)}"


def as_text(table: Mapping[str, Any]) -> str:
    """All figures as markdown: mean loss and, in brackets, lowest and highest over the seeds, and the costs."""
    lines = []
    costs = ("parameters", "FLOPs/token", "ms/step", "cache")
    for group in ("rungs", "alone", "without"):
        lines += [f"| {' | '.join((group, *WORDS.values(), *costs))} |", "|---" * 8 + "|"]
        for row in table[group]:
            losses = " | ".join(_spread(row[budget]) for budget in BUDGETS)
            counts = f"{row['parameters']:,} | {row['flops_per_token']:,.0f} | {1000 * row['seconds_per_step']:.1f}"
            lines.append(f"| {row['name']} | {losses} | {counts} | {row['cache_bytes_per_token']} B |")
        lines.append("")
    return "\n".join(lines)


def _spread(losses: Sequence[float]) -> str:
    return f"{sum(losses) / len(losses):.3f} ({min(losses):.3f}–{max(losses):.3f})"


def _title(group: str, name: str) -> str:
    if name == FIRST:
        return FIRST
    return {"rungs": f"up to {name}", "alone": f"2017 with {name}", "without": f"today without {name}"}[group]
