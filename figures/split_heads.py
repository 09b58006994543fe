"""Splitting a vector into heads, attention in each, joining, and W_O, with small numbers  →  split_heads.svg"""

from canvas import GREY, INK, MUTED, SMALL, Canvas, save

from tx_helpers.show.charts import ink_on
from tx_helpers.show.shapes import DEEP_GREEN, RESIDUAL, VALUE, WEIGHT

TITLE = "Splitting into two heads, attention in each, joining, and the output matrix, with numbers to check"
DESCRIPTION = (
    "Values of T = 3 words, D = 4 numbers each, are split by view and transpose into H = 2 heads of width K = 2: head "
    "1 gets the first two columns of every word, head 2 the last two. Each head mixes its rows with its own 3 by 3 "
    "weights. The results are laid side by side again, 3 by 4, and multiplied by the 4 by 4 matrix W_O. The number 11 "
    "is framed: it belongs to the word 'twenty', goes to head 2, is fetched there by 'hundred', and ends in the sums "
    "14 and 11 of that word."
)
VALUES = [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]]  # (T, D)
WEIGHTS = [  # (H, T, S), in halves, so that all can be worked out without a pencil
    [[2, 0, 0], [1, 1, 0], [0, 1, 1]],
    [[0, 2, 0], [0, 0, 2], [2, 0, 0]],
]
W_O = [[1, 0, 0, 1], [0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1]]  # (D, D)
TOKENS = ("four", "hundred", "twenty")
SIDES = ((VALUE.tint, VALUE.shade), (DEEP_GREEN.tint, DEEP_GREEN.shade))  # of the two heads
CELL, K = 31, 2
Rows = list[list[float]]


def product(a: Rows, b: Rows) -> Rows:
    """The matrix product."""
    return [[sum(x * y for x, y in zip(row, column, strict=True)) for column in zip(*b, strict=True)] for row in a]


