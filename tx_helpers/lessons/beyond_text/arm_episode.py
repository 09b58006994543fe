"""Step through an episode: the order, the table as it is, the two action tokens and their chances.

arm_explorer(load_small(Arm(), "arm"))
"""

import torch

from tx_helpers.lessons.beyond_text.arm import (
    ACTIONS,
    CORNERS,
    NOTHING,
    SIDE,
    Arm,
    Step,
    Tables,
    episode,
    fulfilled,
    tasks,
)
from tx_helpers.lessons.beyond_text.drawn_shapes import COLOURS, EDGE, HELD_OUT, PAIRS, PLACES, SHAPES
from tx_helpers.nn.arguments import check_types
from tx_helpers.show.controls import slider
from tx_helpers.show.explore import Explore
from tx_helpers.show.play import play_button
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import BLUE, GREEN, GREY, INK, PAPER, box, card, named_bar, number, shape, words
from tx_helpers.show.shapes import EDGE as LINE

TABLES, CELL = 12, 84


# --- compute ----------------------------------------------------------------------------------------------------------
def new_orders(count: int = TABLES, seed: int = 33) -> Tables:
    """Tables whose orders name a pair of colour and shape that was never asked for in training."""
    wanted = torch.tensor([PAIRS.index(pair) for pair in HELD_OUT])
    return tasks(count, generator=torch.Generator().manual_seed(seed), wanted=wanted)


def said(step: Step, table: int) -> str:
    """The order in words."""
    colour, form, place = step.tables.order[table].tolist()
    return f"take {list(COLOURS)[colour]} {list(SHAPES)[form]} {PLACES[place]}"


def chosen(step: Step, table: int) -> str:
    """The likeliest action in words."""
    what = int(step.what[table].argmax())
    return ACTIONS[what] + (f" {int(step.far[table].argmax())}" if what < 4 else "")


# --- draw -------------------------------------------------------------------------------------------------------------
def draw(step: Step, table: int, count: int, turn: int) -> Svg:
    """The table on the left, the chances of the next action on the right."""
    tables, left, top = step.tables, 20, 50
    parts = [words(left, 30, f"Order: {said(step, table)}", font_weight="bold", size=15)]
    for cell in range(SIDE * SIDE):
        x, y = left + CELL * (cell % SIDE), top + CELL * (cell // SIDE)
        fill = GREY.tint if cell in CORNERS.tolist() else PAPER
        parts.append(shape("rect", x=x, y=y, width=CELL, height=CELL, fill=fill, stroke=LINE))
        parts += drawn(int(tables.cells[table, cell]), x + 17, y + 17)
    hand = int(tables.hand[table])
    x, y = left + CELL * (hand % SIDE), top + CELL * (hand // SIDE)
    parts.append(shape("circle", cx=x + CELL / 2, cy=y + CELL / 2, r=38, fill="none", stroke=INK, stroke_width=3))
    parts += drawn(int(tables.held[table]), x + 17, y + 17)
    right = left + CELL * SIDE + 110
    if fulfilled(tables)[table]:
        parts.append(box(right, top + 20, 220, 44, "carried out", GREEN))
    else:
        parts.append(words(right - 60, 30, "next token: what to do", font_weight="bold"))
        best = int(step.what[table].argmax())
        for row, chance in enumerate(step.what[table].tolist()):
            fill = BLUE.full if row == best else GREY.full
            parts += named_bar(right, top + 25 * row, ACTIONS[row], 150 * chance, f"{chance:.2f}", fill)
        if best < 4:
            parts.append(words(right - 60, top + 184, "then: how far", font_weight="bold"))
            far = step.far[table].tolist()
            for row in (1, 2):
                fill = BLUE.full if far[row] == max(far) else GREY.full
                parts += named_bar(right, top + 170 + 25 * row, str(row), 150 * far[row], f"{far[row]:.2f}", fill)
    return card(right + 240, top + CELL * SIDE + 20, parts, describe(step, table, count, turn))


def drawn(pair: int, left: float, top: float, size: float = 10) -> list[str]:
    """The shape of a pair of `PAIRS` as a path, with pixels of this size; nothing for `NOTHING`."""
    if pair == NOTHING:
        return []
    colour, form = PAIRS[pair]
    rows = SHAPES[form]
    squares = [
        f"M{number(left + size * x)},{number(top + size * y)}h{size}v{size}h-{size}z"
        for y in range(EDGE)
        for x in range(EDGE)
        if rows[y][x] == "#"
    ]
    return [shape("path", d="".join(squares), fill=COLOURS[colour])]


# --- describe ---------------------------------------------------------------------------------------------------------
def describe(step: Step, table: int, count: int, turn: int) -> str:
    """The order, what the hand does next, and how sure the model is."""
    start = f"Order: {said(step, table)}. Step {turn} of {count}: "
    if fulfilled(step.tables)[table]:
        return start + "the order is carried out."
    return start + f"the hand's next action is {chosen(step, table)} (chance {step.what[table].max():.2f})."


# --- bind -------------------------------------------------------------------------------------------------------------
def arm_explorer(model: Arm) -> Explore:
    """Choose one of twelve new orders, and step through what the model does."""
    check_types("arm_explorer", Arm, model=model)
    steps = episode(model, new_orders())
    last = len(steps) - 1
    turn = slider("Step", 0, last)

    def picture(order: int, step: int) -> Svg:
        return draw(steps[step], order - 1, last, step)

    return Explore(
        picture,
        name="arm-episode",
        order=slider("Order", 1, TABLES),
        step=turn,
        play=play_button(turn, pause=0.8),
    )
