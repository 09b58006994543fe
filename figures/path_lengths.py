"""How far it is from the first word to the last, in three architectures: figures/path_lengths.svg"""

from canvas import BLUE, GREEN, MUTED, ORANGE, PINK, Canvas, save

TITLE = "Path lengths: recurrence, convolution, attention"
DESCRIPTION = (
    "Three rows of nine dots, each dot a word. Recurrence: eight arrows in a row lead from the first word to the last: "
    "the path has eight steps. Convolution of width three, stacked: a path from the first word climbs four layers, one "
    "place nearer in each, to the middle above the words, and another comes from the last word: four layers until both "
    "meet. Attention: one arc leads from the first word straight to the last: one step."
)
COUNT, LEFT, STEP = 9, 250, 62


def draw() -> Canvas:
    canvas = Canvas("path_lengths", 470, title=TITLE, description=DESCRIPTION)
    canvas.heading(
        "From the first word to the last", "How many steps does a signal take between two words n = 8 places apart?"
    )
    recurrence(canvas, 130)
    convolution(canvas, 312)
    attention(canvas, 430)
    return canvas


def place(number: float) -> float:
    return LEFT + STEP * number


def dots(canvas: Canvas, y: float) -> None:
    for number in range(COUNT):
        ends = number in (0, COUNT - 1)
        canvas.circle(place(number), y, 9, fill=BLUE.full if ends else BLUE.tint, stroke=BLUE.full)


def told(canvas: Canvas, y: float, name: str, steps: str, colour: str) -> None:
    canvas.text(28, y - 4, name, bold=True, colour=colour)
    canvas.text(28, y + 15, steps, colour=MUTED)


def recurrence(canvas: Canvas, y: float) -> None:
    told(canvas, y, "Recurrence", "n steps: 8", ORANGE.shade)
    for number in range(COUNT - 1):
        canvas.line((place(number) + 11, y), (place(number + 1) - 11, y), colour=ORANGE.full)
    dots(canvas, y)


def convolution(canvas: Canvas, y: float) -> None:
    told(canvas, y - 50, "Convolution, width 3", "n/2 layers until they meet: 4", PINK.shade)
    for layer in range(4):
        low, high = y - 32 * layer, y - 32 * (layer + 1)
        start = low - (6 if layer else 10)
        canvas.line((place(layer), start), (place(layer + 1) - 5, high + 5), colour=PINK.shade)
        canvas.line((place(8 - layer), start), (place(7 - layer) + 5, high + 5), colour=PINK.shade)
    for layer in range(1, 5):
        for number in range(layer, COUNT - layer):
            canvas.circle(place(number), y - 32 * layer, 5, fill="#FFFFFF", stroke=PINK.full)
    dots(canvas, y)


def attention(canvas: Canvas, y: float) -> None:
    told(canvas, y - 14, "Attention", "1 step, however far", GREEN.shade)
    middle = [(place(0), y - 10), (place(0.4), y - 46), (place(7.6), y - 46), (place(8), y - 12)]
    canvas.line(*middle, colour=GREEN.full, thickness=2.2)
    dots(canvas, y)


if __name__ == "__main__":
    save(draw())
