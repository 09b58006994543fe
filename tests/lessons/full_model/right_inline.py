"""Right answers to the exercises inside the notebook by other algorithms: all must pass."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from answer_tables import named
from tx_helpers import plain as plain_model
from tx_helpers.nn.masks import causal_mask
from tx_helpers.nn.positions import SinusoidalPositions, sinusoidal
from tx_helpers.plain import (
    GPT,
    Attention,
    Block,
    Decoder,
    Embedding,
    Encoder,
    FeedForward,
    Transformer,
)


def _forward(base, forward, name):
    """The class `base` with another forward."""
    return type(name, (base,), {"forward": forward})


class EmbeddingByDrawing(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.width = d_model
        self.tokens = nn.Embedding(vocab_size, d_model)
        self.tokens.weight = nn.Parameter(torch.randn(vocab_size, d_model) / math.sqrt(d_model))
        self.places = SinusoidalPositions(d_model)

    def forward(self, ids):
        return self.places(torch.arange(ids.size(1))) + self.width**0.5 * self.tokens(ids)


def _by_one_hot(self, ids):
    V, D = self.tokens.weight.shape
    x = F.one_hot(ids, V).float() @ self.tokens.weight * D**0.5
    return x + sinusoidal(torch.arange(ids.shape[1]).expand_as(ids), D)


def _by_rows(self, ids):
    D = self.tokens.weight.shape[1]
    rows = [[self.tokens.weight[i] * D**0.5 for i in row] for row in ids]
    x = torch.stack([torch.stack(row) for row in rows])
    for t in range(ids.shape[1]):
        x[:, t] += sinusoidal(torch.tensor(t), D)
    return x


def _scaled_table(self, ids):
    D = self.tokens.embedding_dim
    return F.embedding(ids, self.tokens.weight * math.sqrt(D)) + sinusoidal(torch.arange(ids.shape[-1])[None], D)


def _fused(self, x, memory, mask):
    q, k, v = self.split(self.query(x)), self.split(self.key(memory)), self.split(self.value(memory))
    heads = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return self.output(heads.transpose(1, 2).reshape(x.shape))


def _einsum(self, x, memory, mask):
    q, k, v = (part.unflatten(-1, (self.n_heads, -1)) for part in (self.query(x), self.key(memory), self.value(memory)))
    scores = torch.einsum("bthk,bshk->bhts", q, k) * q.shape[-1] ** -0.5
    weights = torch.where(mask, scores, -1e9).softmax(-1)
    return self.output(torch.einsum("bhts,bshk->bthk", weights, v).flatten(2))


def _one_head_at_a_time(self, x, memory, mask):
    K, heads = x.shape[-1] // self.n_heads, []
    for h in range(self.n_heads):
        own = slice(h * K, (h + 1) * K)
        q, k, v = self.query(x)[..., own], self.key(memory)[..., own], self.value(memory)[..., own]
        scores = q @ k.transpose(1, 2) / math.sqrt(K)
        allowed = mask if mask.dim() == 2 else mask[:, 0]
        heads.append(torch.softmax(scores.masked_fill(~allowed, float("-inf")), -1) @ v)
    return self.output(torch.cat(heads, -1))


def _queries_scaled_mask_added(self, x, memory, mask):
    q = self.split(self.query(x)) / math.sqrt(x.shape[-1] / self.n_heads)
    added = torch.zeros(mask.shape).masked_fill(mask.logical_not(), -torch.inf)
    weights = torch.exp((q @ self.split(self.key(memory)).mT + added).log_softmax(-1))
    return F.linear(
        (weights @ self.split(self.value(memory))).permute(0, 2, 1, 3).flatten(2), self.output.weight, self.output.bias
    )


class FeedForwardWithModule(nn.Module):
    def __init__(self, D, F):
        super().__init__()
        self.contract, self.expand, self.relu = nn.Linear(F, D), nn.Linear(D, F), nn.ReLU()

    def forward(self, x):
        return self.contract(self.relu(self.expand(x)))


def _no_stream_changed(self, x, mask, memory=None, memory_mask=None):
    normed = self.self_attention_norm(x)
    a = x + self.self_attention(normed, normed, mask)
    b = 0
    if hasattr(self, "cross_attention"):
        b = self.cross_attention(self.cross_attention_norm(a), memory, memory_mask)
    c = a + b
    return torch.add(c, self.feed_forward(self.feed_forward_norm(c)))


def _summed_in_place(self, x, mask, memory=None, memory_mask=None):
    stream = x.clone()
    y = self.self_attention_norm(stream)
    stream += self.self_attention(x=y, memory=y, mask=mask)
    if memory is not None:
        stream += self.cross_attention(self.cross_attention_norm(stream), memory, mask=memory_mask)
    stream += self.feed_forward(self.feed_forward_norm(stream))
    return stream


def _pairs_of_norm_and_layer(self, x, mask, memory=None, memory_mask=None):
    steps = [(self.self_attention_norm, lambda y: self.self_attention(y, y, mask))]
    if memory is not None:
        steps += [(self.cross_attention_norm, lambda y: self.cross_attention(y, memory, memory_mask))]
    for norm, layer in [*steps, (self.feed_forward_norm, self.feed_forward)]:
        x = x + layer(norm(x))
    return x


class BlockInAnotherOrder(nn.Module):
    """The parts are made in another order, and cross-attention is always there to be asked."""

    def __init__(self, d_model, n_heads, d_ff, cross=False):
        super().__init__()
        self.feed_forward, self.feed_forward_norm = FeedForward(d_model, d_ff), nn.LayerNorm(d_model)
        self.cross_attention = Attention(d_model, n_heads) if cross else None
        self.cross_attention_norm = nn.LayerNorm(d_model) if cross else None
        self.self_attention, self.self_attention_norm = Attention(d_model, n_heads), nn.LayerNorm(d_model)

    forward = Block.forward


class EncoderOfBlocksOneByOne(nn.Module):
    def __init__(self, vocab_size, d_model, n_heads, d_ff, n_layers):
        super().__init__()
        self.blocks = nn.ModuleList()
        for _ in range(n_layers):
            self.blocks.append(Block(d_model, n_heads, d_ff, cross=False))
        self.input, self.norm = Embedding(vocab_size, d_model), nn.LayerNorm(d_model)

    def forward(self, ids, mask):
        stream = [self.input(ids)]
        for i in range(len(self.blocks)):
            stream.append(self.blocks[i](stream[-1], mask))
        return self.norm(stream[-1])


class DecoderFromEncoder(Encoder):
    def __init__(self, vocab_size, d_model, n_heads, d_ff, n_layers):
        super().__init__(vocab_size, d_model, n_heads, d_ff, 0)
        self.blocks.extend(Block(d_model, n_heads, d_ff, True) for _ in range(n_layers))

    def forward(self, ids, memory, memory_mask):
        x, mask = self.input(ids), causal_mask(ids.shape[1])
        for block in self.blocks:
            x = block(x, memory_mask=memory_mask, memory=memory, mask=mask)
        return self.norm(x)


def _decoder_mask(make):
    """The decoder with another way of making its mask."""

    def forward(self, ids, memory, memory_mask):
        x, T = self.input(ids), ids.shape[1]
        for block in self.blocks:
            x = block(x, make(T), memory, memory_mask)
        return self.norm(x)

    return forward


def _norm_by_function(self, ids, mask):
    x = self.input(ids)
    for block in self.blocks:
        x = block(x, mask.clone())
    return F.layer_norm(x, x.shape[-1:], self.norm.weight, self.norm.bias)


def _through_recursion(self, ids, mask):
    def through(x, blocks):
        return through(blocks[0](x, mask), blocks[1:]) if len(blocks) else x

    return self.norm(through(self.input(ids), list(self.blocks)))


class TransformerTiedTheOtherWay(nn.Module):
    def __init__(self, source_size, target_size, d_model=64, n_heads=4, d_ff=256, n_layers=2):
        super().__init__()
        self.output = nn.Linear(d_model, target_size, bias=False)
        self.decoder = Decoder(target_size, d_model, n_heads, d_ff, n_layers)
        self.encoder = Encoder(source_size, d_model, n_heads, d_ff, n_layers)
        self.decoder.input.tokens.weight = self.output.weight

    def forward(self, source, target):
        mask = source.gt(0).unsqueeze(1).unsqueeze(2)
        return self.output(self.decoder(target, self.encoder(source, mask), mask))


def _with_equal(self, source, target):
    mask = ~source.eq(0).view(len(source), 1, 1, -1)
    return self.decoder(target, self.encoder(source, mask), mask) @ self.decoder.input.tokens.weight.T


def _mask_expanded(self, source, target):
    (B, S), T = source.shape, target.shape[1]
    real = (source != 0)[:, None, None].expand(B, 1, S, S)
    return self.output(self.decoder(target, self.encoder(source, real), real[:, :, :1].expand(B, 1, T, S)))


def _mask_of_a_list(self, source, target):
    real = torch.tensor([[[[bool(i) for i in row]]] for row in source.tolist()])
    hidden = self.decoder(target, memory=self.encoder(source, real), memory_mask=real)
    return F.linear(hidden, self.output.weight)


class GPTTiedTheOtherWay(nn.Module):
    def __init__(self, vocab_size, d_model=64, n_heads=4, d_ff=256, n_layers=2):
        super().__init__()
        self.decoder = Encoder(vocab_size, d_model, n_heads, d_ff, n_layers)
        self.output = nn.Linear(d_model, vocab_size, bias=False)
        self.decoder.input.tokens.weight = self.output.weight

    def forward(self, ids):
        t = torch.arange(ids.shape[1])
        return self.output(self.decoder(ids, t[:, None] >= t))


def _gpt_mask(make):
    return lambda self, ids: self.output(self.decoder(ids, make(ids.shape[1])))


def _gpt_by_prefixes(self, ids):
    """Position t from the ids up to t alone, one after the other: no mask is needed then in the last row."""
    rows = [self.decoder(ids[:, : t + 1], causal_mask(t + 1))[:, -1] for t in range(ids.shape[1])]
    return self.output(torch.stack(rows, dim=1))


def _variants(base, **forwards):
    return {name: _forward(base, forward, base.__name__) for name, forward in forwards.items()}


MASKS = {
    "mask_by_comparison": lambda T: torch.arange(T)[:, None] >= torch.arange(T),
    "mask_not_upper": lambda T: ~torch.triu(torch.ones(T, T), diagonal=1).bool(),
    "mask_of_one_row_each": lambda T: torch.stack([torch.arange(T) <= t for t in range(T)])[None, None],
}
RIGHT = {
    "Embedding": named(EmbeddingByDrawing)
    | _variants(Embedding, by_one_hot=_by_one_hot, by_rows=_by_rows, scaled_table=_scaled_table),
    "Attention": _variants(
        Attention,
        fused=_fused,
        einsum_and_a_finite_fill=_einsum,
        one_head_at_a_time=_one_head_at_a_time,
        mask_added=_queries_scaled_mask_added,
    ),
    "FeedForward": named(FeedForwardWithModule)
    | _variants(
        FeedForward,
        by_clamp=lambda self, x: self.contract(self.expand(x).clamp(min=0)),
        by_maximum=lambda self, x: self.contract(torch.maximum(self.expand(x), torch.tensor(0.0))),
        by_matrices=lambda self, x: (
            F.relu(x @ self.expand.weight.T + self.expand.bias) @ self.contract.weight.T + self.contract.bias
        ),
    ),
    "Block": named(BlockInAnotherOrder)
    | _variants(
        Block, names_for_each_step=_no_stream_changed, in_place=_summed_in_place, table=_pairs_of_norm_and_layer
    ),
    "Encoder": named(EncoderOfBlocksOneByOne)
    | _variants(
        Encoder,
        norm_by_function=_norm_by_function,
        recursion=_through_recursion,
        nothing_changed=plain_model.Encoder.forward,
    ),
    "Decoder": named(DecoderFromEncoder)
    | _variants(Decoder, **{name: _decoder_mask(make) for name, make in MASKS.items()}),
    "Transformer": named(TransformerTiedTheOtherWay)
    | _variants(Transformer, by_the_table=_with_equal, mask_expanded=_mask_expanded, mask_of_a_list=_mask_of_a_list),
    "GPT": named(GPTTiedTheOtherWay)
    | _variants(GPT, by_prefixes=_gpt_by_prefixes, **{name: _gpt_mask(make) for name, make in MASKS.items()}),
}
