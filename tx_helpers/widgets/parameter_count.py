"""The explorer that counts parameters: choose the sizes of a decoder-only model, and see where its parameters sit.

    parameter_explorer()

Blocks of attention (4 D² and biases) and feed-forward (2 D F and biases), each with a norm, on top of an embedding V D
that is tied to the output; sinusoidal positions. The test builds the models on the meta device and counts.
"""

from ipywidgets import IntSlider, SelectionSlider

from tx_helpers.show.explore import Explore
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import BLUE, GOLD, GREEN, MUTED, RED, card, shape, words

WIDTHS = (64, 128, 256, 512, 768, 1024, 1280, 1600, 2048, 4096, 8192, 12288)
VOCABULARIES = (35, 256, 1000, 10_000, 30_522, 37_000, 50_257, 100_000, 128_256)
COLOURS = {"embedding": BLUE, "attention": GREEN, "feed-forward": GOLD, "norms": RED}
LEFT, BAR = 24, 752


def parameter_counts(d_model: int, n_layers: int, ratio: int, vocab_size: int) -> dict[str, int]:
    """Part -> parameters of a decoder-only model of width D, with L blocks, F = ratio · D and V words."""
    if min(d_model, n_layers, ratio, vocab_size) < 1:
        raise ValueError(
            f"parameter_counts: d_model={d_model}, n_layers={n_layers}, ratio={ratio}, vocab_size={vocab_size}; "
            "each must be at least 1"
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


def draw(d_model: int, n_layers: int, ratio: int, vocab_size: int) -> Svg:
    """One bar of length 1, cut into the shares of the parts; in words the total, the rule of thumb and the shares."""
    counts = parameter_counts(d_model, n_layers, ratio, vocab_size)
    total, rule = sum(counts.values()), rule_of_thumb(d_model, n_layers, ratio, vocab_size)
    formula = f"{4 + 2 * ratio} D² a block + V D"
    shares = ", ".join(f"{part} {_percent(count / total)}" for part, count in counts.items())
    alt = (
        f"D = {d_model:,}, {n_layers} blocks, F = {ratio} D, V = {vocab_size:,}: {total:,} parameters "
        f"({formula} gives {rule:,}). {shares[0].upper()}{shares[1:]}."
    )
    title, below = f"{_short(total)} parameters", f"{formula}: {_short(rule)}"
    parts = [words(LEFT, 34, title, size=17, font_weight="bold"), words(LEFT, 56, below, fill=MUTED)]
    x = LEFT
    for n, (part, count) in enumerate(counts.items()):
        stroke, fill, ink = COLOURS[part]
        share = count / total
        parts.append(shape("rect", x=x, y=70, width=BAR * share, height=44, fill=fill, stroke=stroke))
        if share > 0.08:
            middle = x + BAR * share / 2
            parts.append(words(middle, 97, f"{share:.0%}", size=14, fill=ink, anchor="middle", font_weight="bold"))
        x += BAR * share
        column = LEFT + 190 * n
        parts.append(shape("rect", x=column, y=131, width=14, height=14, rx=3, fill=fill, stroke=stroke))
        parts.append(words(column + 22, 143, part, font_weight="bold"))
        parts.append(words(column + 22, 162, f"{_short(count)}, {_percent(share)}", size=12, fill=MUTED))
    return card(800, 178, parts, alt)


def parameter_explorer(*, name: str = "parameters") -> Explore:
    """Sliders for width, blocks, hidden width and vocabulary; they begin at the sizes of GPT-2."""
    return Explore(
        draw,
        name,
        d_model=SelectionSlider(options=[(f"{D:,}", D) for D in WIDTHS], value=768, description="Width D"),
        n_layers=IntSlider(12, 1, 96, description="Blocks"),
        ratio=IntSlider(4, 1, 8, description="F / D"),
        vocab_size=SelectionSlider(
            options=[(f"{V:,}", V) for V in VOCABULARIES], value=50_257, description="Vocabulary V"
        ),
    )


def _short(count: int) -> str:
    """1,557,611,200 as "1.56 billion"."""
    for size, name in ((10**9, " billion"), (10**6, " million")):
        if count >= size:
            return f"{count / size:,.2f}{name}"
    return f"{count:,}"


def _percent(share: float) -> str:
    return f"{share:.1%}" if share >= 0.0005 else "under 0.1%"
