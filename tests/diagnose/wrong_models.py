"""The wrong models: each entry of `WRONG` makes one mistake and names the probe that must find it.

`UNSEEN` has the mistakes that nobody can see from outside, with the reason.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch
from torch import nn

from mistakes import (
    AsLongAsTheFirst,
    AtTheEnd,
    CacheThatStays,
    ColumnNorm,
    DropoutAlways,
    Forgetful,
    Fourier,
    HeadsInAList,
    InTraining,
    KeepsTheFirst,
    Mixing,
    NormOver,
    NumbersAsMask,
    PaddingInTraining,
    Pair,
    Rewritten,
    Rolled,
    RowsAsTime,
    TableNeverAdded,
    Unsorted,
    cross_entropy,
    divided_by_all,
    equal_embeddings,
    frozen_embedding,
    likelihood,
    merge_by_view,
    never_eval,
    of_the_first,
    one_ahead,
    one_number,
    second_layer_open,
    shifting,
    split_by_view,
    text_batch,
    turned,
    twice_softmax,
    unscaled,
    weigh_after,
    weigh_over,
    weigh_times,
    with_nan,
    zero_scores,
)
from toy import (
    PAD,
    WINDOW,
    D,
    K,
    Toy,
    V,
    causal,
    decoding,
    rotate_half,
    rotate_interleaved,
    sinusoids,
    weigh,
    window_mask,
)


@dataclass(frozen=True)
class Case:
    """How the model is made, the probe that must find it, what diagnose is told, and a word of the first cause."""

    make: Callable[[], Any]
    probe: str
    cause: str = ""
    options: dict = field(default_factory=dict)
    state: str = "wrong"


class Nano(Toy):
    """Right, as nanoGPT: without targets only the last position's logits, and always a tuple."""

    def forward(self, ids, targets=None):
        logits = super().forward(ids)
        return (logits[:, -1:], None) if targets is None else (logits, logits.sum())


def with_targets(model, ids):
    return model(ids, ids)


ENCODER = dict(kind="encoder", pad_id=PAD)
FRESH = dict(trained=False)

