"""Explorers of self-attention: a word that its sentence moves, and the translator's attention on a number.

The weights are softmax(q · k · scale / τ), with scale 1/√K or, switched off, 1; τ is the temperature.
"""

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import ipywidgets as widgets
import numpy as np
import torch
from torch import Tensor

from tx_helpers.nn.arguments import check_numbers, check_points, check_tensors, check_types
from tx_helpers.nn.attention import eager_attention
from tx_helpers.nn.capture import capture
from tx_helpers.nn.observe import listening
from tx_helpers.show.charts import Panel, heading, side_by_side, weight_map
from tx_helpers.show.controls import choice, slider, tick, typed
from tx_helpers.show.explore import Explore
from tx_helpers.show.grid import NUMBERS
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import INK, MUTED, VALUE, WEIGHT, arrow, shape, value_mark, words
from tx_helpers.text.number_words import english
from tx_helpers.zoo.recipes import Translator

LONGEST = 12  # words of a sentence that can still be read
STILL = 0.05  # a word that moves less than this stays where it is
Point = Sequence[float]


# --- compute ----------------------------------------------------------------------------------------------------------
class Attended(NamedTuple):
    """What attention made of some tokens."""

    weights: np.ndarray  # (T, S)
    outputs: np.ndarray  # (T, width of the values)

    @property
    def evenness(self) -> float:
        """Mean entropy of the rows / log S: 1 where all weights are alike, 0 where each row has one weight of 1."""
        if self.weights.shape[-1] == 1:
            return 0.0
        p = np.clip(self.weights, 1e-300, 1)
        return abs(float(-(p * np.log(p)).sum(-1).mean() / math.log(p.shape[-1])))


def attend(q: Tensor, k: Tensor, v: Tensor, *, temperature: float = 1.0, scaled: bool = True) -> Attended:
    """The package's attention of q (T, K), k (S, K), v (S, ·), its weights listened to; in float64."""
    check_tensors("attend", q=(q, "float T K"), k=(k, "float S K"), v=(v, "float S D"))
    check_numbers("attend", above=0, temperature=temperature)
    seen = {}
    q, k, v = q.detach().double()[None], k.detach().double()[None], v.detach().double()[None]
    scale = (q.shape[-1] ** -0.5 if scaled else 1.0) / temperature
    with listening(lambda name, tensor: seen.update({name: tensor})):
        outputs = eager_attention(q, k, v, scale=scale)
    return Attended(seen["weights"][0].numpy(), outputs[0].numpy())


def place(table: Mapping[str, Point], sentence: str) -> tuple[list[str], Tensor]:
    """The words of a sentence and their vectors (T, 2). ValueError for none, or for one that is not in the table."""
    tokens = sentence.lower().split()
    if unknown := [token for token in tokens if token not in table]:
        raise ValueError(f"{unknown[0]!r} is none of the known words: {', '.join(table)}")
    check_length(tokens)
    return tokens, torch.tensor([table[token] for token in tokens], dtype=torch.float64)


def check_length(tokens: Sequence[str]) -> None:
    """ValueError for a sentence without words, or with too many to be read."""
    if not 1 <= len(tokens) <= LONGEST:
        raise ValueError(f"{len(tokens)} words, expected 1 to {LONGEST}")


# --- draw -------------------------------------------------------------------------------------------------------------
def draw_words(
    tokens: Sequence[str], x: Tensor, found: Attended, *, axes: tuple[str, str], t: int, largest: float
) -> Svg:
    """Where each word stood and where word t went, with the weights that took it there."""
    options = dict(largest=largest, followed=t, axes=axes)
    picture = plane(tokens, x.tolist(), found.outputs[t], size=(360, 330), title="Before and after", **options)
    bars = [words(4, 14, f"{tokens[t]!r} looks at", font_weight="bold")]
    for n, (token, weight) in enumerate(zip(tokens, found.weights[t].tolist(), strict=True)):
        y = 34 + 23 * n
        bars += [
            words(76, y + 12, token, anchor="end"),
            shape("rect", x=84, y=y, width=150 * weight, height=16, rx=3, fill=WEIGHT.full),
            words(90 + 150 * weight, y + 12, f"{weight:.2f}", size=12, fill=INK),
        ]
    return side_by_side([picture, Panel((290, 330), "".join(bars))], alt=describe_words(tokens, x, found, axes, t))


