"""Which notebook builds which part of the model: figures/course_map.svg"""

from canvas import BLUE, GOLD, GREEN, INK, MUTED, ORANGE, PAPER, PINK, SMALL, Canvas, save

TITLE = "The map of the course: which notebook builds which part of the Transformer"
DESCRIPTION = (
    "Each notebook is a number on the part of the model that it builds. First come 00 Start here and 01 The "
    "limits of recurrence. On the left the parts, from the words downward: 02 Tokens and embeddings, 03 "
    "Positional encodings, and within the block, which is repeated N times, 05 Multi-head attention with 04 "
    "Self-attention and 06 Masking inside it, then 07 Feed-forward, residuals, normalisation. On the right the "
    "whole: 08 The full model, an encoder and a decoder joined by the memory; 09 Training, a loss that falls; 10 "
    "Debugging; 11 Decoding, word after word; 12 A model that writes. Below, what lies beyond: 13 Positions inside "
    "attention, 14 Families, 15 Modern Transformers, 16 Scaling up, 17 Inside the model, 18 Reference."
)
YELLOW = dict(fill=GOLD.tint, stroke=GOLD.full, colour=GOLD.shade)
BLUISH = dict(fill=BLUE.tint, stroke=BLUE.full, colour=BLUE.shade)
GREENISH = dict(fill=GREEN.tint, stroke=GREEN.full, colour=GREEN.shade)
REDDISH = dict(fill=ORANGE.tint, stroke=ORANGE.full, colour=ORANGE.shade)
PINKISH = dict(fill=PINK.tint, stroke=PINK.full, colour=PINK.shade)


def draw() -> Canvas:
    canvas = Canvas("course_map", 612, title=TITLE, description=DESCRIPTION)
    canvas.heading("The map of the course", "Each number is a notebook, on the part of the model that it builds.")
    stop(canvas, 24, 76, 368, 50, 0, ["Start here", "a translator within seconds"], YELLOW)
    stop(canvas, 408, 76, 368, 50, 1, ["The limits of recurrence", "the world before attention"], YELLOW)
    draw_parts(canvas)
    draw_whole(canvas)
    canvas.text(28, 524, "Beyond", bold=True)
    beyond = {
        13: ["Positions", "in attention"],
        14: ["Families"],
        15: ["Modern", "designs"],
        16: ["Scaling up"],
        17: ["Inside", "the model"],
        18: ["Reference"],
    }
    for place, (number, lines) in enumerate(beyond.items()):
        stop(canvas, 24 + 126 * place, 536, 120, 54, number, lines, PINKISH, bold=False)
    return canvas


def stop(canvas, x, y, width, height, number, lines, look, *, top=None, bold=True) -> None:
    """A part and, at its left, the number of its notebook; top: how far down number and words stand, if not halfway."""
    canvas.box(x, y, width, height, fill=look["fill"], stroke=look["stroke"], radius=8)
    middle = y + (height / 2 if top is None else top)
    canvas.circle(x + 23, middle, 13, fill=look["colour"])
    canvas.text(x + 23, middle + 4.5, f"{number:02}", size=SMALL, colour=PAPER, anchor="middle", bold=True)
    baseline = middle + 5 - 8.5 * (len(lines) - 1)
    for row, line in enumerate(lines):
        plain = row > 0 and line[0].islower() and bold
        size = SMALL if plain else 13 if not bold else 14
        shade = MUTED if plain else look["colour"]
        canvas.text(x + 42, baseline + 17 * row, line, size=size, colour=shade, bold=bold and not plain)


def draw_parts(canvas: Canvas) -> None:
    canvas.box(24, 142, 368, 356, fill="#FFFFFF", stroke="#CBD2D9", radius=10)
    canvas.text(40, 166, "The parts", bold=True)
    canvas.box(32, 292, 352, 178, stroke=BLUE.full, dash="5 4", radius=10)
    canvas.text(378, 488, "a block, repeated N times", size=SMALL, colour=BLUE.shade, anchor="end")
    rail = 60
    canvas.line((rail, 214), (rail, 236), colour=BLUE.full, thickness=3)
    canvas.line((rail, 274), (rail, 492), colour=BLUE.full, thickness=3)
    stop(canvas, 40, 178, 336, 38, 2, ["Tokens and embeddings"], BLUISH)
    stop(canvas, 40, 236, 336, 38, 3, ["Positional encodings"], BLUISH)
    for into, out in ((324, 374), (414, 446)):
        canvas.line((rail, into), (96, into), colour=BLUE.full)
        canvas.line((96, out), (rail + 8, out), colour=BLUE.full)
        canvas.plus(rail, out, BLUE.full)
    stop(canvas, 96, 302, 280, 90, 5, ["Multi-head attention"], GREENISH, top=22)
    white = GREENISH | dict(fill="#FFFFFF")
    stop(canvas, 100, 346, 156, 38, 4, ["Self-attention"], white)
    stop(canvas, 260, 346, 112, 38, 6, ["Masking"], white)
    stop(canvas, 96, 404, 280, 54, 7, ["Feed-forward", "residuals, normalisation"], BLUISH)


def draw_whole(canvas: Canvas) -> None:
    canvas.box(408, 142, 368, 356, fill="#FFFFFF", stroke="#CBD2D9", radius=10)
    canvas.text(424, 166, "The whole", bold=True)
    stop(canvas, 424, 178, 336, 142, 8, ["The full model"], REDDISH | dict(fill="#FFFFFF"), top=22)
    canvas.box(440, 222, 120, 50, "encoder", **BLUISH)
    canvas.box(624, 222, 120, 50, "decoder", **REDDISH)
    canvas.line((560, 247), (624, 247), colour=GREEN.full, thickness=2.4)
    canvas.text(590, 238, "memory", size=SMALL, colour=GREEN.shade, anchor="middle")
    canvas.line((500, 294), (500, 272), colour=BLUE.full)
    canvas.line((684, 272), (684, 294), colour=ORANGE.full)
    canvas.text(500, 308, "twenty-one", size=SMALL, colour=BLUE.shade, anchor="middle")
    canvas.text(684, 308, "ein und zwanzig", size=SMALL, colour=ORANGE.shade, anchor="middle")
    white = REDDISH | dict(fill="#FFFFFF")
    stop(canvas, 424, 328, 190, 50, 9, ["Training", "the loss falls"], white)
    canvas.line((552, 336), (552, 370), (606, 370), colour=MUTED, thickness=1.2, arrow=False)
    canvas.line(
        (552, 338), (560, 342), (570, 356), (585, 364), (604, 367), colour=ORANGE.full, thickness=2, arrow=False
    )
    stop(canvas, 622, 328, 138, 50, 10, ["Debugging"], white)
    stop(canvas, 424, 386, 336, 50, 11, ["Decoding", "word after word"], white)
    for place, (word, width) in enumerate((("ein", 36), ("und", 38), ("…", 30))):
        x = 606 + 54 * place
        canvas.box(x, 399, width, 24, word, **REDDISH, size=SMALL, bold=False)
        if place:
            canvas.line((x - 54 + (36, 38)[place - 1], 411), (x, 411), colour=INK, thickness=1.3)
    stop(canvas, 424, 444, 336, 44, 12, ["A model that writes", "stories, without an encoder"], white)


if __name__ == "__main__":
    save(draw())