WRONG: dict[str, Case] = {
    "no √K": Case(unscaled, "attention", "not divided", FRESH),
    "multiplied by √K": Case(lambda: Toy(scale=K**0.5), "attention", "not divided", FRESH),
    "softmax over the queries": Case(lambda: Toy(weigh=weigh_over(-2, -math.inf)), "future", "queries"),
    "softmax over the heads": Case(lambda: Toy(weigh=weigh_over(1, -math.inf)), "numbers", "wrong axis"),
    "softmax over the heads, −1e9": Case(lambda: Toy(weigh=weigh_over(1, -1e9)), "future", "heads"),
    "softmax over the queries, encoder": Case(
        lambda: Toy(causal=False, weigh=weigh_over(-2, -math.inf)), "attention", "queries", dict(kind="encoder"), "look"
    ),
    "mask inverted": Case(lambda: Toy(mask=lambda T, S: ~causal(T, S)), "numbers", "inverted"),
    "mask inverted, −1e9": Case(lambda: Toy(mask=lambda T, S: ~causal(T, S), fill=-1e9), "future", "inverted"),
    "no mask": Case(lambda: Toy(causal=False), "future", "no mask"),
    "no mask in the second layer": Case(lambda: second_layer_open(), "future", "missing in blocks.1"),
    "mask after the softmax": Case(lambda: Toy(weigh=weigh_after), "future", "after the softmax"),
    "scores multiplied by 0": Case(lambda: Toy(weigh=weigh_times), "future", "after the softmax"),
    "filled with 1e-9": Case(lambda: Toy(fill=1e-9), "future", "after the softmax"),
    "mask off by one": Case(
        lambda: Toy(mask=lambda T, S: torch.ones(T, S, dtype=torch.bool).tril(S - T + 1)),
        "future",
        "one position too far",
    ),
    "diagonal excluded": Case(lambda: Toy(mask=lambda T, S: causal(T, S).tril(S - T - 1)), "numbers", "diagonal"),
    "diagonal excluded, −1e9": Case(
        lambda: Toy(mask=lambda T, S: causal(T, S).tril(S - T - 1), fill=-1e9), "future", "diagonal"
    ),
    "mask transposed": Case(lambda: Toy(mask=lambda T, S: causal(T, S).T), "future", "transposed"),
    "fill −10": Case(lambda: Toy(fill=-10.0), "future", "too weak"),
    "fill −100 times a scale": Case(lambda: Toy(fill=-100 * K**-0.5), "future", "too weak"),
    "fully masked row, −∞": Case(lambda: Toy(pad_id=PAD), "padding", "sees nothing", dict(pad_id=PAD, pad_side="left")),
    "fully masked row, −∞, encoder": Case(
        lambda: Toy(causal=False, pad_id=PAD), "empty row", "masked by −∞", ENCODER, "look"
    ),
    "heads by view": Case(lambda: Toy(split=split_by_view), "future", "mixed outside"),
    "heads merged by view": Case(lambda: Toy(merge=merge_by_view), "future", "mixed outside"),
    "targets not shifted": Case(Toy, "shift", "not shifted", dict(data=lambda step: text_batch(0))),
    "targets shifted backwards": Case(Toy, "shift", "backwards", dict(data=lambda: text_batch(-1))),
    "targets shifted by two": Case(Toy, "shift", "twice", dict(data=text_batch(2))),
    "softmax before the cross-entropy, in the model": Case(
        lambda: Toy(head=partial(torch.softmax, dim=-1)), "logits", "softmax"
    ),
    "softmax before the cross-entropy, in the loss": Case(Toy, "loss", "softmax", dict(loss=twice_softmax)),
    "positions added along the batch": Case(
        lambda: Toy(add=lambda x, positions: x + sinusoids(len(x)).to(x)[:, None]), "neighbours", "along the batch"
    ),
    "positions never added": Case(lambda: Toy(positions=None), "order", "never added", {}, "look"),
    "positions never added, one layer": Case(lambda: Toy(positions=None, n_layers=1), "order", "never added"),
    "positions never added, encoder": Case(
        lambda: Toy(positions=None, causal=False), "order", "never added", dict(kind="encoder")
    ),
    "table of positions never added": Case(TableNeverAdded, "gradients", "not used"),
    "norm over time": Case(lambda: Toy(norm=partial(NormOver, (1,))), "future", "mixed outside"),
    "norm over (T, D)": Case(lambda: Toy(norm=partial(NormOver, (1, 2))), "future", "mixed outside"),
    "norm over the batch": Case(lambda: Toy(norm=partial(NormOver, (0,))), "neighbours", "norm over the batch"),
    "W_q = W_k = 0": Case(lambda: zero_scores(Toy()), "gradients", "both 0 at first"),
    "padding not masked": Case(lambda: Toy(causal=False), "padding", "missing", ENCODER),
    "padding mask inverted": Case(
        lambda: Toy(causal=False, pad_id=PAD, fill=-1e9, hides=lambda ids, pad_id: ids != pad_id),
        "padding",
        "inverted",
        ENCODER,
    ),
    "padding not masked, at the left": Case(Toy, "padding", "missing", dict(pad_id=PAD, pad_side="left")),
    "padding counted in the loss": Case(
        Toy, "loss", "padding", dict(loss=partial(cross_entropy, ignored=-100), pad_id=PAD)
    ),
    "cache: position starts anew": Case(
        lambda: Toy(cache_start=lambda length: 0), "cached", "position", dict(decoding=decoding)
    ),
    "cache: mask aligned top-left": Case(
        lambda: Toy(mask=lambda T, S: torch.ones(T, S, dtype=torch.bool).tril()),
        "cached",
        "top-left",
        dict(decoding=decoding),
    ),
    "no eval()": Case(never_eval, "repeat", "dropout"),
    "dropout without training=": Case(DropoutAlways, "repeat", "dropout"),
    "a cache that stays": Case(CacheThatStays, "repeat", "from call to call"),
    "heads in a Python list": Case(HeadsInAList, "parameters", "Python list"),
    # beyond the table
    "the last position but one sees the last": Case(AtTheEnd, "future", "mixed outside"),
    "mask made for 32 positions": Case(
        lambda: Toy(mask=lambda T, S: causal(T, S) | (torch.arange(S) >= 32)), "prefix", "fewer than 64 positions"
    ),
    "BatchNorm": Case(lambda: Toy(norm=partial(ColumnNorm, D)), "neighbours", "BatchNorm", {}, "look"),
    "batch_first forgotten, attention": Case(lambda: RowsAsTime(True), "neighbours", "batch_first"),
    "batch_first forgotten, GRU": Case(lambda: RowsAsTime(False), "neighbours", "batch_first"),
    "mask of 0 and 1": Case(NumbersAsMask, "numbers", "a mask of numbers"),
    "NaN outside of attention": Case(lambda: Rewritten(after=lambda logits: logits * math.inf), "numbers", "too large"),
    "NaN among the parameters": Case(lambda: with_nan(Toy()), "numbers", "parameters that are NaN"),
    "ids wrapped": Case(lambda: Rewritten(before=lambda ids: ids % 16), "context", "cut or wrapped"),
    "the last two ids alike": Case(lambda: Rewritten(before=lambda ids: ids.clamp(max=V - 2)), "context", "cut"),
    "logits a position late": Case(
        lambda: Rewritten(after=lambda logits: logits.roll(1, 1) * (torch.arange(logits.shape[1]) > 0)[:, None]),
        "context",
        "one position late",
    ),
    "every second key lost": Case(
        lambda: Toy(mask=lambda T, S: causal(T, S) & ((torch.arange(T)[:, None] - torch.arange(S)) % 2 == 0)),
        "context",
        "every second one",
        {},
        "look",
    ),
    "encoder with the decoder's mask": Case(
        lambda: Pair(source_mask=lambda S: ~causal(S, S)), "context", "causal mask", {}, "look"
    ),
    "memory not used": Case(lambda: Pair(read=torch.zeros_like), "context", "not used"),
    "matrices of one number": Case(lambda: one_number(Toy()), "gradients", "filled with one number"),
    "cache: first token lost": Case(Toy, "cached", "loses tokens", dict(decoding=lambda model, rows: Forgetful(model))),
    "loss divided by all positions": Case(Toy, "loss", "divided by all", dict(loss=divided_by_all, pad_id=PAD)),
    "loss with the wrong sign": Case(Toy, "loss", "its sign", dict(loss=likelihood)),
    "loss of turned targets": Case(Toy, "loss", "transposed", dict(loss=turned)),
    "loss of the first position": Case(Toy, "loss", "part of the logits", dict(loss=of_the_first), "look"),
    "padding mask of row 0 for all rows": Case(
        lambda: Toy(causal=False, pad_id=PAD, fill=-1e9, hides=lambda ids, pad_id: (ids == pad_id)[:1]),
        "padding",
        "of one row",
        ENCODER,
    ),
    "positions clamped after six": Case(
        lambda: Toy(positions=lambda T, start: sinusoids(64)[torch.arange(start, start + T).clamp(max=6)]),
        "order",
        "6, 7, 8, 9, 10, 11, 12, 13 are encoded alike",
    ),
    "positions beyond three alike, encoder": Case(
        lambda: Toy(causal=False, positions=lambda T, start: sinusoids(T)[torch.arange(T).clamp(max=3)]),
        "order",
        "encoded alike",
        dict(kind="encoder"),
    ),
    "two ids in the middle alike": Case(
        lambda: Rewritten(before=lambda ids: ids.where(ids != 12, 11)), "context", "cut or wrapped"
    ),
    "two of 1,000 ids share an embedding": Case(equal_embeddings, "context", "rows of the embedding", {}, "look"),
    "convolution one ahead": Case(lambda: Mixing(one_ahead), "future", "one position ahead"),
    "no mask in training mode": Case(InTraining, "future", "in evaluation only"),
    "no padding mask in training mode": Case(
        lambda: PaddingInTraining(causal=False, pad_id=PAD, fill=-1e9, dropout=0.1),
        "padding",
        "in evaluation only",
        ENCODER,
    ),
    "Fourier transform, padding": Case(Fourier, "padding", "takes no padding mask", ENCODER, "look"),
    "heads merged by view, encoder": Case(
        lambda: Toy(causal=False, pad_id=PAD, fill=-1e9, merge=merge_by_view), "padding", "mixed outside", ENCODER
    ),
    "heads split and merged by view": Case(
        lambda: Toy(split=split_by_view, merge=merge_by_view), "prefix", "split and merged by view"
    ),
    "keys of the next position": Case(
        lambda: Toy(rotate=(lambda q, start: q, lambda k, start: k.roll(-1, 2))), "future", "of the next position"
    ),
    "values of the next position": Case(
        lambda: Toy(weigh=lambda scores, allowed: weigh(scores, allowed).roll(1, -1)), "future", "of the next position"
    ),
    "random position ids": Case(
        lambda: Toy(positions=lambda T, start: sinusoids(64)[torch.randperm(64)[:T]]), "repeat", "random numbers"
    ),
    "cache: keys rolled": Case(Toy, "cached", "another order", dict(decoding=lambda model, rows: Rolled(model))),
    "cache: padding forgotten": Case(
        lambda: Toy(pad_id=PAD, fill=-1e9, remembers_padding=False),
        "cached",
        "forgets the padding",
        dict(pad_id=PAD, pad_side="left", decoding=decoding),
    ),
    "cache: the first keys of a long piece": Case(
        lambda: Toy(mask=window_mask),
        "prefill",
        "longer than the window",
        dict(decoding=lambda model, rows: KeepsTheFirst(model, WINDOW)),
    ),
    "cache: as long as the first piece": Case(
        lambda: Toy(mask=window_mask),
        "prefill",
        "too early",
        dict(decoding=lambda model, rows: AsLongAsTheFirst(model, WINDOW)),
    ),
    "cache: select without keys": Case(
        Toy, "reorder", "stay in their old rows", dict(decoding=lambda model, rows: Unsorted(model))
    ),
    "loss that shifts": Case(Toy, "loss", "by itself", dict(loss=shifting), "look"),
    "loss and batches that shift": Case(Toy, "loss", "by itself", dict(loss=shifting, data=lambda: text_batch(1))),
}


