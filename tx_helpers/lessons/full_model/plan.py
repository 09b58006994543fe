"""The whole model, small, with the part lit that the notebook writes next: shown above each of the eight classes.

    building_plan("Block")

The places are those of the drawing that opens the notebook: the encoder at the left, the decoder at the right, both
from the top down. What is lit has its colours from there. What is written is filled with grey and ticked, what is
still to come has a broken frame. A GPT is the right stack alone: the left one and the cross-attention are crossed out.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from tx_helpers.nn.arguments import check_one_of
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import (
    BLUE,
    GREEN,
    GREY,
    INK,
    MEMORY,
    MUTED,
    ORANGE,
    PAPER,
    RESIDUAL,
    WHITE,
    Colour,
    card,
    line,
    shape,
    words,
)


class Lit(NamedTuple):
    """What is said of a class beside the drawing: where it stands, what goes in, what comes out, what it does."""

    where: str
    goes_in: tuple[str, ...]
    comes_out: str
    does: str


class Frame(NamedTuple):
    """A part of the drawing: the class that it belongs to ("" for none), its words and place."""

    kind: str
    side: str
    text: str
    x: float
    y: float
    width: float
    height: float


LIT = {
    "Embedding": Lit("at the head of both stacks", ("ids (B, T)",), "x (B, T, D)", "It makes the stream."),
    "Attention": Lit(
        "once in each encoder block and twice in each decoder block",
        ("x (B, T, D)", "memory (B, S, D)", "mask"),
        "(B, T, D)",
        "One class serves all three.",
    ),
    "FeedForward": Lit("last in every block", ("x (B, T, D)",), "(B, T, D)", "Each position works alone."),
    "Block": Lit(
        "N times in each stack",
        ("x (B, T, D), mask", "memory (B, S, D), its mask"),
        "x (B, T, D)",
        "Every sub-layer adds to the stream.",
    ),
    "Encoder": Lit("the left stack", ("ids (B, S)", "mask"), "memory (B, S, D)", "It reads the whole source at once."),
    "Decoder": Lit(
        "the right stack",
        ("ids (B, T)", "memory (B, S, D), its mask"),
        "(B, T, D)",
        "It also looks at the memory.",
    ),
    "Transformer": Lit(
        "both stacks with the output",
        ("source ids (B, S)", "target ids (B, T)"),
        "logits (B, T, V)",
        "The output is the table once more.",
    ),
    "GPT": Lit(
        "the decoder's stack without its cross-attention, and nothing at its left",
        ("ids (B, T)",),
        "logits (B, T, V)",
        "Decoder-only: without cross-attention.",
    ),
}
CLASSES = tuple(LIT)
INSIDE = {  # what is lit together with a class
    "Block": {"Attention", "FeedForward"},
    "Encoder": {"Embedding", "Attention", "FeedForward", "Block", "Encoder", "norm"},
    "Decoder": {"Embedding", "Attention", "FeedForward", "Block", "Decoder", "norm"},
    "Transformer": {*CLASSES, "norm", "memory", "output"},
    "GPT": {*CLASSES, "norm", "output"},
}
SIZE, PANEL = (800, 304), 512
STEP, ROW, WIDE = 30, 24, 164  # of the sub-layers: from one to the next, height, width


# --- compute ----------------------------------------------------------------------------------------------------------
def frames(gpt: bool = False) -> Iterator[Frame]:
    """All parts, the outer ones first; gpt: without the memory."""
    for side, left, rows in (
        ("Encoder", 14.0, ("self-attention", "feed-forward")),
        ("Decoder", 262.0, ("causal self-attention", "cross-attention", "feed-forward")),
    ):
        encodes = side == "Encoder"
        x, wide = (left + 48, left + 8) if encodes else (left + 12, left + 12)  # of sub-layers, of parts on the stream
        end = 112 + STEP * len(rows)
        yield Frame(side, side, side, left, 36, 224, end - 6)
        yield Frame("Embedding", side, "Embedding", wide, 58, 204, 22)
        yield Frame("Block", side, "Block, N times", x - 6, 86, WIDE + 12, end - 88)
        for row, text in enumerate(rows):
            kind = "FeedForward" if text == "feed-forward" else "Attention"
            yield Frame(kind, side, text, x, 109 + STEP * row, WIDE, ROW)
        yield Frame("norm", side, "norm", wide if encodes else left + 156, end + 4, 60, 20)
        if not encodes:
            yield Frame("output", side, "output: the table", wide, end + 46, 204, 24)
        elif not gpt:
            yield Frame("memory", side, "memory (B, S, D)", wide, end + 46, 204, 24)


def is_lit(frame: Frame, following: str) -> bool:
    """Whether a part belongs to the class that is written next."""
    side = {"Encoder": "Encoder", "Decoder": "Decoder", "GPT": "Decoder"}.get(following, frame.side)
    if frame.side != side or (following == "GPT" and frame.text == "cross-attention"):
        return False
    return frame.kind in {following, *INSIDE.get(following, ())}


def is_written(frame: Frame, written: tuple[str, ...]) -> bool:
    """Whether a part stands already; norm and memory come with their stack."""
    return frame.kind in written or (frame.kind in ("norm", "memory") and frame.side in written)


# --- draw -------------------------------------------------------------------------------------------------------------
def building_plan(following: str) -> Svg:
    """The whole, before the class `following` is written."""
    check_one_of("building_plan", CLASSES, following=following)
    gpt, written = following == "GPT", CLASSES[: CLASSES.index(following)]
    parts, inner = [], []
    for frame in frames(gpt):
        lit, done = is_lit(frame, following), is_written(frame, written)
        outer = frame.kind in ("Encoder", "Decoder", "Block")
        (parts if outer else inner).extend(_framed(frame, lit, done, outer))
    out = [(14, 202, 238, 40), (274, 163, 438, 139)] if gpt else []  # the left stack, the cross-attention
    crossed = [line(*ends, INK, stroke_width=2) for ends in out]
    return card(*SIZE, [*parts, *_streams(gpt), *inner, *crossed, *_said(following)], describe(following))


def _framed(frame: Frame, lit: bool, done: bool, outer: bool) -> Iterator[str]:
    colour = _colour(frame)
    fill = (WHITE if outer else colour.tint) if lit else "none" if outer else GREY.tint if done else PAPER
    stroke = dict(stroke=colour.shade if lit else MUTED, stroke_width=2.5 if lit else 1)
    dash = None if lit or done else "5 4"
    place = dict(x=frame.x, y=frame.y, width=frame.width, height=frame.height, rx=9 if outer else 5)
    yield shape("rect", **place, fill=fill, **stroke, stroke_dasharray=dash)
    label = dict(anchor="middle", fill=colour.shade if lit else MUTED, font_weight="bold" if lit else None)
    y = frame.y + (16 if outer else frame.height / 2 + 4.5)
    yield words(frame.x + frame.width / 2, y, f"{frame.text} ✓" if done else frame.text, **label)


def _colour(frame: Frame) -> Colour:
    """As in the drawing of the whole: attention and the memory green, the rest in the colour of its stack."""
    if frame.kind in ("Attention", "memory"):
        return MEMORY
    return BLUE if frame.side == "Encoder" else ORANGE


def _streams(gpt: bool) -> list[str]:
    """The two residual streams with their branches, what runs into them, and the memory's way to the decoder."""
    parts = []
    second = "ids (B, T)" if gpt else "target ids (B, T)"
    for rail, box, rows, ids in ((34, 62, 2, "source ids (B, S)"), (466, 438, 3, second)):
        end = 162 + STEP * rows
        parts.append(line(rail, 32, rail, end, RESIDUAL.full, stroke_width=2.5))
        anchor, away = ("start", 10) if rail < box else ("end", -10)
        parts.append(words(rail + away, 28, ids, fill=MUTED, anchor=anchor))
        for y in range(109, 109 + STEP * rows, STEP):
            parts += [line(rail, y + level, box, y + level, RESIDUAL.full, stroke_width=1.5) for level in (6, 17)]
            parts.append(shape("circle", cx=rail, cy=y + 17, r=5, fill=WHITE, stroke=RESIDUAL.full, stroke_width=1.5))
            parts.append(line(rail - 3, y + 17, rail + 3, y + 17, RESIDUAL.full))
            parts.append(line(rail, y + 14, rail, y + 20, RESIDUAL.full))
    parts.append(words(456, 292, "logits (B, T, V)", fill=MUTED, anchor="end"))
    if gpt:
        return parts
    way = [(226, 230), (250, 230), (250, 151), (274, 151)]
    for (x, y), (right, low) in pairwise(way):
        parts.append(line(x, y, right, low, GREEN.full, stroke_width=2))
    return [*parts, shape("polygon", points="274,151 266,147 266,155", fill=GREEN.full)]


