"""The whole Transformer in plain PyTorch, to be read first: encoder, decoder, and the decoder alone (`GPT`).

These are the classes that the learner writes in the lesson on the full model, in its order, and the solutions of its
inline exercises: pre-norm blocks, sinusoidal positions, a tied output, no dropout. A mask is boolean, True = may
attend, and id 0 is padding. The parts bear the names of those of `nn.models`, so a `state_dict` from here fits there,
and the logits are the same (tested). Letters: B batch, T and S positions, D width, H heads, K = D/H, F hidden width,
V words.
Sources: Vaswani et al. 2017; Xiong et al. 2020 for pre-norm; Radford et al. 2018 for `GPT`.
"""

import math

import torch
from torch import nn


def sinusoidal(positions, d_model):
    """PE(p, 2i) = sin(p / 10000^(2i/D)), PE(p, 2i+1) = cos(p / 10000^(2i/D)).   (T,) -> (T, D)"""
    frequencies = 10000.0 ** (-torch.arange(0, d_model, 2, device=positions.device) / d_model)  # (D/2,)
    angles = positions[:, None] * frequencies  # (T, D/2)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)


class Embedding(nn.Module):
    """Ids (B, T) -> vectors (B, T, D): the word's row of a table, times √D, plus the position."""

    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.tokens = nn.Embedding(vocab_size, d_model)
        nn.init.normal_(self.tokens.weight, std=d_model**-0.5)

    def forward(self, ids):
        T, D = ids.shape[1], self.tokens.embedding_dim
        place = sinusoidal(torch.arange(T, device=ids.device), D)
        return self.tokens(ids) * math.sqrt(D) + place


class Attention(nn.Module):
    """Every position of x (B, T, D) looks at every position of memory (B, S, D) that the mask allows. -> (B, T, D)"""

    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.query = nn.Linear(d_model, d_model)
        self.key = nn.Linear(d_model, d_model)
        self.value = nn.Linear(d_model, d_model)
        self.output = nn.Linear(d_model, d_model)

    def split(self, x):
        """(B, T, D) -> (B, H, T, K)"""
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def forward(self, x, memory, mask):
        """mask: True = may attend, broadcastable to (B, H, T, S)"""
        q, k, v = self.split(self.query(x)), self.split(self.key(memory)), self.split(self.value(memory))
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])  # (B, H, T, S)
        weights = scores.masked_fill(~mask, float("-inf")).softmax(dim=-1)
        heads = (weights @ v).transpose(1, 2).flatten(-2)  # (B, H, T, K) -> (B, T, D)
        return self.output(heads)


class FeedForward(nn.Module):
    """Every position by itself: D -> F, ReLU, F -> D. (B, T, D) -> (B, T, D)"""

    def __init__(self, d_model, d_ff):
        super().__init__()
        self.expand = nn.Linear(d_model, d_ff)
        self.contract = nn.Linear(d_ff, d_model)

    def forward(self, x):
        return self.contract(self.expand(x).relu())


class Block(nn.Module):
    """Self-attention, then cross-attention if cross=True, then feed-forward; each adds to x. (B, T, D) -> (B, T, D)"""

    def __init__(self, d_model, n_heads, d_ff, cross=False):
        super().__init__()
        self.self_attention = Attention(d_model, n_heads)
        self.self_attention_norm = nn.LayerNorm(d_model)
        if cross:
            self.cross_attention = Attention(d_model, n_heads)
            self.cross_attention_norm = nn.LayerNorm(d_model)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.feed_forward_norm = nn.LayerNorm(d_model)

    def forward(self, x, mask, memory=None, memory_mask=None):
        """mask: what x may see of itself; memory_mask: what it may see of the memory (B, S, D)"""
        y = self.self_attention_norm(x)
        x = x + self.self_attention(y, y, mask)
        if memory is not None:
            y = self.cross_attention_norm(x)
            x = x + self.cross_attention(y, memory, memory_mask)
        return x + self.feed_forward(self.feed_forward_norm(x))


class Encoder(nn.Module):
    """Ids (B, S) -> memory (B, S, D)."""

    def __init__(self, vocab_size, d_model, n_heads, d_ff, n_layers):
        super().__init__()
        self.input = Embedding(vocab_size, d_model)
        self.blocks = nn.ModuleList(Block(d_model, n_heads, d_ff) for _ in range(n_layers))
        self.norm = nn.LayerNorm(d_model)

    def forward(self, ids, mask):
        x = self.input(ids)
        for block in self.blocks:
            x = block(x, mask)
        return self.norm(x)


class Decoder(nn.Module):
    """Target ids (B, T) and memory (B, S, D) -> (B, T, D); no position sees a later one."""

    def __init__(self, vocab_size, d_model, n_heads, d_ff, n_layers):
        super().__init__()
        self.input = Embedding(vocab_size, d_model)
        self.blocks = nn.ModuleList(Block(d_model, n_heads, d_ff, cross=True) for _ in range(n_layers))
        self.norm = nn.LayerNorm(d_model)

    def forward(self, ids, memory, memory_mask):
        T = ids.shape[1]
        causal = torch.ones(T, T, dtype=torch.bool, device=ids.device).tril()
        x = self.input(ids)
        for block in self.blocks:
            x = block(x, causal, memory, memory_mask)
        return self.norm(x)


class Transformer(nn.Module):
    """Source ids (B, S) and target ids (B, T) -> logits (B, T, V)."""

    def __init__(self, source_size, target_size, d_model=64, n_heads=4, d_ff=256, n_layers=2):
        super().__init__()
        self.encoder = Encoder(source_size, d_model, n_heads, d_ff, n_layers)
        self.decoder = Decoder(target_size, d_model, n_heads, d_ff, n_layers)
        self.output = nn.Linear(d_model, target_size, bias=False)
        self.output.weight = self.decoder.input.tokens.weight

    def forward(self, source, target):
        real = (source != 0)[:, None, None, :]  # (B, 1, 1, S)
        memory = self.encoder(source, real)
        return self.output(self.decoder(target, memory, real))


class GPT(nn.Module):
    """Ids (B, T) -> logits (B, T, V): a stack of blocks that reads what it has written."""

    def __init__(self, vocab_size, d_model=128, n_heads=4, d_ff=512, n_layers=4):
        super().__init__()
        self.decoder = Encoder(vocab_size, d_model, n_heads, d_ff, n_layers)
        self.output = nn.Linear(d_model, vocab_size, bias=False)
        self.output.weight = self.decoder.input.tokens.weight

    def forward(self, ids):
        T = ids.shape[1]
        causal = torch.ones(T, T, dtype=torch.bool, device=ids.device).tril()
        return self.output(self.decoder(ids, causal))
