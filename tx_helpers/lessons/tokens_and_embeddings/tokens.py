"""Explorers of tokens: a text in the pieces of several tokenizers with their ids, and the merges one by one."""

from bisect import bisect
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise, zip_longest
from typing import NamedTuple

import ipywidgets as widgets

from tx_helpers.nn.arguments import check_types, described
from tx_helpers.show import controls
from tx_helpers.show.charts import line_chart
from tx_helpers.show.explore import Explore
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import BLUE, GREY, MONO, MUTED, SPECIAL, card, shape, visible, words
from tx_helpers.text.subwords import BytePairTokenizer, Pair, apply_merges
from tx_helpers.text.tokenizers import Tokenizer

TINTS = (BLUE, GREY)  # in turn, so that neighbours differ
LONGEST_TEXT = 200
WIDTH, LINE, CHARACTER = 780, 26, 8.0  # pixels: of a picture, of a line of tokens, of a letter of 13 pixels
TALL = 44  # pixels: of a line of tokens with their ids
TEXTS = (
    *("fox ☃!", "The fox found 27 apples.", "unbelievable strawberries", "Zoe", "12345 + 678 = 13023", "Ω ≈ 3"),
    *("if x > 0:\n    return x", "Das Fass läuft über.", "我喜欢草莓"),
)
STOPS = 60  # of the slider of merges, about


# --- compute ----------------------------------------------------------------------------------------------------------
class Cut(NamedTuple):
    """A text as one tokenizer cuts it: pieces as a reader sees them, their ids, and which are unknown."""

    name: str
    pieces: list[str]
    ids: list[int]
    unknown: list[bool]

    @property
    def tokens(self) -> str:
        return f"{len(self.ids)} token{'' if len(self.ids) == 1 else 's'}"

    @property
    def missing(self) -> str:
        return f", {sum(self.unknown)} unknown" if any(self.unknown) else ""


def cut(name: str, tokenizer: Tokenizer, text: str) -> Cut:
    """The pieces of a text and their ids; spaces and line breaks can be seen. ValueError over 200 characters."""
    check_text("cut", text)
    pieces, ids = tokenizer.split(text), tokenizer.encode(text)
    return Cut(name, [sign(tokenizer, piece) for piece in pieces], ids, [i == tokenizer.unknown_id for i in ids])


def check_text(where: str, text: str) -> None:
    """ValueError for a text that the picture cannot hold."""
    if not isinstance(text, str) or len(text) > LONGEST_TEXT:
        given = f"a text of {len(text)} characters" if isinstance(text, str) else described(text)
        raise ValueError(f"{where}: {given}, expected a text of at most {LONGEST_TEXT} characters")


def sign(tokenizer: Tokenizer, piece: str) -> str:
    """A piece as it is shown: bytes read as text, ␣ for a space, ↵ for a line break."""
    return visible(tokenizer.readable(piece) if isinstance(tokenizer, BytePairTokenizer) else piece)


def pieces_after(tokenizer: BytePairTokenizer, text: str, merges: int) -> list[str]:
    """The pieces of a text if training had stopped after this number of merges."""
    ranks = {pair: rank for pair, rank in _ranks_of(tokenizer, text).items() if rank < merges}
    found = tokenizer.words.findall(text)
    return [piece for word in found for piece in apply_merges(tokenizer.letters(word), ranks)]


@lru_cache(maxsize=8)
def _ranks_of(tokenizer: BytePairTokenizer, text: str) -> dict[Pair, int]:
    """Of all merges those whose piece stands somewhere in the text: the others change nothing."""
    letters = " ".join(tokenizer.letters(word) for word in tokenizer.words.findall(text))
    return {pair: rank for pair, rank in tokenizer.ranks.items() if pair[0] + pair[1] in letters}


