"""Exercises that stand inside the notebook: the parts of its model, the stacks and the models. Solutions: `plain`.

In the cases of attention and block T = S: what is taken from the wrong side still fits, so the mistake can be named.
"""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tx_helpers.exercises.exercise import Exercise, random_tensors
from tx_helpers.lessons.full_model.filled import examined, padding_of, some_ids
from tx_helpers.nn.masks import causal_mask
from tx_helpers.nn.positions import sinusoidal
from tx_helpers.plain import GPT, Attention, Block, Decoder, Embedding, Encoder, FeedForward, Transformer

# --- the embedding ---------------------------------------------------------------------------------------------------


def _embedding(answer: type, vocab_size: int, d_model: int, ids: Tensor) -> dict[str, object]:
    return examined(answer, Embedding, (vocab_size, d_model), ids)


embedding = Exercise(
    "Embedding",
    title="From ids to the stream",
    goal="Write forward. Look the ids (B, T) up in the table, multiply by √D, and add the positions 0, 1, 2 …: "
    "`sinusoidal(torch.arange(T), D)` gives them as (T, D). Both sizes can be read from ids and table.",
    difficulty=1,
    minutes=3,
    cases=lambda: [(50, 4, some_ids(1, 3)), (60, 16, some_ids(2, 5, words=60))],
    run=_embedding,
    inline=True,
    given=("__init__",),
    hints=(
        "T is ids.shape[1]. The table knows D, as self.tokens.embedding_dim.",
        "self.tokens(ids) is (B, T, D). The positions (T, D) are the same in each row of the batch, so they broadcast.",
        "return self.tokens(ids) * math.sqrt(D) + sinusoidal(torch.arange(ids.shape[1]), D)",
    ),
)
embedding.solution(Embedding)


def _place(ids: Tensor, D: int, first: int = 0) -> Tensor:
    return sinusoidal(torch.arange(first, first + ids.shape[1]), D)


class _Input(Embedding):
    """An embedding whose sum of word w, position p and √D is given by `total`."""

    def forward(self, ids):
        D = self.tokens.embedding_dim
        return self.total(self.tokens(ids), _place(ids, D), math.sqrt(D))


@embedding.mistake("You did not add the positions: the same word gives the same vector wherever it stands.")
class NoPositions(_Input):
    def total(self, w, p, root):
        return w * root


@embedding.mistake(
    "The factor √D is missing. The table's numbers have the deviation 1/√D, so the positions drown the words."
)
class Unscaled(_Input):
    def total(self, w, p, root):
        return w + p


@embedding.mistake("You multiplied the positions by √D, too. The factor belongs to the word's vector alone.")
class AllScaled(_Input):
    def total(self, w, p, root):
        return (w + p) * root


@embedding.mistake("You divided by √D where the word's vector is multiplied by it.")
class Divided(_Input):
    def total(self, w, p, root):
        return w / root + p


@embedding.mistake("Your words are multiplied by D, not by √D: they drown the positions.")
class ScaledByD(_Input):
    def total(self, w, p, root):
        return w * root**2 + p


@embedding.mistake("Your positions count the rows of the batch. They count the words of a row: torch.arange(T).")
class PositionsOfRows(Embedding):
    def forward(self, ids):
        D = self.tokens.embedding_dim
        return self.tokens(ids) * math.sqrt(D) + sinusoidal(torch.arange(len(ids)), D)[:, None]


@embedding.mistake("Your positions start at 1. The first word stands at position 0.")
class FromOne(Embedding):
    def forward(self, ids):
        D = self.tokens.embedding_dim
        return self.tokens(ids) * math.sqrt(D) + _place(ids, D, first=1)


@embedding.mistake("Your positions come from the ids. A position is a place in the row: torch.arange(T).")
class PositionsOfIds(Embedding):
    def forward(self, ids):
        D = self.tokens.embedding_dim
        return self.tokens(ids) * math.sqrt(D) + sinusoidal(ids, D)


@embedding.mistake("You multiplied by √T, the length of the row. The factor is √D, the width of the table.")
class RootOfLength(Embedding):
    def forward(self, ids):
        return self.tokens(ids) * math.sqrt(ids.shape[1]) + _place(ids, self.tokens.embedding_dim)


@embedding.mistake("You multiplied by √V, the number of the table's rows. The factor is √D, the width of a row.")
class RootOfVocabulary(Embedding):
    def forward(self, ids):
        return self.tokens(ids) * math.sqrt(self.tokens.num_embeddings) + _place(ids, self.tokens.embedding_dim)


