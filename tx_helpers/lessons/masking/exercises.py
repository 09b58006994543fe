"""Exercises on masking. True means "may attend", unless the exercise says otherwise."""

import contextlib
import math

import torch
from torch import Tensor

from tx_helpers.exercises.compare import as_mask, as_tensor, difference
from tx_helpers.exercises.exercise import Exercise, random_tensors
from tx_helpers.exercises.quizzes import questions


def _lower_triangle(T):
    return torch.ones(T, T, dtype=torch.bool).tril()


# --- the causal mask -------------------------------------------------------------------------------------------------


def _added(make, T):
    """What a mask adds to the scores: −10⁹ and less count as −∞, any weaker fill as −100, truth values as 0 and 1."""
    mask = as_tensor(make(T))
    if not isinstance(mask, Tensor) or mask.is_complex():
        return mask
    if not mask.is_floating_point():
        return mask.double() if (mask >= 0).all() else mask
    return mask.masked_fill(mask < 0, -100.0).masked_fill(mask <= -1e9, -math.inf)


causal = Exercise(
    "causal_square",
    title="A causal mask of numbers",
    goal="Many libraries expect a mask of numbers, which they add to the scores: 0 where query t (a row) may look at "
    "key s (a column), and −∞ where it may not (−10⁹ or less counts as −∞). Write the causal mask (T, T) in this form: "
    "each position may look at itself and at everything before it.",
    difficulty=1,
    minutes=5,
    one_call=True,
    cases=lambda: [(3,), (1,), (6,), (20,)],
    run=_added,
    hints=(
        "Draw it for T = 3: the first row has a single 0, the last has three.",
        "−∞ belongs above the diagonal. Do not multiply by −∞: 0 · ∞ is NaN.",
        "torch.full((T, T), -math.inf).triu(1), or a boolean table and masked_fill.",
    ),
)


@causal.solution
def causal_square(T):
    """Mask (T, T) to be added to scores: 0 where s ≤ t, −∞ elsewhere."""
    return torch.full((T, T), -math.inf).triu(1)


causal.slips("""
causal_inverted    triu(1) → tril()
  Your mask is inverted: 0 and −∞ are swapped, so a position sees the future and nothing else.
causal_transposed    triu(1) → tril(-1)
  Your mask is transposed: rows are queries. In yours the first word sees all words, the last sees itself.
causal_off_by_one    triu(1) → triu(2)
  Your mask is off by one and leaks: each position sees the next one, which is the answer it is trained on.
causal_without_diagonal    triu(1) → triu()
  Your mask hides the diagonal, so the first row may look at nothing: it is NaN, or with −10⁹ looks at all.
causal_all_true    return torch.zeros(T, T)
  Your mask hides nothing: each position reads the next word, which it should predict, off its input.
infinity_times_zero    return torch.ones(T, T).triu(1) * -math.inf
  You multiplied 0 and 1 by −∞. 0 · ∞ is NaN, so the allowed entries are NaN instead of 0. Use masked_fill.
ones_for_allowed    return torch.ones(T, T).tril()
  Your mask is 1 (or True) where a query may look, and 0 elsewhere. Added to the scores, 0 hides nothing.
ones_for_hidden    return torch.ones(T, T).triu(1)
  Your mask is 1 (or True) where a query may not look. Added to the scores, it favours the hidden keys.
plus_infinity    -math.inf → math.inf
  Your infinity has the wrong sign: with +∞ in a row the softmax divides ∞ by ∞, which is NaN.
fill_above_a_billion    math.inf → 100.0
  Your fill is too weak: a hidden score that is large enough still comes through. Use −∞. (Any fill above −10⁹ counts as
  −100 here.)
""")


def _hiding(hidden, fill=-math.inf):
    return torch.zeros(hidden.shape).masked_fill(hidden, fill)


# --- attention with a mask -------------------------------------------------------------------------------------------

