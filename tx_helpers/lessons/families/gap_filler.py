"""A word is hidden in a text: three pretrained families fill the gap, each asked in the way that it can be asked.

    gap_filler_explorer(scores=gap_scores)         # scores: a learner's own function, which the row "tried" asks

    encoder             <mask> in the gap:            p(word | all other words), one pass
    decoder, left       the beginning, up to the gap: p(word | the words before it), one pass
    decoder, tried      each likely word in the gap:  p(word | all others) ∝ p(the text with this word), a pass a word
    encoder–decoder     <x0> in the gap:              the decoder writes <x0> and then the word
    exact               `World.gap_words`, where the text is one of the little world

By Bayes' rule the third is the first: a decoder that knows p(text) knows every gap, but needs one pass for each word.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

import torch
from torch import Tensor, nn

from tx_helpers.nn.arguments import check_numbers, check_types
from tx_helpers.show.controls import slider, typed
from tx_helpers.show.explore import Explore
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import BLUE, EDGE, GREEN, MONO, MUTED, PINK, card, shape, words
from tx_helpers.text.data import BOS, EOS
from tx_helpers.text.world import little_world
from tx_helpers.text.world_vocabulary import CLS, MASK, SENTINELS, SEP, word_ids, words_of, world_id, world_tokenizer
from tx_helpers.training.contexts import cpu_threads
from tx_helpers.zoo.world_models import CLASSES, world_model

WAYS = {  # what stands above a column
    "encoder": "<mask> in the gap",
    "decoder, left": "it sees the left side",
    "decoder, tried": "it scores whole texts",
    "encoder–decoder": "<x0> in the gap",
    "exact": "the world itself",
}
TEXT = (
    "lucy has a goat . it bleats every day and eats leaves . today the goat did not cross the road because it was too "
    "wide . in the end lucy took the goat home ."
)
TEXTS = [
    TEXT,
    "tom looked for a job in rome . choosing was hard for him . in the end he chose orange . it paid very well , "
    "and he did not feel sad .",
]
FEWEST, MOST, LETTERS = 4, 60, 400  # words of a text, and its characters
Scores = Callable[[nn.Module, Tensor, int, Tensor], Tensor]  # model, ids (T,), gap, candidates (C,) -> ln p (C,)
TRIED, BEST = 60, 5  # words that the decoder tries, the likeliest from the left; words of a column
COLUMN, ADVANCE, ROW, LEFT = 154, 7.8, 24, 14  # pixels: of a column, of a letter of the text, of a line, and the margin


# --- compute ----------------------------------------------------------------------------------------------------------
def text_scores(model: nn.Module, ids: Tensor, gap: int, candidates: Tensor) -> Tensor:
    """ln p (C,) of the text ids (T,) with each of the candidates (C,) in the place `gap`; the exercise `gap_scores`."""
    rows = ids.repeat(len(candidates), 1)
    rows[:, gap] = candidates
    return model(rows[:, :-1]).log_softmax(-1).gather(2, rows[:, 1:, None])[..., 0].sum(1)


def tried(
    decoder: nn.Module, before: Sequence[int], after: Sequence[int], left: Tensor, scores: Scores = text_scores
) -> Tensor:
    """p(word | all others), (V,): the text's probability with each of the likeliest words in the gap, normalised.

    left (V,): p(word | before), from which the likeliest are taken; all others get 0.
    """
    allowed = torch.zeros_like(left)
    allowed[list(word_ids())] = left[list(word_ids())]
    candidates = allowed.topk(TRIED).indices
    log_p = scores(decoder, torch.tensor([BOS, *before, 0, *after, EOS]), len(before) + 1, candidates)
    return torch.zeros_like(left).index_put((candidates,), torch.as_tensor(log_p, dtype=left.dtype).softmax(0))


@torch.no_grad()
def fill(
    models: Mapping[str, nn.Module], text: str, place: int, scores: Scores = text_scores
) -> dict[str, dict[str, float]]:
    """Way -> word -> probability, the likeliest first. The word at `place` (from 0) is hidden. No way looks at it."""
    found = words_of(text, fewest=FEWEST, most=MOST, letters=LETTERS)
    check_numbers("fill", least=0, less_than=len(found), whole=True, place=place)
    before, after = (world_tokenizer().encode(" ".join(part)) for part in (found[:place], found[place + 1 :]))
    hidden = models["encoder"](torch.tensor([[world_id(CLS), *before, world_id(MASK), *after, world_id(SEP)]]))
    left = models["decoder"](torch.tensor([[BOS, *before]]))[0, -1].softmax(-1)
    sentinel = world_id(SENTINELS[0])
    written = models["encoder_decoder"](torch.tensor([[*before, sentinel, *after]]), torch.tensor([[BOS, sentinel]]))
    columns = {
        "encoder": hidden[0, len(before) + 1].softmax(-1),
        "decoder, left": left,
        "decoder, tried": tried(models["decoder"], before, after, left, scores),
        "encoder–decoder": written[0, -1].softmax(-1),
    }
    named = {way: _named(chances) for way, chances in columns.items()}
    return named | {"exact": little_world().gap_words(" ".join(found), place)}


def _named(chances: Tensor) -> dict[str, float]:
    """Word -> probability, the likeliest first."""
    order = chances.argsort(descending=True).tolist()
    values = chances.tolist()
    return {world_tokenizer().tokens[token]: values[token] for token in order}


# --- draw -------------------------------------------------------------------------------------------------------------
def draw(filled: Mapping[str, Mapping[str, float]], found: Sequence[str], place: int) -> Svg:
    """The text with its hidden word in a box; below, a column of words with probabilities for each way."""
    parts, y = _text(found, place)
    hidden = found[place]
    for number, (way, how) in enumerate(WAYS.items()):
        x, top = LEFT + COLUMN * number, y + 34
        parts += [words(x, top, way, font_weight="bold"), words(x, top + 17, how, size=12, fill=MUTED)]
        chances = filled[way]
        rows = [*chances.items()][:BEST]
        if chances and hidden not in dict(rows):
            rows.append((hidden, chances.get(hidden, 0.0)))
        for row, (word, p) in enumerate(rows):
            parts += _row(x, top + 28 + (ROW + 2) * row + 8 * (row == BEST), word, p, word == hidden)
        if not chances:
            parts += [
                words(x, top + 44 + 17 * row, said, fill=MUTED) for row, said in enumerate(("no text of", "the world"))
            ]
    bottom = y + 34 + 28 + (ROW + 2) * (BEST + 1) + 16
    return card(2 * LEFT + COLUMN * len(WAYS) - 14, bottom, parts, describe(filled, hidden))


def _row(x: float, y: float, word: str, p: float, right: bool) -> list[str]:
    colour = GREEN if right else BLUE
    bold = {"font_weight": "bold"} if right else {}
    return [
        shape("rect", x=x, y=y, width=max(1, p * (COLUMN - 14)), height=ROW, rx=4, fill=colour.full, fill_opacity=0.35),
        shape("rect", x=x, y=y, width=COLUMN - 14, height=ROW, rx=4, fill="none", stroke=EDGE),
        words(x + 7, y + 16.5, _short(word, 13), **bold),
        words(x + COLUMN - 21, y + 16.5, f"{p:.2f}", anchor="end", **bold),
    ]


def _text(found: Sequence[str], place: int) -> tuple[list[str], float]:
    """The words, line by line, and where the last line ends."""
    parts, x, y = [], LEFT, 28.0
    right = LEFT + COLUMN * len(WAYS) - 14
    for number, word in enumerate(_short(word, 40) for word in found):
        width = ADVANCE * len(word)
        if x + width > right:
            x, y = LEFT, y + ROW
        if number == place:
            parts.append(
                shape("rect", x=x - 3, y=y - 15, width=width + 6, height=21, rx=4, fill=PINK.tint, stroke=PINK.full)
            )
        parts.append(words(x, y, word, font_family=MONO, **({"fill": PINK.shade} if number == place else {})))
        x += width + ADVANCE
    return parts, y


def _short(word: str, longest: int) -> str:
    return word if len(word) <= longest else word[: longest - 1] + "…"


# --- describe ---------------------------------------------------------------------------------------------------------
def describe(filled: Mapping[str, Mapping[str, float]], hidden: str) -> str:
    """The likeliest word of each way, and how probable the hidden one is."""
    said = []
    for way, chances in filled.items():
        if not chances:
            said.append(f"{way}: not a text of the world")
            continue
        best, p = next(iter(chances.items()))
        said.append(
            f"{way}: '{best}' {p:.2f}" + f" ('{_short(hidden, 40)}' {chances.get(hidden, 0.0):.2f})" * (best != hidden)
        )
    return f"Hidden is '{_short(hidden, 40)}'. {'; '.join(said)}."


# --- bind -------------------------------------------------------------------------------------------------------------
def gap_filler_explorer(
    models: Mapping[str, nn.Module] | None = None, *, scores: Scores = text_scores, text: str = TEXT, place: int = 4
) -> Explore:
    """Choose which word of a text is hidden, from 1 to the last one, or type another text.

    models: "encoder", "decoder" and "encoder_decoder"; by default the pretrained ones of the little world.
    scores: how the row "tried" scores texts
    """
    if models is None:
        models = {kind: world_model(kind) for kind in CLASSES}
    check_types("gap_filler_explorer", Mapping, models=models)
    check_types("gap_filler_explorer", nn.Module, **{f"models[{kind!r}]": models.get(kind) for kind in CLASSES})
    found = words_of(text, fewest=FEWEST, most=MOST, letters=LETTERS)
    check_numbers("gap_filler_explorer", least=1, most=len(found), whole=True, place=place)
    filled = lru_cache(maxsize=128)(lambda text, place: fill(models, text, place, scores))

    def picture(text: str, place: int) -> Svg:
        found = words_of(text, fewest=FEWEST, most=MOST, letters=LETTERS)
        hidden = min(place, len(found)) - 1
        with cpu_threads(1):
            return draw(filled(text, hidden), found, hidden)

    return Explore(
        picture,
        name="gap-filler",
        recorded={"text": list(dict.fromkeys([text, *TEXTS])), "place": [*range(1, len(found) + 1)]},
        text=typed("Text", text, width=720),
        place=slider("Hidden word", 1, MOST, start=place),
    )
