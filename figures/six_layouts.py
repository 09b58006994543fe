"""What each of four ranks holds of the batch and of the model, in six layouts: figures/six_layouts.svg"""

from collections.abc import Callable
from itertools import groupby

from canvas import BLUE, GREEN, GREY, INK, MUTED, SMALL, Canvas, save

RANKS = 4
TITLE = "What each of four ranks holds"
DESCRIPTION = (
    "Six panels of four ranks. Each rank is drawn as two grids of four by four cells: above its tokens in blue, a row "
    "for each text, below its weights in green, a row for each layer. Where a rank holds nothing, the grid is empty. "
    "Data parallel: one text, all weights. Sharded: one text, one column of the weights. Tensor parallel: all texts, "
    "one column of the weights. Context parallel: one column of every text, all weights. Pipeline: all texts, one "
    "layer. Expert parallel: one text; two layers, the attention, are complete, and of the other two, the experts, it "
    "has one column."
)
CELL, STEP = 11, 58
FRAME = dict(stroke=GREY.full, dash="2 3", thickness=0.8)
Holds = Callable[[int, int, int], bool]  # rank, row, column -> is the cell on this rank?


def everything(rank: int, row: int, column: int) -> bool:
    return True


def own_row(rank: int, row: int, column: int) -> bool:
    return row == rank


def own_column(rank: int, row: int, column: int) -> bool:
    return column == rank


def own_experts(rank: int, row: int, column: int) -> bool:
    return row % 2 == 0 or column == rank


PANELS = (
    ("Data parallel", "sums gradients", own_row, everything),
    ("Sharded", "gathers weights, sums gradients", own_row, own_column),
    ("Tensor parallel", "sums outputs", everything, own_column),
    ("Context parallel", "passes on keys and values", own_column, everything),
    ("Pipeline", "passes on activations", everything, own_row),
    ("Expert parallel", "exchanges tokens", own_row, own_experts),
)


def draw() -> Canvas:
    canvas = Canvas("six_layouts", 444, title=TITLE, description=DESCRIPTION)
    canvas.heading(TITLE, "Above: its tokens, a row for each text. Below: its weights, a row for each layer.")
    for place, panel in enumerate(PANELS):
        draw_panel(canvas, 28 + 256 * (place % 3), 100 + 180 * (place // 3), *panel)
    return canvas


def draw_panel(canvas: Canvas, left: float, top: float, name: str, sends: str, tokens: Holds, weights: Holds) -> None:
    canvas.text(left, top, name, bold=True, colour=INK)
    canvas.text(left, top + 18, sends, size=SMALL, colour=MUTED)
    for rank in range(RANKS):
        x = left + STEP * rank
        grid(canvas, x, top + 32, rank, tokens, BLUE.full)
        grid(canvas, x, top + 88, rank, weights, GREEN.full)


def grid(canvas: Canvas, left: float, top: float, rank: int, holds: Holds, colour: str) -> None:
    canvas.box(left - 1.5, top - 1.5, 50, 50, radius=3, **FRAME)
    for row in range(RANKS):
        for held, columns in groupby(range(RANKS), lambda column, row=row: holds(rank, row, column)):
            run = list(columns)
            if held:
                canvas.box(left + 12 * run[0], top + 12 * row, 12 * len(run) - 1, CELL, radius=2, fill=colour)


if __name__ == "__main__":
    save(draw())
