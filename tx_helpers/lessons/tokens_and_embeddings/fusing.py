"""The explorer of byte pairs by hand: a few words, whose letters fuse merge by merge."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from tx_helpers.nn.arguments import check_numbers, check_types
from tx_helpers.show.controls import slider
from tx_helpers.show.explore import Explore
from tx_helpers.show.play import play_button
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import BLUE, EDGE, GREY, MUTED, PINK, bar, box, card, line, words
from tx_helpers.text.subwords import Pair, learn_merges

Word = tuple[str, ...]
WIDTH, ROW, LETTER = 780, 46, 30  # pixels: of the picture, of a word, of a letter
RIGHT = 380  # where the counts of the pairs begin
SHOWN = 5  # pairs in the list


# --- compute ----------------------------------------------------------------------------------------------------------
def join(word: Word, pair: Pair) -> Word:
    """The word's pieces with this pair joined everywhere, from left to right: (t, e, n) with (e, n) is (t, en)."""
    joined: list[str] = []
    for piece in word:
        if joined and (joined[-1], piece) == tuple(pair):
            joined[-1] += piece
        else:
            joined.append(piece)
    return tuple(joined)


class Stage(NamedTuple):
    """The words after some merges: their pieces, the piece made last, the pairs (most frequent first), all pieces."""

    spelled: list[Word]
    newest: str
    pairs: list[tuple[Pair, int]]
    pieces: list[str]


def stages(times: Mapping[str, int], merges: int) -> list[Stage]:
    """The stages after 0, 1, 2 … merges of the words, each of which occurs so many times.

    Equally frequent pairs stand in the order in which they would be joined: the left piece with the smaller id first,
    then the right one.
    """
    check_types("stages", Mapping, times=times)
    check_numbers("stages", whole=True, least=0, merges=merges)
    letters = sorted(set("".join(times)))
    pieces, learned = learn_merges({tuple(word): n for word, n in times.items()}, letters, len(letters) + merges)
    spelled = [tuple(word) for word in times]
    found = []
    for number in range(len(learned) + 1):
        if number:
            spelled = [join(word, learned[number - 1]) for word in spelled]
        known = pieces[: len(letters) + number]
        newest = known[-1] if number else ""
        found.append(Stage(spelled, newest, _ordered(spelled, list(times.values()), known), known))
    return found


def _ordered(spelled: Sequence[Word], times: Sequence[int], pieces: Sequence[str]) -> list[tuple[Pair, int]]:
    counts: dict[Pair, int] = {}
    for word, n in zip(spelled, times, strict=True):
        for pair in pairwise(word):
            counts[pair] = counts.get(pair, 0) + n
    return sorted(counts.items(), key=lambda item: (-item[1], pieces.index(item[0][0]), pieces.index(item[0][1])))


# --- draw -------------------------------------------------------------------------------------------------------------
def draw(steps: Sequence[Stage], times: Mapping[str, int], merges: int) -> Svg:
    """The words as tiles that fuse, beside them the most frequent pairs, below them the vocabulary."""
    stage = steps[merges]
    parts = [words(14, 26, "the words and how often they occur", size=14, font_weight="bold")]
    for row, (word, n) in enumerate(zip(stage.spelled, times.values(), strict=True)):
        x, y = 60.0, 42 + ROW * row
        parts.append(words(50, y + 21, f"{n} ×", size=14, anchor="end", fill=MUTED))
        for piece in word:
            wide = LETTER * len(piece)
            style = dict(stroke_width=2.5) if piece == stage.newest else {}
            parts.append(box(x, y, wide - 3, 32, piece, _colour(stage, piece), size=16, **style))
            x += wide
    parts += _counts(stage, max((pair[1] for pair in steps[0].pairs), default=1))
    y = 42 + ROW * len(times) + 8
    parts.append(line(14, y, WIDTH - 14, y, EDGE))
    parts.append(words(14, y + 28, f"vocabulary: {len(stage.pieces)} pieces", size=14, font_weight="bold"))
    x = 190.0
    for piece in stage.pieces:
        wide = 11.0 * len(piece) + 14
        parts.append(box(x, y + 10, wide, 26, piece, _colour(stage, piece), size=14))
        x += wide + 5
    return card(WIDTH, y + 48, parts, describe(steps, merges))


def _colour(stage: Stage, piece: str):
    return PINK if piece == stage.newest else GREY if len(piece) == 1 else BLUE


def _counts(stage: Stage, most: int) -> list[str]:
    """Bars of the most frequent pairs; the first one is joined next."""
    title = "neighbours, counted: the first pair is joined next" if stage.pairs else "no neighbours are left"
    parts = [words(RIGHT, 26, title, size=14, font_weight="bold")]
    for row, ((left, right), count) in enumerate(stage.pairs[:SHOWN]):
        y, style = 49 + 36 * row, dict(font_weight="bold") if row == 0 else {}
        parts.append(words(RIGHT + 90, y + 14, f"{left} + {right}", size=15, anchor="end", **style))
        parts.append(bar(RIGHT + 102, y, 220 * count / most, 18, (PINK if row == 0 else GREY).full))
        parts.append(words(RIGHT + 110 + 220 * count / most, y + 14, str(count), size=14, **style))
    return parts


# --- describe ---------------------------------------------------------------------------------------------------------
def describe(steps: Sequence[Stage], merges: int) -> str:
    """The words' pieces, the newest one, and the pair that comes next."""
    stage = steps[merges]
    spelled = ", ".join(" ".join(word) for word in stage.spelled)
    text = f"After {merges} merge{'' if merges == 1 else 's'}"
    text += f" (the newest piece is '{stage.newest}')" if merges else ""
    text += f": {spelled}."
    if stage.pairs:
        (left, right), count = stage.pairs[0]
        text += f" The most frequent pair is {left} + {right}, {count} times."
    return text


# --- bind -------------------------------------------------------------------------------------------------------------
def fusing_explorer(times: Mapping[str, int], merges: int = 5) -> Explore:
    """Words that fuse merge by merge; times: word -> how often it occurs."""
    steps = stages(times, merges)
    at = slider("Merges", 0, len(steps) - 1)
    return Explore(lambda merges: draw(steps, times, merges), name="fusing", merges=at, play=play_button(at, pause=1.2))
