"""LayerNorm and RMSNorm on a vector of four numbers that sliders change."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from ipywidgets import Dropdown, FloatSlider

from tx_helpers.layers import RMSNorm
from tx_helpers.show.charts import Panel, side_by_side
from tx_helpers.show.explore import Explore
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import BLUE, INK, MUTED, RED, shape, words

EPS = 1e-5
KINDS = ("LayerNorm", "RMSNorm")
WIDE, HIGH, TALLEST = 300, 240, 5.0  # pixels of a panel, and the value that fills its half


@dataclass(frozen=True)
class Normed:
    """A vector before and after; what was taken off, and what the rest was divided by."""

    before: list[float]
    after: list[float]
    mean: float
    divisor: float


def normalise(kind: str, vector: Sequence[float]) -> Normed:
    """LayerNorm: (x − mean) / √(var + ε); RMSNorm: x / √(mean of squares + ε). Gain 1, bias 0."""
    x = torch.tensor(list(vector), dtype=torch.float64)
    if kind == "LayerNorm":
        mean, size, out = x.mean(), x.var(correction=0), F.layer_norm(x, x.shape, eps=EPS)
    elif kind == "RMSNorm":
        norm = RMSNorm(len(x), eps=EPS).double()
        mean, size, out = torch.tensor(0.0), x.square().mean(), norm(x).detach()
    else:
        raise ValueError(f"normalise: kind={kind!r}, expected one of {', '.join(KINDS)}")
    return Normed(x.tolist(), out.tolist(), mean.item(), (size + EPS).sqrt().item())


def draw_norm(kind: str, seen: Normed) -> Svg:
    """Bars of the vector before, and after."""
    panels = [signed_bars(seen.before, "before"), signed_bars(seen.after, f"after {kind}")]
    return side_by_side(panels, alt=words_for(kind, seen), gap=40)


def words_for(kind: str, seen: Normed) -> str:
    """All numbers, and what became of mean and size."""
    before, after = (", ".join(f"{v:.{n}f}" for v in vs) for vs, n in ((seen.before, 2), (seen.after, 3)))
    if kind == "LayerNorm":
        done = f"mean {seen.mean:.3f} taken off, then divided by the deviation {seen.divisor:.3f}"
    else:
        done = f"divided by the root mean square {seen.divisor:.3f}"
    mean = sum(seen.after) / len(seen.after)
    return f"{kind} of [{before}]: {done}: [{after}]. The mean is now {mean + 0.0:.3f}.".replace("-0.000", "0.000")


def signed_bars(values: Sequence[float], title: str) -> Panel:
    """Upright bars from a middle line, blue up and red down, each with its number."""
    middle, slot = HIGH / 2 + 8, WIDE / len(values)
    scale = (HIGH / 2 - 36) / TALLEST
    parts = [words(WIDE / 2, 14, title, anchor="middle", font_weight="bold")]
    for place, value in enumerate(values):
        x, tall = slot * (place + 0.5), scale * min(abs(value), TALLEST)
        colour = (BLUE if value >= 0 else RED)[0]
        top = middle - tall if value >= 0 else middle
        parts.append(shape("rect", x=x - 20, y=top, width=40, height=tall, fill=colour))
        parts.append(words(x, middle - tall - 6 if value >= 0 else middle + tall + 16, f"{value:.2f}", anchor="middle"))
        parts.append(words(x, HIGH - 2, f"x{place + 1}", anchor="middle", fill=MUTED, size=12))
    parts.append(shape("path", d=f"M0,{middle}H{WIDE}", stroke=INK))
    return Panel((WIDE, HIGH), "".join(parts))


def norm_explorer() -> Explore:
    """Four numbers, what is added to all of them and what all are multiplied by, and the norm."""
    sliders = {
        f"x{i}": FloatSlider(value=float(i == 1), min=-3, max=3, step=0.5, description=f"x{i}") for i in range(1, 5)
    }
    return Explore(
        lambda kind, factor, shift, **x: draw_norm(kind, normalise(kind, [factor * v + shift for v in x.values()])),
        name="norms",
        kind=Dropdown(options=list(KINDS), description="Norm"),
        **sliders,
        factor=FloatSlider(value=1.0, min=0.5, max=3, step=0.5, description="Multiply all by"),
        shift=FloatSlider(value=0.0, min=-3, max=3, step=0.5, description="Add to all"),
    )
