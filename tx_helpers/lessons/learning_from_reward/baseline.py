"""A toy whose gradient is known exactly: four answers, their probabilities and their rewards.

    exact_gradient()                 # (4,): of the expected reward, in the logits
    spread(baseline=0.3)             # the variance of one sample's estimate, all four components together
    baseline_explorer()

The expected reward is Σ pₐ rₐ with p = softmax(logits); its gradient is pₐ (rₐ − r̄). One sampled answer a estimates it:
(rₐ − b) (one-hot(a) − p). The mean of this estimate over all answers is the gradient, whatever b is. Williams 1992.
"""

import torch
from torch import Tensor

from tx_helpers.nn.arguments import check_numbers
from tx_helpers.show.charts import Panel, line_chart, side_by_side
from tx_helpers.show.controls import choice, slider
from tx_helpers.show.explore import Explore
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import GREY, INK, MUTED, PINK, line, shape, words

CHANCES = torch.tensor([0.1, 0.5, 0.3, 0.1], dtype=torch.float64)
REWARDS = torch.tensor([1.0, 0.1, 0.1, 0.4], dtype=torch.float64)
BASELINES = torch.arange(-50, 151, 5) / 100
SIZE = (380, 270)


# --- compute ----------------------------------------------------------------------------------------------------------
def exact_gradient() -> Tensor:
    """pₐ (rₐ − r̄): (4,)."""
    return CHANCES * (REWARDS - CHANCES @ REWARDS)


def estimates(baseline: float) -> Tensor:
    """What each answer's sample says the gradient is: (4 answers, 4 components)."""
    return (REWARDS - baseline)[:, None] * (torch.eye(4, dtype=torch.float64) - CHANCES)


def mean_estimate(baseline: float) -> Tensor:
    """Their mean, weighted with the answers' chances: (4,)."""
    return CHANCES @ estimates(baseline)


def spread(baseline: float) -> float:
    """The variance of one sample's estimate: the sum over the components."""
    off = estimates(baseline) - mean_estimate(baseline)
    return (CHANCES @ off.square().sum(1)).item()


# --- draw -------------------------------------------------------------------------------------------------------------
def draw_baseline(baseline: float, samples: int) -> Svg:
    """Left the gradient's components with their typical error, right the variance over the baseline."""
    found, off = mean_estimate(baseline), estimates(baseline) - mean_estimate(baseline)
    errors = (CHANCES @ off.square() / samples).sqrt()
    bs = [b.item() for b in BASELINES]
    right = line_chart(
        {"variance": (bs, [spread(b) for b in bs])}, size=SIZE, title="Variance of one sample",
        xlabel="baseline b", ylabel="variance", ylim=(0, 1.2),
    )  # fmt: skip
    x = 52 + (baseline + 0.5) / 2 * (SIZE[0] - 64)
    y = SIZE[1] - 40 - spread(baseline) / 1.2 * (SIZE[1] - 66)
    mark = shape("circle", cx=x, cy=y, r=7, fill=PINK.full)
    return side_by_side(
        [_bars(found, errors), Panel(SIZE, right.body + mark)], alt=describe_baseline(baseline, samples)
    )


def _bars(found: Tensor, errors: Tensor) -> Panel:
    """Upright bars from a zero line, each with a line for its error to both sides."""
    zero, tall = 150, 420
    parts = [words(SIZE[0] / 2, 14, "Estimate of the gradient: mean ± error", anchor="middle", font_weight="bold")]
    parts.append(line(30, zero, SIZE[0] - 10, zero, INK))
    for place, (value, error) in enumerate(zip(found.tolist(), errors.tolist(), strict=True)):
        x = 50 + 84 * place
        parts.append(
            shape(
                "rect",
                x=x,
                y=zero - tall * max(value, 0),
                width=44,
                height=max(tall * abs(value), 1),
                fill=GREY.tint,
                stroke=MUTED,
            )
        )
        low, high = zero - tall * (value - error), zero - tall * (value + error)
        parts.append(line(x + 22, min(low, 246), x + 22, max(high, 26), PINK.shade, stroke_width=4))
        parts.append(words(x + 22, SIZE[1] - 6, f"answer {place + 1}", anchor="middle", size=12.5, fill=MUTED))
    return Panel(SIZE, "".join(parts))


# --- describe ---------------------------------------------------------------------------------------------------------
def describe_baseline(baseline: float, samples: int) -> str:
    """The mean, the error and the variance at this baseline."""
    check_numbers("baseline_explorer", baseline=baseline)
    check_numbers("baseline_explorer", least=1, whole=True, samples=samples)
    found = ", ".join(f"{value:+.2f}".replace("-", "−") for value in mean_estimate(baseline).tolist())
    error = (spread(baseline) / samples) ** 0.5
    return (
        f"Baseline {baseline:.2f}, {samples} sample{'s' if samples > 1 else ''}: the mean of the estimates is {found}, "
        f"which is the exact gradient; variance of one sample {spread(baseline):.2f}, "
        f"error of the estimate {error:.2f}."
        .replace("-", "−")
    )  # fmt: skip


# --- bind -------------------------------------------------------------------------------------------------------------
def baseline_explorer() -> Explore:
    """A baseline to turn, and the number of samples."""
    baseline = slider("Baseline", -0.5, 1.5, step=0.05)
    samples = choice("Samples", [1, 4, 16, 64, 256], 16)
    return Explore(draw_baseline, name="baseline", told=True, baseline=baseline, samples=samples)
