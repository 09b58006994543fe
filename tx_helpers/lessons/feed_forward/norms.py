"""LayerNorm and RMSNorm on a vector of three numbers: drawn in space, and as bars.

    norm_explorer()

LayerNorm moves x along (1, 1, 1) to the plane of mean 0, then in that plane to the sphere of radius √D. RMSNorm moves x
to the sphere at once, along its own direction.
"""

from collections.abc import Sequence
from typing import NamedTuple

import ipywidgets as widgets
import numpy as np
import torch
import torch.nn.functional as F

from tx_helpers.nn.arguments import check_one_of
from tx_helpers.nn.layers import RMSNorm
from tx_helpers.show.charts import Panel, heading, side_by_side
from tx_helpers.show.explore import Explore
from tx_helpers.show.play import play_button
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import BLUE, GOLD, GREEN, GREY, INK, MUTED, ORANGE, RESIDUAL, arrow, line, shape, words

EPS = 1e-5
KINDS = ("LayerNorm", "RMSNorm")
WIDE, HIGH, TALLEST = 186, 300, 5.0  # pixels of a panel of bars, and the value that fills its half
SPACE, UNIT, TILT = (380, 300), 50, 20.0  # the drawing in space: pixels, at most so many a unit, degrees from above
STEPS = 12  # moves to the plane, and as many to the sphere


# --- compute ----------------------------------------------------------------------------------------------------------
class Normed(NamedTuple):
    """A vector before and after; the mean that was subtracted, and the root mean square of the rest."""

    before: list[float]
    after: list[float]
    mean: float
    size: float


def normalise(kind: str, vector: Sequence[float]) -> Normed:
    """LayerNorm: (x − mean) / √(var + ε); RMSNorm: x / √(mean of squares + ε). Gain 1, bias 0."""
    check_one_of("normalise", KINDS, kind=kind)
    x = torch.tensor(list(vector), dtype=torch.float64)
    if kind == "LayerNorm":
        mean, after = x.mean(), F.layer_norm(x, x.shape, eps=EPS)
    else:
        mean, after = torch.zeros(()), RMSNorm(len(x), eps=EPS).double()(x).detach()
    return Normed(x.tolist(), after.tolist(), mean.item(), (x - mean).square().mean().sqrt().item())


def on_the_way(seen: Normed, move: int) -> np.ndarray:
    """Where the vector is after so many moves of 2 · STEPS: first the mean is taken off, then the rest is scaled."""
    x, after = np.array(seen.before), np.array(seen.after)
    centred = x - seen.mean
    if move <= STEPS:
        return x + (centred - x) * move / STEPS
    return centred + (after - centred) * (move - STEPS) / STEPS


def view(turn: float) -> np.ndarray:
    """The matrix (2, 3) that draws a point of space: turned about the upright axis x3, then seen from above."""
    a, b = np.radians([turn, TILT])
    return np.array([[-np.sin(a), np.cos(a), 0.0], [-np.cos(a) * np.sin(b), -np.sin(a) * np.sin(b), np.cos(b)]])


def circle(n: int = 73) -> np.ndarray:
    """Points (n, 3) of the circle in which the plane of mean 0 meets the sphere of radius √3."""
    angles = np.linspace(0, 2 * np.pi, n)[:, None]
    return np.sqrt(3) * (np.cos(angles) * [1, -1, 0] / np.sqrt(2) + np.sin(angles) * [1, 1, -2] / np.sqrt(6))


# --- draw -------------------------------------------------------------------------------------------------------------
def draw(kind: str, seen: Normed, move: int = 2 * STEPS, turn: float = -30.0) -> Svg:
    """The vector's way in space; beside it bars of the vector before, and now."""
    now = on_the_way(seen, move)
    title = f"after {kind}" if move == 2 * STEPS else "on the way"
    bars = [signed_bars(seen.before, "before"), signed_bars(now.tolist(), title)]
    return side_by_side([in_space(kind, seen, move, turn), *bars], alt=describe(kind, seen, move), gap=12)


