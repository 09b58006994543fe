"""A group of answers to one problem: what each is worth, and how hard each of its tokens is pushed.

    pushes_explorer(base)
    film_explorer({0: base, 10: …, 40: model}, {"right": shares, "with steps": others})

The push on a token is A (1 − p): the advantage of its answer times what its probability p leaves to be gained. That is
the derivative of A ln p with respect to the token's own logit. A token with p close to 1 is not moved.
"""

from collections.abc import Mapping
from typing import NamedTuple

import torch
from torch import Tensor, nn

from tx_helpers.lessons.learning_from_reward.runs import answers
from tx_helpers.lessons.learning_from_reward.sums import CHARACTERS, SIX, Sums, text
from tx_helpers.nn.arguments import check_types
from tx_helpers.show.charts import line_chart
from tx_helpers.show.controls import choice, slider, tick
from tx_helpers.show.explore import Explore
from tx_helpers.show.play import play_button
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import GREEN, GREY, INK, MUTED, PINK, box, card, shape, words
from tx_helpers.training.reward import group_advantages

GROUP, SEEDS = 8, (16, 10, 2)  # answers to a problem, and the seeds of the problems
CELL, ROW, LEFT, TOP = 36, 36, 64, 74
AFTER = LEFT + CELL * (SIX.longest + 4) + 20  # where the columns behind the answers begin


class Group(NamedTuple):
    """The answers to one problem."""

    problem: str
    tokens: list[str]  # one text for each answer
    chances: list[list[float]]  # p of each token
    rewards: Tensor  # (G,)
    begins: float  # p that an answer begins with the first step, a copy of the first digit


# --- compute ----------------------------------------------------------------------------------------------------------
def sampled_group(model: nn.Module, task: Sums, seed: int) -> Group:
    """GROUP answers to the problem of this seed."""
    sampled = answers(model, task, count=1, each=GROUP, seed=seed)
    start = task.terms + 1
    lengths = sampled.answer.sum(1).tolist()
    said = [
        "".join(CHARACTERS[i] for i in row[start : start + n].tolist())
        for row, n in zip(sampled.ids, lengths, strict=True)
    ]
    chances = [row[start - 1 : start - 1 + n].exp().tolist() for row, n in zip(sampled.log_p, lengths, strict=True)]
    with torch.no_grad():
        begins = model(sampled.ids[:1, :start])[0, -1].softmax(-1)[sampled.ids[0, 0]].item()
    return Group(text(sampled.ids[0, :start]), said, chances, task.reward(sampled.ids, sampled.answer), begins)


def pushes(group: Group, *, scaled: bool) -> tuple[list[float], list[list[float]]]:
    """The advantage of each answer, and A (1 − p) of each of its tokens."""
    advantages = group_advantages(group.rewards[None], scaled=scaled)[0].tolist()
    return advantages, [[a * (1 - p) for p in row] for a, row in zip(advantages, group.chances, strict=True)]


# --- draw -------------------------------------------------------------------------------------------------------------
def draw_pushes(group: Group, *, scaled: bool = True) -> Svg:
    """A row for each answer: its tokens, pink where pushed up and grey where down, its reward, its advantage."""
    return card(
        AFTER + 160, TOP + ROW * GROUP + 12, [_rows(group, scaled=scaled)], describe_pushes(group, scaled=scaled)
    )


def draw_film(group: Group, update: int, curves: Mapping[str, list[float]]) -> Svg:
    """The group of this update, and below it the curves of the training with the update shaded."""
    width, height = AFTER + 160, TOP + ROW * GROUP + 12
    lines = {name: (range(1, len(values) + 1), values) for name, values in curves.items()}
    chart = line_chart(
        lines, size=(width - 40, 210), title=f"p that an answer begins with the step {group.problem[0]}: "
        f"{group.begins:.2f}", xlabel="update", ylabel="share", xlim=(1, 1.25 * len(next(iter(curves.values())))),
        ylim=(0, 1), at=max(update, 1),
    )  # fmt: skip
    below = f'<g transform="translate(20 {height + 6})">{chart.body}</g>'
    return card(width, height + 220, [_rows(group, scaled=True), below], describe_film(group, update))


