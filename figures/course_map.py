"""Which notebook builds which part of the model: figures/course_map.svg"""

import textwrap

from canvas import BLUE, GOLD, GREEN, INK, MUTED, ORANGE, PAPER, PINK, SMALL, Canvas, save

from tx_helpers.exercises.course import LESSONS, Lesson

TITLE = "The map of the course: which notebook builds which part of the Transformer"
# Those that have a place on a part of the model, drawn by hand. All others stand below, in the course's order.
ON_THE_MODEL = [
    *("start_here", "limits_of_recurrence", "tokens_and_embeddings", "positional_encodings", "self_attention"),
    *("multi_head_attention", "masking", "feed_forward", "full_model", "training", "debugging", "decoding"),
    "a_model_that_writes",
]
BEYOND = [lesson for name, lesson in LESSONS.items() if name not in ON_THE_MODEL]
IN_A_ROW = 5


def numbered(lesson: Lesson) -> str:
    return f"{lesson.number} {lesson.title}"


DESCRIPTION = (
    "Each notebook is a number on the part of the model that it builds. First come {start_here} and "
    "{limits_of_recurrence}. On the left the parts, from the words downward: {tokens_and_embeddings}, "
    "{positional_encodings}, and within the block, which is repeated N times, {multi_head_attention} with "
    "{self_attention} and {masking} inside it, then {feed_forward}. On the right the whole: {full_model}, an encoder "
    "and a decoder joined by the memory; {training}, a loss that falls; {debugging}; {decoding}, word after word; "
    "{a_model_that_writes}. Below, what lies beyond: "
).format(**{name: numbered(LESSONS[name]) for name in ON_THE_MODEL}) + f"{', '.join(map(numbered, BEYOND))}."
YELLOW = dict(fill=GOLD.tint, stroke=GOLD.full, colour=GOLD.shade)
BLUISH = dict(fill=BLUE.tint, stroke=BLUE.full, colour=BLUE.shade)
GREENISH = dict(fill=GREEN.tint, stroke=GREEN.full, colour=GREEN.shade)
REDDISH = dict(fill=ORANGE.tint, stroke=ORANGE.full, colour=ORANGE.shade)
PINKISH = dict(fill=PINK.tint, stroke=PINK.full, colour=PINK.shade)


def draw() -> Canvas:
    rows = -(-len(BEYOND) // IN_A_ROW)
    canvas = Canvas("course_map", 550 + 62 * rows, title=TITLE, description=DESCRIPTION)
    canvas.heading("The map of the course", "Each number is a notebook, on the part of the model that it builds.")
    stop(canvas, 24, 76, 368, 50, "start_here", ["Start here", "a translator within seconds"], YELLOW)
    recurrence = ["The limits of recurrence", "the world before attention"]
    stop(canvas, 408, 76, 368, 50, "limits_of_recurrence", recurrence, YELLOW)
    draw_parts(canvas)
    draw_whole(canvas)
    canvas.text(28, 524, "Beyond", bold=True)
    for place, lesson in enumerate(BEYOND):
        row, column = divmod(place, IN_A_ROW)
        x, y, lines = 24 + 152 * column, 536 + 62 * row, textwrap.wrap(lesson.short, 12)
        stop(canvas, x, y, 144, 54, lesson.name, lines, PINKISH, bold=False)
    return canvas


def stop(canvas, x, y, width, height, lesson, lines, look, *, top=None, bold=True) -> None:
    """A part and, at its left, the number of its lesson; top: how far down number and words stand, if not halfway."""
    canvas.box(x, y, width, height, fill=look["fill"], stroke=look["stroke"], radius=8)
    middle = y + (height / 2 if top is None else top)
    canvas.circle(x + 23, middle, 13, fill=look["colour"])
    canvas.text(x + 23, middle + 4.5, LESSONS[lesson].number, size=SMALL, colour=PAPER, anchor="middle", bold=True)
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
    stop(canvas, 40, 178, 336, 38, "tokens_and_embeddings", ["Tokens and embeddings"], BLUISH)
    stop(canvas, 40, 236, 336, 38, "positional_encodings", ["Positional encodings"], BLUISH)
    for into, out in ((324, 374), (414, 446)):
        canvas.line((rail, into), (96, into), colour=BLUE.full)
        canvas.line((96, out), (rail + 8, out), colour=BLUE.full)
        canvas.plus(rail, out, BLUE.full)
    stop(canvas, 96, 302, 280, 90, "multi_head_attention", ["Multi-head attention"], GREENISH, top=22)
    white = GREENISH | dict(fill="#FFFFFF")
    stop(canvas, 100, 346, 156, 38, "self_attention", ["Self-attention"], white)
    stop(canvas, 260, 346, 112, 38, "masking", ["Masking"], white)
    stop(canvas, 96, 404, 280, 54, "feed_forward", ["Feed-forward", "residuals, normalisation"], BLUISH)


def draw_whole(canvas: Canvas) -> None:
    canvas.box(408, 142, 368, 356, fill="#FFFFFF", stroke="#CBD2D9", radius=10)
    canvas.text(424, 166, "The whole", bold=True)
    stop(canvas, 424, 178, 336, 142, "full_model", ["The full model"], REDDISH | dict(fill="#FFFFFF"), top=22)
    canvas.box(440, 222, 120, 50, "encoder", **BLUISH)
    canvas.box(624, 222, 120, 50, "decoder", **REDDISH)
    canvas.line((560, 247), (624, 247), colour=GREEN.full, thickness=2.4)
    canvas.text(590, 238, "memory", size=SMALL, colour=GREEN.shade, anchor="middle")
    canvas.line((500, 294), (500, 272), colour=BLUE.full)
    canvas.line((684, 272), (684, 294), colour=ORANGE.full)
    canvas.text(500, 308, "twenty-one", size=SMALL, colour=BLUE.shade, anchor="middle")
    canvas.text(684, 308, "ein und zwanzig", size=SMALL, colour=ORANGE.shade, anchor="middle")
    white = REDDISH | dict(fill="#FFFFFF")
    stop(canvas, 424, 328, 190, 50, "training", ["Training", "the loss falls"], white)
    canvas.line((552, 336), (552, 370), (606, 370), colour=MUTED, thickness=1.2, arrow=False)
    canvas.line(
        (552, 338), (560, 342), (570, 356), (585, 364), (604, 367), colour=ORANGE.full, thickness=2, arrow=False
    )
    stop(canvas, 622, 328, 138, 50, "debugging", ["Debugging"], white)
    stop(canvas, 424, 386, 336, 50, "decoding", ["Decoding", "word after word"], white)
    for place, (word, width) in enumerate((("ein", 36), ("und", 38), ("…", 30))):
        x = 606 + 54 * place
        canvas.box(x, 399, width, 24, word, **REDDISH, size=SMALL, bold=False)
        if place:
            canvas.line((x - 54 + (36, 38)[place - 1], 411), (x, 411), colour=INK, thickness=1.3)
    writer = ["A model that writes", "stories, without an encoder"]
    stop(canvas, 424, 444, 336, 44, "a_model_that_writes", writer, white)


if __name__ == "__main__":
    save(draw())
