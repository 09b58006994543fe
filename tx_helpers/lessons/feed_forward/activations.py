"""The nonlinearity of the feed-forward network: its curve, its slope, and what a gate makes of it."""

from typing import NamedTuple

import ipywidgets as widgets
import numpy as np
import torch

from tx_helpers.nn.arguments import check_one_of
from tx_helpers.nn.layers import ACTIVATIONS
from tx_helpers.show.charts import line_chart, side_by_side
from tx_helpers.show.explore import Explore
from tx_helpers.show.plots import Svg

NAMES = {"ReLU": "relu", "GELU": "gelu", "SiLU": "silu", "ReLU²": "relu2", "sigmoid": "sigmoid"}
GRID = np.linspace(-4, 4, 161)
FLAT = 0.005  # a smaller slope counts as none


# --- compute ---------------------------------------------------------------------------------------------------------
class Curve(NamedTuple):
    """Values and slopes at some places."""

    values: np.ndarray
    slopes: np.ndarray


def curve(name: str, xs: np.ndarray, other: float | None = None) -> Curve:
    """f(x) and its slope at each of xs; a gate multiplies both by `other`, the unit's second branch."""
    check_one_of("curve", NAMES, name=name)
    x = torch.tensor(xs, dtype=torch.float64, requires_grad=True)
    y = (1.0 if other is None else other) * ACTIVATIONS[NAMES[name]](x)
    (slopes,) = torch.autograd.grad(y.sum(), x)
    return Curve(y.detach().numpy(), slopes.numpy())


# --- draw ------------------------------------------------------------------------------------------------------------
def draw(name: str, x: float, other: float | None) -> Svg:
    """Curve and slope side by side, the chosen place marked; `other` is the second branch of a gated unit."""
    everywhere, here = curve(name, GRID, other), curve(name, [x], other)
    panels = []
    for title, ys, (y,), low, high in (
        ("The unit's value", everywhere.values, here.values, -4.0, 6.0),
        ("Its slope, which multiplies the gradient", everywhere.slopes, here.slopes, -2.0, 2.0),
    ):
        limits = min(low, float(ys.min())), max(high, float(ys.max()))  # nothing is cut off
        mark = f"at x = {x:g}"
        lines = {name: (GRID, ys), mark: ([x, x], [limits[0], y])}
        labels = dict(title=title, xlabel="x", ylabel="")
        panels.append(line_chart(lines, size=(380, 270), ylim=limits, faint=[mark], **labels))
    return side_by_side(panels, alt=describe(name, x, other))


# --- describe --------------------------------------------------------------------------------------------------------
def describe(name: str, x: float, other: float | None) -> str:
    """Value and slope at x, whether a gradient flows, and the lowest value of the curve."""
    values = curve(name, GRID, other).values
    ((value,), (slope,)) = curve(name, [x], other)
    unit = name if other is None else f"{name}(x) times {other:g}"
    flows = "no gradient flows" if abs(slope) < FLAT else "a gradient flows"
    lowest = f"lowest value between −4 and 4: {values.min():.2f} at x = {GRID[values.argmin()]:.2f}"
    if abs(values.min() - values[0]) < FLAT and other is None:
        lowest = f"it is never below {abs(values.min()):.2f}"
    return f"{unit} at x = {x:.1f}: value {value:.3f}, slope {slope:.3f}: {flows}; {lowest}."


# --- bind ------------------------------------------------------------------------------------------------------------
def activation_explorer() -> Explore:
    """Choose a function and a place; a gated unit multiplies by a second branch."""
    return Explore(
        lambda function, x, gated, other: draw(function, x, other if gated else None),
        name="activations",
        told=True,
        function=widgets.Dropdown(options=list(NAMES), value="ReLU", description="Function f"),
        x=widgets.FloatSlider(value=-1.0, min=-4, max=4, step=0.1, description="Input x"),
        gated=widgets.Checkbox(value=False, description="Gated: times a second branch", indent=False),
        other=widgets.FloatSlider(value=-1.0, min=-2, max=2, step=0.25, description="Second branch u"),
    )
