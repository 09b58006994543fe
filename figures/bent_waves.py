"""The binary digits of a position as square waves, and the round waves that take their place: figures/bent_waves.svg"""

import math

from canvas import GREY, INK, MUTED, PINK, SMALL, Canvas, save

LENGTH, POSITION = 16, 5
LEFT, STEP, TOP, PITCH, HEIGHT = 140, 33, 116, 74, 20  # of the waves; HEIGHT is that of half a wave
VALUES = LEFT + STEP * LENGTH + 22
NAMES = ("last digit", "second last", "third last")


def digit(place: int, position: int) -> int:
    return position >> place & 1


def bent(place: int, position: float) -> float:
    """A sine of the same length, high where the digit is 1; from −1 to 1."""
    return -math.sin(math.pi * (position + 0.5) / 2**place)


READ = "; ".join(f"{digit(k, POSITION)} and {bent(k, POSITION):.2f}" for k in range(3)).replace("-", "−")
DESCRIPTION = (
    "Three rows over the positions 0 to 15, one for each binary digit, the last one first. A dark square wave is the "
    "digit: it flips at every step, at every second, at every fourth step. A pink round wave of the same length runs "
    f"through it. A vertical line at position {POSITION} reads both off, digit and round wave: {READ}. The digits of 5 "
    "are 1 0 1."
)


def draw() -> Canvas:
    canvas = Canvas("bent_waves", 332, title="Square waves, bent into round ones", description=DESCRIPTION)
    canvas.heading("Square waves, bent into round ones", "Each binary digit is a wave. A round wave changes smoothly.")
    x = across(POSITION)
    canvas.text(VALUES, TOP - 34, "digit", size=SMALL, bold=True)
    canvas.text(VALUES + 44, TOP - 34, "bent", size=SMALL, bold=True, colour=PINK.shade)
    for place in range(3):
        draw_row(canvas, place, TOP + PITCH * place)
    bottom = TOP + PITCH * 2 + HEIGHT + 10
    canvas.line((x, TOP - 28), (x, bottom), colour=INK, thickness=1.2, dash="3 3", arrow=False)
    for position in range(LENGTH):
        canvas.text(across(position), bottom + 18, str(position), anchor="middle", size=SMALL, colour=MUTED)
    canvas.text(28, bottom + 18, "position p", size=SMALL, colour=MUTED)
    return canvas


def across(position: float) -> float:
    return LEFT + STEP * (position + 0.5)


def draw_row(canvas: Canvas, place: int, y: float) -> None:
    canvas.text(28, y - 2, NAMES[place], size=SMALL, bold=True)
    canvas.text(28, y + 15, f"wave of {2 ** (place + 1)}", size=SMALL, colour=MUTED)
    square = []
    for position in range(LENGTH):
        level = y + HEIGHT * (1 - 2 * digit(place, position))
        square += [(LEFT + STEP * position, level), (LEFT + STEP * (position + 1), level)]
    canvas.line(*square, colour=GREY.shade, thickness=1.2, arrow=False)
    points = [p / 8 - 0.5 for p in range(8 * LENGTH + 1)]
    canvas.line(*((across(p), y - HEIGHT * bent(place, p)) for p in points), colour=PINK.full, arrow=False)
    value = bent(place, POSITION)
    canvas.circle(across(POSITION), y - HEIGHT * value, 4, fill=PINK.full)
    canvas.text(VALUES + 12, y + 5, str(digit(place, POSITION)), anchor="middle", bold=True)
    canvas.text(VALUES + 44, y + 5, f"{value:.2f}".replace("-", "−"), colour=PINK.shade, bold=True)


if __name__ == "__main__":
    save(draw())
