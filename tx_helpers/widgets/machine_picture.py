"""The still picture of the machine, for pages without a script: the same stages in the same places.

    seen = last_pass(model, source, target)          # what capture records, and "logits", of one sequence
    draw(seen, source_words, target_words, vocabulary, alt)

A map is a head: a row for each query, the more weight, the more gold. A strip is the vector of a word.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import Tensor

from tx_helpers.nn.capture import capture
from tx_helpers.nn.models import DecoderOnly, EncoderDecoder
from tx_helpers.show.pixels import pixel_image
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import (
    EDGE,
    INK,
    MEMORY,
    MUTED,
    RESIDUAL,
    SOURCE,
    TARGET,
    WEIGHT,
    WHITE,
    Colour,
    box,
    card,
    line,
    named_bar,
    rgb,
    shape,
    visible,
    words,
)

LEFT, GUTTER, LANES, BETWEEN = 16, 104, 254, 30  # pixels: margin, names of the rows, room of the words, between stacks
WIDTH = 2 * (GUTTER + LANES) + 3 * LEFT + BETWEEN
STRIP, MAP, ROW = 14, 56, 22  # heights: of a strip, of a map at most, of a row with a strip
MOST = 16  # words beside each other; of more, the last
FULL = 2.5  # times the usual size of a row's numbers: full colour


def last_pass(model: EncoderDecoder | DecoderOnly, source: Sequence[int] | None, target: Sequence[int]) -> dict:
    """Name -> tensor without the batch dimension, as `capture` names them, and "logits" (T, V)."""
    inputs = [torch.tensor([ids]) for ids in (source, target) if ids is not None]
    with capture(model) as seen, torch.no_grad():
        logits = model(*inputs)
    return {name: seen[name][0] for name in seen} | {"logits": logits[0]}


def draw(
    seen: Mapping[str, Tensor], source: Sequence[str], target: Sequence[str], vocabulary: Sequence[str], alt: str
) -> Svg:
    """The pass as a card; source is empty for a model without an encoder."""
    parts, below = [], []
    sides = (("encoder", source, SOURCE), ("decoder", target, TARGET)) if source else (("decoder", target, TARGET),)
    memory = 0.0
    for column, (side, tokens, colour) in enumerate(sides):
        x = LEFT + column * (GUTTER + LANES + BETWEEN + LEFT)
        drawn, bottom = _stack(seen, side, tokens[-MOST:], colour, x)
        parts += drawn
        below.append(bottom)
        memory = memory if column else bottom - ROW / 2
    parts += _chances(seen["logits"][-1], vocabulary, x, below[-1] + 14)
    if source:
        parts += _memory(seen, memory, LEFT + GUTTER + LANES)
    return card(WIDTH if source else GUTTER + LANES + 2 * LEFT, below[-1] + 108, parts, alt)


def _stack(
    seen: Mapping[str, Tensor], side: str, tokens: Sequence[str], colour: Colour, x: float
) -> tuple[list[str], float]:
    """One stack from its words down; and where it ends."""
    title = "Encoder: reads" if side == "encoder" else "Decoder: writes"
    parts, y = [words(x, 30, title, size=14, fill=colour.shade, font_weight="bold")], 40.0
    lane = LANES / len(tokens)
    for place, token in enumerate(tokens):
        text = visible(token) if len(token) <= lane / 7 else f"{visible(token)[: max(1, int(lane / 7) - 1)]}…"
        parts.append(box(x + GUTTER + place * lane + 1, y, lane - 2, 22, text, colour, 12.5))
    y += 28
    for name, kind, caption in _rows(seen, side):
        value = seen[name]
        if kind == "maps":
            side_of_map = min(MAP, LANES / len(value) - 6)
            for head, weights in enumerate(value):
                parts += _map(weights, x + GUTTER + (head + 0.5) * LANES / len(value) - side_of_map / 2, y, side_of_map)
            tall = side_of_map + 8
        else:
            parts.append(_strip(value, x + GUTTER, y + 4, kind, len(tokens)))
            tall = ROW
        parts.append(words(x, y + tall / 2 + 3, caption, size=12.5, fill=MUTED))
        y += tall
    return parts, y


def _rows(seen: Mapping[str, Tensor], side: str) -> list[tuple[str, str, str]]:
    """(name, kind, caption) of what is drawn, from top to bottom."""
    rows, block = [(f"{side}.input.hidden", "strip", "word + position")], 0
    while f"{side}.blocks.{block}.hidden" in seen:
        path = f"{side}.blocks.{block}"
        for part in ("self_attention", "cross_attention"):
            if f"{path}.{part}.weights" in seen:
                rows.append((f"{path}.{part}.weights", "maps", part.replace("_", "-")))
        rows.append((f"{path}.feed_forward.activation", "units", "feed-forward"))
        rows.append((f"{path}.hidden", "strip", f"after block {block + 1}"))
        block += 1
    return rows


def _map(weights: Tensor, x: float, y: float, size: float) -> list[str]:
    """The weights (T, S) of a head in a frame."""
    levels = np.rint(weights[-MOST:, -MOST:].numpy() * 15)
    frame = shape("rect", x=x, y=y, width=size, height=size, fill="none", stroke=EDGE)
    return [pixel_image(levels, _ramp(WHITE, WEIGHT.full, 16), x=x, y=y, width=size, height=size), frame]


def _strip(value: Tensor, x: float, y: float, kind: str, lanes: int) -> str:
    """Vectors (T, D) beside each other, with a gap after each."""
    D = min(value.shape[-1], 64)
    vectors = value[-lanes:].unfold(-1, value.shape[-1] // D, value.shape[-1] // D)[:, :D]  # (T, D, numbers of a pixel)
    scale = FULL * value.square().mean().sqrt().clamp(min=1e-9)
    near = torch.take_along_dim(vectors, vectors.abs().argmax(-1, keepdim=True), -1)[..., 0] / scale
    if kind == "units":
        palette, levels = _ramp(WHITE, INK, 15), (vectors.mean(-1) / scale).clamp(0, 1) * 14
    else:
        half = _ramp(WHITE, RESIDUAL.full, 8)
        palette, levels = np.concatenate([_ramp(INK, WHITE, 8)[:-1], half]), (near.clamp(-1, 1) + 1) * 7
    levels = np.pad(np.rint(levels.numpy()), ((0, 0), (0, 4)), constant_values=0 if kind == "units" else 7)
    return pixel_image(levels.reshape(1, -1), palette, x=x, y=y, width=LANES, height=STRIP)


def _ramp(low: str, high: str, steps: int) -> np.ndarray:
    return np.rint(np.linspace(rgb(low), rgb(high), steps)).astype(np.uint8)


def _memory(seen: Mapping[str, Tensor], y: float, x: float) -> list[str]:
    """The line from the encoder's end to each cross-attention."""
    parts, height = [], 68.0
    middle, end = x + 22, x + BETWEEN + LEFT - 3
    for name, kind, _ in _rows(seen, "decoder"):
        tall = min(MAP, LANES / len(seen[name]) - 6) + 8 if kind == "maps" else ROW
        if "cross_attention" in name:
            at = height + tall / 2
            parts += [line(x + 4, y, middle, y, MEMORY.full, stroke_width=2)]
            parts += [line(middle, y, middle, at, MEMORY.full, stroke_width=2)]
            parts += [line(middle, at, end - 7, at, MEMORY.full, stroke_width=2)]
            parts += [shape("path", d=f"M{end:.1f},{at:.1f}l-9,-5v10z", fill=MEMORY.full)]
        height += tall
    return parts


def _chances(logits: Tensor, vocabulary: Sequence[str], x: float, y: float) -> list[str]:
    """The four likeliest next words."""
    chances, ids = logits.softmax(-1).topk(min(4, len(logits)))
    parts = [words(x, y + 14, "next word", size=12.5, fill=MUTED)]
    for row, (chance, token) in enumerate(zip(chances.tolist(), ids.tolist(), strict=True)):
        name = visible(vocabulary[token])[:12]
        parts += named_bar(x + GUTTER + 66, y + 22 * row, name, 130 * chance, f"{chance:.2f}", TARGET.full)
    return parts
