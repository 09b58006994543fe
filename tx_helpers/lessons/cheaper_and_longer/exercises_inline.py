"""Exercises that stand inside the notebook: attention over two blocks, and a draft that a large model checks."""

from collections.abc import Callable

import torch
from torch import Tensor

from tx_helpers.exercises.exercise import Exercise, random_tensors

# --- two blocks of keys ----------------------------------------------------------------------------------------------


def _block(T, K, seed, shift=0.0):
    """(out (T, K), largest (T, 1), total (T, 1)) of a block of keys; the scores are moved by `shift`."""
    out, largest, total = random_tensors((T, K), (T, 1), (T, 1), seed=seed)
    return out, 3 * largest + shift, 1 + total.abs()


def _with_an_empty_row(block, row):
    """The same block, in which this query may look at none of the keys."""
    out, largest, total = block
    empty = torch.arange(len(out))[:, None] == row
    return out.masked_fill(empty, 0.0), largest.masked_fill(empty, -torch.inf), total.masked_fill(empty, 0.0)


blocks = Exercise(
    "merge_blocks",
    inline=True,
    title="Attention over two blocks of keys",
    goal="T queries have attended to one block of keys, and separately to another one. From each block you get three "
    "tensors: `out` (T, K), softmax(scores) V over this block alone; `largest` m (T, 1), the largest score; `total` "
    "ℓ (T, 1), the sum of all exp(score − m). Return the same three for both blocks together, exactly. A query that "
    "sees no key of a block has out 0, m = −∞ and ℓ = 0 there; every query sees a key in at least one of the blocks.",
    difficulty=2,
    minutes=10,
    source="Dao et al. 2022, algorithm 1",
    formula=r"m = \max(m_1, m_2), \quad \ell = e^{m_1 - m}\,\ell_1 + e^{m_2 - m}\,\ell_2, \quad "
    r"o = \frac{e^{m_1 - m}\,\ell_1\, o_1 + e^{m_2 - m}\,\ell_2\, o_2}{\ell}",
    cases=lambda: [
        (
            (torch.tensor([[2.0, 0.0]]), torch.tensor([[1.0]]), torch.tensor([[1.5]])),
            (torch.tensor([[0.0, 4.0]]), torch.tensor([[3.0]]), torch.tensor([[2.0]])),
        ),
        (_block(3, 2, seed=1), _block(3, 2, seed=2)),
        (
            _with_an_empty_row(_block(4, 3, seed=3, shift=-9.0), 1),
            _with_an_empty_row(_block(4, 3, seed=4, shift=-9.0), 2),
        ),
        (_block(5, 3, seed=5, shift=100.0), _block(5, 3, seed=6)),
    ],
    hints=(
        "Both sums must count from the same maximum. What is exp(score − m), if you know exp(score − m₁)?",
        "weight_1 = total_1 * torch.exp(largest_1 - largest), and the same for block 2. Their sum is the new total.",
        "The new output is the mean of the two outputs with these weights: (weight_1 * out_1 + weight_2 * out_2) / "
        "total.",
    ),
)


@blocks.solution
def merge_blocks(one, other):
    """(out (T, K), largest (T, 1), total (T, 1)) over the keys of both blocks, each given by the same three."""
    out_1, largest_1, total_1 = one
    out_2, largest_2, total_2 = other
    largest = torch.maximum(largest_1, largest_2)
    weight_1 = total_1 * torch.exp(largest_1 - largest)
    weight_2 = total_2 * torch.exp(largest_2 - largest)
    total = weight_1 + weight_2
    return (weight_1 * out_1 + weight_2 * out_2) / total, largest, total


