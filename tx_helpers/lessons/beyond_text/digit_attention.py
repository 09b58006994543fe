"""Where a tiny ViT looks when it reads a digit: the class token's attention on 16 patches, and what it answers.

    digit_attention_explorer(train_on_digits(TinyViT()))

The weights are those of a real forward pass, row 0 of softmax(Q Kᵀ/√K) in the chosen layer and head. A large weight is
no proof that the patch matters: hide the patch that gets most or least, and see whether the answer changes.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from tx_helpers.lessons.beyond_text.digits import digits
from tx_helpers.lessons.beyond_text.vit import SIDE, TinyViT, class_attention, patches
from tx_helpers.nn.arguments import check_numbers, check_one_of, check_types
from tx_helpers.show.controls import choice, slider
from tx_helpers.show.explore import Explore
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import (
    BLUE,
    EDGE,
    GREEN,
    GREY,
    INK,
    MUTED,
    ORANGE,
    PAPER,
    WEIGHT,
    card,
    named_bar,
    setting,
    shape,
    words,
)

HIDE = ("nothing", "the patch with most weight", "the patch with least weight")
RECORDED = 12  # digits on pages without a kernel
PIXEL, LEFT, TOP, GAP = 27, 16, 40, 24  # pixels of the page: of a pixel of the image, and around the images
LISTED = 12  # misread digits that are listed


# --- compute ----------------------------------------------------------------------------------------------------------
class Reading(NamedTuple):
    """What a model makes of images: all tensors have a row for each of them.

    shown (B, 8, 8): the images without the hidden patch; weights (B, 1 + N) of the class token on itself and on the
    patches of the whole image; chances (B, 10) of the digits, and `before` a patch was hidden; its number, −1 for none.
    """

    shown: Tensor
    weights: Tensor
    chances: Tensor
    before: Tensor
    hidden: Tensor


def emptied(model: TinyViT, images: Tensor, patch: Tensor) -> Tensor:
    """The images (B, 8, 8) without the ink of one patch each, (B,)."""
    per_side = SIDE // model.size
    squares = patches(images, model.size).clone()  # (B, N, size²)
    squares[torch.arange(len(images)), patch] = 0
    rows = squares.unflatten(2, (model.size, -1)).unflatten(1, (per_side, -1))  # (B, down, across, size, size)
    return rows.transpose(2, 3).reshape(images.shape)


@torch.no_grad()
def read(model: TinyViT, images: Tensor, layer: int = 1, head: int = 0, hide: str = "nothing") -> Reading:
    """What the model sees and answers for images (B, 8, 8); layer and head count from 0."""
    check_types("read", TinyViT, model=model)
    check_one_of("read", HIDE, hide=hide)
    weights = class_attention(model, images)  # (B, L, H, 1 + N)
    check_numbers("read", least=0, less_than=weights.shape[1], whole=True, layer=layer)
    check_numbers("read", least=0, less_than=weights.shape[2], whole=True, head=head)
    weights = weights[:, layer, head]
    if hide != "nothing":
        patch = weights[:, 1:].argmax(-1) if hide == HIDE[1] else weights[:, 1:].argmin(-1)
        shown = emptied(model, images, patch)
    else:
        patch, shown = torch.full((len(images),), -1), images
    return Reading(shown, weights, model(shown).softmax(-1), model(images).softmax(-1), patch)


@torch.no_grad()
def misread(model: TinyViT, images: Tensor, labels: Tensor) -> list[int]:
    """The numbers of the images (N, 8, 8) that the model names wrongly."""
    return (model(images).argmax(-1) != labels).nonzero().flatten().tolist()


def changed_answers(model: TinyViT, images: Tensor, hide: str) -> Tensor:
    """The share of the images (B, 8, 8) whose answer changes without that patch, (L, H): for each layer and head."""
    check_types("changed_answers", TinyViT, model=model)
    layers, heads = class_attention(model, images[:1]).shape[1:3]
    shares = torch.zeros(layers, heads)
    for layer in range(layers):
        for head in range(heads):
            seen = read(model, images, layer, head, hide)
            changed = seen.chances.argmax(-1) != seen.before.argmax(-1)
            shares[layer, head] = changed.float().mean()
    return shares


@torch.no_grad()
def changed_by_any(model: TinyViT, images: Tensor) -> float:
    """The rival of `changed_answers`: the share that changes without one patch, mean over all patches."""
    before = model(images).argmax(-1)
    shares = []
    for patch in range(model.n_patches):
        shown = emptied(model, images, torch.full((len(images),), patch))
        shares.append((model(shown).argmax(-1) != before).float().mean().item())
    return sum(shares) / len(shares)


# --- draw -------------------------------------------------------------------------------------------------------------
def draw(image: Tensor, label: int, seen: Reading, where: str, wrong: Sequence[int] = ()) -> Svg:
    """What the model is shown, the weights of the patches in gold, and a bar for each of the ten answers.

    seen has one row, that of the image (8, 8); wrong: numbers of misread digits, to be clicked.
    """
    weights, hidden = seen.weights[0].tolist(), int(seen.hidden[0])
    edge, second = PIXEL * SIDE, LEFT + PIXEL * SIDE + GAP
    parts = [words(LEFT, TOP - 14, f"{article(label)} {label}", font_weight="bold"), *_pixels(seen.shown[0], LEFT)]
    parts += [words(second, TOP - 14, f"attention of {where}", font_weight="bold"), *_pixels(image, second, 0.35)]
    per_side = round((len(weights) - 1) ** 0.5)
    side = edge / per_side
    for patch, weight in enumerate(weights[1:]):
        down, across = divmod(patch, per_side)
        x, y, square = second + side * across, TOP + side * down, dict(width=side, height=side)
        opacity = round(0.85 * min(1, 2.5 * weight), 3)
        parts.append(shape("rect", x=x, y=y, fill=WEIGHT.full, fill_opacity=opacity, stroke=EDGE, **square))
        if weight >= 0.02:
            parts.append(shape("rect", x=x + side - 36, y=y + side - 20, width=33, height=17, rx=3, fill=PAPER))
            parts.append(words(x + side - 7, y + side - 7, f"{weight:.2f}", size=12, anchor="end"))
        if patch == hidden:
            frame = dict(fill="none", stroke=ORANGE.full, stroke_width=4, **square)
            parts += [shape("rect", x=left + side * across, y=y, **frame) for left in (LEFT, second)]
    third, bottom = second + edge + 3 * GAP, TOP + edge + 26
    parts += [*_answers(seen, label, third), words(second, bottom, f"on itself {weights[0]:.2f}", fill=MUTED)]
    if wrong:
        parts.append(words(LEFT, bottom + 26, "misread test digits:", fill=MUTED))
    for place, number in enumerate(wrong[:LISTED]):
        style = dict(fill=BLUE.shade, text_decoration="underline")
        parts.append(setting("number", number, [words(LEFT + 140 + 42 * place, bottom + 26, str(number), **style)]))
    return card(third + 220, bottom + (42 if wrong else 14), parts, describe(label, seen, where))


def _pixels(image: Tensor, left: float, strength: float = 1.0) -> list[str]:
    parts = [shape("rect", x=left, y=TOP, width=PIXEL * SIDE, height=PIXEL * SIDE, fill="none", stroke=EDGE)]
    for down, row in enumerate(image.tolist()):
        for across, ink in enumerate(row):
            if ink:
                place = dict(x=left + PIXEL * across, y=TOP + PIXEL * down, width=PIXEL, height=PIXEL)
                parts.append(shape("rect", fill=INK, fill_opacity=round(strength * ink, 3), **place))
    return parts


def _answers(seen: Reading, label: int, x: float) -> list[str]:
    title = "its answer" + " without the framed patch" * (seen.hidden[0] >= 0)
    parts = [words(x - 20, TOP - 14, title, font_weight="bold")]
    best = int(seen.chances[0].argmax())
    for digit, chance in enumerate(seen.chances[0].tolist()):
        fill = GREY.full if digit != best else GREEN.full if digit == label else ORANGE.full
        parts += named_bar(x, TOP + 21.6 * digit, str(digit), 150 * chance, f"{chance:.2f}", fill)
    return parts


# --- describe ---------------------------------------------------------------------------------------------------------
def article(label: int) -> str:
    """Of a digit: "an" 8, "a" any other."""
    return "an" if label == 8 else "a"


def describe(label: int, seen: Reading, where: str) -> str:
    """Where it looks most, what it answers, and whether the hidden patch changed the answer."""
    weights, hidden = seen.weights[0, 1:], int(seen.hidden[0])
    most = _place(int(weights.argmax()), len(weights))
    said = f"{article(label).capitalize()} {label}, read as {_answer(seen.before[0], label)}. In {where}, "
    said += f"the class token looks most at {most} ({weights.max():.2f})."
    if hidden < 0:
        return said
    return f"{said} Without {_place(hidden, len(weights))}: {_answer(seen.chances[0], label)}."


def _place(patch: int, count: int) -> str:
    down, across = divmod(patch, round(count**0.5))
    return f"the patch in row {down + 1}, column {across + 1}"


def _answer(chances: Tensor, label: int) -> str:
    best = int(chances.argmax())
    return f"{best} ({chances[best]:.2f}), {'right' if best == label else 'wrong'}"


# --- bind -------------------------------------------------------------------------------------------------------------
def digit_attention_explorer(model: TinyViT) -> Explore:
    """Choose a digit of the test part, a layer and a head, and hide a patch."""
    check_types("digit_attention_explorer", TinyViT, model=model)
    model = model.eval()
    images, labels = digits("test")
    wrong = misread(model, images, labels)
    layers, heads = len(model.blocks), model.blocks[0].self_attention.n_heads

    def picture(number: int, layer: int, head: int, hide: str) -> Svg:
        seen = read(model, images[number : number + 1], layer - 1, head - 1, hide)
        return draw(images[number], int(labels[number]), seen, f"layer {layer}, head {head}", wrong)

    return Explore(
        picture,
        name="digit-attention",
        recorded={"number": [*range(RECORDED), *wrong[:4]]},
        number=slider("Test digit", 0, len(labels) - 1),
        layer=slider("Layer", 1, layers, start=layers),
        head=slider("Head", 1, heads),
        hide=choice("Hide", HIDE),
    )
