"""A reward model from preferences, and a policy that learns from it: does the checker agree with its score?

    judge = reward_model(seed=0)                   # seconds: Bradley–Terry on pairs of the base model's answers
    judge(ids, written)                            # (N,) scores, as `train_on_reward` asks for
    recorded_preferences()                         # a row for each seed: score and right, update by update

Of each pair the exact checker prefers the right answer, and NOISE of these verdicts are turned round, as people err.
The reward model is a copy of the base model: its score of an answer is the logit of the padding, which no text of its
training has as a target, behind the answer's last token. Christiano et al. 2017; Ouyang et al. 2022.
"""

from functools import cache
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn.functional import logsigmoid

from tx_helpers.lessons.learning_from_reward.base import base_model
from tx_helpers.lessons.learning_from_reward.checkers import Checker
from tx_helpers.lessons.learning_from_reward.runs import answers, learn
from tx_helpers.lessons.learning_from_reward.sums import PAD, SIX, prompt_length
from tx_helpers.nn.arguments import check_numbers
from tx_helpers.show.charts import line_chart, side_by_side
from tx_helpers.show.plots import Svg
from tx_helpers.training.contexts import in_mode
from tx_helpers.training.experiment import Experiment
from tx_helpers.training.optimizers import adamw

PAIRS, NOISE, ROUNDS, BATCH, RATE = 1024, 0.1, 200, 64, 1e-3
SEEDS, UPDATES, WEIGHTS = range(3), 40, (0.0, 0.3)


def scores(model: nn.Module, ids: Tensor, written: Tensor) -> Tensor:
    """The logit of the padding behind each row's last written token: (N, T) -> (N,)."""
    ends = prompt_length(written) + written.sum(1) - 1
    return model(ids)[torch.arange(len(ids)), ends, PAD]


def pairs(count: int, seed: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Answers of the base model to `count` problems, one right and one wrong each: ids, written of both."""
    sampled = answers(base_model(SIX), SIX, count=3 * count, each=8, seed=90_000 + seed)
    right = SIX.reward(sampled.ids, sampled.answer).view(-1, 8)
    rows = torch.arange(len(right) * 8).view(-1, 8)[(right.sum(1) > 0) & (right.sum(1) < 8)][:count]
    right = right.view(-1)[rows]
    good, bad = (rows.gather(1, (right == value).int().argmax(1, keepdim=True))[:, 0] for value in (1, 0))
    return sampled.ids[good], sampled.answer[good], sampled.ids[bad], sampled.answer[bad]


def reward_model(*, seed: int = 0, rounds: int = ROUNDS) -> Checker:
    """−ln σ(score of the preferred − score of the other), averaged over pairs, NOISE of them turned round."""
    check_numbers("reward_model", least=0, whole=True, seed=seed)
    generator = torch.Generator().manual_seed(seed)
    better, better_written, worse, worse_written = pairs(PAIRS, seed)
    sign = 1 - 2.0 * (torch.rand(len(better), generator=generator) < NOISE)
    model = base_model(SIX)
    optimizer = adamw(model, RATE, weight_decay=0.01)
    with in_mode(model, training=True):
        for _ in range(rounds):
            at = torch.randint(len(better), (BATCH,), generator=generator)
            gap = scores(model, better[at], better_written[at]) - scores(model, worse[at], worse_written[at])
            optimizer.zero_grad()
            (-logsigmoid(sign[at] * gap).mean()).backward()
            optimizer.step()

    @torch.no_grad()
    def judge(ids: Tensor, written: Tensor) -> Tensor:
        return scores(model, ids, written)

    return judge


def agreement(judge: Checker, *, count: int = 256, seed: int = 7) -> float:
    """In which share of fresh pairs does the reward model score the right answer higher?"""
    better, better_written, worse, worse_written = pairs(count, seed)
    return (judge(better, better_written) > judge(worse, worse_written)).float().mean().item()


def record_preferences() -> dict[str, list]:
    """{"runs": a row for each seed: its agreement, and for each KL weight the mean score and the share of right}"""
    found = []
    for seed in SEEDS:
        judge = reward_model(seed=seed)
        row: dict = {"agreement": round(agreement(judge), 3)}
        for weight in WEIGHTS:
            run = learn(SIX, judge, seed=seed, updates=UPDATES, group=8, kl_weight=weight)
            row[f"KL {weight}"] = [[round(value, 3) for value in run.curves[name]] for name in ("reward", "right")]
        found.append(row)
    return {"runs": found}


about = {"seeds": list(SEEDS), "pairs": PAIRS, "noise": NOISE, "updates": UPDATES, "weights": WEIGHTS}
RECORDED = Experiment(Path(__file__).with_suffix(".json"), record_preferences, "two minutes", about)


@cache
def recorded_preferences() -> list[dict]:
    """The rows of `record_preferences`."""
    return RECORDED.read()["runs"]


def draw_preferences(weight: float = 0.0) -> Svg:
    """Left the reward model's score, right the share that the exact checker finds right: a line for each seed."""
    updates, rows = range(1, UPDATES + 1), recorded_preferences()
    panels = []
    for place, (title, label) in enumerate(
        (("The reward model says", "mean score"), ("The checker says", "share right"))
    ):
        lines = {f"seed {seed}": (updates, row[f"KL {weight}"][place]) for seed, row in enumerate(rows)}
        limits = (0, 1) if place else None
        panels.append(
            line_chart(
                lines, size=(372, 260), title=title, xlabel="update", ylabel=label, ylim=limits, legend=False
            )
        )  # fmt: skip
    told = "; ".join(
        f"seed {seed}: score {score[0]:.1f} to {score[-1]:.1f}, right {right[0]:.2f}, at most {max(right):.2f}, "
        f"at the end {right[-1]:.2f}"
        for seed, (score, right) in enumerate(row[f"KL {weight}"] for row in rows)
    )
    return side_by_side(panels, alt=f"KL weight {weight}: {told}.")
