"""Attention to keep: a page that is interactive with no kernel and no network, and static pictures of one head.

What tokens say is never markup: escaped in the SVG, not parsed as mathematics in the PNG, in base64 in the page.
"""

import base64
import hashlib
import io
import json
import warnings
from collections.abc import Sequence
from html import escape

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection

from tx_helpers.show.cells import GOLD
from tx_helpers.show.pixels import pixel_image, strongest, transparent_to
from tx_helpers.show.plots import DPI, new_figure
from tx_helpers.show.shapes import EDGE, INK, KEY, MUTED, PAPER, QUERY, WEIGHT, shape, theme
from tx_helpers.widgets.attention_data import shown

ROW, LINES, LABEL = 20, 180, 150  # of the SVG, in pixels: height of a token, width of the lines and of the tokens
CAPTION = 190  # of the SVG, in pixels: room for the words above the matrix
MATRIX, MOST_CELLS = 400, 250  # its matrix: the longest side in pixels, and how many cells are told apart
TO_GOLD = transparent_to(WEIGHT.full)  # of the matrix: the card shows through, in both themes
FAINTEST = 0.02  # weights below are not drawn
MOST_LABELS = 40  # tokens that still have room beside each other

PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'sha256-{hash}'; \
style-src 'unsafe-inline'; img-src data:">
<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">
<title>Attention</title>
<style>body {{ margin: 1rem; background: #fff; color: #111 }}
@media (prefers-color-scheme: dark) {{ body {{ background: #111; color: #fff }} }}</style></head>
<body><main id="view">{static}</main>
<script type="text/plain" id="model">{model}</script>
<script type="text/plain" id="data">{data}</script>
<script type="module">{script}</script></body></html>
"""
# the end of the module: what a notebook's kernel does for the view, here done by the page itself
START = """
const bytes = (id) => {
  const text = atob(document.getElementById(id).textContent);
  const all = new Uint8Array(text.length); // Uint8Array.from would build a list of all numbers first
  for (let i = 0; i < text.length; i++) all[i] = text.charCodeAt(i);
  return all;
};
const stored = JSON.parse(new TextDecoder().decode(bytes("model")));
stored.data = new DataView(bytes("data").buffer);
const still = {
  get: (key) => stored[key], set: (key, value) => { stored[key] = value; }, on() {}, off() {}, save_changes() {},
};
render({ model: still, el: document.getElementById("view") });
"""


def page(esm: str, spec: dict, data: bytes, state: dict, static: str) -> str:
    """One HTML file; its policy lets it run this one script, and load nothing."""
    script = esm + START
    if "</script" in script.lower():
        raise ValueError("AttentionView: its scripts hold '</script', which would end the page's script early")
    return PAGE.format(
        hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        static=static,
        model=base64.b64encode(json.dumps({"spec": spec, "state": state}).encode()).decode(),
        data=base64.b64encode(data).decode(),
        script=script,
    )


def svg(weights: np.ndarray, queries: Sequence[str], keys: Sequence[str], state: dict, alt: str = "") -> str:
    """Tokens and lines of weight on the left, the matrix on the right; the words `alt` name it."""
    parts = [
        f'<text x="{LABEL - 8}" y="18" text-anchor="end" fill="{QUERY.shade}">● query</text>'
        f'<text x="{LABEL + LINES + 8}" y="18" fill="{KEY.shade}">■ key</text>',
        f'<g stroke="{WEIGHT.shade}" transform="translate({LABEL})">',  # so x1 is 0, which need not be said
    ]
    for t, s in _lines(weights, state):
        w = weights[t, s]
        parts.append(
            f'<line y1="{_middle(t)}" x2="{LINES}" y2="{_middle(s)}" '
            f'stroke-opacity="{w:.3f}" stroke-width="{0.5 + 3.5 * w:.1f}"/>'
        )
    parts.append("</g>")
    for tokens, x, anchor in ((queries, LABEL - 8, "end"), (keys, LABEL + LINES + 8, "start")):
        parts.append(f'<g fill="{INK}" text-anchor="{anchor}">')
        parts += [f'<text x="{x}" y="{_middle(i) + 4}">{escape(shown(token))}</text>' for i, token in enumerate(tokens)]
        parts.append("</g>")
    cell = max(1.0, min(ROW, MATRIX / max(weights.shape)))
    matrix, width, height = _matrix(weights, queries, keys, 2 * LABEL + LINES + 30, cell)
    return _framed([*parts, matrix], width, max(height, ROW * max(weights.shape) + 50), alt)


def still(weights: np.ndarray, queries: Sequence[str], keys: Sequence[str], state: dict) -> str:
    """The same for a notebook's text output, which is compared to the byte; of many tokens the matrix alone.

    It has no name of its own: the <img> around it has one.

    The weights are rounded to nineteenths, so that their last digits change nothing: 1/2, 1/8 and the like lie far from
    where such a rounding turns.
    """
    weights = np.round(weights * 19) / 19
    if max(weights.shape) <= MOST_LABELS:
        return svg(weights, queries, keys, state)
    matrix, width, height = _matrix(weights, queries, keys, 20, MATRIX / max(weights.shape))
    return _framed([matrix], width, height)


def _matrix(
    weights: np.ndarray, queries: Sequence[str], keys: Sequence[str], left: float, cell: float
) -> tuple[str, float, float]:
    """The matrix from `left` on with the names of rows and columns, if they have room; and where it ends, below too."""
    T, S = weights.shape
    named = max(T, S) <= MOST_LABELS
    room = [8 + 7.5 * max(len(shown(token)) for token in side) if named else 0 for side in (queries, keys)]
    x, y = left + room[0], 30 + 0.87 * room[1]  # the keys' names rise at 60°, whose sine is 0.87 and whose cosine 0.5
    levels = np.rint(strongest(weights, MOST_CELLS) / max(1.0, weights.max()) * 255)
    parts = [
        f'<text x="{left}" y="18" fill="{MUTED}">matrix: a row for each query</text>',
        pixel_image(levels, TO_GOLD, x=x, y=y, width=cell * S, height=cell * T),
        shape("rect", x=x, y=y, width=cell * S, height=cell * T, fill="none", stroke=EDGE),
    ]
    if named:
        parts.append(f'<g fill="{INK}" font-size="{min(12, cell):g}"><g text-anchor="end">')
        for t, token in enumerate(queries):
            parts.append(f'<text x="{x - 6:g}" y="{y + (t + 0.7) * cell:.0f}">{escape(shown(token))}</text>')
        parts.append(f'</g><g transform="translate(0 {y - 4:.0f})">')
        for s, token in enumerate(keys):
            place = f"translate({x + (s + 0.7) * cell:.0f})rotate(-60)"
            parts.append(f'<text transform="{place}">{escape(shown(token))}</text>')
        parts.append("</g></g>")
    width = max(left + CAPTION, x + cell * S + 0.5 * room[1]) + 20
    return "".join(parts), width, y + cell * T + 20


def _framed(parts: Sequence[str], width: float, height: float, alt: str = "") -> str:
    name = f' role="img" aria-label="{escape(alt, quote=True)}"' if alt else ""
    opening = (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="tx-card"{name} '
        f'width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}" '
        'style="max-width: 100%; height: auto" font-family="sans-serif" font-size="13">'
    )
    drawn = f'<rect width="100%" height="100%" rx="12" fill="{PAPER}"/>' + "".join(parts)
    return opening + theme(drawn) + drawn + "</svg>"


def png(weights: np.ndarray, queries: Sequence[str], keys: Sequence[str], state: dict, alt: str) -> bytes:
    """The same as an image; with many tokens the matrix alone."""
    T, S = weights.shape
    labelled = max(T, S) <= MOST_LABELS
    height = 1.6 + 0.2 * max(T, S) if labelled else 5.5
    if labelled:
        figure, (lines, matrix) = new_figure(8.5, height, columns=2, width_ratios=(5, 4))
        _draw_lines(lines, weights, queries, keys, state)
    else:
        figure, matrix = new_figure(6.5, height)
    matrix.imshow(weights, cmap=GOLD, vmin=0, vmax=max(1.0, weights.max()), aspect="equal", interpolation="nearest")
    if labelled:
        names = {"parse_math": False, "fontsize": 8}
        matrix.set_xticks(range(S), list(map(shown, keys)), rotation=60, ha="right", rotation_mode="anchor", **names)
        matrix.set_yticks(range(T), list(map(shown, queries)), **names)
    else:
        matrix.set(xlabel=f"{S} keys", ylabel=f"{T} queries")
    figure.suptitle(alt.split(": ")[0], fontsize=10, parse_math=False)
    buffer = io.BytesIO()
    with warnings.catch_warnings():  # a script that the font lacks is drawn as boxes, without a word on stderr
        warnings.simplefilter("ignore")
        figure.savefig(buffer, format="png", dpi=DPI, metadata={"Software": None})
    return buffer.getvalue()


def _draw_lines(axis: Axes, weights: np.ndarray, queries: Sequence[str], keys: Sequence[str], state: dict) -> None:
    pairs = _lines(weights, state)
    strength = np.array([weights[t, s] for t, s in pairs])
    segments = [[(0, t), (1, s)] for t, s in pairs]
    axis.add_collection(
        LineCollection(segments, colors=WEIGHT.shade, alpha=strength.clip(0, 1), linewidths=0.4 + 2.6 * strength)
    )
    for tokens, x, side in ((queries, -0.04, "right"), (keys, 1.04, "left")):
        for i, token in enumerate(tokens):
            axis.text(x, i, shown(token), ha=side, va="center", fontsize=9, parse_math=False)
        axis.text(
            x,
            -1,
            "● query" if side == "right" else "■ key",
            ha=side,
            va="center",
            fontsize=8,
            color=(QUERY if side == "right" else KEY).shade,
        )
    axis.set(xlim=(-0.75, 1.75), ylim=(max(weights.shape) - 0.5, -1.5))
    axis.axis("off")


def _lines(weights: np.ndarray, state: dict) -> list[tuple[int, int]]:
    """The pairs (query, key) worth a line: of the picked token, or all."""
    strong = weights >= FAINTEST
    if state["token"] >= 0:
        picked = np.zeros_like(strong)
        where = np.s_[state["token"]] if state["side"] == "query" else np.s_[:, state["token"]]
        picked[where] = True
        strong &= picked
    return list(zip(*(axis.tolist() for axis in np.nonzero(strong)), strict=True))


def _middle(i: int) -> int:
    return 30 + i * ROW + ROW // 2