attention = Exercise(
    "masked_attention",
    title="Two masks, two conventions",
    goal="Compute the output (T, K) of scaled dot-product attention for queries q (T, K), keys k (S, K) and values v "
    "(S, K). There are two masks, from two libraries: `hidden` (T, S) is True where query t (a row) may NOT look at "
    "key s (a column), as in nn.MultiheadAttention; `real` (S,) is True where a key is a word and not padding. A key "
    "that either mask hides gets no weight. Every row has at least one allowed key.",
    difficulty=2,
    minutes=10,
    formula=r"\operatorname{softmax}\left(\frac{QK^\top}{\sqrt{K}} + M\right)V,\quad M_{ts}=0\text{ or }-\infty",
    source="Vaswani et al. 2017, section 3.2.3",
    cases=lambda: [
        (
            torch.tensor([[1.0], [2.0], [1.0]]),
            torch.tensor([[1.0], [3.0], [2.0]]),
            torch.tensor([[10.0], [20.0], [40.0]]),
            ~_lower_triangle(3),
            torch.tensor([True, True, False]),
        ),
        (
            torch.tensor([[3.0], [1.0]]),
            torch.tensor([[-4.0], [17.0]]),
            torch.tensor([[1.0], [2.0]]),
            ~_lower_triangle(2),
            torch.tensor([True, True]),
        ),
        (*(20 * m for m in random_tensors((4, 3), (4, 3), (4, 3), seed=0)), ~_lower_triangle(4), torch.arange(4) < 3),
        (
            *random_tensors((4, 3), (4, 3), (4, 3), seed=1),
            torch.tensor([[0, 0, 1, 0], [1, 1, 0, 1], [0, 1, 0, 0], [0, 0, 1, 1]]) > 0,
            torch.arange(4) != 1,
        ),
        (  # scores −200, 10 and 200: the lowest alone is allowed, then two, then all
            torch.tensor([[10.0], [10.0], [10.0]]),
            torch.tensor([[-20.0], [1.0], [20.0]]),
            torch.tensor([[1.0], [2.0], [3.0]]),
            ~_lower_triangle(3),
            torch.tensor([True, True, True]),
        ),
    ],
    hints=(
        "Give both masks the same meaning first: a key is hidden where `hidden` is True, or where `real` is False.",
        "Apply the mask before the softmax, so that the rest of the row still sums to 1. Which score gives the "
        "weight 0?",
        "scores.masked_fill(hidden | ~real, -math.inf).softmax(dim=-1) @ v",
    ),
)


@attention.solution
def masked_attention(q, k, v, hidden, real):
    """Output (T, K) of q (T, K), k and v (S, K); hidden (T, S): may not look; real (S,): is a word."""
    scores = q @ k.T / math.sqrt(q.shape[-1])
    return scores.masked_fill(hidden | ~real, -math.inf).softmax(dim=-1) @ v


