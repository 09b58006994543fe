"""The explorer of embeddings: words in the plane, moving as the table is trained."""

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

import torch
from torch import Tensor

from tx_helpers.nn.arguments import check_tensors, check_types
from tx_helpers.show.controls import slider
from tx_helpers.show.explore import Explore
from tx_helpers.show.play import play_button
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import GREY, INK, MUTED, PAPER, PINK, card, line, shape, words

MARKS = ("circle", "triangle", "ring")  # of the groups: no query, key or value is meant, so none of their colours
WIDTH, HEIGHT = 780, 424
EARLY = 20  # before this step all words lie in one heap, and only the chosen ones are named
Room = tuple[float, float, float, float]  # left, top, right, bottom


# --- compute ----------------------------------------------------------------------------------------------------------
def principal_axes(points: Tensor) -> tuple[Tensor, Tensor]:
    """Mean (D) and the two directions (D, 2) in which points (N, D) differ most: principal component analysis.

    The centred matrix is U S Vᵀ; the directions are the first two rows of Vᵀ. Signs are free, and fixed here: the
    largest entry of each direction is positive.
    """
    check_tensors("principal_axes", points=(points, "float N D"))
    if min(points.shape) < 2:
        raise ValueError(f"principal_axes: points {tuple(points.shape)}, expected (N, D) with N and D of 2 at least")
    mean = points.mean(dim=0)
    axes = torch.linalg.svd(points - mean, full_matrices=False).Vh[:2]  # (2, D)
    largest = axes.gather(1, axes.abs().argmax(dim=1, keepdim=True))
    return mean, (axes * largest.sign()).T


def cosines(table: Tensor) -> Tensor:
    """The cosine of every row with every other (N, N): 1 for the same direction, 0 for a right angle."""
    unit = table / table.norm(dim=1, keepdim=True)
    return unit @ unit.T


def same_group(table: Tensor, groups: Sequence[str]) -> int:
    """How many rows have their nearest neighbour, by cosine, in their own group."""
    sizes = check_tensors("same_group", table=(table, "float N D"))
    check_types("same_group", Sequence, groups=groups)
    if len(groups) != sizes["N"] or len(groups) < 2:
        raise ValueError(
            f"same_group: {len(groups)} groups for {sizes['N']} rows of the table, expected one for each of two or more"
        )
    nearest = cosines(table).fill_diagonal_(-2.0).argmax(dim=1)
    return sum(groups[row] == groups[near] for row, near in enumerate(nearest.tolist()))


def nearest(table: Tensor, row: int, count: int = 3) -> list[tuple[int, float]]:
    """The rows most like this one and their cosines, the likest first."""
    likeness = cosines(table)[row]
    likeness[row] = -2.0
    best = likeness.topk(count)
    return list(zip(best.indices.tolist(), best.values.tolist(), strict=True))


# --- draw -------------------------------------------------------------------------------------------------------------
def draw(
    table: Tensor,
    axes: tuple[Tensor, Tensor],
    names: Sequence[str],
    groups: Sequence[str],
    *,
    step: int,
    word: str,
    limits: Room,
) -> Svg:
    """Words (N) at the places of their vectors (N, D) in the plane of the axes; a label without room is left out.

    word: always named, and its neighbours too; limits: left, right, bottom, top of the plane
    """
    row = names.index(word)
    named = [row, *(near for near, _ in nearest(table, row))]
    kinds = list(dict.fromkeys(groups))
    marks = {kind: MARKS[n % len(MARKS)] for n, kind in enumerate(kinds)}
    x0, x1, y0, y1 = limits
    places = [
        (60 + (x - x0) / (x1 - x0) * (WIDTH - 160), 400 - (y - y0) / (y1 - y0) * 340)
        for x, y in ((table - axes[0]) @ axes[1]).tolist()
    ]
    sizes = [6.0 if i in named else 3.5 for i in range(len(names))]
    taken = [(x - r, y - r, x + r, y + r) for (x, y), r in zip(places, sizes, strict=True)]  # no label on a circle
    lines, circles, labels = [], [], []
    for i in sorted(range(len(names)), key=lambda i: named.index(i) if i in named else 4):  # these choose first
        (x, y), bold = places[i], i in named
        circles.append(_mark(marks[groups[i]], x, y, sizes[i], chosen=i == row))
        letter, reach = (8.0, 200) if bold else (7.0, 44)
        if not bold and step < EARLY:
            continue
        if room := _free_room(x, y, letter * len(names[i]), taken, reach):
            taken.append(room)
            end = min(max(x, room[0]), room[2]), min(max(y, room[1]), room[3])
            if math.dist((x, y), end) > 9:
                lines.append(line(x, y, *end, MUTED, stroke_width=0.8))
            style = dict(size=13, font_weight="bold") if bold else dict(size=12)
            middle = (room[0] + room[2]) / 2
            labels.append(words(middle, room[3] - 3, names[i], anchor="middle", **style))
    legend = []
    for n, kind in enumerate(kinds):
        legend += [_mark(marks[kind], 26 + 110 * n, 24, 6, chosen=False), words(38 + 110 * n, 28, kind, size=13)]
    legend.append(words(WIDTH - 14, 28, f"step {step}", size=14, anchor="end", fill=MUTED, font_weight="bold"))
    parts = [*lines, *circles, *labels, *legend]
    return card(WIDTH, HEIGHT, parts, describe(table, names, groups, step=step, word=word))


