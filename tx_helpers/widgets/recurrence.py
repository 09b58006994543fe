"""Two explorers of notebook 01: a gradient multiplied again and again, and the length of a path between two words."""

import math

import torch
from ipywidgets import FloatSlider, IntSlider
from torch import Tensor

from tx_helpers.show.charts import bar_chart, line_chart, side_by_side
from tx_helpers.show.explore import Explore
from tx_helpers.show.plots import Svg

STEPS, WIDTH = 50, 32


def backward_norms(radius: float, *, steps: int = STEPS, width: int = WIDTH, seed: int = 0) -> Tensor:
    """‖(Uᵀ)^d g‖ / ‖g‖ for d = 0 … steps, with a random U scaled to the spectral radius `radius`. (steps + 1,), float64

    The spectral radius is the largest absolute eigenvalue: what a power of U grows or shrinks by, step for step, in the
    end. It is the linear part of ∂hₜ/∂hₜ₋₁ = diag(1 − hₜ²) U of a tanh network. Pascanu et al. 2013, section 2.1.
    """
    if not radius > 0:
        raise ValueError(f"backward_norms: radius={radius}, expected more than 0")
    generator = torch.Generator().manual_seed(seed)
    matrix = torch.randn(width, width, generator=generator, dtype=torch.float64)
    matrix *= radius / torch.linalg.eigvals(matrix).abs().max()
    gradient = torch.randn(width, generator=generator, dtype=torch.float64)
    norms = [gradient.norm()]
    for _ in range(steps):
        gradient = matrix.T @ gradient
        norms.append(gradient.norm())
    return torch.stack(norms) / norms[0]


def draw_gradient(radius: float) -> Svg:
    """The length of the gradient over the steps back, on a log scale, and what becomes of it in words."""
    norms = backward_norms(radius)
    end = norms[-1].item()
    fate = "vanishes" if end < 0.01 else "explodes" if end > 100 else "survives"
    limits = (1e-20, 1e10)
    chart = line_chart(
        {f"spectral radius {radius:.2f}": (range(STEPS + 1), norms.clamp(*limits).tolist())},
        size=(680, 280),
        title="A gradient on its way back",
        xlabel="steps back",
        ylabel="length",
        ylim=limits,
        logy=True,
    )
    alt = f"Spectral radius {radius:.2f}: after {STEPS} steps the gradient is {end:.1e} times as long. It {fate}."
    return side_by_side([chart], alt=alt)


def gradient_explorer(*, name: str = "spectral-radius") -> Explore:
    """The spectral radius of the recurrent matrix, and the length of the gradient over 50 steps."""
    radius = FloatSlider(value=0.8, min=0.4, max=1.6, step=0.05, description="Spectral radius")
    return Explore(draw_gradient, name=name, radius=radius)


def path_lengths(distance: int, kernel: int = 3) -> dict[str, int]:
    """How many layers or steps lie between two words so far apart, at least. Vaswani et al. 2017, table 1.

    A stack of L convolutions of width k sees (k − 1) L places back; dilated by 1, k, k², … it sees k^L − 1.
    """
    if distance < 1 or kernel < 2:
        raise ValueError(f"path_lengths: distance={distance}, kernel={kernel}; expected at least 1 and 2")
    dilated = 1
    while kernel**dilated - 1 < distance:
        dilated += 1
    return {
        "recurrence": distance,
        "convolution": math.ceil(distance / (kernel - 1)),
        "dilated convolution": dilated,
        "attention": 1,
    }


def draw_paths(distance: int, kernel: int) -> Svg:
    """The steps of the four architectures as bars."""
    lengths = path_lengths(distance, kernel)
    chart = bar_chart(  # one step among hundreds is still seen
        {f"{name}: {length}": max(0.01, length / max(lengths.values())) for name, length in lengths.items()},
        size=(680, 220),
        title=f"Steps between two words {distance} places apart (kernel {kernel})",
        form="",
    )
    said = ", ".join(f"{name} {length}" for name, length in lengths.items())
    return side_by_side([chart], alt=f"{distance} places apart, kernel {kernel}: {said}.")


def path_explorer(*, name: str = "path-length") -> Explore:
    """Distance and width of the kernel, and the steps of four architectures."""
    return Explore(
        draw_paths,
        name=name,
        distance=IntSlider(value=8, min=1, max=512, description="Distance"),
        kernel=IntSlider(value=3, min=2, max=9, description="Kernel width"),
    )
