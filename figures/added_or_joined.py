"""A word and a position in one vector, added or joined: figures/added_or_joined.svg"""

from canvas import BLUE, GREY, MUTED, PINK, SMALL, Canvas, save

CELL = 19
DESCRIPTION = (
    "Two ways to put a word and its position into one vector of 16 numbers. On the left they are added: 16 numbers of "
    "the word plus 16 of the position give 16 numbers, each of them a bit of both. On the right they are joined: 12 "
    "numbers of the word stand beside 4 of the position. Below, what the next layer computes: W x + W p for the sum, "
    "W₁ x + W₂ p for the joined vector, which is a sum again."
)


def draw() -> Canvas:
    canvas = Canvas("added_or_joined", 262, title="A word and its position, added or joined", description=DESCRIPTION)
    canvas.heading("A word and its position, added or joined")
    canvas.text(28, 70, "Added: 16 numbers, each a bit of both", bold=True)
    cells(canvas, 28, 84, 16, BLUE)
    canvas.text(348, 98, "word x", colour=BLUE.shade)
    canvas.text(28 + 8 * CELL, 121, "+", anchor="middle", bold=True)
    cells(canvas, 28, 128, 16, PINK)
    canvas.text(348, 142, "position p", colour=PINK.shade)
    canvas.text(28 + 8 * CELL, 165, "=", anchor="middle", bold=True)
    cells(canvas, 28, 172, 16, GREY)
    canvas.text(348, 186, "x + p")
    canvas.text(28, 222, "The next layer reads W (x + p) = W x + W p.")
    canvas.text(436, 70, "Joined: 12 numbers beside 4", bold=True)
    cells(canvas, 436, 128, 12, BLUE)
    cells(canvas, 436 + 12 * CELL, 128, 4, PINK)
    canvas.text(436 + 6 * CELL, 118, "word x", colour=BLUE.shade, anchor="middle")
    canvas.text(436 + 14 * CELL, 118, "position p", colour=PINK.shade, anchor="middle")
    canvas.text(436, 222, "The next layer reads W₁ x + W₂ p.")
    canvas.text(28, 246, "The difference: added, both may use all 16 numbers.", size=SMALL, colour=MUTED)
    return canvas


def cells(canvas: Canvas, x: float, y: float, number: int, colour) -> None:
    for place in range(number):
        canvas.box(x + CELL * place, y, CELL, CELL, fill=colour.tint, stroke=colour.full, radius=0, thickness=1)


if __name__ == "__main__":
    save(draw())
