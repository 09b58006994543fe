"""Exercises that stand inside the notebook: the parts of its model, the stacks and the models. Solutions: `plain`.

In the cases of attention and block T = S: what is taken from the wrong side still fits, so the mistake can be named.
"""

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from tx_helpers.exercises.exercise import Exercise, random_tensors
from tx_helpers.lessons.full_model.filled import examined, padding_of, some_ids
from tx_helpers.nn.masks import causal_mask
from tx_helpers.nn.positions import sinusoidal
from tx_helpers.plain import Attention, Block, Embedding, FeedForward

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


embedding.slips("""
NoPositions    + place →
  You did not add the positions: the same word gives the same vector wherever it stands.
Unscaled    * math.sqrt(D) →
  The factor √D is missing. The table's numbers have the deviation 1/√D, so the positions drown the words.
AllScaled    self.tokens(ids) * math.sqrt(D) + place → (self.tokens(ids) + place) * math.sqrt(D)
  You multiplied the positions by √D, too. The factor belongs to the word's vector alone.
Divided    * math.sqrt(D) → / math.sqrt(D)
  You divided by √D where the word's vector is multiplied by it.
ScaledByD    * math.sqrt(D) → * D
  Your words are multiplied by D, not by √D: they drown the positions.
PositionsOfRows    torch.arange(T, device=ids.device), D) → torch.arange(len(ids)), D)[:, None]
  Your positions count the rows of the batch. They count the words of a row: torch.arange(T).
FromOne    torch.arange(T, → torch.arange(1, T + 1,
  Your positions start at 1. The first word stands at position 0.
RootOfLength    math.sqrt(D) → math.sqrt(T)
  You multiplied by √T, the length of the row. The factor is √D, the width of the table.
RootOfVocabulary    math.sqrt(D) → math.sqrt(self.tokens.num_embeddings)
  You multiplied by √V, the number of the table's rows. The factor is √D, the width of a row.
PositionsOfIds    place = sinusoidal(torch.arange(T, device=ids.device), D) →
      place = sinusoidal(ids.flatten(), D).view(*ids.shape, D)
  Your positions come from the ids. A position is a place in the row: torch.arange(T).
""")


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


attention.slips("""
KeysFromX    self.key(memory) → self.key(x) ; self.value(memory) → self.value(x)
  Your keys and values come from x. In cross-attention they come from the memory: only the queries are x's.
ValuesFromX    self.value(memory) → self.value(x)
  Your values come from x. They come from the memory, like the keys.
SidesSwapped    self.query(x) → self.query(memory) ; self.key(memory) → self.key(x) ; self.value(memory) → self.value(x)
  You swapped the sides: the queries come from x, the keys and values from the memory.
NoRoot    / math.sqrt(q.shape[-1]) →
  The division by √d_k is missing: the scores are too large, and the softmax is too sharp.
RootOfD    math.sqrt(q.shape[-1]) → math.sqrt(x.shape[-1])
  You divided by √D. A head has the width d_k = D/H, so its scores are divided by √d_k.
MaskInverted    ~mask → mask
  Your mask is upside down: True means that a position may be seen. Fill where it is False: ~mask.
MaskedLate    scores.masked_fill(~mask, float("-inf")).softmax(dim=-1) → scores.softmax(dim=-1).masked_fill(~mask, 0.0)
  You masked after the softmax. The forbidden positions have already taken their share: the rows no longer sum to 1.
NoMask    .masked_fill(~mask, float("-inf")) →
  Your mask is not used: every position sees every other.
OverQueriesOfNobody    softmax(dim=-1) → softmax(dim=-2)
  Your softmax runs over the queries, and a key that no query may see gives 0/0, which is NaN. Each query's weights over
  the keys sum to 1: dim=-1.
MergedUnturned    .transpose(1, 2).flatten(-2) → .reshape(*x.shape)
  You merged the heads without turning them back: (B, H, T, K) needs transpose(1, 2) before it is flattened, or the
  numbers of different positions get mixed.
NoOutput    self.output(heads) → heads
  Your result is that of the heads, side by side. The output matrix is missing: self.output(…).
AttentionAddsTheStream    return self.output → return x + self.output
  You added x to the result. The residual connection is the block's: attention returns its own part.
FilledWithZero    float("-inf") → 0.0
  You set forbidden scores to 0. After the softmax they still have a share, e⁰. Only −∞ gets none.
TimesRoot    / math.sqrt(q.shape[-1]) → * math.sqrt(q.shape[-1])
  You multiplied the scores by √d_k. They are divided by it, or the softmax is far too sharp.
NoValueLayer    self.value(memory) → memory
  Your values are the memory as it is: self.value(memory) is missing.
MaskInvertedWithANumber    ~mask, float("-inf") → mask, -1e9
  Your mask is upside down: you filled with a large negative number where it is True. Fill where ~mask.
OverQueries    ~mask, float("-inf")).softmax(dim=-1) → ~mask, -1e9).softmax(dim=-2)
  Your softmax runs over the queries. Each query's weights over the keys sum to 1: dim=-1.
LayersSwapped    self.query(x) → self.key(x) ; self.key(memory) → self.query(memory)
  You swapped two layers: self.query makes the queries, from x, and self.key the keys, from the memory.
""")


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


