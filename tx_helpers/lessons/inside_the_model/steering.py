"""Steering: one direction, added to the hidden states while a model reads, changes the word it says. What else moves?

    way = sense_direction(model, block=3)                      # (D,) from fruit to firm, as long as the stream is there
    measure(model, steered(3, 1.0 * way))                      # Effect(paid=…, tasted=…, firm=…, loss=…)
    steering_explorer()

"in the end she chose apple . it": in a cafe it "tasted" good, at a firm it "paid" well. The direction is the mean state
at "it" over texts about a job, minus that over texts about a cafe. What reveals the sense is held out: each state is
that of the same word, "it". A third tale tests the meaning. There "mia could not decide . apple or orange ?", the next
word may be of either sense, and a direction of the *sense* would decide.

Sources: Turner et al. 2023 (activation addition); Rimsky et al. 2024 (contrastive activation addition); Zou et al.
2023 (representation engineering).
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from tx_helpers.lessons.inside_the_model.world_decoder import (
    BLOCKS,
    SEEDS,
    STEPS,
    Words,
    beginnings,
    biased,
    chance,
    encoded,
    plain_loss,
    trained,
)
from tx_helpers.nn.arguments import check_numbers, check_tensors
from tx_helpers.nn.capture import capture
from tx_helpers.show.charts import Panel, bar_chart, heading, side_by_side
from tx_helpers.show.controls import choice, stops
from tx_helpers.show.explore import Explore
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import MUTED, ORANGE, shape, words
from tx_helpers.text.data import PAD
from tx_helpers.training.experiment import Experiment

STRENGTHS = (-1.0, -0.5, -0.25, 0.0, 0.25, 0.5, 1.0)
BIAS = 10.0  # the rival without a direction: so much more for the logit of "paid", so much less for "tasted"
FIRM, FRUIT = ("had", "lost"), ("drank", "threw")  # how the third tale goes on
Edits = Mapping[str, Callable[[Tensor], Tensor]]


# --- compute ----------------------------------------------------------------------------------------------------------
class Effect(NamedTuple):
    """p("paid") and p("tasted") behind "it" in a cafe; p(firm) in the third tale, 0.5 by the world; the plain loss."""

    paid: float
    tasted: float
    firm: float
    loss: float


def states(model: nn.Module, block: int, rows: Sequence[Words]) -> Tensor:
    """The stream after a block, counted from 0, at the last word of each beginning: (B, D)."""
    check_numbers("states", least=0, less_than=BLOCKS, whole=True, block=block)
    ids, name = encoded(rows), f"decoder.blocks.{block}.hidden"
    with capture(model, name) as seen, torch.no_grad():
        model(ids)
    return seen[name][torch.arange(len(ids)), (ids != PAD).sum(1) - 1]


def mean_difference(first: Tensor, second: Tensor) -> Tensor:
    """mean(second) − mean(first) of hidden states (N, D) and (M, D): the way (D,) from one to the other."""
    check_tensors("mean_difference", first=(first, "float N D"), second=(second, "float M D"))
    return second.mean(0) - first.mean(0)


def sense_direction(model: nn.Module, block: int, *, seed: int = 0, random: bool = False) -> Tensor:
    """From fruit to firm (D,), as long as the stream is at "it" on average. random: a rival of the same length."""
    fruit, firm = (states(model, block, beginnings(t, ("tasted", "paid"), 80, seed=seed)) for t in ("cafe", "job"))
    way = mean_difference(fruit, firm)
    if random:
        way = torch.randn(len(way), generator=torch.Generator().manual_seed(seed))
    return F.normalize(way, dim=0) * torch.cat([fruit, firm]).norm(dim=1).mean()


def steered(block: int, way: Tensor) -> dict[str, Callable[[Tensor], Tensor]]:
    """For `capture`: `way` (D,) is added after a block, at every position."""
    return {f"decoder.blocks.{block}.hidden": lambda x: x + way}


def measure(model: nn.Module, edits: Edits | None = None, *, seed: int = 0, start: str = "cafe") -> Effect:
    """What the model says with these edits. start="job": the rival, a beginning of the other sense and no edit."""
    rows = beginnings(start, ("tasted", "paid"), 40, "test", seed + 50)
    undecided = beginnings("decide", FIRM + FRUIT, 40, "test", seed + 50)
    with capture(model, "none", edit=edits):
        paid, tasted = (chance(model, rows, (word,)) for word in ("paid", "tasted"))
        firm = chance(model, undecided, FIRM)
        return Effect(paid, tasted, firm / (firm + chance(model, undecided, FRUIT)), plain_loss(model))


def run() -> dict[str, Any]:
    """{"sense" or "random": [a model: [a block: [a strength: an Effect]]], "prompt" or "bias": [a model: an Effect]}"""
    found: dict[str, Any] = {"sense": [], "random": [], "prompt": [], "bias": []}
    for seed in SEEDS:
        model = trained(seed)
        for name in ("sense", "random"):
            ways = [sense_direction(model, block, seed=seed, random=name == "random") for block in range(BLOCKS)]
            table = [[measure(model, steered(b, s * way), seed=seed) for s in STRENGTHS] for b, way in enumerate(ways)]
            found[name].append([[[round(x, 3) for x in effect] for effect in row] for row in table])
        found["prompt"].append([round(x, 3) for x in measure(model, seed=seed, start="job")])
        with biased(model, {"paid": BIAS, "tasted": -BIAS}):
            found["bias"].append([round(x, 3) for x in measure(model, seed=seed)])
    return found


STEERING = Experiment(
    Path(__file__).with_suffix(".json"), run, "8 minutes", {"seeds": SEEDS, "steps": STEPS, "strengths": STRENGTHS}
)


# --- draw -------------------------------------------------------------------------------------------------------------
def draw(effect: Effect, before: Effect, said: str) -> Svg:
    """The next word in a cafe, the sense of the third tale's, and the loss on other texts, before and after."""
    next_words = {"tasted": effect.tasted, "paid": effect.paid, "other": max(0.0, 1 - effect.tasted - effect.paid)}
    panels: list[Panel] = [
        bar_chart(next_words, size=(270, 230), title="In a cafe, behind “it”"),
        bar_chart({"fruit": 1 - effect.firm, "firm": effect.firm}, size=(210, 230), title="Sense in the third tale"),
        _losses(before.loss, effect.loss),
    ]
    return side_by_side(panels, alt=describe(effect, before, said))


