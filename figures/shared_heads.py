"""Query heads that share heads of keys and values: multi-head, grouped-query, multi-query  →  shared_heads.svg"""

from canvas import MUTED, SMALL, Canvas, save

from tx_helpers.show.shapes import KEY, QUERY, VALUE, key_mark, query_mark, value_mark

TITLE = "Eight query heads with eight, two and one heads of keys and values"
DESCRIPTION = (
    "Three arrangements of eight query heads. Multi-head: each query head, an orange circle, has a line to a key, a "
    "blue square, and a value, a green diamond, of its own: eight pairs to keep for each token. Grouped-query: query "
    "heads 1 to 4 share one pair of key and value, heads 5 to 8 the other: two pairs. Multi-query: all eight share one "
    "pair."
)
HEADS = 8
WAYS = (("multi-head", 8), ("grouped-query", 2), ("multi-query", 1))
LEFT, APART, STEP = 44, 256, 27  # pixels: of the first panel, between panels, between query heads


def draw() -> Canvas:
    canvas = Canvas("shared_heads", 296, title=TITLE, description=DESCRIPTION)
    canvas.heading("Who shares keys and values?", "Eight query heads above; the heads of keys and values below.")
    _legend(canvas)
    for place, (name, groups) in enumerate(WAYS):
        _way(canvas, LEFT + APART * place, name, groups)
    return canvas


def _way(canvas: Canvas, left: float, name: str, groups: int) -> None:
    """One panel: lines from each query head to the pair that it uses."""
    middle = left + STEP * (HEADS - 1) / 2
    canvas.text(middle, 94, name, bold=True, anchor="middle")
    each = HEADS // groups
    pairs = [left + STEP * (each * group + (each - 1) / 2) for group in range(groups)]
    for head in range(HEADS):
        x = left + STEP * head
        canvas.line((x, 124), (pairs[head // each], 186), arrow=False, thickness=1.2)
    for head in range(HEADS):
        canvas.mark(query_mark, left + STEP * head, 118, 9)
    for x in pairs:
        canvas.mark(key_mark, x, 196, 8)
        canvas.mark(value_mark, x, 220, 9)
    counted = "pair" if groups == 1 else "pairs"
    canvas.text(middle, 254, f"{groups} {counted} for each token", anchor="middle")
    canvas.text(middle, 274, f"{2 * groups} · K numbers to keep", size=SMALL, colour=MUTED, anchor="middle")


def _legend(canvas: Canvas) -> None:
    for x, mark, name, colour in (
        (560, query_mark, "query", QUERY),
        (640, key_mark, "key", KEY),
        (706, value_mark, "value", VALUE),
    ):
        canvas.mark(mark, x, 31, 7)
        canvas.text(x + 14, 36, name, colour=colour.shade)


if __name__ == "__main__":
    save(draw())