def split(rows: Rows) -> list[Rows]:
    """(T, D) -> (H, T, K)"""
    return [[row[h * K : (h + 1) * K] for row in rows] for h in range(len(rows[0]) // K)]


def join(heads: list[Rows]) -> Rows:
    """(H, T, K) -> (T, D)"""
    return [[number for part in parts for number in part] for parts in zip(*heads, strict=True)]


def draw() -> Canvas:
    canvas = Canvas("split_heads", 606, title=TITLE, description=DESCRIPTION)
    canvas.heading(
        "Two heads out of one width",
        "T = 3 words, D = 4, H = 2 heads of width K = 2. Faint green: head 1. Strong green: head 2.",
        "Follow the framed 11: which word looks at it, and where does it end?",
    )
    heads = split(VALUES)
    mixed = [
        product([[w / 2 for w in row] for row in weights], head) for weights, head in zip(WEIGHTS, heads, strict=True)
    ]
    joined = join(mixed)
    _splitting(canvas, heads)
    _mixing(canvas, heads, mixed)
    _joining(canvas, joined)
    return canvas


def _splitting(canvas: Canvas, heads: list[Rows]) -> None:
    """First row: values (T, D), cut by view, put in another order by transpose."""
    y, high = 136, 3 * CELL
    grid(canvas, 92, y, VALUES, "V = X W_V", "(T, D) = (3, 4)", side=lambda c: c // K, tokens=True, framed=[(2, 2)])
    canvas.line((224, y + high / 2), (274, y + high / 2))
    canvas.text(249, y + high / 2 - 8, "view", anchor="middle", bold=True)
    canvas.text(362, y - 26, "cut, not moved", anchor="middle", bold=True)
    canvas.text(362, y - 9, "(T, H, K) = (3, 2, 2)", size=SMALL, colour=MUTED, anchor="middle")
    for h, head in enumerate(heads):
        grid(canvas, 284 + h * (2 * CELL + 12), y, head, side=lambda _, h=h: h, framed=[(2, 0)] if h else [])
    canvas.line((436, y + high / 2), (514, y + high / 2))
    canvas.text(475, y + high / 2 - 8, "transpose", anchor="middle", bold=True)
    canvas.text(520, y + 30, "(H, T, K)", bold=True)
    canvas.text(520, y + 50, "= (2, 3, 2): two", size=SMALL, colour=MUTED)
    canvas.text(520, y + 67, "tables, one for each", size=SMALL, colour=MUTED)
    canvas.text(520, y + 84, "head: next row", size=SMALL, colour=MUTED)


def _mixing(canvas: Canvas, heads: list[Rows], mixed: list[Rows]) -> None:
    """Second row: in each head, weights times values."""
    top = 286
    for h in range(2):
        x = 92 + 356 * h
        _, shade = SIDES[h]
        canvas.text(x, top - 26, f"head {h + 1}: weights · values", bold=True, colour=shade)
        canvas.text(x, top - 9, "(T, T) · (T, K) = (T, K)", size=SMALL, colour=MUTED)
        looking = [(1, 2)] if h else []
        shares = [[w / 2 for w in row] for row in WEIGHTS[h]]
        halves = [["½" if w == 1 else w // 2 for w in row] for row in WEIGHTS[h]]
        grid(canvas, x, top, halves, side=None, tokens=h == 0, framed=looking, gold=shares)
        canvas.text(x + 3 * CELL + 11, top + 1.5 * CELL + 5, "·", anchor="middle", bold=True)
        grid(canvas, x + 3 * CELL + 22, top, heads[h], side=lambda _, h=h: h, framed=[(2, 0)] if h else [])
        canvas.text(x + 5 * CELL + 36, top + 1.5 * CELL + 5, "=", anchor="middle", bold=True)
        grid(canvas, x + 5 * CELL + 50, top, mixed[h], side=lambda _, h=h: h, framed=[(1, 0)] if h else [])


def _joining(canvas: Canvas, joined: Rows) -> None:
    """Third row: side by side, times W_O."""
    top, high = 446, 3 * CELL
    grid(
        canvas, 92, top, joined, "joined again", "(T, H·K) = (3, 4)",
        side=lambda c: c // K, tokens=True, framed=[(1, 2)],
    )  # fmt: skip
    canvas.text(92 + 4 * CELL + 31, top + high / 2 + 5, "·", anchor="middle", bold=True, size=17)
    x = 92 + 4 * CELL + 64
    canvas.text(x, top - 26, "W_O", bold=True)
    canvas.text(x, top - 9, "(D, D): faint rows read head 1, strong ones head 2", size=SMALL, colour=MUTED)
    for row, numbers in enumerate(W_O):
        for column, number in enumerate(numbers):
            cell(canvas, x + column * CELL, top + row * CELL, number, *SIDES[row // K])
    canvas.text(x + 4 * CELL + 24, top + high / 2 + 5, "=", anchor="middle", bold=True, size=17)
    out = product(joined, W_O)
    x += 4 * CELL + 48
    grid(canvas, x, top, out, side=None, framed=[(1, 0), (1, 2)], fill=(RESIDUAL.tint, RESIDUAL.shade))
    canvas.text(x + 4 * CELL + 14, top + 20, "output (T, D)", bold=True)
    canvas.text(x + 4 * CELL + 14, top + 42, "row 'hundred':", size=SMALL, colour=MUTED)
    canvas.text(x + 4 * CELL + 14, top + 60, "14 = 3 + 11", size=SMALL, colour=MUTED)
    canvas.text(x + 4 * CELL + 14, top + 78, "11 = 11", size=SMALL, colour=MUTED)


def grid(
    canvas, x, y, rows, name="", shape="", *, side, tokens=False, framed=(), fill=(GREY.tint, INK), gold=None
) -> None:
    """A table of numbers; `side` says from the column to which head it belongs. framed: [(row, column)]"""
    if name:
        canvas.text(x, y - 26, name, bold=True)
        canvas.text(x, y - 9, shape, size=SMALL, colour=MUTED)
    for row, numbers in enumerate(rows):
        if tokens:
            canvas.text(x - 8, y + row * CELL + 21, TOKENS[row], size=SMALL, colour=MUTED, anchor="end")
        for column, number in enumerate(numbers):
            colours = fill if side is None else SIDES[side(column)]
            weight = gold[row][column] if gold else None
            if weight is not None:
                colours = (WEIGHT.full, ink_on(weight))
            cell(canvas, x + column * CELL, y + row * CELL, number, *colours, weight)
    for row, column in framed:
        canvas.box(x + column * CELL - 1, y + row * CELL - 1, CELL, CELL, stroke=INK, radius=3, thickness=2.6)


def cell(canvas: Canvas, x: float, y: float, number: object, fill: str, ink: str, opacity: float | None = None) -> None:
    said = f"{number:g}" if isinstance(number, float) else str(number)
    canvas.box(
        x, y, CELL - 2, CELL - 2, said,
        fill=fill, fill_opacity=opacity, stroke=GREY.full, colour=ink, radius=2, thickness=0.8, bold=False,
    )  # fmt: skip


if __name__ == "__main__":
    save(draw())