def _losses(before: float, after: float) -> Panel:
    """The loss without and with the direction, in nats a token, up to 2.4."""
    parts, zero, unit = [heading(105, "Loss on other texts")], 180, 60
    for place, (name, loss) in enumerate((("without", before), ("with", after))):
        x, tall = 35 + 80 * place, unit * min(loss, 2.4)
        parts.append(
            shape("rect", x=x, y=zero - tall, width=50, height=tall, fill=MUTED if place == 0 else ORANGE.full)
        )
        parts.append(words(x + 25, zero - tall - 6, f"{loss:.2f}", anchor="middle"))
        parts.append(words(x + 25, zero + 18, name, anchor="middle"))
    parts.append(words(105, 222, "nats a token", anchor="middle", fill=MUTED))
    return Panel((210, 230), "".join(parts))


# --- describe ---------------------------------------------------------------------------------------------------------
def describe(effect: Effect, before: Effect, said: str) -> str:
    """The three figures in words."""
    return (
        f"{said}: in a cafe p(paid) = {effect.paid:.2f} and p(tasted) = {effect.tasted:.2f}; in the third tale "
        f"p(firm) = {effect.firm:.2f}, without it {before.firm:.2f}; the loss on other texts goes from "
        f"{before.loss:.2f} to {effect.loss:.2f}."
    )


# --- bind -------------------------------------------------------------------------------------------------------------
def steering_explorer() -> Explore:
    """Strength, block, direction and model against what is said next, exactly, and what is lost elsewhere: recorded."""
    found, none = STEERING.read(), STRENGTHS.index(0.0)

    def drawn(strength: float, block: int, way: str, model: int) -> Svg:
        row = [Effect(*effect) for effect in found[way][model][block]]
        direction = "the sense" if way == "sense" else "a random direction"
        said = f"Strength {strength:g}, {direction}, after block {block + 1}, model {model + 1}"
        return draw(row[STRENGTHS.index(strength)], row[none], said)

    return Explore(
        drawn,
        name="steering",
        strength=stops("Strength", {f"{strength:g}": strength for strength in STRENGTHS}, 1.0),
        block=choice("After block", {str(block + 1): block for block in range(BLOCKS)}, BLOCKS - 1),
        way=choice("Direction", {"fruit to firm": "sense", "random": "random"}),
        model=choice("Model", {"1, shipped": 0, "2": 1, "3": 2}),
    )
