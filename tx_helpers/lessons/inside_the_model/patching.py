"""Patching: one vector of one run in the place of the same vector of another run.

    grid = patch_grid(translator, 421, 431)      # every layer, every position: p("dreißig") where "zwanzig" stood
    patch_explorer(translator)

The clean run reads 421, the other one 431. A forward pass of the clean run gets one vector of the other: the stream
after a block, or what a sub-layer adds, at one position. If the model then says the other word, this vector carried
what decides. Everything else stays: same prefix, same other vectors.

Sources: Vig et al. 2020 (causal mediation analysis); Meng et al. 2022 (causal tracing).
"""

from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Tensor

from tx_helpers.lessons.inside_the_model.tools import Edits
from tx_helpers.nn.arguments import check_types
from tx_helpers.nn.capture import capture
from tx_helpers.show.charts import ink_on
from tx_helpers.show.controls import choice
from tx_helpers.show.explore import Explore
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import BLUE, INK, MUTED, ORANGE, card, setting, shape, words
from tx_helpers.text.data import sequence_batch
from tx_helpers.text.number_words import english, german
from tx_helpers.zoo.recipes import Translator

KINDS = {"self_attention.output": "self-attention", "cross_attention.output": "cross-attention"}
KINDS |= {"feed_forward.output": "feed-forward", "hidden": "stream"}
CELL, LEFT, HIGH, TOP = 42, 172, 26, 122  # pixels


# --- compute ----------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class PatchGrid:
    """What the model says at one position when one vector is replaced.

    clean, other  the two numbers
    read          their words that the clean run reads: encoder positions, and decoder positions up to the one that
                  predicts
    said          (clean word, other word) at that position
    effect        name of the activation -> p(other word) with each position's vector replaced
    likeliest     name of the activation -> the word that is then the likeliest
    """

    clean: int
    other: int
    read: dict[str, list[str]]
    said: tuple[str, str]
    effect: dict[str, list[float]]
    likeliest: dict[str, list[str]]


def place(name: str) -> str:
    """ "decoder.blocks.0.hidden" -> "decoder block 1, stream"."""
    stack, _, rest = name.partition(".")
    if rest == "input.hidden":
        return f"{stack}, embedding"
    _, block, kind = rest.split(".", 2)
    return f"{stack} block {int(block) + 1}, {KINDS[kind]}"


def patch_grid(translator: Translator, clean: int, other: int, edits: Edits | None = None) -> PatchGrid:
    """All cells of the grid, in one forward pass for each row; every position is a row of its batch.

    edits  what else is edited in the patched runs, of other activations

    Raises ValueError unless the two numbers have as many words in both languages, and differ in one German word.
    """
    check_types("patch_grid", Translator, translator=translator)
    numbers = (clean, other)
    read, written = ([text(number).replace("-", " ").split() for number in numbers] for text in (english, german))
    changed = [t for t, (a, b) in enumerate(zip(*written, strict=False)) if a != b]
    if len(read[0]) != len(read[1]) or len(written[0]) != len(written[1]) or len(changed) != 1:
        raise ValueError(
            f"patch_grid: {' '.join(written[0])!r} and {' '.join(written[1])!r}, expected as many words in both, and "
            "one that differs"
        )
    at, model, tokens = changed[0], translator.model, translator.data.target_tokenizer
    batch = sequence_batch(translator.data.encode([(english(n), german(n)) for n in numbers]))
    prefix = batch.decoder_input[:, : at + 1]  # the same for both
    wanted = [tokens.encode(words_[at])[0] for words_ in written]
    with capture(model, "*.hidden", "*.output") as seen, torch.no_grad():
        model(batch.source, prefix)
    effect, likeliest = {}, {}
    for name in (name for name in seen if name.endswith(("hidden", "output"))):
        value, copies = seen[name][1], seen[name].shape[1]

        def diagonal(x: Tensor, value: Tensor = value) -> Tensor:  # row n gets the other run's vector at position n
            rows = torch.arange(len(value))
            x = x.clone()
            x[rows, rows] = value
            return x

        with capture(model, "*.none", edit={**(edits or {}), name: diagonal}), torch.no_grad():
            chances = model(batch.source[:1].expand(copies, -1), prefix[:1].expand(copies, -1))[:, -1].softmax(-1)
        effect[name] = chances[:, wanted[1]].tolist()
        likeliest[name] = [tokens.tokens[one] for one in chances.argmax(-1)]
    decoder_words = ["<bos>", *written[0]][: at + 1]
    return PatchGrid(
        clean,
        other,
        {"encoder": read[0], "decoder": decoder_words},
        (written[0][at], written[1][at]),
        effect,
        likeliest,
    )


