"""Sine and cosine at growing wavelengths, read off at one position as the hands of clocks: sinusoid_wavelengths.svg"""

import math

from canvas import GREY, INK, MUTED, PINK, SMALL, Canvas, save

WIDTH, PAIRS, POSITION, LENGTH = 16, 5, 20, 64  # D, pairs that are drawn, the position read off, positions
LEFT, RIGHT, TOP, PITCH, HEIGHT = 150, 520, 124, 82, 26  # of the waves; HEIGHT is that of amplitude 1
DIAL, VALUES = 590, 636  # where the dials stand, and the numbers
FREQUENCIES = [10000 ** (-2 * i / WIDTH) for i in range(PAIRS)]


def reading(frequency: float) -> str:
    """Sine and cosine at the position, as words."""
    angle = POSITION * frequency
    return f"{math.sin(angle):.2f} and {math.cos(angle):.2f}".replace("-", "−")


WAVELENGTHS = ", ".join(f"{2 * math.pi / frequency:,.1f}" for frequency in FREQUENCIES)
DESCRIPTION = (
    f"Five rows, one for each of the first five clocks of a vector of width {WIDTH}. In each row a sine "
    f"and a cosine over the positions 0 to {LENGTH - 1}; their wavelengths are {WAVELENGTHS} positions, longer from "
    f"row to row. A vertical line at position {POSITION} crosses all rows. On its right each row has a dial whose "
    f"hand has turned by position times frequency, and the two numbers in the vector, sine and cosine: "
    f"{'; '.join(map(reading, FREQUENCIES))}. In the first row the hand has gone round three times, in the last it has "
    "hardly left its start."
)


def draw() -> Canvas:
    canvas = Canvas(
        "sinusoid_wavelengths",
        TOP + PITCH * PAIRS,
        title="A position is read off from clocks of different speed",
        description=DESCRIPTION,
    )
    canvas.heading(
        "A position is read off from clocks of different speed",
        f"Five clocks, each slower than the last. At position {POSITION} each gives a sine and a cosine.",
    )
    x = across(POSITION)
    canvas.text(x, TOP - 34, f"position p = {POSITION}", anchor="middle", size=SMALL, bold=True)
    canvas.text(DIAL, TOP - 34, "the hand", anchor="middle", size=SMALL, bold=True)
    canvas.text(VALUES, TOP - 34, "in the vector PE(20)", size=SMALL, bold=True)
    for i, frequency in enumerate(FREQUENCIES):
        draw_pair(canvas, i, frequency, TOP + PITCH * i)
    bottom = TOP + PITCH * (PAIRS - 1) + HEIGHT + 8
    canvas.line((x, TOP - 28), (x, bottom), colour=INK, thickness=1.2, dash="3 3", arrow=False)
    for place in (0, 16, 32, 48, LENGTH - 1):
        canvas.text(across(place), bottom + 18, str(place), anchor="middle", size=SMALL, colour=MUTED)
    canvas.text(28, bottom + 18, "position p", size=SMALL, colour=MUTED)
    canvas.text(VALUES, bottom + 18, "and so on: D numbers", size=SMALL, colour=MUTED)
    return canvas


def across(position: float) -> float:
    return LEFT + (RIGHT - LEFT) * position / (LENGTH - 1)


def draw_pair(canvas: Canvas, i: int, frequency: float, y: float) -> None:
    canvas.text(28, y - 4, f"clock {i}", bold=True)
    canvas.text(28, y + 14, f"wavelength {2 * math.pi / frequency:,.1f}", size=SMALL, colour=MUTED)
    canvas.line((LEFT, y), (RIGHT, y), colour=MUTED, thickness=0.8, arrow=False)
    fine = max(1, 4 >> i)  # points to a position: the slow waves need fewer
    steps = [step / fine for step in range(fine * (LENGTH - 1) + 1)]
    angle = POSITION * frequency
    for wave, colour, dash in ((math.sin, INK, ""), (math.cos, PINK.full, "5 3")):
        points = [(across(p), y - HEIGHT * wave(p * frequency)) for p in steps]
        canvas.line(*points, colour=colour, dash=dash, arrow=False)
        canvas.circle(across(POSITION), y - HEIGHT * wave(angle), 4, fill=colour)
    canvas.circle(DIAL, y, HEIGHT, fill="#FFFFFF", stroke=GREY.full)
    tip = DIAL + HEIGHT * math.cos(angle), y - HEIGHT * math.sin(angle)
    canvas.line((DIAL, y), (DIAL + HEIGHT, y), colour=MUTED, thickness=1, dash="2 2", arrow=False)
    canvas.line((DIAL, y), tip, colour=INK, thickness=2)
    for below, name, dimension, wave, colour in (
        (-4, "sin", 2 * i, math.sin, INK),
        (16, "cos", 2 * i + 1, math.cos, PINK.shade),
    ):
        value = f"{wave(angle):.2f}".replace("-", "−")
        canvas.text(VALUES, y + below, f"{name} {value}", colour=colour, bold=True)
        canvas.text(VALUES + 92, y + below, f"dim {dimension}", size=SMALL, colour=MUTED)


if __name__ == "__main__":
    save(draw())
