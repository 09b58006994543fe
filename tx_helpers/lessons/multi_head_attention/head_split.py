"""Splitting D into H heads of width K, followed by the eye: where does one number of (T, D) land in (H, T, K)?

    split_explorer()

Right is `view(T, H, K).transpose(0, 1)`. Wrong is `view(H, T, K)` at once, which has the right shape, too. Memory is
one row of numbers; `view` never moves one, it only says where rows end.
"""

from typing import NamedTuple

from tx_helpers.show.controls import choice, slider
from tx_helpers.show.explore import Explore
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import EDGE, INK, MUTED, card, shape, words

TOKENS = ("four", "hundred", "twenty")
WIDTH = 6  # D, which 1, 2, 3 and 6 divide
HEADS = (1, 2, 3, 6)
RIGHT, WRONG = "view, then transpose", "view alone"
SHADES = (0.0, 0.16, 0.34)  # of the words, in grey: colours are for queries, keys and values
CELL, HIGH = 44, 34  # width and height of a cell of x, in pixels
LEFT, RIGHT_SIDE, TOP = 92, 500, 86  # where x and the heads begin
CARD = (800, 352)


# --- compute ----------------------------------------------------------------------------------------------------------
class Place(NamedTuple):
    """Where a number lands: head h, row t, column k of (H, T, K), all from 0."""

    head: int
    row: int
    column: int


def landing(t: int, d: int, *, T: int, D: int, H: int, way: str = RIGHT) -> Place:
    """The place of entry (t, d) of a (T, D) matrix after the split into (H, T, K), where K = D/H.

    right:  h = d // K,          row t,             column d % K
    wrong:  n = t·D + d,  h = n // (T·K),  row (n // K) % T,  column n % K
    Raises ValueError if H does not divide D or there is no such entry.
    """
    if D % H:
        raise ValueError(f"landing: width D={D} is not divisible by H={H} heads")
    if not (0 <= t < T and 0 <= d < D):
        raise ValueError(f"landing: entry ({t}, {d}) of a matrix ({T}, {D}), expected one inside")
    K = D // H
    if way == RIGHT:
        return Place(d // K, t, d % K)
    if way != WRONG:
        raise ValueError(f"landing: way={way!r}, expected {RIGHT!r} or {WRONG!r}")
    n = t * D + d
    return Place(n // (T * K), n // K % T, n % K)


def strangers(H: int, way: str, *, T: int = len(TOKENS), D: int = WIDTH) -> int:
    """How many of the T·D numbers land in a row that belongs to another word."""
    return sum(landing(t, d, T=T, D=D, H=H, way=way).row != t for t in range(T) for d in range(D))


# --- draw -------------------------------------------------------------------------------------------------------------
def draw(t: int, d: int, H: int, way: str) -> Svg:
    """The matrix (T, D) on the left, the heads (H, T, K) on the right, the followed number framed in both."""
    T, D, K = len(TOKENS), WIDTH, WIDTH // H
    code = f"x.view({T}, {H}, {K}).transpose(0, 1)" if way == RIGHT else f"x.view({H}, {T}, {K})"
    parts = [
        words(24, 34, code, size=16, font_weight="bold"),
        words(LEFT, TOP - 14, f"x: (T, D) = ({T}, {D})", fill=MUTED),
        words(RIGHT_SIDE, TOP - 14, f"heads: (H, T, K) = ({H}, {T}, {K})", fill=MUTED),
    ]
    wide = min(CELL, (CARD[0] - RIGHT_SIDE - 24 - 10 * (H - 1)) / D)
    head_left = [RIGHT_SIDE + head * (K * wide + 10) for head in range(H)]
    for row, token in enumerate(TOKENS):
        for x in (LEFT, RIGHT_SIDE):
            name = dict(anchor="end", font_weight="bold")
            parts.append(words(x - 8, TOP + row * HIGH + 22, token, **name))
    for head, x in enumerate(head_left):
        parts.append(words(x + K * wide / 2, TOP + T * HIGH + 20, f"head {head + 1}", size=12, anchor="middle"))
    frames = []
    for row in range(T):
        for column in range(D):
            place = landing(row, column, T=T, D=D, H=H, way=way)
            here = LEFT + column * CELL, TOP + row * HIGH, CELL
            there = head_left[place.head] + place.column * wide, TOP + place.row * HIGH, wide
            for x, y, width in (here, there):
                parts += _cell(x, y, width, row * D + column, SHADES[row])
                if (row, column) == (t, d):
                    frame = dict(x=x - 1, y=y - 1, width=width, height=HIGH, fill="none", rx=3)
                    frames.append(shape("rect", stroke=INK, stroke_width=3, **frame))
    return card(*CARD, [*parts, *frames, *_memory(t * D + d)], describe(t, d, H, way))


def _cell(x: float, y: float, width: float, number: int, shade: float) -> list[str]:
    return [
        shape("rect", x=x, y=y, width=width - 2, height=HIGH - 2, fill=INK, fill_opacity=shade, stroke=EDGE),
        words(x + width / 2 - 1, y + 21, str(number), anchor="middle"),
    ]


def _memory(followed: int) -> list[str]:
    """All numbers as they lie in memory, in the shades of their words."""
    y, wide = 270, 41
    parts = [words(24, 258, "in memory: one row, the same before and after view", fill=MUTED)]
    for n in range(len(TOKENS) * WIDTH):
        x, shade = 24 + n * wide, SHADES[n // WIDTH]
        frame = dict(stroke=INK, stroke_width=3) if n == followed else dict(stroke=EDGE)
        parts.append(shape("rect", x=x, y=y, width=wide - 3, height=30, fill=INK, fill_opacity=shade, rx=3, **frame))
        parts.append(words(x + wide / 2 - 1.5, y + 20, str(n), size=12, anchor="middle"))
    note = "x[t, d] is number t·D + d. A view cuts this row into new pieces; a transpose changes the order of reading."
    parts.append(words(24, 330, note, size=12, fill=MUTED))
    return parts


# --- describe ---------------------------------------------------------------------------------------------------------
def describe(t: int, d: int, H: int, way: str) -> str:
    """Where the followed number lands, by which arithmetic, and how many numbers are in a wrong row."""
    T, D, K = len(TOKENS), WIDTH, WIDTH // H
    head, row, column = landing(t, d, T=T, D=D, H=H, way=way)
    n = t * D + d
    sums = f"h = {d} // {K} = {head}, k = {d} % {K} = {column}, t stays {t}"
    if way == WRONG:
        sums = f"h = {n} // {T * K} = {head}, t = {n} // {K} % {T} = {row}, k = {n} % {K} = {column}"
    owner = "its own word" if row == t else "another word's row"
    return (
        f"H = {H}, K = {K}, {way}: Number {n}, entry ({t}, {d}) of '{TOKENS[t]}', lands in head {head + 1}, "
        f"row '{TOKENS[row]}', column {column} ({owner}): {sums}. "
        f"{strangers(H, way)} of {T * D} numbers stand in the row of another word."
    )


# --- bind -------------------------------------------------------------------------------------------------------------
def split_explorer() -> Explore:
    """Heads, way of splitting, and the number that is followed."""
    return Explore(
        lambda heads, way, number: draw(number // WIDTH, number % WIDTH, heads, way),
        name="split-heads",
        heads=choice("Heads H", HEADS, 2, width=240),
        way=choice("Way", [RIGHT, WRONG], width=240),
        number=slider("Number to follow", 0, len(TOKENS) * WIDTH - 1, start=9),
    )