def draw_vectors(table: Mapping[str, Point], axes: tuple[str, str]) -> Svg:
    """Every word of a table where its vector puts it."""
    largest = max(max(point) for point in table.values()) * 1.1
    panel = plane(
        list(table), list(table.values()), size=(340, 320), title=f"{len(table)} words", largest=largest, axes=axes
    )
    at = ", ".join(f"{word} at ({x}, {y})" for word, (x, y) in table.items())
    return side_by_side([panel], alt=f"A plane, {axes[0]} to the right and {axes[1]} upwards: {at}.")


def draw_sentence(tokens: Sequence[str], found: Attended, block: int, head: int, settings: str) -> Svg:
    """The weights of one head as a table."""
    size = (90 + 62 * max(4, len(tokens)), 60 + 30 * len(tokens))
    table = weight_map(found.weights, tokens, tokens, size=size, title="Rows look at columns")
    return side_by_side([table], alt=describe_sentence(tokens, found, block, head, settings))


def plane(
    names: Sequence[str],
    starts: Sequence[Point],
    end: Point | None = None,
    *,
    size: tuple[int, int],
    title: str,
    largest: float,
    followed: int = 0,
    axes: tuple[str, str] = ("", ""),
) -> Panel:
    """Named points and, framed, the `end` where attention puts the one that is `followed`, with an arrow.

    Both axes go from 0 to `largest`.
    """
    width, height = size
    edge, top = 44, 30
    unit = min(width - 2 * edge, height - top - edge) / largest

    def at(point: Point) -> tuple[float, float]:
        return edge + unit * float(point[0]), height - edge + 10 - unit * float(point[1])

    x, y = at((0, 0))
    right, upper = at((largest, largest))
    turned = f"translate({x - 8:.1f},{upper:.1f}) rotate(-90)"
    parts = [
        heading(width / 2, title),
        shape("path", d=f"M{x:.1f},{upper:.1f}V{y:.1f}H{right:.1f}", fill="none", stroke=MUTED),
        words(right, y + 20, axes[0], size=12, anchor="end", fill=MUTED),
        words(0, 0, axes[1], size=12, anchor="end", fill=MUTED, transform=turned),
    ]
    for name, start in zip(names, starts, strict=True):
        x, y = at(start)
        parts += [value_mark(x, y, 6), words(x + 8, y - 7, name, fill=VALUE.shade)]
    if end is not None:
        parts.append(arrow(*at(starts[followed]), *at(end), INK))
        parts.append(value_mark(*at(end), 7, fill="none", stroke=INK, stroke_width=2.5))
    return Panel(size, "".join(parts))


# --- describe ---------------------------------------------------------------------------------------------------------
def describe_settings(temperature: float, scaled: bool, width: int) -> str:
    """What the scores were divided by."""
    return f"scores {'divided by' if scaled else 'not divided by'} √{width}, temperature {temperature:g}"


def describe_words(tokens: Sequence[str], x: Tensor, found: Attended, axes: tuple[str, str], t: int) -> str:
    """From where to where word t moves, towards which of the two axes, and what it looks at most."""
    start, end, row = x[t].tolist(), found.outputs[t].tolist(), found.weights[t]
    across, up = end[0] - start[0], end[1] - start[1]
    if math.hypot(across, up) < STILL:
        way = f"stays at ({start[0]:.2f}, {start[1]:.2f})"
    else:
        side = axes[0] if across - up > STILL and across > 0 else axes[1] if up - across > STILL and up > 0 else None
        towards = f"towards {side or 'neither side'}"
        way = f"moves from ({start[0]:.2f}, {start[1]:.2f}) to ({end[0]:.2f}, {end[1]:.2f}), {towards}"
    most = f"It looks most at {tokens[row.argmax()]!r} ({row.max():.2f})."
    return f"{tokens[t]!r} in {' '.join(tokens)!r} {way}. {most}"


