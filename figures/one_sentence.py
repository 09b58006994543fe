"""One sentence on its way through the translator, with the shape at each station: figures/one_sentence.svg"""

from canvas import BLUE, GREEN, GREY, MUTED, ORANGE, SMALL, Canvas, save

DESCRIPTION = (
    "Two rows of boxes. The upper row is walked once: the text four hundred twenty-one becomes four tokens, four ids "
    "(B, S), four vectors (B, S, D), goes through the encoder, and is the memory (B, S, D). The lower row is walked "
    "for each German word: the words written so far go into the decoder, which also looks at the memory; it gives "
    "logits (B, T, V), the softmax makes probabilities of the last row, and the likeliest word, here vier, is "
    "written. An arrow leads from it back to the words written so far."
)
UPPER = (
    (["text", "“four hundred …”"], 132, BLUE),
    (["tokens", "4 pieces"], 96, BLUE),
    (["ids", "(B, S)"], 84, BLUE),
    (["vectors", "(B, S, D)"], 100, BLUE),
    (["encoder", "reads"], 104, GREY),
    (["memory", "(B, S, D)"], 108, GREEN),
)
LOWER = (
    (["written so far", "<bos>"], 132, ORANGE),
    (["decoder", "writes"], 120, GREY),
    (["logits", "(B, T, V)"], 116, ORANGE),
    (["softmax", "V probabilities"], 140, GREY),
    (["next word", "vier"], 108, ORANGE),
)


def draw() -> Canvas:
    canvas = Canvas("one_sentence", 306, title="One sentence, all the way", description=DESCRIPTION)
    canvas.heading("One sentence, all the way")
    canvas.text(28, 68, "once for each sentence", size=SMALL, colour=MUTED)
    row(canvas, UPPER, 78, 24)
    canvas.text(28, 176, "once for each German word", size=SMALL, colour=MUTED)
    row(canvas, LOWER, 186, 24)
    canvas.line((718, 134), (718, 160), (244, 160), (244, 184), colour=GREEN.shade)
    canvas.text(480, 154, "the decoder looks at the memory", size=SMALL, colour=GREEN.shade, anchor="middle")
    canvas.line((686, 242), (686, 274), (94, 274), (94, 244), colour=ORANGE.shade)
    canvas.text(390, 292, "and again, until <eos>", size=SMALL, colour=ORANGE.shade, anchor="middle")
    return canvas


def row(canvas: Canvas, boxes, y: float, gap: float) -> None:
    x = 28
    for number, (lines, width, colour) in enumerate(boxes):
        if number:
            canvas.line((x - gap + 2, y + 28), (x - 2, y + 28))
        canvas.box(x, y, width, 56, lines, fill=colour.tint, stroke=colour.full)
        x += width + gap


if __name__ == "__main__":
    save(draw())