attention.slips("""
mask_unused    .masked_fill(hidden | ~real, -math.inf) →
  You did not use the masks: every query looks at every key.
mask_inverted    hidden | ~real → ~hidden | ~real
  You read both masks as “may look”, which is what True means in the course's own masks. In `hidden` True means “may not
  look”: invert it first. A row in which your masks allow nothing is NaN.
mask_inverted_in_numbers    hidden | ~real, -math.inf → ~hidden | ~real, -1e30
  You read both masks as “may look”, but `hidden` means “may not look”. Your large negative fill hides the mistake: a
  row in which nothing is left looks at all keys equally, where −∞ would give NaN.
mask_inverted_with_zeros    scores.masked_fill(hidden | ~real, -math.inf).softmax(dim=-1) @ v →
      (scores.masked_fill(~hidden | ~real, -math.inf).softmax(dim=-1) @ v).nan_to_num(0.0)
  You read both masks as “may look”, but `hidden` means “may not look”. In some rows nothing is left; PyTorch's fused
  attention returns 0 for them, as nan_to_num does.
words_hidden    ~real → real
  You read `real` the wrong way round: the words are hidden, and only the padding is allowed. A sentence without padding
  has nothing left and becomes NaN.
words_hidden_in_numbers    ~real, -math.inf → real, -1e30
  You read `real` the wrong way round: the words are hidden. With your large negative fill, a row whose keys are all
  hidden looks at all of them equally.
words_hidden_with_zeros    scores.masked_fill(hidden | ~real, -math.inf).softmax(dim=-1) @ v →
      (scores.masked_fill(hidden | real, -math.inf).softmax(dim=-1) @ v).nan_to_num(0.0)
  You read `real` the wrong way round: the words are hidden. A row whose keys are all hidden is 0, which is what
  PyTorch's fused attention and nan_to_num return.
hidden_if_both    hidden | ~real → hidden & ~real
  In your answer a key is hidden only if both masks hide it (hidden & ~real; or as what is allowed, ~hidden | real). One
  is enough: hidden | ~real, or allowed: ~hidden & real.
filling_seen    hidden | ~real → hidden
  You forgot `real`: queries look at the padding as if it were words, so its length changes the output.
future_seen    hidden | ~real → ~real
  You forgot `hidden`: you masked the padding, but a query still sees words that it must not see.
mask_transposed    hidden | ~real → hidden.T | ~real
  Your mask is transposed: its rows must be the queries and its columns the keys. A transposed causal mask hides the
  past and shows the future.
mask_transposed_in_numbers    hidden | ~real, -math.inf → hidden.T | ~real, -1e30
  Your mask is transposed: one row is left without a key and, with your large negative fill, looks at all.
mask_after_softmax    scores.masked_fill(hidden | ~real, -math.inf).softmax(dim=-1) →
      (scores.softmax(dim=-1) * (~hidden & real))
  You masked after the softmax: rows sum to less than 1, and hidden keys leak through the denominator.
scores_times_mask    scores.masked_fill(hidden | ~real, -math.inf) → (scores * (~hidden & real))
  You multiplied the scores by the mask, or filled with a tiny number like 1e-9: a hidden key then has the score 0 (or
  nearly 0), which is an ordinary score, and keeps e⁰ = 1 beside the others.
fill_too_weak    -math.inf → -10.0
  Your fill of −10 is too weak: hidden keys come through where scores are large. Fill with −∞.
fill_of_minus_hundred    -math.inf → -100.0
  Your fill of −100 is too weak: one allowed score here is −200, so the hidden keys are above it and get all the weight.
  Use −∞, which lies below any score.
lowered_by_hundred    scores.masked_fill(hidden | ~real, -math.inf) → (scores - 100.0 * (hidden | ~real))
  You lowered the hidden scores by 100, so one that is larger by more than 100 still comes through.
scale_missing    / math.sqrt(q.shape[-1]) →
  The scale is missing: divide the scores by √d_k, the root of the width of q. It does not show where the width is 1;
  elsewhere your weights are too peaked.
filling_values_zeroed    hidden | ~real → hidden ; @ v → @ (v * real[:, None])
  You set the padding's values to 0, but its keys keep weights: those of the words sum to less than 1.
divided_again    return scores.masked_fill(hidden | ~real, -math.inf).softmax(dim=-1) →
      weights = scores.softmax(dim=-1) * (~hidden & real) ⏎ return weights / weights.sum(dim=-1, keepdim=True)
  You masked after the softmax and divided by the new sum. On paper that is the same. But where a hidden score is far
  larger than the others, the softmax has rounded all allowed weights to 0, and 0 divided by 0 is NaN.
""")


# --- a row with nothing in it ----------------------------------------------------------------------------------------


def _bias(allowed):
    return _hiding(torch.tensor(allowed) == 0)


def _weights_and_gradient(make, scores, bias):
    """The weights; and how many entries of the gradient by the scores are NaN, where the weights are right.

    An answer that leaves PyTorch (NumPy, lists) has no gradient, so it has none that is NaN.
    """
    weights = as_tensor(make(scores.clone(), bias.clone()))
    broken = 0
    if difference(weights, safe_weights(scores, bias), empty.tolerance) is None:
        learned = scores.clone().requires_grad_()
        with contextlib.suppress(RuntimeError, TypeError):  # it asks NumPy for a tensor with a gradient
            again = make(learned, bias.clone())
            if isinstance(again, Tensor) and again.requires_grad:
                upstream = torch.arange(again.numel(), dtype=again.dtype).view(again.shape)
                (gradient,) = torch.autograd.grad((again * upstream).sum(), learned)
                broken = int(gradient.isnan().sum())
    return {"table of weights": weights, "number of NaN in the gradient": broken}


