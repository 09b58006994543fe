"""Pictures of 16 × 16 pixels with a drawn shape or two, and a caption for each.

    scenes = one_shape(64, generator=torch.Generator().manual_seed(0))
    scenes.pixels.shape, scenes.captions.shape      # (64, 16, 16, 3), (64, 3): "red square top-left"

A shape is 5 × 5 pixels, somewhere in its quarter (or half) of the picture, a little lighter or darker each time. A
caption is a row of ids of `WORDS`. `HELD_OUT` are the pairs of colour and shape that are never trained on, though each
colour and each shape is.
"""

from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import torch
from torch import Tensor

from tx_helpers.nn.arguments import check_numbers, check_one_of

COLOURS = {"red": "#D0342C", "green": "#2E8B57", "blue": "#2F6FDE", "yellow": "#B58900"}
SHAPES = {
    "square": ("#####", "#####", "#####", "#####", "#####"),
    "ring": (".###.", "#...#", "#...#", "#...#", ".###."),
    "cross": ("..#..", "..#..", "#####", "..#..", "..#.."),
    "triangle": ("..#..", "..#..", ".###.", ".###.", "#####"),
}
PLACES = ("top-left", "top-right", "bottom-left", "bottom-right")
RELATION = "left-of"
WORDS = (*COLOURS, *SHAPES, *PLACES, RELATION)
PAIRS = tuple(product(COLOURS, SHAPES))  # (colour, shape): 16
HELD_OUT = (("red", "cross"), ("green", "triangle"), ("blue", "square"), ("yellow", "ring"))
SEEN = tuple(pair for pair in PAIRS if pair not in HELD_OUT)
SIZE, EDGE = 16, 5  # pixels along a side of the picture, and of a shape

_MASKS = torch.tensor([[[ink == "#" for ink in row] for row in rows] for rows in SHAPES.values()]).float()  # (4, 5, 5)
_INKS = 1 - torch.tensor([[int(code[i : i + 2], 16) / 255 for i in (1, 3, 5)] for code in COLOURS.values()])  # (4, 3)


class Scenes(NamedTuple):
    """Pixels (B, 16, 16, 3), 0 is paper, and the captions' ids (B, words)."""

    pixels: Tensor
    captions: Tensor

    def to(self, device: torch.device) -> "Scenes":
        """The same on a device, as `fit` asks of a batch."""
        return Scenes(self.pixels.to(device), self.captions.to(device))


def ids_of(text: str) -> list[int]:
    """The ids of a caption's words. ValueError names a word that is none."""
    for word in text.split():
        check_one_of("ids_of", WORDS, word=word)
    return [WORDS.index(word) for word in text.split()]


def text_of(ids: Sequence[int]) -> str:
    """The caption of ids."""
    return " ".join(WORDS[i] for i in ids)


def captions_of(pairs: Sequence[tuple[str, str]]) -> Tensor:
    """All captions of one shape with these pairs of colour and shape, in all four places. (4 · pairs, 3)"""
    return torch.tensor([ids_of(f"{colour} {form} {place}") for colour, form in pairs for place in PLACES])


def pictures_of(captions: Tensor, generator: torch.Generator) -> Tensor:
    """A new picture for each caption of three words (B, 3): pixels (B, 16, 16, 3)."""
    colour, form = captions[:, 0], captions[:, 1] - len(COLOURS)
    place = captions[:, 2] - WORDS.index(PLACES[0])
    shift = torch.randint(0, 4, (len(captions), 2), generator=generator)  # 8 − 5 + 1 places in a quarter
    top, left = 8 * (place // 2) + shift[:, 0], 8 * (place % 2) + shift[:, 1]
    return stamped(colour, form, top, left, generator)


def one_shape(
    count: int, *, generator: torch.Generator, pairs: Sequence[tuple[str, str]] = SEEN, repeat: bool = False
) -> Scenes:
    """Pictures of one shape each. Unless `repeat`, no caption comes twice while there are others."""
    check_numbers("one_shape", least=1, whole=True, count=count)
    captions = captions_of(pairs)
    if repeat:
        chosen = torch.randint(len(captions), (count,), generator=generator)
    else:
        rounds = -(-count // len(captions))
        chosen = torch.cat([torch.randperm(len(captions), generator=generator) for _ in range(rounds)])[:count]
    return Scenes(pictures_of(captions[chosen], generator), captions[chosen])


def two_shapes(count: int, *, generator: torch.Generator) -> Scenes:
    """Pictures with two different shapes in two colours: "red square left-of blue ring". Captions (B, 5)."""
    check_numbers("two_shapes", least=1, whole=True, count=count)
    colours = torch.rand(count, 4, generator=generator).argsort(1)[:, :2]
    forms = torch.rand(count, 4, generator=generator).argsort(1)[:, :2]
    relation = torch.full((count,), WORDS.index(RELATION))
    first, second = (torch.stack([colours[:, i], forms[:, i] + len(COLOURS)], 1) for i in range(2))
    captions = torch.cat([first, relation[:, None], second], 1)
    return Scenes(pictures_of_two(captions, generator), captions)


def pictures_of_two(captions: Tensor, generator: torch.Generator) -> Tensor:
    """A new picture for each caption of five words (B, 5): the first shape is in the left half, the second right."""
    pixels = torch.zeros(len(captions), SIZE, SIZE, 3)
    for half, start in enumerate((0, 3)):
        top = torch.randint(0, SIZE - EDGE + 1, (len(captions),), generator=generator)
        left = 8 * half + torch.randint(0, 4, (len(captions),), generator=generator)
        pixels += stamped(captions[:, start], captions[:, start + 1] - len(COLOURS), top, left, generator)
    return pixels


def swapped(captions: Tensor) -> Tensor:
    """ "red square left-of blue ring" -> "blue ring left-of red square": the same words, the opposite meaning."""
    return captions[:, [3, 4, 2, 0, 1]]


def stamped(colour: Tensor, form: Tensor, top: Tensor, left: Tensor, generator: torch.Generator) -> Tensor:
    """A shape in each picture at (top, left), with a lightness of 0.7 to 1."""
    count, steps = len(colour), torch.arange(EDGE)
    light = 0.7 + 0.3 * torch.rand(count, generator=generator)
    ink = _INKS[colour] * light[:, None]
    pixels = torch.zeros(count, SIZE, SIZE, 3)
    rows = (top[:, None] + steps)[:, :, None].expand(-1, -1, EDGE)
    columns = (left[:, None] + steps)[:, None, :].expand(-1, EDGE, -1)
    which = torch.arange(count)[:, None, None].expand(-1, EDGE, EDGE)
    pixels[which, rows, columns] = _MASKS[form][..., None] * ink[:, None, None]
    return pixels
