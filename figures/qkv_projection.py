"""From x to queries, keys and values, and on to the output, with every shape  →  qkv_projection.svg"""

from canvas import MUTED, SMALL, Canvas, save

from tx_helpers.show.shapes import KEY, QUERY, RESIDUAL, SCORE, VALUE, WEIGHT

DESCRIPTION = (
    "From left to right. The input x, of shape (B, T, D), is multiplied by three matrices: W_Q and W_K, both D by d_k, "
    "and W_V, D by d_v. This gives the queries Q (B, T, d_k), the keys K (B, T, d_k) and the values V (B, T, d_v). "
    "Queries and keys meet in the scores, Q times K transposed, divided by the square root of d_k: (B, T, T), a row "
    "for each query, a column for each key. The softmax of every row gives the weights (B, T, T); each row adds up "
    "to 1. The weights times V are the output (B, T, d_v): for each position a mean of the values. The values go past "
    "the softmax, straight to the end."
)
ROWS = {"Q": 106, "K": 206, "V": 336}  # the middle of each path
PURPOSE = {"Q": "what I look for", "K": "what I am found by", "V": "what I pass on"}
COLOURS = {"Q": QUERY, "K": KEY, "V": VALUE}


def draw() -> Canvas:
    canvas = Canvas(
        "qkv_projection",
        450,
        title="Queries, keys and values, and what attention makes of them, with shapes",
        description=DESCRIPTION,
    )
    canvas.heading("Three projections, and what attention makes of them")
    middle = ROWS["K"]
    canvas.box(
        24,
        middle - 40,
        84,
        80,
        ["x", "(B, T, D)"],
        fill=RESIDUAL.tint,
        stroke=RESIDUAL.full,
        colour=RESIDUAL.shade,
        size=17,
    )
    for name, y in ROWS.items():
        stroke, fill, shade = COLOURS[name]
        width = "d_v" if name == "V" else "d_k"
        canvas.line((108, middle), (130, middle), (130, y), (152, y))
        canvas.box(152, y - 26, 84, 52, [f"· W_{name}", f"(D, {width})"], fill="#FFFFFF", stroke=stroke, colour=shade)
        canvas.line((236, y), (264, y))
        canvas.box(264, y - 26, 100, 52, [name, f"(B, T, {width})"], fill=fill, stroke=stroke, colour=shade, size=17)
        canvas.text(314, y + 44, PURPOSE[name], size=SMALL, colour=shade, anchor="middle")
    level = (ROWS["Q"] + ROWS["K"]) / 2
    for name in "QK":
        canvas.line((364, ROWS[name]), (384, ROWS[name]), (384, level), (404, level))
    canvas.box(
        404,
        level - 34,
        118,
        68,
        ["Q Kᵀ / √d_k", "scores (B, T, T)"],
        fill=SCORE.tint,
        stroke=SCORE.full,
        colour=SCORE.shade,
    )
    canvas.line((522, level), (546, level))
    canvas.box(
        546,
        level - 34,
        144,
        68,
        ["softmax of rows", "weights (B, T, T)"],
        fill=WEIGHT.tint,
        stroke=WEIGHT.full,
        colour=WEIGHT.shade,
    )
    canvas.text(618, level + 54, "each row adds up to 1", size=SMALL, colour=WEIGHT.shade, anchor="middle")
    end = ROWS["V"]
    canvas.line((690, level), (720, level), (720, end - 26))
    canvas.line((364, end), (668, end))
    canvas.text(500, end - 9, "the values go past the softmax", size=SMALL, colour=MUTED, anchor="middle")
    canvas.box(
        668, end - 26, 108, 52, ["weights · V", "(B, T, d_v)"], fill=VALUE.tint, stroke=VALUE.full, colour=VALUE.shade
    )
    canvas.text(
        28,
        430,
        "B batch, T positions, D width of the model, d_k width of queries and keys, d_v width of values.",
        colour=MUTED,
    )
    return canvas


if __name__ == "__main__":
    save(draw())
