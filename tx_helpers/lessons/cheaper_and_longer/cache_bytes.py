"""How many bytes a cache takes, by formula, for published models; and why decoding waits for memory.

    bytes = B · Σ_layers min(S, window) · 2 · G · K · bytes of a number    (latent attention: its width, not 2 · G · K)

Arithmetic intensity is the number of operations for each byte that is read. Prefill computes all positions of a prompt
with the weights that it has read once; decoding reads all of them, and the whole cache, for one position of each row.
A machine that can do more operations a byte than that spends its time waiting. Source: Pope et al. 2023, section 2;
Williams et al. 2009 for the roofline.
"""

from typing import NamedTuple

from tx_helpers.nn.arguments import check_numbers, check_one_of, check_types
from tx_helpers.nn.config import TransformerConfig
from tx_helpers.training.costs import cache_width
from tx_helpers.zoo.published import PUBLISHED


class CachedModel(NamedTuple):
    """What decides the size of a model's cache."""

    n_layers: int
    width: int  # numbers that a layer keeps of a position: 2 · G · K, or the latent width
    longest: int = 0  # tokens that it is made for
    window: int | None = None  # positions that a layer with a window keeps
    windowed_layers: int = 0  # how many of the layers have it


def cached_model(config: TransformerConfig) -> CachedModel:
    """Of a config whose windows, where a layer has one, are all of the same length."""
    windows = [window for i in range(config.n_layers) if (window := config.of_layer(i).attention.window)]
    return CachedModel(
        config.n_layers, cache_width(config), config.context_length, windows[0] if windows else None, len(windows)
    )


NAMES = ("GPT-2", "Llama 2 7B", "Llama 2 70B", "Llama 3 8B", "Falcon 7B", "Mistral 7B", "Qwen2.5 7B", "Gemma 2 9B")
MODELS = {name: cached_model(PUBLISHED[name]) for name in (*NAMES, "gpt-oss 20B", "DeepSeek-V3")}


def cache_bytes(model: CachedModel, tokens: int, *, rows: int = 1, bytes_each: float = 2) -> int:
    """Bytes of the cache for rows of this many tokens; a number has 2 bytes in bfloat16, 1 in int8, ½ in int4."""
    check_types("cache_bytes", CachedModel, model=model)
    check_numbers("cache_bytes", least=0, whole=True, tokens=tokens, rows=rows)
    check_numbers("cache_bytes", above=0, most=8, bytes_each=bytes_each)
    kept = tokens if model.window is None else min(tokens, model.window)
    positions = model.windowed_layers * kept + (model.n_layers - model.windowed_layers) * tokens
    return int(rows * positions * model.width * bytes_each)


class Intensity(NamedTuple):
    """Operations, bytes read, and operations for each byte."""

    operations: int
    bytes_read: int

    @property
    def per_byte(self) -> float:
        """The arithmetic intensity."""
        return self.operations / self.bytes_read


def intensity(
    phase: str, weights: int, model: CachedModel, tokens: int, *, rows: int = 1, bytes_each: float = 2
) -> Intensity:
    """Of the matrices, for `rows` rows of `tokens` tokens: 2 operations for each weight and position.

    phase    "prefill": all tokens at once; "decode": one more token of each row, whose cache holds `tokens`
    weights  the numbers in all matrices that a token passes
    Left out: the scores, whose share grows with the length, what is written, and experts, of which few are read.
    """
    check_one_of("intensity", ("prefill", "decode"), phase=phase)
    check_numbers("intensity", least=1, whole=True, weights=weights, tokens=tokens, rows=rows)
    cache = cache_bytes(model, tokens, rows=rows, bytes_each=bytes_each)
    weight_bytes = int(weights * bytes_each)
    if phase == "prefill":
        return Intensity(2 * weights * tokens * rows, weight_bytes)
    return Intensity(2 * weights * rows, weight_bytes + cache)


def roofline_seconds(cost: Intensity, *, operations_per_second: float, bytes_per_second: float) -> float:
    """The roofline: the longer of computing and reading, if both run at the machine's full speed all the time."""
    check_types("roofline_seconds", Intensity, cost=cost)
    speeds = dict(operations_per_second=operations_per_second, bytes_per_second=bytes_per_second)
    check_numbers("roofline_seconds", speeds, above=0)
    return max(cost.operations / operations_per_second, cost.bytes_read / bytes_per_second)
