"""A mask to click: a table of cells, each of which a click, Space or Enter allows or forbids.

    grid = MaskGrid("The mask", mask, words, words)     # what the rules say, and the words beside the table
    grid.show(other, words, words)                      # after a change of the rules
    grid.value                          # ["2,0:1", "5,5:0"]: query 2 was allowed key 0 by hand, query 5 forbidden key 5

The module mask_grid.js draws it. It is used like any other control of an explorer.
"""

from collections.abc import Sequence

import anywidget
import torch
import traitlets
from torch import Tensor

from tx_helpers.show.shapes import sheet
from tx_helpers.widgets.scripts import script

STYLE = """
.tx-mask [role="checkbox"] { cursor: pointer; outline: none; }
.tx-mask [role="checkbox"]:hover rect { stroke-width: 3; }
.tx-mask [role="checkbox"]:focus-visible rect {
  stroke: light-dark(#1F2933, #E6EAEE); stroke-width: 3.5; stroke-dasharray: 5 2;
}
"""


class MaskGrid(anywidget.AnyWidget):
    """`base` (T, S) is the mask before any click; `value` holds what was set by hand, "query,key:allowed"."""

    _esm = script("mask_grid.js")
    _css = STYLE + sheet()
    value = traitlets.List(traitlets.Unicode()).tag(sync=True)
    description = traitlets.Unicode().tag(sync=True)
    table = traitlets.Dict().tag(sync=True)  # base, queries and keys in one, so that they change together

    def __init__(self, description: str, base: Tensor, queries: Sequence[str], keys: Sequence[str]):
        """The first table is there from the start: a busy page may miss what the kernel says a little later."""
        super().__init__(description=description, table=_table(base, queries, keys), layout={"width": "100%"})

    def show(self, base: Tensor, queries: Sequence[str], keys: Sequence[str]) -> None:
        """Another mask (T, S) with its words; what was set by hand stays. ValueError if the words do not fit."""
        self.table = _table(base, queries, keys)

    def __repr__(self) -> str:
        return f"MaskGrid: {self.description}, {len(self.value)} cells set by hand"


def _table(base: Tensor, queries: Sequence[str], keys: Sequence[str]) -> dict:
    if base.shape != (len(queries), len(keys)):
        raise ValueError(f"MaskGrid: a mask {tuple(base.shape)}, but {len(queries)} queries and {len(keys)} keys")
    return {"base": base.int().tolist(), "queries": list(queries), "keys": list(keys)}


def set_by_hand(base: Tensor, value: Sequence[str]) -> Tensor:
    """The mask (T, S) with the cells of `value` in it; those beyond its edge are left out."""
    mask = base.clone()
    for cell in value:
        place, allowed = cell.split(":")
        t, s = map(int, place.split(","))
        if t < mask.shape[0] and s < mask.shape[1]:
            mask[t, s] = torch.tensor(allowed == "1")
    return mask
