"""Superposition: a small network carries five features through two numbers, and finds a direction for each.

    superposition_explorer()

A feature is on with probability p, its size is then between 0 and 1. The network adds the directions w_i (D,) of the
features, and reads each of them back. It is trained to make the squared error of all readings small:

    h = Σ_j x_j w_j,    read_i = max(0, h · w_i + b_i)        what the other features add to h · w_i is the interference

Source: Elhage et al. 2022, *Toy models of superposition*.
"""

from functools import cache
from typing import NamedTuple

import numpy as np
import torch

from tx_helpers.nn.arguments import check_numbers
from tx_helpers.show.charts import Panel, heading, side_by_side
from tx_helpers.show.controls import choice, stops
from tx_helpers.show.explore import Explore
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import GREEN, INK, MUTED, ORANGE, RESIDUAL, arrow, line, shape, words

RARITY = {"always": 1.0, "in 1 of 2": 0.5, "in 1 of 5": 0.2, "in 1 of 10": 0.1, "in 1 of 20": 0.05}
ON = {"feature 1": (0,), "1 and 2": (0, 1), "1 and 3": (0, 2), "1, 2 and 3": (0, 1, 2)}
KEPT = READ = 0.5  # a shorter direction counts as not kept, a smaller reading as off
LEFT, RIGHT, RADIUS = (330, 300), (400, 300), 92  # pixels of the panels, and of a direction of length 1


# --- compute ----------------------------------------------------------------------------------------------------------
class Toy(NamedTuple):
    """A trained network: directions (n, D) and biases (n,)."""

    directions: np.ndarray
    biases: np.ndarray

    @property
    def kept(self) -> int:
        return int((np.linalg.norm(self.directions, axis=1) > KEPT).sum())

    def read(self, on: tuple[int, ...]) -> np.ndarray:
        """What is read for each feature (n,), where those in `on` have the size 1 and the others 0."""
        return np.maximum(0, self.directions @ self.directions[list(on)].sum(0) + self.biases)


@cache
def train(shares: tuple[float, ...], features: int = 5, dimensions: int = 2, steps: int = 1200, seed: int = 0) -> tuple:
    """A `Toy` for each share of the examples in which a feature is on; all are trained together."""
    check_numbers("train", least=1, whole=True, features=features, dimensions=dimensions, steps=steps)
    draw, p = torch.Generator().manual_seed(seed), torch.tensor(shares)[:, None, None]
    W = (0.3 * torch.randn(len(shares), features, dimensions, generator=draw)).requires_grad_()
    b = torch.zeros(len(shares), 1, features, requires_grad=True)
    optimizer = torch.optim.Adam([W, b], lr=1e-2)
    for _ in range(steps):
        size, dice = torch.rand(2, len(shares), 256, features, generator=draw)
        x = size * (dice < p)
        loss = ((torch.relu(x @ W @ W.mT + b) - x).square() / p).mean((1, 2)).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    found = W.detach().double().numpy(), b.detach().double().numpy()
    return tuple(_turned(w, bias[0]) for w, bias in zip(*found, strict=True))


def _turned(directions: np.ndarray, biases: np.ndarray) -> Toy:
    """In a plane the kept features are numbered as they turn; the others come behind them."""
    if directions.shape[1] > 2:
        return Toy(directions, biases)
    short = np.linalg.norm(directions, axis=1) <= KEPT
    order = np.lexsort((np.arctan2(directions[:, 1], directions[:, 0]), short))
    return Toy(directions[order], biases[order])


# --- draw -------------------------------------------------------------------------------------------------------------
def draw(toy: Toy, often: str, on: str) -> Svg:
    """The directions in the plane, with the sum h of those that are on; beside it what is read for each feature."""
    return side_by_side([_plane(toy, ON[on]), _readings(toy, ON[on])], alt=describe(toy, often, on), gap=24)


