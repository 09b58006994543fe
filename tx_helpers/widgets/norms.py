"""LayerNorm and RMSNorm on a vector of four numbers that sliders change."""

from collections.abc import Sequence
from typing import NamedTuple

import ipywidgets as widgets
import torch
import torch.nn.functional as F

from tx_helpers.arguments import check_one_of
from tx_helpers.layers import RMSNorm
from tx_helpers.show.charts import Panel, heading, side_by_side
from tx_helpers.show.explore import Explore
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import BLUE, INK, MUTED, ORANGE, shape, words

EPS = 1e-5
KINDS = ("LayerNorm", "RMSNorm")
WIDE, HIGH, TALLEST = 300, 240, 5.0  # pixels of a panel, and the value that fills its half


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


# --- draw -------------------------------------------------------------------------------------------------------------
def draw(kind: str, seen: Normed) -> Svg:
    """Bars of the vector before, and after."""
    panels = [signed_bars(seen.before, "before"), signed_bars(seen.after, f"after {kind}")]
    return side_by_side(panels, alt=describe(kind, seen), gap=40)


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
        parts.append(words(x, HIGH - 2, f"x{place + 1}", anchor="middle", fill=MUTED, size=12))
    parts.append(shape("path", d=f"M0,{middle}H{WIDE}", stroke=INK))
    return Panel((WIDE, HIGH), "".join(parts))


# --- describe ---------------------------------------------------------------------------------------------------------
def describe(kind: str, seen: Normed) -> str:
    """All numbers, and what became of mean and size."""
    before = ", ".join(f"{value:.2f}" for value in seen.before)
    after = ", ".join(f"{value:.3f}" for value in seen.after)
    if kind == "LayerNorm":
        steps = f"mean {seen.mean:.3f} subtracted, then divided by the deviation {seen.size:.3f}"
    else:
        steps = f"divided by the root mean square {seen.size:.3f}"
    if seen.size**2 < 10 * EPS:
        steps += f" (with ε under the root: {(seen.size**2 + EPS) ** 0.5:.3f})"
    mean = sum(seen.after) / len(seen.after)
    return f"{kind} of [{before}]: {steps}: [{after}]. The mean is now {mean + 0.0:.3f}.".replace("-0.000", "0.000")


# --- bind -------------------------------------------------------------------------------------------------------------
def norm_explorer() -> Explore:
    """Four numbers, what is added to all of them and what all are multiplied by, and the norm."""
    numbers = {
        f"x{i}": widgets.FloatSlider(value=float(i == 1), min=-3, max=3, step=0.5, description=f"x{i}")
        for i in range(1, 5)
    }
    return Explore(
        lambda kind, factor, shift, **x: draw(kind, normalise(kind, [factor * v + shift for v in x.values()])),
        name="norms",
        kind=widgets.Dropdown(options=list(KINDS), description="Norm"),
        **numbers,
        factor=widgets.FloatSlider(value=1.0, min=0.5, max=3, step=0.5, description="Multiply all by"),
        shift=widgets.FloatSlider(value=0.0, min=-3, max=3, step=0.5, description="Add to all"),
    )
