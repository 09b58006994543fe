"""What Muon's five iterations do to a matrix: an ellipse becomes a circle, beside Adam's step for the same gradient.

    muon_explorer()

A gradient of 2 × 2 numbers takes the unit circle to an ellipse: its half axes are the singular values, how far a step
moves the strong and the weak direction. Adam's first step is the sign of each entry; Muon's is what the iterations of
`training.optimizers.orthogonalise` leave.
"""

import math

import torch
from torch import Tensor

from tx_helpers.nn.arguments import check_numbers
from tx_helpers.show.controls import slider, stops
from tx_helpers.show.explore import Explore
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import EDGE, INK, MUTED, PINK, card, line, setting, shape, words

A, B, C = 3.4445, -4.7750, 2.0315  # of the polynomial: Jordan et al. 2024
WEAK = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
TURN = math.radians(25)  # of the directions that come in
PANEL, UNIT = 230, 78


# --- compute ----------------------------------------------------------------------------------------------------------
def gradient(weak: float, angle: float) -> Tensor:
    """The matrix (2, 2) with singular values 1 and `weak`, whose strong direction comes out at `angle` degrees."""
    return rotation(math.radians(angle)) @ torch.diag(torch.tensor([1.0, weak]).double()) @ rotation(TURN).mT


def rotation(angle: float) -> Tensor:
    """The matrix (2, 2) that turns by an angle in radians."""
    cosine, sine = math.cos(angle), math.sin(angle)
    return torch.tensor([[cosine, -sine], [sine, cosine]], dtype=torch.float64)


def iterated(G: Tensor, iterations: int) -> Tensor:
    """X ← aX + bXXᵀX + c(XXᵀ)²X, from G divided by its norm."""
    x = G / G.norm()
    for _ in range(iterations):
        squared = x @ x.mT
        x = A * x + (B * squared + C * squared @ squared) @ x
    return x


def steps(weak: float, angle: float, iterations: int) -> dict[str, Tensor]:
    """The three steps (2, 2); gradient and Adam's are scaled to 1 in their strongest direction."""
    check_numbers("muon_explorer", above=0, most=1, weak=weak)
    check_numbers("muon_explorer", least=0, whole=True, iterations=iterations)
    G = gradient(weak, angle)
    return {"Gradient": G, "Adam": G.sign() / torch.linalg.matrix_norm(G.sign(), 2), "Muon": iterated(G, iterations)}


# --- draw -------------------------------------------------------------------------------------------------------------
def draw_steps(weak: float, angle: float, iterations: int) -> Svg:
    """Three panels: the circle, and the ellipse that a step makes of it, with its strong and its weak direction."""
    parts = []
    for place, (name, step) in enumerate(steps(weak, angle, iterations).items()):
        parts += _panel(20 + PANEL * place, name, step, iterations)
    return card(40 + 3 * PANEL, 272, parts, describe_steps(weak, angle, iterations))


def _panel(left: float, name: str, step: Tensor, iterations: int) -> list[str]:
    x, y = left + PANEL / 2, 132
    U, sizes, _ = torch.linalg.svd(step)
    strong, weak = sizes.tolist()
    turn = math.degrees(math.atan2(U[1, 0].item(), U[0, 0].item()))
    said = f"{name}, {iterations} iterations" if name == "Muon" else name
    parts = [
        words(x, 24, said, anchor="middle", font_weight="bold"),
        shape("circle", cx=x, cy=y, r=UNIT, fill="none", stroke=MUTED, stroke_dasharray="3 3"),
        shape(
            "ellipse",
            cx=x,
            cy=y,
            rx=UNIT * strong,
            ry=max(UNIT * weak, 0.5),
            transform=f"rotate({-turn:.2f} {x:g} {y:g})",
            fill=PINK.tint,
            fill_opacity=0.6,
            stroke=EDGE,
        ),
    ]
    for number, (size, colour) in enumerate(((strong, PINK.full), (weak, INK))):
        across, up = (UNIT * size * U[:, number]).tolist()
        parts.append(line(x - across, y + up, x + across, y - up, colour, stroke_width=3))
    parts.append(words(x, 240, f"strong {strong:.2f}", fill=PINK.shade, anchor="middle"))
    parts.append(words(x, 260, f"weak {weak:.2f}", fill=INK, anchor="middle"))
    return [setting("iterations", (iterations + 1) % 6, parts)] if name == "Muon" else parts


# --- describe ---------------------------------------------------------------------------------------------------------
def describe_steps(weak: float, angle: float, iterations: int) -> str:
    """How far each of the three steps moves the strong and the weak direction."""
    sizes = {name: torch.linalg.svdvals(step).tolist() for name, step in steps(weak, angle, iterations).items()}
    return (
        f"How far a step moves the strong and the weak direction: gradient {sizes['Gradient'][0]:.2f} and "
        f"{sizes['Gradient'][1]:.2f}; Adam's first step {sizes['Adam'][0]:.2f} and {sizes['Adam'][1]:.2f}; Muon's "
        f"after {iterations} iterations {sizes['Muon'][0]:.2f} and {sizes['Muon'][1]:.2f}."
    )


# --- bind -------------------------------------------------------------------------------------------------------------
def muon_explorer() -> Explore:
    """How weak the weak direction is, where the strong one points, and how many iterations have run."""
    weak = stops("Weak direction", WEAK, 0.1)
    angle = slider("Angle", 0, 90, step=15, start=60)
    iterations = slider("Iterations", 0, 5)
    return Explore(draw_steps, name="muon", weak=weak, angle=angle, iterations=iterations)
