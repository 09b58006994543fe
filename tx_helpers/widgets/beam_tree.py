"""Explorer: a beam search as a tree, for a translator of number words.

    beam_explorer({"apprentice": apprentice}, translator="apprentice", number=6437)

A column for each step, a box for each hypothesis; what was kept, what ended, and the best of what was dropped.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import ipywidgets as widgets
import torch
from torch import Tensor, nn

from tx_helpers.generation.sampling import precise
from tx_helpers.generation.search import Hypothesis
from tx_helpers.recipes import Translator
from tx_helpers.show.charts import Panel, side_by_side
from tx_helpers.show.explore import STYLE, Explore
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import BLUE, GREEN, GREY, INK, MUTED, RED, box, line, words
from tx_helpers.text.data import BOS, EOS
from tx_helpers.text.number_words import english, german
from tx_helpers.training.contexts import in_mode
from tx_helpers.widgets.decoding_steps import LONGEST, choices

KEPT, ENDED = (*BLUE[:2], INK), (*GREEN[:2], INK)  # stroke, fill, text
GIVEN_UP, DROPPED = (MUTED, GREY[1], MUTED), (MUTED, "none", MUTED)
WIDTH, GAP = 880, 20  # of the picture, and between two boxes

# --- compute ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Beginning:
    """A hypothesis of one step of a beam search: the first tokens of a text, their ln P, and whether it was kept."""

    ids: tuple[int, ...]
    log_probability: float
    kept: bool

    @property
    def ended(self) -> bool:
        return self.kept and self.ids[-1] == EOS


@torch.no_grad()
def beam_levels(
    model: nn.Module, source: Tensor, beams: int, *, runners_up: int = 2, longest: int = LONGEST
) -> list[list[Beginning]]:
    """The hypotheses of each step, likeliest first: those that were kept, then the best that were dropped.

    The same search as `generation.beam_search`, of one source (1, S); here everything it sees on its way is kept.
    """
    levels, begun, places = [], [Beginning((), 0.0, True)], beams
    with in_mode(model, training=False):
        state, fed = model.start(source), torch.tensor([[BOS]])
        while places and len(levels) < longest:
            step = precise(state.step(fed)[:, -1]).log_softmax(-1)  # (open, V)
            total = step + step.new_tensor([one.log_probability for one in begun])[:, None]
            best, index = total.flatten().topk(min(places + runners_up, total.numel()))
            rows, tokens = (index // step.shape[1]).tolist(), (index % step.shape[1]).tolist()
            level = [
                Beginning((*begun[row].ids, token), ln_p, rank < places)
                for rank, (row, token, ln_p) in enumerate(zip(rows, tokens, best.tolist(), strict=True))
            ]
            levels.append(level)
            goes_on = [rank for rank, one in enumerate(level) if one.kept and not one.ended]
            begun, places = [level[rank] for rank in goes_on], len(goes_on)
            if places:
                state.select(torch.tensor([rows[rank] for rank in goes_on]))
                fed = torch.tensor([[one.ids[-1]] for one in begun])
    return levels


def hypotheses(levels: Sequence[Sequence[Beginning]], length_penalty: float) -> list[Hypothesis]:
    """What the search has found, best score first; those still open at the last step count as they are."""
    done = [one for level in levels for one in level if one.kept and (one.ended or level is levels[-1])]
    found = [
        Hypothesis(list(one.ids), one.log_probability, one.log_probability / ((5 + len(one.ids)) / 6) ** length_penalty)
        for one in done
    ]
    return sorted(found, key=lambda one: one.score, reverse=True)


# --- draw ------------------------------------------------------------------------------------------------------------


def tree_picture(
    levels: Sequence[Sequence[Beginning]],
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

    beams = sum(one.kept for one in levels[0])
    alt = f"{beams} {'beam finds' if beams == 1 else 'beams find'} {told(best)}; greedy {told(greedy)}."
    lead_on = {tuple(one.ids[:length]) for one in found for length in range(len(one.ids) + 1)}
    column = min(100.0, WIDTH / (len(levels) + 1))
    place, edges = {(): (column / 2, 24.0)}, []
    boxes = [hypothesis(*place[()], column, "<bos>", "ln P", KEPT)]
    for step, level in enumerate(levels, 1):
        for row, one in enumerate(level):
            place[one.ids] = here = column * (step + 0.5), 24.0 + 40 * row
            on_best = one.ids == tuple(best.ids[:step])
            kind = "best" if on_best else "kept" if one.kept else "dropped"
            edges.append(edge(place[one.ids[:-1]], here, column, kind))
            kept = KEPT if one.ids in lead_on else GIVEN_UP
            colour = ENDED if one.ended else kept if one.kept else DROPPED
            boxes.append(hypothesis(*here, column, tokens[one.ids[-1]], f"{one.log_probability:z.2f}", colour, on_best))
    y = 52 + 40 * max(map(len, levels))
    legend = {"kept": KEPT, "ended": ENDED, "kept, given up later": GIVEN_UP, "dropped at once (the best two)": DROPPED}
    parts = [*edges, *boxes]
    for x, (name, colours) in zip((16, 96, 186, 356), legend.items(), strict=True):
        parts += [box(x, y, 14, 12, "", colours, **_frame(colours)), words(x + 20, y + 11, name, size=12)]
    parts += [words(x, y + 38, name, anchor="end", fill=MUTED, size=12) for x, name in ((120, "score"), (180, "ln P"))]
    rows = [(f"{rank}.", one) for rank, one in enumerate(found, 1)] + [("greedy", greedy)]
    for row, (rank, one) in enumerate(rows):
        below, weight = y + 58 + 20 * row, "bold" if one is best else "normal"
        numbers = ((60, rank), (120, f"{one.score:z.2f}"), (180, f"{one.log_probability:z.2f}"))
        parts += [words(x, below, number, anchor="end", font_weight=weight) for x, number in numbers]
        parts.append(words(196, below, judged(one), font_weight=weight))
    return side_by_side([Panel((WIDTH, y + 48 + 20 * len(rows)), "".join(parts))], alt=alt)


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
        "kept": dict(stroke=MUTED),
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
    def levels_of(name: str, number: int, beams: int) -> list[list[Beginning]]:
        source = translators[name].data.source_tokenizer.encode(english(number))
        return beam_levels(translators[name].model, torch.tensor([source]), beams)

    def draw(number: int, translator: str, beams: int, length_penalty: float) -> Svg:
        levels, alone = levels_of(translator, number, beams), levels_of(translator, number, 1)
        found, (greedy,) = hypotheses(levels, length_penalty), hypotheses(alone, length_penalty)
        tokens = translators[translator].data.target_tokenizer.tokens
        return tree_picture(levels, found, greedy, tokens, german(number))

    return Explore(
        draw,
        name=name,
        **choices(translators, translator, number),
        beams=widgets.IntSlider(2, min=1, max=4, description="Beams", style=STYLE),
        length_penalty=widgets.FloatSlider(0.0, min=0.0, max=2.0, step=0.1, description="Length penalty", style=STYLE),
    )
