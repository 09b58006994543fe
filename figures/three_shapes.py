"""Who sees whom: encoder, decoder, and both: figures/three_shapes.svg"""

from canvas import BLUE, GREEN, GREY, INK, MUTED, ORANGE, PINK, SMALL, Canvas, save

TITLE = "Three shapes: which position may see which word"
DESCRIPTION = (
    "Three grids. Each row is a position, each column a word that it may see; filled cells are allowed. Encoder-only, "
    "the words mia, lost, a, mask: all sixteen cells are filled, and only the row of the mask predicts something, the "
    "word key. Decoder-only, the words mia, lost, a, key: the cells on and below the diagonal are filled, and each "
    "row predicts the next word. Encoder–decoder: the source mia, lost, x0 sees itself completely; below it the "
    "target, which begins with the sign bos and goes on with x0 and a, sees the whole source by cross-attention and, "
    "in its own words, itself and what came before. Its rows predict x0, a and key. "
    "Below, what models of this shape were trained on: BERT and RoBERTa on hidden words; GPT, Llama and Qwen on every "
    "next word; T5 on the words cut out, the models of 2017 and OPUS-MT on translations."
)
TOP, ROW = 170, 28
SIGNS = {"mask", "x0", "bos"}  # tokens that stand for no word
ENCODER = dict(fill=BLUE.tint, stroke=BLUE.full)
DECODER = dict(fill=ORANGE.tint, stroke=ORANGE.full)
CROSS = dict(fill=GREEN.tint, stroke=GREEN.full)
CLOSED = dict(stroke=GREY.full, dash="2 3", thickness=0.8)


def draw() -> Canvas:
    canvas = Canvas("three_shapes", 420, title=TITLE, description=DESCRIPTION)
    canvas.heading(TITLE, "Each row is a position, each column a word. A filled cell: this position may see this word.")
    panel(canvas, 24, "Encoder-only", "every word sees every word", BLUE.shade)
    grid(canvas, 66, 38, ["mia", "lost", "a", "mask"], lambda row, column: ENCODER, {3: "key"})
    below(canvas, 24, "trained on hidden words:", "BERT, RoBERTa")
    panel(canvas, 260, "Decoder-only", "itself and what came before", ORANGE.shade)
    predicted = {0: "lost", 1: "a", 2: "key", 3: "."}
    grid(canvas, 292, 34, ["mia", "lost", "a", "key"], causal, predicted)
    below(canvas, 260, "trained on every next word:", "GPT, Llama, Qwen")
    panel(canvas, 482, "Encoder–decoder", "green: the target looks at the source", GREEN.shade)
    words = ["mia", "lost", "x0", "bos", "x0", "a"]
    grid(canvas, 520, 38, words, both, {3: "x0", 4: "a", 5: "key"})
    below(canvas, 482, "trained on words cut out:", "T5; on translations: 2017, OPUS-MT")
    return canvas


def causal(row: int, column: int) -> dict:
    """The decoder sees itself and its past."""
    return DECODER if column <= row else CLOSED


def both(row: int, column: int) -> dict:
    """The encoder sees the three words of the source; the decoder sees them too, and its own past."""
    if row < 3:
        return ENCODER if column < 3 else CLOSED
    return CROSS if column < 3 else causal(row, column)


def panel(canvas: Canvas, left: float, name: str, sees: str, colour: str) -> None:
    canvas.text(left, 100, name, bold=True, colour=colour)
    canvas.text(left, 120, sees, size=SMALL, colour=MUTED)


def grid(canvas: Canvas, left: float, cell: float, words: list[str], look, predicted: dict[int, str]) -> None:
    """Rows and columns of words; look(row, column) is a cell's look, predicted the words at the right of rows."""
    for row, word in enumerate(words):
        y = TOP + ROW * row
        colour = PINK.shade if word in SIGNS else INK
        canvas.text(left - 5, y + 19, word, size=13, colour=colour, anchor="end")
        canvas.text(left + cell * (row + 0.5), TOP - 8, word, size=13, colour=colour, anchor="middle")
        for column in range(len(words)):
            canvas.box(left + cell * column + 2, y + 2, cell - 4, ROW - 4, radius=4, **look(row, column))
        if row in predicted:
            x = left + cell * len(words)
            canvas.line((x + 1, y + 14), (x + 11, y + 14), colour=INK, thickness=1.2)
            canvas.text(x + 13, y + 19, predicted[row], size=13, bold=True)


def below(canvas: Canvas, left: float, learns: str, examples: str) -> None:
    canvas.text(left, 376, learns, bold=True, size=SMALL)
    canvas.text(left, 396, examples, size=SMALL, colour=MUTED)


if __name__ == "__main__":
    save(draw())
