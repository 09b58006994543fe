"""What a cache saves: the work of each step as a drawing, and tokens per second as a chart.

work_drawing(6)
speed_chart({16: {"with the cache": 0.0005, "without": 0.001}, …})     # seconds of one step, by tokens so far
"""

import time
from collections.abc import Callable, Mapping

import torch
from torch import nn

from tx_helpers.lessons.decoding.named_ends import named_chart
from tx_helpers.nn.arguments import check_numbers
from tx_helpers.show.charts import side_by_side
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import BLUE, MUTED, PAPER, card, shape, words

CELL, KEY = 26, BLUE  # a key is blue


def work_drawing(T: int) -> Svg:
    """Two triangles of T steps, without a cache and with one: filled squares are keys that the step computes."""
    check_numbers("work_drawing", least=2, most=9, whole=True, T=T)
    parts = []
    for left, cached in ((90, False), (470, True)):
        count = T if cached else T * (T + 1) // 2
        title = f"{'with' if cached else 'without'} a cache: {count} keys"
        parts.append(words(left, 28, title, size=15, font_weight="bold"))
        for step in range(1, T + 1):
            y = 14 + CELL * step
            parts.append(words(left - 12, y + 17, f"step {step}", fill=MUTED, anchor="end"))
            for place in range(step):
                new = not cached or place == step - 1
                look = {"fill": KEY.full, "stroke": KEY.full} if new else {"fill": PAPER, "stroke": KEY.shade}
                dash = None if new else "3 3"
                x = left + CELL * place
                parts.append(
                    shape("rect", x=x, y=y, width=20, height=20, rx=3, stroke_dasharray=dash, stroke_width=1.5, **look)
                )
    bottom = 30 + CELL * (T + 1)
    for x, look, says in (
        (90, {"fill": KEY.full}, "computed in this step"),
        (290, {"fill": PAPER, "stroke": KEY.shade, "stroke_dasharray": "3 3"}, "kept from an earlier step"),
    ):
        parts.append(shape("rect", x=x, y=bottom - 14, width=16, height=16, rx=3, stroke_width=1.5, **look))
        parts.append(words(x + 24, bottom - 1, says))
    alt = (
        f"Two triangles of squares, a row for each of {T} steps. Without a cache each step computes the keys of all "
        f"words so far, {T * (T + 1) // 2} squares altogether. With a cache each step computes one new key and keeps "
        f"the others: {T} filled squares on the diagonal."
    )
    return card(800, bottom + 16, parts, alt)


def same_weights(kind: type[nn.Module], layer: nn.Module) -> nn.Module:
    """A layer of another kind with the weights of this attention."""
    made = kind(layer.query.in_features, getattr(layer, "n_heads", 4))
    made.load_state_dict(layer.state_dict())
    return made


def fastest(action: Callable[[], object], repeats: int = 5) -> float:
    """The seconds of the fastest of several runs: what the others took longer was the machine's other work."""
    found = []
    for _ in range(repeats):
        began = time.perf_counter()
        action()
        found.append(time.perf_counter() - began)
    return min(found)


def products_alone(model: nn.Module) -> Callable[[], object]:
    """For one new word, only the products with the decoder's matrices and the output: no other operation, no check."""
    layers = [layer for layer in model.decoder.modules() if isinstance(layer, nn.Linear)]
    pairs = [(torch.randn(1, each.in_features), each.weight.detach().T) for each in [*layers, model.output]]
    return lambda: [x @ weight for x, weight in pairs]


def speed_chart(seconds: Mapping[int, Mapping[str, float]]) -> Svg:
    """Tokens so far -> way -> seconds of one step, drawn as tokens per second over the length."""
    lengths, names = list(seconds), list(next(iter(seconds.values())))
    lines = {name: (lengths, [1 / seconds[T][name] for T in lengths]) for name in names}
    first, last = lengths[0], lengths[-1]
    rates = [rate for _, each in lines.values() for rate in each]
    said = "; ".join(f"{name} {rate[0]:,.0f} and {rate[-1]:,.0f}" for name, (_, rate) in lines.items())
    panel = named_chart(
        lines,
        size=(720, 300),
        title="Tokens per second",
        xlabel="tokens written so far",
        ylabel="tokens per second",
        ylim=(0.7 * min(rates), 1.4 * max(rates)),
        logx=True,
        logy=True,
        dots=True,
    )
    return side_by_side([panel], alt=f"Tokens per second after {first} and after {last} tokens: {said}.")
