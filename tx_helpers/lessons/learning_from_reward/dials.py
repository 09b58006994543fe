"""Rate, group and KL as dials: a training on reward, started at them, whose curves grow update by update.

    dials_explorer()             # opens on a recorded run; Start trains the small base model at the dials
    recorded_dials()[4e-4, 16, 0.0]["right"]      # 40 numbers, one for each update

Each update has ANSWERS answers, in groups of the chosen size. Every curve is measured at every update: the share of
right answers and of answers with steps, the KL to the base model in nats a token (k3 of `kl_to_reference`), and the
share of groups whose rewards are all equal. dials.json keeps all settings at seed 0; pages without a kernel play it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import product
from pathlib import Path

import torch
from torch import nn

from tx_helpers.lessons.learning_from_reward.base import base_model
from tx_helpers.lessons.learning_from_reward.runs import answers
from tx_helpers.lessons.learning_from_reward.sums import SIX
from tx_helpers.show.charts import line_chart, side_by_side
from tx_helpers.show.controls import stops
from tx_helpers.show.explore import Explore
from tx_helpers.show.plots import Svg
from tx_helpers.training.contexts import cpu_threads
from tx_helpers.training.experiment import Experiment
from tx_helpers.training.optimizers import adamw
from tx_helpers.training.reward import answer_log_probs, group_advantages, kl_to_reference, policy_loss
from tx_helpers.widgets.live import Live

RATES, GROUPS, WEIGHTS = (1e-4, 4e-4, 4e-3), (4, 16, 64), (0.0, 0.3)
USUAL, UPDATES, ANSWERS = (4e-4, 16, 0.0), 40, 128
CURVES = ("right", "steps", "KL", "equal")
SIZE = (372, 270)
Setting = tuple[float, int, float]  # rate, group, weight of the KL
Curves = Mapping[str, list[float]]


# --- compute ----------------------------------------------------------------------------------------------------------
@dataclass
class DialRun:
    """A training at one setting, update by update; or the same from the record, if `known`."""

    setting: Setting
    known: Curves | None = None
    step: int = 0
    curves: dict[str, list[float]] = field(default_factory=lambda: {name: [] for name in CURVES})
    model: nn.Module | None = field(default=None, repr=False)

    @property
    def done(self) -> bool:
        return self.step >= UPDATES

    def advance(self) -> None:
        """One more update; its curves are those of the answers that it was made from."""
        if self.known is not None:
            found = [self.known[name][self.step] for name in CURVES]
        else:
            with cpu_threads(1):
                found = self._update()
        for name, value in zip(CURVES, found, strict=True):
            self.curves[name].append(value)
        self.step += 1

    def _update(self) -> list[float]:
        rate, group, weight = self.setting
        if self.model is None:
            self.model, self.base = base_model(SIX), base_model(SIX)
            self.optimizer = adamw(self.model, rate, weight_decay=0.0)
        ids, answer, old = answers(self.model, SIX, count=ANSWERS // group, each=group, seed=self.step)
        rewards = SIX.reward(ids, answer).view(-1, group)
        with torch.no_grad():
            reference = answer_log_probs(self.base, ids, answer)
        log_p = answer_log_probs(self.model, ids, answer)
        kl = kl_to_reference(log_p, reference, answer)
        loss = policy_loss(log_p, old, group_advantages(rewards).flatten(), answer, clip=None) + weight * kl
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        equal = (rewards == rewards[:, :1]).all(1)
        found = (rewards.mean(), SIX.with_steps(answer).float().mean(), kl.detach(), equal.float().mean())
        return [round(value.item(), 4) for value in found]

    def look(self) -> dict[str, list[float]]:
        """The curves so far."""
        return {name: list(values) for name, values in self.curves.items()}


def record_dials() -> dict[str, list]:
    """All settings at seed 0: {"runs": [[setting, right, steps, KL, equal], …]}"""
    found = []
    for setting in product(RATES, GROUPS, WEIGHTS):
        run = DialRun(setting)
        while not run.done:
            run.advance()
        found.append([list(setting), *run.curves.values()])
    return {"runs": found}


settings = {"rates": RATES, "groups": GROUPS, "weights": WEIGHTS, "updates": UPDATES, "answers": ANSWERS}
RECORDED = Experiment(Path(__file__).with_suffix(".json"), record_dials, "three minutes", settings)


@cache
def recorded_dials() -> dict[Setting, Curves]:
    """Setting -> its curves, a number for each update."""
    return {tuple(one): dict(zip(CURVES, curves, strict=True)) for one, *curves in RECORDED.read()["runs"]}


# --- draw -------------------------------------------------------------------------------------------------------------
def draw_dials(setting: Setting, curves: Curves, alt: str) -> Svg:
    """Left the shares, right the KL; the usual setting's shares and KL lie thin behind."""
    usual, updates = recorded_dials()[USUAL], range(1, UPDATES + 1)
    panels = []
    for title, label, names, most in (
        ("Shares", "share", {"right": "right", "with steps": "steps", "equal groups": "equal"}, 1),
        ("KL to the base model", "nats a token", {"KL": "KL"}, max([0.5, *curves["KL"]]) * 1.1),
    ):
        lines = {said: (updates[: len(curves[name])], curves[name]) for said, name in names.items()}
        first = next(iter(names))
        lines[f"{first}, usual dials"] = updates, usual[first]
        panels.append(
            line_chart(
                lines, size=SIZE, title=title, xlabel="update", ylabel=label, xlim=(1, 1.7 * UPDATES), ylim=(0, most),
                xticks=range(10, UPDATES + 1, 10),
                faint=[f"{first}, usual dials"],
            )
        )  # fmt: skip
    return side_by_side(panels, alt=alt)


# --- describe ---------------------------------------------------------------------------------------------------------
def describe_dials(curves: Curves) -> str:
    """All four curves at first and now; of "right" the mean of the last five updates, which are noisy."""
    last = curves["right"][-5:]
    now = ", ".join(f"{name} {curves[name][0]:.2f} -> {curves[name][-1]:.2f}" for name in CURVES[1:])
    return f"right {curves['right'][0]:.2f} -> {sum(last) / len(last):.2f}, {now}."


# --- bind -------------------------------------------------------------------------------------------------------------
def dials_explorer() -> Explore:
    """Three dials and a button; each setting shows its recorded run until Start trains it anew."""
    known, replays = recorded_dials(), []
    ended = {one: DialRun(one, curves, UPDATES, dict(curves)) for one, curves in known.items()}

    def begin(setting: Setting) -> DialRun:
        return DialRun(setting, known[setting] if replays else None)

    def picture(setting: Setting, curves: Curves | None, alt: str, _others: dict) -> Svg:
        return draw_dials(setting, curves or {name: [] for name in CURVES}, alt)

    dials = {
        "rate": stops("Rate", {f"{rate:g}": rate for rate in RATES}, USUAL[0]),
        "group": stops("Group", GROUPS, USUAL[1]),
        "weight": stops("KL weight", WEIGHTS, USUAL[2]),
    }
    runs = {one: partial(begin, one) for one in known}
    options = dict(steps=UPDATES, every=2, dials=dials, ended=ended)
    explore = Live("reward-dials", runs, picture, describe_dials, **options).explore
    explore.begin_again = lambda: replays.append(True)  # a page plays the record
    return explore
