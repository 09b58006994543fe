"""A batch of pictures and captions, all scored with all: figures/caption_table.svg"""

from functools import partial

from canvas import BLUE, EDGE, GREEN, GREY, MUTED, ORANGE, SMALL, Canvas, save

from tx_helpers.lessons.beyond_text.arm_episode import drawn
from tx_helpers.lessons.beyond_text.drawn_shapes import PAIRS

DESCRIPTION = (
    "A table of four pictures, its rows, and their four captions, its columns: red square top-left, blue ring "
    "top-right, green cross bottom-left, yellow triangle bottom-right. Each cell is a score. The four scores on the "
    "diagonal belong to a picture and its own caption: training makes them larger. The twelve others become smaller. "
    "Each row is a choice among four captions, each column a choice among four pictures."
)
SHOWN = (("red", "square", 0), ("blue", "ring", 1), ("green", "cross", 2), ("yellow", "triangle", 3))
PLACES = ("top-left", "top-right", "bottom-left", "bottom-right")
LEFT, TOP, WIDE, HIGH = 150, 132, 122, 50  # the table's corner and a cell


def draw() -> Canvas:
    title = "Every picture meets every caption of the batch"
    canvas = Canvas("caption_table", 380, title=title, description=DESCRIPTION)
    canvas.heading(title, "B = 4 pairs: 16 scores, 4 of them on the diagonal")
    for i, (colour, form, place) in enumerate(SHOWN):
        x, y = LEFT + WIDE * i, TOP + HIGH * i
        canvas.box(x + 4, 76, WIDE - 8, 46, [f"{colour} {form}", PLACES[place]], fill=ORANGE.tint, size=14, bold=False)
        canvas.box(LEFT - 62, y + 4, 42, 42, fill="#FFFFFF", stroke=EDGE, radius=0)
        where = dict(x=LEFT - 60 + 20 * (place % 2), y=y + 6 + 20 * (place // 2))
        canvas.mark(partial(_shape, PAIRS.index((colour, form))), where["x"], where["y"], 3.6)
        for j in range(len(SHOWN)):
            look = GREEN if i == j else GREY
            words = f"s{i + 1}{j + 1}" + (" ↑" if i == j else " ↓")
            canvas.box(
                LEFT + WIDE * j + 4, y + 4, WIDE - 8, HIGH - 8, words, fill=look.tint, stroke=look.full, bold=i == j
            )
    right = LEFT + WIDE * len(SHOWN) + 12
    canvas.text(right, TOP + 30, "each row:", colour=BLUE.shade)
    canvas.text(right, TOP + 50, "which caption?", colour=BLUE.shade)
    canvas.text(right, TOP + 130, "each column:", colour=ORANGE.shade)
    canvas.text(right, TOP + 150, "which picture?", colour=ORANGE.shade)
    canvas.text(LEFT + 4, 360, "↑ pulled together    ↓ pushed apart", size=SMALL, colour=MUTED)
    return canvas


def _shape(pair: int, x: float, y: float, size: float) -> str:
    return drawn(pair, x, y, size)[0]


if __name__ == "__main__":
    save(draw())