def describe_sentence(tokens: Sequence[str], found: Attended, block: int, head: int, settings: str) -> str:
    """What each word looks at most, how many look at themselves, and how even the weights are."""
    itself = int((found.weights.argmax(-1) == np.arange(len(tokens))).sum())
    looks = "; ".join(
        f"{token!r} at {tokens[row.argmax()]!r} ({row.max():.2f})"
        for token, row in zip(tokens, found.weights, strict=True)
    )
    return (
        f"Block {block + 1}, head {head + 1}, {settings}: {looks}. Most at itself: {itself} of {len(tokens)} words. "
        f"Evenness of the weights {found.evenness:.2f}."
    )


# --- bind -------------------------------------------------------------------------------------------------------------
def words_explorer(table: Mapping[str, Point], sentence: str, *, axes: tuple[str, str], followed: str) -> Explore:
    """Sentences of words that have a place in the plane; q, k and v are the vectors themselves, divided by nothing.

    The word `followed`, or else the first one, is drawn with its way.
    """
    check_points("words_explorer", table)
    check_types("words_explorer", str, sentence=sentence)
    largest = max(max(point) for point in table.values())

    def picture(sentence: str, temperature: float) -> Svg:
        tokens, x = place(table, sentence)
        found = attend(x, x, x, temperature=temperature, scaled=False)
        t = tokens.index(followed) if followed in tokens else 0
        return draw_words(tokens, x, found, axes=axes, t=t, largest=largest)

    text = typed("Sentence", sentence, at_once=False)
    others = [word for word in table if word != followed]
    pairs = [(one, other) for one in others for other in others if one != other]
    sentences = [" ".join(words) for one, other in pairs for words in ((followed, one, other), (one, followed, other))]
    recorded = {"sentence": [sentence, *sentences]}
    return Explore(picture, "context", told=True, recorded=recorded, sentence=text, temperature=_temperature())


def sentence_explorer(translator: Translator, text: str) -> Explore:
    """The self-attention of the translator's encoder on any number, in words or digits, by block and head.

    Temperature and scale are turned in the chosen block alone: what comes before it stays as it was.
    """
    check_types("sentence_explorer", Translator, translator=translator)
    check_types("sentence_explorer", str, text=text)
    model, tokenizer = translator.model, translator.data.source_tokenizer

    @lru_cache(maxsize=32)
    def listened(text: str) -> tuple[list[str], dict[str, Tensor]]:
        text = english(int(text)) if text.strip().isdecimal() else text
        tokens = tokenizer.split(text)
        check_length(tokens)
        ids = torch.tensor([tokenizer.encode(text)])
        with capture(model, "encoder.*") as seen, torch.no_grad():
            model.encode(ids)
        return tokens, dict(seen)

    def picture(sentence: str, block: int, head: int, temperature: float, scaled: bool) -> Svg:
        tokens, seen = listened(sentence)
        path = f"encoder.blocks.{block}.self_attention"
        q, k, v = (seen[f"{path}.{part}"][0, head] for part in ("queries", "keys", "values"))
        found = attend(q, k, v, temperature=temperature, scaled=scaled)
        return draw_sentence(tokens, found, block, head, describe_settings(temperature, scaled, q.shape[-1]))

    blocks, heads = range(model.config.n_layers), range(model.config.attention.n_heads)
    return Explore(
        picture,
        "own-sentence",
        told=True,
        recorded={"sentence": [text, *map(str, NUMBERS[::2])]},
        sentence=typed("Number", text, at_once=False),
        block=choice("Block", [(str(n + 1), n) for n in blocks]),
        head=choice("Head", [(str(n + 1), n) for n in heads]),
        temperature=_temperature(),
        scaled=tick("Divide by √d_k", on=True),
    )


def _temperature() -> widgets.FloatSlider:
    return slider("Temperature", 0.1, 4, step=0.1, start=1.0)
