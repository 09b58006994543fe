"""LayerNorm and RMSNorm on a vector of three numbers: drawn in space, and as bars.

    norm_explorer()

LayerNorm moves x along (1, 1, 1) to the plane of mean 0, then in that plane to the sphere of radius √D. RMSNorm moves x
to the sphere at once, along its own direction.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F

from tx_helpers.nn.arguments import check_one_of
from tx_helpers.nn.layers import RMSNorm
from tx_helpers.show.charts import Panel, heading, side_by_side
from tx_helpers.show.controls import choice, slider
from tx_helpers.show.explore import Explore
from tx_helpers.show.play import play_button
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import (
    BLUE,
    GOLD,
    GREEN,
    GREY,
    INK,
    MUTED,
    ORANGE,
    RESIDUAL,
    arrow,
    dragging,
    line,
    shape,
    words,
)

EPS = 1e-5
KINDS = ("LayerNorm", "RMSNorm")
WIDE, HIGH, TALLEST = 186, 300, 5.0  # pixels of a panel of bars, and the value that fills its half
SPACE, UNIT, TILT = (380, 300), 46, 20.0  # in space: size, pixels per unit, degrees from above
REACH = 124  # pixels from the middle: where a longer arrow is cut off
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
def draw(kind: str, seen: Normed, move: int = 2 * STEPS, turn: float = -30.0, factor: float = 1.0) -> Svg:
    """The vector's way in space; beside it bars of the vector before, and now. `factor` multiplies the sliders."""
    now = on_the_way(seen, move)
    title = f"after {kind}" if move == 2 * STEPS else "on the way"
    bars = [signed_bars(seen.before, "before", factor), signed_bars(now.tolist(), title)]
    return side_by_side([in_space(kind, seen, move, turn, factor), *bars], alt=describe(kind, seen, move), gap=12)


def in_space(kind: str, seen: Normed, move: int, turn: float, factor: float = 1.0) -> Panel:
    """Axes, sphere, for LayerNorm the plane of mean 0 and its circle, and the vector's way to it.

    The ground is dragged to turn the view, the tip of x to move it in the plane of the screen.
    """
    middle, onto = np.array([SPACE[0] / 2, SPACE[1] / 2 + 10]), view(turn)
    start, centred, end = np.array(seen.before), np.array(seen.before) - seen.mean, np.array(seen.after)
    layer, now = kind == "LayerNorm", on_the_way(seen, move)

    def at(points: np.ndarray) -> np.ndarray:
        return middle + UNIT * (np.asarray(points) @ onto.T) * [1, -1]

    def outline(points: np.ndarray) -> str:
        return " ".join(f"{x:.1f},{y:.1f}" for x, y in at(points))

    ground = [shape("rect", x=0, y=24, width=SPACE[0], height=SPACE[1] - 24, fill="none", pointer_events="all")]
    ground.append(shape("circle", cx=middle[0], cy=middle[1], r=UNIT * 3**0.5, fill=GREY.tint, stroke=MUTED))
    if layer:
        ground.append(
            shape("polygon", points=outline(1.5 * circle()), fill=BLUE.tint, fill_opacity=0.75, stroke=BLUE.full)
        )
        ground.append(shape("polyline", points=outline(circle()), fill="none", stroke=GOLD.shade, stroke_width=3))
    named = []
    for axis, tip in enumerate(2.3 * np.eye(3), 1):
        ground.append(line(*middle, *at(tip), MUTED))
        named.append(at(1.13 * tip))
        ground.append(words(named[-1][0], named[-1][1] + 4, f"x{axis}", anchor="middle", fill=MUTED))
    title = "To the plane of mean 0, then to the circle" if layer else "To the sphere"
    parts = [heading(middle[0], title), dragging({"turn": (-0.7, 0.0)}, ground)]
    for a, b in ((start, centred), (centred, end)):
        if ends := within(at(a) - middle, at(b) - middle):
            parts.append(line(*(middle + ends[0]), *(middle + ends[1]), INK, stroke_dasharray="3 4"))
    tips = [middle + shortened(at(point) - middle) for point in (start, now)]
    goes_on = np.linalg.norm(at(start) - middle) > REACH
    for tip, colour in zip(tips, (RESIDUAL, GREEN), strict=True):
        parts.append(arrow(*middle, *tip, colour.shade, gap=0))
    rates = onto.T * [1, -1] / (UNIT * factor)  # of each number, for a pixel to the right and one down
    grip = shape(
        "circle", cx=tips[0][0], cy=tips[0][1], r=11, fill=RESIDUAL.full, fill_opacity=0.3, stroke=RESIDUAL.shade
    )
    parts.append(dragging({f"x{i}": tuple(rate) for i, rate in enumerate(rates.tolist(), 1)}, [grip]))
    texts = ("x, longer" if goes_on else "x", "normed" if move == 2 * STEPS else "on the way")
    named += [middle + share * (tip - middle) for tip in tips for share in (0.3, 0.65, 1)]  # no word on an arrow
    for tip, text, colour in zip(tips, texts, (RESIDUAL, GREEN), strict=True):
        x, y = free_place(tip, named)
        named.append(np.array([x, y]))
        parts.append(words(x, y + 4, text, fill=colour.shade, anchor="middle", font_weight="bold"))
    return Panel(SPACE, "".join(parts))


