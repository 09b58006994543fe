"""The clickable map of a model: each part is a button, by mouse and by keyboard, and its path becomes `value`.

    ModelMap(names(model), description="Map of the model", value="encoder")

The module model_map.js draws it. It is used like any other control of an explorer.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

import anywidget
import traitlets

from tx_helpers.show.shapes import sheet
from tx_helpers.widgets.scripts import script

ROW, GAP, TITLE = 26, 6, 24  # heights of a part, of the room between two, of a frame's title
TABLE, BLOCK, NORM, LAST, OUTPUT = 100, 226, 54, 62, 108  # widths: embedding, block, norm in it, last norm, output
STYLE = """
.tx-map [role="button"] { cursor: pointer; outline: none; }
.tx-map [role="button"]:hover rect { stroke-width: 2.5; }
.tx-map [aria-pressed="true"] rect { stroke-width: 3.5; }
.tx-map [aria-pressed="true"] text { font-weight: bold; }
.tx-map [role="button"]:focus-visible rect {
  stroke: light-dark(#1F2933, #E6EAEE); stroke-width: 3.5; stroke-dasharray: 5 2;
}
"""


class ModelMap(anywidget.AnyWidget):
    """A map of parts, path -> name, such as `model_parts.names` gives; `value` is the path of the chosen one."""

    _esm = script(Path(__file__).with_name("model_map.js"))
    _css = STYLE + sheet()
    value = traitlets.Unicode().tag(sync=True)
    description = traitlets.Unicode().tag(sync=True)
    parts = traitlets.List().tag(sync=True)
    size = traitlets.List().tag(sync=True)  # width and height in pixels

    def __init__(self, names: Mapping[str, str], description: str, value: str):
        parts = places(names)
        ends = [(part["x"] + part["width"], part["y"] + part["height"]) for part in parts]
        size = [max(end) + 12 for end in zip(*ends, strict=True)]
        super().__init__(value=value, description=description, parts=parts, size=size, layout={"width": "100%"})

    def __repr__(self) -> str:
        return f"ModelMap: {self.value!r}, one of {len(self.parts)} parts"


def places(names: Mapping[str, str]) -> list[dict]:
    """Each part as a rectangle {value, name, label, side, x, y, width, height}; frames before what stands in them."""
    upper = list(_stack(names, "encoder", 12.0))
    lower = list(_stack(names, "decoder", 24.0 + upper[0]["height"]))
    return [place for place in [*upper, *lower] if place["value"] in names]


def _stack(names: Mapping[str, str], side: str, top: float) -> Iterator[dict]:
    """The frame of a stack; in it, from the left, embedding and positions, the blocks and the last norm."""
    blocks = [path for path in names if path.startswith(f"{side}.blocks.") and path.count(".") == 2]
    rows = 3 if side == "decoder" else 2
    tall = TITLE + rows * (ROW + GAP) + 2
    y, x = top + TITLE, 24 + TABLE + 12
    right = x + len(blocks) * (BLOCK + 12)
    yield _place(names, side, side, 12, top, right + LAST, tall + TITLE + 10)
    for row, end in enumerate(("input.tokens", "input.positions")):
        yield _place(names, f"{side}.{end}", side, 24, y + TITLE + row * (ROW + GAP), TABLE)
    for path in blocks:
        yield _place(names, path, side, x, y, BLOCK, tall)
        for n, part in enumerate(part for part in names if part.startswith(f"{path}.")):  # norm and sub-layer in turn
            left, wide = (8, NORM) if n % 2 == 0 else (14 + NORM, BLOCK - NORM - 22)
            yield _place(names, part, side, x + left, y + TITLE + n // 2 * (ROW + GAP), wide)
        x += BLOCK + 12
    yield _place(names, f"{side}.norm", side, right, y + TITLE, LAST)
    if side == "decoder":
        yield _place(names, "output", side, right + LAST + 24, y + TITLE, OUTPUT)


def _place(
    names: Mapping[str, str], path: str, side: str, x: float, y: float, width: float, height: float = ROW
) -> dict:
    name = names.get(path, "")
    end = name.split(" › ")[-1]
    label = "norm" if "norm" in end else {"output": "output D → V"}.get(end, end)
    return dict(value=path, name=name, label=label, side=side, x=x, y=y, width=width, height=height)
