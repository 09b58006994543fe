"""Five masks as tables of words, True = may attend: figures/masks.svg"""

from collections.abc import Callable, Sequence

from canvas import BLUE, GREEN, GREY, INK, MUTED, ORANGE, PAPER, PINK, SMALL, Canvas, save

SOURCE = ["four", "hundred", "twenty", "one", "<pad>"]
TARGET = ["<bos>", "vier", "hundert", "ein", "und", "zwanzig"]
SHORT = ["<bos>", "vier", "hundert", "eins", "<pad>", "<pad>"]  # 401, in one batch with 421
WIDE, HIGH, LABEL = 50, 25, 56  # a cell, and the room for the words at the left
WINDOW = 2

ENCODER, DECODER, CROSS = (
    (BLUE.full, BLUE.tint, BLUE.shade),
    (ORANGE.full, ORANGE.tint, ORANGE.shade),
    (GREEN.full, GREEN.tint, GREEN.shade),
)
May = Callable[[int, int], bool]


def draw() -> Canvas:
    canvas = Canvas(
        "masks",
        782,
        title="Five masks: padding, causal, both together, a sliding window, and that of cross-attention",
        description=in_words(),
    )
    canvas.heading(
        "Who may look at whom",
        "Each row is a query, each column a key. ✓ = True = may attend; an empty grey cell is masked.",
    )
    left, right = 28, 428
    table(canvas, left, 104, "Padding: every row alike, no <pad>", SOURCE, SOURCE, padding(SOURCE), ENCODER)
    table(canvas, right, 104, "Causal: itself and what came before", TARGET, TARGET, causal, DECODER)
    table(canvas, left, 330, "Both: a cell must be allowed by both", SHORT, SHORT, both, DECODER)
    table(canvas, right, 330, "Sliding window of 2: causal, and near", TARGET, TARGET, window, DECODER)
    table(canvas, left, 556, "Cross-attention: padding of the source", TARGET, SOURCE, padding(SOURCE), CROSS)
    notes(canvas, right, 590)
    return canvas


def padding(keys: Sequence[str]) -> May:
    return lambda t, s: keys[s] != "<pad>"


def causal(t: int, s: int) -> bool:
    return s <= t


def both(t: int, s: int) -> bool:
    return causal(t, s) and padding(SHORT)(t, s)


def window(t: int, s: int) -> bool:
    return t - WINDOW < s <= t


def table(
    canvas: Canvas,
    x: float,
    y: float,
    title: str,
    queries: Sequence[str],
    keys: Sequence[str],
    may: May,
    colours: tuple[str, str, str],
) -> None:
    """The words of the queries at the left, those of the keys on top, and a sign in each allowed cell."""
    stroke, fill, shade = colours
    canvas.text(x, y, title, bold=True)
    top = y + 34
    for s, key in enumerate(keys):
        at = x + LABEL + WIDE * (s + 0.5)
        canvas.text(at, top - 8, key, size=12.5, anchor="middle", colour=colour_of(key))
    left, width, height = x + LABEL, WIDE * len(keys) - 3, HIGH * len(queries) - 3
    canvas.box(left, top, width, height, fill=GREY.tint, radius=4)
    for s in range(1, len(keys)):
        across = left + WIDE * s - 1.5
        canvas.line((across, top), (across, top + height), colour=PAPER, thickness=3, arrow=False)
    for t, query in enumerate(queries):
        canvas.text(left - 6, top + HIGH * (t + 0.5) + 4, query, size=SMALL, anchor="end", colour=colour_of(query))
        for s in range(len(keys)):
            if may(t, s):
                place = (left + WIDE * s, top + HIGH * t, WIDE - 3, HIGH - 3)
                canvas.box(*place, "✓", fill=fill, stroke=stroke, colour=shade, radius=4, bold=False)


def colour_of(word: str) -> str:
    return PINK.shade if word.startswith("<") else INK


def notes(canvas: Canvas, x: float, y: float) -> None:
    lines = [
        "Blue: self-attention of the encoder.",
        "Orange: self-attention of the decoder.",
        "Green: cross-attention, which may be oblong.",
        "",
        "Rows of <pad> are computed too, but no query",
        "looks there, and the loss leaves them out.",
        "Every row keeps at least one ✓: a softmax over",
        "nothing would be 0/0.",
    ]
    for number, line in enumerate(lines):
        if line:
            canvas.text(x, y + 18 * number, line, colour=MUTED)


def in_words() -> str:
    return (
        "Tables with a row for each query and a column for each key. Padding: the columns of <pad> are empty, all "
        "others full. Causal: the lower triangle with the diagonal. Both: the lower triangle without the columns of "
        "<pad>. Sliding window of 2: the diagonal and the cell left of it. Cross-attention: rows are German words, "
        "columns English ones, and the columns of the English <pad> are empty."
    )


if __name__ == "__main__":
    save(draw())
