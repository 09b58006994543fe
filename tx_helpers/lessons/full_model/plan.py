"""The plan of the eight classes that the notebook writes: which one stands in which, what is written, what comes next.

    building_plan("Block")

No colours: those of the course have meanings of their own. What is written is filled and ticked, what comes next has a
thick frame, what is still to come has a broken one.
"""

from collections.abc import Iterator

from tx_helpers.nn.arguments import check_one_of
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import GREY, INK, MUTED, card, shape, words

CLASSES = ("Embedding", "Attention", "FeedForward", "Block", "Encoder", "Decoder", "Transformer", "GPT")
SIZE = (800, 330)
HEAD, GAP = 26, 8  # the line with a frame's name, and the space between frames


# --- compute ----------------------------------------------------------------------------------------------------------
def stack(
    name: str, x: float, y: float, parts: tuple[str, ...]
) -> Iterator[tuple[str, str, float, float, float, float]]:
    """The frames of an encoder or a decoder: (class, text, x, y, width, height), the outer ones first."""
    width, row = 232, 30
    block = HEAD + len(parts) * (row + GAP)
    yield name, name, x, y, width, HEAD + row + GAP + block + GAP
    yield "Embedding", "Embedding", x + GAP, y + HEAD, width - 2 * GAP, row
    top = y + HEAD + row + GAP
    yield "Block", "Block, N times", x + GAP, top, width - 2 * GAP, block
    for place, part in enumerate(parts):
        text = {"Attention": "Attention: self", "Cross": "Attention: cross"}.get(part, part)
        named = "Attention" if part == "Cross" else part
        yield named, text, x + 2 * GAP, top + HEAD + place * (row + GAP), width - 4 * GAP, row


def frames() -> list[tuple[str, str, float, float, float, float]]:
    """All frames: the Transformer with its two stacks, and the GPT with the one that it needs."""
    return [
        ("Transformer", "Transformer", 16, 44, 496, 270),
        *stack("Encoder", 28, 76, ("Attention", "FeedForward")),
        *stack("Decoder", 268, 76, ("Attention", "Cross", "FeedForward")),
        ("GPT", "GPT", 528, 44, 256, 270),
        *stack("Encoder", 540, 76, ("Attention", "FeedForward")),
    ]


# --- draw -------------------------------------------------------------------------------------------------------------
def building_plan(following: str) -> Svg:
    """The eight classes as nested frames, before `following` is written."""
    check_one_of("building_plan", CLASSES, following=following)
    written = CLASSES[: CLASSES.index(following)]
    parts = [words(16, 28, "Written: filled. Next: thick frame.", fill=MUTED)]
    for name, text, x, y, width, height in frames():
        done, now = name in written, name == following
        frame = dict(x=x, y=y, width=width, height=height, rx=6, fill=GREY.tint if done else "none")
        stroke = dict(stroke=INK if done or now else MUTED, stroke_width=4 if now else 1.5)
        parts.append(shape("rect", **frame, **stroke, stroke_dasharray=None if done or now else "5 4"))
        label = dict(fill=INK if done or now else MUTED, font_weight="bold" if now else None)
        parts.append(words(x + 10, y + 20, f"{text} ✓" if done else text, size=14, **label))
    parts.append(words(28, 305, "output: the table of the decoder's Embedding", fill=MUTED))
    parts.append(words(540, 305, "output: its Embedding's table", fill=MUTED))
    return card(*SIZE, parts, describe(following))


# --- describe ---------------------------------------------------------------------------------------------------------
def describe(following: str) -> str:
    """What stands in what, which classes are written, and which one is next."""
    written = CLASSES[: CLASSES.index(following)]
    return (
        "The eight classes as nested frames. A Transformer holds an Encoder and a Decoder. Each of these holds an "
        "Embedding and N times a Block; a Block holds one Attention, in the decoder two, and a FeedForward. A GPT "
        "holds an Encoder alone. The output uses an Embedding's table. "
        f"Written so far: {', '.join(written) or 'none'}. Next: {following}."
    )
