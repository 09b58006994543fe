"""Eight children at a table: who holds which card, and at whom each child looks.

    x, opposite = partners(torch.Generator().manual_seed(0))    # (B, 8, 17) vectors, (B, 8) cards of the child opposite
    draw_table(x[0])                                            # seats, cards, and two of the vectors
    draw_table(x[0], [weights, flipped], ["before", "after"])   # an arrow from each child to the one it looks at most

A child's vector holds 8 numbers for its seat, which the two who face each other share, 1 for its side (+2 or −2), and
8 for its card (a 1 at its number). Children t and t + 4 face each other.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from tx_helpers.nn.arguments import check_tensors
from tx_helpers.show.charts import Panel, side_by_side
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import EDGE, INK, MUTED, QUERY, WEIGHT, WHITE, arrow, line, shape, words

SEAT, SIDE, CARD = slice(0, 8), slice(8, 9), slice(9, 17)
CHILDREN, CARDS = 8, 8
SEATS = "ABCD"


# --- compute ----------------------------------------------------------------------------------------------------------
def partners(generator: torch.Generator, tables: int = 64) -> tuple[Tensor, Tensor]:
    """Vectors (B, T, D) = (tables, 8, 17) of random children, in float64, and the cards of those opposite (B, T)."""
    seat = torch.randn(tables, 4, 8, generator=generator).repeat(1, 2, 1)  # children t and t + 4 face each other
    side = torch.tensor([2.0, 2, 2, 2, -2, -2, -2, -2]).expand(tables, CHILDREN)[..., None]
    card = torch.randint(0, CARDS, (tables, CHILDREN), generator=generator)
    x = torch.cat([seat, side, torch.nn.functional.one_hot(card, CARDS)], dim=-1)
    return x.double(), card.roll(4, 1)


def cards(x: Tensor) -> list[int]:
    """The card of each child of one table x (T, 17), or the one that is strongest in its mixture."""
    return x[..., CARD].argmax(-1).tolist()


# --- draw -------------------------------------------------------------------------------------------------------------
def draw_table(x: Tensor, weights: Sequence[Tensor] = (), titles: Sequence[str] = ()) -> Svg:
    """One table x (T, 17). Without weights its cards and two vectors; else a table for each weights (T, T).

    An arrow leads from each child to the one it gives the most weight, and the number beside it is what it then says.
    """
    check_tensors("draw_table", x=(x, "float T D"))
    if not len(weights):
        return side_by_side([_table(x), _vectors(x)], alt=describe_table(x))
    panels = [_table(x, w.to(x.dtype), title) for w, title in zip(weights, titles, strict=True)]
    return side_by_side(panels, alt=describe_looks(x, weights, titles))


def _at(child: int) -> tuple[float, float]:
    """The middle of a child's seat."""
    return 65 + 80 * (child % 4), 78 if child < 4 else 222


def _table(x: Tensor, weights: Tensor | None = None, title: str = "Eight children, and their cards") -> Panel:
    parts = [words(185, 16, title, anchor="middle", font_weight="bold")]
    parts.append(shape("rect", x=20, y=104, width=330, height=92, rx=14, fill="none", stroke=EDGE, stroke_width=2))
    said = None if weights is None else cards(weights @ x)
    for child, card in enumerate(cards(x)):
        px, py = _at(child)
        upper = child < 4
        parts.append(shape("circle", cx=px, cy=py, r=17, fill=WHITE, stroke=INK, stroke_width=1.5))
        parts.append(words(px, py + 5, str(card), size=15, anchor="middle", font_weight="bold"))
        if said is None:
            parts.append(
                words(px, py - 26 if upper else py + 36, f"seat {SEATS[child % 4]}", size=12.5, anchor="middle")
            )
        else:
            right = said[child] == cards(x)[(child + 4) % CHILDREN]
            mark = f"“{said[child]}” {'✓' if right else '✗'}"
            parts.append(words(px, py - 38 if upper else py + 48, mark, size=13, anchor="middle"))
    if weights is None:
        parts += [
            arrow(*_at(0), *_at(4), QUERY.full, gap=20),
            words(74, 155, "which card?", size=12.5, fill=QUERY.shade),
        ]
        parts += [words(356, 83, "+2", size=12.5, fill=MUTED), words(356, 227, "−2", size=12.5, fill=MUTED)]
    else:
        parts += [_look(child, int(row.argmax())) for child, row in enumerate(weights)]
    return Panel((380, 284), "".join(parts))


