"""The whole encoder–decoder, pre-norm, with the shape at each arrow: figures/architecture.svg"""

from canvas import BLUE, GOLD, GREEN, INK, MUTED, ORANGE, PINK, SMALL, WIDTH, Canvas, save

from tx_helpers.show.shapes import RESIDUAL

TITLE = "The whole Transformer: an encoder and a decoder, with the shape at each arrow"
DESCRIPTION = (
    "On the left the encoder: the source ids (B, S) become vectors (B, S, D) by embedding and position, then run "
    "down a straight line, the residual stream. In each encoder block self-attention and feed-forward read a "
    "normalised copy of the stream and add what they found. A last norm gives the memory (B, S, D). On the right "
    "the decoder, for the target so far (B, T): in each block causal self-attention, then cross-attention, then "
    "feed-forward. Cross-attention takes its queries (B, H, T, K) from the decoder and its keys and values (B, H,"
    " S, K) from the memory, so its weights are (B, H, T, S). A last norm, the output layer and a softmax give a "
    "probability for each word of the vocabulary at each position, (B, T, V): the next word."
)
RAIL, NORM, BOX, INNER, OUTER = 60, 94, 172, 352, 30  # across, counted from the drawing's outer edge
HEIGHT = 68  # of a sub-layer
GAP = 20
ATTENTION = dict(fill=GREEN.tint, stroke=GREEN.full, colour=GREEN.shade)


class Side:
    """One of the two stacks; the decoder is the encoder's mirror image."""

    def __init__(self, canvas: Canvas, positions: str, colours: tuple[str, str, str], mirrored: bool):
        self.canvas, self.positions, self.mirrored = canvas, positions, mirrored
        self.colour, self.tint, self.shade = colours

    def x(self, across: float) -> float:
        return WIDTH - across if self.mirrored else across

    def box(self, left: float, right: float, y: float, height: float, lines=(), **options) -> None:
        x = min(self.x(left), self.x(right))
        self.canvas.box(x, y, right - left, height, lines, **options)

    def say(self, across: float, y: float, words: str, **options) -> None:
        anchor = "end" if self.mirrored else "start"
        self.canvas.text(self.x(across), y, words, **{"size": SMALL, "colour": MUTED, "anchor": anchor} | options)

    def rail(self, top: float, bottom: float, label: str = "", colour: str = RESIDUAL.full) -> None:
        self.canvas.line((self.x(RAIL), top), (self.x(RAIL), bottom), colour=colour, thickness=3)
        if label:
            self.say(RAIL + 12, (top + bottom) / 2 + 3, label)

    def words(self, y: float, words: list[str]) -> None:
        """Tokens in a row, read from the left in both stacks."""
        widths = [12 + 8 * len(word) + 8 * word.startswith("<") for word in words]
        gap = min(8, (INNER + 14 - OUTER - 8 - sum(widths)) / (len(words) - 1))
        x = min(self.x(OUTER), self.x(INNER + 14))
        tray = sum(widths) + gap * (len(words) - 1) + 8
        self.canvas.box(x, y, tray, 32, fill="#FFFFFF", stroke="#CBD2D9", radius=8)
        x += 4
        for word, width in zip(words, widths, strict=True):
            special = word.startswith("<")
            fill, stroke, colour = (
                (PINK.tint, PINK.full, PINK.shade) if special else (self.tint, self.colour, self.shade)
            )
            self.canvas.box(x, y + 4, width, 24, word, fill=fill, stroke=stroke, colour=colour, size=SMALL, bold=False)
            x += width + gap

    def embedding(self, y: float) -> None:
        lines = ["embedding · √D  +  position", f"rows of a table (V, D), sinusoids ({self.positions}, D)"]
        self.box(OUTER, INNER + 14, y, 48, lines, fill=self.tint, stroke=self.colour, colour=self.shade)

    def sublayer(
        self, y: float, lines: list[str], *, fill: str, stroke: str, colour: str, height: float = HEIGHT
    ) -> None:
        """Branch off the stream, norm, compute, add to the stream."""
        canvas, rail = self.canvas, self.x(RAIL)
        canvas.line((rail, y + 14), (self.x(NORM), y + 14), colour=RESIDUAL.full)
        self.box(NORM, NORM + 54, y + 3, 22, "norm", fill="#FFFFFF", stroke=MUTED, radius=11, size=SMALL, bold=False)
        canvas.line((self.x(NORM + 54), y + 14), (self.x(BOX), y + 14), colour=RESIDUAL.full)
        self.box(BOX, INNER, y, height, lines, fill=fill, stroke=stroke, colour=colour)
        direction = -1 if self.mirrored else 1
        canvas.line((self.x(BOX), y + 53), (rail + direction * 8, y + 53), colour=RESIDUAL.full)
        middle = (rail + direction * 8 + self.x(BOX)) / 2
        canvas.text(middle, y + 46, f"(B, {self.positions}, D)", size=SMALL, colour=MUTED, anchor="middle")
        canvas.plus(rail, y + 53, RESIDUAL.full)

    def frame(self, y: float, height: float, label: str) -> None:
        self.box(18, INNER + 14, y, height, fill="#FFFFFF", stroke=self.colour, radius=10, dash="5 4")
        self.canvas.text(self.x(BOX + 90), y + 20, label, size=SMALL, colour=self.shade, anchor="middle", bold=True)

    def final_norm(self, y: float) -> None:
        self.box(OUTER, OUTER + 60, y, 22, "norm", fill="#FFFFFF", stroke=MUTED, radius=11, size=SMALL, bold=False)


