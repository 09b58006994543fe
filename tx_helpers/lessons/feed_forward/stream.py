"""The residual stream of the trained translator's decoder: what each sub-layer adds, and what the stream says by then.

    stream_drawing(translator, pairs)        the stream and its sub-layers, with mean lengths
    stream_explorer(translator, pairs[0])    one position: the likeliest next word after each sub-layer

    x_0 = embedding,    x_{n+1} = x_n + sublayer_n(norm(x_n)),    said by x_n: softmax(U · final norm(x_n))

To read x_n as if it were the last one is called the logit lens (nostalgebraist 2020).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from tx_helpers.nn.arguments import check_types
from tx_helpers.nn.capture import capture
from tx_helpers.show.controls import choice, slider
from tx_helpers.show.explore import Explore
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import GREEN, GREY, INK, MUTED, PAPER, RESIDUAL, arrow, box, card, line, shape, words
from tx_helpers.text.data import PAD, sequence_batch, text_pairs
from tx_helpers.zoo.recipes import Translator

PARTS = ("self_attention", "cross_attention", "feed_forward")
NAMES = {"self_attention": "self-attention", "cross_attention": "cross-attention", "feed_forward": "feed-forward"}
ALL = "nothing"
LEFT, STEP, STREAM, WIDE, HIGH = (
    62,
    115,
    190,
    800,
    274,
)  # pixels: the embedding, from a ⊕ to the next, the line's height
THICK = 0.3  # pixels of a line's width for each unit of length


# --- compute ----------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Stream:
    """What ran through the decoder, for N sub-layers at B · T positions.

    parts    the N names, "decoder.blocks.0.self_attention"
    states   (N + 1, B, T, D)  the stream before the first sub-layer and after each
    updates  (N, B, T, D)      what each one added
    said     (N + 1, B, T, V)  the probabilities of the next word, read from each state
    target   (B, T)            the next word
    """

    parts: Sequence[str]
    states: Tensor
    updates: Tensor
    said: Tensor
    target: Tensor

    def right(self) -> list[float]:
        """After each sub-layer, the share of positions at which the right word is the likeliest."""
        hits = (self.said.argmax(-1) == self.target)[:, self.target != PAD]
        return hits.double().mean(-1).tolist()

    def lengths(self) -> tuple[list[float], list[float]]:
        """The mean length of the states and of the updates."""
        there = self.target != PAD
        return tuple(x.norm(dim=-1)[:, there].mean(-1).tolist() for x in (self.states, self.updates))


def run(translator: Translator, pairs: Sequence[tuple], without: str = ALL) -> Stream:
    """One forward pass over pairs (…, source, target); the output of the sub-layer `without` is replaced by zeros."""
    check_types("run", Translator, translator=translator)
    model, decoder = translator.model, translator.model.decoder
    batch = sequence_batch(translator.data.encode(text_pairs("run", pairs)))
    parts = [f"decoder.blocks.{n}.{part}" for n in range(len(decoder.blocks)) for part in PARTS]
    edit = {} if without == ALL else {f"{without}.output": torch.zeros_like}
    with capture(model, "decoder.*", edit=edit) as seen, torch.no_grad():
        model(batch.source, batch.decoder_input)
    updates = torch.stack([seen[f"{part}.output"] for part in parts])
    states = torch.cat([seen["decoder.input.hidden"][None], updates]).cumsum(0)
    with torch.no_grad():
        said = model.output(decoder.norm(states)).softmax(-1)
    return Stream(parts, states, updates, said, batch.target)


# --- draw -------------------------------------------------------------------------------------------------------------
def draw(states: Sequence[float], updates: Sequence[float], below: Sequence, title: str, alt: str) -> Svg:
    """The stream as a line from left to right, as wide as it is long; above it the six sub-layers that read and add.

    states, updates  lengths before and after each sub-layer (7), and of what each adds (6)
    below            seven pairs (text, colour) of lines, under the embedding and behind each ⊕
    """
    parts = [words(WIDE / 2, 22, title, size=14, anchor="middle", font_weight="bold")]
    for n, long in enumerate(states):
        start = LEFT + STEP * n - (27 if n else 40)
        end = WIDE - 8 if n == len(updates) else LEFT + STEP * (n + 1) - 27
        parts.append(line(start, STREAM, end, STREAM, RESIDUAL.full, stroke_width=THICK * long))
    for n, (long, part) in enumerate(zip(updates, PARTS * 2, strict=True)):
        left = LEFT + STEP * n + 6
        if not n % len(PARTS):
            parts.append(words(left + 1.5 * STEP - 5, 54, f"block {n // len(PARTS) + 1}", anchor="middle", fill=MUTED))
        parts.append(arrow(left + 22, STREAM - 4, left + 22, 104, MUTED, gap=0))
        if long:
            parts.append(line(left + 82, 104, left + 82, STREAM, RESIDUAL.full, stroke_width=THICK * long))
        parts.append(box(left, 66, 104, 38, NAMES[part], GREY._replace(full=MUTED if long else GREY.full), 12.5))
        parts.append(words(left + 76, 148, f"+ {long:.0f}" if long else "left out", anchor="end", fill=RESIDUAL.shade))
        parts.append(shape("circle", cx=left + 82, cy=STREAM, r=9, fill=PAPER, stroke=RESIDUAL.shade, stroke_width=2))
        parts.append(shape("path", d=f"M{left + 77},{STREAM}h10m-5,-5v10", stroke=RESIDUAL.shade, stroke_width=2))
    for n, lines in enumerate(below):
        for row, (text, ink) in enumerate(lines):
            bold = None if row else "bold"
            x = LEFT + STEP * n - (10 if n else 6)
            parts.append(words(x, STREAM + 32 + 19 * row, text, size=13, anchor="middle", fill=ink, font_weight=bold))
    parts.append(words(WIDE / 2, HIGH - 8, "The thicker a line, the longer its vector.", anchor="middle", fill=MUTED))
    return card(WIDE, HIGH, parts, alt)


def stream_drawing(translator: Translator, pairs: Sequence[tuple]) -> Svg:
    """The stream with the mean lengths that were measured over all words of the pairs."""
    states, updates = run(translator, pairs).lengths()
    below = [[(f"{long:.0f}", INK)] + ([("embedding", MUTED)] if not n else []) for n, long in enumerate(states)]
    alt = (
        "The residual stream of the decoder: a line from left to right that grows wider. Six sub-layers above it, "
        "three in each block, read the line and add to it. Mean length of the stream: "
        + ", ".join(f"{long:.0f}" for long in states)
        + "; of what is added: "
        + ", ".join(f"{long:.0f}" for long in updates)
        + "."
    )
    return draw(states, updates, below, "The stream's mean length, and the length of what is added", alt)


def stream_at(found: Stream, tokens: Sequence[str], position: int, before: Sequence[str]) -> Svg:
    """What the stream of the first sentence says at one position, after each sub-layer."""
    states, updates = (x[:, 0, position].norm(dim=-1).tolist() for x in (found.states, found.updates))
    chances, ids = found.said[:, 0, position].max(-1)
    right, said = tokens[found.target[0, position]], [tokens[i] for i in ids]
    inks = [(GREEN.shade if word == right else INK) for word in said]
    below = [[(word, ink), (f"{c:.0%}", MUTED)] for word, ink, c in zip(said, inks, chances.tolist(), strict=True)]
    alt = describe(said, chances.tolist(), right, before)
    title = f"Read so far: {' '.join(before)}. What does the stream say comes next?"
    return draw(states, updates, below, title, alt)


# --- describe ---------------------------------------------------------------------------------------------------------
def describe(said: Sequence[str], chances: Sequence[float], right: str, before: Sequence[str]) -> str:
    """The likeliest word at the embedding and after each sub-layer."""
    names = ["embedding", *(f"{NAMES[part]} {block}" for block in (1, 2) for part in PARTS)]
    shown = (f"{name} {word!r} {c:.0%}" for name, word, c in zip(names, said, chances, strict=True))
    return f"After {' '.join(before)!r} comes {right!r}. The stream says: {', '.join(shown)}."


# --- bind -------------------------------------------------------------------------------------------------------------
def stream_explorer(translator: Translator, pair: tuple) -> Explore:
    """One number: the position in its German words, and a sub-layer to leave out."""
    check_types("stream_explorer", Translator, translator=translator)
    runs = {ALL: run(translator, [pair])}
    tokens, parts = translator.data.target_tokenizer.tokens, runs[ALL].parts
    ids = [tokens.index("<bos>"), *runs[ALL].target[0].tolist()]
    options = {ALL: ALL} | {f"{NAMES[part.split('.')[-1]]} {int(part.split('.')[2]) + 1}": part for part in parts}

    def picture(position: int, without: str) -> Svg:
        if without not in runs:
            runs[without] = run(translator, [pair], without)
        before = [tokens[i] for i in ids[max(0, position - 3) : position]]
        return stream_at(runs[without], tokens, position - 1, before)

    return Explore(
        picture,
        name="stream",
        position=slider("Position", 1, len(ids) - 1, start=4),
        without=choice("Leave out", options),
    )
