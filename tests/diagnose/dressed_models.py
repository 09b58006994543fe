"""Right models as other people write them: no finding of `diagnose` may name one. Parts are exchanged by name."""

import math
from collections.abc import Callable
from itertools import product

import torch
import torch.nn.functional as F
from torch import Tensor, nn

V, D, H, LONGEST = 29, 24, 4, 64
K = D // H
square = nn.Transformer.generate_square_subsequent_mask

MASKS: dict[str, Callable[[int], Tensor]] = {  # (T, T), as `attn_mask` and `mask` of PyTorch take it
    "float": square,
    "boolean": lambda T: torch.ones(T, T).triu(1).bool(),
    "−1e9": lambda T: torch.ones(T, T).triu(1) * -1e9,
    "smallest number": lambda T: torch.full((T, T), torch.finfo(torch.float32).min).triu(1),
}


def heads(x: Tensor, n: int = H) -> Tensor:  # (B, T, n K) -> (B, n, T, K)
    return x.view(*x.shape[:2], n, K).transpose(1, 2)


def joined(x: Tensor) -> Tensor:  # (B, H, T, K) -> (B, T, D)
    return x.transpose(1, 2).contiguous().view(len(x), -1, D)


# --- the weights and values of one attention: (q, k, v), each (B, H, T, K) -> (B, H, T, K) ----------------------------
def sdpa(mask: str) -> Callable:
    return lambda q, k, v: F.scaled_dot_product_attention(
        q, k, v, attn_mask=~MASKS[mask](q.shape[2]) if mask == "boolean" else MASKS[mask](q.shape[2])
    )


def sdpa_causal(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)


def added(mask: str) -> Callable:
    return lambda q, k, v: (q @ k.mT / math.sqrt(K) + MASKS[mask](q.shape[2])).softmax(-1) @ v


def filled(fill: float) -> Callable:
    return lambda q, k, v: (q @ k.mT * K**-0.5).masked_fill(MASKS["boolean"](q.shape[2]), fill).softmax(-1) @ v


