"""A decoder's row that begins with a picture: figures/picture_before_words.svg"""

from functools import partial

from canvas import BLUE, EDGE, GREEN, GREY, INK, MUTED, ORANGE, SMALL, Canvas, save

from tx_helpers.lessons.beyond_text.arm_episode import drawn
from tx_helpers.lessons.beyond_text.drawn_shapes import PAIRS

DESCRIPTION = (
    "On the left a picture of 16 by 16 pixels, cut into 16 patches: a red ring at the top right, a blue square at the "
    "bottom left. The matrix W turns each patch into a vector. The row of the decoder begins with these 16 vectors. "
    "After them come the words of the question, what colour is the ring ?, and of the answer, red and the end. Each "
    "place looks only at itself and to its left. The loss counts two places: at the question mark the next word is "
    "red, at red it is the end."
)
LEFT, TOP, PIXEL = 28, 92, 8  # of the picture
WORDS = ("what", "colour", "is", "the", "ring", "?", "red", "<eos>")
WIDTHS = (50, 62, 28, 36, 44, 24, 40, 60)


def draw() -> Canvas:
    title = "A picture stands before the words"
    canvas = Canvas("picture_before_words", 270, title=title, description=DESCRIPTION)
    canvas.heading(title, "One matrix brings the patches into the space of the words. The decoder stays as it is.")
    side = 16 * PIXEL
    canvas.box(LEFT, TOP, side, side, fill="#FFFFFF", stroke=EDGE, radius=0)
    for pair, x, y in ((("red", "ring"), 9, 2), (("blue", "square"), 2, 10)):
        canvas.mark(partial(_shape, PAIRS.index(pair)), LEFT + PIXEL * x, TOP + PIXEL * y, PIXEL)
    for cut in (4, 8, 12):
        there = cut * PIXEL
        canvas.line((LEFT + there, TOP), (LEFT + there, TOP + side), arrow=False, thickness=0.8)
        canvas.line((LEFT, TOP + there), (LEFT + side, TOP + there), arrow=False, thickness=0.8)
    canvas.line((LEFT + side + 4, 134), (178, 134))
    canvas.box(178, 116, 36, 36, "W", fill=GREY.tint, stroke=GREY.full)
    canvas.line((214, 134), (238, 134))
    x = 240
    for name in ("x1", "x2", "…", "x16"):
        canvas.box(x, 116, 34, 36, name, fill=BLUE.tint, stroke=BLUE.full, bold=False)
        x += 38
    canvas.text(314, 104, "16 patches", size=SMALL, colour=BLUE.shade, anchor="middle")
    places = {}
    for word, wide in zip(WORDS, WIDTHS, strict=True):
        look = ORANGE if word in ("red", "<eos>") else GREY
        canvas.box(x, 116, wide, 36, word, fill=look.tint, stroke=look.full, bold=False)
        places[word] = x + wide / 2
        x += wide + 4
    canvas.text(540, 104, "question", size=SMALL, colour=MUTED, anchor="middle")
    canvas.text(700, 104, "answer", size=SMALL, colour=ORANGE.shade, anchor="middle")
    canvas.box(240, 166, x - 244, 28, "decoder: each place looks only to its left", fill="#FFFFFF", stroke=INK)
    for place, word, left, wide in (("?", "red", -32, 44), ("red", "<eos>", -16, 58)):
        canvas.line((places[place], 194), (places[place], 212))
        x = places[place] + left
        canvas.box(x, 212, wide, 26, word, fill=GREEN.tint, stroke=GREEN.full, size=14, bold=False)
    canvas.text(places["?"] - 40, 230, "next word, counted by the loss:", size=SMALL, colour=MUTED, anchor="end")
    return canvas


def _shape(pair: int, x: float, y: float, size: float) -> str:
    return drawn(pair, x, y, size)[0]


if __name__ == "__main__":
    save(draw())
