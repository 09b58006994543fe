"""The recorded runs as pictures: curves at five seeds and right at k.

runs_explorer(), right_at_k_explorer()
"""

from functools import cache
from statistics import mean

import torch

from tx_helpers.lessons.learning_from_reward.runs import recorded
from tx_helpers.nn.arguments import check_one_of
from tx_helpers.show.charts import line_chart, side_by_side
from tx_helpers.show.controls import choice, stops
from tx_helpers.show.explore import Explore
from tx_helpers.show.plots import Svg
from tx_helpers.training.reward import right_at_k

EACH, KS = 256, (1, 2, 4, 8, 16, 32, 64, 128, 256)
CURVES = ("steps", "length", "entropy", "kl", "equal")
LABELS = {
    "steps": "share with steps",
    "length": "tokens an answer",
    "entropy": "nats a token",
    "kl": "nats a token, to the base model",
    "equal": "share of groups with equal rewards",
}
SIZE = (372, 260)


# --- compute ----------------------------------------------------------------------------------------------------------
def at_seeds(run: str, curve: str) -> list[list[float]]:
    """A recorded curve, one list for each seed, with what was measured after the last update; none where it was not
    recorded. Without a penalty the KL was measured at every tenth update: what was carried on between is left out.
    """
    rows = [row for row in recorded()[run] if curve in row["curves"]]
    step = spacing(run, curve) // 5
    seeds = [row["curves"][curve][::step] + ([row["after"][curve]] if ends(curve) else []) for row in rows]
    return [values for values in seeds if len(values) > 1]


def spacing(run: str, curve: str) -> int:
    """How many updates lie between two recorded values."""
    return 10 if curve == "kl" and "KL" not in run else 5


def ends(curve: str) -> bool:
    """Was the curve measured after the last update, too?"""
    return curve in ("right", "steps", "length")


def mean_curve(run: str, curve: str) -> list[float]:
    """The mean over the seeds at each recorded update."""
    return [mean(values) for values in zip(*at_seeds(run, curve), strict=True)]


@cache
def curve_at_k(run: str, when: str) -> list[float]:
    """Right at k for each k of KS, of the model "before" or "after", the mean over problems and seeds."""
    counts = torch.tensor([row[f"counts {when}"] for row in recorded()[run]]).flatten()
    return [right_at_k(counts, EACH, k).mean().item() for k in KS]


# --- draw -------------------------------------------------------------------------------------------------------------
def draw_runs(run: str, curve: str) -> Svg:
    """Left the share of right answers by the exact checker, right another curve; thin lines are the seeds."""
    panels = []
    for name, title, label in (
        ("right", "Truly right", "share"),
        (curve, "KL" if curve == "kl" else curve.capitalize(), LABELS[curve]),
    ):
        seeds = at_seeds(run, name)
        if not seeds:
            continue
        updates = [spacing(run, name) * place + 1 for place in range(len(seeds[0]))]
        lines = {"mean": (updates, mean_curve(run, name))}
        lines |= {f"seed {seed}": (updates, values) for seed, values in enumerate(seeds)}
        ylim = (0, 1) if name in ("right", "steps", "equal") else (0, max(map(max, seeds)) * 1.1 + 1e-3)
        panels.append(
            line_chart(
                lines, size=SIZE, title=title, xlabel="update", ylabel=label, ylim=ylim, legend=False,
                faint=[name for name in lines if name != "mean"],
            )
        )  # fmt: skip
    return side_by_side(panels, alt=describe_runs(run, curve))


def draw_right_at_k(run: str, k: int) -> Svg:
    """Two curves over k: before and after."""
    before, after = curve_at_k(run, "before"), curve_at_k(run, "after")
    lines = {"before": (KS, before), "after": (KS, after), f"k = {k}": ([k, k], [0, 1])}
    panel = line_chart(
        lines, size=(620, 300), title="At least one of k answers is right", xlabel="k", ylabel="share of problems",
        ylim=(0, 1), logx=True, faint=[f"k = {k}"],
    )  # fmt: skip
    return side_by_side([panel], alt=describe_right_at_k(run, k))


# --- describe ---------------------------------------------------------------------------------------------------------
def describe_runs(run: str, curve: str) -> str:
    """Both curves at first and at the end, or at the last recorded update, at five seeds."""
    check_one_of("runs_explorer", tuple(recorded()), run=run)
    check_one_of("runs_explorer", CURVES, curve=curve)
    right, other = at_seeds(run, "right"), at_seeds(run, curve)
    two = ""
    if other:
        last = "at the end" if ends(curve) else f"at update {spacing(run, curve) * (len(other[0]) - 1) + 1}"
        two = f"{mean(r[0] for r in other):.2f} at first, {mean(r[-1] for r in other):.2f} {last}"
    return (
        f"{run}: right {mean(r[0] for r in right):.2f} at first, {mean(r[-1] for r in right):.2f} at the end "
        f"({min(r[-1] for r in right):.2f} to {max(r[-1] for r in right):.2f} at five seeds); "
        f"{curve} {two or 'was not recorded'}."
    )


def describe_right_at_k(run: str, k: int) -> str:
    """Both shares at k, and the k from which on the base model is ahead, if there is one."""
    check_one_of("right_at_k_explorer", ("six", "four"), run=run)
    if k not in KS:
        raise ValueError(f"right_at_k_explorer: k={k!r}, expected one of {KS}")
    before, after = curve_at_k(run, "before"), curve_at_k(run, "after")
    ahead = next((one for one, b, a in zip(KS, before, after, strict=True) if b > a + 1e-9), None)
    gap = max(b - a for b, a in zip(before, after, strict=True))
    crossing = f"ahead from k = {ahead} on, by {gap:.3f} at most" if ahead else "never ahead"
    place = KS.index(k)
    return f"k = {k}: {before[place]:.2f} before reward, {after[place]:.2f} after; the base model is {crossing}."


# --- bind -------------------------------------------------------------------------------------------------------------
def runs_explorer() -> Explore:
    """A recorded run and a curve of it."""
    run = choice("Run", list(recorded()), "six")
    curve = choice("Curve", CURVES)
    return Explore(draw_runs, name="reward-runs", told=True, run=run, curve=curve)


def right_at_k_explorer() -> Explore:
    """A slider for k, beside the choice of the task."""
    run = choice("Task", [("last digit of six", "six"), ("sum of four", "four")])
    k = stops("k", KS, 1)
    return Explore(draw_right_at_k, name="right-at-k", told=True, run=run, k=k)
