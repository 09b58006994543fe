"""The cache of a model that you describe, beside its weights, and the cards that have room for both.

    cache_size_explorer()

    bytes = texts · Σ_layers min(tokens, window) · 2 · G · K · bytes of a number

Latent attention keeps one vector of its latent width in place of 2 · G · K numbers. `cache_bytes.py` has the
formula. It is set beside the cache as in 2017: a head of keys and values for each query head, and no window. A tenth of
a card is left free, for activations and what the program itself needs, as in notebook 20.
"""

from typing import Any, NamedTuple

import ipywidgets as widgets

from tx_helpers.lessons.cheaper_and_longer.cache_bytes import MODELS, CachedModel, cache_bytes
from tx_helpers.nn.arguments import check_numbers, check_one_of, check_types
from tx_helpers.show.controls import STYLE, choice, filled_by, slider, stops
from tx_helpers.show.explore import Explore
from tx_helpers.show.plots import Svg
from tx_helpers.show.rows import Bar, bars, stacked, title
from tx_helpers.show.shapes import BLUE, GREEN, GREY, MUTED, ORANGE, gibi
from tx_helpers.training.costs import parameters
from tx_helpers.zoo.published import PUBLISHED

# Memory in GB as sold, which means GiB for memory chips. Sources: the makers' data sheets (NVIDIA T4 2019, GeForce RTX
# 4090 2022, A100 80GB 2021, H100 SXM 2022; AMD Instinct MI300X 2023).
CARDS = {
    "laptop, 8 GB": 8,
    "laptop or T4, 16 GB": 16,
    "RTX 4090, 24 GB": 24,
    "A100 or H100, 80 GB": 80,
    "MI300X, 192 GB": 192,
    "eight H100, 640 GB": 640,
}
USABLE = 0.9  # of a card's memory
OWN = "one of your own"
TOKENS = (1024, 4096, 8192, 32_768, 131_072, 1_048_576)
TEXTS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
BITS = {"32 bits": 4.0, "16 bits": 2.0, "8 bits": 1.0, "4 bits": 0.5}
LEFT, LENGTH = 196, 360  # pixels: where the bars begin, and the longest of them


# --- compute ----------------------------------------------------------------------------------------------------------
class Sizes(NamedTuple):
    """What describes a model here; H query heads, G heads of keys and values, each K wide."""

    parameters: float  # in 10⁹
    layers: int
    heads: int  # H
    kv_heads: int  # G
    head_width: int  # K
    latent: int = 0  # the width of what latent attention keeps; 0 without it
    window: str = "none"


WINDOWS = {  # name -> the window, and in which share of the layers
    "none": (None, 0.0),
    "4,096, all layers": (4096, 1.0),
    "4,096, every second": (4096, 0.5),
    "1,024, all layers": (1024, 1.0),
    "128, every second": (128, 0.5),
}


def sizes_of(name: str) -> Sizes:
    """Those of a published model; its parameters with three digits."""
    config, model = PUBLISHED[name], MODELS[name]
    heads, window = config.attention, (model.window, model.windowed_layers / model.n_layers)
    return Sizes(
        float(f"{parameters(config) / 1e9:.3g}"),
        *(config.n_layers, heads.n_heads, heads.n_kv_heads or heads.n_heads, config.d_head),
        latent=0 if config.mixer is None else model.width,
        window=next(said for said, kept in WINDOWS.items() if kept == window),
    )


OFFERED = {name: sizes_of(name) for name in MODELS}