# name: (the model, why no probe can see it)
UNSEEN: dict[str, tuple[Callable[[], nn.Module], str]] = {
    "cross-attention to the first source token alone": (
        lambda: Pair(read=lambda memory: memory[:, :1]),
        "the encoder has brought the whole source there: a bottleneck, as in a recurrent encoder–decoder",
    ),
    "embedding frozen by mistake": (
        lambda: frozen_embedding(Toy()),
        "others freeze on purpose, as LoRA does; the probe gradients names what is frozen, and leaves it to the reader",
    ),
    "mask made for 100 positions": (
        lambda: Toy(mask=lambda T, S: causal(T, S) | (torch.arange(S) >= 100)),
        "right up to 100 positions, and 4 × length are looked at: give the length that you train with",
    ),
    "√D instead of √K": (
        lambda: Toy(scale=D**-0.5),
        "the scores are smaller by √H: attention is softer, and W_q can make up for it",
    ),
    "exponent of the positions doubled": (
        lambda: Toy(positions=partial(sinusoids, exponent=2.0)),
        "another set of distinct positions; only the formula tells, so compare with it",
    ),
    "embedding N(0, 1) with unscaled sinusoids": (
        lambda: Toy(std=1.0),
        "tokens are larger than positions, but the order still arrives; the 2017 model has such a ratio on purpose",
    ),
    "no residual": (
        lambda: Toy(residual=False),
        "another function, and a valid one: nothing leaks, every part learns; only its loss is poor",
    ),
    "norm with the unbiased deviation": (
        lambda: Toy(norm=partial(NormOver, unbiased=True)),
        "a factor √((D − 1)/D), which the gain takes up",
    ),
    "epsilon outside of the root": (
        lambda: Toy(norm=partial(NormOver, eps_outside=True)),
        "differs in rows that are constant to 1e-5, which no ids produce",
    ),
    "feed-forward without non-linearity": (
        lambda: Toy(activation=lambda x: x),
        "another function of the same ids; only a poorer one",
    ),
    "rotary layouts mixed": (
        lambda: Toy(positions=None, rotate=(rotate_half, rotate_interleaved)),
        "scores then depend on both positions and not on their distance alone, which a model may well do",
    ),
}
NO_MODEL = {
    "odd d_model": "no model comes to be: the halves of sine and cosine do not fit, and building it raises",
    "no zero_grad": "stands in the training loop, which is not passed; the model is right",
}