def _rows(group: Group, *, scaled: bool) -> str:
    advantages, rows = pushes(group, scaled=scaled)
    most = max((abs(push) for row in rows for push in row), default=0) or 1
    parts = [
        words(LEFT, 30, f"problem {group.problem}", size=17, font_weight="bold"),
        box(LEFT + 210, 14, 26, 22, "", PINK),
        words(LEFT + 242, 30, "made likelier"),
        shape(
            "rect", x=LEFT + 350, y=14, width=26, height=22, rx=4, fill=GREY.full, stroke=INK, stroke_dasharray="3 3"
        ),
        words(LEFT + 382, 30, "made less likely"),
        words(AFTER + 24, 58, "reward", anchor="middle", fill=MUTED),
        words(AFTER + 104, 58, "advantage", anchor="middle", fill=MUTED),
    ]
    for place, (said, row) in enumerate(zip(group.tokens, rows, strict=True)):
        y = TOP + ROW * place
        parts.append(words(LEFT - 12, y + 21, str(place + 1), anchor="end", fill=MUTED))
        for column, (token, push) in enumerate(zip(said, row, strict=True)):
            x, up = LEFT + CELL * column, push > 0
            parts.append(
                shape(
                    "rect", x=x, y=y, width=CELL - 4, height=30, rx=4, stroke=INK if abs(push) > 0.01 else GREY.full,
                    stroke_dasharray=None if push >= 0 else "3 3", fill=(PINK if up else GREY).full,
                    fill_opacity=round((0.75 if up else 0.5) * abs(push) / most, 2),
                )
            )  # fmt: skip
            parts.append(words(x + CELL / 2 - 2, y + 21, token, size=16, anchor="middle"))
        paid = GREEN if group.rewards[place] else GREY
        parts.append(box(AFTER + 6, y + 2, 36, 26, f"{group.rewards[place]:.0f}", paid, size=15))
        parts.append(words(AFTER + 104, y + 21, _signed(advantages[place]), size=15, anchor="middle"))
    return "".join(parts)


def _signed(value: float) -> str:
    return f"{value:+.2f}".replace("-", "−") if abs(value) > 0.005 else "0"


# --- describe ---------------------------------------------------------------------------------------------------------
def describe_pushes(group: Group, *, scaled: bool) -> str:
    """How many answers are right, and which token gets the strongest push."""
    advantages, rows = pushes(group, scaled=scaled)
    right = int(group.rewards.sum())
    if right in (0, GROUP):
        return f"Problem {group.problem} {right} of {GROUP} answers are right: rewards are equal, no token is pushed."
    push, place, column = max(
        ((push, i, j) for i, row in enumerate(rows) for j, push in enumerate(row)), key=lambda one: abs(one[0])
    )
    said, p = group.tokens[place], group.chances[place][column]
    return (
        f"Problem {group.problem} {right} of {GROUP} answers are right; advantage {_signed(max(advantages))} for a "
        f"right one, {_signed(min(advantages))} for a wrong one. The strongest push is on token {column + 1} of answer "
        f"{place + 1}, {said[column]!r} in {said!r}, which had p = {p:.2f}: {_signed(push)}."
    )


def describe_film(group: Group, update: int) -> str:
    """How many of the group's answers are right and how many begin with the first step, and how likely that was."""
    long = sum(said[0] == group.problem[0] for said in group.tokens)
    return (
        f"Update {update}, problem {group.problem} {int(group.rewards.sum())} of {GROUP} answers are right, {long} "
        f"begin with the step {group.problem[0]}, which has p = {group.begins:.2f}."
    )


# --- bind -------------------------------------------------------------------------------------------------------------
def pushes_explorer(model: nn.Module, task: Sums = SIX) -> Explore:
    """Groups of answers of this model to three problems."""
    check_types("pushes_explorer", nn.Module, model=model)
    check_types("pushes_explorer", Sums, task=task)
    with torch.random.fork_rng(devices=[]):
        groups = [sampled_group(model, task, seed) for seed in SEEDS]

    def draw(problem: int, divided: bool) -> Svg:
        return draw_pushes(groups[problem], scaled=divided)

    problem = choice("Problem", [(f"{i + 1}", i) for i in range(len(SEEDS))])
    return Explore(draw, name="group-pushes", told=True, problem=problem, divided=tick("Divide by the deviation", True))


def film_explorer(models: Mapping[int, nn.Module], curves: Mapping[str, list[float]]) -> Explore:
    """One group as the models of a training answer it, update -> model, above the curves of that training."""
    check_types("film_explorer", Mapping, models=models, curves=curves)
    check_types("film_explorer", nn.Module, **{f"models[{update!r}]": model for update, model in models.items()})
    with torch.random.fork_rng(devices=[]):
        groups = [(update, sampled_group(model, SIX, SEEDS[0])) for update, model in sorted(models.items())]
    place = slider("Picture", 0, len(groups) - 1)

    def draw(picture: int) -> Svg:
        update, group = groups[picture]
        return draw_film(group, update, curves)

    return Explore(draw, name="group-film", told=True, picture=place, play=play_button(place, pause=1.2))
