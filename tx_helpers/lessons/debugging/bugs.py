"""What the notebook takes out of a translator, the bugs that it plants, and a drawing of them.

    trained = train_translator(pairs, **ABLATIONS["no positions"])
    suspect = fresh(BUGS["norm over the batch"].get("prepare"))
    draw_bugs()

Each entry holds arguments of `recipes.train_translator`: `changes` to the configuration, `prepare`, which gets the
untrained model, or another `loss`.
"""

from collections.abc import Callable, Sequence
from fnmatch import fnmatch
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from tx_helpers.nn.attention import scaled_dot_product_attention
from tx_helpers.nn.config import PositionConfig
from tx_helpers.nn.masks import causal_mask
from tx_helpers.show.plots import Svg
from tx_helpers.show.shapes import BLUE, GREY, INK, MUTED, ORANGE, WEIGHT, arrow, box, card, line, shape, words
from tx_helpers.text.data import PAD
from tx_helpers.training.losses import sequence_loss, translation_loss


# --- plant ------------------------------------------------------------------------------------------------------------
def with_attention(names: str, attend: Callable[..., Tensor]) -> Callable[[nn.Module], None]:
    """A function that gives every attention layer whose name fits another attention function."""

    def prepare(model: nn.Module) -> None:
        for name, layer in model.named_modules():
            if fnmatch(name, names):
                layer.attend = attend

    return prepare


def no_causal_mask(q: Tensor, k: Tensor, v: Tensor, *, causal: bool, **options: Any) -> Tensor:
    """Every position sees every other."""
    return scaled_dot_product_attention(q, k, v, **options)


def no_padding_mask(q: Tensor, k: Tensor, v: Tensor, *, mask: Tensor | None, **options: Any) -> Tensor:
    """Padding is seen like any word."""
    return scaled_dot_product_attention(q, k, v, **options)


def one_too_far(q: Tensor, k: Tensor, v: Tensor, **options: Any) -> Tensor:
    """Each position also sees the next one: S − T + 1, where S − T is right."""
    T, S = q.shape[-2], k.shape[-2]
    return scaled_dot_product_attention(q, k, v, mask=torch.ones(T, S, dtype=torch.bool).tril(S - T + 1))


def mask_after_softmax(q: Tensor, k: Tensor, v: Tensor, **options: Any) -> Tensor:
    """The future is set to 0 when it has had its share already."""
    weights = (q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5).softmax(dim=-1)
    return (weights * causal_mask(q.shape[-2], k.shape[-2])) @ v


def softmax_over_queries(q: Tensor, k: Tensor, v: Tensor, **options: Any) -> Tensor:
    """dim=-2, where dim=-1 is right."""
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    return scores.masked_fill(~causal_mask(*scores.shape[-2:]), float("-inf")).softmax(dim=-2) @ v


def heads_by_view(q: Tensor, k: Tensor, v: Tensor, **options: Any) -> Tensor:
    """As if view(B, H, T, K) had split the heads."""
    q, k, v = (x.transpose(1, 2).reshape(x.shape) for x in (q, k, v))
    return scaled_dot_product_attention(q, k, v, **options)


def no_feed_forward(model: nn.Module) -> None:
    """All feed-forward networks return 0."""
    for name, part in model.named_modules():
        if name.endswith("feed_forward"):
            part.forward = torch.zeros_like


def norm_over_the_batch(model: nn.Module) -> None:
    """The norms before self-attention run over the sentences of the batch, without gain and bias."""
    for name, norm in model.named_modules():
        if name.endswith("self_attention_norm"):
            norm.forward = lambda x: (x - x.mean(dim=0)) / (x.var(dim=0, unbiased=False) + 1e-5).sqrt()


def not_shifted(model: nn.Module, batch: Any) -> Tensor:
    """The decoder reads the very words that it has to predict."""
    return sequence_loss(model(batch.source, batch.target), batch.target, pad_id=PAD)


own, cross = "decoder.*.self_attention", "*.cross_attention"
ABLATIONS: dict[str, dict[str, Any]] = {
    "the right model": {},
    "no positions": dict(changes=dict(positions=PositionConfig("none"))),
    "no residual connections": dict(changes=dict(wiring="pre_norm_without_residual")),
    "no feed-forward": dict(prepare=no_feed_forward),
    "no cross-attention": dict(prepare=with_attention(cross, lambda q, k, v, **options: torch.zeros_like(q))),
    "no padding mask": dict(prepare=with_attention("*_attention", no_padding_mask)),
}
BUGS: dict[str, dict[str, Any]] = {
    "the right model": {},
    "no causal mask": dict(prepare=with_attention(own, no_causal_mask)),
    "mask one too far": dict(prepare=with_attention(own, one_too_far)),
    "mask after the softmax": dict(prepare=with_attention(own, mask_after_softmax)),
    "softmax over the queries": dict(prepare=with_attention(own, softmax_over_queries)),
    "heads split by view": dict(prepare=with_attention(own, heads_by_view)),
    "target not shifted": dict(loss=not_shifted),
    "norm over the batch": dict(prepare=norm_over_the_batch),
    "padding not masked": ABLATIONS["no padding mask"],
    "padding counted in the loss": dict(loss=partial(translation_loss, pad_id=None)),
}

