"""Explorer: a beam search as a tree, for a translator of number words.

    beam_explorer({"apprentice": apprentice}, translator="apprentice", number=6437)

A column for each step, a box for each hypothesis: those selected, those that ended, and the best of those dropped.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import ipywidgets as widgets
import torch
from torch import Tensor, nn

from tx_helpers.generation.search import Candidate, Hypothesis, beam_search, ranked
from tx_helpers.recipes import Translator
from tx_helpers.show.charts import Panel, side_by_side
from tx_helpers.show.explore import STYLE, Explore
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import BLUE, GREEN, GREY, INK, MUTED, RED, box, line, words
from tx_helpers.text.data import BOS, EOS
from tx_helpers.text.number_words import english, german
from tx_helpers.widgets.decoding_steps import LONGEST, choices

OPEN, ENDED = (*BLUE[:2], INK), (*GREEN[:2], INK)  # stroke, fill, text
GIVEN_UP, DROPPED = (MUTED, GREY[1], MUTED), (MUTED, "none", MUTED)
WIDTH, GAP = 880, 20  # of the picture (a long hypothesis makes it wider), and between two boxes

# --- compute ---------------------------------------------------------------------------------------------------------


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


# --- draw ------------------------------------------------------------------------------------------------------------


def tree_picture(
    levels: Sequence[Sequence[Candidate]],
    found: Sequence[Hypothesis],
    greedy: Hypothesis,
    tokens: Sequence[str],
    right: str,
) -> Svg:
    """A column for each step, a box for each hypothesis; below, those that were found, and greedy's."""
    best = found[0]

    def spelt(one: Hypothesis) -> str:
        return " ".join(tokens[i] for i in one.ids if i != EOS)

    def judged(one: Hypothesis) -> str:
        return f"{spelt(one)!r} ({'right' if spelt(one) == right else 'wrong'})"

    def told(one: Hypothesis) -> str:
        return f"{judged(one)}, ln P {one.log_probability:z.2f}, score {one.score:z.2f}"

    beams = sum(one.selected for one in levels[0])
    alt = f"{beams} {'beam finds' if beams == 1 else 'beams find'} {told(best)}; greedy {told(greedy)}."
    lead_on = {tuple(one.ids[:length]) for one in found for length in range(len(one.ids) + 1)}
    column = max(60.0, min(100.0, WIDTH / (len(levels) + 1)))
    place, edges = {(): (column / 2, 24.0)}, []
    boxes = [hypothesis(*place[()], column, "<bos>", "ln P", OPEN)]
    for step, level in enumerate(levels, 1):
        for row, one in enumerate(level):
            place[one.ids] = here = column * (step + 0.5), 24.0 + 40 * row
            on_best = one.ids == tuple(best.ids[:step])
            kind = "best" if on_best else "selected" if one.selected else "dropped"
            edges.append(edge(place[one.ids[:-1]], here, column, kind))
            colour = DROPPED
            if one.selected:
                colour = ENDED if one.ids[-1] == EOS else OPEN if one.ids in lead_on else GIVEN_UP
            boxes.append(hypothesis(*here, column, tokens[one.ids[-1]], f"{one.log_probability:z.2f}", colour, on_best))
    y = 52 + 40 * max(map(len, levels))
    legend = {"selected": OPEN, "ended": ENDED, "given up later": GIVEN_UP, "dropped at once (the best two)": DROPPED}
    parts = [*edges, *boxes]
    for x, (name, colours) in zip((16, 106, 196, 326), legend.items(), strict=True):
        parts += [box(x, y, 14, 12, "", colours, **_frame(colours)), words(x + 20, y + 11, name, size=12)]
    parts += [words(x, y + 38, name, anchor="end", fill=MUTED, size=12) for x, name in ((120, "score"), (180, "ln P"))]
    rows = [(f"{rank}.", one) for rank, one in enumerate(found, 1)] + [("greedy", greedy)]
    for row, (rank, one) in enumerate(rows):
        below, weight = y + 58 + 20 * row, "bold" if one is best else "normal"
        numbers = ((60, rank), (120, f"{one.score:z.2f}"), (180, f"{one.log_probability:z.2f}"))
        parts += [words(x, below, number, anchor="end", font_weight=weight) for x, number in numbers]
        parts.append(words(196, below, judged(one), font_weight=weight))
    width = max(WIDTH, round(column * (len(levels) + 1)))
    return side_by_side([Panel((width, y + 48 + 20 * len(rows)), "".join(parts))], alt=alt)


def hypothesis(x: float, y: float, column: float, word: str, below: str, colours: tuple, best: bool = False) -> str:
    """A word and a number in a box, its middle at (x, y)."""
    width = column - GAP
    if best:
        colours = (RED[0], *colours[1:])
    place, size = (x - width / 2, y - 16, width, 32), 12 if width > 60 else 10
    return box(*place, word, colours, size, below, **_frame(colours, best))


def _frame(colours: tuple, best: bool = False) -> dict:
    """Also what is not told by its colour: what was dropped has a broken frame, the best a thick one."""
    return dict(stroke_width=3 if best else 1, stroke_dasharray="3 3" if colours[1] == "none" else None)


def edge(start: tuple[float, float], end: tuple[float, float], column: float, kind: str) -> str:
    """A line from one box's right side to the left side of one in the next column."""
    style = {
        "best": dict(stroke=RED[0], stroke_width=3),
        "selected": dict(stroke=MUTED),
        "dropped": dict(stroke=MUTED, stroke_dasharray="3 3"),
    }[kind]
    half = (column - GAP) / 2
    return line(start[0] + half, start[1], end[0] - half, end[1], **style)


# --- bind ------------------------------------------------------------------------------------------------------------


def beam_explorer(
    translators: Mapping[str, Translator], *, translator: str, number: int, name: str = "beams"
) -> Explore:
    """Choose a number, a translator, the beams and the length penalty, and see the tree that was searched."""

    @lru_cache(maxsize=16)
    def search_of(name: str, number: int, beams: int) -> Search:
        source = translators[name].data.source_tokenizer.encode(english(number))
        return search(translators[name].model, torch.tensor([source]), beams)

    def draw(number: int, translator: str, beams: int, length_penalty: float) -> Svg:
        searched, alone = search_of(translator, number, beams), search_of(translator, number, 1)
        found, (greedy,) = ranked(searched.found, length_penalty), ranked(alone.found, length_penalty)
        tokens = translators[translator].data.target_tokenizer.tokens
        return tree_picture(searched.levels, found, greedy, tokens, german(number))

    return Explore(
        draw,
        name=name,
        **choices(translators, translator, number),
        beams=widgets.IntSlider(2, min=1, max=4, description="Beams", style=STYLE),
        length_penalty=widgets.FloatSlider(0.0, min=0.0, max=2.0, step=0.1, description="Length penalty", style=STYLE),
    )
