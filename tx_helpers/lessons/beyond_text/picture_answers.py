"""Ask a decoder about a picture: the probabilities of its answer, and where the question looks.

    picture_answers_explorer(load_small(PictureDecoder(), "picture_questions"))

Gold is the weight of each patch at a word of the question, mean of the heads: at the word that is asked about, or at
the question mark, whose next word is the answer.
"""

import torch
from torch import Tensor

from tx_helpers.lessons.beyond_text.caption_search import picture
from tx_helpers.lessons.beyond_text.captions import PATCH, TOKENS
from tx_helpers.lessons.beyond_text.drawn_shapes import COLOURS, HELD_OUT, SHAPES, SIZE
from tx_helpers.lessons.beyond_text.picture_questions import (
    ASKED,
    KINDS,
    SLOT,
    VOCABULARY,
    PictureDecoder,
    Questions,
    answer_chances,
    ids,
    question_looks,
    questions,
)
from tx_helpers.nn.arguments import check_types
from tx_helpers.show.controls import choice, slider
from tx_helpers.show.explore import Explore
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import BLUE, EDGE, GREY, MUTED, WEIGHT, card, named_bar, shape, words

PICTURES, BEST, PIXEL, LEFT, TOP = 12, 5, 13, 16, 44
PLACES = {"the word asked about": SLOT, "the question mark": ASKED - 1}
ASKABLE = [
    text.format(word) for kind, text in KINDS.items() for word in (COLOURS if kind == "count" else SHAPES)
]  # twelve


# --- compute ----------------------------------------------------------------------------------------------------------
def album() -> Tensor:
    """New pictures (12, 16, 16, 3): the last three hold a pair that was never trained on."""
    known = questions(PICTURES - 3, generator=torch.Generator().manual_seed(40)).pixels
    return torch.cat([known, questions(3, generator=torch.Generator().manual_seed(41), pairs=HELD_OUT).pixels])


def ask_model(model: PictureDecoder, pixels: Tensor, question: str, place: int, layer: int) -> tuple[Tensor, Tensor]:
    """Chances of the answer, (words,), and where a word looks in a layer, (N + 6,); of a picture (16, 16, 3)."""
    nothing = torch.zeros(1, 2, dtype=torch.long)
    given = Questions(pixels[None], torch.tensor([ids(question)]), nothing, nothing[:, 0])
    return answer_chances(model, given)[0], question_looks(model, given, place)[0, layer - 1]


# --- draw -------------------------------------------------------------------------------------------------------------
def draw(pixels: Tensor, question: str, chances: Tensor, looks: Tensor, where: str) -> Svg:
    """The picture; the weights (N + 6,) in gold on its 16 patches; the best five words of chances (words,)."""
    edge, side = PIXEL * SIZE, PIXEL * PATCH
    second, third = LEFT + edge + 24, LEFT + 2 * edge + 150
    parts = [words(LEFT, TOP - 16, question, font_weight="bold", size=15), *picture(pixels, LEFT, TOP, PIXEL)]
    parts += picture(pixels, second, TOP, PIXEL)
    for patch, weight in enumerate(looks[:TOKENS].tolist()):
        down, across = divmod(patch, SIZE // PATCH)
        opacity = round(0.85 * min(1, 4 * weight), 3)
        place = dict(x=second + side * across, y=TOP + side * down, width=side, height=side)
        parts.append(shape("rect", **place, fill=WEIGHT.full, fill_opacity=opacity, stroke=EDGE))
    on_words = looks[TOKENS:].sum().item()
    parts.append(words(second, TOP + edge + 20, f"{where}: {on_words:.2f} on words", fill=MUTED))
    parts.append(words(third - 60, TOP - 16, "the answer", font_weight="bold"))
    best = chances.topk(BEST)
    for row, (chance, word) in enumerate(zip(best.values.tolist(), best.indices.tolist(), strict=True)):
        fill = GREY.full if row else BLUE.full
        parts += named_bar(third, TOP + 30 * row, VOCABULARY[word], 120 * chance, f"{chance:.2f}", fill)
    return card(third + 190, TOP + edge + 34, parts, describe(question, chances, looks, where))


# --- describe ---------------------------------------------------------------------------------------------------------
def describe(question: str, chances: Tensor, looks: Tensor, where: str) -> str:
    """The likeliest answer, and the patch that is looked at most."""
    down, across = divmod(int(looks[:TOKENS].argmax()), SIZE // PATCH)
    answer = VOCABULARY[int(chances.argmax())]
    return (
        f"“{question}” Its answer: {answer} ({chances.max():.2f}). In {where} looks most at the patch in "
        f"row {down + 1}, column {across + 1} ({looks[:TOKENS].max():.2f})."
    )


# --- bind -------------------------------------------------------------------------------------------------------------
def picture_answers_explorer(model: PictureDecoder) -> Explore:
    """Choose one of twelve new pictures, a question, and a layer."""
    check_types("picture_answers_explorer", PictureDecoder, model=model)
    pictures, layers = album(), len(model.blocks)

    def ask(number: int, question: str, place: str, layer: int) -> Svg:
        pixels, where = pictures[number - 1], f"layer {layer}, {place}"
        return draw(pixels, question, *ask_model(model, pixels, question, PLACES[place], layer), where)

    return Explore(
        ask,
        name="picture-answers",
        number=slider("Picture", 1, PICTURES),
        question=choice("Question", ASKABLE, width=340),
        place=choice("Looks", list(PLACES)),
        layer=slider("Layer", 1, layers, start=layers),
        recorded={"layer": [layers], "place": [next(iter(PLACES))]},
    )
