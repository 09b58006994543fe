"""All-reduce on a ring of four ranks, in its 2 (n − 1) = 6 steps: figures/ring_all_reduce.svg"""

from canvas import BLUE, GREEN, GREY, INK, MUTED, ORANGE, SMALL, Canvas, save

RANKS = 4
TITLE = "All-reduce on a ring: six steps for four ranks"
DESCRIPTION = (
    "A table with a row for each of four ranks and a column for each step. Every rank's tensor is cut into four parts, "
    "drawn as squares; the number in a square says how many ranks are summed up in it. At the start all say 1. In each "
    "step every rank receives one part from the rank before it; that square has a thick orange edge. In steps 1 to 3, "
    "the reduce-scatter, it is added to the rank's own part: 2, 3 and then 4. Each rank now has one complete part, in "
    "green. In steps 4 to 6, the all-gather, complete parts travel around the ring, until all sixteen squares say 4."
)
LEFT, TOP, COLUMN, ROW, CELL = 86, 146, 100, 50, 21
STEPS = 2 * (RANKS - 1)


def draw() -> Canvas:
    canvas = Canvas("ring_all_reduce", 388, title=TITLE, description=DESCRIPTION)
    canvas.heading(TITLE, "A number says how many ranks are summed up in a part. An orange edge: just received.")
    canvas.text(LEFT + COLUMN, 96, "reduce-scatter: add what arrives", size=SMALL, colour=BLUE.shade)
    canvas.text(LEFT + 4 * COLUMN, 96, "all-gather: pass on what is complete", size=SMALL, colour=GREEN.shade)
    for step in range(STEPS + 1):
        x = LEFT + COLUMN * step
        canvas.text(x + 2 * CELL, TOP - 16, f"step {step}" if step else "start", size=SMALL, anchor="middle", bold=True)
        for rank, parts in enumerate(summands(step)):
            for part, count in enumerate(parts):
                square(canvas, x + CELL * part, TOP + ROW * rank, count, part == received(rank, step))
    for rank in range(RANKS):
        canvas.text(28, TOP + ROW * rank + 16, f"rank {rank}", size=SMALL, colour=INK, bold=True)
        if rank:
            canvas.line((44, TOP + ROW * rank - 30), (44, TOP + ROW * rank - 1), colour=MUTED)
    below = "Each step, every rank sends one part, a quarter of the tensor, to the next rank; rank 3 sends to rank 0."
    canvas.text(28, 358, below, size=SMALL, colour=MUTED)
    return canvas


def received(rank: int, step: int) -> int | None:
    """The part that a rank has received in this step."""
    if step == 0:
        return None
    adding = step < RANKS
    return (rank - step - 1) % RANKS if adding else (rank - (step - RANKS + 1)) % RANKS


def summands(step: int) -> list[list[int]]:
    """For each rank, how many ranks are summed up in each of its parts after this step."""
    parts = [[1] * RANKS for _ in range(RANKS)]
    for done in range(1, step + 1):
        before = [list(row) for row in parts]
        for rank in range(RANKS):
            part = received(rank, done)
            arrives = before[rank - 1][part]
            parts[rank][part] = arrives + 1 if done < RANKS else arrives
    return parts


def square(canvas: Canvas, x: float, y: float, count: int, new: bool) -> None:
    fill = {1: GREY.tint, RANKS: GREEN.tint}.get(count, BLUE.tint)
    edge = ORANGE.full if new else GREEN.full if count == RANKS else GREY.full
    look = dict(radius=2, size=13, bold=new, thickness=2.4 if new else 0.8)
    canvas.box(x + 1.5, y + 1.5, CELL - 3, CELL - 3, str(count), fill=fill, stroke=edge, **look)


if __name__ == "__main__":
    save(draw())
