"""The explorer that counts parameters: choose the sizes of a decoder-only model, and see where its parameters sit.

    parameter_explorer()

Blocks of attention (4 D² and biases) and feed-forward (2 D F and biases), each with a norm, on top of an embedding V D
that is tied to the output; sinusoidal positions. The test builds the models on the meta device and counts.
"""

import ipywidgets as widgets

from tx_helpers.show.explore import Explore
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import BLUE, GOLD, GREEN, MUTED, ORANGE, card, percent, shape, words

WIDTHS = (64, 128, 256, 512, 768, 1024, 1280, 1600, 2048, 4096, 8192, 12288)
VOCABULARIES = (35, 256, 1000, 10_000, 30_522, 37_000, 50_257, 100_000, 128_256)
COLOURS = {"embedding": BLUE, "attention": GREEN, "feed-forward": GOLD, "norms": ORANGE}
LEFT, BAR = 24, 752


# --- compute ----------------------------------------------------------------------------------------------------------
def parameter_counts(d_model: int, n_layers: int, ratio: int, vocab_size: int) -> dict[str, int]:
    """Part -> parameters of a decoder-only model of width D, with L blocks, F = ratio · D and V words."""
    if min(d_model, n_layers, ratio, vocab_size) < 1:
        raise ValueError(
            f"parameter_counts: d_model={d_model}, n_layers={n_layers}, ratio={ratio}, vocab_size={vocab_size}; "
            "expected at least 1 of each"
        )
    D, L, F, V = d_model, n_layers, ratio * d_model, vocab_size
    return {
        "embedding": V * D,
        "attention": L * (4 * D * D + 4 * D),
        "feed-forward": L * (2 * D * F + F + D),
        "norms": (2 * L + 1) * 2 * D,
    }


def rule_of_thumb(d_model: int, n_layers: int, ratio: int, vocab_size: int) -> int:
    """12 D² a block, if F = 4 D, and V D: biases and norms left out."""
    return n_layers * (4 + 2 * ratio) * d_model**2 + vocab_size * d_model


# --- draw -------------------------------------------------------------------------------------------------------------
def draw(d_model: int, n_layers: int, ratio: int, vocab_size: int) -> Svg:
    """One bar of length 1, cut into the shares of the parts."""
    counts = parameter_counts(d_model, n_layers, ratio, vocab_size)
    total, rule = sum(counts.values()), rule_of_thumb(d_model, n_layers, ratio, vocab_size)
    parts = [
        words(LEFT, 34, f"{short(total)} parameters", size=17, font_weight="bold"),
        words(LEFT, 56, f"{4 + 2 * ratio} D² a block + V D: {short(rule)}", fill=MUTED),
    ]
    x = LEFT
    for n, (part, count) in enumerate(counts.items()):
        colour, share = COLOURS[part], count / total
        style = dict(fill=colour.tint, stroke=colour.full)
        parts.append(shape("rect", x=x, y=70, width=BAR * share, height=44, **style))
        if share > 0.08:
            number = dict(size=14, fill=colour.shade, anchor="middle", font_weight="bold")
            parts.append(words(x + BAR * share / 2, 97, f"{share:.0%}", **number))
        x += BAR * share
        column = LEFT + 190 * n
        parts.append(shape("rect", x=column, y=131, width=14, height=14, rx=3, **style))
        parts.append(words(column + 22, 143, part, font_weight="bold"))
        parts.append(words(column + 22, 162, f"{short(count)}, {percent(share)}", size=12, fill=MUTED))
    return card(800, 178, parts, describe(d_model, n_layers, ratio, vocab_size))


def short(count: int) -> str:
    """1,557,611,200 as "1.56 billion"."""
    for size, name in ((10**9, " billion"), (10**6, " million")):
        if count >= size:
            return f"{count / size:,.2f}{name}"
    return f"{count:,}"


# --- describe ---------------------------------------------------------------------------------------------------------
def describe(d_model: int, n_layers: int, ratio: int, vocab_size: int) -> str:
    """The total, the rule of thumb, and the share of each part."""
    counts = parameter_counts(d_model, n_layers, ratio, vocab_size)
    total, rule = sum(counts.values()), rule_of_thumb(d_model, n_layers, ratio, vocab_size)
    shares = ", ".join(f"{part} {percent(count / total)}" for part, count in counts.items())
    return (
        f"D = {d_model:,}, {n_layers} block{'s' * (n_layers > 1)}, F = {ratio} D, V = {vocab_size:,}: "
        f"{total:,} parameters ({4 + 2 * ratio} D² a block + V D gives {rule:,}). {shares[0].upper()}{shares[1:]}."
    )


# --- bind -------------------------------------------------------------------------------------------------------------
def parameter_explorer() -> Explore:
    """Sliders for width, blocks, hidden width and vocabulary; they begin at the sizes of GPT-2."""
    sizes = [(f"{V:,}", V) for V in VOCABULARIES]
    return Explore(
        draw,
        name="parameters",
        told=True,
        d_model=widgets.SelectionSlider(options=[(f"{D:,}", D) for D in WIDTHS], value=768, description="Width D"),
        n_layers=widgets.IntSlider(12, 1, 96, description="Blocks"),
        ratio=widgets.IntSlider(4, 1, 8, description="F / D"),
        vocab_size=widgets.SelectionSlider(options=sizes, value=50_257, description="Vocabulary V"),
    )
