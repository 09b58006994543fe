"""The ablation bench: two trained models side by side, their losses and what they can do.

    ablation_explorer(runs, exact, left="the right model", right="no causal mask")

`runs` are trained models or runs by name (each has `.losses`, or a `.run` with them), `exact` is the share of exact
matches of each.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import ipywidgets as widgets

from tx_helpers.nn.arguments import check_numbers, check_one_of, check_types, described
from tx_helpers.show.charts import bar_chart, line_chart, side_by_side
from tx_helpers.show.explore import Explore
from tx_helpers.show.plots import Svg, smooth


# --- compute ---------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Candidate:
    """One side of a comparison: the smoothed loss of each step, and the share (0 … 1) of exact matches."""

    name: str
    losses: Sequence[float]
    exact: float

    @property
    def loss(self) -> float:
        return float(self.losses[-1])

    @property
    def figures(self) -> str:
        return f"{self.name}: loss {self.loss:.3f}, exact match {self.exact:.1%}"


def candidate(name: str, losses: Mapping[str, Sequence[float]], exact: Mapping[str, float], window: int) -> Candidate:
    """The figures of one model, its loss as a mean over the last `window` steps."""
    for kind, known in (("losses", losses), ("exact matches", exact)):
        if name not in known:
            raise ValueError(f"ablation: no {kind} of {name!r}, expected one of {', '.join(known)}")
    if window < 1 or not len(losses[name]):
        raise ValueError(f"ablation: window={window} of {len(losses[name])} losses, expected at least 1 of each")
    return Candidate(name, smooth(losses[name], window), exact[name])


# --- draw ------------------------------------------------------------------------------------------------------------
def draw(left: Candidate, right: Candidate) -> Svg:
    """Both curves in one chart, the exact matches as two bars beside it."""
    sides = {side.name: side for side in (left, right)}
    curves = line_chart(
        {name: (range(1, len(side.losses) + 1), side.losses) for name, side in sides.items()},
        size=(500, 280),
        title="Loss",
        xlabel="step",
        ylabel="cross-entropy (log scale)",
        logy=True,
    )
    matches = bar_chart({name: side.exact for name, side in sides.items()}, size=(240, 280), title="Exact match")
    return side_by_side([curves, matches], alt=describe(left, right))


# --- describe --------------------------------------------------------------------------------------------------------
def describe(left: Candidate, right: Candidate) -> str:
    """The figures of both, and whether the lower loss translates better.

    Losses are compared as they are printed, to three decimals: a smaller difference says nothing.
    """
    if left.name == right.name:
        return f"{left.figures}. Choose two different ones."
    by_loss = round(right.loss, 3) - round(left.loss, 3)
    by_exact = left.exact - right.exact
    if by_loss == 0:
        result = "The losses are equally good"
    elif by_exact == 0:
        result = "The translations are equally good"
    else:
        result = f"The lower loss translates {'better' if by_loss * by_exact > 0 else 'worse'}"
    return f"{left.figures}; {right.figures}. {result}."


# --- bind ------------------------------------------------------------------------------------------------------------
def ablation_explorer(
    runs: Mapping[str, object],
    exact: Mapping[str, float],
    *,
    left: str | None = None,
    right: str | None = None,
    window: int = 10,
) -> Explore:
    """Two dropdowns and the smoothing; by default the first model on the left, the second on the right."""
    check_types("ablation_explorer", Mapping, runs=runs, exact=exact)
    check_numbers("ablation_explorer", least=1, most=20, whole=True, window=window)
    for title, trained in runs.items():
        if not hasattr(getattr(trained, "run", trained), "losses"):
            raise ValueError(f"ablation_explorer: {title!r} is {described(trained)}, expected a trained model or a run")
    losses = {title: list(getattr(trained, "run", trained).losses) for title, trained in runs.items()}
    if len(losses) < 2:
        raise ValueError(f"ablation_explorer: {len(losses)} models, expected at least 2 to compare")
    titles = list(losses)
    left, right = left or titles[0], right or titles[1]
    check_one_of("ablation_explorer", titles, left=left, right=right)

    def picture(left: str, right: str, window: int) -> Svg:
        return draw(candidate(left, losses, exact, window), candidate(right, losses, exact, window))

    return Explore(
        picture,
        name="ablation",
        told=True,
        left=widgets.Dropdown(options=titles, value=left, description="Left"),
        right=widgets.Dropdown(options=titles, value=right, description="Right"),
        window=widgets.IntSlider(value=window, min=1, max=20, description="Smooth over"),
    )
