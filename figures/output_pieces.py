"""The output matrix cut into a piece for each head: figures/output_pieces.svg"""

from canvas import GREY, INK, MUTED, PINK, SMALL, Canvas, save

HEADS = ((GREY, "¹"), (PINK, "²"), (GREY, "³"), (GREY, "⁴"))  # the one that is followed, and three others
CELL, ROWS = 26, 22
DESCRIPTION = (
    "Left: a row of the joined heads, four pieces side by side, each d_k numbers wide; head 2 is coloured. Middle: the "
    "matrix W_O, cut into four bands of d_k rows; head 2 meets the second band alone. Right: the output is the sum of "
    "four rows of D numbers, one from each head, so every head can write into all D numbers. Below: with the band of "
    "head 2 set to zero, its row is gone, and the other three stay as they were."
)


def draw() -> Canvas:
    canvas = Canvas("output_pieces", 288, title="What the output matrix adds up", description=DESCRIPTION)
    canvas.heading("Each head has its own band of W_O")
    canvas.text(28, 76, "the joined heads", bold=True)
    for number, (head, _) in enumerate(HEADS):
        x = 28 + 46 * number
        canvas.box(x, 128, 46, CELL, str(number + 1), fill=head.tint, stroke=head.full, colour=head.shade, radius=0)
    canvas.text(28, 176, "d_k numbers each", size=SMALL, colour=MUTED)
    canvas.text(232, 147, "×", anchor="middle", bold=True)
    canvas.text(262, 76, "W_O: d_k rows each", bold=True)
    for number, (head, mark) in enumerate(HEADS):
        canvas.box(262, 92 + CELL * number, 170, CELL, f"W_O{mark}", fill=head.tint, stroke=head.full, radius=0)
    canvas.text(452, 147, "=", anchor="middle", bold=True)
    canvas.text(482, 76, "a sum of rows, D numbers each", bold=True)
    for number, (head, mark) in enumerate(HEADS):
        y = 86 + 34 * number
        words = f"head {number + 1} · W_O{mark}"
        canvas.box(482, y, 200, ROWS, words, fill=head.tint, stroke=head.full, radius=0, bold=False, size=SMALL)
        canvas.text(698, y + 16, "+" if number < 3 else "= output", bold=True)
    canvas.box(28, 232, 744, 38, fill=GREY.tint, stroke="none")
    canvas.text(
        42, 256, "Remove head 2: set its band to zero. Its row is gone, and the other rows do not change.", colour=INK
    )
    return canvas


if __name__ == "__main__":
    save(draw())
