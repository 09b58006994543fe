"""From text to tokens to ids to vectors  →  tokens_to_vectors.svg"""

from math import sin

from canvas import GREY, INK, MUTED, SMALL, Canvas, save

from tx_helpers.show.shapes import RESIDUAL, SOURCE

TITLE = "From text to vectors: cut into tokens, number them, fetch a row for each number"
DESCRIPTION = (
    "From left to right. The text 'four hundred twenty-one' is cut into four tokens: four, hundred, twenty, one. The "
    "vocabulary gives their ids: 11, 13, 30, 17. Each id points at a row of the embedding table, which has V = 33 rows "
    "of D numbers: the lines of 'twenty' and 'one' cross, since the table is ordered by id and the text is not. The "
    "four rows, in the order of the text, are the model's input: T = 4 vectors of width D. Rows that no id points at, "
    "such as zero's, are not used and not changed."
)
TOKENS = [("four", 11), ("hundred", 13), ("twenty", 30), ("one", 17)]
ROWS = [(0, "<pad>"), (1, "<bos>"), (2, "<eos>"), None, (11, "four"), (13, "hundred"), None, (17, "one")]
ROWS += [None, (30, "twenty"), (31, "two"), (32, "zero")]
D, CELL = 8, 17
PIECES, IDS, TABLE, VECTORS = 28, 158, 358, 634  # where each column begins
PITCH, TOP, ROW_PITCH, ROW_TOP = 74, 172, 25, 138
SHADES = ("#FFFFFF", "#F8E7F0", "#E6BDD4", "#CB85AE", "#AF4B85")


def draw() -> Canvas:
    canvas = Canvas("tokens_to_vectors", 520, title=TITLE, description=DESCRIPTION)
    canvas.heading(
        "From text to vectors",
        "A tokenizer turns a text into ids; the embedding table turns ids into vectors.",
        "The shades stand for numbers, which training finds.",
    )
    for x, said in ((PIECES, "tokens"), (IDS, "ids"), (VECTORS, "vectors (T, D)")):
        canvas.text(x, 124, said, bold=True)
    canvas.text(TABLE - 92, 124, "embedding table (V, D)", bold=True)
    place = {row[0]: ROW_TOP + number * ROW_PITCH for number, row in enumerate(ROWS) if row}
    for number, (token, i) in enumerate(TOKENS):
        y = TOP + number * PITCH
        middle = place[i] + CELL / 2
        canvas.line((IDS + 44, y + 15), (TABLE - 104, middle))
        canvas.line((TABLE + D * CELL + 8, middle), (VECTORS - 8, y + 15), colour=RESIDUAL.full)
        canvas.line((PIECES + 100, y + 15), (IDS - 6, y + 15))
        canvas.box(PIECES, y, 96, 30, token, fill=SOURCE.tint, stroke=SOURCE.full, colour=SOURCE.shade)
        canvas.box(IDS, y, 40, 30, str(i), fill=GREY.tint, stroke=GREY.full, colour=GREY.shade)
        draw_row(canvas, VECTORS, y + 15 - CELL / 2, i)
    used = {i for _, i in TOKENS}
    for number, row in enumerate(ROWS):
        y = ROW_TOP + number * ROW_PITCH
        if row is None:
            canvas.text(TABLE + D * CELL / 2, y + 12, "…", colour=MUTED, anchor="middle")
            continue
        i, token = row
        bold = i in used
        canvas.text(TABLE - 82, y + 13, str(i), size=SMALL, colour=INK if bold else MUTED, anchor="end", bold=bold)
        canvas.text(TABLE - 74, y + 13, token, size=SMALL, colour=INK if bold else MUTED, bold=bold)
        draw_row(canvas, TABLE, y, i, pale=not bold)
    canvas.box(28, 458, 744, 44, fill=RESIDUAL.tint, stroke=RESIDUAL.full)
    canvas.text(44, 485, "Nothing is computed here: a row is fetched.")
    return canvas


def draw_row(canvas: Canvas, x: float, y: float, i: int, *, pale: bool = False) -> None:
    """D cells, shaded by numbers that belong to the id."""
    for column in range(D):
        level = int(2.5 + 2.49 * sin(2.3 * i + 1.9 * column + 0.7 * i * column))
        fill = "#FFFFFF" if pale else SHADES[level]
        canvas.box(
            x + column * CELL,
            y,
            CELL,
            CELL,
            fill=fill,
            stroke=GREY.full if pale else RESIDUAL.full,
            radius=0,
            thickness=1,
        )


if __name__ == "__main__":
    save(draw())
