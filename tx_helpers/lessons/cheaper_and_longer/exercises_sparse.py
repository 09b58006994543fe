"""Two steps of sparse attention, both inline: the score of a block of keys, and the mask of the best blocks."""

import torch

from tx_helpers.exercises.exercise import Exercise, random_tensors

# --- the score of a block --------------------------------------------------------------------------------------------

scoring = Exercise(
    "block_scores",
    inline=True,
    title="Read only the best blocks, step 1 of 2: the score of a block",
    goal="Which blocks of keys deserve a look? Cut the S keys k (…, S, K) into blocks of `block` neighbours; S is a "
    "multiple of it. A block is represented by the mean of its keys. Return (…, T, N): for each query of q (…, T, K) "
    "and each of the N = S/block blocks the product of the query and that mean.",
    difficulty=1,
    minutes=6,
    formula=r"a_{tn} = q_t \cdot \frac{1}{\mathrm{block}} \sum_{s \in \text{block } n} k_s",
    source="Lu et al. 2025, MoBA, section 2.2",
    cases=lambda: [
        (torch.tensor([[1.0, 0.0], [0.0, 2.0]]), torch.tensor([[1.0, 1.0], [3.0, 1.0], [0.0, 2.0], [2.0, 0.0]]), 2),
        (*random_tensors((2, 5, 4), (2, 6, 4), seed=611), 3),
        (*random_tensors((1, 2, 3, 8), (1, 2, 12, 8), seed=612), 2),
    ],
    hints=(
        "Cut the axis of the keys in two, blocks and places within a block. `unflatten` does that.",
        "k.unflatten(-2, (-1, block)) is (…, N, block, K). Which axis has to go?",
        "q @ k.unflatten(-2, (-1, block)).mean(-2).transpose(-2, -1)",
    ),
)


@scoring.solution
def block_scores(q, k, block):
    """Scores (…, T, N) of N blocks of keys for each query: q (…, T, K), k (…, S, K), S = N · block."""
    *rows, S, K = k.shape
    summed = k.reshape(*rows, S // block, block, K).sum(-2)  # (…, N, K)
    return torch.einsum("...tk,...nk->...tn", q, summed) / block


scoring.slips("""
sum_for_mean    summed) / block → summed)
  You added up the keys of a block. Take their mean: then scores do not grow with the size of a block.
every_nth_key    k.reshape(*rows, S // block, block, K).sum(-2) → k.reshape(*rows, block, S // block, K).sum(-3)
  Your blocks hold every N-th key. A block has neighbours: first the keys 0 to block − 1, and so on.
largest_key    k.reshape(*rows, S // block, block, K).sum(-2) →
      block * k.reshape(*rows, S // block, block, K).amax(-2)
  You took the largest number of each feature. A block is represented by the mean of its keys.
first_key    k.reshape(*rows, S // block, block, K).sum(-2) → block * k.reshape(*rows, S // block, block, K)[..., 0, :]
  You took the first key of each block for all of it. Take the mean of its keys.
divided_by_the_root    summed) / block → summed) / block / K**0.5
  You divided by √K. That belongs to attention's scores; a block's score is the plain product.
softmax_over_blocks    return torch.einsum("...tk,...nk->...tn", q, summed) / block →
      return (torch.einsum("...tk,...nk->...tn", q, summed) / block).softmax(-1)
  You took a softmax over the blocks. Step 2 asks only which blocks are best, so return the products themselves.
""")


# --- the mask --------------------------------------------------------------------------------------------------------

choosing = Exercise(
    "best_blocks",
    inline=True,
    title="Read only the best blocks, step 2 of 2: the mask",
    goal="`scores` (…, T, N) are those of step 1, for a text of T tokens, cut into N = T/block blocks. Each query "
    "reads `count` blocks: its own, and of those before it the count − 1 with the largest scores (all, if there are "
    "no more). In its own block it sees no later token. Return the mask (…, T, T), True where the query of the row "
    "may look. No two scores of a row are equal.",
    difficulty=2,
    minutes=12,
    source="Lu et al. 2025, MoBA, section 2.2",
    cases=lambda: [
        (torch.tensor([[5.0, 9, 1], [4, 9, 1], [3, 1, 9], [1, 2, 0], [2, 1, 0], [1, 3, -5]]), 2, 2),
        (random_tensors((2, 12, 4), seed=613)[0], 3, 2),
        (random_tensors((2, 2, 12, 6), seed=614)[0], 2, 3),
        (random_tensors((8, 4), seed=615)[0], 2, 1),
    ],
    hints=(
        "Give the own block the score ∞ and later blocks −∞. Then the `count` largest are those to read, and what is "
        "−∞ must not be read.",
        "torch.topk(scores, count, -1).values[..., -1:] is the smallest score that still counts. From blocks to keys: "
        "repeat_interleave(block, -1). At last take away the future.",
        "chosen = (scores >= scores.topk(count, -1).values[..., -1:]) & (scores > -torch.inf); mask = "
        "chosen.repeat_interleave(block, -1) & torch.ones(T, T).tril().bool()",
    ),
)


@choosing.solution
def best_blocks(scores, block, count):
    """Mask (…, T, T): each query reads its own block and the count − 1 best of those before; scores (…, T, N)."""
    T, N = scores.shape[-2:]
    own = torch.arange(T) // block  # (T,)
    ranked = scores.clone()
    ranked[..., torch.arange(N) > own[:, None]] = -torch.inf
    ranked[..., torch.arange(T), own] = torch.inf
    order = ranked.argsort(-1, descending=True).argsort(-1)  # 0 for the best
    keys = torch.arange(T)
    return (order < count)[..., keys // block] & (keys <= keys[:, None])


choosing.slips("""
own_block_left_to_its_score    ranked[..., torch.arange(T), own] = torch.inf → pass
  Your query reads its own block only if its score is among the best. It always reads its own: the latest words matter.
one_block_too_many    (order < count) → (order <= count)
  You chose `count` blocks beside the own one. The own block is one of the `count`.
one_block_too_few    (order < count) → (order < max(count - 1, 1))
  You chose one block too few. With count 2 a query reads its own block and one other.
later_keys_of_the_own_block    & (keys <= keys[:, None]) → & (keys // block <= own[:, None])
  Your query sees later tokens of its own block. Within it, too, the future is hidden.
later_blocks_compete    ranked[..., torch.arange(N) > own[:, None]] = -torch.inf → pass
  Later blocks took places among your best ones, and then the causal mask removed them. Rule them out before you
  choose.
the_future_is_read    ranked[..., torch.arange(N) > own[:, None]] = -torch.inf → pass ; & (keys <= keys[:, None]) →
      & (keys >= 0)
  Your mask shows the future: blocks after the query's own.
worst_blocks    ranked.argsort(-1, descending=True) → ranked.where(ranked.isinf(), -ranked).argsort(-1, descending=True)
  You read the blocks with the smallest scores. Take the largest.
the_nearest_blocks    ranked.argsort(-1, descending=True) →
      ranked.where(ranked.isinf(), torch.arange(N).expand_as(ranked).to(ranked)).argsort(-1, descending=True)
  You read the blocks just before the query: a sliding window. Choose by the scores.
keys_spread    [..., keys // block] → [..., keys % N]
  A block's answer went to every N-th key. Key s belongs to block s // block.
""")
