"""Explorers of what was recorded: what DPO moves at three β, and what four ways of fine-tuning forget.

drift_explorer()          # of `drift.recorded()`
forgetting_explorer()     # of `forgetting.recorded()`
"""

from collections.abc import Mapping, Sequence
from statistics import mean
from typing import Any

from tx_helpers.lessons.adapting import drift, forgetting
from tx_helpers.nn.arguments import check_one_of, check_types
from tx_helpers.show.charts import line_chart, side_by_side
from tx_helpers.show.controls import choice
from tx_helpers.show.explore import Explore
from tx_helpers.show.plots import Svg

NAMES = {"whole": "whole", "slower": "a third of the rate", "lora": "LoRA", "rehearsal": "one old text in ten"}
OLD = {"old": "old answers right", "loss": "loss on plain texts"}

SHARES = {"good": "stories end well", "true": "stories are true", "answers": "other questions right"}


# --- compute ----------------------------------------------------------------------------------------------------------
def means(runs: Sequence[Sequence[Mapping[str, float]]]) -> dict[str, list[float]]:
    """Each recorded quantity, the mean of the seeds at each step."""
    return {name: [mean(run[n][name] for run in runs) for n in range(len(runs[0]))] for name in runs[0][0]}


# --- draw -------------------------------------------------------------------------------------------------------------
def draw_drift(table: Mapping[str, Any], beta: str) -> Svg:
    """ln p of both answers at one β, the KL at every β, and what the model writes at one β."""
    check_one_of("drift", tuple(table["runs"]), beta=beta)
    found = {name: means(runs) for name, runs in table["runs"].items()}
    one = found[beta]
    steps = one["step"]
    frame: dict[str, Any] = dict(size=(250, 290), xlabel="step of DPO", dots=True)
    answers = line_chart(
        {"better answer": (steps, one["better"]), "worse answer": (steps, one["worse"])},
        title=f"ln p of unseen answers, β = {beta}",
        ylabel="nats",
        ylim=(-40, -15),
        **frame,
    )
    apart = line_chart(
        {f"β = {name}": (steps, each["kl"]) for name, each in found.items()},
        title="KL to the model before",
        ylabel="nats a story",
        ylim=(0, 20),
        faint=[f"β = {name}" for name in found if name != beta],
        **frame,
    )
    kept = line_chart(
        {name: (steps, one[key]) for key, name in SHARES.items()},
        title=f"learned and unlearned, β = {beta}",
        ylabel="",
        ylim=(0, 1.4),
        yticks=(0, 0.25, 0.5, 0.75, 1),
        percent=True,
        **frame,
    )
    return side_by_side([answers, apart, kept], alt=describe_drift(table, beta))


def draw_forgetting(table: Mapping[str, Any], way: str, old: str) -> Svg:
    """The new task to the right, the old one upwards; a dot every 20 steps."""
    check_one_of("forgetting", tuple(NAMES), way=way)
    check_one_of("forgetting", tuple(OLD), old=old)
    found = {each: means(runs) for each, runs in table["runs"].items()}
    chart = line_chart(
        {NAMES[each]: (one["new"], one[old]) for each, one in found.items()},
        size=(784, 340),
        title=f"{OLD[old]} against summaries right; all begin on the left",
        xlabel="new task: share of summaries right",
        ylabel=OLD[old],
        xlim=(0, 0.7),
        ylim=(0, 0.6) if old == "old" else (0, 4),
        faint=[NAMES[each] for each in NAMES if each != way],
        dots=True,
    )
    return side_by_side([chart], alt=describe_forgetting(table, way))


# --- describe ---------------------------------------------------------------------------------------------------------
def describe_drift(table: Mapping[str, Any], beta: str) -> str:
    """What has changed after the last step."""
    one = means(table["runs"][beta])
    return (
        f"β = {beta}, before → after {one['step'][-1]:.0f} steps: ln p of the better answer {one['better'][0]:.1f} → "
        f"{one['better'][-1]:.1f}, of the worse one {one['worse'][0]:.1f} → {one['worse'][-1]:.1f}; KL "
        f"{one['kl'][-1]:.1f} nats. Stories that end well {one['good'][0]:.0%} → {one['good'][-1]:.0%}, stories that "
        f"are true {one['true'][0]:.0%} → {one['true'][-1]:.0%}, other questions right {one['answers'][0]:.0%} → "
        f"{one['answers'][-1]:.0%}."
    )


def describe_forgetting(table: Mapping[str, Any], way: str) -> str:
    """Before and after, for one way."""
    one = means(table["runs"][way])
    return (
        f"{NAMES[way]}, before → after {one['step'][-1]:.0f} steps: summaries right {one['new'][0]:.0%} → "
        f"{one['new'][-1]:.0%}, old answers right {one['old'][0]:.0%} → {one['old'][-1]:.0%}, loss on plain texts "
        f"{one['loss'][0]:.2f} → {one['loss'][-1]:.2f}."
    )


# --- bind -------------------------------------------------------------------------------------------------------------
def drift_explorer(table: Mapping[str, Any] | None = None) -> Explore:
    """Choose β; the recorded table, or one like it."""
    given = drift.recorded() if table is None else table
    check_types("drift", Mapping, table=given)
    options = [(name, name) for name in given["runs"]]
    return Explore(
        lambda beta: draw_drift(given, beta),
        name="drift",
        told=True,
        beta=choice("β", options),
    )


def forgetting_explorer(table: Mapping[str, Any] | None = None) -> Explore:
    """Choose a way, and what is measured of what was known before."""
    given = forgetting.recorded() if table is None else table
    check_types("forgetting", Mapping, table=given)
    return Explore(
        lambda way, old: draw_forgetting(given, way, old),
        name="forgetting",
        told=True,
        way=choice("Way", [(text, way) for way, text in NAMES.items()]),
        old=choice("Upwards", [(text, name) for name, text in OLD.items()]),
    )
