"""The nonlinearity of the feed-forward network: its curve, its slope, and what a gate makes of it."""

from dataclasses import dataclass

import numpy as np
import torch
from ipywidgets import Checkbox, Dropdown, FloatSlider

from tx_helpers.layers import ACTIVATIONS
from tx_helpers.show.charts import line_chart, side_by_side
from tx_helpers.show.explore import Explore
from tx_helpers.show.plots import Svg

NAMES = {"ReLU": "relu", "GELU": "gelu", "SiLU": "silu", "ReLU²": "relu2", "sigmoid": "sigmoid"}
GRID = np.linspace(-4, 4, 161)
FLAT = 0.005  # a slope below this is called none


@dataclass(frozen=True)
class Point:
    """Where one looks: the value of the curve at x, and its slope."""

    x: float
    value: float
    slope: float


def curve_of(name: str, other: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Value and slope of `other` · f(x) on the grid; other = 1 is f itself."""
    return _value_and_slope(name, torch.from_numpy(GRID), other)


def look_at(name: str, x: float, other: float = 1.0) -> Point:
    """The same at one place."""
    value, slope = _value_and_slope(name, torch.tensor([x], dtype=torch.float64), other)
    return Point(x, float(value[0]), float(slope[0]))


def draw_activation(name: str, x: float, other: float | None) -> Svg:
    """Curve and slope side by side, the chosen place marked; `other` is the second branch of a gated unit."""
    factor = 1.0 if other is None else other
    (values, slopes), at = curve_of(name, factor), look_at(name, x, factor)
    panels = []
    for title, ys, y, limits in (
        ("What the unit hands on", values, at.value, (-4.0, 6.0)),
        ("Its slope: what the gradient is multiplied by", slopes, at.slope, (-2.0, 2.0)),
    ):
        here = f"at x = {x:g}"
        limits = min(limits[0], float(ys.min())), max(limits[1], float(ys.max()))  # nothing is cut off
        lines = {name: (GRID, ys), here: ([x, x], [limits[0], y])}
        panels.append(line_chart(lines, size=(380, 270), title=title, xlabel="x", ylabel="", ylim=limits, faint=[here]))
    return side_by_side(panels, alt=words_for(name, at, values, other))


def words_for(name: str, at: Point, values: np.ndarray, other: float | None) -> str:
    """Value and slope, whether a gradient flows, and the lowest value of the whole curve."""
    unit = name if other is None else f"{name}(x) times {other:g}"
    flows = "no gradient flows" if abs(at.slope) < FLAT else "a gradient flows"
    lowest = f"lowest value between −4 and 4: {values.min():.2f} at x = {GRID[values.argmin()]:.2f}"
    if abs(values.min() - values[0]) < FLAT and other is None:
        lowest = f"it is never below {abs(values.min()):.2f}"
    return f"{unit} at x = {at.x:.1f}: value {at.value:.3f}, slope {at.slope:.3f}: {flows}; {lowest}."


def _value_and_slope(name: str, x: torch.Tensor, other: float) -> tuple[np.ndarray, np.ndarray]:
    x = x.clone().requires_grad_()
    y = other * ACTIVATIONS[NAMES[name]](x)
    (slope,) = torch.autograd.grad(y.sum(), x)
    return y.detach().numpy(), slope.numpy()


def activation_explorer() -> Explore:
    """Choose a function and a place; a gated unit multiplies by a second branch."""
    return Explore(
        lambda function, x, gated, other: draw_activation(function, x, other if gated else None),
        name="activations",
        function=Dropdown(options=list(NAMES), value="ReLU", description="Function f"),
        x=FloatSlider(value=-1.0, min=-4, max=4, step=0.1, description="Input x"),
        gated=Checkbox(value=False, description="Gated: times a second branch", indent=False),
        other=FloatSlider(value=-1.0, min=-2, max=2, step=0.25, description="Second branch u"),
    )
