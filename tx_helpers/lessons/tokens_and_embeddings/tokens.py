"""Explorers of tokens: one text in the pieces of several tokenizers, and the merges one by one."""

from collections.abc import Mapping, Sequence
from itertools import pairwise, zip_longest
from typing import NamedTuple

import ipywidgets as widgets

from tx_helpers.nn.arguments import check_types, described
from tx_helpers.show.charts import line_chart
from tx_helpers.show.explore import Explore
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import BLUE, GREY, MONO, ORANGE, card, shape, visible, words
from tx_helpers.text.subwords import BYTE_PAIR_WORD, BytePairTokenizer, apply_merges
from tx_helpers.text.tokenizers import Tokenizer

TINTS = (BLUE, GREY)  # in turn, so that neighbours differ; other colours have a meaning in this course
LONGEST_TEXT = 200
WIDTH, LINE, CHARACTER = 780, 26, 8.0  # pixels: of a picture, of a line of tokens, of a letter of 13 pixels
TEXTS = ("fox ☃!", "The fox found 27 apples.", "unbelievable", "an unbelievably tiny fox", "Zoe", "12345", "Ω ≈ 3")


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


# --- draw -------------------------------------------------------------------------------------------------------------
def draw_cuts(cuts: Sequence[Cut], text: str, show: str = "pieces") -> Svg:
    """Coloured pieces or their ids, a row of boxes for each tokenizer; unknown ones are orange with a broken border."""
    parts, y = [], 16
    for one in cuts:
        count = len(one.ids)
        rate = f"{len(text) / count:.1f} characters each" if count else "nothing to cut"
        parts.append(words(14, y + 14, f"{one.name}: {one.tokens}, {rate}{one.missing}", font_weight="bold"))
        labels = one.pieces if show == "pieces" else [str(i) for i in one.ids]
        boxes, bottom = _boxes(labels, y + 22, one.unknown)
        parts += boxes
        y = bottom + 16
    return card(WIDTH, y, parts, describe_cuts(cuts, text))


def draw_merges(tokenizer: BytePairTokenizer, text: str, merges: int, counts: Sequence[int]) -> Svg:
    """The pieces after this number of merges, the newest in orange; beneath, the number of tokens over the merges."""
    pieces = [sign(tokenizer, piece) for piece in pieces_after(tokenizer, text, merges)]
    newest = sign(tokenizer, "".join(tokenizer.merges[merges - 1])) if merges else ""
    boxes, bottom = _boxes(pieces, 40, [merges > 0 and piece == newest for piece in pieces], dash=None)
    letters = [sign(tokenizer, piece) for piece in pieces_after(tokenizer, text, 0)]
    _, bottom_at_first = _boxes(letters, 40)  # most room is taken then: so the chart never moves
    y = max(bottom, bottom_at_first)
    lines = {"tokens of this text": (range(len(counts)), counts), "now": ([merges, merges], [0, counts[merges]])}
    axes = dict(title="", xlabel="merges", ylabel="tokens", ylim=(0, max(counts)))
    chart = line_chart(lines, size=(WIDTH - 32, 200), **axes)
    title = words(14, 26, describe_merge(tokenizer, merges), size=14, font_weight="bold")
    parts = [title, *boxes, f'<g transform="translate(8,{y + 8})">{chart.body}</g>']
    return card(WIDTH, y + 220, parts, describe_merges(tokenizer, merges, counts))


def _boxes(
    labels: Sequence[str], top: float, marked: Sequence[bool] = (), dash: str | None = "4 2"
) -> tuple[list[str], float]:
    """Boxes from left to right, and on in the next line, the marked ones orange; and where the last line ends."""
    parts, x = [], 14.0
    for number, (label, mark) in enumerate(zip_longest(labels, marked, fillvalue=False)):
        label = label if len(label) <= 60 else label[:59] + "…"
        wide = sum(2 if ord(letter) > 0x2E7F else 1 for letter in label)  # Chinese signs take two places
        width = CHARACTER * wide + 8
        if x + width > WIDTH - 12:
            x, top = 14.0, top + LINE
        colour = ORANGE if mark else TINTS[number % len(TINTS)]
        style = dict(fill=colour.tint, stroke=colour.full, stroke_dasharray=dash if mark else None)
        parts.append(shape("rect", x=x, y=top, width=width, height=LINE - 4, rx=4, **style))
        parts.append(words(x + width / 2, top + 15.5, label, anchor="middle", fill=colour.shade, font_family=MONO))
        x += width + 2
    return parts, top + LINE


# --- describe ---------------------------------------------------------------------------------------------------------
def describe_cuts(cuts: Sequence[Cut], text: str) -> str:
    """How many tokens each tokenizer makes of the text."""
    return f"{len(text)} characters: {'; '.join(f'{one.name} {one.tokens}{one.missing}' for one in cuts)}."


def describe_merge(tokenizer: BytePairTokenizer, merges: int) -> str:
    """The newest merge."""
    if not merges:
        return "No merge yet: every byte is a token."
    left, right = (sign(tokenizer, part) for part in tokenizer.merges[merges - 1])
    return f"Merge {merges} joins '{left}' and '{right}' to '{left}{right}'."


def describe_merges(tokenizer: BytePairTokenizer, merges: int, counts: Sequence[int]) -> str:
    """The newest merge, and how many tokens the text takes."""
    newest = describe_merge(tokenizer, merges)
    return f"{newest} The text takes {counts[merges]} tokens, {counts[0]} without a merge."


# --- bind -------------------------------------------------------------------------------------------------------------
def tokens_explorer(tokenizers: Mapping[str, Tokenizer], text: str) -> Explore:
    """Type a text and see it cut by each tokenizer, as pieces or as ids."""

    check_types("tokens_explorer", Mapping, tokenizers=tokenizers)
    check_types("tokens_explorer", Tokenizer, **{f"tokenizers[{name!r}]": each for name, each in tokenizers.items()})
    check_text("tokens_explorer", text)

    def picture(text: str, show: str) -> Svg:
        if len(text) > LONGEST_TEXT:
            raise ValueError(
                f"The text has {len(text)} characters, and the picture has room for {LONGEST_TEXT}: shorten it."
            )
        return draw_cuts([cut(name, tokenizer, text) for name, tokenizer in tokenizers.items()], text, show)

    line = widgets.Text(text, description="Text", layout={"width": "640px"})
    return Explore(picture, name="tokens", recorded={"text": [text, *TEXTS]}, text=line, show=["pieces", "ids"])


def merges_explorer(tokenizer: BytePairTokenizer, text: str) -> Explore:
    """Slide through the merges and watch the pieces of a text grow."""
    check_types("merges_explorer", BytePairTokenizer, tokenizer=tokenizer)
    check_text("merges_explorer", text)
    counts = token_counts(tokenizer, text)
    return Explore(
        lambda merges: draw_merges(tokenizer, text, merges, counts),
        name="merges",
        merges=(0, len(tokenizer.merges)),
    )
