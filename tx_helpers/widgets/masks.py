"""The explorer of masks: rules and clicks make a mask, the mask makes weights.

Queries and keys are those of a real forward pass, and the weights come from the package's own attention: with the
identity as values its output *is* the weights. Everything before this one attention stays as it was.
"""

from collections.abc import Sequence
from typing import NamedTuple

import ipywidgets
import torch
from torch import Tensor

from tx_helpers.attention import eager_attention
from tx_helpers.masks import causal_mask, combine_masks, sliding_window_mask
from tx_helpers.show.charts import GRID, Panel, side_by_side
from tx_helpers.show.explore import Explore
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import BLUE, GREY, RED, shape, words
from tx_helpers.widgets.mask_grid import MaskGrid, set_by_hand

PAD = "<pad>"
FILLS = {"−∞, an empty row gets zeros (ours)": "ours", "−∞ and nothing else": "naive", "−1e9": "large"}


# ------------------------------------------------------------------------------------------------------------- compute


def compose(tokens: Sequence[str], *, causal: bool, padding: bool, window: int | None = None) -> Tensor:
    """What the rules allow, (T, T): no later position, no <pad>, no position more than window − 1 away."""
    T = len(tokens)
    everywhere = torch.ones(T, T, dtype=torch.bool)
    near = None
    if window is not None:
        near = sliding_window_mask(T, window=window)
        near = near | near.mT  # on both sides; causality cuts the right one off
    real = torch.tensor([token != PAD for token in tokens])[None, :] if padding else None
    return combine_masks(everywhere, causal_mask(T) if causal else None, real, near)


def masked_weights(q: Tensor, k: Tensor, mask: Tensor, fill: str = "ours") -> Tensor:
    """softmax(q kᵀ/√K) under the mask: q and k (T, K), mask (T, T) -> (T, T). `fill` is one of FILLS' values."""
    identity = torch.eye(len(k), dtype=q.dtype)[None]
    if fill == "ours":
        return eager_attention(q[None], k[None], identity, mask=mask)[0]
    closed = float("-inf") if fill == "naive" else -1e9
    bias = torch.zeros(mask.shape, dtype=q.dtype).masked_fill(~mask, closed)
    return eager_attention(q[None], k[None], identity, bias=bias)[0]


class Rows(NamedTuple):
    """What is to be said of the rows: the words whose row is empty, sums that are not 1, cells that are allowed."""

    empty: list[str]
    sums: list[float]
    allowed: int


def look_at_rows(weights: Tensor, mask: Tensor, tokens: Sequence[str]) -> Rows:
    """Rows with nothing to look at, sums of all rows of weights (T, T), and how many cells mask (T, T) allows."""
    empty = [f"{t} {token}" for t, token in enumerate(tokens) if not mask[t].any()]
    return Rows(empty, weights.sum(-1).tolist(), int(mask.sum()))


# ---------------------------------------------------------------------------------------------------------------- draw


def draw_weights(weights: Tensor, mask: Tensor, tokens: Sequence[str]) -> Svg:
    """The weights as a table with the sum of each row; what is masked is grey, an empty row has a red sum."""
    rows = look_at_rows(weights, mask, tokens)
    T, cell, left, top = len(tokens), 32, 66, 74  # as in the grid, so that columns stand under its columns
    width = left + cell * T + 70
    parts = [words(left + cell * T / 2, 14, "Weights", anchor="middle", font_weight="bold")]
    parts.append(words(left + cell * T + 36, top - 8, "sum", anchor="middle", font_weight="bold"))
    for t, (token, total) in enumerate(zip(tokens, rows.sums, strict=True)):
        middle = top + cell * (t + 0.5) + 3
        at = f"translate({left + cell * (t + 0.5) + 2:.0f},{top - 8}) rotate(-45)"
        parts.append(words(0, 0, token, transform=at))
        parts.append(words(left - 8, middle, token, anchor="end"))
        colour = BLUE[2] if mask[t].any() else RED[2]
        parts.append(words(left + cell * T + 36, middle, f"{total:.2f}", anchor="middle", fill=colour))
        for s, weight in enumerate(weights[t].tolist()):
            parts += _cell(left + cell * s, top + cell * t, cell, weight, allowed=bool(mask[t, s]))
    panel = Panel((width, top + cell * T), "".join(parts))
    return side_by_side([panel], alt=_in_words(rows, len(tokens)))


def _cell(x: float, y: float, size: float, weight: float, *, allowed: bool) -> list[str]:
    place = dict(x=x, y=y, width=size - 3, height=size - 3)
    if not allowed and weight == 0:
        return [shape("rect", fill=GREY[1], stroke=GRID, **place)]
    strength = 0.0 if weight != weight else round(weight, 3)  # NaN is not equal to itself
    ink = "#FFFFFF" if strength > 0.93 else "#000000"
    number = words(x + size / 2 - 1.5, y + size / 2 + 3, f"{weight:.2f}", size=12, anchor="middle", fill=ink)
    edge = GRID if allowed else RED[0]
    return [shape("rect", fill=BLUE[0], fill_opacity=strength, stroke=edge, **place), number]


def _in_words(rows: Rows, T: int) -> str:
    said = f"{rows.allowed} of {T * T} cells allowed."
    if not rows.empty:
        return f"{said} Every row sums to 1.00: each query has something to look at."
    sums = {name: rows.sums[int(name.split()[0])] for name in rows.empty}
    named = ", ".join(f"query {name} ({_fate(total)})" for name, total in sums.items())
    return f"{said} Fully masked: {named}."


def _fate(total: float) -> str:
    """What became of an empty row, by its sum."""
    if total != total:
        return "its weights are NaN"
    return "its weights are 0" if total == 0 else f"its weights sum to {total:.2f}, all on forbidden keys"


# ---------------------------------------------------------------------------------------------------------------- bind


def mask_explorer(q: Tensor, k: Tensor, tokens: Sequence[str]) -> Explore:
    """Compose a mask by rules and clicks: q and k (T, K) of one head, from a capture, and the T tokens."""
    q, k = q.float(), k.float()  # in float64 a score plus −1e9 would still be told from another
    grid = MaskGrid("The mask: query (row) may look at key (column)")
    clear = ipywidgets.Button(description="Undo all clicks")
    clear.on_click(lambda _: setattr(grid, "value", []))
    window = ipywidgets.IntSlider(len(tokens), 1, len(tokens), description="Window")

    def draw(causal, padding, window, length, fill, mask):
        base = compose(tokens[:length], causal=causal, padding=padding, window=window)
        grid.show(base, tokens[:length], tokens[:length])
        mask = set_by_hand(base, mask)
        return draw_weights(masked_weights(q[:length], k[:length], mask, fill), mask, tokens[:length])

    length = ipywidgets.IntSlider(len(tokens), 2, len(tokens), description="Length")
    controls = dict(causal=True, padding=False, window=window, length=length, fill=FILLS, clear=clear, mask=grid)
    return Explore(draw, name="mask", **controls)
