"""The explorer of masks: scores, + mask, weights. Rules and clicks make the mask, and the mask makes the weights.

Queries and keys are those of a real forward pass, and the weights come from the package's own attention: with the
identity as values its output *is* the weights. Nothing before this one attention changes.
"""

import math
from collections.abc import Callable, Sequence
from pathlib import Path

import ipywidgets as widgets
import torch
from torch import Tensor

from tx_helpers.lessons.masking.mask_grid import MaskGrid, Seen, set_by_hand
from tx_helpers.nn.arguments import check_tensors, check_types
from tx_helpers.nn.attention import eager_attention
from tx_helpers.nn.masks import causal_mask, combine_masks, sliding_window_mask
from tx_helpers.show.charts import GRID, Panel, ink_on, side_by_side
from tx_helpers.show.controls import slider
from tx_helpers.show.explore import Explore
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import GREY, INK, MUTED, ORANGE, PAPER, WEIGHT, WHITE, shape, words
from tx_helpers.widgets.scripts import script

PAD = "<pad>"
CELL, LEFT, TOP, RIGHT, BOTTOM = 32, 66, 92, 40, 44  # of a table, as in mask_grid.js
DARKEST = 0.6  # of a score's grey: on it black can be read, and white on dark pages
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
    allowed = combine_masks(everywhere, causal_mask(T) if causal else None, real, near)
    assert allowed is not None  # as everywhere is not
    return allowed


def masked_weights(q: Tensor, k: Tensor, mask: Tensor, fill: str = "ours") -> Tensor:
    """softmax(q kᵀ/√K) under the mask: q and k (T, K), mask (T, T) -> (T, T). `fill` is one of FILLS' values."""
    if fill == "ours":  # with the identity as values, the output of attention is its weights
        identity = torch.eye(len(k), dtype=q.dtype)[None]
        return eager_attention(q[None], k[None], identity, mask=mask)[0]
    closed = float("-inf") if fill == "naive" else -1e9
    return torch.softmax(scores_of(q, k).masked_fill(~mask, closed), dim=-1)


def scores_of(q: Tensor, k: Tensor) -> Tensor:
    """q kᵀ/√K: q (T, K) and k (S, K) -> (T, S)."""
    return q @ k.mT / math.sqrt(q.shape[-1])


# --- draw -------------------------------------------------------------------------------------------------------------
def draw(seen: Seen, mask: Tensor) -> Svg:
    """Scores, + mask, weights: three tables in a row, each with its scale; the control on the page draws the same."""
    low, high = seen.scores.min().item(), seen.scores.max().item()
    middle = (low + high) / 2

    def grey(score: float) -> float:
        return DARKEST * (score - low) / ((high - low) or 1)

    panels = [
        _panel(
            seen,
            "Scores",
            [(GREY.full, grey(score), signed(score)) for score in (low, middle, high)],
            lambda t, s: _cell(t, s, signed(seen.scores[t, s].item()), GREY.full, grey(seen.scores[t, s].item())),
        ),
        _panel(
            seen,
            "+ mask",
            [(WHITE, 1, "0: may look"), (MUTED, 1, f"{seen.fill}: may not")],
            lambda t, s: _cell(t, s, "0", WHITE, 1) if mask[t, s] else _cell(t, s, seen.fill, MUTED, 1, ink=PAPER),
        ),
        _panel(
            seen,
            "→ softmax → weights",
            [(WEIGHT.full, share, f"{share:.1f}") for share in (0.0, 0.5, 1.0)],
            lambda t, s: _weight_cell(t, s, seen.weights[t, s].item(), allowed=bool(mask[t, s])),
            sums=[_sum(seen, mask, t) for t in range(len(mask))],
        ),
    ]
    return side_by_side(panels, alt=describe(seen.weights, mask, seen.queries))