# --- attention -------------------------------------------------------------------------------------------------------


def _attention(answer: type, d_model: int, n_heads: int, x: Tensor, memory: Tensor, mask: Tensor) -> dict[str, object]:
    return examined(answer, Attention, (d_model, n_heads), x, memory, mask)


attention = Exercise(
    "Attention",
    title="Multi-head attention",
    goal="Write forward. The queries q come from x, the keys k and values v from the memory; in self-attention x "
    "and memory are one tensor. Split all three into heads, score, mask (True = may attend) before the softmax, mix "
    "the values, and merge the heads for the output matrix.",
    difficulty=2,
    minutes=7,
    formula=r"\mathrm{softmax}\!\left(\frac{q\, k^{\mathsf T}}{\sqrt{d_k}}\right) v",
    source="Vaswani et al. 2017, eq. 1, in each head; d_k = D/H is the head's width, K in the shapes; a score that the "
    "mask forbids is −∞",
    cases=lambda: [
        (4, 2, *random_tensors((1, 3, 4), (1, 3, 4), seed=1), causal_mask(3)),
        (12, 3, *random_tensors((2, 5, 12), (2, 5, 12), seed=2), padding_of(4, 5)),
    ],
    run=_attention,
    inline=True,
    given=("__init__", "split"),
    hints=(
        "Five lines: q, k and v; the scores (B, H, T, S); the weights; the heads side by side; the output matrix.",
        'Masking: scores.masked_fill(~mask, float("-inf")), then softmax over the last dimension, the keys.',
        "Merging undoes split: (weights @ v).transpose(1, 2).flatten(-2), and self.output of that.",
    ),
)
attention.solution(Attention)


class _Steps(Attention):
    """The solution in steps that a mistake can replace."""

    def sources(self, x, memory):
        return x, memory, memory  # of queries, keys, values

    def scale(self, q):
        return q.shape[-1] ** -0.5

    def weights(self, scores, mask):
        return scores.masked_fill(~mask, -torch.inf).softmax(-1)

    def merge(self, heads):
        return heads.transpose(1, 2).flatten(-2)

    def finish(self, merged):
        return self.output(merged)

    def layers(self):
        return self.query, self.key, self.value

    def forward(self, x, memory, mask):
        pairs = zip(self.layers(), self.sources(x, memory), strict=True)
        q, k, v = [self.split(layer(one)) for layer, one in pairs]
        weights = self.weights(q @ k.mT * self.scale(q), mask)
        return self.finish(self.merge(weights @ v))


@attention.mistake(
    "Your keys and values come from x. In cross-attention they come from the memory: only the queries are x's."
)
class KeysFromX(_Steps):
    def sources(self, x, memory):
        return x, x, x


@attention.mistake("Your values come from x. They come from the memory, like the keys.")
class ValuesFromX(_Steps):
    def sources(self, x, memory):
        return x, memory, x


@attention.mistake("You swapped the sides: the queries come from x, the keys and values from the memory.")
class SidesSwapped(_Steps):
    def sources(self, x, memory):
        return memory, x, x


@attention.mistake("The division by √d_k is missing: the scores are too large, and the softmax is too sharp.")
class NoRoot(_Steps):
    def scale(self, q):
        return 1.0


@attention.mistake("You divided by √D. A head has the width d_k = D/H, so its scores are divided by √d_k.")
class RootOfD(_Steps):
    def scale(self, q):
        return (q.shape[-1] * self.n_heads) ** -0.5


@attention.mistake("Your mask is upside down: True means that a position may be seen. Fill where it is False: ~mask.")
class MaskInverted(_Steps):
    def weights(self, scores, mask):
        return scores.masked_fill(mask, -torch.inf).softmax(-1)


@attention.mistake(
    "You masked after the softmax. The forbidden positions have already taken their share: the rows no longer sum to 1."
)
class MaskedLate(_Steps):
    def weights(self, scores, mask):
        return scores.softmax(-1).masked_fill(~mask, 0.0)


@attention.mistake("Your mask is not used: every position sees every other.")
class NoMask(_Steps):
    def weights(self, scores, mask):
        return scores.softmax(-1)


@attention.mistake("Your softmax runs over the queries. Each query's weights over the keys sum to 1: dim=-1.")
class OverQueries(_Steps):
    def weights(self, scores, mask):
        return scores.masked_fill(~mask, -1e9).softmax(-2)


