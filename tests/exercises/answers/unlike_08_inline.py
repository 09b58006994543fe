"""Wrong answers to the exercises inside notebook 08, unlike any in the bank: none may pass."""

import torch
import torch.nn.functional as F

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


class EmbeddingOfHalves(Embedding):
    def forward(self, ids):
        D = self.tokens.embedding_dim
        place = sinusoidal(torch.arange(ids.shape[1]), D)
        return self.tokens(ids) * D**0.5 + torch.cat([place[:, ::2], place[:, 1::2]], dim=1)


class AttentionWithAWeakFill(Attention):
    def forward(self, x, memory, mask):
        q, k, v = self.split(self.query(x)), self.split(self.key(memory)), self.split(self.value(memory))
        scores = (q @ k.mT * q.shape[-1] ** -0.5).masked_fill(~mask, -1.0)
        return self.output((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))


class FeedForwardLeaky(FeedForward):
    def forward(self, x):
        return self.contract(F.leaky_relu(self.expand(x)))


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


class DecoderSeeingTheLastTwo(Decoder):
    def forward(self, ids, memory, memory_mask):
        x, T = self.input(ids), ids.shape[1]
        for block in self.blocks:
            x = block(x, causal_mask(T) & ~causal_mask(T).tril(-2), memory, memory_mask)
        return self.norm(x)


class TransformerThatReadsTheSourceBackwards(Transformer):
    def forward(self, source, target):
        return super().forward(source.flip(1), target)


class GPTOfWindows(GPT):
    def forward(self, ids):
        T = ids.shape[1]
        return self.output(self.decoder(ids, causal_mask(T) & ~causal_mask(T).tril(-3)))


UNLIKE = {
    "Embedding": named(EmbeddingOfHalves),
    "Attention": named(AttentionWithAWeakFill),
    "FeedForward": named(FeedForwardLeaky),
    "Block": named(BlockWithOneNorm),
    "Encoder": named(EncoderAddingTheEmbeddingAgain),
    "Decoder": named(DecoderSeeingTheLastTwo),
    "Transformer": named(TransformerThatReadsTheSourceBackwards),
    "GPT": named(GPTOfWindows),
}