def _panel(
    seen: Seen, title: str, scale: list[tuple[str, float, str]], cell: Callable[[int, int], str], sums: Sequence = ()
) -> Panel:
    """A table with its words and its scale: a colour, its opacity and what it means."""
    T, S = len(seen.queries), len(seen.keys)
    width, height = LEFT + CELL * S + RIGHT, TOP + CELL * T + BOTTOM
    small = dict(size=11, anchor="end", fill=MUTED)
    parts = [
        words(LEFT + CELL * S / 2, 22, title, size=14, anchor="middle", font_weight="bold"),
        words(LEFT - 8, TOP - 26, "key →", **small),
        words(LEFT - 8, TOP - 10, "query ↓", **small),
        *sums,
    ]
    for s, key in enumerate(seen.keys):
        turned = f"translate({LEFT + CELL * (s + 0.5) + 2:.0f},{TOP - 8}) rotate(-45)"
        parts.append(words(0, 0, key, transform=turned, size=12.5))
    for t, query in enumerate(seen.queries):
        parts.append(words(LEFT - 8, TOP + CELL * (t + 0.5) + 3, query, anchor="end", size=12.5))
        parts += [cell(t, s) for s in range(S)]
    for place, (fill, opacity, said) in enumerate(scale):
        x = 14 + (width - 24) / len(scale) * place
        mark = dict(x=x, y=height - 26, width=14, height=14, rx=3, fill_opacity=opacity, stroke=MUTED)
        parts += [shape("rect", fill=fill, **mark), words(x + 20, height - 14.5, said, size=11)]
    return Panel((width, height), "".join(parts))


def _cell(t: int, s: int, text: str, fill: str, share: float, *, ink: str = "#000000", edge: str = GRID) -> str:
    x, y = LEFT + CELL * s, TOP + CELL * t
    place = dict(x=x, y=y, width=CELL - 3, height=CELL - 3, rx=3)
    written = words(x + CELL / 2 - 1.5, y + CELL / 2 + 2.5, text, size=11, anchor="middle", fill=ink) if text else ""
    return shape("rect", fill=fill, fill_opacity=round(share, 3), stroke=edge, **place) + written


def _weight_cell(t: int, s: int, weight: float, *, allowed: bool) -> str:
    """A weight in gold; a masked cell is grey, or has an orange edge if it has a weight all the same."""
    if not allowed and weight == 0:
        return _cell(t, s, "", GREY.tint, 1)
    share = 0.0 if math.isnan(weight) else weight
    edge = GRID if allowed else ORANGE.full
    return _cell(t, s, number_or_nan(weight), WEIGHT.full, share, ink=ink_on(share), edge=edge)


def _sum(seen: Seen, mask: Tensor, t: int) -> str:
    """The sum of a row of weights; orange if the row may look at nothing."""
    said = number_or_nan(seen.weights[t].sum().item())
    place = (LEFT + CELL * len(seen.keys) + 18, TOP + CELL * (t + 0.5) + 3)
    head = words(place[0], TOP - 8, "sum", size=12, anchor="middle") if t == 0 else ""
    return head + words(*place, said, size=12, anchor="middle", fill=INK if mask[t].any() else ORANGE.shade)


def signed(score: float) -> str:
    """A score with one decimal and a true minus sign."""
    return f"{score:.1f}".replace("-", "−")


def number_or_nan(weight: float) -> str:
    """A weight with two decimals, or NaN."""
    return "NaN" if math.isnan(weight) else f"{weight:.2f}"


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

    def see(base: Tensor, cells: Sequence[str], length: int, fill: str) -> tuple[Seen, Tensor]:
        q_, k_, said = q[:length], k[:length], tokens[:length]
        mask = set_by_hand(base, cells)
        sign = "−1e9" if fill == "large" else "−∞"
        return Seen(base, scores_of(q_, k_), masked_weights(q_, k_, mask, fill), said, said, sign), mask

    first = compose(tokens, causal=True, padding=False, window=len(tokens))
    grid = MaskGrid("The mask: query (row) may look at key (column)", see(first, [], len(tokens), "ours")[0])
    clear = widgets.Button(description="Undo all clicks")
    clear.on_click(lambda _: setattr(grid, "value", []))
    window = slider("Window", 1, len(tokens), start=len(tokens))
    length = slider("Length", 2, len(tokens), start=len(tokens))

    def picture(causal: bool, padding: bool, window: int, length: int, fill: str, mask: list) -> Svg:
        base = compose(tokens[:length], causal=causal, padding=padding, window=window)
        seen, mask = see(base, mask, length, fill)
        grid.show(seen)
        return draw(seen, mask)

    clear.sets = {"mask": []}
    computed = (
        script(Path(__file__).with_name("mask_page.js")),
        {"tokens": list(tokens), "scores": scores_of(q, k).tolist()},
    )
    controls = dict(causal=True, padding=False, window=window, length=length, fill=FILLS, clear=clear, mask=grid)
    return Explore(picture, name="mask", computed=computed, **controls)
