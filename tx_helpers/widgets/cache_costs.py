"""Explorer: what a key–value cache saves for one more token, and what it keeps, for any decoder-only configuration.

    cache_explorer({"GPT-2": gpt2(), "Llama 3 8B": llama("8b")})

Counted are the multiplications of the matrices for one row of S positions, including the new one:

    with the cache   L · (M + 2·H·K·S) + D·V          without   L · (S·M + 2·H·K·S²) + D·V

M is the number of weights in a block's matrices. The S² counts the masked half of the scores as well, as written-out
attention computes it. Norms, activations and the softmax are left out.
"""

from collections.abc import Mapping
from typing import NamedTuple

import ipywidgets as widgets

from tx_helpers.arguments import check_numbers, check_types
from tx_helpers.config import TransformerConfig
from tx_helpers.show.charts import Panel, side_by_side
from tx_helpers.show.explore import STYLE, Explore
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import BLUE, MUTED, named_bar, words

BYTES = 2  # of a number, in float16 or bfloat16


# --- compute ----------------------------------------------------------------------------------------------------------
class Costs(NamedTuple):
    """Multiplications for one row's next token, and bytes: of the cache of all rows, and of the blocks' matrices."""

    with_cache: int
    without: int
    cache: int
    matrices: int


def costs(config: TransformerConfig, tokens: int, rows: int = 1) -> Costs:
    """The costs of the token that comes after `tokens` others, for `rows` texts at once."""
    check_numbers("costs", least=0, whole=True, tokens=tokens)
    check_numbers("costs", least=1, whole=True, rows=rows)
    D, L, S = config.d_model, config.n_layers, tokens + 1
    queries = config.attention.n_heads * config.d_head  # H·K
    keys = (config.attention.n_kv_heads or config.attention.n_heads) * config.d_head  # G·K
    M = 2 * D * queries + 2 * D * keys + (3 if config.feed_forward.gated else 2) * D * config.d_ff
    output = D * config.vocab_size
    return Costs(
        with_cache=L * (M + 2 * queries * S) + output,
        without=L * (S * M + 2 * queries * S**2) + output,
        cache=2 * L * keys * S * rows * BYTES,
        matrices=L * M * BYTES,
    )


# --- draw -------------------------------------------------------------------------------------------------------------
def draw(name: str, config: TransformerConfig, tokens: int, rows: int) -> Svg:
    """Two pairs of bars: multiplications without the cache and with it, memory of the matrices and of the cache."""
    found = costs(config, tokens, rows)
    products = {"without": found.without, "with the cache": found.with_cache}
    memory = {"the blocks' matrices": found.matrices, "the cache": found.cache}
    pairs = ((24, "Multiplications for one more token", giga, products), (116, "Memory", gibi, memory))
    parts = []
    for top, title, unit, values in pairs:
        parts.append(words(16, top, title, font_weight="bold"))
        for row, (label, value) in enumerate(values.items()):
            length = 380 * value / max(values.values())
            colour = BLUE.full if row else MUTED
            parts += named_bar(164, top + 12 + 26 * row, label, length, unit(value), colour)
    return side_by_side([Panel((720, 188), "".join(parts))], alt=describe(name, found, tokens, rows))


# --- describe ---------------------------------------------------------------------------------------------------------
def describe(name: str, found: Costs, tokens: int, rows: int) -> str:
    """The multiplications with and without the cache, and the memory that it takes."""
    times = found.without / found.with_cache
    return (
        f"{name}, after {tokens:,} tokens: one more takes {giga(found.with_cache)} multiplications with the cache, "
        f"{giga(found.without)} without: {times:,.{0 if times >= 10 else 1}f} times as many; "
        f"{rows} {'row keeps' if rows == 1 else 'rows keep'} {gibi(found.cache)}, {found.cache / found.matrices:.2f} "
        f"times the memory of the blocks' matrices."
    )


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
    tokens = widgets.IntSlider(128, min=0, max=128, description="Tokens so far", style=STYLE)

    def picture(model: str, tokens_so_far: int, rows: int) -> Svg:
        tokens.max = configs[model].context_length - 1  # there must be room for one more
        return draw(model, configs[model], min(tokens_so_far, tokens.max), rows)

    return Explore(
        picture,
        name="cache",
        model=widgets.Dropdown(options=list(configs), description="Model", style=STYLE),
        tokens_so_far=tokens,
        rows=widgets.IntSlider(1, min=1, max=256, description="Rows", style=STYLE),
    )
