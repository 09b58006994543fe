"""The explorers of notebook 04: three tokens on paper, the apple that moves, and a sentence of one's own.

Each in three parts: compute (numbers), draw (numbers -> `Svg`), bind (a drawing function and its controls). The weights
of all three are softmax(q · k · scale / τ), with scale 1/√K or, switched off, 1; τ is the temperature.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from ipywidgets import Checkbox, Dropdown, FloatSlider, Text
from torch import Tensor

from tx_helpers.attention import eager_attention
from tx_helpers.capture import capture
from tx_helpers.observe import listening
from tx_helpers.recipes import Translator
from tx_helpers.show.charts import Panel, side_by_side, weight_map
from tx_helpers.show.explore import Explore
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import BLUE, GREEN, INK, MUTED, RED, shape, words
from tx_helpers.text.number_words import english

LONGEST = 12  # words of a sentence that can still be read
Point = Sequence[float]


@dataclass(frozen=True)
class Attended:
    """What attention made of some tokens."""

    weights: np.ndarray  # (T, S)
    outputs: np.ndarray  # (T, width of the values)

    @property
    def evenness(self) -> float:
        """Mean entropy of the rows / log S: 1 where all weights are alike, 0 where each row has one weight of 1."""
        p = np.clip(self.weights, 1e-300, 1)
        return abs(float(-(p * np.log(p)).sum(-1).mean() / math.log(p.shape[-1])))


def attend(q: Tensor, k: Tensor, v: Tensor, *, temperature: float = 1.0, scaled: bool = True) -> Attended:
    """The package's attention of q (T, K), k (S, K), v (S, ·), its weights listened to; in float64."""
    if not temperature > 0:
        raise ValueError(f"attend: temperature={temperature}, expected more than 0")
    seen = {}
    q, k, v = (tensor.detach().double()[None] for tensor in (q, k, v))
    scale = (q.shape[-1] ** -0.5 if scaled else 1.0) / temperature
    with listening(lambda name, tensor: seen.update({name: tensor})):
        outputs = eager_attention(q, k, v, scale=scale)
    return Attended(seen["weights"][0].numpy(), outputs[0].numpy())


def settings(temperature: float, scaled: bool, width: int) -> str:
    """What the scores were divided by, in words."""
    return f"scores {'divided by' if scaled else 'not divided by'} √{width}, temperature {temperature:g}"


# ---------------------------------------------------------------------------------------------------- three tokens


def draw_tokens(tokens: Sequence[str], values: Sequence[Point], found: Attended, said: str) -> Svg:
    """On the left the weights, on the right the outputs among the values, in the plane."""
    looks = "; ".join(
        f"{token!r} looks most at {tokens[row.argmax()]!r} ({row.max():.2f})"
        for token, row in zip(tokens, found.weights, strict=True)
    )
    spread = max(math.dist(a, b) for a in found.outputs for b in found.outputs)
    alt = (
        f"Three tokens, {said}: {looks}. Evenness of the weights {found.evenness:.2f}. "
        f"The outputs lie up to {spread:.2f} apart."
    )
    table = weight_map(found.weights, tokens, tokens, size=(340, 230), title="Weights: rows look at columns")
    title, largest = "Outputs (red) among values (green)", max(max(value) for value in values)
    return side_by_side(
        [table, plane(tokens, values, found.outputs, size=(300, 240), title=title, largest=largest)], alt=alt
    )


