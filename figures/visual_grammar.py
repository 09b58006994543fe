"""What has which colour and which mark in every drawing, explorer and formula: figures/visual_grammar.svg"""

from canvas import MUTED, SMALL, Canvas, save

from tx_helpers.show.shapes import (
    KEY,
    MEMORY,
    PADDING,
    QUERY,
    RESIDUAL,
    SCORE,
    SOURCE,
    SPECIAL,
    TARGET,
    VALUE,
    WEIGHT,
    key_mark,
    query_mark,
    value_mark,
)

DESCRIPTION = (
    "Six roles in attention, each with a colour and a mark. A query, what a token asks for, is an orange circle. A "
    "key, what a token is found by, is a blue square. A value, what is read from a token, is a green diamond. A score, "
    "how well a query fits a key, is grey. A weight, how much of a value is read, is gold. The residual stream, "
    "a token's own vector on its way through the layers, is pink. Below, the colours of words in drawings that show no "
    "query, key or value: blue for the source, orange for the target, green for the encoder's memory, pink for a "
    "special token such as <bos>, and grey for padding."
)
ROLES = (
    ("query  Q", "what a token asks for", QUERY),
    ("key  K", "what a token is found by", KEY),
    ("value  V", "what is read from a token", VALUE),
    ("score", "how well query and key fit", SCORE),
    ("weight", "how much of it is read", WEIGHT),
    ("residual stream", "the token's own vector", RESIDUAL),
)
MARKS = {"query  Q": query_mark, "key  K": key_mark, "value  V": value_mark}
WORDS = (
    ("source", SOURCE),
    ("target", TARGET),
    ("memory", MEMORY),
    ("special token", SPECIAL),
    ("padding", PADDING),
)


def draw() -> Canvas:
    canvas = Canvas(
        "visual_grammar", 320, title="One colour and one mark for each role in attention", description=DESCRIPTION
    )
    canvas.heading(
        "One colour, one mark",
        "The same in every drawing, explorer and formula. In charts colours only tell lines apart.",
    )
    for place, (name, meaning, colour) in enumerate(ROLES):
        x, y = 28 + 252 * (place % 3), 80 + 78 * (place // 3)
        canvas.box(x, y, 240, 66, fill=colour.tint, stroke=colour.full)
        sign(canvas, name, colour, x + 24, y + 33)
        canvas.text(x + 48, y + 29, name, size=15, colour=colour.shade, bold=True)
        canvas.text(x + 48, y + 49, meaning, size=SMALL, colour=colour.shade)
    canvas.text(28, 264, "Words, where no query, key or value is drawn", colour=MUTED)
    for place, (name, colour) in enumerate(WORDS):
        fill = dict(fill=colour.tint, stroke=colour.full, colour=colour.shade)
        canvas.box(28 + 151 * place, 276, 140, 28, name, bold=False, **fill)
    return canvas


def sign(canvas: Canvas, name: str, colour, x: float, y: float) -> None:
    """The mark of a query, key or value; a cell for a score, a bar for a weight, an arrow for the stream."""
    if name in MARKS:
        canvas.mark(MARKS[name], x, y, 10)
    elif name == "score":
        canvas.box(x - 10, y - 10, 20, 20, fill="#FFFFFF", stroke=colour.full, radius=0, thickness=2)
    elif name == "weight":
        canvas.box(x - 12, y - 6, 24, 12, fill=colour.full, radius=2)
    else:
        canvas.line((x, y + 20), (x, y - 20), colour=colour.full, thickness=4)


if __name__ == "__main__":
    save(draw())
