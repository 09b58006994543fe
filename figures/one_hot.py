"""A one-hot vector picks a row of the embedding table: figures/one_hot.svg"""

from canvas import GREY, INK, MUTED, SMALL, Canvas, save

from tx_helpers.show.shapes import RESIDUAL, SOURCE

WORDS = (("13", "hundred"), ("14", "nine"), ("15", "nineteen"), ("16", "ninety"), ("17", "one"), ("18", "seven"))
PICKED, CELL, TOP = 4, 30, 92
NUMBERS = ("0.3", "−1.1", "0.8", "0.2", "−0.6")  # made up
DESCRIPTION = (
    "Left: a one-hot vector, a column of zeros with a single 1 beside the id 17, “one”. Middle: the embedding table, a "
    "row of D numbers for each id. Each row is multiplied by the number beside it, so all rows but that of “one” "
    "become zero. Right: the sum of all rows, which is this row."
)


def draw() -> Canvas:
    canvas = Canvas("one_hot", 308, title="A one-hot vector picks a row", description=DESCRIPTION)
    canvas.heading("A one-hot vector picks a row")
    canvas.text(139, TOP - 14, "onehot(17)", anchor="middle", bold=True)
    canvas.text(330, TOP - 14, "table E: a row for each id", anchor="middle", bold=True)
    canvas.text(630, TOP - 14, "the sum of all rows", anchor="middle", bold=True)
    for row, (id_, word) in enumerate(WORDS):
        y, picked = TOP + CELL * row, row == PICKED
        style = dict(fill=RESIDUAL.tint, stroke=RESIDUAL.full) if picked else dict(stroke=GREY.full)
        canvas.text(28, y + 20, id_, size=SMALL, colour=MUTED)
        canvas.box(124, y, CELL, CELL, "1" if picked else "0", radius=0, bold=picked, **style)
        canvas.text(173, y + 20, "×", anchor="middle", colour=INK if picked else MUTED)
        for place in range(5):
            canvas.box(190 + 56 * place, y, 56, CELL, radius=0, **style)
            if picked:
                canvas.text(218 + 56 * place, y + 20, NUMBERS[place], anchor="middle", colour=RESIDUAL.shade)
        canvas.text(54, y + 20, word, size=SMALL, colour=SOURCE.shade if picked else MUTED, bold=picked)
    y = TOP + CELL * PICKED
    canvas.line((478, y + 15), (510, y + 15), colour=RESIDUAL.shade)
    for place in range(5):
        canvas.box(
            516 + 50 * place,
            y,
            50,
            CELL,
            NUMBERS[place],
            radius=0,
            fill=RESIDUAL.tint,
            stroke=RESIDUAL.full,
            bold=False,
        )
    canvas.text(190, TOP + CELL * 6 + 22, "… and all other rows: each times 0", size=SMALL, colour=MUTED)
    return canvas


if __name__ == "__main__":
    save(draw())
