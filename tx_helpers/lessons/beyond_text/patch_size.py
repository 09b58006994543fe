"""Cut a digit into larger or smaller patches: how many tokens, how many multiplications, and how many digits are right.

    patch_size_explorer()

The shares are recorded (`amounts`), on 500 new digits, five seeds each; dots are the seeds, bars their mean. A patch of
8 × 8 is the whole picture: beside the class token there is one token, and nothing for attention to compare.
"""

from torch import Tensor

from tx_helpers.lessons.beyond_text.amounts import MODELS, amounts
from tx_helpers.lessons.beyond_text.digit_attention import article
from tx_helpers.lessons.beyond_text.digits import digits
from tx_helpers.lessons.beyond_text.vit import SIDE, TinyViT, multiplications
from tx_helpers.show.controls import choice, slider
from tx_helpers.show.explore import Explore
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import BLUE, EDGE, GREY, INK, MUTED, card, named_bar, shape, words

SIZES = {2: "ViT", 4: "ViT, patches of 4 × 4", 8: "ViT, one patch of 8 × 8"}
RIVAL, SHOWN = "convolution, equal size", ("40", "162", "1297")  # digits to learn from
PIXEL, GAP, LEFT, TOP, BARS = 22, 8, 16, 40, 360  # of a pixel; between patches; corner of the picture; left of the bars
RECORDED = 6  # digits on pages without a kernel


# --- compute ----------------------------------------------------------------------------------------------------------
def mean_right(name: str, amount: str) -> float:
    """The share of right answers, mean of the seeds."""
    runs = amounts()["right"][name][amount]
    return sum(runs) / len(runs)


# --- draw -------------------------------------------------------------------------------------------------------------
def draw_cut(image: Tensor, label: int, size: int = SIDE) -> Svg:
    """A digit (8, 8), ink dark, cut into patches of this size."""
    count = (SIDE // size) ** 2
    inked = int((image > 0).sum())
    alt = f"A handwritten {label}, {SIDE} by {SIDE} pixels: {inked} of the 64 have ink. "
    alt += f"It is cut into {count} patches." if count > 1 else "It is one square."
    edge = PIXEL * SIDE + GAP * (SIDE // size - 1)
    title = words(LEFT, TOP - 14, f"{article(label)} {label} of 8 × 8 pixels", font_weight="bold")
    return card(2 * LEFT + max(edge, 160), TOP + edge + 16, [title, *_cut(image, size)], alt)


def _cut(image: Tensor, size: int) -> list[str]:
    parts = []
    for row, inks in enumerate(image.tolist()):
        for column, ink in enumerate(inks):
            x, y = (LEFT + PIXEL * column + GAP * (column // size), TOP + PIXEL * row + GAP * (row // size))
            opacity = round(ink, 3)
            parts.append(
                shape("rect", x=x, y=y, width=PIXEL, height=PIXEL, fill=INK, fill_opacity=opacity, stroke=EDGE)
            )
    return parts


def draw(image: Tensor, label: int, size: int) -> Svg:
    """The digit in pieces, what they cost, and the shares right beside those of the convolution."""
    tokens = (SIDE // size) ** 2
    plural = "s" if tokens > 1 else ""
    parts = [words(LEFT, TOP - 14, f"{tokens} patch{'e' * (tokens > 1)}{plural} + class token", font_weight="bold")]
    parts += _cut(image, size)
    parts.append(words(BARS - 90, TOP - 14, "right of 500 new digits, mean of five seeds", font_weight="bold"))
    seeds = amounts()["right"]
    for row, amount in enumerate(SHOWN):
        y = TOP + 62 * row
        parts.append(words(BARS - 90, y + 30, f"from {int(amount):,}", fill=MUTED))
        for below, (name, kind, look) in enumerate((("ViT", SIZES[size], BLUE), ("conv.", RIVAL, GREY))):
            share, length = mean_right(kind, amount), 200
            parts += named_bar(BARS + 46, y + 22 * below, name, length * share, f"{share:.2f}", look.full, gap=14)
            for one in seeds[kind][amount]:
                where = dict(cx=BARS + 46 + length * one, cy=y + 22 * below + 9)
                parts.append(shape("circle", **where, r=2.2, fill=INK))
    bottom = TOP + PIXEL * SIDE + 3 * GAP + 24
    parts.append(words(LEFT, bottom, _times(size)))
    return card(BARS + 330, bottom + 16, parts, describe(label, size))


def _times(size: int) -> str:
    """What a picture costs, in patches of this size and in the convolution."""
    cost, rival = multiplications(TinyViT(size=size)), multiplications(MODELS[RIVAL]())
    return f"{cost:,} multiplications for a picture; the convolution: {rival:,}"


# --- describe ---------------------------------------------------------------------------------------------------------
def describe(label: int, size: int) -> str:
    """The digit, its tokens, what they cost, and the shares right beside those of the convolution."""
    tokens = (SIDE // size) ** 2
    told = [f"{int(n):,}: {mean_right(SIZES[size], n):.2f} against {mean_right(RIVAL, n):.2f}" for n in SHOWN]
    begin = f"{article(label).capitalize()} {label} as {tokens} token{'s' * (tokens > 1)} of {size} × {size} pixels"
    return f"{begin}: {_times(size)}. Right, ViT against convolution, from {'; '.join(told)}."


# --- bind -------------------------------------------------------------------------------------------------------------
def patch_size_explorer() -> Explore:
    """Choose a digit and the size of its patches."""
    images, labels = digits("test")
    return Explore(
        lambda number, size: draw(images[number], int(labels[number]), size),
        name="patch-size",
        recorded={"number": range(RECORDED)},
        number=slider("Test digit", 0, len(labels) - 1),
        size=choice("Patch size", {f"{size} × {size}": size for size in SIZES}, 2),
    )