def draw() -> Canvas:
    canvas = Canvas("architecture", 914, title=TITLE, description=DESCRIPTION)
    canvas.heading("The whole Transformer, from words to the next word")
    encoder = Side(canvas, "S", (BLUE.full, BLUE.tint, BLUE.shade), mirrored=False)
    decoder = Side(canvas, "T", (ORANGE.full, ORANGE.tint, ORANGE.shade), mirrored=True)
    draw_encoder(encoder)
    draw_decoder(decoder)
    canvas.line((366, 497), (448, 497), colour=GREEN.full, thickness=2.4)
    canvas.text(402, 488, "k, v", size=SMALL, colour=GREEN.shade, anchor="middle", bold=True)
    draw_how_to_read(canvas)
    draw_inside_attention(canvas)
    draw_legend(canvas)
    return canvas


def draw_encoder(side: Side) -> None:
    canvas = side.canvas
    side.words(62, ["four", "hundred", "twenty", "one"])
    side.rail(94, 118, "source ids (B, S)", MUTED)
    side.embedding(118)
    side.frame(196, 220, "encoder block, N times")
    side.rail(166, 424)
    side.say(RAIL + 12, 186, "(B, S, D)")
    side.sublayer(230, ["self-attention", "q, k, v (B, H, S, K)", "weights (B, H, S, S)"], **ATTENTION)
    side.sublayer(230 + HEIGHT + GAP, ["feed-forward", "each position alone", "inside (B, S, F)"], **plain(side))
    side.final_norm(424)
    side.rail(446, 472, "(B, S, D)")
    canvas.box(OUTER, 472, 336, 50, fill=GREEN.tint, stroke=GREEN.full, thickness=2)
    canvas.text(46, 493, "memory (B, S, D)", bold=True, colour=GREEN.shade)
    canvas.text(46, 511, "a vector for each source word, made once", size=SMALL, colour=GREEN.shade)


