"""The table of scores for one, two and four times the words: figures/attention_cost.svg"""

from canvas import BLUE, GREY, INK, MUTED, SMALL, Canvas, save

UNIT, BASE = 52, 296
DESCRIPTION = (
    "Three square tables of scores. For T words the table has T × T cells; for twice the words it is twice as wide and "
    "twice as high, four times the cells; for four times the words, sixteen times. Below each stands the row of words, "
    "which only doubles. In the largest table a blue strip of keys is marked: a fused kernel holds one such piece at "
    "a time and keeps running sums, so the whole table is never there at once."
)


def draw() -> Canvas:
    canvas = Canvas("attention_cost", 352, title="Twice the words, four times the scores", description=DESCRIPTION)
    canvas.heading("Twice the words, four times the scores")
    for x, times in ((28, 1), (128, 2), (282, 4)):
        side = UNIT * times
        for row in range(times):
            for column in range(times):
                where = x + UNIT * column, BASE - side + UNIT * row
                strip = times == 4 and column == 2
                fill, edge = (BLUE.tint, BLUE.full) if strip else (GREY.tint, GREY.full)
                canvas.box(*where, UNIT, UNIT, fill=fill, stroke=edge, radius=0, thickness=1)
        canvas.box(x, BASE + 8, side, 14, fill=BLUE.tint, stroke=BLUE.full, radius=3)
        words = "T words" if times == 1 else f"{times} T words"
        canvas.text(x, BASE + 40, words, size=SMALL, colour=BLUE.shade)
        canvas.text(x, BASE - side - 8, f"{times * times} × T²" if times > 1 else "T²", bold=True)
    canvas.text(514, 120, "A score for every query (row)", colour=INK)
    canvas.text(514, 140, "and every key (column).", colour=INK)
    canvas.text(514, 184, "Blue: a fused kernel holds", colour=BLUE.shade, bold=True)
    canvas.text(514, 204, "a piece of the keys at a time,", colour=BLUE.shade, bold=True)
    canvas.text(514, 224, "and keeps running sums.", colour=BLUE.shade, bold=True)
    canvas.text(514, 268, "The work stays the same;", colour=MUTED)
    canvas.text(514, 288, "the memory grows like T.", colour=MUTED)
    return canvas


if __name__ == "__main__":
    save(draw())
