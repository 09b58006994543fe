"""The explorer of the softmax: some logits and a temperature, and the probabilities they make.

    softmax_explorer()

p_i = exp(z_i / τ) / Σ_j exp(z_j / τ)
"""

from collections.abc import Sequence

import ipywidgets as widgets
import torch

from tx_helpers.nn.arguments import check_numbers, check_types
from tx_helpers.show.explore import Explore
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import BLUE, EDGE, GOLD, GREEN, INK, MUTED, card, shape, words

COLOURS = (BLUE, GOLD, GREEN)
LEFT, BAR = 150, 470  # where the bars begin, and the length that stands for probability 1


# --- compute ----------------------------------------------------------------------------------------------------------
def softmax(logits: Sequence[float], temperature: float) -> list[float]:
    """The probabilities of some logits, divided by a temperature above 0 first."""
    check_numbers("softmax", above=0, temperature=temperature)
    return torch.softmax(torch.tensor(logits, dtype=torch.float64) / temperature, dim=-1).tolist()


# --- draw -------------------------------------------------------------------------------------------------------------
def draw(logits: Sequence[float], temperature: float) -> Svg:
    """A bar for each logit, as long as its probability."""
    p = softmax(logits, temperature)
    parts = [words(LEFT, 28, f"softmax of z / {temperature:g}", size=15, font_weight="bold")]
    for i, (z, share) in enumerate(zip(logits, p, strict=True)):
        y = 46 + 40 * i
        colour = COLOURS[i % len(COLOURS)].full
        parts += [
            words(24, y + 20, f"z{'₁₂₃₄₅₆₇₈₉'[i]} = {z:g}", size=15),
            shape("rect", x=LEFT, y=y, width=BAR, height=28, rx=4, fill="none", stroke=EDGE),
            shape("rect", x=LEFT, y=y, width=BAR * share, height=28, rx=4, fill=colour),
            words(LEFT + BAR + 12, y + 20, f"p = {share:.3f}", size=15, fill=INK),
        ]
    parts.append(words(LEFT, 46 + 40 * len(p) + 12, "together 1", size=12, fill=MUTED))
    return card(760, 70 + 40 * len(p), parts, describe(logits, temperature, p))


# --- describe ---------------------------------------------------------------------------------------------------------
def describe(logits: Sequence[float], temperature: float, p: Sequence[float]) -> str:
    """The logits, the temperature, and the probabilities."""
    numbers = ", ".join(f"{z:g}" for z in logits)
    shares = ", ".join(f"{share:.3f}" for share in p)
    return f"Softmax of {numbers} at temperature {temperature:g}: probabilities {shares}; the largest is {max(p):.1%}."


# --- bind -------------------------------------------------------------------------------------------------------------
def softmax_explorer(logits: Sequence[float] = (2.0, 1.0, 0.0)) -> Explore:
    """Sliders for up to nine logits and the temperature."""
    check_types("softmax_explorer", Sequence, logits=logits)
    if not 1 <= len(logits) <= 9:
        raise ValueError(f"softmax_explorer: {len(logits)} logits, expected 1 to 9")
    check_numbers("softmax_explorer", least=-4, most=4, **{f"logits[{i}]": z for i, z in enumerate(logits)})
    limits = dict(min=-4, max=4, step=0.5)
    sliders = {f"z{i}": widgets.FloatSlider(z, **limits, description=f"Logit {i}") for i, z in enumerate(logits, 1)}
    sliders["temperature"] = widgets.FloatSlider(1.0, min=0.1, max=4, step=0.1, description="Temperature")
    return Explore(lambda temperature, **z: draw(list(z.values()), temperature), name="softmax", **sliders)
