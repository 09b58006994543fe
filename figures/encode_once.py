"""The source is encoded once, then the decoder goes step by step with a growing cache: figures/encode_once.svg"""

from canvas import BLUE, GREEN, GREY, INK, MUTED, ORANGE, PINK, SMALL, Canvas, save

TITLE = "Encode once, decode step by step"
DESCRIPTION = (
    "At the top the four words four, hundred, twenty, one pass the encoder once and become the memory: a key and "
    "a value for each word, kept for all steps. Below, six steps of the decoder. At step 1 it is fed <bos> and, "
    "looking at the memory, says vier; at step 2 it is fed vier and says hundert; then ein, und, zwanzig, and at "
    "step 6 <eos>, the end. An arrow leads from each word that was said to the place where it is fed next. At "
    "each step only the newest word is computed; the keys and values of the words before it rest in the cache, "
    "which grows from one to six places."
)
SOURCE = ["four", "hundred", "twenty", "one"]
TARGET = ["<bos>", "vier", "hundert", "ein", "und", "zwanzig", "<eos>"]
STEPS = len(TARGET) - 1
TOP, PITCH, HEIGHT = 262, 54, 30  # of the rows of steps
LEFT, CELL, NEXT = 84, 66, 72  # of the cells of the cache
DECODER, SAID = (556, 88), (688, 84)  # left edge and width


def draw() -> Canvas:
    canvas = Canvas("encode_once", 642, title=TITLE, description=DESCRIPTION)
    canvas.heading(
        "Encode once, decode step by step",
        "The source is read as a whole; the target is said word by word, until <eos>.",
    )
    draw_encoder(canvas)
    draw_ways_back(canvas)
    x, width = DECODER
    bottom = TOP + PITCH * (STEPS - 1) + HEIGHT
    canvas.line((x + width / 2, 144), (x + width / 2, TOP - 14), colour=GREEN.full, thickness=2.4)
    canvas.text(x + width / 2 + 12, 176, "keys and values,", size=SMALL, colour=GREEN.shade)
    canvas.text(x + width / 2 + 12, 193, "the same at each step", size=SMALL, colour=GREEN.shade)
    canvas.box(x, TOP - 14, width, bottom - TOP + 28, fill=ORANGE.tint, stroke=ORANGE.full, radius=10)
    canvas.text(x + width / 2, TOP + 8, "decoder", colour=ORANGE.shade, anchor="middle", bold=True)
    canvas.text(LEFT, TOP - 40, "What the decoder knows of the target", bold=True)
    canvas.text(LEFT, TOP - 22, "keys and values (B, H, t, K); t is the number of the step", size=SMALL, colour=MUTED)
    canvas.text(SAID[0], TOP - 40, "next word", bold=True)
    canvas.text(SAID[0], TOP - 22, "(B, 1, V)", size=SMALL, colour=MUTED)
    for step in range(STEPS):
        draw_step(canvas, step)
    draw_legend(canvas, bottom + 34)
    return canvas


def draw_encoder(canvas: Canvas) -> None:
    y = 82
    for number, word in enumerate(SOURCE):
        look = dict(fill=BLUE.tint, stroke=BLUE.full, colour=BLUE.shade)
        canvas.box(28 + 68 * number, y + 16, 64, 30, word, **look, size=SMALL, bold=False)
    canvas.line((300, y + 31), (330, y + 31), colour=BLUE.full, thickness=2.4)
    encoder = ["encoder", "runs once"]
    canvas.box(330, y + 4, 100, 54, encoder, fill=BLUE.tint, stroke=BLUE.full, colour=BLUE.shade, radius=10)
    canvas.line((430, y + 31), (468, y + 31), colour=GREEN.full, thickness=2.4)
    canvas.box(468, y, 304, 62, fill="#FFFFFF", stroke=GREEN.full, thickness=2, radius=10)
    canvas.text(480, y + 19, "memory (B, S, D)", size=SMALL, colour=GREEN.shade, bold=True)
    for number, word in enumerate(SOURCE):
        look = dict(fill=GREEN.tint, stroke=GREEN.full, colour=GREEN.shade)
        canvas.box(478 + 72 * number, y + 28, 68, 26, word, **look, size=SMALL, bold=False)


def draw_ways_back(canvas: Canvas) -> None:
    """From the word that was said to its place in the next row; drawn first, so that it passes behind the decoder."""
    for step in range(STEPS - 1):
        x, y = SAID[0] + SAID[1] / 2, TOP + PITCH * step + HEIGHT
        place = LEFT + NEXT * (step + 1) + CELL / 2
        canvas.line((x, y), (x, y + 11), (place, y + 11), (place, y + 24), colour=MUTED, thickness=1.3, dash="4 3")


def draw_step(canvas: Canvas, step: int) -> None:
    y = TOP + PITCH * step
    canvas.text(28, y + 20, f"step {step + 1}", colour=MUTED)
    for place in range(STEPS):
        where = (LEFT + NEXT * place, y, CELL, HEIGHT)
        if place > step:
            canvas.box(*where, stroke="#CBD2D9", dash="2 4", thickness=1)
        elif place < step:
            canvas.box(*where, TARGET[place], fill=GREY.tint, stroke=GREY.full, colour=INK, size=13, bold=False)
        else:
            canvas.box(*where, TARGET[place], **look(TARGET[place]), thickness=2.2, size=13)
    right = LEFT + NEXT * (STEPS - 1) + CELL
    x, width = DECODER
    canvas.line((right + 4, y + 15), (x, y + 15))
    canvas.line((x + width, y + 15), (SAID[0], y + 15))
    canvas.box(SAID[0], y, SAID[1], HEIGHT, TARGET[step + 1], **look(TARGET[step + 1]))


def look(word: str) -> dict[str, str]:
    if word.startswith("<"):
        return dict(fill=PINK.tint, stroke=PINK.full, colour=PINK.shade)
    return dict(fill=ORANGE.tint, stroke=ORANGE.full, colour=ORANGE.shade)


def draw_legend(canvas: Canvas, y: float) -> None:
    canvas.box(28, y, 40, 22, fill=ORANGE.tint, stroke=ORANGE.full, thickness=2.2)
    canvas.text(76, y + 16, "fed and computed at this step: (B, 1, D)", size=SMALL, colour=MUTED)
    canvas.box(368, y, 40, 22, fill=GREY.tint, stroke=GREY.full)
    canvas.text(416, y + 16, "computed before, kept in the cache", size=SMALL, colour=MUTED)


if __name__ == "__main__":
    save(draw())
