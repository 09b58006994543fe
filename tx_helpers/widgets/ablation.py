"""The ablation bench: two trained models side by side, their losses and what they can do.

    ablation_explorer(runs, exact, left="the right model", right="no causal mask")

`runs` are trained models or runs by name (all that has `.losses`, or a `.run` that has), `exact` the share of exact
matches of each.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ipywidgets import Dropdown, IntSlider

from tx_helpers.show.charts import bar_chart, line_chart, side_by_side
from tx_helpers.show.explore import Explore
from tx_helpers.show.plots import Svg, smooth


@dataclass(frozen=True)
class Candidate:
    """One side of a comparison: the smoothed loss of each step, and the share (0 … 1) of exact matches."""

    name: str
    losses: Sequence[float]
    exact: float

    @property
    def loss(self) -> float:
        return float(self.losses[-1])


def candidate(name: str, losses: Mapping[str, Sequence[float]], exact: Mapping[str, float], window: int) -> Candidate:
    """The figures of one model, its loss as a mean over the last `window` steps."""
    for kind, known in (("losses", losses), ("exact matches", exact)):
        if name not in known:
            raise ValueError(f"ablation: no {kind} of {name!r}; there are: {', '.join(known)}")
    if window < 1 or not len(losses[name]):
        raise ValueError(f"ablation: window={window} of {len(losses[name])} losses, expected at least 1 of each")
    return Candidate(name, smooth(losses[name], window), exact[name])


def verdict(left: Candidate, right: Candidate) -> str:
    """Both figures of both, and whether the lower loss translates better.

    Losses are compared as they are printed, to three decimals: what is closer says nothing.
    """
    figures = "; ".join(f"{side.name}: loss {side.loss:.3f}, exact match {side.exact:.1%}" for side in (left, right))
    by_loss, by_exact = (round(right.loss, 3) - round(left.loss, 3)), left.exact - right.exact
    if left.name == right.name:
        return f"{left.name}: loss {left.loss:.3f}, exact match {left.exact:.1%}. Choose two different ones."
    if by_loss == 0 or by_exact == 0:
        equal = "The losses" if by_loss == 0 else "The translations"
        return f"{figures}. {equal} are equally good."
    return f"{figures}. The lower loss translates {'better' if by_loss * by_exact > 0 else 'worse'}."


def draw_comparison(left: Candidate, right: Candidate) -> Svg:
    """Both curves in one chart, the exact matches as two bars beside it."""
    sides = {side.name: side for side in (left, right)}
    lines = {name: (range(1, len(side.losses) + 1), side.losses) for name, side in sides.items()}
    chart = line_chart(
        lines, size=(500, 280), title="Loss", xlabel="step", ylabel="cross-entropy (log scale)", logy=True
    )
    shares = {name: side.exact for name, side in sides.items()}
    return side_by_side([chart, bar_chart(shares, size=(240, 280), title="Exact match")], alt=verdict(left, right))


def ablation_explorer(
    runs: Mapping[str, object],
    exact: Mapping[str, float],
    *,
    left: str | None = None,
    right: str | None = None,
    window: int = 10,
    name: str = "ablation",
) -> Explore:
    """Two dropdowns and the smoothing; by default the first model on the left, the second on the right."""
    losses = {title: list(getattr(trained, "run", trained).losses) for title, trained in runs.items()}
    if len(losses) < 2:
        raise ValueError(f"ablation_explorer: {len(losses)} models, expected at least 2 to compare")
    titles = list(losses)

    def draw(left: str, right: str, window: int) -> Svg:
        return draw_comparison(*(candidate(side, losses, exact, window) for side in (left, right)))

    return Explore(
        draw,
        name=name,
        left=Dropdown(options=titles, value=left or titles[0], description="Left"),
        right=Dropdown(options=titles, value=right or titles[1], description="Right"),
        window=IntSlider(value=window, min=1, max=20, description="Smooth over"),
    )