def in_space(kind: str, seen: Normed, move: int, turn: float) -> Panel:
    """Axes, sphere, for LayerNorm the plane of mean 0 and its circle, and the vector's way to it."""
    middle, onto = np.array([SPACE[0] / 2, SPACE[1] / 2 + 14]), view(turn)
    start, centred, end = np.array(seen.before), np.array(seen.before) - seen.mean, np.array(seen.after)
    farthest = abs(onto @ np.stack([start, centred, end]).T).max()
    unit = min(UNIT, 118 / max(1e-9, farthest))  # a long vector makes all the rest smaller

    def at(points: np.ndarray) -> np.ndarray:
        return middle + unit * (np.asarray(points) @ onto.T) * [1, -1]

    def outline(points: np.ndarray) -> str:
        return " ".join(f"{x:.1f},{y:.1f}" for x, y in at(points))

    def named(point: np.ndarray, text: str, ink: str, *, beside: bool) -> str:
        along = onto @ point * [1, -1] / max(1e-9, np.linalg.norm(onto @ point))
        x, y = at(point) + (26 * along[::-1] * [1, -1] if beside else 16 * along)  # beside the tip, or beyond it
        return words(x, y + 4, text, fill=ink, anchor="middle", font_weight="bold")

    layer, there = kind == "LayerNorm", move == 2 * STEPS
    parts = [heading(middle[0], "To the plane of mean 0, then to the circle" if layer else "To the sphere")]
    parts.append(shape("circle", cx=middle[0], cy=middle[1], r=unit * 3**0.5, fill=GREY.tint, stroke=GREY.full))
    if layer:
        parts.append(
            shape("polygon", points=outline(1.5 * circle()), fill=BLUE.tint, fill_opacity=0.75, stroke=BLUE.full)
        )
        parts.append(shape("polyline", points=outline(circle()), fill="none", stroke=GOLD.shade, stroke_width=3))
    for axis, tip in enumerate(2.3 * np.eye(3), 1):
        parts.append(line(*middle, *at(tip), MUTED))
        x, y = at(1.12 * tip)
        parts.append(words(x, y + 4, f"x{axis}", anchor="middle", fill=MUTED))
    parts += [line(*at(a), *at(b), INK, stroke_dasharray="3 4") for a, b in ((start, centred), (centred, end))]
    now = on_the_way(seen, move)
    for point, text, colour in ((start, "x", RESIDUAL), (now, "normed" if there else "on the way", GREEN)):
        parts.append(arrow(*middle, *at(point), colour.shade, gap=0))
        parts.append(named(point, text, colour.shade, beside=point is now))
    return Panel(SPACE, "".join(parts))


def signed_bars(values: Sequence[float], title: str) -> Panel:
    """Upright bars from a middle line, blue up and orange down, each with its number."""
    middle, slot = HIGH / 2 + 8, WIDE / len(values)
    scale = (HIGH / 2 - 36) / TALLEST
    parts = [heading(WIDE / 2, title)]
    for place, value in enumerate(values):
        x, tall = slot * (place + 0.5), scale * min(abs(value), TALLEST)
        if value >= 0:
            colour, top, label = BLUE, middle - tall, middle - tall - 6
        else:
            colour, top, label = ORANGE, middle, middle + tall + 16
        parts.append(shape("rect", x=x - 20, y=top, width=40, height=tall, fill=colour.full))
        parts.append(words(x, label, f"{value:.2f}", anchor="middle"))
        parts.append(words(x, HIGH - 2, f"x{place + 1}", anchor="middle", fill=MUTED, size=12.5))
    parts.append(shape("path", d=f"M0,{middle}H{WIDE}", stroke=INK))
    return Panel((WIDE, HIGH), "".join(parts))


# --- describe ---------------------------------------------------------------------------------------------------------
def describe(kind: str, seen: Normed, move: int = 2 * STEPS) -> str:
    """All numbers, and what became of mean and length; on the way, how far it is."""
    before = ", ".join(f"{value:.2f}" for value in seen.before)
    if move < 2 * STEPS:
        now = on_the_way(seen, move)
        where = ("on the way to the plane", "in the plane of mean 0", "on the way to the circle")
        said = where[(move > STEPS) + (move >= STEPS)] if kind == "LayerNorm" else "on the way to the sphere"
        text = f"{kind} of [{before}]: {said}: mean {now.mean():.3f}, length {np.linalg.norm(now):.3f}."
        return text.replace("-0.000", "0.000")
    after = ", ".join(f"{value:.3f}" for value in seen.after)
    if kind == "LayerNorm":
        steps = f"mean {seen.mean:.3f} subtracted, then divided by the deviation {seen.size:.3f}"
    else:
        steps = f"divided by the root mean square {seen.size:.3f}"
    if seen.size**2 < 10 * EPS:
        steps += f" (with ε under the root: {(seen.size**2 + EPS) ** 0.5:.3f})"
    mean, length = sum(seen.after) / len(seen.after), sum(value**2 for value in seen.after) ** 0.5
    root = f"√{len(seen.after)}"
    size = root if abs(length - len(seen.after) ** 0.5) < 0.01 else f"{length:.3f}"
    text = f"{kind} of [{before}]: {steps}: [{after}]. The mean is now {mean + 0.0:.3f}, the length {size}."
    return text.replace("-0.000", "0.000")


# --- bind -------------------------------------------------------------------------------------------------------------
def norm_explorer() -> Explore:
    """Three numbers, what is added to all of them and what all are multiplied by, the norm, the way, and the view."""
    numbers = {
        f"x{i}": widgets.FloatSlider(value=value, min=-3, max=3, step=0.5, description=f"x{i}")
        for i, value in enumerate((2.5, 0.0, 1.0), 1)
    }
    move = widgets.IntSlider(2 * STEPS, 0, 2 * STEPS, description="On the way")

    def picture(kind: str, factor: float, shift: float, move: int, turn: float, **x: float) -> Svg:
        return draw(kind, normalise(kind, [factor * value + shift for value in x.values()]), move, turn)

    return Explore(
        picture,
        name="norms",
        told=True,
        kind=widgets.Dropdown(options=list(KINDS), description="Norm"),
        **numbers,
        factor=widgets.FloatSlider(value=1.0, min=0.5, max=3, step=0.5, description="Multiply all by"),
        shift=widgets.FloatSlider(value=0.0, min=-3, max=3, step=0.5, description="Add to all"),
        move=move,
        play=play_button(move, pause=0.08),
        turn=widgets.IntSlider(-30, -90, 90, 5, description="Turn the view"),
    )
