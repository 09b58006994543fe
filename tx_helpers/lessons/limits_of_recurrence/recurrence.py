"""An explorer of a gradient multiplied again and again; training that explodes; the length of a path between words."""

import math

import torch
from torch import Tensor

from tx_helpers.nn.arguments import check_numbers
from tx_helpers.show.charts import line_chart, side_by_side
from tx_helpers.show.controls import slider
from tx_helpers.show.explore import Explore
from tx_helpers.show.plots import Svg

STEPS, WIDTH = 50, 32


# --- compute ----------------------------------------------------------------------------------------------------------
def backward_norms(radius: float, *, steps: int = STEPS, width: int = WIDTH, seed: int = 0) -> Tensor:
    """‖(Uᵀ)^d g‖ / ‖g‖ for d = 0 … steps, with a random U scaled to the spectral radius `radius`. (steps + 1,), float64

    The spectral radius is the largest absolute eigenvalue: in the end each step multiplies the length by it. U is the
    linear part of ∂hₜ/∂hₜ₋₁ = diag(1 − hₜ²) U of a tanh network. Pascanu et al. 2013, section 2.1.
    """
    check_numbers("backward_norms", above=0, radius=radius)
    check_numbers("backward_norms", least=1, whole=True, steps=steps, width=width)
    generator = torch.Generator().manual_seed(seed)
    matrix = torch.randn(width, width, generator=generator, dtype=torch.float64)
    matrix *= radius / torch.linalg.eigvals(matrix).abs().max()
    gradient = torch.randn(width, generator=generator, dtype=torch.float64)
    norms = [gradient.norm()]
    for _ in range(steps):
        gradient = matrix.T @ gradient
        norms.append(gradient.norm())
    return torch.stack(norms) / norms[0]


def path_lengths(distance: int, kernel: int = 3) -> dict[str, int]:
    """How many layers or steps lie between two words so far apart, at least. Vaswani et al. 2017, table 1.

    A stack of L convolutions of width k sees (k − 1) L places back; dilated by 1, k, k², … it sees k^L − 1.
    """
    check_numbers("path_lengths", least=1, whole=True, distance=distance)
    check_numbers("path_lengths", least=2, whole=True, kernel=kernel)
    dilated = 1
    while kernel**dilated - 1 < distance:
        dilated += 1
    return {
        "recurrence": distance,
        "convolution": math.ceil(distance / (kernel - 1)),
        "dilated convolution": dilated,
        "attention": 1,
    }


def exploding_losses(clip: float, *, radius: float = 1.2, steps: int = 50) -> list[float]:
    """Losses of a recurrent layer without a tanh that learns to output the first of 50 random vectors.

    Its matrix starts with this spectral radius. A gradient longer than `clip` is shortened to it. float64
    Source of clipping: Pascanu et al. 2013, section 3.2.
    """
    check_numbers("exploding_losses", above=0, clip=clip, radius=radius)
    check_numbers("exploding_losses", least=1, whole=True, steps=steps)
    generator = torch.Generator().manual_seed(0)
    U = torch.randn(8, 8, generator=generator, dtype=torch.float64)
    U = (U * radius / torch.linalg.eigvals(U).abs().max()).requires_grad_()
    x = torch.randn(64, 50, 8, generator=generator, dtype=torch.float64)
    losses = []
    for _ in range(steps):
        h = torch.zeros_like(x[:, 0])
        for t in range(50):
            h = x[:, t] + h @ U
        loss = (h - x[:, 0]).square().mean()
        (gradient,) = torch.autograd.grad(loss, U)
        with torch.no_grad():
            U -= 0.1 * gradient * min(1.0, clip / gradient.norm().item())
        losses.append(loss.item())
    return losses


def gradient_parts(layer: torch.nn.RNN, length: int, *, generator: torch.Generator | None = None) -> Tensor:
    """What each word adds to ∂ Σ h_T / ∂ W_x, by its distance d from the last word: (length, D, D_x), float64.

    The gradient of the matrix that reads the words is a sum over the words, δ_t x_tᵀ with δ_t = ∂ Σ h_T / ∂ (W_x x_t).
    """
    check_numbers("gradient_parts", least=1, whole=True, length=length)
    weight = {name: part.detach().double() for name, part in layer.named_parameters()}
    x = torch.randn(length, layer.input_size, dtype=torch.float64, generator=generator)
    reads = (x @ weight["weight_ih_l0"].T).requires_grad_()  # W_x x_t
    h = torch.zeros(layer.hidden_size, dtype=torch.float64)
    for read in reads:
        h = torch.tanh(read + weight["weight_hh_l0"] @ h + weight["bias_ih_l0"] + weight["bias_hh_l0"])
    (deltas,) = torch.autograd.grad(h.sum(), reads)
    return torch.einsum("td,te->tde", deltas, x).flip(0)


# --- draw -------------------------------------------------------------------------------------------------------------
def draw_gradient(radius: float) -> Svg:
    """The length of the gradient over the steps back, on a log scale."""
    norms = backward_norms(radius)
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
    return side_by_side([chart], alt=describe_gradient(radius, norms[-1].item()))


# --- describe ---------------------------------------------------------------------------------------------------------
def describe_gradient(radius: float, end: float) -> str:
    """How long the gradient is at the end, and what has become of it."""
    fate = "vanishes" if end < 0.01 else "explodes" if end > 100 else "survives"
    return f"Spectral radius {radius:.2f}: after {STEPS} steps the gradient is {end:.1e} times as long. It {fate}."


# --- bind -------------------------------------------------------------------------------------------------------------
def gradient_explorer() -> Explore:
    """The spectral radius of the recurrent matrix, and the length of the gradient over 50 steps."""
    radius = slider("Spectral radius", 0.4, 1.6, step=0.05, start=0.8)
    return Explore(draw_gradient, name="spectral-radius", told=True, radius=radius)
