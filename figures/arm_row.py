"""What the arm's decoder reads and writes: figures/arm_row.svg"""

from functools import partial

from canvas import BLUE, GREEN, GREY, INK, MUTED, ORANGE, PINK, SMALL, Canvas, save

from tx_helpers.lessons.beyond_text.arm_episode import drawn
from tx_helpers.lessons.beyond_text.drawn_shapes import PAIRS

DESCRIPTION = (
    "A row of 15 tokens. Three words of the order: blue, square, top-left. Nine places of the table, of which three "
    "hold a shape: a red ring in place 2, a blue square in place 5, a green cross in place 8. One token for the hand. "
    "Then the decoder writes two tokens: what to do, down, and how far, 1. The world carries the action out, and the "
    "decoder reads the new table."
)
CELLS = {1: ("red", "ring"), 4: ("blue", "square"), 7: ("green", "cross")}


def draw() -> Canvas:
    title = "The row that the arm reads and writes"
    canvas = Canvas("arm_row", 210, title=title, description=DESCRIPTION)
    canvas.heading(title, "Order, table and hand are read at each step. Two action tokens are written.")
    x = 28.0
    for word, wide in (("blue", 48), ("square", 60), ("top-left", 70)):
        canvas.box(x, 100, wide, 38, word, fill=ORANGE.tint, stroke=ORANGE.full, bold=False)
        x += wide + 4
    canvas.text(118, 90, "order", size=SMALL, colour=ORANGE.shade, anchor="middle")
    x += 8
    canvas.text(x + 178, 90, "nine places of the table", size=SMALL, colour=BLUE.shade, anchor="middle")
    for cell in range(9):
        canvas.box(x, 100, 36, 38, fill="#FFFFFF", stroke=BLUE.full)
        if cell in CELLS:
            canvas.mark(partial(_shape, PAIRS.index(CELLS[cell])), x + 8, 109, 4)
        canvas.text(x + 18, 156, str(cell + 1), size=13, colour=MUTED, anchor="middle")
        x += 40
    x += 8
    canvas.box(x, 100, 50, 38, "hand", fill=GREY.tint, stroke=GREY.full, bold=False)
    x += 62
    for word, below, wide in (("down", "what", 52), ("1", "far", 34)):
        canvas.box(x, 100, wide, 38, word, fill=GREEN.tint, stroke=GREEN.full)
        canvas.text(x + wide / 2, 156, below, size=13, colour=GREEN.shade, anchor="middle")
        x += wide + 4
    canvas.text(x - 49, 90, "written", size=SMALL, colour=GREEN.shade, anchor="middle")
    canvas.line((x - 49, 162), (x - 49, 184), (390, 184), (390, 164), colour=PINK.full)
    canvas.text(380, 190, "the world answers with a new table", size=SMALL, colour=INK, anchor="end")
    return canvas


def _shape(pair: int, x: float, y: float, size: float) -> str:
    return drawn(pair, x, y, size)[0]


if __name__ == "__main__":
    save(draw())
