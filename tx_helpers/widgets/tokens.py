"""Explorers of notebook 02: one text in the pieces of several tokenizers, merges one by one, a map of embeddings.

Each in three parts: compute (numbers), draw (numbers -> Svg), bind (an `Explore`).
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import ipywidgets
import torch
from torch import Tensor

from tx_helpers.show.charts import line_chart
from tx_helpers.show.explore import Explore
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import BLUE, GOLD, GREEN, INK, MONO, MUTED, PINK, RED, box, card, line, shape, words
from tx_helpers.text.subwords import BYTE_PAIR_WORD, BytePairTokenizer, apply_merges
from tx_helpers.text.tokenizers import Tokenizer

TINTS = (BLUE, GOLD, GREEN, PINK)  # neighbours differ
LONGEST_TEXT = 200
WIDTH, LINE, CHARACTER = 780, 26, 8.0  # pixels: of a picture, of a line of tokens, of a letter of 13 pixels
SIGNS = {" ": "·", "\n": "↵", "\t": "⇥", "\r": "␍"}


# --- one text, several tokenizers ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Cut:
    """A text as one tokenizer cuts it: pieces as a reader sees them, their ids, and which are unknown."""

    name: str
    pieces: list[str]
    ids: list[int]
    unknown: list[bool]


def cut(name: str, tokenizer: Tokenizer, text: str) -> Cut:
    """The pieces of a text and their ids; spaces and line breaks get a sign. ValueError over 200 characters."""
    if len(text) > LONGEST_TEXT:
        raise ValueError(f"cut: a text of {len(text)} characters, the picture holds at most {LONGEST_TEXT}")
    pieces, ids = tokenizer.split(text), tokenizer.encode(text)
    return Cut(name, [sign(tokenizer, piece) for piece in pieces], ids, [i == tokenizer.unknown_id for i in ids])


def sign(tokenizer: Tokenizer, piece: str) -> str:
    """A piece as it is shown: bytes read as text, · for a space, ↵ for a line break."""
    text = tokenizer.readable(piece) if isinstance(tokenizer, BytePairTokenizer) else piece
    return "".join(SIGNS.get(character, character) for character in text)


def draw_cuts(cuts: Sequence[Cut], text: str, show: str = "pieces") -> Svg:
    """Coloured pieces, a row of boxes for each tokenizer; unknown ones in red with a broken border; or their ids."""
    parts, y, said = [], 16, []
    for one in cuts:
        count = len(one.ids)
        missing = f", {sum(one.unknown)} unknown" if any(one.unknown) else ""
        rate = f"{len(text) / count:.1f} characters each" if count else "nothing to cut"
        parts.append(words(14, y + 14, f"{one.name}: {count} tokens, {rate}{missing}", font_weight="bold"))
        labels = one.pieces if show == "pieces" else [str(i) for i in one.ids]
        y = _boxes(parts, labels, one.unknown, y + 22) + 16
        said.append(f"{one.name} {count} tokens{missing}")
    return card(WIDTH, y, parts, f"{len(text)} characters: {'; '.join(said)}.")


def _boxes(parts: list[str], labels: Sequence[str], alarm: Sequence[bool], top: float, newest: str = "") -> float:
    """Boxes from left to right, and on in the next line; returns where the last line ends."""
    x = 14.0
    for number, (label, bad) in enumerate(zip(labels, alarm, strict=True)):
        label = label if len(label) <= 60 else label[:59] + "…"
        wide = sum(2 if ord(letter) > 0x2E7F else 1 for letter in label)  # Chinese signs take two places
        width = CHARACTER * wide + 8
        if x + width > WIDTH - 12:
            x, top = 14.0, top + LINE
        colours = RED if bad or (newest and label == newest) else TINTS[number % len(TINTS)]
        dash = "4 2" if bad else None
        frame = dict(rx=4, fill=colours[1], stroke=colours[0], stroke_dasharray=dash)
        parts.append(shape("rect", x=x, y=top, width=width, height=LINE - 4, **frame))
        parts.append(words(x + width / 2, top + 15.5, label, anchor="middle", fill=colours[2], font_family=MONO))
        x += width + 2
    return top + LINE


def tokens_explorer(tokenizers: Mapping[str, Tokenizer], text: str) -> Explore:
    """Type a text and see it cut by each tokenizer, as pieces or as ids."""

    def draw(text: str, show: str) -> Svg:
        return draw_cuts([cut(name, tokenizer, text) for name, tokenizer in tokenizers.items()], text, show)

    line = ipywidgets.Text(text, description="Text", layout={"width": "640px"})
    return Explore(draw, name="tokens", text=line, show=["pieces", "ids"])


# --- merges one by one -----------------------------------------------------------------------------------------------


def pieces_after(tokenizer: BytePairTokenizer, text: str, merges: int) -> list[str]:
    """The pieces of a text if training had stopped after so many merges."""
    ranks = {pair: rank for pair, rank in tokenizer.ranks.items() if rank < merges}
    found = BYTE_PAIR_WORD.findall(text)
    return [piece for word in found for piece in apply_merges(tokenizer.letters(word), ranks)]


def token_counts(tokenizer: BytePairTokenizer, text: str) -> list[int]:
    """How many tokens the text takes after 0, 1, 2 … merges; a merge whose pair is not there changes nothing."""
    pieces = pieces_after(tokenizer, text, 0)
    counts = [len(pieces)]
    for merges, pair in enumerate(tokenizer.merges, 1):
        if pair in pairwise(pieces):
            pieces = pieces_after(tokenizer, text, merges)
        counts.append(len(pieces))
    return counts


def draw_merges(tokenizer: BytePairTokenizer, text: str, merges: int, counts: Sequence[int]) -> Svg:
    """The pieces after so many merges, the newest piece in red; beneath, the number of tokens over the merges."""
    pieces = [sign(tokenizer, piece) for piece in pieces_after(tokenizer, text, merges)]
    newest, made = "", "No merge yet: every byte is a token."
    if merges:
        left, right = tokenizer.merges[merges - 1]
        newest = sign(tokenizer, left + right)
        made = f"Merge {merges} joins '{sign(tokenizer, left)}' and '{sign(tokenizer, right)}' to '{newest}'."
    parts = [words(14, 26, made, size=14, font_weight="bold")]
    letters = [sign(tokenizer, piece) for piece in pieces_after(tokenizer, text, 0)]
    room = _boxes([], letters, [False] * len(letters), 40)  # what the pieces take at first: so the chart never moves
    y = max(room, _boxes(parts, pieces, [False] * len(pieces), 40, newest))
    x = range(len(counts))
    lines = {"tokens of this text": (x, counts), "now": ([merges, merges], [0, counts[merges]])}
    axes = dict(title="", xlabel="merges", ylabel="tokens", ylim=(0, max(counts)))
    chart = line_chart(lines, size=(WIDTH - 32, 200), **axes)
    parts.append(f'<g transform="translate(8,{y + 8})">{chart.body}</g>')
    alt = f"{made} The text takes {counts[merges]} tokens, {counts[0]} without a merge."
    return card(WIDTH, y + 220, parts, alt)


def merges_explorer(tokenizer: BytePairTokenizer, text: str) -> Explore:
    """Slide through the merges and watch the pieces of a text grow."""
    if len(text) > LONGEST_TEXT:
        raise ValueError(f"merges_explorer: a text of {len(text)} characters, expected at most {LONGEST_TEXT}")
    counts = token_counts(tokenizer, text)
    return Explore(
        lambda merges: draw_merges(tokenizer, text, merges, counts),
        name="merges",
        merges=(0, len(tokenizer.merges)),
    )


# --- a map of embeddings ---------------------------------------------------------------------------------------------


def principal_axes(points: Tensor) -> tuple[Tensor, Tensor]:
    """Mean (D) and the two directions (D, 2) in which points (N, D) differ most: principal component analysis.

    The centred matrix is U S Vᵀ; the directions are the first two rows of Vᵀ. Signs are free, and fixed here: the
    largest entry of each direction is positive.
    """
    if points.dim() != 2 or min(points.shape) < 2:
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
    nearest = cosines(table).fill_diagonal_(-2.0).argmax(dim=1)
    return sum(groups[row] == groups[near] for row, near in enumerate(nearest.tolist()))


def draw_map(table: Tensor, axes: tuple[Tensor, Tensor], names: Sequence[str], groups: Sequence[str], **at) -> Svg:
    """Words (N) at the places of their vectors (N, D) in the plane of the axes; a label without room is left out.

    at: step (of training), word (always named, and its neighbours too), limits (left, right, bottom, top) of the plane
    """
    step, word, limits = at["step"], at["word"], at["limits"]
    row = names.index(word)
    likeness = cosines(table)[row]
    likeness[row] = -2.0
    near = likeness.topk(3)
    neighbours = ", ".join(f"'{names[i]}' ({c:.2f})" for c, i in zip(*map(Tensor.tolist, near), strict=True))
    kinds = list(dict.fromkeys(groups))
    marks = dict(zip(kinds, (BLUE, RED, GREEN, PINK, GOLD), strict=False))
    x0, x1, y0, y1 = limits
    places = [
        (60 + (x - x0) / (x1 - x0) * (WIDTH - 160), 400 - (y - y0) / (y1 - y0) * 340)
        for x, y in ((table - axes[0]) @ axes[1]).tolist()
    ]
    named = [row, *near.indices.tolist()]
    sizes = [6.0 if i in named else 3.5 for i in range(len(names))]
    taken = [(x - r, y - r, x + r, y + r) for (x, y), r in zip(places, sizes, strict=True)]  # no label on a circle
    lines, circles, labels = [], [], []
    for i in sorted(range(len(names)), key=lambda i: named.index(i) if i in named else 4):  # they choose first
        (x, y), (stroke, _, ink) = places[i], marks[groups[i]]
        edge = INK if i in named else None
        circles.append(shape("circle", cx=x, cy=y, r=sizes[i], fill=stroke, stroke=edge))
        wide, reach = (8.0, 200) if i in named else (7.0, 44)
        if room := _free_room(x, y, wide * len(names[i]), taken, reach):
            taken.append(room)
            end = min(max(x, room[0]), room[2]), min(max(y, room[1]), room[3])
            if math.dist((x, y), end) > 9:
                lines.append(line(x, y, *end, MUTED, stroke_width=0.8))
            bold = dict(size=13, font_weight="bold") if i in named else dict(size=12)
            labels.append(words((room[0] + room[2]) / 2, room[3] - 3, names[i], anchor="middle", fill=ink, **bold))
    legend = [box(14 + 110 * n, 12, 102, 22, kind, marks[kind], size=12) for n, kind in enumerate(kinds)]
    legend.append(words(WIDTH - 14, 28, f"step {step}", size=14, anchor="end", fill=MUTED, font_weight="bold"))
    kept = same_group(table, groups)
    alt = (
        f"Step {step}: nearest to '{word}' are {neighbours}. {kept} of {len(names)} words have their nearest neighbour "
        "in their own group."
    )
    return card(WIDTH, 424, [*lines, *circles, *labels, *legend], alt)


Room = tuple[float, float, float, float]  # left, top, right, bottom


def _free_room(x: float, y: float, width: float, taken: Sequence[Room], reach: int) -> Room | None:
    """The nearest room for a label of this width around a point that covers nothing taken; None within `reach`."""
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
    return lambda step, word: draw_map(tables[step], axes, names, kinds, step=step, word=word, limits=(x0, x1, y0, y1))


def embedding_map(
    history: Mapping[int, Tensor],
    groups: Mapping[str, Sequence[str]],
    ids: Mapping[str, int],
    *,
    step: int,
    word: str,
) -> Svg:
    """One picture of the explorer below, for a page on which nothing can be turned."""
    return _maps(history, groups, ids)(step, word)


def embedding_explorer(
    history: Mapping[int, Tensor], groups: Mapping[str, Sequence[str]], ids: Mapping[str, int]
) -> Explore:
    """Slide through training and see words with like neighbours gather.

    history  step -> table (V, D);  groups: name -> its words;  ids: word -> its row in the tables
    """
    steps = sorted(history)
    even = {after - before for before, after in pairwise(steps)}
    if len(even) != 1:
        raise ValueError(f"embedding_explorer: steps {steps}, expected evenly spaced ones, for a slider")
    return Explore(
        _maps(history, groups, ids),
        name="embeddings",
        step=(steps[0], steps[-1], even.pop()),
        word=[word for members in groups.values() for word in members],
    )