blocks.slips("""
nothing_rescaled    * torch.exp(largest_1 - largest) → ; * torch.exp(largest_2 - largest) →
  You added up the two totals as they are. Each counts from the maximum of its own block; exp(m₁ − m) and exp(m₂ − m)
  move both to the same one.
first_not_rescaled    * torch.exp(largest_1 - largest) →
  You rescaled the second block only. When it brings a larger maximum, what was summed before is too large: multiply it
  by exp(m₁ − m).
second_not_rescaled    * torch.exp(largest_2 - largest) →
  You rescaled the first block only. Where it has the larger maximum, the second block has to shrink, too: multiply its
  total by exp(m₂ − m).
output_not_rescaled    (weight_1 * out_1 + weight_2 * out_2) / total →
      (total_1 * out_1 + total_2 * out_2) / (total_1 + total_2)
  Your total is right, but your output weights the blocks by their old totals. It needs the same factors exp(m₁ − m) and
  exp(m₂ − m); forgetting them is the classic mistake with FlashAttention.
total_not_rescaled    largest, total → largest, total_1 + total_2
  Your output is right, but your total is the sum of the old ones. The next block would be merged with a total that
  counts from two maxima.
factor_turned    largest_1 - largest → largest - largest_1 ; largest_2 - largest → largest - largest_2
  Your exponents have the wrong sign. The factor is exp(m₁ − m), which is at most 1; exp(m − m₁) makes the block with
  the smaller scores larger, until it overflows.
first_maximum    torch.maximum(largest_1, largest_2) → largest_1
  Your maximum is that of the first block alone. Scores of the second one may be larger, and then exp overflows.
second_maximum    torch.maximum(largest_1, largest_2) → largest_2
  Your maximum is that of the second block alone: you forgot the largest score so far. Take the larger one of both, row
  by row.
smaller_maximum    torch.maximum → torch.minimum
  You took the smaller of the two maxima. Then exp(score − m) can overflow, which the maximum is there to prevent.
maxima_added    torch.maximum → torch.add
  You added the two maxima up. The factors undo that in the output, but the next block is told a largest score that no
  key has: take the larger one.
no_maximum_subtracted    largest_1 - largest → largest_1 ; largest_2 - largest → largest_2
  You took exp(m₁) and exp(m₂) without subtracting the new maximum m. The total then counts from 0, and large scores
  overflow: ∞/∞ is NaN.
second_moved_to_the_first    * torch.exp(largest_1 - largest) → ; largest_2 - largest → largest_2 - largest_1
  You rescaled the second block by exp(m₂ − m₁) and left the first as it was. That counts from m₁, which need not be the
  larger one, and is −∞ where the first block is empty: −∞ + ∞ is NaN.
one_maximum_for_all    torch.maximum(largest_1, largest_2) →
      torch.maximum(largest_1, largest_2).amax().expand_as(largest_1)
  You took one maximum for all queries. Each row has its own: a row of small scores would be rounded to 0 beside a row
  of large ones. torch.maximum compares entry by entry.
plain_mean    (weight_1 * out_1 + weight_2 * out_2) / total → (out_1 + out_2) / 2
  Your output is the plain mean of both. A block with more keys, or with larger scores, counts more.
outputs_added    (weight_1 * out_1 + weight_2 * out_2) / total → out_1 + out_2
  You added up the outputs. Each is already a mean of values with weights that sum to 1; the sum of two has weights that
  sum to 2.
first_output_whole    (weight_1 * out_1 + weight_2 * out_2) / total → out_1 + weight_2 * out_2 / total
  You added the second block to the first output as it was. That was a mean over fewer keys: in the new one it counts
  with ℓ₁·exp(m₁ − m)/ℓ only. Without this factor the old values keep too much weight.
factors_alone    (weight_1 * out_1 + weight_2 * out_2) / total →
      torch.exp(largest_1 - largest) * out_1 + torch.exp(largest_2 - largest) * out_2
  You multiplied each output by exp(m₁ − m) or exp(m₂ − m) and added them up. Multiply each by its total, too, and
  divide by the new total: the result is a mean.
totals_left_out    (weight_1 * out_1 + weight_2 * out_2) / total → (torch.exp(largest_1 - largest) * out_1 +
      torch.exp(largest_2 - largest) * out_2) / (torch.exp(largest_1 - largest) + torch.exp(largest_2 - largest))
  You weighted the outputs by exp(m₁ − m) and exp(m₂ − m) alone. Multiply each by its total: a block with many keys
  counts more than its largest score says.
outputs_taken_for_sums    (weight_1 * out_1 + weight_2 * out_2) / total →
      (torch.exp(largest_1 - largest) * out_1 + torch.exp(largest_2 - largest) * out_2) / total
  You took the outputs for sums that are not divided yet, as FlashAttention 2 keeps them. Here each was divided by its
  total, so multiply by that first.
not_divided    / total →
  You did not divide by the new total: your output is a sum of exponentials times values, not a mean.
""")


# --- a drafted token -------------------------------------------------------------------------------------------------


def _distributions(V, seed):
    """p and q (V,), the distributions of a large model and of its draft."""
    return tuple((1.5 * logits).softmax(0) for logits in random_tensors((V,), (V,), seed=seed))


