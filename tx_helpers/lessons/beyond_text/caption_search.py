"""Choose a caption, see which new pictures a trained model ranks first, and its score with all pictures of one place.

    caption_search_explorer(train_pairs(PictureAndCaption()))

Scores are cosines p · c of vectors of length 1. Pairs of colour and shape that were never trained on are framed.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from tx_helpers.lessons.beyond_text.captions import PictureAndCaption, table
from tx_helpers.lessons.beyond_text.drawn_shapes import (
    COLOURS,
    HELD_OUT,
    PAIRS,
    PLACES,
    SHAPES,
    SIZE,
    captions_of,
    ids_of,
    pictures_of,
    text_of,
)
from tx_helpers.nn.arguments import check_types
from tx_helpers.show.controls import choice
from tx_helpers.show.explore import Explore
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import BLUE, EDGE, MUTED, ORANGE, PAPER, card, number, shape, words

BEST, PIXEL = 6, 6  # pictures shown, and the size of a pixel of theirs


# --- compute ----------------------------------------------------------------------------------------------------------
class Gallery(NamedTuple):
    """A new picture for each of the 64 captions: pixels (64, 16, 16, 3), captions (64, 3)."""

    pixels: Tensor
    captions: Tensor


def gallery(seed: int = 21) -> Gallery:
    """The pictures that are searched; none of them was trained on."""
    captions = captions_of(PAIRS)
    return Gallery(pictures_of(captions, torch.Generator().manual_seed(seed)), captions)


def search(model: PictureAndCaption, shown: Gallery, caption: str) -> Tensor:
    """The cosine of each picture with the caption, (64,)."""
    return table(model, shown.pixels, torch.tensor([ids_of(caption)]))[:, 0]


# --- draw -------------------------------------------------------------------------------------------------------------
def draw(shown: Gallery, scores: Tensor, caption: str) -> Svg:
    """The best six pictures, then the scores of all pictures in the caption's place, by colour and shape."""
    edge = PIXEL * SIZE
    parts = [words(20, 26, f"Best pictures for “{caption}”", font_weight="bold")]
    for rank, which in enumerate(scores.argsort(descending=True)[:BEST].tolist()):
        left = 20 + rank * (edge + 24)
        parts += picture(shown.pixels[which], left, 38, PIXEL)
        same = text_of(shown.captions[which].tolist()) == caption
        parts.append(words(left, 56 + edge, f"{scores[which]:.2f}" + "  ✓" * same))
    top = 78 + edge
    place = caption.split()[2]
    parts.append(words(20, top, f"Scores of all pictures with a shape {place} (framed: never trained on)", fill=MUTED))
    for down, colour in enumerate(COLOURS):
        parts.append(words(110, top + 44 + 30 * down, colour, anchor="end"))
        for across, form in enumerate(SHAPES):
            score = float(scores[PAIRS.index((colour, form)) * len(PLACES) + PLACES.index(place)])
            x, y = 124 + 104 * across, top + 26 + 30 * down
            new = (colour, form) in HELD_OUT
            frame = dict(stroke=ORANGE.full if new else EDGE, stroke_width=3 if new else 1)
            parts.append(shape("rect", x=x, y=y, width=96, height=26, rx=3, fill=PAPER))
            filled = dict(fill=BLUE.full, fill_opacity=round(0.45 * max(score, 0), 3))
            parts.append(shape("rect", x=x, y=y, width=96, height=26, rx=3, **filled, **frame))
            parts.append(words(x + 48, y + 18, f"{score:.2f}", anchor="middle"))
    parts += [words(172 + 104 * across, top + 20, form, anchor="middle") for across, form in enumerate(SHAPES)]
    return card(40 + BEST * (edge + 24), top + 158, parts, describe(shown, scores, caption))


def picture(pixels: Tensor, left: float, top: float, size: float) -> list[str]:
    """A picture (16, 16, 3) as squares of its ink on a sheet of paper."""
    edge = size * SIZE
    parts = [shape("rect", x=left, y=top, width=edge, height=edge, fill=PAPER, stroke=EDGE)]
    inks: dict[str, list[str]] = {}
    for y, x in (pixels.sum(-1) > 0).nonzero().tolist():
        code = "#" + "".join(f"{round(255 * (1 - part)):02X}" for part in pixels[y, x].tolist())
        inks.setdefault(code, []).append(f"M{number(left + size * x)},{number(top + size * y)}h{size}v{size}h-{size}z")
    return [*parts, *(shape("path", d="".join(squares), fill=code) for code, squares in inks.items())]


# --- describe ---------------------------------------------------------------------------------------------------------
def describe(shown: Gallery, scores: Tensor, caption: str) -> str:
    """The rank of the caption's own picture, and what comes first."""
    order = [text_of(shown.captions[which].tolist()) for which in scores.argsort(descending=True).tolist()]
    pair = tuple(caption.split()[:2])
    known = "never trained on" if pair in HELD_OUT else "trained on"
    first = "" if order[0] == caption else f" First is “{order[0]}”."
    return (
        f"“{caption}” ({' '.join(pair)} was {known}): its own picture is number {1 + order.index(caption)} of "
        f"{len(order)}, score {scores[shown.captions.eq(torch.tensor(ids_of(caption))).all(1)].item():.2f}.{first}"
    )


# --- bind -------------------------------------------------------------------------------------------------------------
def caption_search_explorer(model: PictureAndCaption) -> Explore:
    """Choose colour, shape and place of a caption."""
    check_types("caption_search_explorer", PictureAndCaption, model=model)
    shown = gallery()

    def draw_search(colour: str, form: str, place: str) -> Svg:
        caption = f"{colour} {form} {place}"
        return draw(shown, search(model, shown, caption), caption)

    return Explore(
        draw_search,
        name="caption-search",
        told=True,
        colour=choice("Colour", list(COLOURS), "blue"),
        form=choice("Shape", list(SHAPES), "square"),
        place=choice("Place", list(PLACES), "top-left"),
    )
