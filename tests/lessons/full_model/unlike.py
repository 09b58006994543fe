"""Wrong answers to the lesson's exercises, unlike any in the bank: none may pass."""

import torch
import torch.nn.functional as F

from answer_tables import named
from tx_helpers.lessons.full_model.exercises import folded_model as RIGHT_MODEL
from tx_helpers.nn.masks import causal_mask
from tx_helpers.nn.positions import sinusoidal
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


def tied_over_all_places_at_once(h, E, V):
    E = E[:V]
    return torch.softmax((h @ E.T).flatten(), 0).view(len(h), len(E)) * len(h)


def tied_the_filling_pushed_down_by_ten(h, E, V):
    z = h @ E.T
    z[:, V:] -= 10
    return z.softmax(-1)[:, :V]


@torch.no_grad()
def model_with_the_gains_alone(model, fold):
    """The shifts are thrown away before they are folded."""
    for norm in (part for name, part in model.named_modules() if isinstance(part, torch.nn.LayerNorm)):
        if norm is not model.decoder.norm:
            norm.bias.zero_()
    return RIGHT_MODEL(model, fold)


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
    "llama_block_parameters": {
        "with_a_norm_at_the_hidden_width": lambda D, F: 4 * D * D + 3 * D * F + D + F,
        "of_the_first_case": lambda D, F: 4 * 2 * 2 + 3 * 2 * 3 + 2 * 2,
    },
    "translator_parameters": {
        "with_embeddings_in_every_block": lambda D, F, V, N: N * (12 * D * D + 4 * D * F + 2 * V * D),
        "with_a_network_for_all_blocks": lambda D, F, V, N: N * 12 * D * D + 4 * D * F + 2 * V * D,
    },
    "tied_probabilities": named(tied_over_all_places_at_once, tied_the_filling_pushed_down_by_ten),
    "folded_layer": {
        "gain_twice": lambda g, b, W, c: (W * g * g, W @ b + c),
        "shift_divided_by_the_gain": lambda g, b, W, c: (W * g, W @ (b / g) + c),
    },
    "folded_model": named(model_with_the_gains_alone)
    | {
        "in_place_and_nothing_returned": lambda model, fold: RIGHT_MODEL(model, fold) and None,
    },
    "starting_projections": {
        "a_normal_distribution_of_mean_1_root_d": lambda D, K: tuple((torch.randn(D, K) + 1) / D**0.5 for _ in "qk"),
    },
    "Embedding": named(EmbeddingOfHalves),
    "Attention": named(AttentionWithAWeakFill),
    "FeedForward": named(FeedForwardLeaky),
    "Block": named(BlockWithOneNorm),
    "Encoder": named(EncoderAddingTheEmbeddingAgain),
    "Decoder": named(DecoderSeeingTheLastTwo),
    "Transformer": named(TransformerThatReadsTheSourceBackwards),
    "GPT": named(GPTOfWindows),
}
