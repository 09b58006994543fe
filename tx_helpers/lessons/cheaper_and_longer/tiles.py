"""FlashAttention tile by tile: which blocks are in fast memory, and how many numbers have been moved.

    tiles_explorer()

One head, T = 64 tokens of width K = 16. For each block of keys and values, all blocks of queries come by with their
outputs so far, are corrected, and go back: Dao et al. 2022, algorithm 1. A tile of scores exists only while it is
worked on. Written out, the whole table goes to slow memory and back twice, as scores and as weights.
"""

from typing import NamedTuple

from tx_helpers.nn.arguments import check_numbers
from tx_helpers.show.charts import ink_on
from tx_helpers.show.controls import choice, slider
from tx_helpers.show.explore import Explore
from tx_helpers.show.play import play_button
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import (
    EDGE,
    GREY,
    INK,
    KEY,
    MUTED,
    PINK,
    QUERY,
    VALUE,
    WEIGHT,
    Colour,
    card,
    setting,
    shape,
    words,
)
from tx_helpers.zoo.parts.flash import Blocks, flash_cost, written_out_cost

T, K = 64, 16
SIZES = (16, 32)  # tokens of a block
SIDE, LEFT, TOP = 256, 60, 72


class Place(NamedTuple):
    """Where the walk is: the tile (queries, keys) that is worked on, None before the first, and the numbers moved."""

    tile: tuple[int, int] | None
    moved: int
    fast: int


# --- compute ----------------------------------------------------------------------------------------------------------
def walk(size: int, step: int) -> Place:
    """After `step` tiles, column by column: keys and values move once a column, queries and outputs for every tile."""
    if size not in SIZES:
        raise ValueError(f"tiles_explorer: size={size}, expected one of {SIZES}")
    blocks = T // size
    check_numbers("tiles_explorer", least=0, most=blocks**2, whole=True, step=step)
    columns = -(-step // blocks)
    moved = columns * 2 * size * K + step * size * (3 * K + 4)  # queries and outputs in, outputs out; m and l both ways
    tile = ((step - 1) % blocks, (step - 1) // blocks) if step else None
    return Place(tile, moved, 4 * size * K + size * size + 2 * size)


# --- draw -------------------------------------------------------------------------------------------------------------
def draw_tiles(size: int, step: int) -> Svg:
    """The table of scores in tiles, blocks of queries and keys beside it; right, what is in fast memory."""
    step = min(step, (T // size) ** 2)
    place = walk(size, step)
    parts = [
        words(LEFT + SIDE / 2, 24, f"{T} × {T} scores", anchor="middle", font_weight="bold"),
        words(LEFT + SIDE / 2, 44, "keys →", fill=KEY.shade, anchor="middle"),
        words(LEFT - 34, TOP + SIDE / 2, "↓", fill=QUERY.shade, anchor="middle"),
        words(LEFT - 28, TOP - 8, "queries", fill=QUERY.shade, anchor="middle"),
    ]
    blocks, cell = T // size, SIDE * size / T
    for number in range(blocks):
        lit = place.tile and (number == place.tile[0], number == place.tile[1])
        parts.append(_block(LEFT - 20, TOP + cell * number, 14, cell, QUERY, lit and lit[0]))
        parts.append(_block(LEFT + cell * number, TOP - 20, cell, 14, KEY, lit and lit[1]))
    for column in range(blocks):
        for row in range(blocks):
            number = column * blocks + row + 1
            fill = WEIGHT.full if number == step else GREY.tint if number < step else "none"
            frame = dict(x=LEFT + cell * column, y=TOP + cell * row, width=cell, height=cell, stroke=MUTED)
            ink = ink_on(1.0) if number == step else MUTED
            said = words(frame["x"] + cell / 2, frame["y"] + cell / 2 + 5, str(number), fill=ink, anchor="middle")
            parts.append(setting("step", number, [shape("rect", fill=fill, pointer_events="all", **frame), said]))
    parts += _memory(size, place)
    return card(720, TOP + SIDE + 24, parts, describe_tiles(size, step))


def _block(x: float, y: float, width: float, height: float, colour: Colour, lit: object) -> str:
    fill = colour.full if lit else colour.tint
    return shape("rect", x=x, y=y + 1 if height > width else y, width=width, height=height, fill=fill, stroke=EDGE)


def _memory(size: int, place: Place) -> list[str]:
    """What fast memory holds, and two bars: numbers moved so far, and those of the table written out."""
    left = LEFT + SIDE + 50
    parts = [words(left, 24, "In fast memory now", font_weight="bold")]
    held = (
        (KEY, f"{size} keys"),
        (VALUE, f"{size} values"),
        (QUERY, f"{size} queries"),
        (PINK, f"{size} outputs so far, with m and l"),
        (WEIGHT, f"a tile of {size} × {size} scores"),
    )
    for number, (colour, said) in enumerate(held):
        y = 48 + 26 * number
        fill = colour.full if place.tile else "none"
        parts.append(shape("rect", x=left, y=y - 12, width=16, height=16, rx=3, fill=fill, stroke=MUTED))
        parts.append(words(left + 26, y, said if place.tile else "—"))
    written = written_out_cost(T, T, K).moved
    whole = flash_cost(T, T, K, Blocks(size, size)).moved
    parts.append(words(left, 206, "Numbers moved to and from slow memory", font_weight="bold"))
    for y, said, count, of in (
        (226, f"tile by tile {place.moved:,} of {whole:,}", place.moved, whole),
        (276, f"written out {written:,}", written, written),
    ):
        length = 300 / written
        parts += [
            shape("rect", x=left, y=y, width=length * of, height=18, fill="none", stroke=MUTED),
            shape("rect", x=left, y=y, width=length * count, height=18, fill=INK, fill_opacity=0.7),
            words(left, y + 34, said, fill=MUTED),
        ]
    return parts


# --- describe ---------------------------------------------------------------------------------------------------------
def describe_tiles(size: int, step: int) -> str:
    """Which tile is worked on, what fast memory must hold, and the numbers moved against those of the table."""
    step = min(step, (T // size) ** 2)
    place, written = walk(size, step), written_out_cost(T, T, K).moved
    at = f"queries {place.tile[0] + 1}, keys {place.tile[1] + 1}" if place.tile else "nothing loaded"
    return (
        f"Tile {step} of {(T // size) ** 2} ({at}), blocks of {size}: {place.moved:,} numbers moved, in the end "
        f"{flash_cost(T, T, K, Blocks(size, size)).moved:,}; written out {written:,}. Fast memory holds {place.fast:,} "
        f"numbers, the whole table has {T * T:,}."
    )


# --- bind -------------------------------------------------------------------------------------------------------------
def tiles_explorer() -> Explore:
    """The size of a block, and the tile that is worked on; a click on a tile goes there, Play walks."""
    size = choice("Block", SIZES, 16)
    step = slider("Tile", 0, (T // size.value) ** 2)

    def fit(change: dict) -> None:
        step.max = (T // change["new"]) ** 2

    size.observe(fit, "value")
    recorded = {"size": SIZES, "step": range((T // SIZES[0]) ** 2 + 1)}
    return Explore(
        draw_tiles, name="flash-tiles", told=True, recorded=recorded, size=size, step=step, play=play_button(step)
    )
