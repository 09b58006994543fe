"""Rotary positions: a vector turned by its position; the angle between query and key depends on the distance alone."""

import math

from canvas import GREY, INK, MUTED, SMALL, Canvas, save

from tx_helpers.show.shapes import KEY, QUERY

STEP = 25  # degrees for each position
START = 0  # the direction of query and key before any turn, in degrees
FIRST, SECOND = (4, 2), (8, 6)  # positions (m, n) of query and key: the same distance twice
RADIUS, LEVEL, CENTRES = 96, 216, (150, 400, 650)
BETWEEN = (FIRST[0] - FIRST[1]) * STEP  # degrees from the key to the query, in both

DESCRIPTION = (
    f"Three circles. In the first one vector is drawn at the positions 0 to 4: each position turns it by {STEP} "
    f"degrees more, and its length stays. In the second a query at position {FIRST[0]} and a key at position "
    f"{FIRST[1]}, which point the same way at position 0, have been turned by {FIRST[0] * STEP} and "
    f"{FIRST[1] * STEP} degrees; the angle between them is {BETWEEN} degrees. In the third the same two are at "
    f"positions {SECOND[0]} and {SECOND[1]}, turned by {SECOND[0] * STEP} and {SECOND[1] * STEP} degrees: both have "
    f"moved on, and the angle between them is {BETWEEN} "
    "degrees again. Their product depends on the distance, 2, alone."
)


def draw() -> Canvas:
    canvas = Canvas(
        "rotary_rotation",
        392,
        title="Rotary positions: only the distance is left in the angle",
        description=DESCRIPTION,
    )
    canvas.heading(
        "Rotary positions: only the distance is left in the angle",
        f"One pair of features is a point in the plane. Position p turns it by p · ω; here ω is {STEP} degrees.",
    )
    for x, title in zip(CENTRES, ("one vector at positions 0 … 4", *map(named, (FIRST, SECOND))), strict=True):
        canvas.text(x, LEVEL - RADIUS - 30, title, anchor="middle", bold=True)
        canvas.circle(x, LEVEL, RADIUS, fill="#FFFFFF", stroke=GREY.full)
    for position in range(5):
        arrow(canvas, CENTRES[0], START + position * STEP, QUERY.full, QUERY.shade, str(position))
    for x, (m, n) in zip(CENTRES[1:], (FIRST, SECOND), strict=True):
        draw_pair(canvas, x, m, n)
    y = LEVEL + RADIUS + 36
    for x, lines in zip(
        CENTRES,
        (
            ("The length stays;", "only the direction tells the place."),
            (turns(*FIRST), f"{BETWEEN}° between them."),
            (turns(*SECOND), f"{BETWEEN}° again: the same q · k."),
        ),
        strict=True,
    ):
        for number, line in enumerate(lines):
            canvas.text(x, y + 19 * number, line, anchor="middle", colour=INK if number else MUTED)
    return canvas


def named(positions: tuple[int, int]) -> str:
    return f"query at {positions[0]}, key at {positions[1]}"


def turns(m: int, n: int) -> str:
    return f"q turned by {m} · {STEP}°, k by {n} · {STEP}°:"


def point(x: float, degrees: float, radius: float) -> tuple[float, float]:
    angle = math.radians(degrees)
    return x + radius * math.cos(angle), LEVEL - radius * math.sin(angle)


def arrow(canvas: Canvas, x: float, degrees: float, colour: str, shade: str, name: str) -> None:
    canvas.line((x, LEVEL), point(x, degrees, RADIUS), colour=colour, thickness=2.2)
    tip = point(x, degrees, RADIUS + 13)
    canvas.text(tip[0], tip[1] + 4, name, anchor="middle", size=SMALL, colour=shade, bold=True)


def draw_pair(canvas: Canvas, x: float, m: int, n: int) -> None:
    start, end = START + n * STEP, START + m * STEP
    steps = [start + (end - start) * i / 20 for i in range(21)]
    canvas.line(*(point(x, degrees, 44) for degrees in steps), colour=MUTED, thickness=4, arrow=False)
    arrow(canvas, x, end, QUERY.full, QUERY.shade, "q")
    arrow(canvas, x, start, KEY.full, KEY.shade, "k")
    label = point(x, (start + end) / 2, 64)
    canvas.text(label[0], label[1] + 4, f"{BETWEEN}°", anchor="middle", size=SMALL, colour=MUTED, bold=True)


if __name__ == "__main__":
    save(draw())
