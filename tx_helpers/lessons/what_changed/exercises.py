"""Exercises on modern Transformers: shared keys and values, the size of a cache, and the quiz."""

import math

import torch.nn.functional as F

from tx_helpers.exercises.exercise import Exercise, random_tensors
from tx_helpers.exercises.quizzes import questions

# --- grouped queries -------------------------------------------------------------------------------------------------

groups = Exercise(
    "grouped_attention",
    title="Several queries share a key",
    goal="H heads of queries share G heads of keys and values, and H is a multiple of G. Neighbours share: the first "
    "H/G query heads read the first head of keys and values, the next H/G the second, and so on. q is (H, T, K), k and "
    "v are (G, S, K). Return the outputs of all H heads (H, T, K), without a mask.",
    difficulty=2,
    minutes=8,
    source="Ainslie et al. 2023, section 2.2",
    formula=r"o_h = \mathrm{softmax}\Bigl(\frac{q_h k_g^\top}{\sqrt K}\Bigr) v_g, \qquad "
    r"g = \Bigl\lfloor \frac{h}{H/G} \Bigr\rfloor",
    cases=lambda: [
        tuple(3 * x for x in random_tensors((4, 1, 2), (2, 2, 2), (2, 2, 2), seed=41)),
        random_tensors((6, 3, 4), (3, 5, 4), (3, 5, 4), seed=42),
        random_tensors((12, 4, 3), (4, 7, 3), (4, 7, 3), seed=43),
    ],
    hints=(
        "Give each query head its own copy of the keys and values, then it is attention as always.",
        "Each head of keys is copied H/G times in a row: 0 0 1 1, not 0 1 0 1.",
        "k = k.repeat_interleave(len(q) // len(k), dim=0), and v likewise. (repeat would give 0 1 0 1.)",
    ),
)


@groups.solution
def grouped_attention(q, k, v):
    """Output (H, T, K) of H query heads q (H, T, K) that share the keys and values k, v (G, S, K)."""
    grouped = q.unflatten(0, (len(k), -1))  # (G, H/G, T, K)
    weights = (grouped @ k.unsqueeze(1).mT / math.sqrt(q.shape[-1])).softmax(dim=-1)  # (G, H/G, T, S)
    return (weights @ v.unsqueeze(1)).flatten(0, 1)


groups.slips("""
repeat    = _grouped(_tiled, _tiled)
  Your query heads read the heads 0 1 2 0 1 2 of keys and values, as `repeat` copies them. Neighbours share: 0 0 1 1 2
  2, which is repeat_interleave. With trained weights yours gives nonsense, but no error.
values_tiled    = _grouped(values=_tiled)
  Your keys are shared by neighbours, but your values come in the order 0 1 2 0 1 2. A head of queries needs the values
  that belong to its keys.
keys_tiled    = _grouped(keys=_tiled)
  Your values are shared by neighbours, but your keys come in the order 0 1 2 0 1 2. A head of queries needs the keys
  that belong to its values.
first_for_all    = _grouped(lambda k, H: k[:1], lambda v, H: v[:1])
  All your query heads read the first head of keys and values. That would be multi-query attention, G = 1.
mean_for_all    = _grouped(lambda k, H: k.mean(0, keepdim=True), lambda v, H: v.mean(0, keepdim=True))
  You averaged the heads of keys and values. A model with H heads is converted to multi-query attention in this way;
  here each group keeps its own.
order_reversed    = _grouped(lambda k, H: _interleaved(k, H).flip(0), lambda v, H: _interleaved(v, H).flip(0))
  Your groups are in reverse order: the first query heads read the last head of keys.
queries_averaged    return _attend(_group_mean(q, len(k)), _interleaved(k, len(q)), _interleaved(v, len(q)))
  You averaged the queries of a group, so all its heads give the same output. The queries stay apart; only keys and
  values are shared.
not_scaled    return _attend(q, _interleaved(k, len(q)), _interleaved(v, len(q)), width=1)
  The division by √K is missing. Sharing keys does not change it.
scaled_by_all_heads    return _attend(q, _interleaved(k, len(q)), _interleaved(v, len(q)), width=len(q) * q.shape[-1])
  You divided by the root of H·K, the width of all heads together. Each score is a sum over K products.
scaled_by_the_group    return _attend(q, _interleaved(k, len(q)), _interleaved(v, len(q)), width=len(q) // len(k)
      * q.shape[-1])
  You divided by the root of K·H/G, as if the heads of a group were one wide head. Each query has the width K, however
  many share its keys.
causal    return F.scaled_dot_product_attention(q, _interleaved(k, len(q)), _interleaved(v, len(q)), is_causal=True)
  You hid the later keys. There is no mask here: every query may look at all S keys.
softmax_over_queries    return _attend(q, _interleaved(k, len(q)), _interleaved(v, len(q)), dim=-2)
  Your softmax runs over the queries. The weights of each query have to sum to 1 over the keys: dim=-1.
softmax_over_heads    return _attend(q, _interleaved(k, len(q)), _interleaved(v, len(q)), dim=0)
  Your softmax runs over the heads, dim 0, so the heads compete for a key. The weights of each query have to sum to 1
  over the keys: dim=-1.
""")


