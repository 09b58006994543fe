"""A recurrent network, rolled up and unrolled over four words: figures/unrolled_rnn.svg"""

from canvas import BLUE, GREEN, MUTED, ORANGE, Canvas, save

TITLE = "A recurrent network, unrolled"
DESCRIPTION = (
    "On the left the network as it is written: a box f that reads a word x and its own state h. On the right the same "
    "box four times, for the words four, hundred, twenty, one: each passes its state to the next, from h0 = 0 to h4. "
    "Above, a long arrow from right to left: the gradient of a loss at h4 passes all four boxes to reach the word "
    "four, and is multiplied by the same matrix at each."
)
WORDS = ("four", "hundred", "twenty", "one")
LEFT, STEP, TOP = 300, 122, 168


def draw() -> Canvas:
    canvas = Canvas("unrolled_rnn", 366, title=TITLE, description=DESCRIPTION)
    canvas.heading("One box, used again and again", "The state h is all that passes from word to word.")
    rolled(canvas)
    canvas.text(176, TOP + 35, "=", size=26, colour=MUTED, anchor="middle")
    for number, word in enumerate(WORDS):
        unrolled(canvas, number, word)
    canvas.line((LEFT - 84, TOP + 26), (LEFT - 12, TOP + 26), colour=GREEN.full)
    canvas.text(LEFT - 50, TOP + 18, "h₀ = 0", colour=GREEN.shade, anchor="middle")
    right = LEFT + 3 * STEP + 35
    canvas.line((right, TOP - 34), (LEFT + 35, TOP - 34), colour=ORANGE.full, thickness=2)
    words = "the gradient on its way back: one factor ∂hₜ/∂hₜ₋₁ a step"
    canvas.text((LEFT + 35 + right) / 2, TOP - 46, words, colour=ORANGE.shade, anchor="middle")
    canvas.text(
        28, 342, "f is the same in every box: hₜ = tanh(xₜ W + hₜ₋₁ U + b). T words take T steps, one after the other."
    )
    return canvas


def rolled(canvas: Canvas) -> None:
    canvas.box(72, TOP, 64, 52, "f", fill=GREEN.tint, stroke=GREEN.full, colour=GREEN.shade)
    canvas.box(72, TOP + 98, 64, 30, "x", fill=BLUE.tint, stroke=BLUE.full, colour=BLUE.shade)
    canvas.line((104, TOP + 98), (104, TOP + 54))
    loop = [(104, TOP), (104, TOP - 26), (44, TOP - 26), (44, TOP + 26), (70, TOP + 26)]
    canvas.line(*loop, colour=GREEN.full)
    canvas.text(50, TOP - 34, "h", colour=GREEN.shade)


def unrolled(canvas: Canvas, number: int, word: str) -> None:
    x = LEFT + number * STEP
    canvas.box(x, TOP, 70, 52, "f", fill=GREEN.tint, stroke=GREEN.full, colour=GREEN.shade)
    canvas.box(x - 8, TOP + 98, 86, 30, word, fill=BLUE.tint, stroke=BLUE.full, colour=BLUE.shade)
    canvas.line((x + 35, TOP + 98), (x + 35, TOP + 54))
    canvas.line((x + 72, TOP + 26), (x + STEP - 3, TOP + 26), colour=GREEN.full)
    canvas.text(x + 96, TOP + 18, f"h{'₁₂₃₄'[number]}", colour=GREEN.shade, anchor="middle")


if __name__ == "__main__":
    save(draw())
