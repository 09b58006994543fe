"""Explorer: a beam search as a tree, for a translator of number words.

    beam_explorer({"apprentice": apprentice}, translator="apprentice", number=6437)

A column for each step, a box for each hypothesis: those selected, those that ended, and the best of those dropped.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Tensor, nn

from tx_helpers.generation.search import Candidate, Hypothesis, beam_search, ranked
from tx_helpers.lessons.decoding.decoding_steps import LONGEST, choices
from tx_helpers.show.charts import Panel, side_by_side
from tx_helpers.show.controls import slider
from tx_helpers.show.explore import Explore
from tx_helpers.show.grid import NUMBERS
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import BLUE, GREEN, GREY, INK, MUTED, ORANGE, box, line, words
from tx_helpers.text.data import BOS, EOS
from tx_helpers.text.number_words import english, german
from tx_helpers.zoo.recipes import Translator

OPEN, ENDED = (BLUE.full, BLUE.tint, INK), (GREEN.full, GREEN.tint, INK)  # stroke, fill, text
GIVEN_UP, DROPPED = (MUTED, GREY.tint, MUTED), (MUTED, "none", MUTED)
WIDTH, GAP = 880, 20  # of the picture (a long hypothesis makes it wider), and between two boxes


# --- compute ----------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Search:
    """A beam search for one source: the candidates of each step, and what was found, without a length penalty."""

    levels: list[list[Candidate]]
    found: list[Hypothesis]


def search(model: nn.Module, source: Tensor, beams: int, *, longest: int = LONGEST) -> Search:
    """`beam_search` of one source (1, S), watched."""
    levels: list[list[Candidate]] = []
    options = dict(source=source, beams=beams, length_penalty=0.0, max_new_tokens=longest, end_id=EOS)
    (found,) = beam_search(model, BOS, watch=lambda step: levels.append(step.candidates()), **options)
    return Search(levels, found)


# --- draw -------------------------------------------------------------------------------------------------------------
def draw(
    levels: Sequence[Sequence[Candidate]],
    found: Sequence[Hypothesis],
    greedy: Hypothesis,
    tokens: Sequence[str],
    right: str,
) -> Svg:
    """A column for each step, a box for each hypothesis; below, those that were found, and greedy's."""
    best = found[0]
    goes_on = {tuple(one.ids[:length]) for one in found for length in range(len(one.ids) + 1)}
    column = max(60.0, min(100.0, WIDTH / (len(levels) + 1)))
    places = {(): (column / 2, 24.0)}
    edges, boxes = [], [_box(*places[()], column, "<bos>", "ln P", OPEN)]
    for step, level in enumerate(levels, 1):
        for row, one in enumerate(level):
            places[one.ids] = here = column * (step + 0.5), 24.0 + 40 * row
            on_best = one.ids == tuple(best.ids[:step])
            kind = "best" if on_best else "selected" if one.selected else "dropped"
            edges.append(_edge(places[one.ids[:-1]], here, column, kind))
            colours = DROPPED
            if one.selected:
                colours = ENDED if one.ids[-1] == EOS else OPEN if one.ids in goes_on else GIVEN_UP
            boxes.append(_box(*here, column, tokens[one.ids[-1]], f"{one.log_probability:z.2f}", colours, on_best))
    bottom = 52 + 40 * max(map(len, levels))
    parts = [*edges, *boxes, *_legend(bottom), *_table(bottom + 38, found, greedy, tokens, right)]
    width = max(WIDTH, round(column * (len(levels) + 1)))
    height = bottom + 48 + 20 * (len(found) + 1)
    return side_by_side([Panel((width, height), "".join(parts))], alt=describe(levels, found, greedy, tokens, right))


def _box(x: float, y: float, column: float, word: str, below: str, colours: tuple, best: bool = False) -> str:
    """A word and a number in a box, its middle at (x, y)."""
    width = column - GAP
    if best:
        colours = (ORANGE.full, *colours[1:])
    size = 12 if width > 60 else 10
    return box(x - width / 2, y - 16, width, 32, word, colours, size, below, **_frame(colours, best))