@attention.mistake(
    "Your softmax runs over the queries, and a key that no query may see gives 0/0, which is NaN. Each query's weights "
    "over the keys sum to 1: dim=-1."
)
class OverQueriesOfNobody(_Steps):
    def weights(self, scores, mask):
        return scores.masked_fill(~mask, -torch.inf).softmax(-2)


@attention.mistake(
    "You merged the heads without turning them back: (B, H, T, K) needs transpose(1, 2) before it is flattened, or the "
    "numbers of different positions get mixed."
)
class MergedUnturned(_Steps):
    def merge(self, heads):
        B, H, T, K = heads.shape
        return heads.reshape(B, T, H * K)


@attention.mistake("Your result is that of the heads, side by side. The output matrix is missing: self.output(…).")
class NoOutput(_Steps):
    def finish(self, merged):
        return merged


@attention.mistake("You added x to the result. The residual connection is the block's: attention returns its own part.")
class AttentionAddsTheStream(Attention):
    def forward(self, x, memory, mask):
        return x + super().forward(x, memory, mask)


@attention.mistake("You set forbidden scores to 0. After the softmax they still have a share, e⁰. Only −∞ gets none.")
class FilledWithZero(_Steps):
    def weights(self, scores, mask):
        return scores.masked_fill(~mask, 0.0).softmax(-1)


@attention.mistake("You multiplied the scores by √d_k. They are divided by it, or the softmax is far too sharp.")
class TimesRoot(_Steps):
    def scale(self, q):
        return q.shape[-1] ** 0.5


@attention.mistake("Your values are the memory as it is: self.value(memory) is missing.")
class NoValueLayer(_Steps):
    def layers(self):
        return self.query, self.key, nn.Identity()


# --- feed-forward ----------------------------------------------------------------------------------------------------


def _feed_forward(answer: type, d_model: int, d_ff: int, x: Tensor) -> dict[str, object]:
    return examined(answer, FeedForward, (d_model, d_ff), x)


network = Exercise(
    "FeedForward",
    title="The feed-forward network",
    goal="Write forward, as in notebook 07: expand from D to F, ReLU, contract from F back to D.",
    difficulty=1,
    minutes=2,
    formula=r"\mathrm{FFN}(x) = \max(0,\; x W_1 + b_1)\, W_2 + b_2",
    source="Vaswani et al. 2017, eq. 2",
    cases=lambda: [
        (2, 3, *random_tensors((1, 2, 2), seed=3)),
        (6, 24, *random_tensors((2, 5, 6), seed=4)),
    ],
    run=_feed_forward,
    inline=True,
    given=("__init__",),
    hints=(
        "One line is enough: the ReLU stands between the two layers.",
        "relu is a method of a tensor: self.expand(x).relu() is (B, T, F).",
        "return self.contract(self.expand(x).relu())",
    ),
)
network.solution(FeedForward)


@network.mistake("The ReLU is missing. Two linear maps in a row are one linear map: nothing is gained by the width F.")
class NoRelu(FeedForward):
    def forward(self, x):
        return self.contract(self.expand(x))


@network.mistake("Your ReLU comes last, so nothing negative can be added to the stream. It belongs between the layers.")
class ReluLast(FeedForward):
    def forward(self, x):
        return self.contract(self.expand(x)).relu()


@network.mistake("Your ReLU comes first and throws away half of the input. It belongs between the layers.")
class ReluFirst(FeedForward):
    def forward(self, x):
        return self.contract(self.expand(x.relu()))


@network.mistake("You applied the ReLU to the result, too: the last map stays linear.")
class ReluTwice(FeedForward):
    def forward(self, x):
        return self.contract(self.expand(x).relu()).relu()


@network.mistake("Your network uses GELU, as GPT and BERT do. The one of 2017, which we copy, uses ReLU.")
class Gelu(FeedForward):
    def forward(self, x):
        return self.contract(F.gelu(self.expand(x)))


@network.mistake("You added x to the result. The residual connection is the block's; the network returns its own part.")
class AddsTheStream(FeedForward):
    def forward(self, x):
        return x + super().forward(x)


# --- the block -------------------------------------------------------------------------------------------------------


def _block(
    answer: type,
    d_model: int,
    n_heads: int,
    d_ff: int,
    cross: bool,
    x: Tensor,
    mask: Tensor,
    memory: Tensor | None,
    memory_mask: Tensor | None,
) -> dict[str, object]:
    return examined(answer, Block, (d_model, n_heads, d_ff, cross), x, mask, memory, memory_mask)