def plane(
    names: Sequence[str], starts: Sequence[Point], ends: Sequence[Point], *, size: tuple[int, int], title: str,
    largest: float, followed: int | None = None, axes: tuple[str, str] = ("", ""),
) -> Panel:  # fmt: skip
    """Named points (green) and where attention puts them (red), of the `followed` one alone with its way.

    Both axes go from 0 to `largest`.
    """
    (width, height), edge, top = size, 44, 30
    unit = min(width - 2 * edge, height - top - edge) / largest

    def at(point: Point) -> tuple[float, float]:
        return edge + unit * float(point[0]), height - edge + 10 - unit * float(point[1])

    (x, y), (right, upper) = at((0, 0)), at((largest, largest))
    turned = f"translate({x - 8:.1f},{upper:.1f}) rotate(-90)"
    parts = [
        words(width / 2, 14, title, anchor="middle", font_weight="bold"),
        shape("path", d=f"M{x:.1f},{upper:.1f}V{y:.1f}H{right:.1f}", fill="none", stroke=MUTED),
        words(right, y + 20, axes[0], size=12, anchor="end", fill=MUTED),
        words(0, 0, axes[1], size=12, anchor="end", fill=MUTED, transform=turned),
    ]
    for index, (name, start, end) in enumerate(zip(names, starts, ends, strict=True)):
        (x0, y0), (x1, y1) = at(start), at(end)
        parts.append(shape("circle", cx=x0, cy=y0, r=5, fill=GREEN[0]))
        parts.append(words(x0 + 8, y0 - 7, name, fill=GREEN[2]))
        if followed not in (None, index):
            continue
        if followed == index:
            parts.append(shape("line", x1=x0, y1=y0, x2=x1, y2=y1, stroke=RED[0], stroke_width=2))
        parts.append(shape("circle", cx=x1, cy=y1, r=6, fill="none", stroke=RED[0], stroke_width=2.5))
        if followed is None:
            parts.append(words(x1, y1 + 20, name, size=12, anchor="middle", fill=RED[2]))
    return Panel(size, "".join(parts))


def tokens_explorer(tokens: Sequence[str], q: Tensor, k: Tensor, v: Tensor, *, name: str = "three-tokens") -> Explore:
    """Some tokens' queries, keys and values (T, 2) under a temperature, with √K and without."""

    def draw(temperature, scaled):
        found = attend(q, k, v, temperature=temperature, scaled=scaled)
        return draw_tokens(tokens, v.tolist(), found, settings(temperature, scaled, q.shape[-1]))

    return Explore(draw, name, temperature=_temperature(), scaled=_scaled())


# ------------------------------------------------------------------------------------------------------- the apple


def place(table: Mapping[str, Point], sentence: str) -> tuple[list[str], Tensor]:
    """The words of a sentence and their vectors (T, 2). ValueError for none, or for one that is not in the table."""
    tokens = sentence.lower().split()
    if unknown := [token for token in tokens if token not in table]:
        raise ValueError(f"{unknown[0]!r} is none of the known words: {', '.join(table)}")
    if not 1 <= len(tokens) <= LONGEST:
        raise ValueError(f"{len(tokens)} words, expected 1 to {LONGEST}")
    return tokens, torch.tensor([table[token] for token in tokens], dtype=torch.float64)


def draw_words(
    tokens: Sequence[str], x: Tensor, found: Attended, *, axes: tuple[str, str], followed: str, largest: float
) -> Svg:
    """Where each word stood and where the followed one went, with the weights that took it there."""
    followed = followed if followed in tokens else tokens[0]
    t = list(tokens).index(followed)
    output, row = found.outputs[t], found.weights[t]
    tends = axes[0] if output[0] > output[1] + 0.05 else axes[1] if output[1] > output[0] + 0.05 else "neither side"
    alt = (
        f"{followed!r} in {' '.join(tokens)!r} moves from ({x[t][0]:.2f}, {x[t][1]:.2f}) to ({output[0]:.2f}, "
        f"{output[1]:.2f}), towards {tends}. It looks most at {tokens[row.argmax()]!r} ({row.max():.2f})."
    )
    options = dict(largest=largest, followed=t, axes=axes)
    picture = plane(tokens, x.tolist(), found.outputs, size=(360, 330), title="Before and after", **options)
    bars = [words(4, 14, f"{followed!r} looks at", font_weight="bold")]
    for n, (token, weight) in enumerate(zip(tokens, row, strict=True)):
        y = 34 + 23 * n
        bars += [
            words(76, y + 12, token, anchor="end"),
            shape("rect", x=84, y=y, width=150 * float(weight), height=16, rx=3, fill=BLUE[0]),
            words(90 + 150 * float(weight), y + 12, f"{weight:.2f}", size=12, fill=INK),
        ]
    return side_by_side([picture, Panel((290, 330), "".join(bars))], alt=alt)