empty = Exercise(
    "safe_weights",
    title="When nothing is left to look at",
    goal="Compute the weights (T, S) from scores (T, S) and a mask `bias` (T, S) that is added to them: 0 where a "
    "query may look, −∞ where it may not. If a row of `bias` is −∞ everywhere, its weights are zeros, never NaN. The "
    "other rows are the usual softmax over the allowed keys. A model is trained with your function, so the gradient "
    "by the scores must not be NaN either.",
    difficulty=2,
    minutes=10,
    run=_weights_and_gradient,
    cases=lambda: [
        (torch.tensor([[0.0, 1.0], [2.0, 3.0]]), _bias([[1, 1], [0, 0]])),
        (*random_tensors((4, 5), seed=2), _bias([[1, 0, 1, 1, 0], [0, 0, 0, 0, 0], [1, 1, 1, 1, 1], [0, 0, 0, 1, 0]])),
        (9 * random_tensors((3, 3), seed=3)[0], _bias([[0, 0, 0], [1, 0, 0], [0, 1, 1]])),
        (torch.tensor([[20.003, 20.997, 0.0], [5.0, 6.0, 7.0]]), _bias([[1, 1, 0], [0, 0, 0]])),
        (torch.tensor([[-200.0, -194.0, 0.0], [200.0, 0.0, 0.0]]), _bias([[1, 1, 0], [1, 1, 1]])),
        (torch.tensor([[1.0, 2.0]]), _bias([[0, 0]])),
    ],
    hints=(
        "What is the softmax of a row of −∞? 0 divided by 0. And of a row of −10⁹?",
        "Zeros that replace NaN come too late for the gradient, which runs back through the softmax and multiplies "
        "by its NaN. So give an empty row ordinary numbers *before* the softmax, and zeros after it.",
        "empty = bias.isinf().all(-1, keepdim=True), then "
        "(scores + bias.masked_fill(empty, 0.0)).softmax(-1).masked_fill(empty, 0.0)",
    ),
)


@empty.solution
def safe_weights(scores, bias):
    """Weights (T, S) of scores (T, S) plus bias (T, S), 0 or −∞; a row that is −∞ throughout gets zeros."""
    empty = bias.isinf().all(dim=-1, keepdim=True)
    weights = (scores + bias.masked_fill(empty, 0.0)).softmax(dim=-1)  # an empty row looks at all, for a moment
    return weights.masked_fill(empty, 0.0)


