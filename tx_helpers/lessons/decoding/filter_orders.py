"""The same rules in another order, applied to one distribution: what may still be drawn, and how likely.

orders_drawing(z, tokens, {"top-k 3, then top-p 0.7": [{"top_k": 3}, {"top_p": 0.7}], …})
"""

from collections.abc import Mapping, Sequence

from torch import Tensor

from tx_helpers.generation.sampling import filter_logits
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import MUTED, ORANGE, box, card, words

LEFT, WIDTH, ROW = 24, 752, 62
Rules = Sequence[Mapping[str, float]]


def after_rules(z: Tensor, tokens: Sequence[str], rules: Rules) -> list[tuple[str, float]]:
    """The tokens that may be drawn after these rules, one after the other, with their q, the likeliest first."""
    for rule in rules:
        z = filter_logits(z, **rule)
    q, ids = z.softmax(-1).sort(descending=True, stable=True)
    return [(tokens[i], value) for i, value in zip(ids.tolist(), q.tolist(), strict=True) if value > 0]


def orders_drawing(z: Tensor, tokens: Sequence[str], orders: Mapping[str, Rules]) -> Svg:
    """A bar for each order, cut into the words that may be drawn, each as wide as it is likely; z (V,)."""
    parts, said = [], []
    for row, (name, rules) in enumerate(orders.items()):
        left = after_rules(z, tokens, rules)
        y = 22 + ROW * row
        parts.append(words(LEFT, y, name, font_weight="bold"))
        count = f"{len(left)} {'word' if len(left) == 1 else 'words'}"
        parts.append(words(LEFT + WIDTH, y, count, fill=MUTED, anchor="end"))
        x: float = LEFT
        for word, q in left:
            width = WIDTH * q
            parts.append(box(x, y + 8, width, 28, word if width > 9 * len(word) else "", ORANGE, 12.5))
            x += width
        most = ", ".join(f"{word} {q:.2f}" for word, q in left[:3])
        said.append(f"{name}: {count}, {most}")
    alt = f"Bars cut into the words that may be drawn. {'; '.join(said)}."
    return card(800, 10 + ROW * len(orders), parts, alt)