def _interleaved(x, H):
    return x.repeat_interleave(H // len(x), dim=0)


def _tiled(x, H):
    return x.repeat(H // len(x), 1, 1)


def _attend(q, k, v, width=None, dim=-1):
    return (q @ k.mT / math.sqrt(width or q.shape[-1])).softmax(dim) @ v


def _grouped(keys=_interleaved, values=_interleaved):
    return lambda q, k, v: _attend(q, keys(k, len(q)), values(v, len(q)))


def _group_mean(q, G):
    """Queries (H, T, K) averaged within each group, once for each of its heads."""
    means = q.unflatten(0, (G, -1)).mean(1)
    return _interleaved(means, len(q))


# --- the quiz --------------------------------------------------------------------------------------------------------

QUIZ = questions("""
Adam divides each entry of a step by its usual size. What does Muon even out instead?
  - How long each row of the matrix is | Rows can all point the same way.
  * How far each direction moves | All singular values of the step become about 1.
  - The rates of the layers | Each matrix has its own step; nothing is shared among layers.
At which batch does Muon's extra work weigh least?
  * At a large one | Its products happen once a step, however many tokens it has.
  - At a small one | Then few tokens share the cost of five iterations.
  - It is the same at every batch | The forward and backward pass grow with the tokens; it does not.
A model uses RMSNorm. Where in the block does it stand?
  - Before attention and feed-forward, as in pre-norm | Often, but the formula does not say so.
  * The name does not tell | What is normalised and where are two choices.
  - After the sum with the residual stream, as in 2017 | 2017 had LayerNorm there; either fits.
Grouped queries with 8 heads of keys and values in place of 32. What is certain?
  * The cache takes a quarter of the bytes | It holds keys and values of 8 heads.
  - The scores take a quarter of the multiplications | All 32 heads of queries still have scores.
  - The model writes four times as fast | Nearly all weights are read as before; only the cache is read faster.
A mixture of experts has 47 billion parameters, and 13 billion are active for a token. What does it need?
  - Memory for 13 billion | The next token may need any other expert, so all must be there.
  - The arithmetic of 47 billion | A token passes the chosen experts only.
  * Memory for 47, arithmetic of 13 | It saves computing, not memory.
A new activation lowers the loss by 0.02 at equal steps, and a step takes 10 % longer. Is it worth it?
  - Yes, a lower loss is a lower loss | The old model could use that time for more steps.
  - No, 10 % is more than 0.02 | These are different units and cannot be compared.
  * Compare at equal seconds, with several seeds | Then both spend the same, and chance shows.
""")