def token_counts(tokenizer: BytePairTokenizer, text: str) -> list[tuple[int, int]]:
    """(merges, tokens of the text after them): at 0, and wherever a merge has made the text shorter."""
    pieces = pieces_after(tokenizer, text, 0)
    counts = [(0, len(pieces))]
    for pair, rank in sorted(_ranks_of(tokenizer, text).items(), key=lambda item: item[1]):
        if pair in pairwise(pieces):
            pieces = pieces_after(tokenizer, text, rank + 1)
            counts.append((rank + 1, len(pieces)))
    return counts


def tokens_after(counts: Sequence[tuple[int, int]], merges: int) -> int:
    """How many tokens the text takes after this number of merges; counts as `token_counts` gives them."""
    return counts[bisect(counts, merges, key=lambda count: count[0]) - 1][1]


def stops(merges: int) -> list[int]:
    """0, 1, 2 … `merges`: all of them if they are few, else steps that grow, since early merges do most."""
    if merges <= STOPS:
        return list(range(merges + 1))
    growing = {round(merges ** (n / (STOPS - 1))) for n in range(STOPS)}
    return sorted({0, *growing, merges})


# --- draw -------------------------------------------------------------------------------------------------------------
def draw_cuts(cuts: Sequence[Cut], text: str) -> Svg:
    """Pieces with their ids below, rows of boxes for each tokenizer; unknown ones are pink with a broken border."""
    parts, y = [], 16.0
    for one in cuts:
        count = len(one.ids)
        rate = f"{len(text) / count:.1f} characters each" if count else "nothing to cut"
        parts.append(words(14, y + 14, f"{one.name}: {one.tokens}, {rate}{one.missing}", font_weight="bold"))
        boxes, bottom = token_boxes(one.pieces, y + 22, one.unknown, below=[str(i) for i in one.ids])
        parts += boxes
        y = bottom + 12
    return card(WIDTH, y, parts, describe_cuts(cuts, text))


def draw_merges(tokenizer: BytePairTokenizer, text: str, merges: int, counts: Sequence[tuple[int, int]]) -> Svg:
    """The pieces after this number of merges, the newest in pink; beneath, the number of tokens over the merges."""
    pieces = [sign(tokenizer, piece) for piece in pieces_after(tokenizer, text, merges)]
    newest = sign(tokenizer, "".join(tokenizer.merges[merges - 1])) if merges else ""
    boxes, bottom = token_boxes(pieces, 40, [merges > 0 and piece == newest for piece in pieces], dash=None)
    letters = [sign(tokenizer, piece) for piece in pieces_after(tokenizer, text, 0)]
    _, bottom_at_first = token_boxes(letters, 40)  # most room is taken then: so the chart never moves
    y = max(bottom, bottom_at_first)
    places = stops(len(tokenizer.merges))[1:]
    seen = [tokens_after(counts, place) for place in places]
    here, most = max(merges, 1), counts[0][1]
    lines = {"tokens of this text": (places, seen), "now": ([here, here], [0, tokens_after(counts, merges)])}
    ticks = [10**n for n in range(6) if 10**n < 0.7 * places[-1]] + [places[-1]]
    axes = dict(title="", xlabel="merges", ylabel="tokens", ylim=(0, most), logx=len(places) > 1, xticks=ticks)
    chart = line_chart(lines, size=(WIDTH - 32, 200), **axes)
    title = words(14, 26, describe_merge(tokenizer, merges), size=14, font_weight="bold")
    parts = [title, *boxes, f'<g transform="translate(8,{y + 8})">{chart.body}</g>']
    return card(WIDTH, y + 220, parts, describe_merges(tokenizer, merges, counts))


