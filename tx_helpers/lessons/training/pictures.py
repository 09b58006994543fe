"""Drawings: one row of probabilities with the surprise at its right word, Adam's two means, what was recorded.

surprise_drawing({"vier": 2.0, "fünf": 1.0, "acht": 0.0, "und": -1.0}, right="vier")
adam_drawing()
starts_drawing(recorded("starts"))
"""

import math
from collections.abc import Mapping, Sequence
from statistics import mean
from typing import Any

from tx_helpers.nn.arguments import check_one_of
from tx_helpers.show.charts import Panel, line_chart, side_by_side
from tx_helpers.show.plots import Svg
from tx_helpers.show.series import named_numbers
from tx_helpers.show.shapes import INK, MUTED, TARGET, bar, line, words


# --- one row of probabilities -----------------------------------------------------------------------------------------
def probabilities(logits: Mapping[str, float]) -> dict[str, float]:
    """The softmax of named logits."""
    logits = named_numbers("probabilities", logits)
    total = sum(math.exp(z) for z in logits.values())
    return {word: math.exp(z) / total for word, z in logits.items()}


def surprise_drawing(logits: Mapping[str, float], *, right: str) -> Svg:
    """A row of the table for each candidate: logit z, e^z, probability as a bar and a number, and −ln p."""
    shares = probabilities(logits)
    check_one_of("surprise_drawing", tuple(logits), right=right)
    total = sum(math.exp(z) for z in logits.values())
    heads = ((110, "end", "word"), (190, "end", "logit z"), (280, "end", "eᶻ"), (320, "start", "probability p"))
    parts = [words(x, 24, text, size=15, anchor=anchor) for x, anchor, text in (*heads, (760, "end", "−ln p"))]
    parts.append(line(20, 36, 780, 36, INK))
    for row, (word, share) in enumerate(shares.items()):
        y, bold = 68 + 40 * row, {"font_weight": "bold"} if word == right else {}
        numbers = ((110, word), (190, f"{logits[word]:.1f}"), (280, f"{math.exp(logits[word]):.2f}"))
        parts += [words(x, y, text, size=16, anchor="end", **bold) for x, text in numbers]
        width = 300 * share
        parts.append(bar(320, y - 18, width, 26, TARGET.full if word == right else MUTED))
        parts.append(words(328 + width, y, f"{share:.3f}", size=16, **bold))
        parts.append(words(760, y, f"{-math.log(share):.2f}", size=16, anchor="end", **bold))
    y = 68 + 40 * len(shares)
    parts.append(words(280, y, f"sum {total:.2f}", size=16, anchor="end"))
    parts.append(words(320, y, f"loss here: −ln {shares[right]:.3f} = {-math.log(shares[right]):.2f}", size=16))
    panel = Panel((784, y + 14), "".join(parts))
    told = ", ".join(f"{word} {share:.3f}" for word, share in shares.items())
    alt = (
        f"A bar for each of {len(shares)} candidate words shows its probability: {told}. The right word is {right}, "
        f"so the loss at this position is {-math.log(shares[right]):.2f}."
    )
    return side_by_side([panel], alt=alt)


# --- what Adam's two means do -----------------------------------------------------------------------------------------
def adam_means(gradients: Sequence[float], beta1: float = 0.9, beta2: float = 0.98) -> list[tuple[float, float]]:
    """m̂ and √v̂ after each gradient: the mean gradient, and its usual size (Kingma and Ba 2015, algorithm 1)."""
    m = v = 0.0
    means = []
    for n, g in enumerate(gradients, start=1):
        m, v = beta1 * m + (1 - beta1) * g, beta2 * v + (1 - beta2) * g * g
        means.append((m / (1 - beta1**n), math.sqrt(v / (1 - beta2**n))))
    return means


STEADY = [0.04 if step % 2 else 0.02 for step in range(40)]
JUMPING = [1.0 if step % 2 else -0.9 for step in range(40)]


