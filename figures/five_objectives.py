"""Five questions about one text: what is hidden, what is seen, what is the target: figures/five_objectives.svg"""

from canvas import BLUE, GREEN, GREY, MUTED, ORANGE, PINK, SMALL, Canvas, save

TITLE = "Five questions about one text"
DESCRIPTION = (
    "Five rows for the text mia lost a key . Each shows what goes in and what is to come out. "
    "Next word: mia lost a key goes in, and every place is asked for the word after it, lost a key and the point. "
    "Hidden words: mia mask a key . goes in, and only the place of the mask is asked, for lost. "
    "Words cut out: the encoder reads mia x0 . and the decoder writes x0 lost a key x1. "
    "Prefix: mia lost a key goes in, of which mia lost is read both ways; the places from lost on are asked for a, key "
    "and the point. Next sentence: two halves go in, cls mia lost sep a key, and only the place of cls is asked: yes, "
    "they belong together."
)
SIGNS = {"mask", "x0", "x1", "cls", "sep"}
ROWS = [  # name, whose, what goes in, what comes out at each place ("" is not asked), who sees whom
    ("next word", "GPT", "mia lost a key", ["lost", "a", "key", "."], "sees what came before"),
    ("hidden words", "BERT", "mia mask a key .", ["", "lost", "", "", ""], "sees both sides"),
    ("words cut out", "T5", "mia x0 .", ["x0", "lost", "a", "key", "x1"], "a reader, and a writer"),
    (
        "prefix",
        "T5's authors tried it",
        "mia lost a key",
        ["", "a", "key", "."],
        "the prefix both ways, then what came before",
    ),
    ("next sentence", "BERT, too", "cls mia lost sep a key", ["yes", "", "", "", "", ""], "sees both sides"),
]
LEFT, RIGHT, BOX, TOP, STEP = 176, 492, 47, 116, 62


def draw() -> Canvas:
    canvas = Canvas("five_objectives", TOP + STEP * len(ROWS) + 6, title=TITLE, description=DESCRIPTION)
    canvas.heading(TITLE, "The text is: mia lost a key .  Nobody wrote a label: the text itself is the answer.")
    canvas.text(LEFT, 100, "goes in", bold=True, size=SMALL, colour=BLUE.shade)
    canvas.text(RIGHT, 100, "is the target (a grey dot: not asked)", bold=True, size=SMALL, colour=ORANGE.shade)
    for number, (name, whose, seen, target, sight) in enumerate(ROWS):
        y = TOP + STEP * number
        canvas.text(24, y + 17, name, bold=True)
        canvas.text(24, y + 36, whose, size=13, colour=MUTED)
        for place, word in enumerate(seen.split()):
            look = PINK if word in SIGNS else GREEN if name == "prefix" and place < 2 else BLUE
            chip(canvas, LEFT + BOX * place, y, word, look)
        canvas.text(LEFT, y + 46, sight, size=13, colour=MUTED)
        canvas.line((LEFT + BOX * len(seen.split()) + 2, y + 14), (RIGHT - 8, y + 14), thickness=1.2)
        for place, word in enumerate(target):
            chip(canvas, RIGHT + BOX * place, y, word or "·", (PINK if word in SIGNS else ORANGE) if word else GREY)
    return canvas


def chip(canvas: Canvas, x: float, y: float, word: str, look) -> None:
    """A word in its box."""
    canvas.box(x, y, BOX - 4, 28, word, fill=look.tint, stroke=look.full, colour=look.shade, size=13, bold=False)


if __name__ == "__main__":
    save(draw())