network.slips("""
NoRelu    .relu() →
  The ReLU is missing. Two linear maps in a row are one linear map: nothing is gained by the width F.
ReluLast    self.expand(x).relu()) → self.expand(x)).relu()
  Your ReLU comes last, so nothing negative can be added to the stream. It belongs between the layers.
ReluFirst    self.expand(x).relu() → self.expand(x.relu())
  Your ReLU comes first and throws away half of the input. It belongs between the layers.
ReluTwice    .relu()) → .relu()).relu()
  You applied the ReLU to the result, too: the last map stays linear.
Gelu    self.expand(x).relu() → F.gelu(self.expand(x))
  Your network uses GELU, as GPT and BERT do. The one of 2017, which we copy, uses ReLU.
AddsTheStream    return self.contract → return x + self.contract
  You added x to the result. The residual connection is the block's; the network returns its own part.
""")


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


block.slips("""
NoResidual    x = x + self.self_attention( → x = self.self_attention( ;
      x = x + self.cross_attention( → x = self.cross_attention( ; return x + self → return self
  The residual connection is missing: x = x + … . Without it the stream is replaced at every sub-layer.
NoNorms    y = self.self_attention_norm(x) → y = x ; y = self.cross_attention_norm(x) → y = x ;
      self.feed_forward_norm(x)) → x)
  Your norms are not used: each sub-layer reads norm(x), not x.
StreamNormalised    y = self.self_attention_norm(x) → x = y = self.self_attention_norm(x) ;
      y = self.cross_attention_norm(x) → x = y = self.cross_attention_norm(x) ;
      x + self.feed_forward(self.feed_forward_norm(x)) → (y := self.feed_forward_norm(x)) + self.feed_forward(y)
  You added to the normalised copy. The stream itself, x, is what the result is added to.
KeysNotNormalised    self.self_attention(y, y, mask) → self.self_attention(y, x, mask)
  Your self-attention takes keys and values from x itself. All three come from the normalised copy.
LastResidualMissing    return x + self → return self
  You return the network's result alone. It is added to the stream, too: x + … .
MemoryIgnored    self.cross_attention(y, memory, → self.cross_attention(y, y,
  In your cross-attention the keys come from x, so the block never looks at the memory.
MemoryNormalised    self.cross_attention(y, memory, → self.cross_attention(y, self.cross_attention_norm(memory),
  You normalised the memory. The encoder has already done so, with its last norm.
WrongMask    (y, memory, memory_mask) → (y, memory, mask)
  Your cross-attention uses the mask of self-attention. The memory has its own, memory_mask.
NoMemoryMask    (y, memory, memory_mask) → (y, memory, torch.ones_like(memory_mask))
  The padding mask is missing in cross-attention: the block also looks at <pad>.
CrossWithoutResidual    x = x + self.cross_attention( → x = self.cross_attention(
  The residual connection is missing at the cross-attention: x = x + … . It replaces your stream.
NormOfSelfAttention    y = self.cross_attention_norm(x) → y = self.self_attention_norm(x)
  Your cross-attention uses the norm of self-attention. It has its own, self.cross_attention_norm.
OldCopy    y = self.cross_attention_norm(x) → pass
  Your cross-attention reads the copy that was made for self-attention. It needs a new one:
  self.cross_attention_norm(x), with what self-attention has added to x.
PostNorm    y = self.self_attention_norm(x) ⏎ x = x + self.self_attention(y, y, mask) →
      x = self.self_attention_norm(x + self.self_attention(x, x, mask)) ; y = self.cross_attention_norm(x) ⏎
      x = x + self.cross_attention(y, memory, memory_mask) →
      x = self.cross_attention_norm(x + self.cross_attention(x, memory, memory_mask)) ;
      x + self.feed_forward(self.feed_forward_norm(x)) → self.feed_forward_norm(x + self.feed_forward(x))
  Your block is post-norm: it normalises the sum. In pre-norm the sub-layer reads norm(x), and x stays.
NormBehind    y = self.self_attention_norm(x) ⏎ x = x + self.self_attention(y, y, mask) →
      x = x + self.self_attention_norm(self.self_attention(x, x, mask)) ; y = self.cross_attention_norm(x) ⏎
      x = x + self.cross_attention(y, memory, memory_mask) →
      x = x + self.cross_attention_norm(self.cross_attention(x, memory, memory_mask)) ;
      self.feed_forward(self.feed_forward_norm(x)) → self.feed_forward_norm(self.feed_forward(x))
  You normalised what the sub-layer returns. The norm stands in front: x + sublayer(norm(x)).
NoCross    if memory is not None: → if False:
  Your cross-attention is missing: where there is a memory, it comes between self-attention and the network.
NetworkFirst    y = self.self_attention_norm(x) → x = x + self.feed_forward(self.feed_forward_norm(x)) ⏎
      y = self.self_attention_norm(x) ; return x + self.feed_forward(self.feed_forward_norm(x)) → return x
  Self-attention, cross-attention, feed-forward: your network comes before the attention.
CrossFirst    y = self.self_attention_norm(x) ⏎ x = x + self.self_attention(y, y, mask) ⏎ if memory → if memory ;
      return x + → y = self.self_attention_norm(x) ⏎ x = x + self.self_attention(y, y, mask) ⏎ return x +
  Your cross-attention comes before the self-attention. The order is self, cross, feed-forward.
""")
