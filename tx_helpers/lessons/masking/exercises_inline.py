"""Exercises that stand inside the notebook: a mask for padding, a causal one, the softmax under it, the leak test."""

import math

import torch
from torch import Tensor

from tx_helpers.exercises.compare import as_mask
from tx_helpers.exercises.exercise import Exercise, random_tensors


def _lower_triangle(T: int, shift: int = 0) -> Tensor:
    return torch.ones(T, T, dtype=torch.bool).tril(shift)


# --- padding ---------------------------------------------------------------------------------------------------------

padding = Exercise(
    "padding_keys",
    title="Do not look at the padding",
    goal="The sentences of a batch have the lengths `lengths` (B,) and are padded at the right to the width S. Write "
    "the boolean mask (B, 1, 1, S) that is True for the first lengths[b] keys of sentence b. The two axes of length 1 "
    "are for heads and queries.",
    difficulty=1,
    minutes=6,
    inline=True,
    cases=lambda: [
        (torch.tensor([2, 1]), 3),
        (torch.tensor([4, 3, 1]), 5),
        (torch.tensor([1, 6, 2, 5]), 6),
    ],
    run=lambda make, lengths, S: as_mask(make(lengths, S)),
    hints=(
        "Key s is real if s is smaller than the sentence's length.",
        "torch.arange(S) holds the positions of the keys. Compare it with lengths[:, None] to get a table (B, S).",
        "(torch.arange(S) < lengths[:, None])[:, None, None, :]",
    ),
)


@padding.solution
def padding_keys(lengths, S):
    """Mask (B, 1, 1, S), True at the first lengths[b] keys of sentence b; lengths (B,)."""
    return (torch.arange(S) < lengths[:, None])[:, None, None, :]


padding.slips("""
padding_inverted    return ~padding_keys(lengths, S)
  Your padding mask is inverted: every query looks at the padding and at nothing else.
padding_unmasked    return torch.ones(len(lengths), 1, 1, S, dtype=torch.bool)
  Your mask does not hide the padding: every key is allowed, so more padding changes the outputs.
padding_one_late    return padding_keys(lengths + 1, S)
  Your mask allows one position of the padding: keys are counted from 0, so you need <, not ≤.
padding_one_early    return padding_keys(lengths - 1, S)
  Your mask also hides the last real word, as if the padding started one position earlier.
padding_of_first_row    return padding_keys(lengths[:1].expand_as(lengths), S)
  You used the first sentence's mask for the full batch, but each sentence has its own length.
padding_at_the_left    return padding_keys(lengths, S).flip(-1)
  Your mask has the padding at the left and the words at the right. Here the padding comes after the words.
padding_of_longest    return padding_keys(lengths.max().expand_as(lengths), S)
  You cut every sentence at the largest length of the batch, but each sentence ends at its own length.
padding_in_numbers    return padding_keys(lengths, S).float()
  Your entries are right, but attention adds a mask of numbers to the scores, and adding 0 or 1 hides nothing. Return
  booleans, as a comparison does.
padding_without_two_axes    return padding_keys(lengths, S)[:, 0, 0]
  Your entries are right, but your mask is (B, S). Beside scores (B, H, T, S) its rows would count as queries. Add the
  axes of heads and queries: mask[:, None, None, :].
padding_without_one_axis    return padding_keys(lengths, S)[:, 0]
  Your entries are right, but your mask is (B, 1, S). Beside scores (B, H, T, S) its sentences would count as heads. An
  axis is missing: mask[:, None, None, :].
""")


# --- the causal mask -------------------------------------------------------------------------------------------------

