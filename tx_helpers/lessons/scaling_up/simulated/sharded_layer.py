"""One layer on several ranks: which piece of each matrix a rank holds, step by step, and what it sends.

    sharding_explorer()

    out = ReLU(x W₁) W₂        x (N, D), W₁ (D, F), W₂ (F, D): N tokens, width D, hidden width F

The steps of each way stand in `sharded_ways.py`, with the bytes by formula. What is said to be sent was also counted,
while `layouts.py` computed the layer on simulated ranks. Numbers have 4 bytes. Nothing is freed before the end
but gathered weights.
"""

from tx_helpers.lessons.scaling_up.simulated.sharded_count import sent_counted
from tx_helpers.lessons.scaling_up.simulated.sharded_ways import (
    BYTES,
    WAYS,
    Piece,
    Step,
    holds,
    most_held,
    pieces,
    sent_by_formula,
    shapes_of,
    steps_of,
)
from tx_helpers.nn.arguments import check_numbers
from tx_helpers.show.controls import choice, slider, stops
from tx_helpers.show.explore import Explore
from tx_helpers.show.play import play_button
from tx_helpers.show.plots import Svg
from tx_helpers.show.rows import legend
from tx_helpers.show.shapes import (
    BLUE,
    EDGE,
    GREEN,
    GREY,
    INK,
    MUTED,
    ORANGE,
    PAPER,
    PINK,
    WHITE,
    arrow,
    bar,
    card,
    setting,
    shape,
    words,
)

RANKS, TOKENS = (2, 4), (16, 64, 256)
OWNERS = (BLUE, ORANGE, GREEN, PINK)  # whose piece it is
NARROW, LONG = 28, 68  # pixels: the width D, the hidden width F
HEIGHTS = dict(zip(TOKENS, (28, 52, 76), strict=True))  # of a matrix with a line for each token
LEFT, VALUES, GRADIENTS, TOP, GAP = 74, 74, 380, 118, 20  # where the matrices stand; the room between two ranks


# --- compute ----------------------------------------------------------------------------------------------------------
def step_of(way: str, ranks: int, tokens: int, step: int) -> tuple[str, Step]:
    """A step of a way, counted from 1, and how to call it; the last one if there are fewer."""
    check_numbers("step_of", least=1, whole=True, step=step)
    steps = steps_of(way, ranks, tokens)
    place = min(step, len(steps))
    return f"step {place} of {len(steps)}", steps[place - 1]


# --- draw -------------------------------------------------------------------------------------------------------------
def draw(way: str, ranks: int, tokens: int, step: int) -> Svg:
    """A line of matrices for each rank, coloured by whose piece it is; below it all ways side by side."""
    place, now = step_of(way, ranks, tokens, step)
    sizes = _pixels(way, tokens)
    high = max(height for _, height in sizes.values())
    where = {name: x for start in (VALUES, GRADIENTS) for name, x in _places(sizes, start)}
    message = f"{now.message}: each rank sends {now.sent:,} bytes" if now.sent else "no message"
    parts = [
        words(16, 26, f"{way}, {place}: {now.title}", size=15, font_weight="bold"),
        words(16, 47, now.said),
        words(16, 68, message, fill=ORANGE.shade if now.sent else MUTED, font_weight="bold"),
        words(VALUES, 92, "values", fill=MUTED),
        words(GRADIENTS, 92, "their gradients", fill=MUTED),
        words(744, 110, "bytes held", fill=MUTED, anchor="end"),
    ]
    for name, x in where.items():
        label = name.removeprefix("d ")
        parts.append(words(x + sizes[label][0] / 2, 110, label, anchor="middle"))
    for rank in range(ranks):
        y = TOP + (high + GAP) * rank
        parts.append(words(LEFT - 10, y + high / 2 + 4, f"rank {rank}", anchor="end"))
        for name, x in where.items():
            wide, tall = sizes[name.removeprefix("d ")]
            top = y + (high - tall) / 2
            held = pieces(now, name, rank, ranks)
            parts += _matrix(x, top, wide, tall, held, moved=name in now.moved)
            if name in now.moved and rank < ranks - 1:
                parts += _arrows(x + wide / 2, top + tall, high - tall + GAP, now.both_ways)
        parts.append(words(744, y + high / 2 + 4, f"{holds(way, now, ranks, tokens):,}", anchor="end"))
    bottom = TOP + (high + GAP) * ranks
    parts += [*_legend(bottom + 4, ranks), *_beside(bottom + 60, way, ranks, tokens)]
    return card(760, bottom + 60 + 24 * len(WAYS) + 14, parts, describe(way, ranks, tokens, step))


def _pixels(way: str, tokens: int) -> dict[str, tuple[float, float]]:
    """Width and height of each matrix: a side of N tokens has the height of HEIGHTS, also where it is a width."""
    along = {"N": HEIGHTS[tokens], "D": NARROW, "F": LONG, "2D": 44}
    return {name: (along[columns], along[rows]) for name, (rows, columns) in WAYS[way][1].items()}


def _places(sizes: dict[str, tuple[float, float]], start: float) -> list[tuple[str, float]]:
    """Where the matrices begin, from left to right; gradients have a d before their names."""
    found, x = [], start
    for name, (wide, _) in sizes.items():
        found.append((f"{'d ' * (start == GRADIENTS)}{name}", x))
        x += wide + 12
    return found


