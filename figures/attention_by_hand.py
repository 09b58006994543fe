"""Three tokens, all numbers of one query, on paper  →  attention_by_hand.svg

The numbers are computed here from the queries, keys and values of its notebook, whose cell compares its own with them.
"""

from math import exp, sqrt

from canvas import INK, MUTED, SMALL, Canvas, save

from tx_helpers.show import shapes

TOKENS = ("four", "hundred", "one")
QUERY = (1, 0, -1, 1)  # of "hundred"
KEYS = ((2, 0, 0, 2), (0, 2, 0, 2), (0, 0, 2, 2))
VALUES = ((4, 0), (0, 4), (4, 4))

SCORES = [sum(q * k for q, k in zip(QUERY, key, strict=True)) for key in KEYS]
SCALED = [score / sqrt(len(QUERY)) for score in SCORES]
POWERS = [exp(score) for score in SCALED]
WEIGHTS = [power / sum(POWERS) for power in POWERS]
OUTPUT = [sum(weight * value[i] for weight, value in zip(WEIGHTS, VALUES, strict=True)) for i in (0, 1)]

COLUMNS = (28, 122, 268, 352, 440, 530, 622)  # token, key, score, scaled, power, weight, value
ROW, PITCH = 182, 52


def signed(numbers) -> str:
    return "(" + ", ".join(str(number).replace("-", "−") for number in numbers) + ")"


DESCRIPTION = (
    f"The query of 'hundred' is {signed(QUERY)}. "
    + " ".join(
        f"The key of {token!r} is {signed(key)}: score {score}, divided by √4 {scaled:g}, e to that power {power:.2f}, "
        f"weight {weight:.3f}; its value is {signed(value)}."
        for token, key, score, scaled, power, weight, value in zip(
            TOKENS, KEYS, SCORES, SCALED, POWERS, WEIGHTS, VALUES, strict=True
        )
    )
    + f" The powers add up to {sum(POWERS):.2f}. The output is the sum of the values times their weights: "
    f"({OUTPUT[0]:.2f}, {OUTPUT[1]:.2f}). In the plane it is a point within the triangle of the three values, nearest "
    "to that of 'four'."
)


def draw() -> Canvas:
    canvas = Canvas("attention_by_hand", 560, title="What 'hundred' takes from three tokens", description=DESCRIPTION)
    canvas.heading(
        "What 'hundred' takes from three tokens", "One query, three keys, three values: every number on the way."
    )
    canvas.box(
        28,
        82,
        340,
        34,
        f"query of 'hundred'  q = {signed(QUERY)}",
        fill=shapes.QUERY.tint,
        stroke=shapes.QUERY.full,
        colour=shapes.QUERY.shade,
    )
    heads = ("token", "key k", "q · k", "÷ √4", "e^…", "weight", "value v")
    for x, head in zip(COLUMNS, heads, strict=True):
        canvas.text(x, 152, head, bold=True, colour=MUTED)
    for n, token in enumerate(TOKENS):
        y = ROW + n * PITCH
        cells = (token, signed(KEYS[n]), str(SCORES[n]), f"{SCALED[n]:g}", f"{POWERS[n]:.2f}")
        canvas.box(COLUMNS[1] - 8, y - 20, 120, 32, fill=shapes.KEY.tint, stroke=shapes.KEY.full)
        canvas.box(COLUMNS[5] - 8, y - 20, 66, 32, fill=shapes.WEIGHT.tint, stroke=shapes.WEIGHT.full)
        canvas.box(COLUMNS[6] - 8, y - 20, 66, 32, fill=shapes.VALUE.tint, stroke=shapes.VALUE.full)
        for x, cell, colour in zip(COLUMNS, cells, (INK, shapes.KEY.shade, INK, INK, INK), strict=False):
            canvas.text(x, y, cell, colour=colour, bold=x == COLUMNS[0])
        canvas.text(COLUMNS[5], y, f"{WEIGHTS[n]:.3f}", colour=shapes.WEIGHT.shade, bold=True)
        canvas.text(COLUMNS[6], y, signed(VALUES[n]), colour=shapes.VALUE.shade)
    y = ROW + 3 * PITCH - 8
    canvas.line((COLUMNS[4] - 8, y - 18), (COLUMNS[5] + 58, y - 18), colour=MUTED, arrow=False)
    canvas.text(COLUMNS[4], y + 4, f"{sum(POWERS):.2f}")
    canvas.text(COLUMNS[5], y + 4, "1.000", colour=shapes.WEIGHT.shade)
    canvas.text(COLUMNS[4] - 20, y + 4, "sum", colour=MUTED, anchor="end")
    draw_plane(canvas, 60, 530, 40)
    canvas.text(320, 400, "output = weights · values", bold=True)
    for i, name in enumerate(("first", "second")):
        terms = " + ".join(f"{w:.3f} · {value[i]}" for w, value in zip(WEIGHTS, VALUES, strict=True))
        canvas.text(320, 428 + 24 * i, f"{name}:  {terms}  =  {OUTPUT[i]:.2f}")
    canvas.text(320, 492, "The weights are positive and add up to 1: the output lies", colour=MUTED)
    canvas.text(320, 510, "inside the triangle, nearest to the heaviest value.", colour=MUTED)
    return canvas


def draw_plane(canvas: Canvas, left: float, bottom: float, unit: float) -> None:
    """The values as corners, the output among them."""

    def at(point):
        return left + unit * point[0], bottom - 10 - unit * point[1]

    canvas.line(at((0, 4.6)), at((0, 0)), at((4.6, 0)), colour=MUTED, arrow=False)
    canvas.line(*map(at, (*VALUES, VALUES[0])), colour=shapes.VALUE.full, dash="4 4", arrow=False, thickness=1.2)
    for weight, value in zip(WEIGHTS, VALUES, strict=True):
        canvas.line(at(OUTPUT), at(value), colour=shapes.WEIGHT.shade, thickness=1 + 6 * weight, arrow=False)
        canvas.mark(shapes.value_mark, *at(value), 7)
    for token, (dx, dy) in zip(TOKENS, ((10, -4), (8, -12), (10, 4)), strict=True):
        x, y = at(VALUES[TOKENS.index(token)])
        canvas.text(x + dx, y + dy, f"v of {token}", size=SMALL, colour=shapes.VALUE.shade)
    canvas.circle(*at(OUTPUT), 8, fill=INK)
    x, y = at(OUTPUT)
    canvas.text(x - 14, y + 26, "output", size=SMALL, bold=True, anchor="end")


if __name__ == "__main__":
    save(draw())
