"""Drag a query in the plane and watch the weights: keys and values are points, the query an arrow to be moved.

    query_explorer({"pear": (2.5, 0.5), "phone": (0.5, 2.5)}, query=(1.0, 1.0))

weights = softmax(q · k_s / τ), output = Σ_s weight_s k_s: a word's value is its key here, so that all
of it can be seen in one plane. The module query_plane.js draws the plane, by the same arithmetic; the summary and the
bars are the package's own attention.
"""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import anywidget
import ipywidgets as widgets
import torch
import traitlets

from tx_helpers.lessons.self_attention.self_attention import Attended, attend
from tx_helpers.nn.arguments import check_points
from tx_helpers.show.charts import bar_chart, side_by_side
from tx_helpers.show.controls import slider
from tx_helpers.show.explore import Explore
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import WEIGHT, sheet
from tx_helpers.widgets.scripts import script

LIMIT = 3.0  # the plane shows −3 … 3 on both axes
STYLE = """
.tx-plane [role="slider"] { cursor: grab; outline: none; touch-action: none; }
.tx-plane [role="slider"]:focus-visible { stroke: light-dark(#1F2933, #E6EAEE); stroke-width: 4; }
"""

Point = tuple[float, float]


# --- compute ----------------------------------------------------------------------------------------------------------
def answer(query: Sequence[float], keys: Sequence[Point], temperature: float) -> Attended:
    """What one query (2,) gets of S keys (S, 2), which are the values, too: weights (1, S) and output (1, 2)."""
    q, k = torch.tensor([query], dtype=torch.float64), torch.tensor(keys, dtype=torch.float64)
    return attend(q, k, k, temperature=temperature, scaled=False)


# --- draw -------------------------------------------------------------------------------------------------------------
def draw(query: Sequence[float], names: Sequence[str], temperature: float, found: Attended) -> Svg:
    """The weights as bars, in gold like the discs."""
    weights = dict(zip(names, found.weights[0].tolist(), strict=True))
    bars = bar_chart(weights, size=(560, 190), title="Weights", form="{:.2f}", colour=WEIGHT.full)
    return side_by_side([bars], alt=describe(query, names, temperature, found))


# --- describe ---------------------------------------------------------------------------------------------------------
def describe(query: Sequence[float], names: Sequence[str], temperature: float, found: Attended) -> str:
    """Where the query stands, which keys it looks at most and least, and the output."""
    weights, (x, y), (across, up) = found.weights[0], query, found.outputs[0]
    best, worst = int(weights.argmax()), int(weights.argmin())
    return (
        f"Query ({x:.1f}, {y:.1f}), length {math.hypot(x, y):.2f}, temperature {temperature:g}: it looks "
        f"most at {names[best]!r} ({weights[best]:.2f}), least at {names[worst]!r} ({weights[worst]:.2f}). "
        f"Output ({across:.2f}, {up:.2f})."
    )


# --- bind -------------------------------------------------------------------------------------------------------------
class QueryPlane(anywidget.AnyWidget):
    """Named points (the keys) and an arrow (the query) whose tip is moved by mouse, by touch or by the arrow keys.

    value  the query [x, y], each within −LIMIT … LIMIT

    The size of a disc is its key's weight, the diamond the output; both follow `value` and `temperature` in the
    browser, without the kernel: a page that takes more than 2 seconds to load the module gets no message of the kernel
    (anywidget gives up waiting), but always the state that the widget was made with.
    """

    _esm = script(Path(__file__).with_name("query_plane.js"))
    _css = STYLE + sheet()
    value = traitlets.List().tag(sync=True)
    description = traitlets.Unicode().tag(sync=True)
    names = traitlets.List().tag(sync=True)
    points = traitlets.List().tag(sync=True)
    axes = traitlets.List().tag(sync=True)  # what the two axes are called
    limit = traitlets.Float(LIMIT).tag(sync=True)
    temperature = traitlets.Float(1.0).tag(sync=True)

    @traitlets.validate("value")
    def _within(self, proposal: dict) -> list[float]:
        value = proposal["value"]
        if len(value) != 2 or not all(-self.limit <= part <= self.limit for part in value):
            raise traitlets.TraitError(f"QueryPlane: value={value}, expected [x, y] within ±{self.limit:g}")
        return value

    def __repr__(self) -> str:
        return f"QueryPlane: query {tuple(self.value)} among {len(self.names)} keys"


def query_explorer(
    words: Mapping[str, Point],
    *,
    query: Point = (1.0, 1.0),
    axes: tuple[str, str] = ("first feature", "second feature"),
) -> Explore:
    """The plane with a key for each word, a temperature, and the weights as bars beneath."""
    check_points("query_explorer", words)
    names, keys = list(words), [tuple(map(float, point)) for point in words.values()]
    plane = QueryPlane(value=list(query), description="Query", names=names, points=keys, axes=list(axes))

    def picture(query: Point, temperature: float) -> Svg:
        return draw(query, names, temperature, answer(query, keys, temperature))

    temperature = slider("Temperature", 0.2, 4, step=0.1, start=1.0)
    plane.follows = widgets.jsdlink((temperature, "value"), (plane, "temperature"))  # in the browser
    computed = script(Path(__file__).with_name("query_page.js")), {"names": list(map(repr, names)), "keys": keys}
    return Explore(picture, name="query-plane", told=True, computed=computed, query=plane, temperature=temperature)
