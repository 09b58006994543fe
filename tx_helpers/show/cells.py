"""The cells of a map of weights on matplotlib's axes: their names, numbers and scale, and which ones are forbidden.

The one look of attention: a weight is gold, `WEIGHT.full` of `shapes.py`, as opaque as the weight is large, on paper.
Drawings and the attention view do the same by opacity, on the paper of either theme. `GOLD` is this scale on white.
Scores, similarities, encodings and other matrices are no weights, and have other scales (`heatmap`, `two_sided`).
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike

NUMBERED = 60  # cells of a map that have room for their numbers
FRAME = "#D55E00"  # around forbidden cells
GOLD = LinearSegmentedColormap.from_list("gold", ["#FFFFFF", "#E69F00"])  # paper to WEIGHT.full
INK = "#000000"  # of the numbers: 9 : 1 on full gold


def top_of(values: np.ndarray) -> float:
    """The end of a scale: 1, or less where all weights are small, which would all look the same."""
    return max(1.0, values.max()) if values.max() > 0.5 else float(values.max()) or 1.0


def add_scale(figure: Figure, image: AxesImage, axes: Axes | Sequence[Axes], label: str = "weight") -> None:
    """The scale of a map, at the right of one axis or of many."""
    figure.colorbar(image, ax=axes, pad=0.02, fraction=0.05, aspect=30).set_label(label, fontsize=9)


def draw_cells(
    axis: Axes, values: np.ndarray, keys: Sequence[str], queries: Sequence[str], top: float, forbidden: ArrayLike | None
) -> AxesImage:
    """The map on its axis; returns the image, for its scale."""
    axis.patch.set(facecolor="#ECEFF2", hatch="////", edgecolor="#9AA5B1")  # seen where the weight is 0
    shown = np.ma.masked_equal(values, 0)
    image = axis.imshow(shown, cmap=GOLD, vmin=0.0, vmax=top, aspect="auto", interpolation="nearest")
    if values.size <= NUMBERED:
        for (t, s), value in np.ndenumerate(values):
            axis.text(s, t, f"{value:.2f}", ha="center", va="center", color=INK, fontsize=7)
    if forbidden is not None:
        _frame(axis, _mask(forbidden, values.shape))
    if len(keys) <= 40 and len(queries) <= 40:
        name_ticks(axis.set_xticks, keys, rotation=60, ha="right", rotation_mode="anchor")
        name_ticks(axis.set_yticks, queries)
    else:
        axis.xaxis.set_major_locator(MaxNLocator(integer=True))
        axis.yaxis.set_major_locator(MaxNLocator(integer=True))
    return image


def _mask(forbidden: ArrayLike, shape: tuple[int, ...]) -> np.ndarray:
    mask = np.asarray(forbidden)
    if mask.dtype != bool or mask.shape != shape:
        raise ValueError(f"attention_map: forbidden {mask.shape} of {mask.dtype}, expected {shape} of bool")
    return mask


def _frame(axis: Axes, mask: np.ndarray) -> None:
    """A line around the cells of the mask (T, S)."""
    wide = np.pad(mask, 1)
    lines = [[(s - 0.5, t - 0.5), (s + 0.5, t - 0.5)] for t, s in np.argwhere(wide[:-1, 1:-1] != wide[1:, 1:-1])]
    lines += [[(s - 0.5, t - 0.5), (s - 0.5, t + 0.5)] for t, s in np.argwhere(wide[1:-1, :-1] != wide[1:-1, 1:])]
    axis.add_collection(LineCollection(lines, colors=FRAME, linewidths=2, clip_on=False))


def name_ticks(set_ticks: Callable[..., object], words: Iterable[str], *, most: int = 20, **options: Any) -> None:
    """Words at 0, 1, …, taken literally ("$" starts no formula), cut to `most` letters to leave room for a plot."""
    labels = [word if len(word) <= most else word[: most - 1] + "…" for word in map(str, words)]
    set_ticks(range(len(labels)), labels, parse_math=False, **options)
