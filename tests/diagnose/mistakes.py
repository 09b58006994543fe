"""Faulty parts, models, caches and loss functions, from which wrong_models.py makes its table."""

import math
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from toy import (
    PAD,
    WINDOW,
    D,
    Decoding,
    H,
    K,
    Toy,
    V,
    causal,
    sinusoids,
)


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


def second_layer_open() -> Toy:
    model = Toy()
    model.blocks[1].attention.mask = lambda T, S: torch.ones(T, S, dtype=torch.bool)
    return model


def unscaled() -> Toy:
    return Toy(scale=1.0)


def frozen_embedding(model: Toy) -> Toy:
    model.tokens.requires_grad_(False)
    return model