empty.slips("""
exponential_by_hand    return (scores + bias).exp() / (scores + bias).exp().sum(dim=-1, keepdim=True)
  You wrote the softmax by hand, e^score by its sum. An empty row is 0/0, and in float32 e²⁰⁰ is ∞ and e⁻²⁰⁰ is 0, so
  such rows become NaN, too. The built-in softmax takes off the largest score first.
exponential_over_a_small_number    return (scores + bias).exp()
      / (scores + bias).exp().sum(dim=-1, keepdim=True).clamp(min=1e-9)
  You wrote the softmax by hand and kept its sum from being 0. That mends the empty row. But in float32 e²⁰⁰ is ∞, which
  gives NaN, and e⁻²⁰⁰ is 0, so a row with small scores comes out empty.
nan_removed_too_late    return (scores + bias).softmax(dim=-1).nan_to_num(0.0)
  Your weights are right, but an empty row's gradient is NaN. You replaced NaN by 0 after the softmax (nan_to_num,
  masked_fill or where). On the way back the softmax multiplies by its own result, and 0 · NaN is NaN. One training step
  would turn every parameter into NaN.
empty_row_nan    return (scores + bias).softmax(dim=-1)
  A fully masked row is NaN in your result: the softmax of nothing but −∞ divides 0 by 0.
empty_row_uniform    return (scores + bias).clamp(min=-1e9).softmax(dim=-1)
  With a fill of −10⁹ all scores of a fully masked row are equal, so it gives each key the weight 1/S.
masked_in_half_precision    return (scores.half() + bias.clamp(min=-1e9).half()).softmax(dim=-1)
  You computed in float16, which ends at 65,504. There −10⁹ becomes −∞, so an empty row is NaN. The other weights are
  right to three digits only.
only_multiplied    return scores.softmax(dim=-1) * (bias == 0)
  You multiplied the weights by 0 and 1 without masking the scores: the rows sum to less than 1.
empty_row_unmasked    weights.masked_fill(empty, 0.0) → weights
  You removed the mask from the empty rows: they now look at masked keys.
hidden_by_zero    scores + bias.masked_fill(empty, 0.0) → scores * (bias == 0) ; weights.masked_fill(empty, 0.0) →
      weights * ~empty
  You hide keys with a score of 0. That works in empty rows only; elsewhere hidden keys keep a share of e⁰.
all_or_nothing    weights.masked_fill(empty, 0.0) → weights * ~empty.any()
  You set all weights to 0 if any of them is NaN. Only the rows that are NaN are empty.
any_for_all    return (scores + bias).softmax(dim=-1).masked_fill(bias.isinf().any(dim=-1, keepdim=True), 0.0)
  You emptied every row that has a hidden key. A row is empty if all its keys are hidden: all, not any.
empty_row_first_key    return weights.masked_fill(empty, 0.0) →
      return torch.where(empty, torch.arange(scores.shape[1]) == 0, weights)
  You gave an empty row's weight to its first key, which the mask forbids like all the others.
divided_again_without_nan    (scores + bias.masked_fill(empty, 0.0)).softmax(dim=-1) →
      scores.softmax(dim=-1) * (bias == 0) ; weights.masked_fill(empty, 0.0) →
      (weights / weights.sum(dim=-1, keepdim=True)).nan_to_num(0.0)
  You masked after the softmax, divided by the new sum, and replaced NaN by 0. Where a hidden score is far larger than
  the others, the softmax has rounded all allowed weights to 0, so the row is empty although it has allowed keys.
exponential_overflows    (scores + bias.masked_fill(empty, 0.0)).softmax(dim=-1) → (scores + bias).exp() ;
      weights.masked_fill(empty, 0.0) → (weights / weights.sum(dim=-1, keepdim=True)).nan_to_num(0.0)
  You took the exponential of the scores without first subtracting the largest score of the row. In float32 e²⁰⁰ is ∞
  and e⁻²⁰⁰ is 0, so such rows become NaN, and you replaced NaN by 0.
""")


# --- both at once ----------------------------------------------------------------------------------------------------

both = Exercise(
    "decoder_mask",
    title="Causal, and padded at the left",
    goal="A decoder-only model pads at the left, so that all texts end together. Padding can also be where a word was "
    "deleted. Write the boolean mask (B, 1, T, T) for ids (B, T), in which the id `pad` is padding. A query (a row) "
    "may look at a key (a column) that is not ahead of it and is not padding; this also holds for queries that are "
    "padding. To leave no row empty, every position, padding included, may also look at itself.",
    difficulty=2,
    minutes=8,
    cases=lambda: [
        (torch.tensor([[0, 4, 5]]), 0),
        (torch.tensor([[1, 2, 3, 4], [9, 9, 9, 4]]), 9),
        (torch.tensor([[2, 3, 4, 5, 6], [1, 1, 6, 5, 3], [1, 1, 1, 1, 7]]), 1),
        (torch.tensor([[3, 0, 4, 5, 0, 6]]), 0),
    ],
    run=lambda make, ids, pad: as_mask(make(ids, pad)),
    hints=(
        "Three masks: one (T, T), one (B, 1, 1, T), and the diagonal. How are they combined?",
        "Padding concerns the keys, the last axis. Not ahead AND not padding, OR itself.",
        "tril of ones & (ids != pad)[:, None, None, :] | torch.eye(T, dtype=torch.bool)",
    ),
)