# --- draw -------------------------------------------------------------------------------------------------------------
def draw(grid: PatchGrid, cell: str = "") -> Svg:
    """The grid, a row for each activation and a column for each position; below it what the chosen cell changes."""
    parts = [words(20, 24, f"Read: {english(grid.clean)}. One vector comes from: {english(grid.other)}.", size=14)]
    for x0, stack in ((0, "encoder"), (365, "decoder")):
        names = [name for name in grid.effect if name.startswith(stack)]
        parts.append(words(x0 + LEFT, 54, f"{stack} positions", font_weight="bold"))
        for column, word in enumerate(grid.read[stack]):
            x = x0 + LEFT + CELL * (column + 0.5)
            turn = f"rotate(-35 {x - 8:.0f} 108)"
            parts.append(words(x - 8, 108, word, size=12.5, transform=turn, fill=INK))
        for row, name in enumerate(names):
            y = TOP + HIGH * row
            label = place(name).removeprefix(stack).strip(", ")
            parts.append(words(x0 + LEFT - 8, y + 17, label, size=12.5, anchor="end"))
            for column, share in enumerate(grid.effect[name]):
                key = f"{name} {column + 1}"
                parts.append(setting("cell", key, _cell(x0 + LEFT + CELL * column, y, share, key == cell)))
    low = TOP + HIGH * 9 + 26
    parts.append(
        words(20, low, f"In a cell: the probability of '{grid.said[1]}' where '{grid.said[0]}' stood.", fill=MUTED)
    )
    if chosen := _chosen(grid, cell):
        parts.append(words(20, low + 24, chosen, font_weight="bold"))
    return card(760, low + 40, parts, describe(grid, cell))


def _cell(x: float, y: float, share: float, chosen: bool) -> list[str]:
    edge = dict(stroke=ORANGE.full, stroke_width=3) if chosen else dict(stroke=MUTED, stroke_width=0.5)
    frame = dict(x=x, y=y, width=CELL - 3, height=HIGH - 3, rx=3)
    text = f"{share:.2f}" if share >= 0.005 else "0"
    return [
        shape("rect", fill=BLUE.full, fill_opacity=round(share, 2), pointer_events="all", **frame, **edge),
        words(x + CELL / 2 - 1.5, y + 16, text, size=12.5, anchor="middle", fill=ink_on(share, BLUE.full)),
    ]


def _chosen(grid: PatchGrid, cell: str) -> str:
    name, _, column = cell.rpartition(" ")
    if name not in grid.effect or int(column) > len(grid.effect[name]):
        return ""
    at = int(column) - 1
    word = grid.read[name.split(".")[0]][at]
    share, said = grid.effect[name][at], grid.likeliest[name][at]
    return f"{place(name)}, at '{word}': the model says '{said}'; p('{grid.said[1]}') = {share:.2f}"


# --- describe ---------------------------------------------------------------------------------------------------------
def describe(grid: PatchGrid, cell: str = "") -> str:
    """Where the other word gets likely, and what the chosen cell changes."""
    strong = [
        f"{place(name)} at '{grid.read[name.split('.')[0]][row.index(max(row))]}'"
        for name, row in grid.effect.items()
        if max(row) > 0.5
    ]
    said = f"{grid.clean} with one vector of {grid.other}: '{grid.said[1]}' is likelier than not in {len(strong)} rows"
    chosen = _chosen(grid, cell)
    return f"{said}: {'; '.join(strong) or 'none'}." + (f" Chosen: {chosen}." if chosen else "")


# --- bind -------------------------------------------------------------------------------------------------------------
PAIRS = {"421 and 431: the ten": (421, 431), "421 and 427: the unit": (421, 427), "421 and 921": (421, 921)}
PAIRS |= {"412 and 417: one word": (412, 417)}


def patch_explorer(translator: Translator) -> Explore:
    """Two sentences and a cell: click on a cell to patch its vector."""
    check_types("patch_explorer", Translator, translator=translator)
    grids = lru_cache(maxsize=None)(lambda pair: patch_grid(translator, *PAIRS[pair]))
    widest = grids(next(iter(PAIRS)))
    cells = {
        f"{place(name)}, position {column + 1}": f"{name} {column + 1}"
        for name, row in widest.effect.items()
        for column in range(len(row))
    }
    stream = [cell for cell in cells.values() if ".hidden" in cell]
    return Explore(
        lambda sentences, cell: draw(grids(sentences), cell),
        name="patching",
        recorded={"cell": stream},
        sentences=choice("Sentences", list(PAIRS), width=340),
        cell=choice("Cell", cells, "encoder.blocks.0.hidden 3", width=400),
    )
