"""What six kinds of attention keep of the past: figures/what_is_kept.svg"""

from canvas import BLUE, GOLD, GREEN, GREY, INK, MUTED, PINK, SMALL, Canvas, save

TITLE = "What is kept of eight tokens"
DESCRIPTION = (
    "Six panels; each column is a token, a blue cell a key, a green cell a value. Multi-head: four keys and four "
    "values for each of eight tokens. Grouped-query: two of each. Multi-query: one of each. Latent: one yellow cell "
    "for each token, from which all heads make their keys and values. Sliding window: four keys and values, but of "
    "the last three tokens alone; the first five tokens are empty, dotted cells. Linear: a single pink table, "
    "whatever the number of tokens."
)
TOKENS, STEP, CELL, ROW = 8, 26, 10, 14
EMPTY = dict(stroke=GREY.full, dash="2 3", thickness=0.8)


def draw() -> Canvas:
    canvas = Canvas("what_is_kept", 360, title=TITLE, description=DESCRIPTION)
    canvas.heading(TITLE, "A column is a token, blue a key, green a value. A layer with four heads keeps:")
    panel(canvas, 28, 100, "Multi-head", "all four heads", lambda token: 4)
    panel(canvas, 288, 100, "Grouped-query", "two heads of keys and values", lambda token: 2)
    panel(canvas, 548, 100, "Multi-query", "one head of keys and values", lambda token: 1)
    panel(canvas, 28, 232, "Latent", "a short vector for all heads")
    panel(canvas, 288, 232, "Sliding window", "the last three tokens", lambda token: 4 if token >= 5 else -4)
    title(canvas, 548, 232, "Linear", "one table for the entire past")
    for row in range(5):
        for column in range(5):
            canvas.box(548 + 15 * column, 232 + 30 + 15 * row, 13, 13, radius=2, fill=PINK.full)
    return canvas


def title(canvas: Canvas, left: float, top: float, name: str, kept: str) -> None:
    canvas.text(left, top, name, bold=True, colour=INK)
    canvas.text(left, top + 18, kept, size=SMALL, colour=MUTED)


def panel(canvas: Canvas, left: float, top: float, name: str, kept: str, heads=None) -> None:
    """One kind of attention; heads(token) is how many keys and values stay (negative: gone); None: a latent."""
    title(canvas, left, top, name, kept)
    for token in range(TOKENS):
        x, y = left + STEP * token, top + 30
        if heads is None:
            canvas.box(x, y, 2 * CELL, 30, radius=2, fill=GOLD.full)
            continue
        for head in range(abs(heads(token))):
            for place, colour in enumerate((BLUE, GREEN)):
                look = dict(fill=colour.full) if heads(token) > 0 else EMPTY
                canvas.box(x + (CELL + 1) * place, y + ROW * head, CELL, ROW - 2, radius=2, **look)


if __name__ == "__main__":
    save(draw())
