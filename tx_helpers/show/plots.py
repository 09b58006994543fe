"""The course's pictures: arrays in, a picture and its description out.

Every function returns a `Picture`, which shows itself as the last value of a notebook's cell: the image, its alt text,
and the same words as plain text, which is what nbval compares. The words are made from the data. No model code here.
"""

import base64
import io
import math
import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import cycle
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import ScalarFormatter
from numpy.typing import ArrayLike

from tx_helpers.nn.arguments import check_numbers, check_types
from tx_helpers.opening import Bundle
from tx_helpers.show.cells import add_scale, draw_cells, name_ticks, top_of
from tx_helpers.show.series import named_lines, named_matrix, named_numbers, numbers

# Okabe and Ito 2008: colours that colour-blind readers tell apart. A line needs a contrast of 3 : 1 on white: pink and
# orange are darkened for it, yellow and sky blue left out.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CA76A5", "#7A5400", "#000000")
LINES = ("-", "--", "-.", ":")
DPI = 110
# A chart is drawn for a white page. On a dark one its lightness is turned round, and its colours stay what they are.
ON_DARK = "filter: invert(0.9) hue-rotate(180deg);"
DARK_CHARTS = f"""
[data-jp-theme-light="false"] :is(.jp-RenderedImage img, .tx-explorer img[src^="data:image/png"]) {{ {ON_DARK} }}
"""
_ROOT = r"""<svg\b(?:[^>"']|"[^"]*"|'[^']*')*>"""  # the opening tag; an attribute may hold a ">"


@dataclass(frozen=True)
class Picture:
    """A figure and its alt text."""

    figure: Figure
    alt: str

    def png(self) -> bytes:
        """The image, without the date or the version that would make it differ from run to run.

        It is drawn straight on the canvas, because `savefig` would draw twice. A letter that the font lacks becomes a
        box. Matplotlib's warning about it is silenced: it would appear in whatever cell is running.
        """
        buffer = io.BytesIO()
        dpi = self.figure.dpi
        self.figure.set_dpi(DPI)
        try:
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", message="Glyph .* missing")
                canvas = FigureCanvasAgg(self.figure)
                canvas.print_png(buffer, metadata={"Software": None}, pil_kwargs={"compress_level": 3})
        finally:
            self.figure.set_dpi(dpi)
        return buffer.getvalue()

    def _repr_mimebundle_(self, **_asked: object) -> tuple[Bundle, Bundle]:
        return {"image/png": self.png(), "text/plain": self.alt}, {"image/png": {"alt": self.alt}}

    def __repr__(self) -> str:
        return self.alt


@dataclass(frozen=True)
class Svg:
    """A drawing in SVG markup and its alt text; a simple drawing is ready sooner than as a `Picture`.

    The markup is trusted: pass every text from outside through `svg_text`. It must be the same for the same numbers,
    since nbval compares it. ValueError if it is not one <svg> element.
    """

    svg: str
    alt: str

    def __post_init__(self) -> None:
        if not re.fullmatch(rf"\s*{_ROOT}.*</svg>\s*", self.svg, re.DOTALL):
            raise ValueError(f"Svg: expected one <svg …>…</svg> element, got {self.svg[:40]!r}")

    def markup(self, css: str = "") -> str:
        """The element with its role and its label, which are what a screen reader reads, and CSS classes on request."""
        _, root, rest = re.split(f"({_ROOT})", self.svg.strip(), maxsplit=1)
        own = re.search(r"""\sclass=["']([^"']*)["']""", root)
        root = re.sub(r"""\s(role|aria-label|aria-labelledby|class)=("[^"]*"|'[^']*')""", "", root).rstrip(">")
        classes = " ".join(filter(None, [own and own[1], css]))
        name = f' class="{classes}"' if classes else ""
        space = "" if " xmlns=" in root else ' xmlns="http://www.w3.org/2000/svg"'
        return f'{root}{space}{name} role="img" aria-label="{svg_text(self.alt)}">{rest}'

    def _repr_mimebundle_(self, **_asked: object) -> tuple[Bundle, Bundle]:
        """As SVG, and as an <img>: nbconvert and JupyterLab take alt text from there, even in an untrusted notebook."""
        svg = self.markup()
        html = image("image/svg+xml", svg.encode(), self.alt)
        data = {"text/html": html, "image/svg+xml": svg, "text/plain": self.alt}
        return data, {"image/svg+xml": {"alt": self.alt}}

    def __repr__(self) -> str:
        return self.alt