drafted = Exercise(
    "keep_or_redraw",
    inline=True,
    title="Draft and check, step 1 of 2",
    goal="A small model has the distribution q (V,) for the next token, the large model has p (V,). The small one "
    "drafts a token from q. Return two tensors. `keep` (V,) is, for each token that may be drafted, the probability "
    "that we keep it. `redraw` (V,) is the distribution from which we draw if we do not keep the drafted token. In the "
    "end the token must have the distribution p exactly. All entries of q are positive, and p is not equal to q.",
    difficulty=2,
    minutes=8,
    source="Leviathan et al. 2023, algorithm 1",
    formula=r"\mathrm{keep}_x = \min\Bigl(1, \frac{p_x}{q_x}\Bigr), \qquad "
    r"\mathrm{redraw}_x = \frac{\max(0,\, p_x - q_x)}{\sum_y \max(0,\, p_y - q_y)}",
    cases=lambda: [
        (torch.tensor([0.6, 0.3, 0.1]), torch.tensor([0.2, 0.3, 0.5])),
        (torch.tensor([0.1, 0.6, 0.0, 0.3]), torch.tensor([0.25, 0.4, 0.15, 0.2])),
        _distributions(9, seed=21),
        _distributions(30, seed=22),
    ],
    hints=(
        "Where the draft proposes a token too often (q > p), keep it in p/q of the cases. Elsewhere always keep it.",
        "keep = (p / q).clamp(max=1). What is still missing to reach p is p − q, wherever that is positive.",
        "missing = (p - q).clamp(min=0); redraw = missing / missing.sum()",
    ),
)


@drafted.solution
def keep_or_redraw(p, q):
    """keep (V,): how probably each drafted token is kept; redraw (V,): what replaces one that is not; p, q (V,)."""
    keep = torch.minimum(p / q, torch.ones_like(p))
    missing = torch.relu(p - q)  # what the draft proposes too rarely
    return keep, missing / missing.sum()


drafted.slips("""
redrawn_from_p    p - q → p
  You draw again from p. Tokens that the draft proposes often enough would get p a second time; only what is missing,
  max(0, p − q), may be drawn again.
redrawn_from_q    p - q → q
  You draw again from q, the draft's distribution. That brings back the tokens that were just rejected.
not_normalised    / missing.sum() →
  Your `redraw` does not sum to 1. What is missing has to be divided by its sum to be a distribution.
divided_by_the_largest    missing.sum() → missing.max()
  You divided what is missing by its largest entry. Divide by its sum: a distribution sums to 1.
surplus_redrawn    p - q → q - p
  You turned the difference: max(0, q − p) is what the draft proposes too often. Draw from what it proposes too rarely.
absolute_difference    p - q → (p - q).abs()
  You took |p − q|. Tokens with too much of q would be drawn again as well; they need 0: max(0, p − q).
softmax_of_the_difference    missing / missing.sum() → missing.softmax(0)
  You normalised with a softmax, which gives every token some probability. Divide by the sum.
p_where_missing    torch.relu(p - q) → p * (p > q)
  You draw again from p among the tokens with p > q. Each of them is missing by p − q, not by p.
uniform_where_missing    torch.relu(p - q) → (p > q).float()
  You draw evenly among the tokens with p > q. Each of them is missing by another amount, p − q.
common_part_redrawn    torch.relu(p - q) → torch.minimum(p, q)
  You draw again from min(p, q). That part is written already, by the drafts that were kept.
ratio_upside_down    p / q → q / p
  Your ratio is upside down: q/p keeps the tokens that the large model finds unlikely. Use p/q.
not_capped    torch.minimum(p / q, torch.ones_like(p)) → p / q
  Your `keep` exceeds 1 where p > q. A probability ends at 1: the draft is then always kept.
kept_with_p    torch.minimum(p / q, torch.ones_like(p)) → p.clone()
  You keep a draft with the probability p. It was drawn with q already, so x would be written with p·q; divide by q.
joint_probability    torch.minimum(p / q, torch.ones_like(p)) → torch.minimum(p, q)
  You returned min(p, q). That is the probability of drafting the token and keeping it; once it is drafted, it is kept
  with min(p, q)/q.
kept_or_not    torch.minimum(p / q, torch.ones_like(p)) → (p >= q).float()
  You keep a draft where p ≥ q and never elsewhere. Then a token with q a little above p would be lost; keep it in p/q
  of the cases.
share_of_both    torch.minimum(p / q, torch.ones_like(p)) → p / (p + q)
  You keep a draft with p/(p + q), as in a duel of the two models. Even where both agree you would refuse half; the rule
  is min(1, p/q).
""")


