"""Scores, a mask to click, and weights: three tables in a row, of which the middle one is a control.

    grid = MaskGrid("The mask", seen)   # what the rules say, and what the kernel has computed from it
    grid.show(other)                    # after a change of the rules, or of a cell
    grid.value                          # ["2,0:1", "5,5:0"]: query 2 was allowed key 0 by hand, query 5 forbidden key 5

The module mask_grid.js draws them. It is used like any other control of an explorer. The explorer's own picture, which
shows the same three tables, is for pages without a kernel: where this control is alive it is not displayed.
"""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import anywidget
import torch
import traitlets
from torch import Tensor

from tx_helpers.show.shapes import sheet
from tx_helpers.widgets.scripts import script

STYLE = """
.tx-explorer-mask .tx-picture { display: none; }
.tx-masks { display: flex; flex-wrap: wrap; gap: 8px; }
.tx-masks > svg { flex: 1 1 300px; }
.tx-mask [role="checkbox"] { cursor: pointer; outline: none; }
.tx-mask [role="checkbox"]:hover rect { stroke-width: 3; }
.tx-mask [role="checkbox"]:focus-visible rect {
  stroke: light-dark(#1F2933, #E6EAEE); stroke-width: 3.5; stroke-dasharray: 5 2;
}
"""


class Seen(NamedTuple):
    """What the tables show: `base` (T, S), the mask before any click; scores and weights (T, S); words; the fill."""

    base: Tensor
    scores: Tensor
    weights: Tensor
    queries: Sequence[str]
    keys: Sequence[str]
    fill: str = "−∞"


class MaskGrid(anywidget.AnyWidget):
    """`value` holds what was set by hand, "query,key:allowed"."""

    _esm = script(Path(__file__).with_name("mask_grid.js"))
    _css = STYLE + sheet()
    value = traitlets.List(traitlets.Unicode()).tag(sync=True)
    description = traitlets.Unicode().tag(sync=True)
    table = traitlets.Dict().tag(sync=True)  # all of `Seen` in one, so that it changes together

    def __init__(self, description: str, seen: Seen):
        """The first table is there from the start: a busy page may miss what the kernel says a little later."""
        super().__init__(description=description, table=_table(seen), layout={"width": "100%"})

    def show(self, seen: Seen) -> None:
        """Other tables; what was set by hand stays. ValueError if the words do not fit."""
        self.table = _table(seen)

    def __repr__(self) -> str:
        return f"MaskGrid: {self.description}, {len(self.value)} cells set by hand"


def _table(seen: Seen) -> dict:
    size = len(seen.queries), len(seen.keys)
    for name in ("base", "scores", "weights"):
        if (shape := tuple(getattr(seen, name).shape)) != size:
            raise ValueError(f"MaskGrid: {name} {shape}, but {size[0]} queries and {size[1]} keys")
    return {
        "base": seen.base.int().tolist(),
        "scores": seen.scores.tolist(),
        "weights": [[None if math.isnan(weight) else weight for weight in row] for row in seen.weights.tolist()],
        "queries": list(seen.queries),
        "keys": list(seen.keys),
        "fill": seen.fill,
    }


def set_by_hand(base: Tensor, value: Sequence[str]) -> Tensor:
    """The mask (T, S) with the cells of `value` in it; those beyond its edge are left out."""
    mask = base.clone()
    for cell in value:
        place, allowed = cell.split(":")
        t, s = map(int, place.split(","))
        if t < mask.shape[0] and s < mask.shape[1]:
            mask[t, s] = torch.tensor(allowed == "1")
    return mask