@both.solution
def decoder_mask(ids, pad):
    """Mask (B, 1, T, T) for ids (B, T): not ahead and not padding, or the position itself."""
    T = ids.shape[1]
    causal = torch.ones(T, T, dtype=torch.bool).tril()
    return causal & (ids != pad)[:, None, None, :] | torch.eye(T, dtype=torch.bool)


both.slips("""
empty_rows_left    | torch.eye(T, dtype=torch.bool) →
  The rows of the padding are empty in your mask: they have nothing to look at, and −∞ makes them NaN.
joined_by_or    causal & (ids != pad)[:, None, None, :] | torch.eye(T, dtype=torch.bool) →
      causal | (ids != pad)[:, None, None, :]
  You joined the two with “or”, so a word ahead is allowed. Both conditions must hold: use &.
causal_part_alone    causal & (ids != pad)[:, None, None, :] | torch.eye(T, dtype=torch.bool) →
      causal.expand(len(ids), 1, T, T)
  Your mask has only the causal part: padding is not masked, so every word looks at the padding before it.
padding_part_alone    causal & →
  Your mask has only the padding part: every word sees the words ahead of it.
rows_hidden    [:, None, None, :] → [:, None, :, None]
  You masked the rows of the padding, not its columns. No query may look at padding, so mask its keys.
filling_rows_closed    causal & → causal & (ids != pad)[:, None, :, None] &
  You masked the rows of the padding as well, so padding sees only itself. Padding concerns the keys: a query that is
  padding may look at the words before it. The difference shows only where padding comes after a word.
both_inverted    causal & (ids != pad)[:, None, None, :] | torch.eye(T, dtype=torch.bool) →
      ~(causal & (ids != pad)[:, None, None, :] | torch.eye(T, dtype=torch.bool))
  Your combined mask is inverted: True where it should be False, as in a library where True means hidden.
filling_sees_filling    (ids != pad)[:, None, None, :] | torch.eye(T, dtype=torch.bool) →
      ((ids != pad)[:, None, None, :] | (ids == pad)[:, None, :, None])
  You let padding look at all padding before it. A padding position may look at itself and at words only.
mask_in_numbers    return decoder_mask(ids, pad).float()
  Your entries are right, but 0 and 1 would be added to the scores. Return booleans: call .bool() at the end.
""")


# --- a window --------------------------------------------------------------------------------------------------------

window = Exercise(
    "window_mask",
    title="A window, and the first positions",
    goal="Write a boolean causal mask (T, T) with a window of w ≥ 1: a query sees itself and the w − 1 positions "
    "before it. In addition, it always sees the first g ≥ 0 positions of the text, unless they are ahead of it. "
    "(These positions are called sinks: models park attention there.) w and g may be larger than T.",
    difficulty=2,
    minutes=8,
    source="window: Beltagy et al. 2020 (Longformer); sinks: Xiao et al. 2024, Efficient streaming language models",
    formula=r"M_{ts} = [\,s \le t\,]\ \text{and}\ \big([\,t - s < w\,]\ \text{or}\ [\,s < g\,]\big)",
    cases=lambda: [(4, 2, 1), (6, 1, 2), (7, 3, 1), (9, 3, 2), (3, 5, 0)],
    run=lambda make, T, w, g: as_mask(make(T, w, g)),
    hints=(
        "s ≤ t must hold everywhere. A key must also be in the window or among the first g positions.",
        "t = torch.arange(T)[:, None] and s = torch.arange(T)[None, :] give all distances at once.",
        "(s <= t) & ((t - s < w) | (s < g))",
    ),
)


@window.solution
def window_mask(T, w, g):
    """Mask (T, T), True where s ≤ t and either t − s < w or s < g."""
    t, s = torch.arange(T)[:, None], torch.arange(T)[None, :]
    return (s <= t) & ((t - s < w) | (s < g))


