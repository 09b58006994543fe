"""Splitting D into H heads of width K, followed by the eye: where does one number of (T, D) land in (H, T, K)?

    split_explorer()

Right is `view(T, H, K).transpose(0, 1)`. Wrong is `view(H, T, K)` at once, which has the right shape, too. Memory is
one row of numbers; `view` never moves one, it only says where rows end.
"""

from typing import NamedTuple

from ipywidgets import Dropdown, IntSlider

from tx_helpers.show.explore import Explore
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import BLUE, GOLD, GREEN, INK, MUTED, PINK, RED, card, shape, words

TOKENS = ("four", "hundred", "twenty")
WIDTH = 6  # D, which 1, 2, 3 and 6 divide
HEADS = (1, 2, 3, 6)
RIGHT, WRONG = "view, then transpose", "view alone"
COLOURS = (BLUE, RED, GREEN, PINK)  # of the words; a number keeps the colour of its word
CELL, LEFT, TOP, LANE, CARD = 44, 92, 86, 424, (800, 352)


class Place(NamedTuple):
    """Where a number lands: head h, row t, column k of (H, T, K), all from 0."""

    head: int
    row: int
    column: int


def landing(t: int, d: int, *, T: int, D: int, H: int, way: str = RIGHT) -> Place:
    """The place of entry (t, d) of a (T, D) matrix after the split into (H, T, K), K = D/H.

    right:  h = d // K,          row t,             column d % K
    wrong:  n = t·D + d,  h = n // (T·K),  row (n // K) % T,  column n % K
    Raises ValueError if H does not divide D or there is no such entry.
    """
    if D % H:
        raise ValueError(f"landing: width D={D} is not divisible by H={H} heads")
    if not (0 <= t < T and 0 <= d < D):
        raise ValueError(f"landing: entry ({t}, {d}) of a matrix ({T}, {D})")
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


def in_words(t: int, d: int, H: int, way: str) -> str:
    """Where the followed number lands, by which arithmetic, and how many numbers are in a wrong row."""
    T, D, K = len(TOKENS), WIDTH, WIDTH // H
    place = landing(t, d, T=T, D=D, H=H, way=way)
    n = t * D + d
    sums = f"h = {d} // {K} = {place.head}, k = {d} % {K} = {place.column}, t stays {t}"
    if way == WRONG:
        sums = f"h = {n} // {T * K} = {place.head}, t = {n} // {K} % {T} = {place.row}, k = {n} % {K} = {place.column}"
    lands = f"Number {n}, entry ({t}, {d}) of '{TOKENS[t]}', lands in head {place.head}, row '{TOKENS[place.row]}', "
    verdict = "its own word" if place.row == t else "another word's row"
    astray = strangers(H, way)
    return (
        f"H = {H}, K = {K}, {way}: {lands}column {place.column} ({verdict}): {sums}. "
        f"{astray} of {T * D} numbers stand in the row of another word."
    )


def draw(t: int, d: int, H: int, way: str) -> Svg:
    """The matrix (T, D) on the left, the heads (H, T, K) on the right, the followed number framed in both."""
    T, D, K = len(TOKENS), WIDTH, WIDTH // H
    code = f"x.view({T}, {H}, {K}).transpose(0, 1)" if way == RIGHT else f"x.view({H}, {T}, {K})"
    parts = [
        words(24, 34, code, size=16, font_weight="bold"),
        words(LEFT, TOP - 14, f"x: (T, D) = ({T}, {D})", fill=MUTED),
        words(LANE + 76, TOP - 14, f"heads: (H, T, K) = ({H}, {T}, {K})", fill=MUTED),
    ]
    wide = min(CELL, (CARD[0] - LANE - 100 - 10 * (H - 1)) / D)
    high = 34
    for row, token in enumerate(TOKENS):
        y = TOP + row * high
        ink = COLOURS[row][2]
        parts.append(words(LEFT - 8, y + 22, token, fill=ink, anchor="end", font_weight="bold"))
        parts.append(words(LANE + 68, y + 22, token, fill=ink, anchor="end", font_weight="bold"))
    for head in range(H):
        x = LANE + 76 + head * (K * wide + 10) + K * wide / 2
        parts.append(words(x, TOP + T * high + 20, f"head {head}", size=12, anchor="middle"))
    frames = []
    for row in range(T):
        for column in range(D):
            n = row * D + column
            place = landing(row, column, T=T, D=D, H=H, way=way)
            there = LANE + 76 + place.head * (K * wide + 10) + place.column * wide
            for x, y, width in (
                (LEFT + column * CELL, TOP + row * high, CELL),
                (there, TOP + place.row * high, wide),
            ):
                _, fill, ink = COLOURS[row]
                parts.append(shape("rect", x=x, y=y, width=width - 2, height=high - 2, fill=fill, stroke="#CBD2D9"))
                parts.append(words(x + width / 2 - 1, y + 21, str(n), fill=ink, anchor="middle"))
                if (row, column) == (t, d):
                    frame = dict(x=x - 1, y=y - 1, width=width, height=high, fill="none", rx=3)
                    frames.append(shape("rect", stroke=INK, stroke_width=3, **frame))
    return card(*CARD, [*parts, *frames, *_memory(t * D + d)], in_words(t, d, H, way))


def _memory(followed: int) -> list[str]:
    """All numbers as they lie in memory, in the colours of their words."""
    T, D = len(TOKENS), WIDTH
    parts, y, wide = [words(24, 258, "in memory: one row, the same before and after view", fill=MUTED)], 270, 41
    for n in range(T * D):
        _, fill, ink = COLOURS[n // D]
        frame = dict(stroke=INK, stroke_width=3) if n == followed else dict(stroke=GOLD[1])
        parts.append(shape("rect", x=24 + n * wide, y=y, width=wide - 3, height=30, fill=fill, rx=3, **frame))
        parts.append(words(24 + n * wide + wide / 2 - 1.5, y + 20, str(n), size=12, fill=ink, anchor="middle"))
    said = "x[t, d] is number t·D + d. A view cuts this row into new pieces; a transpose changes the order of reading."
    parts.append(words(24, 330, said, size=12, fill=MUTED))
    return parts


def split_explorer(*, name: str = "split-heads") -> Explore:
    """Heads, way of splitting, and the number that is followed."""
    T, D = len(TOKENS), WIDTH

    def picture(heads: int, way: str, number: int) -> Svg:
        return draw(number // D, number % D, heads, way)

    small = {"width": "240px"}
    return Explore(
        picture,
        name,
        heads=Dropdown(options=[(str(H), H) for H in HEADS], value=2, description="Heads H", layout=small),
        way=Dropdown(options=[RIGHT, WRONG], description="Way", layout=small),
        number=IntSlider(value=9, min=0, max=T * D - 1, description="Number to follow"),
    )