def shortened(offset: np.ndarray) -> np.ndarray:
    """An offset (2,) from the middle in pixels, cut off at REACH."""
    return offset * min(1.0, REACH / max(1e-9, float(np.linalg.norm(offset))))


def within(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """The part of the line from a to b, offsets (2,), that is within REACH of the middle; None if there is none."""
    along = b - a
    square, half, rest = along @ along, a @ along, a @ a - REACH**2
    under = half**2 - square * rest
    if square < 1e-9 or under <= 0:
        return None
    first, last = max(0.0, (-half - under**0.5) / square), min(1.0, (-half + under**0.5) / square)
    return (a + first * along, a + last * along) if first < last else None


def free_place(tip: np.ndarray, taken: Sequence[np.ndarray]) -> tuple[float, float]:
    """Where a word stands beside a tip: of eight places the one farthest from what is there already."""
    angles = np.arange(8) * np.pi / 4
    places = tip + np.stack([40 * np.cos(angles), 24 * np.sin(angles)], 1)
    places = places.clip([34, 40], [SPACE[0] - 34, SPACE[1] - 10])
    room = [min(np.hypot((place[0] - other[0]) / 2, place[1] - other[1]) for other in taken) for place in places]
    x, y = places[int(np.argmax(room))]
    return float(x), float(y)


def signed_bars(values: Sequence[float], title: str, factor: float | None = None) -> Panel:
    """Upright bars from a middle line, blue up and orange down, each with its number; with a factor, to be dragged."""
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
        if factor:
            hand = shape("rect", x=x - slot / 2, y=24, width=slot, height=HIGH - 40, fill="none", pointer_events="all")
            parts.append(dragging({f"x{place + 1}": (0.0, -1 / (scale * factor))}, [hand]))
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
    numbers = {f"x{i}": slider(f"x{i}", -3, 3, step=0.1, start=value) for i, value in enumerate((2.5, 0.0, 1.0), 1)}
    move = slider("On the way", 0, 2 * STEPS, start=2 * STEPS)

    def picture(kind: str, factor: float, shift: float, move: int, turn: float, **x: float) -> Svg:
        return draw(kind, normalise(kind, [factor * value + shift for value in x.values()]), move, turn, factor)

    return Explore(
        picture,
        name="norms",
        told=True,
        recorded={name: [half / 2 for half in range(-6, 7)] for name in numbers},
        kind=choice("Norm", list(KINDS)),
        **numbers,
        factor=slider("Multiply all by", 0.5, 3, step=0.5, start=1.0),
        shift=slider("Add to all", -3, 3, step=0.5, start=0.0),
        move=move,
        play=play_button(move, pause=0.08),
        turn=slider("Turn the view", -90, 90, step=5, start=-30),
    )