window.slips("""
window_too_wide    return window_mask(T, w + 1, g)
  Your window is one too wide: the position itself and w before it make w + 1.
sinks_forgotten    return window_mask(T, w, 0)
  You forgot the first g positions: in your mask a query sees them only if they are in its window.
sinks_ahead    return window_mask(T, w, g) | (torch.arange(T) < g)
  In your mask every query sees the first g positions, even those ahead of it, which leaks the future.
sinks_as_queries    return window_mask(T, w, 0) | _lower_triangle(T) & (torch.arange(T) < g)[:, None]
  You applied s < g to the rows, so your first g queries see their whole past. Sinks are keys: columns.
one_sink_more    return window_mask(T, w, g + 1)
  Your mask always shows one position too many: s ≤ g counts g + 1 of them.
window_both_ways    return window_mask(T, w, g) | window_mask(T, w, 0).T
  Your window looks both ways: positions ahead, up to w − 1 of them, are visible, too.
window_ahead    return window_mask(T, w, g).T
  Your window looks ahead instead of back: rows and columns are swapped.
window_forgotten    return _lower_triangle(T)
  You left the window out: a query sees everything before it, however far away.
joined_by_and    return window_mask(T, w, 0) & (torch.arange(T) < g)
  You joined the window and the first positions with “and”: a key must be in both, so hardly any is left.
window_in_numbers    return window_mask(T, w, g).float()
  Your entries are right, but 0 and 1 would be added to the scores. Return booleans.
""")


QUIZ = questions("""
What does True mean in a mask of this course?
  - Hidden | That is what True means in nn.MultiheadAttention: put ~ in front of a mask there.
  * May attend | As in PyTorch's scaled_dot_product_attention; in nn.MultiheadAttention it means the opposite.
  - It depends on the mask's shape | The shape says which queries share a mask, not what True means.
The causal mask is applied after the softmax, by setting weights to 0. What happens?
  * Later words still have an effect | Through the denominator: change a later word, and earlier weights change.
  - The same as with a mask before it | The denominator already includes the hidden keys.
  - The rows sum to less than 1, but nothing leaks | The sums depend on the hidden keys, so the hidden keys have an
    effect: that is a leak.
Two texts stand in one row, with a packed mask. What else must you take care of?
  * The positions and the last target of each text | Positions begin anew in each text, and no text tells how the
    next one begins.
  - The gradients: one text's error reaches the other text | They share the parameters, as two rows of a batch do.
    Through attention nothing gets across.
  - Nothing: the mask separates them | The positions of the second text would still run on.
The Jacobian of output 2 by input 5 is 0 for one sentence. What have you shown?
  - Output 2 never depends on input 5 | A derivative looks at one point only: ReLU(x − 5) has the slope 0 at 0, and
    yet it moves at 10.
  * That small changes of input 5 do nothing there | To be sure for every input, show that no path leads from 5 to
    2.
  - That the mask is causal | Other pairs may leak, and a window has zeros as well.
Is −10⁹ as good as −∞ for hiding?
  * In float32, if each row has something to look at | There e to the power of −10⁹ is exactly 0, as with −∞.
  - Always: nothing is as small as e to the power of −10⁹ | Not in a fully masked row, and not in float16, which
    ends at 65,504.
  - Never: a hidden key always keeps some weight | In float32 the usual rows are equal to the bit.
Decoding with a cache of keys and values, one token at a time. Is a causal mask needed?
  - Yes, or the token sees the future | The future is not written yet, so there is nothing to hide.
  - Only in the first layer | In no layer: the cached keys and values were computed before anything came after them.
  * No | The only query may look at everything that exists: itself and the past.
The original Transformer's encoder …
  - reads from left to right | The decoder does: its outputs do not depend on later inputs.
  * looks both ways | Each of its outputs depends on every input, as the Jacobian shows.
  - is masked at random | That is how BERT is trained, not how the encoder attends.
""")
