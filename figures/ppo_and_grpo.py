"""What must be in memory: PPO beside GRPO: figures/ppo_and_grpo.svg"""

from canvas import GREY, INK, MUTED, PINK, SMALL, Canvas, save

PARTS = (
    ("policy", "writes, learns", True, True),
    ("reference", "for the KL, fixed", True, True),
    ("value network", "guesses reward, learns", True, False),
    ("reward model", "judges, fixed", True, False),
)
DESCRIPTION = (
    "Two columns of boxes, each box a network. PPO, as InstructGPT used it, keeps four: the policy that writes "
    "and learns, the reference for the KL, a value network that guesses the reward and learns, too, and a reward "
    "model that judges. GRPO with an exact checker keeps two, the policy and the reference, and without a KL one: "
    "the mean of the group takes the place of the value network, and a program that of the reward model."
)


def draw() -> Canvas:
    canvas = Canvas("ppo_and_grpo", 312, title="PPO and GRPO: what must be in memory", description=DESCRIPTION)
    canvas.heading("Four networks, or two")
    for left, name, column in ((218, "PPO", 2), (510, "GRPO with a checker", 3)):
        canvas.text(left + 120, 78, name, anchor="middle", bold=True)
        for place, part in enumerate(PARTS):
            y = 94 + 52 * place
            kept = part[column]
            colour = PINK if kept and "learns" in part[1] else GREY
            words = part[0] if kept else ("mean of the group" if place == 2 else "a program")
            if kept:
                canvas.box(left, y, 240, 40, words, fill=colour.tint, stroke=colour.full, colour=colour.shade)
            else:
                canvas.text(left + 120, y + 26, words, anchor="middle", colour=MUTED)
    for place, part in enumerate(PARTS):
        canvas.text(24, 118 + 52 * place, part[1], size=SMALL, colour=INK)
    return canvas


if __name__ == "__main__":
    save(draw())