def _block_cases() -> list[tuple]:
    x, memory = random_tensors((1, 3, 4), (1, 3, 4), seed=5)
    wide, wide_memory = random_tensors((2, 5, 12), (2, 5, 12), seed=6)
    return [
        (4, 2, 8, False, x, causal_mask(3), None, None),
        (4, 2, 8, True, x, causal_mask(3), memory, padding_of(3)),
        (12, 3, 24, True, wide, causal_mask(5), wide_memory, padding_of(4, 5)),
    ]


block = Exercise(
    "Block",
    title="The block",
    goal="Write forward, in pre-norm order: each sub-layer reads a normalised copy of the stream x and adds what it "
    "found. First comes self-attention with `mask`. If there is a memory, cross-attention follows with `memory_mask`; "
    "the memory arrives normalised. The feed-forward network comes last.",
    difficulty=2,
    minutes=6,
    cases=_block_cases,
    run=_block,
    inline=True,
    given=("__init__",),
    hints=(
        "Three times the same pattern: x = x + sublayer(norm(x)). Every sub-layer has its own norm.",
        "In self-attention the normalised copy is x and memory at once: y = …norm(x), then attention(y, y, mask).",
        "Cross-attention: x = x + self.cross_attention(self.cross_attention_norm(x), memory, memory_mask)",
    ),
)
block.solution(Block)


class _Wired(Block):
    """The solution with a wiring `joined(x, norm, sublayer)` that a mistake can replace."""

    def joined(self, x, norm, sublayer):
        return x + sublayer(norm(x))

    def looked(self, y, memory, memory_mask):
        return self.cross_attention(y, memory, memory_mask)

    def forward(self, x, mask, memory=None, memory_mask=None):
        x = self.joined(x, self.self_attention_norm, lambda y: self.self_attention(y, y, mask))
        if memory is not None:
            x = self.joined(x, self.cross_attention_norm, lambda y: self.looked(y, memory, memory_mask))
        return self.joined(x, self.feed_forward_norm, self.feed_forward)


@block.mistake("The residual connection is missing: x = x + … . Without it the stream is replaced at every sub-layer.")
class NoResidual(_Wired):
    def joined(self, x, norm, sublayer):
        return sublayer(norm(x))


@block.mistake("Your block is post-norm: it normalises the sum. In pre-norm the sub-layer reads norm(x), and x stays.")
class PostNorm(_Wired):
    def joined(self, x, norm, sublayer):
        return norm(x + sublayer(x))


@block.mistake("Your norms are not used: each sub-layer reads norm(x), not x.")
class NoNorms(_Wired):
    def joined(self, x, norm, sublayer):
        return x + sublayer(x)


@block.mistake("You added to the normalised copy. The stream itself, x, is what the result is added to.")
class StreamNormalised(_Wired):
    def joined(self, x, norm, sublayer):
        x = norm(x)
        return x + sublayer(x)


@block.mistake("You normalised what the sub-layer returns. The norm stands in front: x + sublayer(norm(x)).")
class NormBehind(_Wired):
    def joined(self, x, norm, sublayer):
        return x + norm(sublayer(x))


@block.mistake("Your self-attention takes keys and values from x itself. All three come from the normalised copy.")
class KeysNotNormalised(Block):
    def forward(self, x, mask, memory=None, memory_mask=None):
        x = x + self.self_attention(self.self_attention_norm(x), x, mask)
        if memory is not None:
            x = x + self.cross_attention(self.cross_attention_norm(x), memory, memory_mask)
        return x + self.feed_forward(self.feed_forward_norm(x))


@block.mistake("You return the network's result alone. It is added to the stream, too: x + … .")
class LastResidualMissing(_Wired):
    def forward(self, x, mask, memory=None, memory_mask=None):
        x = self.joined(x, self.self_attention_norm, lambda y: self.self_attention(y, y, mask))
        if memory is not None:
            x = self.joined(x, self.cross_attention_norm, lambda y: self.looked(y, memory, memory_mask))
        return self.feed_forward(self.feed_forward_norm(x))


@block.mistake("In your cross-attention the keys come from x, so the block never looks at the memory.")
class MemoryIgnored(_Wired):
    def looked(self, y, memory, memory_mask):
        return self.cross_attention(y, y, memory_mask)


@block.mistake("You normalised the memory. The encoder has already done so, with its last norm.")
class MemoryNormalised(_Wired):
    def looked(self, y, memory, memory_mask):
        return self.cross_attention(y, self.cross_attention_norm(memory), memory_mask)


@block.mistake("Your cross-attention uses the mask of self-attention. The memory has its own, memory_mask.")
class WrongMask(Block):
    def forward(self, x, mask, memory=None, memory_mask=None):
        return super().forward(x, mask, memory, mask)


