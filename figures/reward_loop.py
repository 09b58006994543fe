"""The loop of learning from reward: figures/reward_loop.svg"""

from canvas import GREY, INK, PINK, SMALL, Canvas, save

ROWS = (("A5.", "0", "−0.58", False), ("194747A7.", "1", "+1.15", True), ("A0.", "0", "−0.58", False))
DESCRIPTION = (
    "Five columns from left to right, and an arrow back. A problem goes to the model, which writes several "
    "answers, each drawn anew. A checker pays 1 for a right answer and 0 for a wrong one. The mean of the group "
    "is subtracted, and the rest divided by the deviation, so the right answer has a positive advantage and the "
    "wrong ones a negative one. The update makes all tokens of the right answer likelier and those of the wrong "
    "ones less likely, and the next group is drawn from the new model."
)


def draw() -> Canvas:
    canvas = Canvas("reward_loop", 300, title="From answers to an update", description=DESCRIPTION)
    canvas.heading("Write, check, compare, update")
    heads = (
        (24, "1 a problem"),
        (190, "2 a group of answers"),
        (424, "3 reward"),
        (536, "4 advantage"),
        (676, "5 push"),
    )
    for x, name in heads:
        canvas.text(x, 76, name, bold=True)
    canvas.box(24, 132, 120, 40, "185373=", fill=GREY.tint, stroke=GREY.full)
    for place, (said, reward, advantage, right) in enumerate(ROWS):
        y = 92 + 46 * place
        colour = PINK if right else GREY
        canvas.box(190, y, 190, 34, said, fill=colour.tint, stroke=colour.full, colour=colour.shade)
        canvas.line((150, 152), (184, y + 17))
        canvas.text(446, y + 23, reward, anchor="middle", bold=True)
        canvas.text(590, y + 23, advantage, anchor="middle", bold=True)
        canvas.text(676, y + 23, "likelier" if right else "less likely", colour=colour.shade)
    canvas.line((724, 236), (724, 262), (84, 262), (84, 180))
    canvas.text(400, 284, "the next group is written by the new model", anchor="middle", size=SMALL, colour=INK)
    return canvas


if __name__ == "__main__":
    save(draw())
