"""Wrong answers to the exercises inside notebook 08, unlike any in the bank: none may pass."""

import torch
import torch.nn.functional as F
from torch import nn

from answers.tables import named
from tx_helpers.exercises.plain_model import (
    GPT,
    Attention,
    Block,
    Decoder,
    Embedding,
    Encoder,
    FeedForward,
    Transformer,
)
from tx_helpers.masks import causal_mask
from tx_helpers.positions import sinusoidal


class EmbeddingByRandomPlaces(Embedding):
    def forward(self, ids):
        D = self.tokens.embedding_dim
        return self.tokens(ids) * D**0.5 + torch.randn(ids.shape[1], D)


class EmbeddingOfHalves(Embedding):
    def forward(self, ids):
        D = self.tokens.embedding_dim
        place = sinusoidal(torch.arange(ids.shape[1]), D)
        return self.tokens(ids) * D**0.5 + torch.cat([place[:, ::2], place[:, 1::2]], dim=1)


class AttentionWithOtherNames(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, x, memory, mask):
        q, k, v = (
            layer(one).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
            for layer, one in ((self.W_q, x), (self.W_k, memory), (self.W_v, memory))
        )
        return self.W_o(F.scaled_dot_product_attention(q, k, v, attn_mask=mask).transpose(1, 2).flatten(2))


class AttentionWithAWeakFill(Attention):
    def forward(self, x, memory, mask):
        q, k, v = self.split(self.query(x)), self.split(self.key(memory)), self.split(self.value(memory))
        scores = (q @ k.mT * q.shape[-1] ** -0.5).masked_fill(~mask, -1.0)
        return self.output((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))


class AttentionSummedOverHeads(Attention):
    def forward(self, x, memory, mask):
        q, k, v = self.split(self.query(x)), self.split(self.key(memory)), self.split(self.value(memory))
        scores = (q @ k.mT * q.shape[-1] ** -0.5).masked_fill(~mask, -torch.inf)
        return self.output((scores.softmax(-1) @ v).sum(1).repeat(1, 1, self.n_heads))


class FeedForwardWithoutBiases(FeedForward):
    def __init__(self, d_model, d_ff):
        super().__init__(d_model, d_ff)
        self.expand, self.contract = nn.Linear(d_model, d_ff, bias=False), nn.Linear(d_ff, d_model, bias=False)


class FeedForwardLeaky(FeedForward):
    def forward(self, x):
        return self.contract(F.leaky_relu(self.expand(x)))


class BlockInParallel(Block):
    def forward(self, x, mask, memory=None, memory_mask=None):
        y = self.self_attention_norm(x)
        out = x + self.self_attention(y, y, mask) + self.feed_forward(self.feed_forward_norm(x))
        if memory is not None:
            out = out + self.cross_attention(self.cross_attention_norm(x), memory, memory_mask)
        return out


class BlockWithOneNorm(Block):
    def forward(self, x, mask, memory=None, memory_mask=None):
        self.feed_forward_norm = self.self_attention_norm
        return super().forward(x, mask, memory, memory_mask)


class EncoderAddingTheEmbeddingAgain(Encoder):
    def forward(self, ids, mask):
        x = start = self.input(ids)
        for block in self.blocks:
            x = block(x, mask) + start
        return self.norm(x)


class EncoderBackwards(Encoder):
    def forward(self, ids, mask):
        x = self.input(ids)
        for block in reversed([*self.blocks, self.blocks[0]]):
            x = block(x, mask)
        return self.norm(x)


class DecoderSeeingTheLastTwo(Decoder):
    def forward(self, ids, memory, memory_mask):
        x, T = self.input(ids), ids.shape[1]
        for block in self.blocks:
            x = block(x, causal_mask(T) & ~causal_mask(T).tril(-2), memory, memory_mask)
        return self.norm(x)


class DecoderAlwaysMasksZeros(Decoder):
    def forward(self, ids, memory, memory_mask):
        x = self.input(ids) * (torch.arange(ids.shape[1]) % 2 == 0)[:, None]
        for block in self.blocks:
            x = block(x, causal_mask(ids.shape[1]), memory, memory_mask)
        return self.norm(x)


class TransformerWithAScaledOutput(Transformer):
    def forward(self, source, target):
        return super().forward(source, target) / self.output.in_features**0.5


class TransformerThatReadsTheSourceBackwards(Transformer):
    def forward(self, source, target):
        return super().forward(source.flip(1), target)


class GPTOfWindows(GPT):
    def forward(self, ids):
        T = ids.shape[1]
        return self.output(self.decoder(ids, causal_mask(T) & ~causal_mask(T).tril(-3)))


class GPTShifted(GPT):
    def forward(self, ids):
        return super().forward(ids).roll(1, dims=1)


UNLIKE = {
    "Embedding": named(EmbeddingByRandomPlaces, EmbeddingOfHalves),
    "Attention": named(AttentionWithOtherNames, AttentionWithAWeakFill, AttentionSummedOverHeads),
    "FeedForward": named(FeedForwardWithoutBiases, FeedForwardLeaky),
    "Block": named(BlockInParallel, BlockWithOneNorm),
    "Encoder": named(EncoderAddingTheEmbeddingAgain, EncoderBackwards),
    "Decoder": named(DecoderSeeingTheLastTwo, DecoderAlwaysMasksZeros),
    "Transformer": named(TransformerWithAScaledOutput, TransformerThatReadsTheSourceBackwards),
    "GPT": named(GPTOfWindows, GPTShifted),
}