@block.mistake("The padding mask is missing in cross-attention: the block also looks at <pad>.")
class NoMemoryMask(_Wired):
    def looked(self, y, memory, memory_mask):
        return self.cross_attention(y, memory, torch.ones_like(memory_mask))


@block.mistake("Self-attention, cross-attention, feed-forward: your network comes before the attention.")
class NetworkFirst(_Wired):
    def forward(self, x, mask, memory=None, memory_mask=None):
        x = self.joined(x, self.feed_forward_norm, self.feed_forward)
        x = self.joined(x, self.self_attention_norm, lambda y: self.self_attention(y, y, mask))
        if memory is None:
            return x
        return self.joined(x, self.cross_attention_norm, lambda y: self.looked(y, memory, memory_mask))


@block.mistake("Your cross-attention comes before the self-attention. The order is self, cross, feed-forward.")
class CrossFirst(_Wired):
    def forward(self, x, mask, memory=None, memory_mask=None):
        if memory is not None:
            x = self.joined(x, self.cross_attention_norm, lambda y: self.looked(y, memory, memory_mask))
        x = self.joined(x, self.self_attention_norm, lambda y: self.self_attention(y, y, mask))
        return self.joined(x, self.feed_forward_norm, self.feed_forward)


class _Looking(Block):
    """The solution with a cross-attention `looking(x, y, memory, memory_mask)`; y is what self-attention has read."""

    def forward(self, x, mask, memory=None, memory_mask=None):
        y = self.self_attention_norm(x)
        x = x + self.self_attention(y, y, mask)
        if memory is not None:
            x = self.looking(x, y, memory, memory_mask)
        return x + self.feed_forward(self.feed_forward_norm(x))


@block.mistake("The residual connection is missing at the cross-attention: x = x + … . It replaces your stream.")
class CrossWithoutResidual(_Looking):
    def looking(self, x, y, memory, memory_mask):
        return self.cross_attention(self.cross_attention_norm(x), memory, memory_mask)


@block.mistake("Your cross-attention uses the norm of self-attention. It has its own, self.cross_attention_norm.")
class NormOfSelfAttention(_Looking):
    def looking(self, x, y, memory, memory_mask):
        return x + self.cross_attention(self.self_attention_norm(x), memory, memory_mask)


@block.mistake(
    "Your cross-attention reads the copy that was made for self-attention. It needs a new one: "
    "self.cross_attention_norm(x), with what self-attention has added to x."
)
class OldCopy(_Looking):
    def looking(self, x, y, memory, memory_mask):
        return x + self.cross_attention(y, memory, memory_mask)


# --- encoder and decoder ---------------------------------------------------------------------------------------------


def _encoder(
    answer: type, vocab_size: int, d_model: int, n_heads: int, d_ff: int, n_layers: int, ids: Tensor, mask: Tensor
) -> dict[str, object]:
    return examined(answer, Encoder, (vocab_size, d_model, n_heads, d_ff, n_layers), ids, mask)


encoder = Exercise(
    "Encoder",
    title="The encoder",
    goal="Write the class. `__init__` begins with `super().__init__()`, as in the classes above. `input` is an "
    "Embedding, `blocks` an nn.ModuleList of n_layers blocks, and `norm` an nn.LayerNorm. forward sends the ids (B, S) "
    "through all of them; each block gets the mask. The result is the memory (B, S, D).",
    difficulty=2,
    minutes=6,
    cases=lambda: [
        (9, 4, 2, 4, 1, some_ids(1, 3), padding_of(3)),
        (9, 12, 3, 6, 2, some_ids(2, 5, seed=1), padding_of(4, 5)),  # d_ff divides d_model: it can be swapped
    ],
    run=_encoder,
    inline=True,
    hints=(
        "A Python list would hide the blocks from the optimiser; nn.ModuleList does not.",
        "nn.ModuleList(Block(d_model, n_heads, d_ff) for _ in range(n_layers))",
        "x = self.input(ids); for each block: x = block(x, mask); return self.norm(x)",
    ),
)
encoder.solution(Encoder)


@encoder.mistake("The last norm is missing. Nothing else ever scales the stream of a pre-norm stack down.")
class NoLastNorm(Encoder):
    def forward(self, ids, mask):
        norm, self.norm = self.norm, nn.Identity()
        x = super().forward(ids, mask)
        self.norm = norm
        return x


@encoder.mistake("You normalise after every block. The last norm comes once, after the last block.")
class NormAfterEach(Encoder):
    def forward(self, ids, mask):
        x = self.input(ids)
        for one in self.blocks:
            x = self.norm(one(x, mask))
        return self.norm(x)


