"""A compact language model with one switch for each mistake.

`Toy` is right as it stands. Each entry of `WRONG` makes one mistake and names the probe that must find it; `UNSEEN`
holds the mistakes that nobody can see from outside, with the reason.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

V, D, H, PAD = 29, 32, 2, 0
K = D // H


def causal(T: int, S: int) -> Tensor:
    return torch.ones(T, S, dtype=torch.bool).tril(S - T)


def weigh(scores: Tensor, allowed: Tensor, fill: float = -math.inf) -> Tensor:
    return scores.masked_fill(~allowed, fill).softmax(dim=-1)


def split(x: Tensor) -> Tensor:  # (B, T, D) -> (B, H, T, K)
    return x.unflatten(-1, (H, K)).transpose(1, 2)


def merge(x: Tensor) -> Tensor:  # (B, H, T, K) -> (B, T, D)
    return x.transpose(1, 2).flatten(-2)


def sinusoids(T: int, start: int = 0, exponent: float = 1.0) -> Tensor:
    t = torch.arange(start, start + T)[:, None]
    angles = t / 10000 ** (exponent * torch.arange(0, D, 2) / D)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)  # (T, D)


def rotate_half(x: Tensor, start: int = 0) -> Tensor:
    angles = torch.arange(start, start + x.shape[-2])[:, None] / 10000 ** (torch.arange(0, K, 2) / K)
    a, b = x.chunk(2, dim=-1)
    return torch.cat([a * angles.cos() - b * angles.sin(), a * angles.sin() + b * angles.cos()], dim=-1)


def rotate_interleaved(x: Tensor, start: int = 0) -> Tensor:
    angles = torch.arange(start, start + x.shape[-2])[:, None] / 10000 ** (torch.arange(0, K, 2) / K)
    a, b = x[..., ::2], x[..., 1::2]
    return torch.stack([a * angles.cos() - b * angles.sin(), a * angles.sin() + b * angles.cos()], dim=-1).flatten(-2)


class Attention(nn.Module):
    def __init__(self, *, mask=causal, weigh=weigh, split=split, merge=merge, scale=K**-0.5, rotate=None):
        super().__init__()
        self.mask, self.weigh, self.split, self.merge, self.scale = mask, weigh, split, merge, scale
        self.rotate_q, self.rotate_k = rotate or (None, None)
        self.query, self.key, self.value, self.output = (nn.Linear(D, D) for _ in range(4))
        for linear in self.children():
            nn.init.xavier_uniform_(linear.weight)

    def forward(self, x: Tensor, hidden: Tensor | None = None, cache: dict | None = None) -> Tensor:
        """hidden (B, 1, 1, S): keys that nobody may see."""
        q, k, v = (self.split(part(x)) for part in (self.query, self.key, self.value))
        start = 0 if not cache else cache["k"].shape[2]
        if self.rotate_q is not None:
            q, k = self.rotate_q(q, start), self.rotate_k(k, start)
        if cache is not None:
            k, v = (torch.cat([cache[name], new], 2) if cache else new for name, new in (("k", k), ("v", v)))
            cache |= {"k": k, "v": v}
        allowed = self.mask(q.shape[2], k.shape[2])
        if hidden is not None:
            allowed = allowed & ~hidden
        return self.output(self.merge(self.weigh(q @ k.transpose(-2, -1) * self.scale, allowed) @ v))


class Block(nn.Module):
    def __init__(self, *, norm=lambda: nn.LayerNorm(D), activation=F.gelu, residual=True, dropout=0.0, **attention):
        super().__init__()
        self.attention, self.norms = Attention(**attention), nn.ModuleList([norm(), norm()])
        self.expand, self.contract = nn.Linear(D, 2 * D), nn.Linear(2 * D, D)
        self.activation, self.residual, self.dropout = activation, residual, nn.Dropout(dropout)

    def forward(self, x: Tensor, hidden: Tensor | None, cache: dict | None) -> Tensor:
        shortcut = 1.0 if self.residual else 0.0
        x = shortcut * x + self.dropout(self.attention(self.norms[0](x), hidden, cache))
        return shortcut * x + self.dropout(self.contract(self.activation(self.expand(self.norms[1](x)))))


class Toy(nn.Module):
    """ids (B, T) -> logits (B, T, V): pre-norm, sinusoidal positions; `options` go to the blocks."""

    def __init__(
        self,
        *,
        n_layers: int = 2,
        pad_id: int | None = None,
        positions: Callable | None = sinusoids,
        hides: Callable = lambda ids, pad_id: ids == pad_id,
        add: Callable = torch.add,
        std: float = 0.5,
        head: Callable = lambda logits: logits,
        cache_start: Callable = lambda length: length,
        causal: bool = True,
        fill: float = -math.inf,
        remembers_padding: bool = True,
        **options,
    ):
        super().__init__()
        self.remembers_padding = remembers_padding
        if not causal:
            options["mask"] = lambda T, S: torch.ones(T, S, dtype=torch.bool)
        options = {"weigh": partial(weigh, fill=fill)} | options
        self.pad_id, self.positions, self.hides, self.add = pad_id, positions, hides, add
        self.head, self.cache_start = head, cache_start
        self.tokens, self.output = nn.Embedding(V, D), nn.Linear(D, V)
        nn.init.normal_(self.tokens.weight, std=std)
        self.blocks = nn.ModuleList(Block(**options) for _ in range(n_layers))
        self.norm = nn.LayerNorm(D)

    def forward(self, ids: Tensor, caches: list[dict] | None = None) -> Tensor:
        """caches: one for each block, and a last one for the ids read so far."""
        x, T, read = self.tokens(ids), ids.shape[1], ids
        if caches is not None:
            read = caches[-1]["ids"] = torch.cat([*caches[-1].values(), ids], dim=1)
        start = self.cache_start(read.shape[1] - T) if read.shape[1] > T else 0
        hidden = None
        if self.pad_id is not None:
            known = read if self.remembers_padding else torch.cat([read[:, :-T] * 0 + V - 1, ids], dim=1)
            hidden = self.hides(known, self.pad_id)[:, None, None, :]
            x = x + self._real_positions(known)[:, -T:].to(x)
        elif self.positions is not None:
            x = self.add(x, self.positions(T, start).to(x))
        for i, block in enumerate(self.blocks):
            x = block(x, hidden, None if caches is None else caches[i])
        return self.head(self.output(self.norm(x)))

    def _real_positions(self, ids: Tensor) -> Tensor:
        """Positions count real tokens only, so that padding may stand at the left."""
        number = ((ids != self.pad_id).cumsum(-1) - 1).clamp(min=0)
        return sinusoids(ids.shape[1])[number]


class Decoding:
    """Feed a toy piece by piece, with caches; window: they hold as many keys as a query may see."""

    def __init__(self, model: Toy, window: int | None = None):
        self.model, self.window, self.caches = model, window, [{} for _ in range(len(model.blocks) + 1)]

    def step(self, ids: Tensor) -> Tensor:
        logits = self.model(ids, self.caches)
        for cache in self.caches[:-1]:
            for name in cache:
                cache[name] = self.shorten(cache[name], ids.shape[1])
        return logits

    def shorten(self, keys: Tensor, T: int) -> Tensor:
        """keys (B, H, S, K), the last T of them new."""
        return keys if self.window is None else keys[:, :, -(self.window - 1) :]

    def select(self, rows: Tensor) -> None:
        for cache in self.caches:
            cache |= {name: tensor[rows] for name, tensor in cache.items()}


def decoding(model: Toy, rows: int) -> Decoding:
    return Decoding(model)


def windowed(model: Toy, rows: int) -> Decoding:
    return Decoding(model, WINDOW)


WINDOW = 10  # longer than half of the 16 positions


def window_mask(T: int, S: int) -> Tensor:
    return torch.ones(T, S, dtype=torch.bool).tril(S - T).triu(S - T - WINDOW + 1)


# --- mistakes in a part -----------------------------------------------------------------------------------------------


def weigh_after(scores: Tensor, allowed: Tensor) -> Tensor:
    return scores.softmax(dim=-1) * allowed


def weigh_times(scores: Tensor, allowed: Tensor) -> Tensor:
    return (scores * allowed).softmax(dim=-1)


def weigh_over(axis: int, fill: float) -> Callable:
    return lambda scores, allowed: scores.masked_fill(~allowed, fill).softmax(dim=axis)


def split_by_view(x: Tensor) -> Tensor:
    return x.reshape(x.shape[0], H, x.shape[1], K)


def merge_by_view(x: Tensor) -> Tensor:
    return x.reshape(x.shape[0], x.shape[2], D)


class NormOver(nn.Module):
    """Mean and deviation over other axes than the width; or another deviation over the right one."""

    def __init__(self, axes: tuple[int, ...] = (-1,), *, unbiased: bool = False, eps_outside: bool = False):
        super().__init__()
        self.axes, self.unbiased, self.eps_outside = axes, unbiased, eps_outside
        self.weight, self.bias = nn.Parameter(torch.ones(D)), nn.Parameter(torch.zeros(D))

    def forward(self, x: Tensor) -> Tensor:
        variance = x.var(self.axes, keepdim=True, unbiased=self.unbiased)
        deviation = variance.sqrt() + 1e-5 if self.eps_outside else (variance + 1e-5).sqrt()
        return (x - x.mean(self.axes, keepdim=True)) / deviation * self.weight + self.bias


class HeadsInAList(Toy):
    """A second output whose layers no optimizer knows."""

    def __init__(self):
        super().__init__()
        self.extra = [nn.Linear(D, D) for _ in range(3)]

    def forward(self, ids: Tensor, caches=None) -> Tensor:
        x = self.tokens(ids) + sinusoids(ids.shape[1])
        for block, extra in zip(self.blocks, self.extra, strict=False):
            x = extra(block(x, None, None))
        return self.output(self.norm(x))


class TableNeverAdded(Toy):
    """A learned table of positions that the forward forgets."""

    def __init__(self):
        super().__init__(positions=None)
        self.table = nn.Embedding(64, D)


def zero_scores(model: Toy) -> Toy:
    for block in model.blocks:
        for part in (block.attention.query, block.attention.key):
            nn.init.zeros_(part.weight)
            nn.init.zeros_(part.bias)
    return model


def never_eval() -> Callable:
    model = Toy(dropout=0.1)
    return lambda ids: model(ids)


class DropoutAlways(Toy):
    def forward(self, ids: Tensor, caches=None) -> Tensor:
        return F.dropout(super().forward(ids, caches), 0.1)  # training=self.training is missing


class CacheThatStays(Toy):
    """Keys and values of the last call are still there at the next."""

    def forward(self, ids: Tensor, caches=None) -> Tensor:
        logits = super().forward(ids, caches)
        seen = getattr(self, "seen", None)
        self.seen = logits.detach().mean()
        return logits if seen is None else logits + seen


class InTraining(Toy):
    """A mask that is missing in training mode."""

    def __init__(self, **options):
        super().__init__(**options)
        self.masks = {False: self.blocks[0].attention.mask, True: lambda T, S: torch.ones(T, S, dtype=torch.bool)}

    def forward(self, ids: Tensor, caches=None) -> Tensor:
        for block in self.blocks:
            block.attention.mask = self.masks[self.training]
        return super().forward(ids, caches)


class PaddingInTraining(Toy):
    def forward(self, ids: Tensor, caches=None) -> Tensor:
        self.hides = (lambda ids, pad_id: ids < 0) if self.training else (lambda ids, pad_id: ids == pad_id)
        return super().forward(ids, caches)


class Mixing(nn.Module):
    """No attention: a part mixes (B, D, T); of right build, with a fault, or without a way to hide padding."""

    def __init__(self, mix: Callable, n_ids: int = V):
        super().__init__()
        self.tokens, self.output = nn.Embedding(n_ids, D), nn.Linear(D, n_ids)
        self.mix, self.layers = mix, nn.ModuleList(nn.Conv1d(D, D, 3) for _ in range(2))

    def forward(self, ids: Tensor) -> Tensor:
        x = self.tokens(ids).transpose(1, 2)
        for layer in self.layers:
            x = x + layer(self.mix(x)).tanh()
        return self.output(x.transpose(1, 2))


def past(x: Tensor) -> Tensor:
    return F.pad(x, (2, 0))


def one_ahead(x: Tensor) -> Tensor:
    return F.pad(x, (1, 1))


class Fourier(nn.Module):
    """As FNet: the Fourier transform mixes all positions, padding among them."""

    def __init__(self):
        super().__init__()
        self.tokens, self.output = nn.Embedding(V, D), nn.Linear(D, V)

    def forward(self, ids: Tensor) -> Tensor:
        x = self.tokens(ids) + sinusoids(ids.shape[1])
        return self.output(F.layer_norm(x + torch.fft.fft2(x).real, (D,)))


def equal_embeddings() -> Mixing:
    model = Mixing(past, 1000)
    with torch.no_grad():
        model.tokens.weight[501] = model.tokens.weight[500]
    return model


class AtTheEnd(Toy):
    """Right but for the last position but one, which sees the last token."""

    def forward(self, ids: Tensor, caches=None) -> Tensor:
        logits = super().forward(ids, caches)
        early = F.pad(self.output(self.tokens(ids[:, -1:])), (0, 0, 1, 0))  # (B, 2, V)
        return logits + F.pad(early[:, :1] + early[:, 1:], (0, 0, max(ids.shape[1] - 2, 0), 1))[:, : ids.shape[1]]


class ColumnNorm(nn.BatchNorm1d):
    """BatchNorm over rows and positions: right in evaluation, where its mean is a constant."""

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x.transpose(1, 2)).transpose(1, 2)


class Rewritten(Toy):
    """Something is done to the ids or to the logits."""

    def __init__(self, before: Callable = lambda ids: ids, after: Callable = lambda logits: logits):
        super().__init__()
        self.before, self.after = before, after

    def forward(self, ids: Tensor, caches=None) -> Tensor:
        return self.after(super().forward(self.before(ids), caches))


class RowsAsTime(nn.Module):
    """A part of PyTorch that wants (T, B, D) is given (B, T, D)."""

    def __init__(self, attention: bool):
        super().__init__()
        self.attention, self.tokens, self.output = attention, nn.Embedding(V, D), nn.Linear(D, V)
        self.body = nn.TransformerEncoderLayer(D, H, 2 * D, dropout=0.0) if attention else nn.GRU(D, D)

    def forward(self, ids: Tensor) -> Tensor:
        x = self.tokens(ids) + sinusoids(ids.shape[1])
        return self.output(self.body(x) if self.attention else self.body(x)[0])


class NumbersAsMask(RowsAsTime):
    """1 where to look and 0 where not: in training PyTorch adds that to the scores."""

    def __init__(self):
        super().__init__(True)
        self.body = nn.TransformerEncoderLayer(D, H, 2 * D, dropout=0.0, batch_first=True)

    def forward(self, ids: Tensor) -> Tensor:
        mask = causal(ids.shape[1], ids.shape[1]).float()
        return self.output(self.body(self.tokens(ids) + sinusoids(ids.shape[1]), src_mask=mask))


class Pair(nn.Module):
    """On `nn.Transformer`; source_mask: what its encoder is told; read: what its decoder gets of the memory."""

    def __init__(self, source_mask: Callable = lambda S: None, read: Callable = lambda memory: memory):
        super().__init__()
        self.source_mask, self.read = source_mask, read
        self.tokens, self.output = nn.Embedding(V, D), nn.Linear(D, V)
        self.body = nn.Transformer(D, H, 1, 1, 2 * D, dropout=0.0, batch_first=True)

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        x, y = (self.tokens(ids) + sinusoids(ids.shape[1]) for ids in (source, target))
        memory = self.read(self.body.encoder(x, mask=self.source_mask(source.shape[1])))
        return self.output(self.body.decoder(y, memory, tgt_mask=~causal(target.shape[1], target.shape[1])))


def one_number(model: nn.Module) -> nn.Module:
    for parameter in model.parameters():
        nn.init.constant_(parameter, 0.02)
    return model


def with_nan(model: Toy) -> Toy:
    with torch.no_grad():
        model.blocks[1].expand.bias[3] = math.nan
    return model


class KeepsTheFirst(Decoding):
    """Of a first piece that is longer than the window it keeps the first keys."""

    def shorten(self, keys: Tensor, T: int) -> Tensor:
        return keys[:, :, : WINDOW - 1] if T > WINDOW else super().shorten(keys, T)


class AsLongAsTheFirst(Decoding):
    """Keeps as many keys as the first piece has, where these are few."""

    first = None

    def shorten(self, keys: Tensor, T: int) -> Tensor:
        self.first = self.first or T
        return keys[:, :, -(self.first if self.first < 8 else WINDOW - 1) :]


class Rolled(Decoding):
    """The keys in the cache are rolled by one."""

    def step(self, ids: Tensor) -> Tensor:
        logits = super().step(ids)
        for cache in self.caches[:-1]:
            cache["k"] = cache["k"].roll(1, 2)
        return logits


class Unsorted(Decoding):
    def select(self, rows: Tensor) -> None:
        self.caches[-1]["ids"] = self.caches[-1]["ids"][rows]  # keys and values stay where they are


class Forgetful(Decoding):
    """Loses the first token that it is fed."""

    def step(self, ids: Tensor) -> Tensor:
        first = not self.caches[0]
        logits = super().step(ids)
        if first:
            for cache in self.caches[:-1]:
                cache |= {name: cache[name][:, :, 1:] for name in cache}
        return logits.roll(1, 1) if first else logits


def text_batch(shift: int = 0) -> tuple[Tensor, Tensor]:
    text = torch.randint(1, V, (4, 24), generator=torch.Generator().manual_seed(0))
    return text[:, 4:20], text[:, 4 + shift : 20 + shift]


def cross_entropy(logits: Tensor, target: Tensor, ignored: int = PAD) -> Tensor:
    return F.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=ignored)


def divided_by_all(logits: Tensor, target: Tensor) -> Tensor:
    return F.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=PAD, reduction="sum") / target.numel()


def likelihood(logits: Tensor, target: Tensor) -> Tensor:
    return -cross_entropy(logits, target)


def turned(logits: Tensor, target: Tensor) -> Tensor:
    return cross_entropy(logits, target.T)


def shifting(logits: Tensor, target: Tensor) -> Tensor:
    """As the models of the library `transformers` do, whose labels are the inputs."""
    return cross_entropy(logits[:, :-1], target[:, 1:])


def of_the_first(logits: Tensor, target: Tensor) -> Tensor:
    return cross_entropy(logits[:, :1], target[:, :1])


def smoothed(logits: Tensor, target: Tensor) -> Tensor:
    return F.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=PAD, label_smoothing=0.1)


def twice_softmax(logits: Tensor, target: Tensor) -> Tensor:
    return cross_entropy(logits.softmax(dim=-1), target)


# --- the table --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """How the model is made, the probe that must find it, what diagnose is told, and a word of the first cause."""

    make: Callable[[], Any]
    probe: str
    cause: str = ""
    options: dict = field(default_factory=dict)
    state: str = "wrong"


ENCODER = dict(kind="encoder", pad_id=PAD)
FRESH = dict(trained=False)

WRONG: dict[str, Case] = {
    "no √K": Case(lambda: Toy(scale=1.0), "attention", "not divided", FRESH),
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


def second_layer_open() -> Toy:
    model = Toy()
    model.blocks[1].attention.mask = lambda T, S: torch.ones(T, S, dtype=torch.bool)
    return model


def unscaled() -> Toy:
    return Toy(scale=1.0)


def frozen_embedding(model: Toy) -> Toy:
    model.tokens.requires_grad_(False)
    return model


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
        "another function, and an honest one: nothing leaks, every part learns; only its loss is poor",
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
    "no zero_grad": "stands in the training loop, which is not handed over; the model is right",
}
