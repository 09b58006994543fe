"""The bias that decides the routing: one token's choice, and the work of all experts, before and after balancing.

draw_balance(p, bias)              # p (N, E) of a router, bias (E,): the first token that the bias sends elsewhere

expert = argmax(p + bias), but its output is weighted with p
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from tx_helpers.nn.arguments import check_tensors
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import BLUE, GREY, INK, MUTED, PINK, card, line, shape, words

LEFT, SLOT, WIDE = 66, 82, 30  # pixels: the first expert's middle, the way to the next, the width of a bar
ONE, TWO, TALL = 178, 376, 110  # the base lines of the two rows, and how far a bar can rise


# --- compute ----------------------------------------------------------------------------------------------------------
def loads(p: Tensor, bias: Tensor) -> Tensor:
    """The share of the tokens that each expert gets: (N, E), (E,) -> (E,)"""
    return torch.bincount((p + bias).argmax(dim=-1), minlength=p.shape[1]) / len(p)


def moved_token(p: Tensor, bias: Tensor) -> int:
    """The first token that the bias sends to another expert; 0 if there is none."""
    elsewhere = p.argmax(dim=-1) != (p + bias).argmax(dim=-1)
    return int(elsewhere.float().argmax())


# --- draw -------------------------------------------------------------------------------------------------------------
def draw_balance(p: Tensor, bias: Tensor) -> Svg:
    """Above: a token's probability of each expert, and with the bias. Below: all tokens, both ways."""
    check_tensors("draw_balance", p=(p, "float N E"), bias=(bias, "float E"))
    row = p[moved_token(p, bias)]
    before, after = loads(p, torch.zeros_like(bias)), loads(p, bias)
    first, second = int(row.argmax()), int((row + bias).argmax())
    parts = [
        words(16, 24, "One token: the grey bar is the probability p, the blue bar is p + bias", font_weight="bold"),
        words(
            16, 44, f"p alone chooses expert {first + 1}; with the bias it is expert {second + 1} (framed).", fill=MUTED
        ),
        words(
            16,
            230,
            "All tokens: the share that each expert gets, grey without the bias, blue with it",
            font_weight="bold",
        ),
    ]
    sums = row + bias
    parts += _pairs(ONE, row.tolist(), sums.tolist(), max(row.max().item(), sums.max().item()), chosen=(first, second))
    parts += _pairs(TWO, before.tolist(), after.tolist(), max(before.max().item(), after.max().item()))
    for expert, value in enumerate(bias.tolist()):
        x = LEFT + SLOT * expert
        parts.append(words(x, ONE + 18, f"{expert + 1}: {value:+.2f}", anchor="middle", fill=PINK.shade))
        parts.append(words(x, TWO + 18, str(expert + 1), anchor="middle"))
    even = TWO - TALL / len(row) / max(before.max().item(), after.max().item())
    end = LEFT + SLOT * (len(row) - 0.5)
    parts.append(line(LEFT - SLOT / 2, even, end, even, INK, stroke_dasharray="5 4"))
    parts.append(words(16, TWO + 40, "Pink: the bias of each expert. Dashed: an even share.", fill=MUTED))
    return card(end + 16, TWO + 54, parts, describe(p, bias))


def _pairs(
    base: float, grey: Sequence[float], blue: Sequence[float], most: float, chosen: tuple[int, int] | None = None
) -> list[str]:
    """Two bars for each expert, with their numbers in %."""
    parts = [line(LEFT - SLOT / 2, base, LEFT + SLOT * (len(grey) - 0.5), base, MUTED)]
    for place, values in enumerate((grey, blue)):
        for expert, value in enumerate(values):
            x, tall = LEFT + SLOT * expert + (place - 1) * (WIDE + 2) + 1, TALL * max(value, 0) / most
            frame = dict(stroke=INK, stroke_width=3) if chosen and expert == chosen[place] else {}
            fill = (GREY, BLUE)[place].full
            parts.append(shape("rect", x=x, y=base - tall, width=WIDE, height=tall, fill=fill, **frame))
            parts.append(words(x + WIDE / 2, base - tall - 5, f"{100 * value:.0f}", size=12.5, anchor="middle"))
    return parts


# --- describe ---------------------------------------------------------------------------------------------------------
def describe(p: Tensor, bias: Tensor) -> str:
    """The token's two choices with their numbers, and the largest and the smallest share before and after."""
    row = p[moved_token(p, bias)]
    first, second = int(row.argmax()), int((row + bias).argmax())
    told = [
        f"{100 * share.min():.0f} to {100 * share.max():.0f} %"
        for share in (loads(p, torch.zeros_like(bias)), loads(p, bias))
    ]
    return (
        f"One token: expert {first + 1} has {row[first]:.2f}, expert {second + 1} has {row[second]:.2f}; with the "
        f"biases {bias[first]:+.2f} and {bias[second]:+.2f} it goes to expert {second + 1}. All tokens: an expert gets "
        f"{told[0]} without the bias, {told[1]} with it."
    )