def _look(child: int, target: int) -> str:
    """An arrow in gold from a child to another, beside the way back; a loop where a child looks at itself."""
    (x, y), (u, v) = _at(child), _at(target)
    if child == target:
        side = -1 if y < 150 else 1
        d = f"M{x - 9},{y + 15 * side}c-9,{22 * side} 27,{22 * side} 18,{0 * side}"
        return shape("path", d=d, fill="none", stroke=WEIGHT.shade, stroke_width=3)
    shift = 6 if y < v else -6
    return arrow(x + shift, y, u + shift, v, WEIGHT.shade, gap=19)


def _vectors(x: Tensor) -> Panel:
    """The 17 numbers of the child on seat A and of the one opposite, as cells."""
    parts = [words(195, 16, "Two who face each other, as vectors", anchor="middle", font_weight="bold")]
    for top, child in ((62, 0), (176, 4)):
        name = f"seat A, {'upper' if child == 0 else 'lower'} side, card {cards(x)[child]}"
        parts.append(words(6, top - 10, name, size=12.5))
        for n, value in enumerate(x[child].tolist()):
            left = 6 + 22 * n + 6 * (n >= 8) + 6 * (n >= 9)
            strength = min(abs(value) / 2, 1)
            cell = dict(
                x=left, y=top, width=20, height=26, fill=INK, fill_opacity=round(0.65 * strength, 2), stroke=MUTED
            )
            parts += [shape("rect", **cell), words(left + 10, top + 42, _sign(value), size=12.5, anchor="middle")]
    parts += [line(6, 116, 180, 116, MUTED), words(93, 132, "seat: the same", size=12.5, anchor="middle")]
    parts += [words(200, 132, "side", size=12.5, anchor="middle")]
    parts += [line(216, 116, 390, 116, MUTED), words(303, 132, "card: a 1 at its number", size=12.5, anchor="middle")]
    note = "A stronger shade is further from 0. Its sign stands below."
    parts.append(words(6, 262, note, size=12.5, fill=MUTED))
    return Panel((398, 284), "".join(parts))


def _sign(value: float) -> str:
    return "0" if value == 0 else "+" if value > 0 else "−"


# --- describe ---------------------------------------------------------------------------------------------------------
def describe_table(x: Tensor) -> str:
    """Who sits where, with which card."""
    upper, lower = ", ".join(map(str, cards(x)[:4])), ", ".join(map(str, cards(x)[4:]))
    return (
        f"Eight children at a table. On the upper side, seats A to D hold the cards {upper}; opposite are {lower}. "
        "The child on seat A asks which card is opposite. Its vector and that of the child opposite have the same 8 "
        "numbers for the seat, the opposite sign for the side, and a 1 at the number of their card."
    )


def describe_looks(x: Tensor, weights: Sequence[Tensor], titles: Sequence[str]) -> str:
    """At whom the children look, and how many then say the right card."""
    told = []
    for title, w in zip(titles, weights, strict=True):
        most, ways = w.argmax(-1), torch.arange(CHILDREN)
        itself, opposite = int((most == ways).sum()), int((most == (ways + 4) % CHILDREN).sum())
        held = cards(x)
        said = cards(w.to(x.dtype) @ x)
        right = sum(card == held[(t + 4) % CHILDREN] for t, card in enumerate(said))
        told.append(
            f"{title}: {itself} of 8 children look most at themselves, {opposite} at the child opposite; {right} say "
            "the card opposite."
        )
    return " ".join(told)