def _said(following: str) -> Iterator[str]:
    """The panel at the right: the class, what goes in, what comes out, what it does."""
    lit = LIT[following]
    yield words(PANEL, 64, f"Next: {following}", size=19, font_weight="bold")
    yield words(PANEL, 88, lit.does, size=14)
    yield words(PANEL, 124, "goes in", fill=MUTED)
    for row, text in enumerate(lit.goes_in):
        yield words(PANEL + 84, 124 + 20 * row, text, size=14)
    y = 132 + 20 * len(lit.goes_in)
    yield words(PANEL, y, "comes out", fill=MUTED)
    yield words(PANEL + 84, y, lit.comes_out, size=14)
    yield words(PANEL, 292, "in colour: next · ✓ written · broken: to come", fill=MUTED)


# --- describe ---------------------------------------------------------------------------------------------------------
def describe(following: str) -> str:
    """Which class is lit, where it stands, its input and output, and which ones are written."""
    lit, written = LIT[following], CLASSES[: CLASSES.index(following)]
    return (
        f"The whole Transformer, small, encoder left and decoder right. Lit: {following}, {lit.where}. Goes in: "
        f"{', '.join(lit.goes_in)}. Comes out: {lit.comes_out}. Written so far: {', '.join(written) or 'none'}."
    )
