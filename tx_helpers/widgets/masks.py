"""The explorer of masks: rules and clicks make a mask, the mask makes weights.

Queries and keys are those of a real forward pass, and the weights come from the package's own attention: with the
identity as values its output *is* the weights. Nothing before this one attention changes.
"""

import math
from collections.abc import Sequence

import ipywidgets as widgets
import torch
from torch import Tensor

from tx_helpers.arguments import check_tensors, check_types
from tx_helpers.attention import eager_attention
from tx_helpers.masks import causal_mask, combine_masks, sliding_window_mask
from tx_helpers.show.charts import GRID, Panel, heading, shaded_cell, side_by_side
from tx_helpers.show.explore import Explore
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import BLUE, GREY, ORANGE, shape, words
from tx_helpers.widgets.mask_grid import MaskGrid, set_by_hand

PAD = "<pad>"
FILLS = {"−∞, an empty row gets zeros (ours)": "ours", "−∞ and nothing else": "naive", "−1e9": "large"}


# --- compute ----------------------------------------------------------------------------------------------------------
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
    if fill == "ours":  # with the identity as values, the output of attention is its weights
        identity = torch.eye(len(k), dtype=q.dtype)[None]
        return eager_attention(q[None], k[None], identity, mask=mask)[0]
    closed = float("-inf") if fill == "naive" else -1e9
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    return torch.softmax(scores.masked_fill(~mask, closed), dim=-1)


# --- draw -------------------------------------------------------------------------------------------------------------
def draw(weights: Tensor, mask: Tensor, tokens: Sequence[str]) -> Svg:
    """The weights as a table with the sum of each row; masked cells are grey, an empty row has an orange sum."""
    T, cell, left, top = len(tokens), 32, 66, 74  # as in the grid, so that columns stand under its columns
    right = left + cell * T + 36
    parts = [heading(left + cell * T / 2, "Weights"), words(right, top - 8, "sum", anchor="middle", font_weight="bold")]
    for t, token in enumerate(tokens):
        middle = top + cell * (t + 0.5) + 3
        turned = f"translate({left + cell * (t + 0.5) + 2:.0f},{top - 8}) rotate(-45)"
        colour = BLUE if mask[t].any() else ORANGE
        parts.append(words(0, 0, token, transform=turned))
        parts.append(words(left - 8, middle, token, anchor="end"))
        parts.append(words(right, middle, f"{weights[t].sum():.2f}", anchor="middle", fill=colour.shade))
        for s, weight in enumerate(weights[t].tolist()):
            parts.append(_cell(left + cell * s, top + cell * t, cell, weight, allowed=bool(mask[t, s])))
    return side_by_side([Panel((right + 34, top + cell * T), "".join(parts))], alt=describe(weights, mask, tokens))


def _cell(x: float, y: float, size: float, weight: float, *, allowed: bool) -> str:
    if not allowed and weight == 0:
        return shape("rect", fill=GREY.tint, stroke=GRID, x=x, y=y, width=size - 3, height=size - 3)
    share = 0.0 if math.isnan(weight) else weight
    return shaded_cell(x, y, size, share, f"{weight:.2f}", edge=GRID if allowed else ORANGE.full)


# --- describe ---------------------------------------------------------------------------------------------------------
def describe(weights: Tensor, mask: Tensor, tokens: Sequence[str]) -> str:
    """How many cells are allowed, and what became of each query that may look at nothing."""
    allowed = f"{int(mask.sum())} of {mask.numel()} cells allowed."
    empty = [
        f"query {t} {token} ({_fate(weights[t].sum().item())})" for t, token in enumerate(tokens) if not mask[t].any()
    ]
    if empty:
        return f"{allowed} Fully masked: {', '.join(empty)}."
    return f"{allowed} Every row sums to 1.00: each query has at least one allowed key."


def _fate(total: float) -> str:
    """What became of an empty row, by its sum."""
    if math.isnan(total):
        return "its weights are NaN"
    return "its weights are 0" if total == 0 else f"its weights sum to {total:.2f}, all on masked keys"


# --- bind -------------------------------------------------------------------------------------------------------------
def mask_explorer(q: Tensor, k: Tensor, tokens: Sequence[str]) -> Explore:
    """Compose a mask by rules and clicks: q and k (T, K) of one head, from a capture, and the T tokens."""
    check_types("mask_explorer", Sequence, tokens=tokens)
    check_tensors("mask_explorer", {"T": len(tokens)}, q=(q, "float T K"), k=(k, "float T K"))
    q, k = q.float(), k.float()  # in float64 a score plus −1e9 would still be told from another
    first = compose(tokens, causal=True, padding=False, window=len(tokens))
    grid = MaskGrid("The mask: query (row) may look at key (column)", first, tokens, tokens)
    clear = widgets.Button(description="Undo all clicks")
    clear.on_click(lambda _: setattr(grid, "value", []))
    window = widgets.IntSlider(len(tokens), 1, len(tokens), description="Window")

    def picture(causal, padding, window, length, fill, mask):
        base = compose(tokens[:length], causal=causal, padding=padding, window=window)
        grid.show(base, tokens[:length], tokens[:length])
        mask = set_by_hand(base, mask)
        return draw(masked_weights(q[:length], k[:length], mask, fill), mask, tokens[:length])

    length = widgets.IntSlider(len(tokens), 2, len(tokens), description="Length")
    controls = dict(causal=True, padding=False, window=window, length=length, fill=FILLS, clear=clear, mask=grid)
    return Explore(picture, name="mask", **controls)