def _plane(toy: Toy, on: tuple[int, ...]) -> Panel:
    x0, y0 = LEFT[0] / 2, LEFT[1] / 2 + 12
    parts = [heading(x0, "The directions in the plane")]
    parts.append(shape("circle", cx=x0, cy=y0, r=RADIUS, fill="none", stroke=MUTED, stroke_dasharray="2 5"))
    for place, (x, y) in enumerate(toy.directions):
        colour, length = (GREEN.shade if place in on else MUTED), max(0.01, np.hypot(x, y))
        parts.append(arrow(x0, y0, x0 + RADIUS * x, y0 - RADIUS * y, colour, gap=0))
        beyond = RADIUS + 14 / length
        parts.append(words(x0 + beyond * x, y0 - beyond * y + 5, str(place + 1), size=14, anchor="middle", fill=colour))
    total = toy.directions[list(on)].sum(0)
    if len(on) > 1:
        tip = total * min(1, 1.35 / np.linalg.norm(total))  # within the panel
        end = x0 + RADIUS * tip[0], y0 - RADIUS * tip[1]
        parts.append(line(x0, y0, *end, RESIDUAL.shade, stroke_width=5))
        parts.append(shape("circle", cx=end[0], cy=end[1], r=6, fill=RESIDUAL.shade))
        parts.append(words(8, LEFT[1] - 6, "pink: h, their sum", fill=RESIDUAL.shade, font_weight="bold"))
    return Panel(LEFT, "".join(parts))


def _readings(toy: Toy, on: tuple[int, ...]) -> Panel:
    """A bar for each feature: green where it is on and read, grey where it is off, orange where it is read wrongly."""
    values, unit, zero, slot = toy.read(on), 118, RIGHT[1] - 66, (RIGHT[0] - 40) / len(toy.biases)
    parts = [heading(RIGHT[0] / 2, "What is read for each feature")]
    for level, name in ((1.0, "1"), (READ, "½"), (0.0, "0")):
        parts.append(line(34, zero - unit * level, RIGHT[0], zero - unit * level, INK, stroke_dasharray="5 4"))
        parts.append(words(28, zero - unit * level + 4, name, anchor="end"))
    for place, value in enumerate(values):
        wrong = (place in on) != (value > READ)
        colour = ORANGE.full if wrong else GREEN.full if place in on else MUTED
        x, tall = 34 + slot * (place + 0.5), max(1.5, unit * min(value, 1.6))
        parts.append(shape("rect", x=x - 0.3 * slot, y=zero - tall, width=0.6 * slot, height=tall, fill=colour))
        parts.append(words(x, zero - tall - 6, f"{value:.2f}", anchor="middle"))
        parts.append(words(x, zero + 18, f"{place + 1}: {'on' if place in on else 'off'}", anchor="middle"))
        if wrong:
            parts.append(words(x, zero + 35, "wrong", anchor="middle", fill=ORANGE.shade, font_weight="bold"))
    parts.append(words(RIGHT[0] / 2, RIGHT[1] - 6, "above ½ counts as on", anchor="middle", fill=MUTED))
    return Panel(RIGHT, "".join(parts))


# --- describe ---------------------------------------------------------------------------------------------------------
def describe(toy: Toy, often: str, on: str) -> str:
    """How many features have a direction, how far apart the nearest two are, and what is read."""
    long = toy.directions[np.linalg.norm(toy.directions, axis=1) > KEPT]
    unit = long / np.linalg.norm(long, axis=1, keepdims=True)
    closest = np.degrees(np.arccos(np.clip((unit @ unit.T - 2 * np.eye(len(unit))).max(), -1, 1)))
    wrong = [i + 1 for i, value in enumerate(toy.read(ON[on])) if (value > READ) != (i in ON[on])]
    verdict = f"wrong for {', '.join(map(str, wrong))}" if wrong else "right for all"
    return (
        f"Each feature is on {often}: {toy.kept} of {len(toy.biases)} features are kept, the nearest two "
        f"{closest:.0f}° apart. With {on} on, the reading is {verdict}."
    )


# --- bind -------------------------------------------------------------------------------------------------------------
def superposition_explorer() -> Explore:
    """How often a feature is on while the network is trained, and which features it then reads; half a second each."""
    toys = dict(zip(RARITY, train(tuple(RARITY.values())), strict=True))
    return Explore(
        lambda often, on: draw(toys[often], often, on),
        name="superposition",
        often=stops("In training on", list(RARITY), "always"),
        on=choice("Now on", list(ON)),
    )