def token_boxes(
    labels: Sequence[str],
    top: float,
    marked: Sequence[bool] = (),
    dash: str | None = "4 2",
    below: Sequence[str] = (),
) -> tuple[list[str], float]:
    """Boxes from left to right, and on in the next line, the marked ones pink; and where the last line ends."""
    parts, x, line = [], 14.0, TALL if below else LINE
    for number, (label, mark, under) in enumerate(zip_longest(labels, marked, below, fillvalue="")):
        label = label if len(label) <= 60 else label[:59] + "…"
        wide = sum(2 if ord(letter) > 0x2E7F else 1 for letter in label)  # Chinese signs take two places
        width = max(CHARACTER * wide, 7.5 * len(under)) + 8
        if x + width > WIDTH - 12:
            x, top = 14.0, top + line
        colour = SPECIAL if mark else TINTS[number % len(TINTS)]
        style = dict(fill=colour.tint, stroke=colour.full, stroke_dasharray=dash if mark else None)
        parts.append(shape("rect", x=x, y=top, width=width, height=line - 4, rx=4, **style))
        middle = x + width / 2
        parts.append(words(middle, top + 15.5, label, anchor="middle", fill=colour.shade, font_family=MONO))
        if under:
            parts.append(words(middle, top + 33, under, anchor="middle", fill=MUTED, size=12.5))
        x += width + 2
    return parts, top + line


# --- describe ---------------------------------------------------------------------------------------------------------
def describe_cuts(cuts: Sequence[Cut], text: str) -> str:
    """How many tokens each tokenizer makes of the text."""
    return f"{len(text)} characters: {'; '.join(f'{one.name} {one.tokens}{one.missing}' for one in cuts)}."


def describe_merge(tokenizer: BytePairTokenizer, merges: int) -> str:
    """The newest merge."""
    if not merges:
        return "No merge yet: every byte is a token."
    left, right = (sign(tokenizer, part) for part in tokenizer.merges[merges - 1])
    return f"Merge {merges:,} joins '{left}' and '{right}' to '{left}{right}'."


def describe_merges(tokenizer: BytePairTokenizer, merges: int, counts: Sequence[tuple[int, int]]) -> str:
    """The newest merge, and how many tokens the text takes."""
    newest = describe_merge(tokenizer, merges)
    return f"{newest} The text takes {tokens_after(counts, merges)} tokens, {counts[0][1]} without a merge."


# --- bind -------------------------------------------------------------------------------------------------------------
def _line(text: str) -> widgets.Text:
    return controls.typed("Text", text, width=640)


def _refuse_long(text: str) -> None:
    if len(text) > LONGEST_TEXT:
        raise ValueError(
            f"The text has {len(text)} characters, and the picture has room for {LONGEST_TEXT}: shorten it."
        )


def tokens_explorer(tokenizers: Mapping[str, Tokenizer], text: str) -> Explore:
    """Type a text and see it cut by each tokenizer, with the ids of the pieces."""
    check_types("tokens_explorer", Mapping, tokenizers=tokenizers)
    check_types("tokens_explorer", Tokenizer, **{f"tokenizers[{name!r}]": each for name, each in tokenizers.items()})
    check_text("tokens_explorer", text)

    def picture(text: str) -> Svg:
        _refuse_long(text)
        return draw_cuts([cut(name, tokenizer, text) for name, tokenizer in tokenizers.items()], text)

    return Explore(picture, name="tokens", recorded={"text": [text, *TEXTS]}, text=_line(text))


def merges_explorer(tokenizer: BytePairTokenizer, text: str) -> Explore:
    """Slide through the merges and watch the pieces of a text of yours grow."""
    check_types("merges_explorer", BytePairTokenizer, tokenizer=tokenizer)
    check_text("merges_explorer", text)
    counts = lru_cache(maxsize=8)(lambda text: token_counts(tokenizer, text))

    def picture(text: str, merges: int) -> Svg:
        _refuse_long(text)
        return draw_merges(tokenizer, text, merges, counts(text))

    slider = controls.stops("Merges", {f"{stop:,}": stop for stop in stops(len(tokenizer.merges))})
    return Explore(
        picture, name="merges", told=True, recorded={"text": [text, *TEXTS[2:5]]}, text=_line(text), merges=slider
    )
