"""One row of weights on the steps of whole numbers: how far each weight moves, and what one large weight does to all.

    draw_weight_row(row)      # row (n,): in 8 bits, in 4 bits, and in 4 bits beside one weight four times the largest

Each weight is drawn twice: above a line where it is, and below the line at the nearest step, s · code (`quantise`).
"""

import torch
from torch import Tensor

from tx_helpers.lessons.cheaper_and_longer.quantise import dequantise, quantise
from tx_helpers.nn.arguments import check_tensors
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import BLUE, INK, MUTED, ORANGE, card, line, shape, words

LEFT, WIDTH = 150, 580


# --- compute ----------------------------------------------------------------------------------------------------------
def weight_rows(row: Tensor) -> dict[str, tuple[Tensor, Tensor, float]]:
    """Name -> (weights, the same rounded, the step s) for the three lines of the drawing."""
    check_tensors("draw_weight_row", row=(row, "float n"))
    outlier = torch.cat([row, 4 * row.abs().max()[None]])
    found = {}
    for name, weights, bits in (("8 bits", row, 8), ("4 bits", row, 4), ("4 bits, outlier", outlier, 4)):
        codes = quantise(weights, bits=bits)
        found[name] = weights, dequantise(codes), codes.scale.item()
    return found


# --- draw -------------------------------------------------------------------------------------------------------------
def draw_weight_row(row: Tensor) -> Svg:
    """Three lines: above each the weights, below it the steps, and on them the rounded weights."""
    lines = weight_rows(row)
    most = row.abs().max().item()
    parts = [words(20, 28, "above a line: weights of a row", fill=BLUE.shade)]
    parts.append(words(LEFT + WIDTH, 28, "below: the steps, and where the weights go", anchor="end", fill=ORANGE.shade))
    for place, (name, (weights, rounded, step)) in enumerate(lines.items()):
        y = 78 + 74 * place

        def x(value: float) -> float:
            return LEFT + WIDTH * (1 + value / most) / 2

        parts += [words(20, y + 5, name), line(LEFT, y, LEFT + WIDTH, y, INK)]
        count = int(most / step + 1e-3)
        parts += [line(x(code * step), y, x(code * step), y + 9, MUTED) for code in range(-count, count + 1)]
        for before, after in zip(weights.tolist(), rounded.tolist(), strict=True):
            if abs(before) <= most:
                parts.append(shape("circle", cx=x(before), cy=y - 9, r=3.5, fill=BLUE.full, fill_opacity=0.7))
                parts.append(shape("circle", cx=x(after), cy=y + 16, r=3.5, fill=ORANGE.full, fill_opacity=0.7))
    parts.append(words(20, 272, "The outlier lies far to the right of the picture.", fill=MUTED))
    return card(760, 288, parts, describe_weight_row(row))


# --- describe ---------------------------------------------------------------------------------------------------------
def describe_weight_row(row: Tensor) -> str:
    """How far the row's weights move on average, in shares of the largest, and how many different values are left."""
    told = []
    for name, (weights, rounded, _) in weight_rows(row).items():
        moved = (rounded - weights)[: len(row)].abs().mean() / row.abs().max()
        told.append(f"{name}: moved by {moved:.1%} on average, {len(rounded[: len(row)].unique())} different values")
    return f"{len(row)} weights of a row, as shares of the largest. {'; '.join(told)}."
