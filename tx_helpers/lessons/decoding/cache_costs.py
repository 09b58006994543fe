"""Explorer: what a key–value cache saves for one more token, and when it no longer fits, for any decoder-only model.

    cache_explorer({"GPT-2": gpt2(), "Llama 3 8B": llama("8b")})

Counted are the multiplications of the matrices for one row of S positions, including the new one:

    with the cache   N · (M + 2·H·K·S) + D·V          without   N · (S·M + 2·H·K·S²) + D·V

N is the number of layers, M that of the weights in a block's matrices. The S² counts the masked half of the scores as
well, as written-out attention computes it. The memory of the matrices is that of all of them: the blocks', the
embedding, a table of positions where there is one, and the output layer where it is not the embedding. Norms, biases,
activations and the softmax are left out.
"""

from collections.abc import Mapping
from typing import NamedTuple

from tx_helpers.nn.arguments import check_numbers, check_types
from tx_helpers.nn.config import TransformerConfig
from tx_helpers.show.controls import choice, slider
from tx_helpers.show.explore import Explore
from tx_helpers.show.plots import Svg
from tx_helpers.show.rows import Bar, Text, bars, stacked
from tx_helpers.show.shapes import BLUE, GREY, MUTED, ORANGE
from tx_helpers.training.costs import block_matrices, cache_width

BYTES = 2  # of a number, in float16 or bfloat16
MACHINES = (8, 24, 80, 640)  # memory in GiB: a small and a large desktop card, one of a data centre, and eight of those
KEPT = BLUE.full  # the colour of what the cache holds and saves
PLACE = dict(names=148, length=360, room=190)  # pixels of the bars


# --- compute ----------------------------------------------------------------------------------------------------------
class Costs(NamedTuple):
    """Multiplications for one row's next token, and bytes: of the cache of all rows, and of all matrices."""

    with_cache: int
    without: int
    cache: int
    matrices: int


def costs(config: TransformerConfig, tokens: int, rows: int = 1) -> Costs:
    """The costs of the token that comes after `tokens` others, for `rows` texts at once."""
    check_numbers("costs", least=0, whole=True, tokens=tokens)
    check_numbers("costs", least=1, whole=True, rows=rows)
    others = {"layers": config.layers, "mixer": config.mixer, "feed_forward.experts": config.feed_forward.experts}
    for path, value in others.items():
        if value:
            raise ValueError(f"costs: {path}={value}, which it does not count; expected none")
    D, N, S = config.d_model, config.n_layers, tokens + 1
    queries = config.attention.n_heads * config.d_head  # H·K
    M = sum(inputs * outputs for inputs, outputs in block_matrices(config))
    output = D * config.vocab_size
    tables = output if config.embedding.tied else 2 * output
    if config.positions.kind == "learned":
        tables += D * config.context_length
    return Costs(
        with_cache=N * (M + 2 * queries * S) + output,
        without=N * (S * M + 2 * queries * S**2) + output,
        cache=N * cache_width(config) * S * rows * BYTES,
        matrices=(N * M + tables) * BYTES,
    )


# --- draw -------------------------------------------------------------------------------------------------------------
def draw(name: str, config: TransformerConfig, tokens: int, rows: int, machine: int) -> Svg:
    """Bars: multiplications without the cache and with it; the memory of matrices and cache, and that of a machine."""
    found = costs(config, tokens, rows)
    total, there = found.matrices + found.cache, machine * 2**30
    work = {
        "without": Bar(found.without, giga(found.without), MUTED),
        "with the cache": Bar(found.with_cache, giga(found.with_cache), KEPT),
    }
    both = f"{gibi(found.matrices)} + {gibi(found.cache)}"
    memory = {
        "matrices + cache": Bar(total, both, KEPT if total <= there else ORANGE.full, muted=found.matrices),
        "the machine": Bar(there, gibi(there), GREY.full),
    }
    shown = [
        Text("Multiplications for one more token", bold=True),
        bars(work, **PLACE),
        Text("Memory", bold=True),
        bars(memory, **PLACE),
    ]
    return stacked(shown, width=736, alt=describe(name, found, tokens, rows, machine))


# --- describe ---------------------------------------------------------------------------------------------------------
def describe(name: str, found: Costs, tokens: int, rows: int, machine: int) -> str:
    """The multiplications with and without the cache, the memory that it takes, and whether that is there."""
    times, most = found.without / found.with_cache, fitting_rows(found, rows, machine)
    room = f"room for {most:,} {'row' if most == 1 else 'rows'}" if most >= 0 else "no room for the matrices"
    return (
        f"{name}, after {tokens:,} tokens: one more takes {giga(found.with_cache)} multiplications with the cache, "
        f"{giga(found.without)} without: {times:,.{0 if times >= 10 else 1}f} times as many; "
        f"{rows} {'row keeps' if rows == 1 else 'rows keep'} {gibi(found.cache)}, {found.cache / found.matrices:.2f} "
        f"times the memory of the matrices; {machine} GiB "
        f"are {'enough' if most >= rows else 'too little'}: {room}."
    )


def fitting_rows(found: Costs, rows: int, machine: int) -> int:
    """How many such rows fit beside the matrices into a machine of so many GiB; −1 if the matrices do not."""
    left = machine * 2**30 - found.matrices
    return left // (found.cache // rows) if left >= 0 else -1


def giga(count: float) -> str:
    """A count of multiplications in units of 10⁹, with three digits or so."""
    value = count / 1e9
    return f"{value:,.{0 if value >= 100 else 1 if value >= 10 else 2}f} G"


def gibi(count: float) -> str:
    """Bytes as MiB or GiB."""
    return f"{count / 2**30:,.2f} GiB" if count >= 2**30 else f"{count / 2**20:,.1f} MiB"


# --- bind -------------------------------------------------------------------------------------------------------------
def cache_explorer(configs: Mapping[str, TransformerConfig]) -> Explore:
    """Choose a model, how many tokens it has before it, and how many rows are written at once."""
    check_types("cache_explorer", Mapping, configs=configs)
    check_types(
        "cache_explorer", TransformerConfig, **{f"configs[{name!r}]": config for name, config in configs.items()}
    )
    machines = [(f"{size} GiB", size) for size in MACHINES]
    tokens = slider("Tokens so far", 0, 128, start=128)

    def picture(model: str, tokens_so_far: int, rows: int, machine: int) -> Svg:
        tokens.max = configs[model].context_length - 1  # there must be room for one more
        return draw(model, configs[model], min(tokens_so_far, tokens.max), rows, machine)

    return Explore(
        picture,
        name="cache",
        told=True,
        model=choice("Model", list(configs)),
        tokens_so_far=tokens,
        rows=slider("Rows", 1, 256),
        machine=choice("Machine", machines, 80),
    )
