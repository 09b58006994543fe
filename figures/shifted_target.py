"""Teacher forcing: what the decoder reads and what it is asked for: figures/shifted_target.svg"""

from canvas import BLUE, GREY, INK, MUTED, ORANGE, PINK, SMALL, Canvas, save

TITLE = "Teacher forcing: the target is the decoder's input shifted by one word"
DESCRIPTION = (
    "A batch of two pairs. For 'four hundred twenty-one' the decoder reads <bos> vier hundert ein und zwanzig and"
    " is asked for vier hundert ein und zwanzig <eos>: below each word that is read stands the word that follows "
    "it. Slanted lines show that each word of the target stands one place further right in the input. For 'seven'"
    " it reads <bos> sieben and is asked for sieben <eos>; the other four places of both are padding, greyed, not"
    " counted in the loss. Below, the causal mask as a triangle of six rows: position 4 sees <bos>, vier, "
    "hundert, ein and must name und. So one pass trains every position at once."
)
LEFT, STEP, WORD = 196, 97, 86  # first column, from column to column, width of a word
PAD = "<pad>"
PAIRS = [("four hundred twenty-one", ["vier", "hundert", "ein", "und", "zwanzig"]), ("seven", ["sieben"])]
T = 6


def draw() -> Canvas:
    canvas = Canvas("shifted_target", 666, title=TITLE, description=DESCRIPTION)
    canvas.heading(
        "Teacher forcing: the target is the input, shifted by one",
        "A batch of B = 2 pairs and T = 6 positions. A dotted line joins a word that is read",
        "with the same word of the target, one position earlier.",
    )
    for number in range(T):
        canvas.text(centre(number), 104, f"position {number + 1}", size=SMALL, colour=MUTED, anchor="middle")
    for (source, words), y in zip(PAIRS, (120, 272), strict=True):
        draw_pair(canvas, y, source, padded(["<bos>", *words]), padded([*words, "<eos>"]))
    draw_mask(canvas, 432, ["<bos>", *PAIRS[0][1]], [*PAIRS[0][1], "<eos>"])
    return canvas


def centre(column: int) -> float:
    return LEFT + column * STEP + WORD / 2


def padded(words: list[str]) -> list[str]:
    return words + [PAD] * (T - len(words))


def draw_pair(canvas: Canvas, y: float, source: str, read: list[str], asked: list[str]) -> None:
    """One row of the batch: source on top, decoder input, target."""
    canvas.box(18, y - 4, 764, 140, fill="#FFFFFF", stroke="#CBD2D9", radius=10, thickness=1)
    canvas.text(34, y + 21, "source", size=SMALL, colour=MUTED)
    canvas.text(LEFT, y + 21, source, colour=BLUE.shade, bold=True)
    top, height = y + 36, 28
    bottom = y + 98
    canvas.text(34, top + 19, "decoder input", bold=True)
    canvas.text(34, bottom + 19, "target", bold=True)
    for column in range(1, T):
        if read[column] != PAD:  # the same word, asked for one position earlier
            start, end = (centre(column) - 14, top + height), (centre(column - 1) + 14, bottom)
            canvas.line(start, end, colour=ORANGE.full, thickness=1.2, dash="3 4", arrow=False)
    for column in range(T):
        shade = MUTED if asked[column] == PAD else INK
        canvas.line((centre(column), top + height), (centre(column), bottom), colour=shade)
        draw_word(canvas, column, top, read[column])
        draw_word(canvas, column, bottom, asked[column])


def draw_word(canvas: Canvas, column: int, y: float, word: str) -> None:
    canvas.box(LEFT + column * STEP, y, WORD, 28, word, **look(word), bold=False)


def draw_mask(canvas: Canvas, y: float, read: list[str], asked: list[str]) -> None:
    """Row t: the inputs that position t sees; then what it is asked for."""
    canvas.text(34, y + 5, "What each position sees, and what it must predict", bold=True)
    said = [
        "The causal mask hides",
        "what comes later. So one",
        "pass asks all positions",
        "at once, each as if its",
        "word were the last.",
        "",
    ]
    said += ["Padding stands at the", "end: no word sees it,", "and no loss counts it."]
    for number, line in enumerate(said):
        if line:
            canvas.text(34, y + 38 + 18 * number, line, size=SMALL, colour=MUTED)
    cell, pitch, left, right = 66, 70, 224, 684
    for row in range(T):
        top = y + 22 + 33 * row
        canvas.text(left - 10, top + 18, f"{row + 1}", size=SMALL, colour=MUTED, anchor="end")
        for column in range(T):
            place = (left + pitch * column, top, cell, 27)
            if column > row:
                canvas.box(*place, stroke="#CBD2D9", dash="2 4", thickness=1)
            else:
                canvas.box(*place, read[column], **look(read[column]), size=SMALL, bold=False)
        canvas.line((left + pitch * T, top + 13.5), (right, top + 13.5), colour=INK)
        canvas.box(right, top, 82, 27, asked[row], **look(asked[row]), size=SMALL)


def look(word: str) -> dict[str, str]:
    if word == PAD:
        return dict(fill=GREY.tint, stroke=GREY.full, colour=MUTED, dash="3 3")
    if word.startswith("<"):
        return dict(fill=PINK.tint, stroke=PINK.full, colour=PINK.shade)
    return dict(fill=ORANGE.tint, stroke=ORANGE.full, colour=ORANGE.shade)


if __name__ == "__main__":
    save(draw())
