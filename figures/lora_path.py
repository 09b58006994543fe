"""LoRA: a narrow path beside a frozen matrix: figures/lora_path.svg"""

from canvas import BLUE, GOLD, GREEN, GREY, INK, MUTED, SMALL, Canvas, save

D, F, RANK = 96, 96, 4
DESCRIPTION = (
    "Two paths lead from the vector x, D = 96 numbers, to the output h, F = 96 numbers. The upper one goes through the "
    "frozen matrix W, a large grey square of 96 times 96 = 9,216 numbers. The lower one goes through A, "
    "4 times 96, down "
    "to r = 4 numbers, then through B, 96 times 4, up again, and is multiplied by alpha/r; A and B together have 768 "
    "numbers and are trained. Both results are added."
)


def draw() -> Canvas:
    canvas = Canvas("lora_path", 344, title="LoRA: a narrow path beside a frozen matrix", description=DESCRIPTION)
    canvas.heading("LoRA: a narrow path beside a frozen matrix", "Grey is frozen, gold is trained.")
    canvas.box(28, 160, 84, 56, ["x", f"D = {D}"], fill=BLUE.tint, stroke=BLUE.full, colour=BLUE.shade)
    canvas.line((112, 180), (180, 180), (180, 144), (304, 144))
    canvas.box(304, 84, 150, 120, ["W, frozen", f"{F} × {D} = {F * D:,}"], fill=GREY.tint, stroke=GREY.full)
    canvas.line((454, 144), (640, 144), (640, 175))
    canvas.line((112, 196), (180, 196), (180, 258), (204, 258))
    canvas.box(204, 244, 150, 28, f"A: {RANK} × {D}", fill=GOLD.tint, stroke=GOLD.full)
    canvas.line((354, 258), (384, 258))
    canvas.box(384, 240, 36, 36, f"{RANK}", fill="#FFFFFF", stroke=INK)
    canvas.text(402, 296, "r numbers", size=SMALL, colour=MUTED, anchor="middle")
    canvas.line((420, 258), (450, 258))
    canvas.box(450, 218, 96, 80, ["B", f"{F} × {RANK}"], fill=GOLD.tint, stroke=GOLD.full)
    canvas.line((546, 258), (640, 258), (640, 201))
    canvas.text(556, 248, "times α/r", size=SMALL, colour=MUTED)
    canvas.plus(640, 188, INK)
    canvas.line((650, 188), (684, 188))
    canvas.box(684, 160, 88, 56, ["h", f"F = {F}"], fill=GREEN.tint, stroke=GREEN.full, colour=GREEN.shade)
    trained = RANK * (D + F)
    canvas.text(28, 326, f"Trained: {trained} numbers beside {F * D:,}, {trained / (F * D):.0%} of this matrix.")
    return canvas


if __name__ == "__main__":
    save(draw())