# --- a whole draft ---------------------------------------------------------------------------------------------------


class Reader:
    """A toy model: text -> (T, V), the distribution after each token, which depends on it and on the one before."""

    def __init__(self, V: int, seed: int, like: "Reader | None" = None):
        (logits,) = random_tensors((V, V, V), seed=seed)
        self.table = (1.5 * logits).softmax(-1)
        if like is not None:  # half of what the other says
            self.table = (self.table + like.table) / 2
        self.calls = 0

    def __call__(self, text: list[int]) -> Tensor:
        self.calls += 1
        return self.table[[text[0], *text[:-1]], list(text)]


class Script:
    """Dice that fall as it is written, then on the first side; `others` are the scripts that could have come."""

    def __init__(self, falls: list[int]):
        self.falls, self.thrown, self.chance, self.others = falls, 0, 1.0, []

    def draw(self, weights: Tensor) -> int:
        shares = torch.as_tensor(weights, dtype=torch.float64).flatten()
        if not (shares >= -1e-6).all() or not 0 < shares.sum() < torch.inf:
            raise ValueError(f"dice: weights {shares.tolist()}, expected none below 0, and a sum above 0")
        sides = [side for side, share in enumerate(shares.tolist()) if share > 1e-9]
        if self.thrown == len(self.falls):
            self.others += [[*self.falls, side] for side in sides[1:]]
            self.falls = [*self.falls, sides[0]]
        side = self.falls[self.thrown]
        self.thrown += 1
        self.chance *= (shares[side] / shares.sum()).item()
        return side

    def flip(self, chance: float) -> bool:
        chance = min(max(float(chance), 0.0), 1.0)
        return self.draw(torch.tensor([1 - chance, chance], dtype=torch.float64)) == 1


def _chances(answer: Callable, V: int, seed: int, text: list[int], ahead: int) -> dict[str, Tensor | float]:
    """How probable each list of new tokens is (V stands for none), and how often too often the models were called.

    The large one may be called once, the small one once for each drafted token and once more for the whole draft.
    """
    chances, scripts = torch.zeros((V + 1,) * (ahead + 1), dtype=torch.float64), [[]]
    often = {"large": 0, "small": 0}
    large = Reader(V, seed)
    small = Reader(V, seed + 1, like=large)
    while scripts:
        large.calls = small.calls = 0
        dice = Script(scripts.pop())
        new = [int(token) for token in answer(large, small, list(text), ahead, dice)]
        if len(new) > ahead + 1:
            raise ValueError(f"draft_and_check: {len(new)} new tokens, at most {ahead + 1} can come from one round")
        chances[(*new, *[V] * (ahead + 1 - len(new)))] += dice.chance
        often["large"] = max(often["large"], large.calls > 1)
        often["small"] = max(often["small"], small.calls > ahead + 1)
        scripts += dice.others
    names = {"large": "calls of the large model beyond one", "small": "calls of the small model beyond its tokens"}
    return {"the chances": chances} | {f"the {names[model]}": float(some) for model, some in often.items()}


checking = Exercise(
    "draft_and_check",
    inline=True,
    title="Draft and check, step 2 of 2",
    goal="Now a whole draft. `large` and `small` read a list of tokens and return (T, V): row t is the distribution of "
    "the token after text[t]. `dice.draw(weights)` draws a token with weights (V,), and `dice.flip(a)` is True with "
    "probability a. Let the small model draft `ahead` tokens, with a call for each. Call the large one once, on text "
    "and draft. "
    "Then go through the draft and decide about each token as in step 1. The first one that is not kept is drawn "
    "again, and the round ends there. If all are kept, draw one more token from the large model. Return the list of "
    "new tokens.",
    difficulty=3,
    minutes=15,
    source="Leviathan et al. 2023, algorithm 1",
    run=_chances,
    cases=lambda: [(3, 31, [1], 1), (3, 33, [0, 2], 2), (2, 35, [1, 0, 1], 3)],
    hints=(
        "Keep each distribution q from which you draw a draft. The large model's rows for the same tokens begin at "
        "row len(text) − 1: that row says what comes after the text.",
        "p = large(text + drafted)[len(text) - 1:] has ahead + 1 rows: one for each drafted token, and one for the "
        "token after them.",
        "for i, x in enumerate(drafted): if dice.flip(min(1, p[i][x] / q[i][x])) is False, return drafted[:i] + "
        "[dice.draw((p[i] - q[i]).clamp(min=0))]. Behind the loop: return drafted + [dice.draw(p[ahead])].",
    ),
)


