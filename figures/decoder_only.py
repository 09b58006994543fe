"""Prompt and answer in one row, through one stack: figures/decoder_only.svg"""

from canvas import BLUE, GREY, MUTED, ORANGE, SMALL, Canvas, save

TITLE = "Prompt and answer in one row"
DESCRIPTION = (
    "At the bottom one row of seven tokens: the prompt, Once a shy fox, and after it the answer, named Ben had. "
    "All of them go up through the same stack of decoder blocks with causal self-attention, in which each place "
    "sees itself and the places on its left. There is no encoder and no memory. At the top each place predicts the "
    "token after it. The predictions of the first three places of the prompt are not needed. That of the last one, "
    "fox, is the answer's first word, named; dashed arrows lead from it, and from each word after it, down to the "
    "next place of the row. The prompt is read in one pass, the answer is written in one pass a token."
)
PROMPT, ANSWER = ["Once", "a", "shy", "fox"], ["named", "Ben", "had", "a"]
LEFT, NEXT, CELL, HEIGHT = 46, 102, 84, 34
PREDICTED, STACK, ROW = 96, (176, 78), 312  # heights of the predictions, of the stack, of the tokens


def draw() -> Canvas:
    canvas = Canvas("decoder_only", 418, title=TITLE, description=DESCRIPTION)
    canvas.heading(TITLE, "One stack reads the prompt and writes the answer. There is no encoder, and no memory.")
    row = PROMPT + ANSWER[:-1]
    for place in range(len(PROMPT) - 1, len(row) - 1):
        draw_way_back(canvas, place)
    top, height = STACK
    right = LEFT + NEXT * (len(row) - 1) + CELL
    for place, token in enumerate(row):
        draw_place(canvas, place, token, row)
    canvas.box(LEFT - 14, top, right - LEFT + 28, height, fill=GREY.tint, stroke=GREY.full, radius=10)
    canvas.text(LEFT, top + 34, "decoder blocks", bold=True)
    canvas.text(LEFT, top + 56, "causal: each place sees itself and the places on its left", size=SMALL)
    canvas.text(LEFT - 14, PREDICTED - 10, "what each place predicts: the token after it", size=SMALL, colour=MUTED)
    end = LEFT + NEXT * len(PROMPT) - (NEXT - CELL)
    draw_brace(canvas, LEFT, end, BLUE, "prompt: read in one pass")
    draw_brace(canvas, end + NEXT - CELL, right, ORANGE, "answer: one pass a token")
    return canvas


def draw_place(canvas: Canvas, place: int, token: str, row: list[str]) -> None:
    """A token of the row, its way up, and its prediction."""
    x, given = LEFT + NEXT * place, place < len(PROMPT)
    look, (top, height) = BLUE if given else ORANGE, STACK
    canvas.box(x, ROW, CELL, HEIGHT, token, fill=look.tint, stroke=look.full, colour=look.shade)
    middle = x + CELL / 2
    canvas.line((middle, ROW), (middle, top + height))
    canvas.line((middle, top), (middle, PREDICTED + HEIGHT))
    if place < len(PROMPT) - 1:
        canvas.box(x, PREDICTED, CELL, HEIGHT, "not needed", stroke=GREY.full, dash="3 3", size=13, bold=False)
    else:
        said = ANSWER[place - len(PROMPT) + 1]
        canvas.box(x, PREDICTED, CELL, HEIGHT, said, fill=ORANGE.tint, stroke=ORANGE.full, colour=ORANGE.shade)


def draw_way_back(canvas: Canvas, place: int) -> None:
    """From a prediction, between two places of the row, to the place where it is fed."""
    x = LEFT + NEXT * place + CELL
    between = x + (NEXT - CELL) / 2
    path = (x, PREDICTED + 17), (between, PREDICTED + 17), (between, ROW + 17), (x + NEXT - CELL, ROW + 17)
    canvas.line(*path, colour=ORANGE.full, thickness=1.4, dash="4 3")


def draw_brace(canvas: Canvas, left: float, right: float, look, words: str) -> None:
    y = ROW + HEIGHT + 16
    canvas.line((left, y), (left, y + 10), (right, y + 10), (right, y), colour=look.full, arrow=False)
    canvas.text((left + right) / 2, y + 34, words, colour=look.shade, anchor="middle", bold=True)


if __name__ == "__main__":
    save(draw())
