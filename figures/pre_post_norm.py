"""The block as post-norm and as pre-norm, side by side: figures/pre_post_norm.svg"""

from canvas import GREY, INK, MUTED, Canvas, save

from tx_helpers.show.shapes import RESIDUAL

TITLE = "The block as post-norm and as pre-norm"
DESCRIPTION = (
    "Two blocks side by side, each with a thick pink vertical line, the residual stream. On the left, post-norm: "
    "attention and feed-forward read the stream, their results are added to it, and after each sum a norm "
    "is on the stream itself. On the right, pre-norm: the norms are in the side branches, before attention and "
    "before feed-forward; the stream runs straight through, and one last norm follows after all blocks."
)
ATTENTION = ("Attention", GREY.tint, GREY.full, INK)
FEED_FORWARD = ("Feed-forward", GREY.tint, GREY.full, INK)


def draw() -> Canvas:
    canvas = Canvas("pre_post_norm", 508, title=TITLE, description=DESCRIPTION)
    canvas.heading(
        "Where does the norm go?", "The pink line is the residual stream x; ⊕ adds to it what a branch found."
    )
    canvas.text(36, 106, "Post-norm (2017): on the stream", bold=True)
    canvas.text(436, 106, "Pre-norm (since 2019): in the branch", bold=True)
    post(canvas, 110)
    pre(canvas, 510)
    canvas.line((400, 96), (400, 490), colour="#CBD2D9", thickness=1, arrow=False)
    return canvas


def post(canvas: Canvas, x: float) -> None:
    canvas.line((x, 122), (x, 452), colour=RESIDUAL.full, thickness=4)
    for top, part in ((150, ATTENTION), (300, FEED_FORWARD)):
        branch(canvas, x, top, [part])
        norm(canvas, x - 50, top + 82)
    canvas.text(x + 70, top + 102, "every path passes this norm", colour=MUTED)
    canvas.text(x - 74, 484, "x ← norm(x + sublayer(x))", bold=True)


def pre(canvas: Canvas, x: float) -> None:
    canvas.line((x, 122), (x, 452), colour=RESIDUAL.full, thickness=4)
    for top, part in ((136, ATTENTION), (286, FEED_FORWARD)):
        branch(canvas, x, top, [None, part])
    canvas.text(x + 20, 428, "the stream itself is never scaled:", colour=MUTED)
    canvas.text(x + 20, 446, "a last norm follows all blocks", colour=MUTED)
    canvas.text(x - 74, 484, "x ← x + sublayer(norm(x))", bold=True)


def branch(canvas: Canvas, x: float, top: float, parts: list) -> None:
    """From the stream to the right, down through the parts (None is the norm), and back to a ⊕."""
    right, y = x + 165, top
    canvas.line((x, y), (right, y), (right, y + 14), colour=MUTED)
    y += 14
    for number, part in enumerate(parts):
        if number:
            canvas.line((right, y), (right, y + 12), colour=MUTED)
            y += 12
        if part is None:
            norm(canvas, right - 75, y, width=150)
            y += 30
        else:
            name, fill, stroke, colour = part
            canvas.box(right - 75, y, 150, 36, name, fill=fill, stroke=stroke, colour=colour)
            y += 36
    canvas.line((right, y), (right, y + 16), (x + 10, y + 16), colour=MUTED)
    canvas.plus(x, y + 16, RESIDUAL.full)


def norm(canvas: Canvas, x: float, y: float, *, width: float = 100) -> None:
    canvas.box(x, y, width, 30, "norm", fill="#FFFFFF", stroke=MUTED, radius=14)


if __name__ == "__main__":
    save(draw())