class Need(NamedTuple):
    """Bytes: of the weights, of all texts' cache, and of that cache as it was in 2017."""

    weights: float
    cache: int
    early: int
    texts: int

    def room(self, memory: int) -> int:
        """How many such texts fit beside the weights into so many GiB; −1 if the weights alone do not."""
        left = USABLE * memory * 2**30 - self.weights
        return int(left * self.texts // self.cache) if left >= 0 else -1


def cached(sizes: Sizes) -> CachedModel:
    """The model as `cache_bytes` wants it."""
    window, share = WINDOWS[sizes.window]
    width = sizes.latent or 2 * sizes.kv_heads * sizes.head_width
    return CachedModel(sizes.layers, width, 0, window, round(share * sizes.layers))


def need(sizes: Sizes, texts: int, tokens: int, weight_bytes: float = 2.0, cache_number: float = 2.0) -> Need:
    """What `texts` texts of `tokens` tokens need; bytes of a weight, and of a number in the cache."""
    check_types("need", Sizes, sizes=sizes)
    check_numbers("need", least=1, whole=True, texts=texts, tokens=tokens)
    check_numbers("need", above=0, most=8, weight_bytes=weight_bytes, cache_number=cache_number)
    if sizes.kv_heads > sizes.heads:
        raise ValueError(
            f"need: kv_heads={sizes.kv_heads}, expected at most as many as there are query heads, heads={sizes.heads}"
        )
    counted = dict(rows=texts, bytes_each=cache_number)
    early = sizes._replace(kv_heads=sizes.heads, latent=0, window="none")
    return Need(
        sizes.parameters * 1e9 * weight_bytes,
        cache_bytes(cached(sizes), tokens, **counted),
        cache_bytes(cached(early), tokens, **counted),
        texts,
    )


# --- draw -------------------------------------------------------------------------------------------------------------
def draw(name: str, sizes: Sizes, texts: int, tokens: int, weight_bytes: float = 2.0, cache_number: float = 2.0) -> Svg:
    """Above the weights, the cache, and the cache as in 2017; below what part of each card they take."""
    found = need(sizes, texts, tokens, weight_bytes, cache_number)
    lengths = {
        "weights": Bar(found.weights, gibi(found.weights), MUTED),
        "cache": Bar(found.cache, gibi(found.cache), BLUE.full),
        "cache as in 2017": Bar(found.early, gibi(found.early), GREY.full),
    }
    fits = {label: found.room(memory) >= texts for label, memory in CARDS.items()}
    cards = {
        label: Bar(
            (found.weights + found.cache) / (memory * 2**30),
            verdict(found, memory),
            (BLUE if fits[label] else ORANGE).full,
            (GREEN if fits[label] else ORANGE).shade,
            muted=found.weights / (memory * 2**30),
        )
        for label, memory in CARDS.items()
    }
    place = dict(names=LEFT, length=LENGTH, room=180)
    rows = [
        title(f"{name}: {texts:,} × {tokens:,} tokens"),
        bars(lengths, **place),
        title("What fits on your card, with a tenth left free?"),
        bars(cards, **place, full=1),
    ]
    return stacked(rows, width=760, alt=describe(name, sizes, texts, tokens, weight_bytes, cache_number))


def verdict(found: Need, memory: int) -> str:
    """What a card has room for, in a few words."""
    room = found.room(memory)
    if room < 0:
        return "too small for the weights"
    if room >= found.texts:
        return f"fits, room for {room:,}"
    return f"room for {room:,} only" if room else "no room for one text"


# --- describe ---------------------------------------------------------------------------------------------------------
def describe(
    name: str, sizes: Sizes, texts: int, tokens: int, weight_bytes: float = 2.0, cache_number: float = 2.0
) -> str:
    """The cache beside the weights and beside that of 2017, and the smallest card with room for it."""
    found = need(sizes, texts, tokens, weight_bytes, cache_number)
    times, saved = found.cache / found.weights, found.early / found.cache
    smallest = next((label for label, memory in CARDS.items() if found.room(memory) >= texts), None)
    fits = f"The smallest card with room for it: {smallest}." if smallest else "It fits on none of the cards."
    early = f"As in 2017 it would take {gibi(found.early)}, {digits(saved)} times as much."
    return (
        f"{name[0].upper()}{name[1:]}, {texts:,} text{'s' * (texts > 1)} of {tokens:,} tokens: the cache takes "
        f"{gibi(found.cache)}, {digits(times)} times the {gibi(found.weights)} of the weights. "
        f"{early if saved > 1 else 'It is as in 2017.'} {fits}"
    )


def digits(number: float) -> str:
    """Two digits or more: 0.053, 4, 57, 1,200."""
    return f"{number:,.0f}" if number >= 10 else f"{number:.2g}"


# --- bind -------------------------------------------------------------------------------------------------------------
def cache_size_explorer(model: str = "Llama 3 8B") -> Explore:
    """Choose a published model or change its sizes; how many texts, how long, and in how many bits a number."""
    check_one_of("cache_size_explorer", OFFERED, model=model)
    begin = OFFERED[model]
    name = choice("Model", [*OFFERED, OWN], model)
    own = {
        "parameters": widgets.BoundedFloatText(
            begin.parameters, min=0.001, max=5000, description="10⁹ parameters", style=STYLE
        ),
        "layers": slider("Layers", 1, 128, start=begin.layers),
        "heads": slider("Query heads", 1, 128, start=begin.heads),
        "kv_heads": slider("K and V heads", 1, begin.heads, start=begin.kv_heads),
        "head_width": choice("Head width", (64, 80, 96, 128, 192, 256), begin.head_width),
        "latent": choice("Latent width", {"none": 0, "288": 288, "576": 576, "1152": 1152}, begin.latent),
        "window": choice("Window", list(WINDOWS), begin.window),
    }

    def follow_heads(change: dict) -> None:
        own["kv_heads"].max = change["new"]  # there are at most as many as query heads

    own["heads"].observe(follow_heads, "value")
    filled_by(name, {known: sizes._asdict() for known, sizes in OFFERED.items()}, own, OWN)

    def picture(name: str, texts: int, tokens: int, weights: float, cache: float, **sizes: Any) -> Svg:
        return draw(name, Sizes(**sizes), texts, tokens, weights, cache)

    return Explore(
        lambda model, **others: picture(name=model, **others),
        name="cache-size",
        told=True,
        recorded={"model": list(OFFERED), "texts": [1, *TEXTS[1::2]], "weights": [2.0, 0.5], "cache": [2.0, 0.5]}
        | dict.fromkeys(own),
        model=name,
        texts=stops("Texts at once", {f"{n:,}": n for n in TEXTS}, 8),
        tokens=stops("Tokens in each", {f"{n:,}": n for n in TOKENS}, 8192),
        weights=choice("Weights in", BITS, 2.0),
        cache=choice("Cache in", list(BITS.items())[1:], 2.0),
        **own,
    )
