"""Hidden units as hinges: three of them, each a line with one bend, and their sum, a curve.

    hinge_explorer()

A unit of a network with one input has a place where it bends, pₖ, and writes with a slope, vₖ:

    y = b₂ + Σₖ vₖ f(x − pₖ),   that is f(x W₁ + b₁) W₂ + b₂  with W₁ = (1, 1, 1), b₁ = −p and W₂ = v
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from tx_helpers.nn.arguments import check_one_of
from tx_helpers.nn.layers import ACTIVATIONS
from tx_helpers.show.charts import BOTTOM, LEFT, RIGHT, TOP, Panel, line_chart, side_by_side
from tx_helpers.show.controls import choice, slider
from tx_helpers.show.explore import Explore, live_markup
from tx_helpers.show.plots import Svg

FUNCTIONS = {"ReLU": "relu", "GELU": "gelu", "none (a straight line)": None}
TARGETS = {
    "a tent": lambda x: np.maximum(0.0, 2 - abs(x)),
    "a step": lambda x: np.clip(x + 1, 0, 2),
    "a wave": lambda x: 1 + np.sin(np.pi * x / 2),
}
GRID = np.linspace(-4, 4, 161)
PLACES, SLOPES = (-2.0, 0.0, 2.0), (1.0, 0.0, 0.0)  # at the start: one hinge, and two that write nothing
SOLVED = 0.02  # a smaller mean distance from the target counts as a hit
SIZE = (380, 290)
LOW_HIGH = {"left": (-5.0, 9.0), "right": (-3.0, 8.0)}  # of the two charts; the legend stands above the lines


# --- compute ----------------------------------------------------------------------------------------------------------
class Hinges(NamedTuple):
    """On the grid: what each unit writes, (units, 161), their sum and the target; `error`: their mean distance."""

    units: np.ndarray
    total: np.ndarray
    target: np.ndarray
    error: float


def bent(function: str, z: torch.Tensor) -> torch.Tensor:
    """f(z) for one of the FUNCTIONS."""
    return ACTIVATIONS[FUNCTIONS[function]](z) if FUNCTIONS[function] else z


def add_up(function: str, places: Sequence[float], slopes: Sequence[float], target: str) -> Hinges:
    """vₖ f(x − pₖ) for each unit, and the sum. ValueError for an unknown function or target."""
    check_one_of("add_up", FUNCTIONS, function=function)
    check_one_of("add_up", TARGETS, target=target)
    z = torch.tensor(GRID) - torch.tensor(places, dtype=torch.float64)[:, None]  # (units, 161)
    units = (torch.tensor(slopes, dtype=torch.float64)[:, None] * bent(function, z)).numpy()
    total, goal = units.sum(0), TARGETS[target](GRID)
    return Hinges(units, total, goal, float(abs(total - goal).mean()))


# --- draw -------------------------------------------------------------------------------------------------------------
def draw(function: str, places: Sequence[float], slopes: Sequence[float], target: str) -> Svg:
    """The units on the left, their sum and the target on the right."""
    seen = add_up(function, places, slopes, target)
    left = {f"unit {unit}": (GRID, ys) for unit, ys in enumerate(seen.units, 1)}
    right = {"the sum": (GRID, seen.total), f"target: {target}": (GRID, seen.target)}
    panels = [
        _chart(left, "What each unit writes", ylim=LOW_HIGH["left"]),
        _chart(right, "The sum, and the target", ylim=LOW_HIGH["right"], faint=[f"target: {target}"]),
    ]
    return side_by_side(panels, alt=describe(function, places, slopes, target, seen))


def _chart(lines: dict, title: str, **style: Any) -> Panel:
    return line_chart(lines, size=SIZE, title=title, xlabel="x", ylabel="", **style)


def for_the_page() -> dict:
    """What hinges_page.js needs: f at all differences x − p, the targets, and the picture of each, cut at its lines."""
    differences = torch.tensor(np.linspace(2 * GRID[0], 2 * GRID[-1], 2 * len(GRID) - 1))
    function, pictures = next(iter(FUNCTIONS)), {}
    for target in TARGETS:
        drawn = draw(function, PLACES, SLOPES, target)
        markup = live_markup(drawn).replace(drawn.alt, "ALT")
        pictures[target] = re.split('(?<=<polyline points=")[^"]*', markup, maxsplit=len(PLACES) + 1)
    return {
        "xs": GRID.tolist(),
        "first": differences[0].item(),
        "step": (differences[1] - differences[0]).item(),
        "table": {name: bent(name, differences).tolist() for name in FUNCTIONS},
        "straight": next(name for name, bent in FUNCTIONS.items() if bent is None),
        "targets": {name: goal(GRID).tolist() for name, goal in TARGETS.items()},
        "solved": SOLVED,
        "pictures": pictures,
        "limits": LOW_HIGH,
        "frame": {"left": LEFT, "right": SIZE[0] - RIGHT, "top": TOP, "bottom": SIZE[1] - BOTTOM},
    }


# --- describe ---------------------------------------------------------------------------------------------------------
def describe(function: str, places: Sequence[float], slopes: Sequence[float], target: str, seen: Hinges) -> str:
    """The bends of the sum from left to right, and how far it is from the target."""
    bends = sorted((place, slope) for place, slope in zip(places, slopes, strict=True) if slope)
    said = ", ".join(f"{slope:+g} at x = {place:g}" for place, slope in bends).replace("-", "−")
    if FUNCTIONS[function] is None:
        shape = "a straight line, whatever the slopes"
    elif not bends:
        shape = "no unit writes anything"
    else:
        shape = f"the slope changes by {said}" + (", softly" if function != "ReLU" else "")
    hit = "met" if seen.error < SOLVED else "not met"
    return f"{function}: {shape}. Mean distance from the target, {target}: {seen.error:.2f} ({hit})."


# --- bind -------------------------------------------------------------------------------------------------------------
def hinge_explorer() -> Explore:
    """Drag each unit's bend and slope until the sum meets the target."""
    units = {}
    for unit, (place, slope) in enumerate(zip(PLACES, SLOPES, strict=True), 1):
        units[f"p{unit}"] = slider(f"Unit {unit} bends at", -4, 4, step=0.5, start=place)
        units[f"v{unit}"] = slider(f"Unit {unit}, slope", -3, 3, step=0.5, start=slope)
    script = (Path(__file__).with_name("hinges_page.js")).read_text("utf-8")
    return Explore(
        lambda function, target, p1, v1, p2, v2, p3, v3: draw(function, (p1, p2, p3), (v1, v2, v3), target),
        name="hinges",
        told=True,
        computed=(script, for_the_page()),
        function=choice("Function f", list(FUNCTIONS)),
        target=choice("Target", list(TARGETS)),
        **units,
    )