def _mark(kind: str, x: float, y: float, radius: float, *, chosen: bool) -> str:
    """A point of a group, pink if it is the chosen word."""
    fill = PINK.full if chosen else {"circle": INK, "triangle": GREY.full, "ring": PAPER}[kind]
    if kind == "triangle":
        size = 1.25 * radius
        corners = f"{x - size:.1f},{y + size:.1f} {x + size:.1f},{y + size:.1f} {x:.1f},{y - size:.1f}"
        return shape("polygon", points=corners, fill=fill, stroke=INK)
    return shape("circle", cx=x, cy=y, r=radius, fill=fill, stroke=INK, stroke_width=1.6)


def _free_room(x: float, y: float, width: float, taken: Sequence[Room], reach: int) -> Room | None:
    """The nearest free place for a label of this width around a point; None if there is none within `reach`."""
    for gap in range(8, reach, 6):
        for across, down in ((1, 0), (-1, 0), (0, -1), (0, 1), (1, -1), (-1, -1), (1, 1), (-1, 1)):
            left = x + across * gap + (across - 1) / 2 * width
            top = y + down * (gap + 5) - 7
            room = (left, top, left + width, top + 14)
            on_card = left >= 4 and room[2] <= WIDTH - 4 and top >= 38 and room[3] <= 420
            if on_card and not any(_overlap(room, other) for other in taken):
                return room
    return None


def _overlap(a: Room, b: Room) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


# --- describe ---------------------------------------------------------------------------------------------------------
def describe(table: Tensor, names: Sequence[str], groups: Sequence[str], *, step: int, word: str) -> str:
    """The word's neighbours, and how many words have their nearest neighbour in their own group."""
    neighbours = ", ".join(f"'{names[i]}' ({cosine:.2f})" for i, cosine in nearest(table, names.index(word)))
    together = same_group(table, groups)
    return (
        f"Step {step}: nearest to '{word}' are {neighbours}. "
        f"{together} of {len(names)} words have their nearest neighbour in their own group."
    )


# --- bind -------------------------------------------------------------------------------------------------------------
def _maps(
    history: Mapping[int, Tensor], groups: Mapping[str, Sequence[str]], ids: Mapping[str, int]
) -> Callable[[int, str], Svg]:
    """(step, word) -> the map; all steps on the two main axes of the last, so that vectors move and axes do not."""
    names = [word for members in groups.values() for word in members]
    kinds = [kind for kind, members in groups.items() for _ in members]
    rows = torch.tensor([ids[word] for word in names])
    tables = {step: table[rows].double() for step, table in history.items()}
    axes = principal_axes(tables[max(tables)])
    every = torch.cat([(table - axes[0]) @ axes[1] for table in tables.values()])
    (x0, y0), (x1, y1) = every.amin(dim=0).tolist(), every.amax(dim=0).tolist()
    limits = (x0, x1, y0, y1)
    return lambda step, word: draw(tables[step], axes, names, kinds, step=step, word=word, limits=limits)


def embedding_explorer(
    history: Mapping[int, Tensor], groups: Mapping[str, Sequence[str]], ids: Mapping[str, int]
) -> Explore:
    """Slide through training and see words with like neighbours gather.

    history  step -> table (V, D);  groups: name -> its words;  ids: word -> its row in the tables
    """
    check_types("embedding_explorer", Mapping, history=history, groups=groups, ids=ids)
    steps = sorted(history)
    even = {after - before for before, after in pairwise(steps)}
    if len(even) != 1:
        raise ValueError(f"embedding_explorer: steps {steps}, expected evenly spaced ones, for a slider")
    step = slider("Step", steps[0], steps[-1], step=even.pop())
    return Explore(
        _maps(history, groups, ids),
        name="embeddings",
        told=True,
        step=step,
        play=play_button(step, pause=0.25),
        word=[word for members in groups.values() for word in members],
    )