@encoder.mistake("Your blocks do not get the mask: the words look at <pad>, too.")
class EncoderNoMask(Encoder):
    def forward(self, ids, mask):
        return super().forward(ids, torch.ones_like(mask))


@encoder.mistake(
    "You looked the ids up in the table alone: self.input.tokens(ids). The factor √D and the positions are missing."
)
class TableAlone(Encoder):
    def forward(self, ids, mask):
        x = self.input.tokens(ids)
        for one in self.blocks:
            x = one(x, mask)
        return self.norm(x)


@encoder.mistake("Your blocks all read the embedding, and only the last one counts: x = block(x, mask), in a chain.")
class NoChain(Encoder):
    def forward(self, ids, mask):
        return self.norm(self.blocks[-1](self.input(ids), mask))


@encoder.mistake(
    "Your blocks are one block, many times: [Block(…)] * n_layers repeats the same object, and all layers share their "
    "weights."
)
class OneBlock(Encoder):
    def __init__(self, vocab_size, d_model, n_heads, d_ff, n_layers):
        super().__init__(vocab_size, d_model, n_heads, d_ff, n_layers)
        self.blocks = nn.ModuleList([self.blocks[0]] * n_layers)


@encoder.mistake("Your blocks are in a Python list: no optimiser finds their parameters. Use nn.ModuleList.")
class PlainList(Encoder):
    def __init__(self, vocab_size, d_model, n_heads, d_ff, n_layers):
        super().__init__(vocab_size, d_model, n_heads, d_ff, n_layers)
        blocks = list(self.blocks)
        del self.blocks
        self.__dict__["blocks"] = blocks


@encoder.mistake("Your norm comes before the blocks. It belongs behind the last one, where the stream has grown.")
class NormFirst(Encoder):
    def forward(self, ids, mask):
        x = self.norm(self.input(ids))
        for one in self.blocks:
            x = one(x, mask)
        return x


@encoder.mistake("Your blocks have cross=True, so they have a cross-attention. An encoder has no memory to look at.")
class EncoderWithCross(Encoder):
    def __init__(self, vocab_size, d_model, n_heads, d_ff, n_layers):
        super().__init__(vocab_size, d_model, n_heads, d_ff, n_layers)
        self.blocks = nn.ModuleList(Block(d_model, n_heads, d_ff, cross=True) for _ in range(n_layers))


@encoder.mistake("In your blocks n_heads and d_ff are swapped. The order is Block(d_model, n_heads, d_ff).")
class SizesSwapped(Encoder):
    def __init__(self, vocab_size, d_model, n_heads, d_ff, n_layers):
        super().__init__(vocab_size, d_model, d_ff, n_heads, n_layers)


def _decoder(
    answer: type,
    vocab_size: int,
    d_model: int,
    n_heads: int,
    d_ff: int,
    n_layers: int,
    ids: Tensor,
    memory: Tensor,
    memory_mask: Tensor,
) -> dict[str, object]:
    return examined(answer, Decoder, (vocab_size, d_model, n_heads, d_ff, n_layers), ids, memory, memory_mask)


decoder = Exercise(
    "Decoder",
    title="The decoder",
    goal="Write forward. The parts are those of your encoder, but its blocks have cross=True. Make the causal mask (T, "
    "T), True on and below the diagonal, and give every block the mask, the memory and the memory's mask.",
    difficulty=2,
    minutes=4,
    cases=lambda: [
        (9, 4, 2, 8, 1, some_ids(1, 2), *random_tensors((1, 3, 4), seed=7), padding_of(3)),
        (9, 12, 3, 24, 2, some_ids(2, 6, seed=1), *random_tensors((2, 5, 12), seed=8), padding_of(4, 5)),
    ],
    run=_decoder,
    inline=True,
    given=("__init__",),
    hints=(
        "Copy the forward of your encoder. Two things change: the mask is made here, and each block is given more.",
        "The causal mask: torch.ones(T, T, dtype=torch.bool).tril(), with T = ids.shape[1].",
        "for block in self.blocks: x = block(x, causal, memory, memory_mask)",
    ),
)
decoder.solution(Decoder)


class _Looks(Decoder):
    """The solution with a causal mask and a memory that a mistake can replace."""

    def causal(self, T):
        return causal_mask(T)

    def looked_at(self, memory, memory_mask):
        return memory, memory_mask

    def forward(self, ids, memory, memory_mask):
        x = self.input(ids)
        for one in self.blocks:
            x = one(x, self.causal(ids.shape[1]), *self.looked_at(memory, memory_mask))
        return self.norm(x)


