"""All-reduce on a ring, step by step: what each rank has, what travels, and how much every rank has sent so far.

    ring_explorer()

    steps 1 … n − 1       reduce-scatter: part (r − 1 − step) mod n arrives at rank r, which adds its own
    steps n … 2 (n − 1)   all-gather: part (r − step + n − 1) mod n arrives at rank r complete, and replaces its own
    sent by each rank     step / n of its tensor, at the end 2 (n − 1) / n

Rank r begins with the parts 1, 2, 3 … times 10^r. So the digits of a sum say which ranks are in it. Source: Patarasu
and Yuan 2009. Tests compare the end with the simulated ranks of `collectives.py`.
"""

import math
from typing import NamedTuple

from tx_helpers.nn.arguments import check_numbers
from tx_helpers.show.controls import choice, slider
from tx_helpers.show.explore import Explore
from tx_helpers.show.play import play_button
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import BLUE, EDGE, GREEN, GREY, MUTED, ORANGE, arrow, card, shape, words

RANKS = (2, 3, 4)
WIDE, ROW = 92, 22  # a rank's box, a part in it
MIDDLE, ACROSS, DOWN = 400, 290, 128  # the ellipse on which the ranks stand


# --- compute ----------------------------------------------------------------------------------------------------------
class Around(NamedTuple):
    """What all ranks have after a step."""

    parts: list[list[int]]  # of each rank
    arrived: list[int | None]  # for each rank the number of the part that came in this step


def last_step(ranks: int) -> int:
    """2 (n − 1)."""
    return 2 * (ranks - 1)


def arrives(rank: int, step: int, ranks: int) -> int:
    """The number of the part that reaches this rank in this step."""
    back = step + 1 if step < ranks else step - ranks + 1
    return (rank - back) % ranks


def around(ranks: int, step: int) -> Around:
    """The parts of all ranks after so many steps of the all-reduce."""
    check_numbers("around", least=2, whole=True, ranks=ranks)
    check_numbers("around", least=0, most=last_step(ranks), whole=True, step=step)
    parts = [[(part + 1) * 10**rank for part in range(ranks)] for rank in range(ranks)]
    for done in range(1, step + 1):
        before = [list(row) for row in parts]
        for rank in range(ranks):
            part = arrives(rank, done, ranks)
            own = before[rank][part] if done < ranks else 0
            parts[rank][part] = before[rank - 1][part] + own
    came = [arrives(rank, step, ranks) if step else None for rank in range(ranks)]
    return Around(parts, came)


# --- draw -------------------------------------------------------------------------------------------------------------
def draw(ranks: int, step: int) -> Svg:
    """The ranks in a ring, each with its parts below each other; an arrow for each part that has just travelled."""
    step = min(step, last_step(ranks))
    found, tall = around(ranks, step), 28 + ROW * ranks
    height = 86 + 2 * DOWN + tall + 46
    places = [_place(rank, ranks, tall) for rank in range(ranks)]
    parts = [words(18, 30, _title(ranks, step), size=15, font_weight="bold"), words(18, 52, _below(step), fill=MUTED)]
    if step:
        for rank, place in enumerate(places):
            parts += _arrow(places[rank - 1], place, found, rank, step)
    for rank, place in enumerate(places):
        parts += _rank(place, rank, found, ranks, tall)
    parts.append(words(18, height - 18, _sent(ranks, step), font_weight="bold"))
    return card(800, height, parts, describe(ranks, step))


def _place(rank: int, ranks: int, tall: float) -> tuple[float, float]:
    """The middle of a rank's box; rank 0 stands above, the next one to its right."""
    angle = 2 * math.pi * rank / ranks - math.pi / 2 + (math.pi / 2 if ranks == 2 else 0)
    return MIDDLE + ACROSS * math.cos(angle), 76 + tall / 2 + DOWN * (1 + math.sin(angle))


