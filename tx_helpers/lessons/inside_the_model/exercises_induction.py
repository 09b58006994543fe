"""The exercise on induction heads that stands inline: a score for the heads that copy."""

import torch

from tx_helpers.exercises.exercise import Exercise


def _weights(batch, heads, places, seed):
    """Attention weights (B, H, T, T) of a causal model."""
    scores = 2 * torch.randn(batch, heads, places, places, generator=torch.Generator().manual_seed(seed)).double()
    allowed = torch.ones(places, places, dtype=torch.bool).tril()
    return scores.masked_fill(~allowed, float("-inf")).softmax(-1)


copies = Exercise(
    "induction_score",
    inline=True,
    title="A score for copying",
    goal="A row is a block of `length` letters, repeated. `A` (B, H, T, T) holds the weights of H heads: A[b, h, t, s] "
    "is how much position t looks at position s. From t = `length` on, each letter stood `length` places before. "
    "Return for each head (H,) the mean weight on the position *after* that last occurrence, over these t and "
    "all rows b of the batch.",
    difficulty=2,
    minutes=7,
    cases=lambda: [
        (_weights(2, 3, 8, 0), 4),
        (_weights(1, 2, 11, 1), 3),
        (_weights(3, 2, 9, 2), 6),
        (_weights(2, 4, 7, 3), 5),
    ],
    run=lambda answer, A, length: answer(A, length),
    hints=(
        "Take a block of 4: position 4 holds the letter of position 0. What came after it stands at position 1.",
        "In general t looks at t − length + 1. Let t run from length to T − 1: torch.arange(length, T).",
        "Two lists of indices take one weight for each t: A[:, :, t, s] is (B, H, number of t). Then the mean.",
    ),
)


@copies.solution
def induction_score(A, length):
    """Mean weight (H,) on the position after the last occurrence; A (B, H, T, T), blocks of `length` letters."""
    t = torch.arange(length, A.shape[-1])
    return A[:, :, t, t - length + 1].mean(dim=(0, 2))


copies.slips("""
the_same_letter    t - length + 1 → t - length
  You look at the same letter. The head copies what came after it, one position to the right.
two_after    t - length + 1 → t - length + 2
  You look two positions after the last occurrence. One after it stands the letter that comes next.
one_before_it    t - length + 1 → t - length - 1
  You look at the letter before the last occurrence. The one that comes next stands after it: + 1.
the_token_before    t - length + 1 → t - 1
  This is the score of a previous-token head: the weight on t − 1, whatever the letters are.
a_row_too_many    torch.arange(length, → torch.arange(length - 1,
  You begin one position too early. Position length − 1 is the end of the first block: its letter is new.
a_row_too_few    torch.arange(length, → torch.arange(length + 1,
  You begin one position too late. Position `length` is the first whose letter was there before.
over_all_rows    .mean(dim=(0, 2)) → .sum(dim=2).mean(dim=0) / A.shape[-1]
  You divide by all T positions. Those of the first block have no earlier occurrence: they do not count.
axes_exchanged    A[:, :, t, t - length + 1] → A[:, :, t - length + 1, t]
  You exchanged the axes. The position that looks comes first, the one that it looks at second.
every_pair    A[:, :, t, t - length + 1].mean(dim=(0, 2)) →
      A[:, :, t][..., t - length + 1].mean(dim=(0, 2, 3))
  You take all pairs of these positions. Each t has one position that counts: index both axes at once.
half_the_row    t - length + 1 → t - A.shape[-1] // 2 + 1 ; torch.arange(length, → torch.arange(A.shape[-1] // 2,
  You take half of the row for the block. How long a block is, `length` says.
the_strongest    .mean(dim=(0, 2)) → .mean(dim=0).amax(dim=-1)
  You kept the position with the largest weight. A head that copies does so everywhere: take the mean.
the_sum    .mean(dim=(0, 2)) → .sum(dim=2).mean(dim=0)
  You added the weights up. A score from 0 to 1 that compares blocks of any length is their mean.
""")