@decoder.mistake(
    "The causal mask is missing: every position sees the words that it should predict. The loss would look wonderful, "
    "and the model could write nothing."
)
class NotCausal(_Looks):
    def causal(self, T):
        return torch.ones(T, T, dtype=torch.bool)


@decoder.mistake("Your causal mask is upside down: each position sees itself and the future. True belongs in tril().")
class CausalInverted(_Looks):
    def causal(self, T):
        return torch.ones(T, T, dtype=torch.bool).triu()


@decoder.mistake("Your causal mask lets each position see one word too many, the very one that it should predict.")
class OneAhead(_Looks):
    def causal(self, T):
        return torch.ones(T, T, dtype=torch.bool).tril(1)


@decoder.mistake("Your causal mask has no diagonal: the first position may see nothing, and its row becomes NaN.")
class NoDiagonal(_Looks):
    def causal(self, T):
        return torch.ones(T, T, dtype=torch.bool).tril(-1)


@decoder.mistake("The memory's mask is not used: the target's words look at the source's <pad>.")
class DecoderNoMemoryMask(_Looks):
    def looked_at(self, memory, memory_mask):
        return memory, torch.ones_like(memory_mask)


@decoder.mistake("Your blocks do not get the memory: the decoder writes without having read the source.")
class DecoderWithoutMemory(_Looks):
    def looked_at(self, memory, memory_mask):
        return None, None


@decoder.mistake("The memory is normalised once more here. It has left the encoder's last norm already.")
class DecoderNormsMemory(_Looks):
    def looked_at(self, memory, memory_mask):
        return self.norm(memory), memory_mask


@decoder.mistake("The decoder's last norm is missing. A pre-norm stack needs one at its end.")
class DecoderNoLastNorm(Decoder):
    def forward(self, ids, memory, memory_mask):
        x = self.input(ids)
        for one in self.blocks:
            x = one(x, causal_mask(ids.shape[1]), memory, memory_mask)
        return x


# --- the models ------------------------------------------------------------------------------------------------------


def _transformer(
    answer: type,
    source_size: int,
    target_size: int,
    d_model: int,
    n_heads: int,
    d_ff: int,
    n_layers: int,
    source: Tensor,
    target: Tensor,
) -> dict[str, object]:
    return examined(answer, Transformer, (source_size, target_size, d_model, n_heads, d_ff, n_layers), source, target)


def _padded(size: tuple, in_source: tuple, in_target: tuple) -> list[Tensor]:
    """Source and target (B, T), with so many words in each row; T = S, so that the wrong padding fits, too."""
    ids = some_ids(*size, seed=1), some_ids(*size, words=7, seed=2)
    return [one * padding_of(*real)[:, 0, 0] for one, real in zip(ids, (in_source, in_target), strict=True)]


transformer = Exercise(
    "Transformer",
    title="The Transformer",
    goal="Write the class. `encoder` and `decoder` are yours; `output` is an nn.Linear from D to the target's words, "
    "without bias, whose weight is the table of the decoder's input. In forward, id 0 of the source is padding: make "
    "the mask (B, 1, 1, S), and give it to the encoder and, for the memory, to the decoder. Return the logits.",
    difficulty=2,
    minutes=7,
    cases=lambda: [
        (9, 7, 4, 2, 8, 1, some_ids(1, 3), some_ids(1, 3, words=7)),
        (9, 7, 12, 3, 24, 2, *_padded((2, 5), (3, 5), (5, 4))),
    ],
    run=_transformer,
    inline=True,
    hints=(
        "Three attributes. Tying is an assignment: self.output.weight = … , the weight of the decoder's nn.Embedding.",
        "The mask: (source != 0)[:, None, None, :]. Both stacks get the same one.",
        "memory = self.encoder(source, real); return self.output(self.decoder(target, memory, real))",
    ),
)
transformer.solution(Transformer)


class _Masked(Transformer):
    """The solution with masks and an end that a mistake can replace."""

    def masks(self, real):
        return real, real  # of the encoder, of the memory

    def end(self, logits):
        return logits

    def forward(self, source, target):
        mask, memory_mask = self.masks((source != 0)[:, None, None])
        return self.end(self.output(self.decoder(target, self.encoder(source, mask), memory_mask)))


@transformer.mistake("The padding is hidden in the encoder, but not in cross-attention: the decoder looks at <pad>.")
class NoMaskForMemory(_Masked):
    def masks(self, real):
        return real, torch.ones_like(real)


