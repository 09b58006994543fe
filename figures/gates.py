"""A state that every step rewrites, beside one to which it adds through gates: figures/gates.svg"""

from canvas import GREEN, GREY, INK, MUTED, SMALL, Canvas, save

DESCRIPTION = (
    "Two rows of four steps. Above, the plain recurrent network: the old state goes into a box, times U and through a "
    "tanh, and a new state comes out, so every step rewrites all of it. Below, the LSTM: its second state c runs along "
    "a straight line. At each step it is only multiplied by the forget gate f, which stands like a valve on the line, "
    "and then new content, let in by the input gate i, is added from below. With f near 1 the line carries the old "
    "content on untouched."
)
FIRST, STEP = 150, 160  # where the first step stands, and how far it is to the next


def draw() -> Canvas:
    canvas = Canvas("gates", 330, title="Rewritten at every step, or added to", description=DESCRIPTION)
    canvas.heading("Rewritten at every step, or added to")
    canvas.text(28, 76, "RNN: the old state is multiplied, and bent", bold=True)
    canvas.text(28, 116, "h", colour=GREEN.shade, bold=True)
    for step in range(4):
        x = FIRST + STEP * step
        canvas.line((x - STEP + 98 if step else 44, 111), (x - 2, 111), colour=GREEN.shade)
        canvas.box(x, 92, 94, 38, "tanh(… U)", fill=GREY.tint, stroke=GREY.full, bold=False, size=SMALL)
    canvas.line((FIRST + 3 * STEP + 98, 111), (782, 111), colour=GREEN.shade)
    canvas.text(28, 176, "LSTM: the old state stays on its line", bold=True)
    canvas.text(28, 226, "c", colour=GREEN.shade, bold=True)
    canvas.line((44, 221), (782, 221), colour=GREEN.shade, thickness=5)
    for step in range(4):
        x = FIRST + STEP * step
        canvas.box(x, 203, 36, 36, "× f", fill=GREY.tint, stroke=INK, radius=18)
        canvas.line((x + 76, 276), (x + 76, 231), colour=INK)
        canvas.plus(x + 76, 221, INK)
        canvas.text(x + 76, 294, "i ⊙ g", anchor="middle", bold=True)
    canvas.text(28, 317, "f: how much of the old c to keep.  i: how much of the new content g to let in.", colour=MUTED)
    return canvas


if __name__ == "__main__":
    save(draw())
