"""Translating through one vector, and past it by attention: figures/bottleneck.svg"""

from canvas import BLUE, GOLD, GREY, MUTED, ORANGE, Canvas, save

TITLE = "The bottleneck of one vector, and the way past it"
DESCRIPTION = (
    "Above: an encoder reads four hundred twenty one and hands its last state, a single vector, to the decoder, which "
    "writes vier hundert ein und zwanzig from it: however long the sentence, all must pass through this one vector. "
    "Below: the same with attention. While the decoder writes ein, thick and thin lines lead to it from the states of "
    "all four English words, the thickest from one."
)
SOURCE, TARGET = ("four", "hundred", "twenty", "one"), ("vier", "hundert", "ein", "und", "zwanzig")
WEIGHTS = (0.05, 0.05, 0.15, 0.75)  # a sketch, not a measurement: the notebook draws a trained model's


def draw() -> Canvas:
    canvas = Canvas("bottleneck", 448, title=TITLE, description=DESCRIPTION)
    canvas.heading("All through one vector, or a look back at every word")
    canvas.text(28, 70, "Without attention", bold=True)
    row(canvas, 88)
    canvas.box(352, 82, 84, 48, ["c", "one vector"], fill=GREY.tint, stroke=GREY.full)
    canvas.line((330, 106), (350, 106))
    canvas.line((438, 106), (458, 106))
    canvas.text(394, 154, "four words or forty: the same size", colour=MUTED, anchor="middle")
    canvas.text(28, 206, "With attention", bold=True)
    row(canvas, 336, top=False)
    words(canvas, SOURCE, 28, 228, BLUE.tint, BLUE.full, BLUE.shade, 75)
    x, y = 460 + 2 * 63 + 29, 336
    for number, weight in enumerate(WEIGHTS):
        start = (28 + 75 * number + 35, 264)
        canvas.line(
            start, (x, y - 4), colour=GOLD.shade, thickness=1 + 6 * weight, arrow=False, opacity=0.35 + 0.65 * weight
        )
    canvas.text(
        28, 412, "While it writes “ein” the decoder takes a weighted mean of all four states, most of it from “one”."
    )
    canvas.text(28, 431, "(A sketch. The notebook draws what a trained model does.)", colour=MUTED)
    return canvas


def row(canvas: Canvas, y: float, *, top: bool = True) -> None:
    """The German words, and above them, where they stand in one line, the English ones."""
    if top:
        words(canvas, SOURCE, 28, y, BLUE.tint, BLUE.full, BLUE.shade, 75)
    words(canvas, TARGET, 460, y, ORANGE.tint, ORANGE.full, ORANGE.shade, 63)


def words(canvas: Canvas, names, x: float, y: float, fill: str, stroke: str, colour: str, step: float) -> None:
    for number, name in enumerate(names):
        canvas.box(
            x + step * number, y, step - 5, 36, name, fill=fill, stroke=stroke, colour=colour, size=13, bold=False
        )


if __name__ == "__main__":
    save(draw())