# --- draw -------------------------------------------------------------------------------------------------------------
SIDE, CELL = 5, 20  # the small tables: five words, pixels of a cell
NAMES = tuple(BUGS)[1:]
SAID = (
    "every word sees all others",
    "each word sees the next one",
    "the sum still counts the future",
    "columns sum to 1, not rows",
    "a head takes words, not features",
    "reads what it must predict",
    "other sentences change mine",
    "words look at <pad>",
    "<pad> is easy, and counts",
)


def _cell(column: float, row: float, weight: float, wrong: bool = False) -> str:
    frame = dict(stroke=ORANGE.full, stroke_width=2.5) if wrong else dict(stroke=MUTED, stroke_width=0.6)
    inset = 2.0 if wrong else 1.0
    place = dict(x=column * CELL + inset, y=row * CELL + inset, width=CELL - 2 * inset, height=CELL - 2 * inset)
    return shape("rect", **place, fill=WEIGHT.full, fill_opacity=weight, **frame)


def _table(weight: Callable[[int, int], float], wrong: Callable[[int, int], bool]) -> list[str]:
    """Queries down, keys across: how much each looks, and which cells should not be so."""
    places = [(t, s) for t in range(SIDE) for s in range(SIDE)]
    return [_cell(s, t, weight(t, s), wrong(t, s)) for t, s in places]


def _tokens(y: float, texts: Sequence[str], wrong: Sequence[int] = (), width: float = 46) -> list[str]:
    return [
        box(n * (width + 4) - 25, y, width, 24, text, ORANGE if n in wrong else GREY, size=12.5)
        for n, text in enumerate(texts)
    ]


def _heads() -> list[str]:
    """Four words with four features: two heads that should share out columns, and take rows."""
    filled = (BLUE, ORANGE)
    places = [(t, f) for t in range(4) for f in range(4)]
    return [
        shape(
            "rect",
            x=f * 25 + 1,
            y=t * 25 + 1,
            width=23,
            height=23,
            fill=filled[t // 2].tint,
            stroke=filled[t // 2].full,
        )
        for t, f in places
    ] + [words(108, 30, "head 1", size=12.5), words(108, 80, "head 2", size=12.5)]


def _unshifted() -> list[str]:
    said = ("vier", "und", "zwei")
    arrows = [arrow(n * 50 - 2, 64, n * 50 - 2, 30, ORANGE.full, gap=2) for n in range(3)]
    return [*_tokens(4, said), *_tokens(66, said, wrong=(0, 1, 2)), *arrows]


def _batch() -> list[str]:
    rows = [
        shape(
            "rect",
            x=f * 25 + 1,
            y=t * 30 + 1,
            width=23,
            height=24,
            fill=GREY.tint,
            stroke=ORANGE.full if f == 1 else MUTED,
        )
        for t in range(3)
        for f in range(4)
    ]
    named = [words(108, 18 + 30 * t, f"sentence {t + 1}", size=12.5) for t in range(3)]
    return [*rows, *named, line(37.5, -2, 37.5, 92, ORANGE.full, stroke_width=3)]


def _panels() -> list[list[str]]:
    def past(t: int, s: int) -> bool:
        return s <= t

    return [
        _table(lambda t, s: 0.55, lambda t, s: s > t),
        _table(lambda t, s: 0.55 * (s <= t + 1), lambda t, s: s == t + 1),
        [*_table(lambda t, s: 0.2 * past(t, s), lambda t, s: False)]
        + [words(106, 15 + CELL * t, f"{(t + 1) / SIDE:.1f}", size=12.5, fill=ORANGE.shade) for t in range(SIDE)],
        [*_table(lambda t, s: past(t, s) / (SIDE - s), lambda t, s: False), arrow(112, -4, 112, 104, ORANGE.full)],
        _heads(),
        _unshifted(),
        _batch(),
        [*_table(lambda t, s: 0.5, lambda t, s: s > 2), words(61, 114, "<pad> <pad>", size=12.5, fill=ORANGE.shade)],
        [*_tokens(30, ("eins", "<eos>", "<pad>", "<pad>"), wrong=(2, 3))]
        + [words(n * 50 - 2, 74, "loss", size=12.5, anchor="middle", fill=INK) for n in range(4)],
    ]


def draw_bugs() -> Svg:
    """Nine small drawings, three in a row; what is wrong is orange."""
    parts = []
    for number, (name, said, drawn) in enumerate(zip(NAMES, SAID, _panels(), strict=True)):
        x, y = 22 + 262 * (number % 3), 30 + 190 * (number // 3)
        parts.append(words(x, y, f"{number + 1}. {name}", size=14, font_weight="bold"))
        parts.append(words(x, y + 17, said, size=12.5, fill=MUTED))
        parts.append(f'<g transform="translate({x + 30},{y + 32})">{"".join(drawn)}</g>')
    listed = "; ".join(f"{name}: {said}" for name, said in zip(NAMES, SAID, strict=True))
    return card(800, 592, parts, f"Nine bugs, drawn small, what is wrong in orange. {listed}.")