causal = Exercise(
    "no_look_ahead",
    title="Itself, and what came before",
    goal="Write the boolean causal mask (T, T): query t (a row) may look at itself and at all keys (columns) before "
    "it.",
    difficulty=1,
    minutes=4,
    inline=True,
    one_call=True,
    formula=r"M_{ts} = [\,s \le t\,]",
    source="Vaswani et al. 2017, section 3.2.3, in words",
    cases=lambda: [(3,), (1,), (6,), (11,)],
    run=lambda make, T: as_mask(make(T)),
    hints=(
        "Draw it for T = 3. How many keys may the first query see, and the last?",
        "Compare a column of queries, torch.arange(T)[:, None], with a row of keys, torch.arange(T)[None, :].",
        "torch.arange(T)[None, :] <= torch.arange(T)[:, None]",
    ),
)


@causal.solution
def no_look_ahead(T):
    """Mask (T, T), True where s ≤ t."""
    return torch.ones(T, T, dtype=torch.bool).tril()


causal.slips("""
back_inverted    return ~_lower_triangle(T)
  Your mask is inverted: a position sees everything after it, and nothing else.
back_transposed    return _lower_triangle(T).T
  Rows and columns are swapped: rows are queries, columns are keys. In yours the first word sees all.
one_ahead    return _lower_triangle(T, 1)
  Each position also sees the next one, which it should learn to predict. Is there a 1 too many?
not_itself    return _lower_triangle(T, -1)
  Your mask hides the diagonal: a position does not see itself, and the first one sees nothing at all.
nothing_hidden    .tril() →
  Your mask hides nothing: every position sees the whole text, the words after it included.
only_itself    return torch.eye(T, dtype=torch.bool)
  In your mask a position sees itself alone. It may also look at everything before it.
back_in_numbers    return _lower_triangle(T).float()
  Your entries are right, but they are numbers. Return booleans, as a comparison does: in this course True means “may
  look”.
back_to_be_added    return torch.zeros(T, T).masked_fill(~_lower_triangle(T), -math.inf)
  This is the mask that is added to the scores, 0 and −∞. Here we want its boolean form: True where a query may look.
""")


# --- the softmax under a mask ----------------------------------------------------------------------------------------

softmax = Exercise(
    "masked_weights",
    title="First the mask, then the softmax",
    goal="Compute the weights (…, T, S) from scores (…, T, S) and a boolean mask, True where a query may look. The "
    "mask broadcasts to the shape of the scores. Masked keys get the weight 0, and each row sums to 1. No row is "
    "empty.",
    difficulty=1,
    minutes=6,
    inline=True,
    cases=lambda: [
        (torch.tensor([[2.0, 1.0, 0.0], [0.0, 1.0, 2.0]]), torch.tensor([[1, 1, 0], [1, 1, 1]]) > 0),
        (
            torch.tensor([[2.0, 1.0, 200.0], [-50.0, 0.0, 1.0], [-300.0, 0.0, 1.0]]),
            torch.tensor([[1, 1, 0], [1, 0, 0], [1, 0, 0]]) > 0,
        ),
        (*random_tensors((5, 5), seed=4), _lower_triangle(5)),
        (*random_tensors((2, 3, 4, 6), seed=5), (torch.arange(6) < torch.tensor([[6], [4]]))[:, None, None]),
    ],
    hints=(
        "Which score becomes the weight 0 in a softmax?",
        "Replace the scores where the mask is False by −∞. masked_fill does it, or torch.where(mask, …, …).",
        "torch.where(mask, scores, -math.inf).softmax(dim=-1)",
    ),
)


@softmax.solution
def masked_weights(scores, mask):
    """Weights (…, T, S): softmax of scores (…, T, S) over the keys that the mask allows."""
    return torch.where(mask, scores, -math.inf).softmax(dim=-1)