def _frame(colours: tuple, best: bool = False) -> dict:
    """Frames differ by more than colour: a dropped hypothesis has a dashed one, the best hypothesis a thick one."""
    return dict(stroke_width=3 if best else 1, stroke_dasharray="3 3" if colours[1] == "none" else None)


def _edge(start: tuple[float, float], end: tuple[float, float], column: float, kind: str) -> str:
    """A line from one box's right side to the left side of one in the next column."""
    style = {
        "best": dict(stroke=ORANGE.full, stroke_width=3),
        "selected": dict(stroke=MUTED),
        "dropped": dict(stroke=MUTED, stroke_dasharray="3 3"),
    }[kind]
    half = (column - GAP) / 2
    return line(start[0] + half, start[1], end[0] - half, end[1], **style)


def _legend(y: float) -> list[str]:
    kinds = ((16, "selected", OPEN), (106, "ended", ENDED), (196, "given up later", GIVEN_UP))
    parts = []
    for x, name, colours in (*kinds, (326, "dropped at once (the best two)", DROPPED)):
        parts.append(box(x, y, 14, 12, "", colours, **_frame(colours)))
        parts.append(words(x + 20, y + 11, name, size=12))
    return parts


def _table(
    y: float, found: Sequence[Hypothesis], greedy: Hypothesis, tokens: Sequence[str], right: str
) -> Iterator[str]:
    """What was found, with score and ln P, and greedy's below."""
    for x, name in ((120, "score"), (180, "ln P")):
        yield words(x, y, name, anchor="end", fill=MUTED, size=12)
    rows = [(f"{rank}.", one) for rank, one in enumerate(found, 1)] + [("greedy", greedy)]
    for row, (rank, one) in enumerate(rows, 1):
        weight = "bold" if one is found[0] else "normal"
        for x, number in ((60, rank), (120, f"{one.score:z.2f}"), (180, f"{one.log_probability:z.2f}")):
            yield words(x, y + 20 * row, number, anchor="end", font_weight=weight)
        yield words(196, y + 20 * row, judged(one, tokens, right), font_weight=weight)


# --- describe ---------------------------------------------------------------------------------------------------------
def describe(
    levels: Sequence[Sequence[Candidate]],
    found: Sequence[Hypothesis],
    greedy: Hypothesis,
    tokens: Sequence[str],
    right: str,
) -> str:
    """What the beams find, and what greedy decoding finds."""

    def told(one: Hypothesis) -> str:
        return f"{judged(one, tokens, right)}, ln P {one.log_probability:z.2f}, score {one.score:z.2f}"

    beams = sum(one.selected for one in levels[0])
    return f"{beams} {'beam finds' if beams == 1 else 'beams find'} {told(found[0])}; greedy {told(greedy)}."


def judged(one: Hypothesis, tokens: Sequence[str], right: str) -> str:
    """The text of a hypothesis, and whether it is right."""
    text = " ".join(tokens[i] for i in one.ids if i != EOS)
    return f"{text!r} ({'right' if text == right else 'wrong'})"


# --- bind -------------------------------------------------------------------------------------------------------------
def beam_explorer(
    translators: Mapping[str, Translator], *, translator: str, number: int, name: str = "beams"
) -> Explore:
    """Choose a number, a translator, the beams and the length penalty, and see the tree that was searched."""

    @lru_cache(maxsize=16)
    def search_of(name: str, number: int, beams: int) -> Search:
        source = translators[name].data.source_tokenizer.encode(english(number))
        return search(translators[name].model, torch.tensor([source]), beams)

    def picture(number: int, translator: str, beams: int, length_penalty: float) -> Svg:
        searched, alone = search_of(translator, number, beams), search_of(translator, number, 1)
        found, (greedy,) = ranked(searched.found, length_penalty), ranked(alone.found, length_penalty)
        tokens = translators[translator].data.target_tokenizer.tokens
        return draw(searched.levels, found, greedy, tokens, german(number))

    return Explore(
        picture,
        name=name,
        recorded={"number": NUMBERS[3::4]},
        **choices(translators, translator, number),
        beams=slider("Beams", 1, 4, start=2),
        length_penalty=slider("Length penalty", 0.0, 2.0, step=0.1),
    )