def draw_decoder(side: Side) -> None:
    canvas = side.canvas
    side.words(206, ["<bos>", "vier", "hundert", "ein", "und", "zwanzig"])
    side.rail(238, 262, "target so far (B, T)", MUTED)
    side.embedding(262)
    side.frame(340, 324, "decoder block, N times")
    side.rail(310, 672)
    side.say(RAIL + 12, 330, "(B, T, D)")
    side.sublayer(374, ["causal self-attention", "q, k, v (B, H, T, K)", "weights (B, H, T, T)"], **ATTENTION)
    cross = ["cross-attention", "q (B, H, T, K)", "k, v (B, H, S, K)", "weights (B, H, T, S)"]
    side.sublayer(374 + HEIGHT + GAP, cross, height=HEIGHT + 16, **ATTENTION)
    canvas.text(side.x(160), 468, "q", size=SMALL, colour=ORANGE.shade, anchor="middle", bold=True)
    side.sublayer(
        394 + 2 * HEIGHT + 2 * GAP, ["feed-forward", "each position alone", "inside (B, T, F)"], **plain(side)
    )
    side.final_norm(672)
    side.rail(694, 720, "(B, T, D)")
    side.box(OUTER, INNER + 14, 720, 46, ["output layer D → V", "the embedding's table once more"], **plain(side))
    side.rail(766, 792, "logits (B, T, V)", MUTED)
    gold = dict(fill=GOLD.tint, stroke=GOLD.full, colour=GOLD.shade)
    side.box(OUTER, INNER + 14, 792, 28, "softmax over the vocabulary", **gold)
    side.rail(820, 846, "probabilities (B, T, V)", MUTED)
    side.words(846, ["vier", "hundert", "ein", "und", "zwanzig", "<eos>"])
    canvas.text(WIDTH - OUTER, 896, "the next word, at every position", size=SMALL, colour=MUTED, anchor="end")


def plain(side: Side) -> dict[str, str]:
    return dict(fill=side.tint, stroke=side.colour, colour=side.shade)


def draw_how_to_read(canvas: Canvas) -> None:
    x, y = 456, 82
    canvas.line((x, y - 12), (x, y + 14), colour=RESIDUAL.full, thickness=3)
    canvas.text(x + 30, y + 5, "The residual stream runs through.")
    canvas.box(x - 17, y + 29, 34, 20, fill="#FFFFFF", stroke=MUTED, radius=10)
    canvas.text(x + 30, y + 35, "Each sub-layer reads a normalised copy")
    canvas.text(x + 30, y + 52, "of it (pre-norm) …")
    canvas.plus(x, y + 76, RESIDUAL.full)
    canvas.text(x + 30, y + 81, "… and adds what it found.")


def draw_inside_attention(canvas: Canvas) -> None:
    """The steps of one attention, in a panel of its own."""
    canvas.box(18, 560, 388, 156, fill="#FFFFFF", stroke=GREEN.full, radius=10)
    canvas.text(34, 584, "Inside every attention", bold=True, colour=GREEN.shade)
    rows = [
        ("queries q, keys k, values v", "three matrices, H heads"),
        ("scores = q · k / √K", "(B, H, T, S)"),
        ("mask", "hide padding; causal: hide the future"),
        ("weights = softmax over S", "(B, H, T, S)"),
        ("heads = weights · v", "(B, H, T, K)"),
        ("join the heads, one more matrix", "(B, T, D)"),
    ]
    for number, (what, shape) in enumerate(rows):
        y = 608 + 19 * number
        canvas.text(34, y, what, size=SMALL, colour=INK)
        canvas.text(392, y, shape, size=SMALL, colour=MUTED, anchor="end")


def draw_legend(canvas: Canvas) -> None:
    letters = [
        [("B", "batch"), ("S", "source or key positions"), ("T", "target or query positions"), ("D", "model width")],
        [("H", "heads"), ("K", "head width"), ("F", "hidden width"), ("V", "vocabulary")],
    ]
    for column, rows in enumerate(letters):
        for row, (letter, meaning) in enumerate(rows):
            x, y = 34 + 215 * column, 752 + 24 * row
            canvas.text(x, y, letter, bold=True)
            canvas.text(x + 20, y, meaning, colour=MUTED)
    canvas.text(34, 862, "In self-attention keys are as many as queries:", size=SMALL, colour=MUTED)
    canvas.text(34, 880, "S in the encoder, T in the decoder.", size=SMALL, colour=MUTED)


if __name__ == "__main__":
    save(draw())
