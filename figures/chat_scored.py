"""A chat as one text, and which of its tokens are scored: figures/chat_scored.svg"""

from canvas import BLUE, GREY, MUTED, ORANGE, PINK, SMALL, Canvas, save

READ = ["<user>", "who", "has", "a", "cat", "?", "<assistant>", "mia"]
NEXT = [*READ[1:], "<end>"]
LEFT, PITCH, WIDTH = 18, 96, 92
DESCRIPTION = (
    "A chat as one row of tokens: <user> who has a cat ? <assistant> mia <end>. Above, what the model reads at each of "
    "eight places, below, the token that follows. Only two of these targets are coloured and scored: mia, after "
    "<assistant>, and <end>, after mia. The six before, the user's words and <assistant> itself, are grey and count as "
    "−100, not scored."
)


def draw() -> Canvas:
    canvas = Canvas("chat_scored", 254, title="Which tokens of a chat are scored", description=DESCRIPTION)
    canvas.heading(
        "Which tokens of a chat are scored",
        "The template makes one text of a conversation. Upper row: what the model reads.",
        "Lower row: what it is asked for. Grey targets are −100: they do not count.",
    )
    speaks = False
    for column, (now, following) in enumerate(zip(READ, NEXT, strict=True)):
        speaks = speaks or now == "<assistant>"
        x = LEFT + PITCH * column
        canvas.line((x + WIDTH / 2, 128), (x + WIDTH / 2, 168), colour=ORANGE.full if speaks else MUTED)
        word(canvas, x, 98, now, PINK if now.startswith("<") else ORANGE if now == "mia" else BLUE)
        word(canvas, x, 168, following, ORANGE if speaks else GREY)
        canvas.text(
            x + WIDTH / 2, 216, "scored" if speaks else "−100", size=SMALL, colour=MUTED, anchor="middle", bold=speaks
        )
    canvas.text(
        20, 240, "Pink: tokens of the template. Blue: the user. Orange: the assistant.", size=SMALL, colour=MUTED
    )
    return canvas


def word(canvas: Canvas, x: float, y: float, token: str, colour) -> None:
    style = dict(fill=colour.tint, stroke=colour.full, colour=MUTED if colour is GREY else colour.shade)
    canvas.box(x, y, WIDTH, 30, token, **style, size=SMALL, bold=False)


if __name__ == "__main__":
    save(draw())
