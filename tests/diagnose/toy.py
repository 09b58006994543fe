"""A compact language model with a switch for each mistake, and decoding with a cache; right as it stands."""

import math
from collections.abc import Callable
from functools import partial

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