def words_explorer(
    table: Mapping[str, Point], sentence: str, *, axes: tuple[str, str], followed: str, name: str = "context"
) -> Explore:
    """Sentences of words that have a place in the plane; q, k and v are the vectors themselves."""
    largest = max(max(point) for point in table.values())

    def draw(sentence, temperature, scaled):
        tokens, x = place(table, sentence)
        found = attend(x, x, x, temperature=temperature, scaled=scaled)
        return draw_words(tokens, x, found, axes=axes, followed=followed, largest=largest)

    text = Text(sentence, description="Sentence", continuous_update=False)
    return Explore(draw, name, sentence=text, temperature=_temperature(), scaled=_scaled())


# ---------------------------------------------------------------------------------------- a sentence of one's own


def sentence_explorer(translator: Translator, text: str, *, name: str = "own-sentence") -> Explore:
    """The self-attention of the translator's encoder on any number, in words or digits, by block and head.

    Temperature and scale are turned in the chosen block alone: what comes before it stays as it was.
    """
    model, tokenizer = translator.model, translator.data.source_tokenizer

    @lru_cache(maxsize=32)
    def listened(text: str) -> tuple[list[str], dict[str, Tensor]]:
        text = english(int(text)) if text.strip().isdecimal() else text
        tokens = tokenizer.split(text)
        if not 1 <= len(tokens) <= LONGEST:
            raise ValueError(f"{len(tokens)} words, expected 1 to {LONGEST}")
        ids = torch.tensor([tokenizer.encode(text)])
        with capture(model, "encoder.*") as seen, torch.no_grad():
            model.encode(ids)
        return tokens, dict(seen)

    def draw(sentence, block, head, temperature, scaled):
        tokens, seen = listened(sentence)
        path = f"encoder.blocks.{block}.self_attention"
        q, k, v = (seen[f"{path}.{part}"][0, head] for part in ("queries", "keys", "values"))
        found = attend(q, k, v, temperature=temperature, scaled=scaled)
        return draw_sentence(tokens, found, block, head, settings(temperature, scaled, q.shape[-1]))

    blocks, heads = model.config.n_layers, model.config.attention.n_heads
    return Explore(
        draw,
        name,
        sentence=Text(text, description="Number", continuous_update=False),
        block=Dropdown(options=[(str(n + 1), n) for n in range(blocks)], description="Block"),
        head=Dropdown(options=[(str(n + 1), n) for n in range(heads)], description="Head"),
        temperature=_temperature(),
        scaled=_scaled(),
    )


def draw_sentence(tokens: Sequence[str], found: Attended, block: int, head: int, said: str) -> Svg:
    """The weights of one head as a table."""
    itself = int((found.weights.argmax(-1) == np.arange(len(tokens))).sum())
    looks = "; ".join(
        f"{token!r} at {tokens[row.argmax()]!r} ({row.max():.2f})"
        for token, row in zip(tokens, found.weights, strict=True)
    )
    alt = (
        f"Block {block + 1}, head {head + 1}, {said}: {looks}. Most at itself: {itself} of {len(tokens)} words. "
        f"Evenness of the weights {found.evenness if len(tokens) > 1 else 0:.2f}."
    )
    size = (90 + 62 * max(4, len(tokens)), 60 + 30 * len(tokens))
    return side_by_side([weight_map(found.weights, tokens, tokens, size=size, title="Rows look at columns")], alt=alt)


def _temperature() -> FloatSlider:
    return FloatSlider(1.0, min=0.1, max=4, step=0.1, description="Temperature")


def _scaled() -> Checkbox:
    return Checkbox(True, description="Divide by √d_k", indent=False)