def where(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """As GPT-2's own code: w b − 10,000 (1 − b)."""
    seen = torch.ones(q.shape[2], k.shape[2]).tril()
    return (q @ k.mT / math.sqrt(K) * seen - 1e4 * (1 - seen)).softmax(-1) @ v


def einsum(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    scores = torch.einsum("bhtk,bhsk->bhts", q, k) / K**0.5
    return torch.einsum("bhts,bhsk->bhtk", scores.masked_fill(MASKS["boolean"](q.shape[2]), -1e20).softmax(3), v)


def by_hand(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Exponentials and their sum, with the largest taken away."""
    scores = q @ k.mT / math.sqrt(K) + square(q.shape[2])
    e = (scores - scores.amax(-1, keepdim=True)).exp()
    return e / e.sum(-1, keepdim=True) @ v


def with_sink(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """A weight more, which goes to nobody: softmax with 1 in the divisor."""
    scores = q @ k.mT / math.sqrt(K) + square(q.shape[2])
    return F.pad(scores, (1, 0)).softmax(-1)[..., 1:] @ v


def soft_capped(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return (30 * torch.tanh(q @ k.mT / math.sqrt(K) / 30) + square(q.shape[2])).softmax(-1) @ v


def windowed(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    T = q.shape[2]
    seen = torch.ones(T, T).tril().triu(-5).bool()
    return F.scaled_dot_product_attention(q, k, v, attn_mask=torch.zeros(T, T).masked_fill(~seen, -math.inf))


def alibi(fused: bool) -> Callable:
    def attend(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        T = q.shape[2]
        distance = torch.arange(T)[None, :] - torch.arange(T)[:, None]
        bias = distance * 2.0 ** -torch.arange(2, 2 * H + 1, 2)[:, None, None] + square(T)  # (H, T, T)
        if fused:
            return F.scaled_dot_product_attention(q, k, v, attn_mask=bias)
        return (q @ k.mT / math.sqrt(K) + bias).softmax(-1) @ v

    return attend


# --- rotations: (B, H, T, K) -> the same ------------------------------------------------------------------------------
def angles(T: int) -> Tensor:
    return torch.arange(T)[:, None] * 100 ** -(torch.arange(0, K, 2) / K)  # (T, K/2)


def halves(x: Tensor) -> Tensor:
    cos, sin = (torch.cat([f(angles(x.shape[2]))] * 2, -1) for f in (torch.cos, torch.sin))
    a, b = x.chunk(2, -1)
    return x * cos + torch.cat([-b, a], -1) * sin


def pairs(x: Tensor) -> Tensor:
    cos, sin = angles(x.shape[2]).cos(), angles(x.shape[2]).sin()
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack([a * cos - b * sin, a * sin + b * cos], -1).flatten(-2)


def complex_numbers(x: Tensor) -> Tensor:
    turned = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2)) * torch.polar(
        torch.ones(()), angles(x.shape[2])
    )
    return torch.view_as_real(turned).flatten(3).type_as(x)


# --- blocks: (B, T, D) -> the same ------------------------------------------------------------------------------------
class Own(nn.Module):
    """A block by hand, its matrices packed or apart, its key heads repeated."""

    def __init__(self, attend: Callable = sdpa_causal, *, packed=False, kv: int = H, repeat="interleave", turn=None,
                 parallel=False, qk_norm=False):  # fmt: skip
        super().__init__()
        self.attend, self.packed, self.kv, self.repeat, self.turn, self.parallel = (
            attend, packed, kv, repeat, turn or (lambda x: x), parallel,
        )  # fmt: skip
        widths = [D, kv * K, kv * K]
        self.qkv = nn.ModuleList([nn.Linear(D, sum(widths))] if packed else [nn.Linear(D, n) for n in widths])
        self.project, self.up, self.down = nn.Linear(D, D), nn.Linear(D, 2 * D), nn.Linear(2 * D, D)
        self.one, self.two = nn.LayerNorm(D), nn.Identity() if parallel else nn.LayerNorm(D)
        self.norm = nn.LayerNorm(K) if qk_norm else nn.Identity()

    def mixed(self, x: Tensor) -> Tensor:
        parts = self.qkv[0](x).split([D, self.kv * K, self.kv * K], -1) if self.packed else [f(x) for f in self.qkv]
        q, k, v = (heads(part, n) for part, n in zip(parts, (H, self.kv, self.kv), strict=True))
        q, k = self.turn(self.norm(q)), self.turn(self.norm(k))
        if self.repeat == "interleave":
            k, v = (y.repeat_interleave(H // self.kv, dim=1) for y in (k, v))
        else:
            k, v = (y[:, :, None].expand(-1, -1, H // self.kv, -1, -1).reshape(q.shape) for y in (k, v))
        return self.project(joined(self.attend(q, k, v)))

    def forward(self, x: Tensor) -> Tensor:
        if self.parallel:
            y = self.one(x)
            return x + self.mixed(y) + self.down(F.gelu(self.up(y)))
        x = x + self.mixed(self.one(x))
        return x + self.down(F.gelu(self.up(self.two(x))))


class Layer(nn.Module):
    """PyTorch's own layer, as an encoder's layer with a causal mask."""

    def __init__(self, mask: str, batch_first: bool, hint: bool = False, dropout: float = 0.0, **options):
        super().__init__()
        self.mask, self.batch_first, self.hint = mask, batch_first, hint
        self.layer = nn.TransformerEncoderLayer(D, H, 2 * D, dropout, batch_first=batch_first, **options)

    def forward(self, x: Tensor) -> Tensor:
        mask = MASKS[self.mask](x.shape[1])
        if self.batch_first:
            return self.layer(x, src_mask=mask, is_causal=self.hint)
        return self.layer(x.transpose(0, 1), mask, is_causal=self.hint).transpose(0, 1)


class Multihead(nn.Module):
    """nn.MultiheadAttention in a block by hand."""

    def __init__(self, mask: str, *, batch_first=True, weights=False, kept="", dropout=0.0):
        super().__init__()
        self.attention = nn.MultiheadAttention(D, H, dropout=dropout, batch_first=batch_first)
        self.norm, self.mask, self.batch_first, self.weights = nn.LayerNorm(D), MASKS[mask], batch_first, weights
        if kept == "buffer":
            self.register_buffer("kept", self.mask(LONGEST), persistent=False)
        elif kept:
            self.kept = self.mask(LONGEST)  # no buffer: it keeps its precision

    def forward(self, x: Tensor) -> Tensor:
        T, y = x.shape[1], self.norm(x)
        mask = self.kept[:T, :T] if hasattr(self, "kept") else self.mask(T)
        y = y if self.batch_first else y.transpose(0, 1)
        y = self.attention(y, y, y, attn_mask=mask, need_weights=self.weights)[0]
        return x + (y if self.batch_first else y.transpose(0, 1))


class Kept(nn.Module):
    """As nanoGPT: the mask in a buffer of 1 and 0, cut to size."""

    def __init__(self):
        super().__init__()
        self.own = Own(self.attend, packed=True)
        self.register_buffer("bias", torch.tril(torch.ones(LONGEST, LONGEST)).view(1, 1, LONGEST, LONGEST))

    def attend(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        T = q.shape[2]
        return (q @ k.mT / math.sqrt(K)).masked_fill(self.bias[:, :, :T, :T] == 0, -math.inf).softmax(-1) @ v

    def forward(self, x: Tensor) -> Tensor:
        return self.own(x)


class OneByOne(nn.Module):
    """Heads as modules of their own, joined by cat."""

    def __init__(self):
        super().__init__()
        self.heads = nn.ModuleList(nn.Linear(D, 3 * K) for _ in range(H))
        self.project = nn.Linear(D, D)

    def forward(self, x: Tensor) -> Tensor:
        results = []
        for head in self.heads:
            q, k, v = head(x).chunk(3, dim=-1)
            weights = (q @ k.mT * K**-0.5 + square(x.shape[1])).softmax(-1)
            results.append(weights @ v)
        return x + self.project(torch.cat(results, dim=-1))


class Relative(nn.Module):
    """A learned bias for each distance, added in the fused kernel."""

    def __init__(self):
        super().__init__()
        self.bias, self.own = nn.Embedding(LONGEST, H), Own(self.attend)

    def attend(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        t = torch.arange(q.shape[2])
        bias = self.bias((t[:, None] - t).clamp(min=0)).permute(2, 0, 1) + square(len(t)).to(q)
        return F.scaled_dot_product_attention(q, k, v, attn_mask=bias)

    def forward(self, x: Tensor) -> Tensor:
        return self.own(x)


# --- whole models -----------------------------------------------------------------------------------------------------
class Dressed(nn.Module):
    """ids -> logits of two blocks."""

    def __init__(self, block: Callable[[], nn.Module], *, positions=True, tied=False, scaled=False, flat=False,
                 pad: int | None = None, answer=lambda logits: logits):  # fmt: skip
        super().__init__()
        self.tokens, self.positions = nn.Embedding(V, D, padding_idx=pad), None
        if positions:
            self.positions = nn.Embedding(LONGEST, D)
            nn.init.normal_(self.positions.weight, std=0.1)
        nn.init.normal_(self.tokens.weight, std=0.1)
        self.blocks, self.output = nn.ModuleList(block() for _ in range(2)), nn.Linear(D, V, bias=not tied)
        if tied:
            self.output.weight = self.tokens.weight
        self.scaled, self.flat, self.answer = scaled, flat, answer

    def forward(self, ids: Tensor) -> Tensor:
        B, T = ids.shape
        x = self.tokens(ids.view(-1)).view(B, T, D) if self.flat else self.tokens(ids)
        x = x * math.sqrt(D) if self.scaled else x
        x = x + self.positions(torch.arange(T)) if self.positions else x
        for block in self.blocks:
            x = block(x)
        return self.answer(self.output(x))


class Hiding(nn.Module):
    """A causal model, or an encoder, that hides its padding, and says so by no attribute but padding_idx, if that."""

    def __init__(self, fill: float | None, pad: int, *, named: bool, causal=True, bias=False):
        super().__init__()
        self.fill, self.pad, self.causal, self.bias = fill, pad, causal, bias
        self.tokens, self.positions = nn.Embedding(V, D, padding_idx=pad if named else None), nn.Embedding(LONGEST, D)
        self.q, self.k, self.v, self.output = (nn.Linear(D, n) for n in (D, D, D, V))

    def forward(self, ids: Tensor) -> Tensor:
        T = ids.shape[1]
        x = 0.1 * (self.tokens(ids) + self.positions(torch.arange(T)))
        q, k, v = (heads(part(x)) for part in (self.q, self.k, self.v))
        seen = (ids != self.pad)[:, None, None, :].expand(-1, 1, T, -1)
        seen = seen & ~MASKS["boolean"](T) if self.causal else seen
        if self.fill is None:
            y = F.scaled_dot_product_attention(q, k, v, attn_mask=seen)
        elif self.bias:
            y = (q @ k.mT / math.sqrt(K) + (1.0 - seen.to(q)) * self.fill).softmax(-1) @ v
        else:
            y = (q @ k.mT / math.sqrt(K)).masked_fill(~seen, self.fill).softmax(-1) @ v
        return self.output(x + joined(y))


class Translator(nn.Module):
    """nn.Transformer with a float mask for the target, and padding ids of source and target of their own."""

    def __init__(self, *, mask="float", batch_first=True, pads: tuple[int, int] | None = None, layers=False, **options):
        super().__init__()
        self.mask, self.batch_first, self.pads = MASKS[mask], batch_first, pads
        one, two = pads or (None, None)
        self.source, self.target = nn.Embedding(V, D, padding_idx=one), nn.Embedding(V, D, padding_idx=two)
        self.positions, self.output = nn.Parameter(torch.randn(LONGEST, D)), nn.Linear(D, V)
        self.layers = layers
        if layers:
            self.encoder = nn.TransformerEncoderLayer(D, H, 2 * D, batch_first=batch_first, **options)
            self.decoder = nn.ModuleList(
                nn.TransformerDecoderLayer(D, H, 2 * D, batch_first=batch_first, **options) for _ in range(2)
            )
        else:
            self.body = nn.Transformer(D, H, 2, 2, 2 * D, batch_first=batch_first, **options)

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        x, y = (t(i) + self.positions[: i.shape[1]] for t, i in ((self.source, source), (self.target, target)))
        if not self.batch_first:
            x, y = x.transpose(0, 1), y.transpose(0, 1)
        mask, hidden, own = self.mask(target.shape[1]), None, None
        if self.pads is not None:
            hidden = source == self.pads[0]
            own = target == self.pads[1]
            if mask.is_floating_point():  # PyTorch asks for masks of one kind
                hidden, own = (torch.zeros(m.shape).masked_fill(m, -1e9) for m in (hidden, own))
        if self.layers:
            memory = self.encoder(x, src_key_padding_mask=hidden)
            for layer in self.decoder:
                y = layer(y, memory, tgt_mask=mask, tgt_key_padding_mask=own, memory_key_padding_mask=hidden)
        else:
            y = self.body(x, y, tgt_mask=mask, src_key_padding_mask=hidden, tgt_key_padding_mask=own,
                          memory_key_padding_mask=hidden)  # fmt: skip
        return self.output(y if self.batch_first else y.transpose(0, 1))


class Streams(nn.Module):
    """As ProphetNet: a main stream, and one for each future n-gram that reads it and its own token; the first answers.

    (In `transformers` the streams' biases get the embeddings of other positions: that is a leak, and reported.)
    """

    def __init__(self, n: int = 2):
        super().__init__()
        self.tokens, self.positions, self.starts = nn.Embedding(V, D), nn.Embedding(LONGEST, D), nn.Embedding(n, D)
        self.q, self.k, self.v, self.output = (nn.Linear(D, m) for m in (D, D, D, V))

    def forward(self, ids: Tensor) -> tuple[Tensor, list[Tensor]]:
        T = ids.shape[1]
        main = self.tokens(ids) + self.positions(torch.arange(T))
        causal = square(T).to(main)
        main = main + joined(sdpa_with(heads(self.q(main)), heads(self.k(main)), heads(self.v(main)), causal))
        streams = []
        for start in self.starts.weight:
            own = start + self.positions(torch.arange(T))[None].expand_as(main)
            both = torch.cat([main, own], dim=1)
            seen = torch.cat([causal, torch.full((T, T), -math.inf).fill_diagonal_(0).to(main)], dim=1)  # (T, 2 T)
            streams.append(own + joined(sdpa_with(*(heads(f(y)) for f, y in
                ((self.q, own), (self.k, both), (self.v, both))), seen)))  # fmt: skip
        logits = [self.output(stream) for stream in streams]
        return sum(logits) / len(logits), logits


def sdpa_with(q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> Tensor:
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)


def own(attend: Callable = sdpa_causal, model: dict | None = None, **options) -> Callable[[], nn.Module]:
    return lambda: Dressed(lambda: Own(attend, **options), **(model or {}))


ROTARY = dict(positions=False)
DRESSED: dict[str, tuple[Callable[[], nn.Module], dict]] = {  # name: (how it is made, the options of diagnose)
    **{
        f"nn.TransformerEncoderLayer, {mask} mask, {'B first' if first else 'T first'}": (
            lambda mask=mask, first=first: Dressed(lambda: Layer(mask, first)),
            {},
        )
        for mask, first in product(("float", "boolean", "smallest number"), (True, False))
    },
    "nn.TransformerEncoderLayer, pre-norm, is_causal": (
        lambda: Dressed(lambda: Layer("float", True, True, dropout=0.1, norm_first=True)),
        {},
    ),
    **{
        f"nn.MultiheadAttention, {mask} mask{', weights' if weights else ''}": (
            lambda mask=mask, weights=weights: Dressed(lambda: Multihead(mask, weights=weights)),
            {},
        )
        for mask, weights in product(("float", "boolean", "−1e9"), (True, False))
    },
    "nn.MultiheadAttention, T first": (lambda: Dressed(lambda: Multihead("float", batch_first=False, dropout=0.1)), {}),
    "nn.MultiheadAttention, a buffer": (lambda: Dressed(lambda: Multihead("float", kept="buffer")), {}),
    "nn.MultiheadAttention, a mask kept": (lambda: Dressed(lambda: Multihead("float", kept="tensor")), {}),
    **{f"fused, {mask} mask": (own(sdpa(mask)), {}) for mask in MASKS},
    **{f"fused, {mask} mask, packed, tied": (own(sdpa(mask), dict(tied=True), packed=True), {}) for mask in MASKS},
    "fused, is_causal, packed": (own(packed=True), {}),
    "fused, is_causal, ids.view(−1)": (own(model=dict(flat=True)), {}),
    **{f"added, {mask} mask": (own(added(mask)), {}) for mask in ("float", "−1e9", "smallest number")},
    **{f"filled with {fill:g}": (own(filled(fill), packed=True), {}) for fill in (-math.inf, -1e9, -1e4)},
    "GPT-2's first code": (own(where), {}),
    "einsum": (own(einsum), {}),
    "exponentials by hand": (own(by_hand), {}),
    "a sink": (own(with_sink), {}),
    "soft-capped": (own(soft_capped), {}),
    "a window": (own(windowed), {}),
    "nanoGPT's buffer": (lambda: Dressed(Kept), {}),
    "heads one by one": (lambda: Dressed(OneByOne), {}),
    "relative biases": (lambda: Dressed(Relative, positions=False), {}),
    "ALiBi": (own(alibi(False), ROTARY), {}),
    "ALiBi, fused": (own(alibi(True), ROTARY), {}),
    "rotary, halves": (own(turn=halves, model=ROTARY), {}),
    "rotary, pairs, float mask": (own(sdpa("float"), ROTARY, turn=pairs), {}),
    "rotary, complex": (own(turn=complex_numbers, model=ROTARY), {}),
    "grouped, repeat_interleave": (own(kv=2, turn=halves, model=ROTARY), {}),
    "grouped, expand": (own(sdpa("float"), kv=2, repeat="expand"), {}),
    "one key head": (own(filled(-1e9), kv=1, packed=True), {}),
    "parallel, queries and keys normed": (own(parallel=True, qk_norm=True), {}),
    "scaled embeddings, tied, (logits, None)": (
        own(sdpa("float"), dict(scaled=True, tied=True, answer=lambda logits: (logits, None))),
        {},
    ),
    "padding_idx alone": (own(sdpa("float"), dict(pad=0)), {}),
    **{
        f"padding {pad} hidden, {'fused' if fill is None else f'{fill:g}'}, {'padding_idx' if named else 'unsaid'}": (
            lambda pad=pad, fill=fill, named=named: Hiding(fill, pad, named=named),
            {},
        )
        for (pad, fill), named in product([(0, -math.inf), (3, -1e9), (V - 1, -math.inf)], (True, False))
    },
    "padding 1 hidden, fused, unsaid": (lambda: Hiding(None, 1, named=False), {}),
    "padding 0 added, −10,000": (lambda: Hiding(-1e4, 0, named=False, bias=True), dict(pad_id=0)),
    "encoder, padding unsaid": (lambda: Hiding(-1e9, 0, named=False, causal=False), dict(kind="encoder")),
    "encoder, padding said": (lambda: Hiding(-1e9, 0, named=True, causal=False), dict(kind="encoder", pad_id=0)),
    "nn.Transformer, float mask": (Translator, {}),
    "nn.Transformer, float mask, T first": (lambda: Translator(batch_first=False, norm_first=True), {}),
    "nn.Transformer, padding of their own": (lambda: Translator(pads=(1, 2)), dict(pad_id=2, source_pad_id=1)),
    "nn.Transformer, padding of their own, unsaid": (lambda: Translator(mask="boolean", pads=(1, 2)), {}),
    "decoder layers, float masks": (lambda: Translator(layers=True), {}),
    "decoder layers, padding 0": (lambda: Translator(layers=True, mask="boolean", pads=(0, 0)), dict(pad_id=0)),
    "streams for n-grams": (Streams, {}),
}