def adam_drawing() -> Svg:
    """Two parameters over 40 steps, one with small, steady gradients, one with large ones that jump: g, m̂ and √v̂."""
    steps, panels, told = range(1, 41), [], []
    for name, gradients in (("small and steady", STEADY), ("large, but jumping", JUMPING)):
        means = adam_means(gradients)
        share = sum(m / size for m, size in means[-10:]) / 10
        most = max(map(abs, gradients))
        panels.append(
            line_chart(
                {
                    "gradient g": (steps, gradients),
                    "mean m̂": (steps, [m for m, _ in means]),
                    "usual size √v̂": (steps, [size for _, size in means]),
                },
                size=(384, 270),
                title=f"{name}: m̂ / √v̂ ≈ {share:.2f}",
                xlabel="step",
                ylabel="gradient",
                ylim=(min(0.0, 1.1 * min(gradients)), 2.2 * most),  # room for the legend
                faint=["gradient g"],
            )
        )
        told.append(f"{name}, m̂ is about {share:.2f} of √v̂")
    alt = f"The gradients of two parameters over 40 steps, their mean and their usual size. {'; '.join(told)}."
    return side_by_side(panels, alt=alt)


# --- what was recorded ------------------------------------------------------------------------------------------------
def starts_table(runs: Sequence[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """start -> means over the seeds of `experiments.recorded("starts")`: first loss, steps to 0.3, exact match.

    A run that never came to 0.3 counts with all its 150 steps.
    """
    found: dict[str, dict[str, float]] = {}
    for start in dict.fromkeys(run["start"] for run in runs):
        mine = [run for run in runs if run["start"] == start]
        found[start] = {
            "first loss": mean(run["first"] for run in mine),
            "steps to 0.3": mean(run["steps_to_0.3"] or 150 for run in mine),
            "exact match": mean(run["exact"] for run in mine),
        }
    return found


def starts_drawing(runs: Sequence[dict[str, Any]]) -> Svg:
    """The loss of each start, the mean of the seeds, over 150 steps."""
    table, lines = starts_table(runs), {}
    for start in table:
        losses = [run["losses"] for run in runs if run["start"] == start]
        lines[start] = (range(5, 151, 5), [mean(column) for column in zip(*losses, strict=True)])
    chart = line_chart(
        lines,
        size=(784, 330),
        title="Four starts, the mean of five seeds each",
        xlabel="step",
        ylabel="loss (log scale)",
        xlim=(0, 150),
        ylim=(0.02, 7),
        logy=True,
    )
    told = "; ".join(f"{start} reaches 0.3 after {row['steps to 0.3']:.0f} steps" for start, row in table.items())
    return side_by_side([chart], alt=f"The losses of four starts over 150 steps. Mean of five seeds: {told}.")


def overfitting_drawing(runs: Sequence[dict[str, Any]]) -> Svg:
    """Loss on trained and on held-out pairs, with 100 and with 5,000 pairs (the runs of "remedies" without one)."""
    panels, told = [], []
    for count in (100, 5000):
        mine = [run["evaluations"] for run in runs if run["count"] == count and plain(run)]
        steps = [one["step"] for one in mine[0]]
        kinds = (("trained on", "trained"), ("held out", "held_out"))
        lines = {
            name: (steps, [mean(run[place][key] for run in mine) for place in range(len(steps))]) for name, key in kinds
        }
        options = dict(size=(384, 280), xlabel="step", ylabel="loss (log scale)", ylim=(0.005, 10), logy=True)
        panels.append(line_chart(lines, title=f"{count:,} pairs", dots=True, **options))
        told.append(f"with {count:,} pairs " + ", ".join(f"{name} {ys[-1]:.2f}" for name, (_, ys) in lines.items()))
    return side_by_side(panels, alt=f"The losses of two trainings, at the end {'; '.join(told)}.")


def plain(run: Mapping[str, Any]) -> bool:
    """Whether a run of "remedies" has neither."""
    return run["dropout"] == 0 and run["decay"] < 1