softmax.slips("""
never_masked    return scores.softmax(dim=-1)
  You did not use the mask: masked keys keep their weights.
allowed_filled    return scores.masked_fill(mask, -math.inf).softmax(dim=-1)
  You filled where the mask is True, so the allowed keys are hidden. masked_fill wants ~mask. A row that may look
  everywhere has nothing left, and is NaN.
allowed_filled_in_numbers    return scores.masked_fill(mask, -1e9).softmax(dim=-1)
  You filled where the mask is True, so the allowed keys are hidden: use ~mask. With your large negative fill, a row
  that may look everywhere gives each key the same weight.
late    return scores.softmax(dim=-1) * mask
  You masked after the softmax: rows sum to less than 1, and the masked scores are still in the denominator.
times_zero    return (scores * mask).softmax(dim=-1)
  You multiplied the scores by 0, or filled with a tiny number such as 1e-9. A score of 0 is an ordinary score: it keeps
  e⁰ = 1 beside the others.
weak_ten    return scores.masked_fill(~mask, -10.0).softmax(dim=-1)
  Your fill of −10 is too weak: where an allowed score is below it, the masked keys get the weight.
weak_hundred    return scores.masked_fill(~mask, -100.0).softmax(dim=-1)
  Your fill of −100 is too weak: one allowed score here is −300. Use −∞, which is below every score.
mask_as_a_term    return (scores + mask.float()).softmax(dim=-1)
  You added True and False as 1 and 0. That makes allowed keys a little more likely, and hides none.
wrong_infinity    return scores.masked_fill(~mask, math.inf).softmax(dim=-1)
  You filled with +∞, so the masked key would get all the weight. ∞ divided by ∞ is NaN. Fill with −∞.
over_axis_one    return scores.masked_fill(~mask, -math.inf).softmax(dim=1)
  You took the softmax over axis 1. With axes in front, such as a batch, that is not the axis of the keys: count from
  the end, softmax(-1).
over_queries    return scores.masked_fill(~mask, -math.inf).softmax(dim=-2)
  You took the softmax over the queries (dim=-2). A query shares its weights among keys: dim=-1.
""")


@softmax.mistake(
    "You masked after the softmax and divided by the new sum. On paper that is the same. But where a masked score is "
    "far larger than the others, the allowed weights have been rounded to 0, and 0 divided by 0 is NaN."
)
def late_and_divided(scores, mask):
    kept = scores.softmax(dim=-1) * mask
    return kept / kept.sum(dim=-1, keepdim=True)


# --- the leak test ---------------------------------------------------------------------------------------------------

sizes = Exercise(
    "block_sizes",
    title="The size of each block of a Jacobian",
    goal="J (T, F, S, D) holds derivatives: J[i, a, j, b] is that of number a of output i by number b of input j. "
    "Return the table (T, S) of the sizes: for each output and input the root of the sum of squares of their block.",
    difficulty=1,
    minutes=6,
    inline=True,
    cases=lambda: [
        (torch.tensor([[[[3.0, 0.0], [0.0, 0.0]], [[0.0, 4.0], [0.0, -2.0]]]]),),
        (random_tensors((2, 3, 4, 5), seed=6)[0],),
        (random_tensors((3, 2, 3, 2), seed=7)[0],),
    ],
    hints=(
        "Two of the four axes stay: the one of the outputs and the one of the inputs.",
        "Square all entries, add them up over the axes 1 and 3, and take the root at the end.",
        "J.square().sum(dim=(1, 3)).sqrt()",
    ),
)


@sizes.solution
def block_sizes(J):
    """Sizes (T, S) of the blocks of J (T, F, S, D)."""
    return J.square().sum(dim=(1, 3)).sqrt()


sizes.slips("""
root_missing    .sqrt() →
  The root is missing: your entries are the squares of the right ones.
plain_sum    return J.sum(dim=(1, 3))
  You added the derivatives without squaring them, so positive and negative ones cancel: a block could look empty though
  every number in it has an influence.
sum_of_sizes    square → abs ; .sqrt() →
  You added absolute values. That finds the same leaks, but the size asked for is the root of the sum of squares.
largest_entry    return J.abs().amax(dim=(1, 3))
  You took the largest entry of each block. That finds the same leaks, but the size asked for adds up the squares of all
  entries.
root_of_mean    sum → mean
  You took the mean of the squares, not their sum.
root_too_early    return J.square().sum(dim=3).sqrt().sum(dim=1)
  You took the root before you had added up both axes: first all squares of a block, then one root.
""")