@transformer.mistake("The padding is hidden in cross-attention, but not in the encoder: its words look at <pad>.")
class NoMaskInEncoder(_Masked):
    def masks(self, real):
        return torch.ones_like(real), real


@transformer.mistake("The padding is hidden nowhere: words next to <pad> get another translation than words alone.")
class NoPaddingMask(_Masked):
    def masks(self, real):
        return torch.ones_like(real), torch.ones_like(real)


@transformer.mistake("Your padding mask is upside down: it hides the words. True means may be seen: source != 0.")
class PaddingInverted(_Masked):
    def masks(self, real):
        return ~real, ~real


@transformer.mistake("Your output has a table of its own. Tie it: self.output.weight = the decoder's embedding table.")
class Untied(Transformer):
    def __init__(self, *sizes):
        super().__init__(*sizes)
        self.output.weight = nn.Parameter(torch.zeros_like(self.output.weight))


@transformer.mistake("You return probabilities. Return the logits: the loss applies the softmax itself.")
class Probabilities(_Masked):
    def end(self, logits):
        return logits.softmax(-1)


@transformer.mistake("You return log-probabilities. Return the logits: the loss applies the log-softmax itself.")
class LogProbabilities(_Masked):
    def end(self, logits):
        return logits.log_softmax(-1)


@transformer.mistake("Your mask for the memory comes from the target's padding. It hides that of the source.")
class PaddingOfTarget(Transformer):
    def forward(self, source, target):
        real, written = ((ids != 0)[:, None, None] for ids in (source, target))
        return self.output(self.decoder(target, self.encoder(source, real), written))


@transformer.mistake("Your output has a bias. Only the table is used, the same as at the input: bias=False.")
class OutputWithBias(Transformer):
    def __init__(self, *sizes):
        super().__init__(*sizes)
        table = self.output.weight
        self.output = nn.Linear(table.shape[1], table.shape[0])
        self.output.weight = table


def _gpt(
    answer: type, vocab_size: int, d_model: int, n_heads: int, d_ff: int, n_layers: int, ids: Tensor
) -> dict[str, object]:
    return examined(answer, GPT, (vocab_size, d_model, n_heads, d_ff, n_layers), ids)


gpt = Exercise(
    "GPT",
    title="A model that only writes",
    goal="Write forward. The one stack, `decoder`, is an Encoder: give it a causal mask (T, T) in place of the padding "
    "mask. `output` is tied to its table, as in your Transformer. Return the logits.",
    difficulty=1,
    minutes=3,
    cases=lambda: [
        (9, 4, 2, 8, 1, some_ids(1, 3)),
        (11, 12, 3, 24, 2, some_ids(2, 6, words=11, seed=1)),
    ],
    run=_gpt,
    inline=True,
    given=("__init__",),
    hints=(
        "The encoder's class does all the work. Only the mask makes it a writer.",
        "The causal mask: torch.ones(T, T, dtype=torch.bool).tril(), as in your Decoder.",
        "return self.output(self.decoder(ids, causal))",
    ),
)
gpt.solution(GPT)


class _Written(GPT):
    """The solution with a mask and an end that a mistake can replace."""

    def causal(self, T):
        return causal_mask(T)

    def end(self, logits):
        return logits

    def forward(self, ids):
        return self.end(self.output(self.decoder(ids, self.causal(ids.shape[1]))))


@gpt.mistake("The causal mask is missing: each position sees the words that it should predict. This is still BERT.")
class GptNotCausal(_Written):
    def causal(self, T):
        return torch.ones(T, T, dtype=torch.bool)


@gpt.mistake("Your mask shows each position the future and hides the past: tril(), not triu().")
class GptCausalInverted(_Written):
    def causal(self, T):
        return torch.ones(T, T, dtype=torch.bool).triu()


@gpt.mistake("Your mask reaches one position too far, to the word that is to be predicted: tril(), not tril(1).")
class GptOneAhead(_Written):
    def causal(self, T):
        return torch.ones(T, T, dtype=torch.bool).tril(1)


@gpt.mistake("Your mask leaves out the diagonal: a position must see itself, or the first row has nothing and is NaN.")
class GptNoDiagonal(_Written):
    def causal(self, T):
        return torch.ones(T, T, dtype=torch.bool).tril(-1)


@gpt.mistake("Your forward ends with a softmax. Return the logits, from which loss and sampler compute what they need.")
class GptProbabilities(_Written):
    def end(self, logits):
        return logits.softmax(-1)