@checking.solution
def draft_and_check(large, small, text, ahead, dice):
    """The new tokens (a list of 1 to ahead + 1) of one round: drafted by `small`, checked by one call of `large`."""
    drafted, q = [], []
    for _ in range(ahead):
        q.append(small(text + drafted)[-1])
        drafted.append(dice.draw(q[-1]))
    p = large(text + drafted)[len(text) - 1 :]  # (ahead + 1, V)
    for i, token in enumerate(drafted):
        if not dice.flip(min(1.0, float(p[i][token] / q[i][token]))):
            return [*drafted[:i], dice.draw((p[i] - q[i]).clamp(min=0))]
    return [*drafted, dice.draw(p[ahead])]


checking.slips("""
nothing_after_a_full_draft    return draft_and_check(large, small, text, ahead, dice)[:ahead]
  You add no token when all drafted ones are kept. The large model has already computed what comes after them: draw one
  more from its last row.
one_row_late    for i, token in enumerate(drafted): → p = p[[*range(1, ahead + 1), ahead]] ⏎
      for i, token in enumerate(drafted): ; (p[i] - q[i]).clamp(min=0) →
      missing if (missing := (p[i] - q[i]).clamp(min=0)).any() else p[i]
  You compared each drafted token with the large model's next row. The row that judges the first drafted token is the
  one after the last token of the text, row len(text) − 1.
again_from_p    (p[i] - q[i]).clamp(min=0) → p[i]
  You draw again from p. What the draft covers would then count twice; draw from max(0, p − q).
again_from_q    (p[i] - q[i]).clamp(min=0) → q[i]
  You draw again from q, the distribution of the draft that was just refused. Use max(0, p − q).
always_kept    float(p[i][token] / q[i][token]) → 1.0
  You keep every drafted token. Then the small model writes; keep each with probability min(1, p/q).
kept_with_p    float(p[i][token] / q[i][token]) → float(p[i][token]) ; (p[i] - q[i]).clamp(min=0) →
      missing if (missing := (p[i] - q[i]).clamp(min=0)).any() else p[i]
  You keep a token with probability p. It was drawn with q already, so divide: min(1, p/q).
likeliest_alone    float(p[i][token] / q[i][token]) → float(p[i].argmax() == token) ; (p[i] - q[i]).clamp(min=0) →
      missing if (missing := (p[i] - q[i]).clamp(min=0)).any() else p[i]
  You keep a token only where it is the large model's likeliest. Then other tokens come too seldom; keep each with
  probability min(1, p/q).
last_token_from_q    dice.draw(p[ahead]) → dice.draw(q[-1])
  You draw the token after a full draft from the small model. It is the large one's to give, its last row.
draft_reads_the_text_alone    small(text + drafted) → small(text)
  Your draft reads the text alone at each step. Each drafted token has to read those before it as well.
checked_to_the_end    return [*drafted[:i], dice.draw((p[i] - q[i]).clamp(min=0))] →
      drafted[i] = dice.draw((p[i] - q[i]).clamp(min=0))
  You went on after a token that was not kept. What follows it was drafted after a token that is no longer there: the
  round ends with the first that is not kept.
nothing_drawn_again    return [*drafted[:i], dice.draw((p[i] - q[i]).clamp(min=0))] → return drafted[:i]
  You dropped a token that is not kept, and drew none in its place. Draw again from max(0, p − q); otherwise each kept
  token is one that the draft likes too much.
all_or_nothing    return [*drafted[:i], dice.draw((p[i] - q[i]).clamp(min=0))] →
      return [dice.draw((p[0] - q[0]).clamp(min=0) if i == 0 else p[0])]
  You threw the whole draft away because one token was not kept. What stands before it was kept, and stays.
both_returned    [*drafted[:i], → [*drafted[: i + 1],
  You returned the token that was not kept as well, with the new one behind it. The new one takes its place.
a_call_for_each_token    p = large(text + drafted)[len(text) - 1 :]  # (ahead + 1, V) →
      p = [large(text + drafted[:i])[-1] for i in range(ahead + 1)]
  The tokens are right, but you called the large model for each of them. Then nothing is saved: call it once, on text
  and draft.
small_model_called_twice    dice.draw(q[-1]) → dice.draw(small(text + drafted)[-1])
  The tokens are right, but you called the small model twice for each drafted token. Draw from the row that you keep as
  q: one call gives both.
""")