def _arrow(begin: tuple, end: tuple, found: Around, rank: int, step: int) -> list[str]:
    """From a rank to the next one, with what travels beside its middle."""
    adding = step < len(found.parts)
    colour = BLUE if adding else GREEN
    (x0, y0), (x1, y1) = begin, end
    side = 30 * (len(found.parts) == 2) * (1 if x1 > x0 else -1)  # two ranks: one arrow above the other
    at = [(x0 + (x1 - x0) * share, y0 + side + (y1 - y0) * share) for share in (0.31, 0.69)]
    part = found.arrived[rank]
    own = (part + 1) * 10**rank if adding else 0
    said = f"{found.parts[rank][part] - own}"
    x, y = (at[0][0] + at[1][0]) / 2, (at[0][1] + at[1][1]) / 2
    wide = 9 * len(said) + 14
    plate = shape("rect", x=x - wide / 2, y=y - 12, width=wide, height=22, rx=4, fill=colour.tint, stroke=colour.full)
    return [
        arrow(*at[0], *at[1], colour.full),
        plate,
        words(x, y + 4, said, anchor="middle", fill=colour.shade, font_weight="bold"),
    ]


def _rank(place: tuple[float, float], rank: int, found: Around, ranks: int, tall: float) -> list[str]:
    """A box with a row for each part: grey its own, blue a sum, green complete, an orange edge if just received."""
    x, y = place[0] - WIDE / 2, place[1] - tall / 2
    parts = [
        shape("rect", x=x - 4, y=y, width=WIDE + 8, height=tall, rx=6, fill=GREY.tint, stroke=EDGE),
        words(place[0], y + 18, f"rank {rank}", anchor="middle", font_weight="bold"),
    ]
    for number, value in enumerate(found.parts[rank]):
        own, whole = (number + 1) * 10**rank, (number + 1) * int("1" * ranks)
        colour = GREEN if value == whole else GREY if value == own else BLUE
        new = number == found.arrived[rank]
        edge = ORANGE.full if new else colour.full
        look = dict(fill=colour.tint, stroke=edge, stroke_width=2.6 if new else 1, rx=3)
        top = y + 24 + ROW * number
        parts.append(shape("rect", x=x + 2, y=top + 1.5, width=WIDE - 4, height=ROW - 4, **look))
        parts.append(words(x + WIDE - 10, top + 15, str(value), anchor="end", fill=colour.shade))
    return parts


def _title(ranks: int, step: int) -> str:
    if not step:
        return f"Start: each of {ranks} ranks has {ranks} parts of its own"
    half = "reduce-scatter" if step < ranks else "all-gather"
    return f"Step {step} of {last_step(ranks)}: {half}"


def _below(step: int) -> str:
    """What the digits say."""
    return "Rank 0 has 1, 2 …, rank 1 has 10, 20 …, so the digits of a sum say which ranks are in it."


def _sent(ranks: int, step: int) -> str:
    complete = sum(
        value == (part + 1) * int("1" * ranks) for row in around(ranks, step).parts for part, value in enumerate(row)
    )
    return f"Each rank has sent {step / ranks:.2f} tensors. Complete parts (green): {complete} of {ranks * ranks}."


# --- describe ---------------------------------------------------------------------------------------------------------
def describe(ranks: int, step: int) -> str:
    """The step, what each rank has, what has been sent."""
    step = min(step, last_step(ranks))
    has = "; ".join(f"rank {r} has {', '.join(map(str, row))}" for r, row in enumerate(around(ranks, step).parts))
    return f"{_title(ranks, step)}. {has}. {_sent(ranks, step)}"


# --- bind -------------------------------------------------------------------------------------------------------------
def ring_explorer() -> Explore:
    """Choose the step of the all-reduce, or play it, and the number of ranks."""
    step = slider("Step", 0, last_step(4), start=1)
    ranks = choice("Ranks", RANKS, 4)

    def fewer_steps(change: dict) -> None:
        step.max = last_step(change["new"])

    ranks.observe(fewer_steps, "value")
    return Explore(
        draw_of,
        name="ring",
        recorded={"step": list(range(last_step(4) + 1)), "ranks": [4]},
        step=step,
        play=play_button(step, pause=1.0),
        ranks=ranks,
    )


def draw_of(step: int, ranks: int) -> Svg:
    """`draw`, for the controls."""
    return draw(ranks, step)
