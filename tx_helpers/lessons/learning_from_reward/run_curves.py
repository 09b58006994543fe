"""Right at k of the recorded models: right_at_k_explorer()"""

from functools import cache

import torch

from tx_helpers.lessons.learning_from_reward.runs import recorded
from tx_helpers.nn.arguments import check_one_of
from tx_helpers.show.charts import line_chart, side_by_side
from tx_helpers.show.controls import choice, stops
from tx_helpers.show.explore import Explore
from tx_helpers.show.plots import Svg
from tx_helpers.training.reward import right_at_k

EACH, KS = 256, (1, 2, 4, 8, 16, 32, 64, 128, 256)


# --- compute ----------------------------------------------------------------------------------------------------------
@cache
def curve_at_k(run: str, when: str) -> list[float]:
    """Right at k for each k of KS, of the model "before" or "after", the mean over problems and seeds."""
    counts = torch.tensor([row[f"counts {when}"] for row in recorded()[run]]).flatten()
    return [right_at_k(counts, EACH, k).mean().item() for k in KS]


# --- draw -------------------------------------------------------------------------------------------------------------
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
def right_at_k_explorer() -> Explore:
    """A slider for k, beside the choice of the task."""
    run = choice("Task", [("last digit of six", "six"), ("sum of four", "four")])
    k = stops("k", KS, 1)
    return Explore(draw_right_at_k, name="right-at-k", told=True, run=run, k=k)