def svg_text(text: object) -> str:
    """Any text, ready for SVG and HTML: markup is escaped, and the characters that XML forbids (NUL …) are left out."""
    return escape(re.sub("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "", str(text)), quote=True)


def image(mime: str, data: bytes, alt: str, **attributes: object) -> str:
    """An <img> that holds its own data and is never wider than the page."""
    source = f"data:{mime};base64,{base64.b64encode(data).decode()}"
    attributes |= {"alt": svg_text(alt), "style": "max-width: 100%; height: auto", "src": source}
    written = " ".join(f'{name}="{value}"' for name, value in attributes.items())
    return f"<img {written}>"


def show(figure: Figure, alt: str) -> Picture:
    """A figure of your own (made by `new_figure`) with its alt text; ValueError for fewer than four words."""
    check_types("show", Figure, figure=figure)
    if not isinstance(alt, str) or len(alt.split()) < 4:
        raise ValueError(f"show: alt={alt!r} says too little; expected a sentence about what is to be seen")
    return Picture(figure, alt)


def new_figure(
    width: float = 7.0, height: float = 3.0, columns: int = 1, rows: int = 1, **options: Any
) -> tuple[Figure, Any]:
    """A figure in the course's style and its axes, one or an array of them; sizes in inches. No pyplot involved."""
    figure = Figure(figsize=(width, height), layout="constrained", facecolor="white")
    axes = figure.subplots(rows, columns, **options)
    for axis in np.ravel(axes):
        axis.spines[["top", "right"]].set_visible(False)
        axis.tick_params(labelsize=9)
    return figure, axes


def attention_map(
    weights: ArrayLike,
    keys: Sequence[str],
    queries: Sequence[str],
    *,
    title: str = "",
    named: int = 4,
    forbidden: ArrayLike | None = None,
) -> Picture:
    """Weights (T, S) as a heatmap with its scale: a row for each query, a column for each key; more gold is more.

    Cells of weight 0 are hatched. `forbidden` (T, S): where no query may look, framed in orange. Small maps have their
    numbers in them. The alt text names what each of the first `named` queries looks at most.
    """
    values = named_matrix("attention_map", weights, queries, keys)
    longest_key = min(20, max(len(str(key)) for key in keys))  # long words need more room
    longest_query = min(20, max(len(str(query)) for query in queries))
    width = 2.4 + 0.42 * len(keys) + 0.08 * max(0, longest_query - 8)
    height = 1.2 + 0.34 * len(queries) + 0.08 * max(0, longest_key - 8)
    figure, axis = new_figure(width, height)
    image = draw_cells(axis, values, keys, queries, top_of(values), forbidden)
    add_scale(figure, image, axis)
    axis.set(title=title, xlabel="looks at (keys)", ylabel="query")
    best = [
        f"{query!r} looks most at {keys[row.argmax()]!r} ({row.max():.2f})"
        for query, row in zip(queries[:named], values, strict=False)
    ]
    return Picture(figure, f"{title or 'Attention'}: {'; '.join(best)}{'; …' if len(queries) > named else '.'}")


def attention_maps(
    weights: ArrayLike,
    keys: Sequence[str],
    queries: Sequence[str],
    *,
    titles: Sequence[str],
    alt: str,
    forbidden: ArrayLike | None = None,
    scale: str = "weight",
) -> Picture:
    """Several maps (N, T, S) of the same words side by side, such as the heads of a layer, with one scale for all.

    Cells of 0 are hatched; `forbidden` (T, S), where no query may look, is framed in orange.
    """
    check_types("attention_maps", Sequence, titles=titles)
    maps = numbers("attention_maps", "weights", weights, "(N, T, S)")
    if maps.ndim != 3 or len(maps) != len(titles):
        raise ValueError(
            f"attention_maps: weights {maps.shape}, but {len(titles)} titles; expected a map for each title"
        )
    rows = math.ceil(len(titles) / 4)  # at most four side by side, rows as even as can be
    columns = math.ceil(len(titles) / rows)
    figure, axes = new_figure(
        1.6 + 2.2 * columns, 0.5 + 2.2 * rows, columns, rows, squeeze=False, sharex=True, sharey=True
    )
    for axis, values, title in zip(axes.flat, maps, titles, strict=False):
        values = named_matrix("attention_maps", values, queries, keys)
        image = draw_cells(axis, values, keys, queries, top_of(maps), forbidden)
        axis.set_title(title, fontsize=10)
    for axis in list(axes.flat)[len(titles) :]:
        axis.remove()
    add_scale(figure, image, list(axes.flat)[: len(titles)], scale)
    return show(figure, alt)


def heatmap(values: ArrayLike, *, title: str, xlabel: str, ylabel: str, alt: str, diverging: bool = False) -> Picture:
    """Any matrix (rows, columns) but weights; diverging: zero is white, and both signs have a colour."""
    matrix = numbers("heatmap", "values", values, "(rows, columns)")
    if matrix.ndim != 2 or not matrix.size:
        raise ValueError(f"heatmap: values of shape {matrix.shape}, expected (rows, columns)")
    figure, axis = new_figure(7.0, 3.4)
    cmap, low, high = ("RdBu_r", -abs(matrix).max(), abs(matrix).max()) if diverging else ("cividis", None, None)
    image = axis.imshow(matrix, aspect="auto", interpolation="nearest", cmap=cmap, vmin=low, vmax=high)
    figure.colorbar(image, ax=axis, pad=0.02)
    axis.set(title=title, xlabel=xlabel, ylabel=ylabel)
    return show(figure, alt)


def curves(
    lines: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    *,
    title: str,
    xlabel: str,
    ylabel: str,
    alt: str,
    logx: bool = False,
    logy: bool = False,
    levels: Mapping[str, float] | None = None,
) -> Picture:
    """Named lines, name -> (x, y), told apart by colour and dash; levels are named horizontal lines."""
    points = named_lines("curves", lines, least=1)
    levels = named_numbers("curves", levels) if levels else {}
    figure, axis = new_figure(7.0, 3.4)
    for (name, (x, y)), colour, line in zip(points.items(), cycle(COLOURS), cycle(LINES), strict=False):
        axis.plot(x, y, line, color=colour, label=name, linewidth=1.8)
    for name, level in levels.items():
        axis.axhline(level, color="#555555", linewidth=1, linestyle=(0, (1, 1)))
        axis.annotate(name, (1, level), xycoords=("axes fraction", "data"), ha="right", va="bottom", fontsize=9)
    if logy:
        axis.set_yscale("log")
    if logx:  # ticks at the values that were measured, not at powers
        axis.set_xscale("log", base=2)
        axis.set_xticks(sorted({x for xs, _ in points.values() for x in xs}))
        axis.xaxis.set_major_formatter(ScalarFormatter())
    elif all(float(x).is_integer() for xs, _ in points.values() for x in xs):
        axis.locator_params(axis="x", integer=True)  # no 3.5 digits
    axis.set(title=title, xlabel=xlabel, ylabel=ylabel)
    axis.grid(alpha=0.3)
    if len(points) > 1:
        axis.legend(fontsize=9, frameon=False)
    return show(figure, alt)


def bars(values: Mapping[str, float], *, title: str, xlabel: str, alt: str, form: str = "{:.2f}") -> Picture:
    """Named horizontal bars, each with its number written at its end, the first on top."""
    values = named_numbers("bars", values)
    figure, axis = new_figure(7.0, 0.9 + 0.32 * len(values))
    drawn = axis.barh(range(len(values)), list(values.values()), color=COLOURS[0])
    name_ticks(axis.set_yticks, values, most=40)
    axis.bar_label(drawn, [form.format(value) for value in values.values()], padding=3, fontsize=9)
    axis.invert_yaxis()
    axis.margins(x=0.12)
    axis.set(title=title, xlabel=xlabel)
    return show(figure, alt)


def smooth(values: Sequence[float], window: int = 20) -> np.ndarray:
    """The mean over the last `window` values (fewer at the beginning), which shows the trend of a noisy loss."""
    check_numbers("smooth", least=1, whole=True, window=window)
    row = numbers("smooth", "values", values, "a row of numbers")
    if row.ndim != 1:
        raise ValueError(f"smooth: values of shape {row.shape}, expected a row of numbers")
    sums = np.concatenate([[0.0], np.cumsum(row)])
    ends = np.arange(1, len(sums))
    starts = np.maximum(0, ends - window)
    return (sums[ends] - sums[starts]) / (ends - starts)