def _matrix(x: float, y: float, wide: float, tall: float, held: list[Piece], moved: bool) -> list[str]:
    """The whole matrix as a pale outline, the pieces that are here in it; a thick outline if they have just come."""
    parts = [shape("rect", x=x, y=y, width=wide, height=tall, fill=GREY.tint, stroke=EDGE)]
    for one in held:
        place = dict(x=x + wide * one.left, y=y + tall * one.top, width=wide * one.wide, height=tall * one.tall)
        colour = MUTED if one.owner is None else OWNERS[one.owner].full
        if one.unfinished:
            tint = GREY.tint if one.owner is None else OWNERS[one.owner].tint
            parts.append(shape("rect", **place, fill=tint, stroke=colour, stroke_width=2, stroke_dasharray="4 3"))
        else:
            parts.append(shape("rect", **place, fill=colour, stroke=WHITE, stroke_width=0.5))
    frame = dict(x=x - 3, y=y - 3, width=wide + 6, height=tall + 6, rx=3, fill="none", stroke=INK, stroke_width=2)
    return parts + [shape("rect", **frame)] * moved


def _arrows(x: float, y: float, long: float, both_ways: bool) -> list[str]:
    """From a rank to the next one below, or both ways; the ring's last arrow, up to rank 0, is left out."""
    if not both_ways:
        return [arrow(x, y, x, y + long, INK, gap=4)]
    return [arrow(x - 6, y, x - 6, y + long, INK, gap=4), arrow(x + 6, y + long, x + 6, y, INK, gap=4)]


def _legend(y: float, ranks: int) -> list[str]:
    """What the colours and outlines mean."""
    rank = {f"piece of rank {rank}" if rank == 0 else str(rank): {"fill": OWNERS[rank].full} for rank in range(ranks)}
    look = dict(fill=BLUE.tint, stroke=BLUE.full, stroke_width=2, stroke_dasharray="4 3")
    come = dict(rx=3, fill="none", stroke=INK, stroke_width=2)
    same = {"the same on all": {"fill": MUTED}, "lacks the others' part": look, "has just come": come}
    return legend(16, y, rank | same)


def _beside(y: float, way: str, ranks: int, tokens: int) -> list[str]:
    """For each way the bytes that a rank sends in all, and the most that it holds; a click chooses it."""
    sent = {one: sum(sent_by_formula(one, ranks, tokens)) for one in WAYS}
    held = {one: most_held(one, ranks, tokens) for one in WAYS}
    parts = [
        words(196, y - 8, "a rank sends in all (bytes)", fill=MUTED),
        words(476, y - 8, "holds at most (bytes)", fill=MUTED),
    ]
    for row, one in enumerate(WAYS):
        top, bold = y + 24 * row, {"font_weight": "bold"} if one == way else {}
        drawn = [
            shape("rect", x=10, y=top - 1, width=740, height=22, rx=4, fill=GREY.tint if one == way else PAPER),
            words(188, top + 14, one, anchor="end", **bold),
        ]
        for x, found in ((196, sent), (476, held)):
            long = 180 * found[one] / max(found.values())
            drawn.append(bar(x, top + 2, long, 16, ORANGE.full if x == 196 else GREEN.full))
            drawn.append(words(x + long + 8, top + 14, f"{found[one]:,}", **bold))
        parts.append(setting("way", one, drawn))
    return parts


# --- describe ---------------------------------------------------------------------------------------------------------
def describe(way: str, ranks: int, tokens: int, step: int) -> str:
    """The step, what it sends and what a rank holds; in all what is sent, counted and by formula, and the most held."""
    place, now = step_of(way, ranks, tokens, step)
    forward, backward = sent_counted(way, ranks, tokens)
    by_formula = sum(sent_by_formula(way, ranks, tokens))
    sends = f"{now.message}: each rank sends {now.sent:,} bytes" if now.sent else "no message"
    numbers = BYTES * sum(rows * columns for rows, columns in shapes_of(way, tokens).values())
    return (
        f"{way}, {ranks} ranks, {tokens} tokens, {place}, {now.title}: {now.said} "
        f"{sends[0].upper()}{sends[1:]}; it holds {holds(way, now, ranks, tokens):,} bytes. In all a rank sends "
        f"{forward:,} bytes forward and {backward:,} backward (counted; formula: {by_formula:,}), and holds at most "
        f"{most_held(way, ranks, tokens):,}; one rank alone would hold {2 * numbers:,}."
    )


# --- bind -------------------------------------------------------------------------------------------------------------
def sharding_explorer() -> Explore:
    """Choose how the layer is cut, the ranks and the tokens, and go through it step by step, forward and backward."""
    step = slider("Step", 1, len(steps_of("data", 4, 64)))

    def picture(way: str, ranks: int, tokens: int, step_: int) -> Svg:
        step.max = len(steps_of(way, ranks, tokens))
        return draw(way, ranks, tokens, min(step_, step.max))

    return Explore(
        lambda step, **others: picture(step_=step, **others),
        name="sharding",
        told=True,
        recorded={"step": list(range(1, 1 + max(len(steps_of(way, 4, 64)) for way in WAYS)))},
        way=choice("Way", list(WAYS)),
        step=step,
        play=play_button(step, pause=1.5),
        ranks=stops("Ranks", RANKS, 4),
        tokens=stops("Tokens", TOKENS, 64),
    )
