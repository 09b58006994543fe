"""A picture, its squares, and the row of vectors that an encoder reads: figures/patch_row.svg"""

from canvas import BLUE, EDGE, GREEN, GREY, INK, MUTED, PINK, SMALL, Canvas, save

from tx_helpers.lessons.beyond_text.digits import digits

DESCRIPTION = (
    "On the left a handwritten 6 of 8 by 8 pixels, cut into 16 squares of 2 by 2 pixels. On the right the 16 squares "
    "stand in a row, from left to right and from top to bottom. One matrix turns each into a vector of 32 numbers. A "
    "class token stands in front. Each of the 17 places adds a learned position, 0 to 16. Two encoder blocks let every "
    "place look at all 17. From the class token's last vector alone a matrix makes the scores of ten digits."
)
PIXEL, GAP, LEFT, TOP = 18, 4, 28, 96  # of the picture; between squares; its corner
ROW, STEP, WIDE = 252, 31, 26  # the row: its left edge, from place to place, of a place


def draw() -> Canvas:
    title = "A picture becomes a row of vectors"
    canvas = Canvas("patch_row", 366, title=title, description=DESCRIPTION)
    canvas.heading(title, "16 squares of 2 × 2 pixels, one matrix, a class token, 17 positions")
    picture = digits("train").images[0].tolist()
    for patch in range(16):
        down, across = divmod(patch, 4)
        square = [row[2 * across : 2 * across + 2] for row in picture[2 * down : 2 * down + 2]]
        _square(canvas, LEFT + across * (2 * PIXEL + GAP), TOP + down * (2 * PIXEL + GAP), PIXEL, square)
        _square(canvas, _x(patch + 1), 84, WIDE / 2, square)
    canvas.line((196, 97), (ROW - 6 + STEP, 97))
    canvas.box(_x(1), 120, _x(16) + WIDE - _x(1), 28, "one matrix: 4 numbers → 32", fill=GREY.tint, stroke=GREY.full)
    for place in range(17):
        colour = BLUE if place else PINK
        canvas.box(_x(place), 160, WIDE, 46, fill=colour.tint, stroke=colour.full)
        canvas.text(_x(place) + WIDE / 2, 223, "+", anchor="middle")
        canvas.box(_x(place), 230, WIDE, 24, str(place), fill=GREY.tint, stroke=GREY.full, size=13, bold=False)
    canvas.text(ROW - 10, 188, "class", size=SMALL, colour=PINK.shade, anchor="end")
    canvas.text(ROW - 10, 247, "position", size=SMALL, colour=MUTED, anchor="end")
    blocks = "two encoder blocks: every place looks at all 17"
    canvas.box(ROW, 268, _x(16) + WIDE - ROW, 30, blocks, fill="#FFFFFF", stroke=INK)
    canvas.line((ROW + WIDE / 2, 298), (ROW + WIDE / 2, 320))
    canvas.box(ROW, 320, 200, 28, "one matrix: ten scores", fill=GREEN.tint, stroke=GREEN.full)
    canvas.text(ROW + 212, 339, "from the class token alone", size=SMALL, colour=MUTED)
    return canvas


def _x(place: int) -> float:
    return ROW + STEP * place


def _square(canvas: Canvas, left: float, top: float, pixel: float, square: list[list[float]]) -> None:
    """One patch: its pixels, darker for more ink, and a frame."""
    for y, row in enumerate(square):
        for x, ink in enumerate(row):
            if ink:
                place = (left + pixel * x, top + pixel * y, pixel, pixel)
                canvas.box(*place, fill=INK, fill_opacity=round(ink, 2), radius=0)
    canvas.box(left, top, 2 * pixel, 2 * pixel, stroke=EDGE, radius=0)


if __name__ == "__main__":
    save(draw())
