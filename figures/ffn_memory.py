"""The feed-forward network as a memory of keys and values: figures/ffn_memory.svg"""

from canvas import GREY, MUTED, SMALL, Canvas, save

from tx_helpers.show.shapes import KEY, RESIDUAL, VALUE, WEIGHT

TITLE = "The feed-forward network as a memory"
DESCRIPTION = (
    "A vector x of width D is compared with five keys, the columns of W one. Each comparison is a dot product plus a "
    "bias, 1.8, minus 0.6, 0.4, minus 1.1 and 0.9; ReLU lets the positive ones through and sets the others to zero. "
    "Each hidden unit that fires writes its value, a row of W two, with its activation as weight. The values are added "
    "to the output of width D; the values of the silent units are not written."
)
SCORES = (1.8, -0.6, 0.4, -1.1, 0.9)  # a sketch: the notebook reads a trained translator's


def draw() -> Canvas:
    canvas = Canvas("ffn_memory", 430, title=TITLE, description=DESCRIPTION)
    canvas.heading("Keys that fire, values that are written", "FFN(x) = b₂ + Σ f(x · kᵢ + bᵢ) vᵢ, one term per unit")
    for x, name, below in ((170, "keys", "columns of W₁"), (362, "score", "x · kᵢ + bᵢ"), (486, "ReLU", "activation")):
        canvas.text(x, 108, name, bold=True, anchor="middle")
        canvas.text(x, 125, below, size=SMALL, colour=MUTED, anchor="middle")
    canvas.text(610, 108, "values", bold=True, anchor="middle")
    canvas.text(610, 125, "rows of W₂", size=SMALL, colour=MUTED, anchor="middle")
    stream = dict(fill=RESIDUAL.tint, stroke=RESIDUAL.full, colour=RESIDUAL.shade)
    canvas.box(24, 228, 60, 56, ["x", "width D"], **stream)
    canvas.box(716, 228, 60, 56, ["out", "width D"], **stream)
    for unit, score in enumerate(SCORES):
        row(canvas, 142 + 48 * unit, unit + 1, score)
    canvas.text(
        28, 408, "Unit 1 fires most, so most of its value v₁ is written; units 2 and 4 are silent.", colour=MUTED
    )
    return canvas


def row(canvas: Canvas, y: float, unit: int, score: float) -> None:
    """One hidden unit: key, score, activation, value."""
    fires, middle = score > 0, y + 18
    index = "₁₂₃₄₅"[unit - 1]
    canvas.line((86, 256), (118, middle), colour=RESIDUAL.full, thickness=1.2)
    canvas.box(120, y, 100, 36, f"k{index}", fill=KEY.tint, stroke=KEY.full, colour=KEY.shade)
    canvas.line((222, middle), (328, middle))
    canvas.text(362, middle + 5, f"{score:.1f}".replace("-", "−"), anchor="middle")
    canvas.line((394, middle), (450, middle))
    silent = (GREY.tint, GREY.full, MUTED)
    weight, ink = [(c.tint, c.full, c.shade) if fires else silent for c in (WEIGHT, VALUE)]
    activation = f"{max(score, 0):.1f}" if fires else "0"
    canvas.circle(486, middle, 17, fill=weight[0], stroke=weight[1])
    canvas.text(486, middle + 4.5, activation, anchor="middle", colour=weight[2], bold=fires)
    thickness = 1 + 2 * max(score, 0)
    if fires:
        canvas.line((508, middle), (558, middle), colour=WEIGHT.shade, thickness=thickness, arrow=False)
        canvas.line((662, middle), (714, 256), colour=VALUE.full, thickness=thickness, arrow=False, opacity=0.7)
    canvas.box(560, y, 100, 36, f"v{index}", fill=ink[0], stroke=ink[1], colour=ink[2], dash="" if fires else "4 3")


if __name__ == "__main__":
    save(draw())
