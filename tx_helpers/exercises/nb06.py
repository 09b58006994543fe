"""Exercises of notebook 06, masking. True means "may attend", unless the exercise says otherwise."""

import math

import torch
from torch import Tensor

from tx_helpers.exercises.compare import as_tensor
from tx_helpers.exercises.exercise import Exercise, random_tensors
from tx_helpers.exercises.quizzes import Choice, Question


def _square(T):
    return torch.ones(T, T, dtype=torch.bool)


# --- the causal mask -------------------------------------------------------------------------------------------------


def _added(make, T):
    """What a mask adds to the scores; −10⁹ and all below is as good as −∞."""
    mask = as_tensor(make(T))
    if not isinstance(mask, Tensor) or not mask.is_floating_point():
        return mask
    return mask.masked_fill(mask <= -1e9, -math.inf)


causal = Exercise(
    "causal_square",
    title="No look ahead, in numbers",
    goal="Many libraries take a mask as numbers that are added to the scores: 0 where query t (a row) may look at key "
    "s (a column), −∞ where it may not (−10⁹ or less is taken for it). Make the causal one, (T, T), of real numbers: "
    "a position may look at itself and at what stands before it.",
    difficulty=1,
    minutes=5,
    one_call=True,
    cases=lambda: [(3,), (1,), (6,), (20,)],
    run=_added,
    hints=(
        "Draw it for T = 3: the first row has a single 0, the last has three.",
        "−∞ belongs above the diagonal. Multiplying by −∞ is a trap: 0 · ∞ is NaN.",
        "torch.full((T, T), -math.inf).triu(1), or a truth table and masked_fill.",
    ),
)


@causal.solution
def causal_square(T):
    """Mask (T, T) to be added to scores: 0 where s ≤ t, −∞ elsewhere."""
    return torch.full((T, T), -math.inf).triu(1)


def _hiding(hidden):
    return torch.zeros(hidden.shape).masked_fill(hidden, -math.inf)


@causal.mistake("Your mask is inverted: 0 and −∞ have changed places, so a position sees the future and nothing else.")
def causal_inverted(T):
    return _hiding(_square(T).tril())


@causal.mistake(
    "Your mask is transposed: rows are queries. With yours the first word sees all words, and the last only itself."
)
def causal_transposed(T):
    return _hiding(_square(T).tril(-1))


@causal.mistake(
    "Your mask is off by one, and leaks: each position sees the next one, which is the answer it is trained on."
)
def causal_off_by_one(T):
    return _hiding(_square(T).triu(2))


@causal.mistake(
    "The diagonal is hidden in your mask: the first row may look at nothing. It becomes NaN with −∞, and with −10⁹ it "
    "looks at everything, the future too."
)
def causal_without_diagonal(T):
    return _hiding(_square(T).triu())


@causal.mistake(
    "Nothing is masked in yours. The loss will be near 0, read off the next word; when it has to write there is none."
)
def causal_all_true(T):
    return torch.zeros(T, T)


@causal.mistake(
    "You multiplied a table of 0 and 1 by −∞. 0 · ∞ is no number: what may be seen is NaN in place of 0. Fill instead."
)
def infinity_times_zero(T):
    return _square(T).triu(1) * -math.inf


@causal.mistake(
    "Yours holds 1 where a query may look and 0 elsewhere. Added to the scores that hides nothing: e⁰ is 1, e^−∞ is 0."
)
def ones_for_allowed(T):
    return torch.ones(T, T).tril()


# --- padding ---------------------------------------------------------------------------------------------------------


def _real(ids, pad):
    """(B, 1, 1, S)"""
    return (ids != pad)[:, None, None, :]


padding = Exercise(
    "padding_keys",
    title="No look at the filling",
    goal="The sentences of a batch have the lengths `lengths` (B,), and stand in a tensor of width S, filled up at "
    "the right. Make the mask (B, 1, 1, S) of truth values that is True for the keys that are real words: the first "
    "lengths[b] of sentence b. The two axes of length 1 stand for heads and queries.",
    difficulty=1,
    minutes=6,
    cases=lambda: [
        (torch.tensor([2, 1]), 3),
        (torch.tensor([4, 3, 1]), 5),
        (torch.tensor([1, 6, 2, 5]), 6),
    ],
    hints=(
        "Key s is real if its number is smaller than the sentence's length.",
        "torch.arange(S) holds the numbers. Compared with lengths[:, None] they make a table (B, S).",
        "(torch.arange(S) < lengths[:, None])[:, None, None, :]",
    ),
)


@padding.solution
def padding_keys(lengths, S):
    """Mask (B, 1, 1, S), True at the first lengths[b] keys of sentence b; lengths (B,)."""
    return (torch.arange(S) < lengths[:, None])[:, None, None, :]


@padding.mistake("Your padding mask is inverted: it lets everybody look at the filling and at nothing else.")
def padding_inverted(lengths, S):
    return ~padding_keys(lengths, S)


@padding.mistake(
    "The padding is not masked in yours: every key may be looked at, so a longer filling changes the outputs."
)
def padding_unmasked(lengths, S):
    return torch.ones(len(lengths), 1, 1, S, dtype=torch.bool)


@padding.mistake("Your mask lets one place of the filling through: keys are counted from 0, so it is <, not ≤.")
def padding_one_late(lengths, S):
    return padding_keys(lengths + 1, S)


@padding.mistake("Your mask hides the last real word, too, as if the filling began one place earlier.")
def padding_one_early(lengths, S):
    return padding_keys(lengths - 1, S)


@padding.mistake("All rows of the batch got the first row's mask: each sentence has a length of its own.")
def padding_of_first_row(lengths, S):
    return padding_keys(lengths[:1].expand_as(lengths), S)


@padding.mistake("Your words stand at the right, with the filling before them. Here it is behind them.")
def padding_at_the_left(lengths, S):
    return padding_keys(lengths, S).flip(-1)


@padding.mistake("You cut every sentence at the longest length of the batch; each one ends at its own.")
def padding_of_longest(lengths, S):
    return padding_keys(lengths.max().expand_as(lengths), S)


# --- attention with a mask -------------------------------------------------------------------------------------------

attention = Exercise(
    "masked_attention",
    title="Two masks, two conventions",
    goal="The output (T, K) of attention, with scale, for queries Q (T, K), keys K (S, K), values V (S, K) under two "
    "masks from two libraries: `hidden` (T, S) is True where query t (a row) may NOT look at key s (a column), as "
    "nn.MultiheadAttention wants it; `real` (S,) is True where a key is a word and not filling. A key that either of "
    "them forbids gets no weight. In every row something is allowed.",
    difficulty=2,
    minutes=10,
    formula=r"\operatorname{softmax}\left(\frac{QK^\top}{\sqrt{d_k}} + M\right)V,\quad M_{ts}=0\text{ or }-\infty",
    source="Vaswani et al. 2017, section 3.2.3",
    cases=lambda: [
        (
            torch.tensor([[1.0], [2.0], [1.0]]),
            torch.tensor([[1.0], [3.0], [2.0]]),
            torch.tensor([[10.0], [20.0], [40.0]]),
            _square(3).triu(1),
            torch.tensor([True, True, False]),
        ),
        (
            torch.tensor([[3.0], [1.0]]),
            torch.tensor([[-4.0], [17.0]]),
            torch.tensor([[1.0], [2.0]]),
            _square(2).triu(1),
            torch.tensor([True, True]),
        ),
        (*(20 * m for m in random_tensors((4, 3), (4, 3), (4, 3), seed=0)), _square(4).triu(1), torch.arange(4) < 3),
        (
            *random_tensors((4, 3), (4, 3), (4, 3), seed=1),
            torch.tensor([[0, 0, 1, 0], [1, 1, 0, 1], [0, 1, 0, 0], [0, 0, 1, 1]]) > 0,
            torch.arange(4) != 1,
        ),
        (  # scores −200, 10 and 200: the lowest alone is allowed, then two, then all
            torch.tensor([[10.0], [10.0], [10.0]]),
            torch.tensor([[-20.0], [1.0], [20.0]]),
            torch.tensor([[1.0], [2.0], [3.0]]),
            _square(3).triu(1),
            torch.tensor([True, True, True]),
        ),
    ],
    hints=(
        "Bring both to one meaning first: a key is forbidden where `hidden` is True, or where `real` is False.",
        "The mask must work before the softmax, so that the rest of the row still sums to 1: which score gives weight "
        "0?",
        "scores.masked_fill(hidden | ~real, -math.inf).softmax(dim=-1) @ V",
    ),
)


@attention.solution
def masked_attention(Q, K, V, hidden, real):
    """Output (T, K) of Q (T, K), K and V (S, K); hidden (T, S): may not look; real (S,): is a word."""
    scores = Q @ K.T / math.sqrt(Q.shape[-1])
    return scores.masked_fill(hidden | ~real, -math.inf).softmax(dim=-1) @ V


def _scores(Q, K):
    return Q @ K.T / math.sqrt(Q.shape[-1])


def _without(Q, K, V, forbidden, fill=-math.inf):
    return _scores(Q, K).masked_fill(forbidden, fill).softmax(dim=-1) @ V


@attention.mistake("You made the mask, but did not use it: every query looks at every key.")
def mask_unused(Q, K, V, hidden, real):
    return _scores(Q, K).softmax(dim=-1) @ V


@attention.mistake(
    "You read `hidden` as the course's own masks are read. There True means may look; in this one it means may not."
)
def mask_inverted(Q, K, V, hidden, real):
    return _without(Q, K, V, ~hidden | ~real)


@attention.mistake(
    "You read `real` the wrong way round: with you the words are hidden, and the filling is what may be looked at."
)
def words_hidden(Q, K, V, hidden, real):
    return _without(Q, K, V, hidden | real)


@attention.mistake(
    "You joined the masks by “and”: a key is hidden only if both forbid it. One of them is enough: hidden | ~real."
)
def hidden_if_both(Q, K, V, hidden, real):
    return _without(Q, K, V, hidden & ~real)


@attention.mistake("You forgot `real`: the filling is looked at like a word, so a longer filling changes the output.")
def filling_seen(Q, K, V, hidden, real):
    return _without(Q, K, V, hidden)


@attention.mistake(
    "Your mask is transposed: its rows are queries and its columns are keys. A causal mask so turned hides the past "
    "and shows the future."
)
def mask_transposed(Q, K, V, hidden, real):
    return _without(Q, K, V, hidden.T | ~real)


@attention.mistake(
    "You masked after the softmax: the rows sum to less than 1, and hidden keys still make the denominator larger, a "
    "leak."
)
def mask_after_softmax(Q, K, V, hidden, real):
    return (_scores(Q, K).softmax(dim=-1) * (~hidden & real)) @ V


@attention.mistake(
    "You multiplied the scores by the mask, or filled with a tiny number like 1e-9: the score of a hidden key is then "
    "0 or as good as 0, a middling one, and it keeps e⁰ = 1 beside the others."
)
def scores_times_mask(Q, K, V, hidden, real):
    return (_scores(Q, K) * (~hidden & real)).softmax(dim=-1) @ V


@attention.mistake(
    "Your fill of −10 is too weak: where the scores are large, hidden keys come through. It must lie below any score."
)
def fill_too_weak(Q, K, V, hidden, real):
    return _without(Q, K, V, hidden | ~real, -10.0)


@attention.mistake(
    "You lowered the hidden scores by 100: where scores are larger than that, hidden keys come through after all."
)
def lowered_by_hundred(Q, K, V, hidden, real):
    return (_scores(Q, K) - 100.0 * (hidden | ~real)).softmax(dim=-1) @ V


# --- a row with nothing in it ----------------------------------------------------------------------------------------

empty = Exercise(
    "safe_weights",
    title="When nothing is left to look at",
    goal="Weights (T, S) from scores (T, S) and a mask `bias` (T, S) that is added to them: 0 where a query may look, "
    "−∞ where it may not. A row of `bias` may be −∞ throughout: such a row of weights is to be all zeros, never NaN. "
    "The other rows are the usual softmax over what is allowed.",
    difficulty=2,
    minutes=8,
    cases=lambda: [
        (torch.tensor([[0.0, 1.0], [2.0, 3.0]]), _hiding(torch.tensor([[False, False], [True, True]]))),
        (
            *random_tensors((4, 5), seed=2),
            _hiding(torch.tensor([[1, 0, 1, 1, 0], [0, 0, 0, 0, 0], [1, 1, 1, 1, 1], [0, 0, 0, 1, 0]]) == 0),
        ),
        (9 * random_tensors((3, 3), seed=3)[0], _hiding(torch.tensor([[0, 0, 0], [1, 0, 0], [0, 1, 1]]) == 0)),
        (torch.tensor([[20.003, 20.997, 0.0], [5.0, 6.0, 7.0]]), _hiding(torch.tensor([[1, 1, 0], [0, 0, 0]]) == 0)),
        (torch.tensor([[-200.0, -194.0, 0.0], [200.0, 0.0, 0.0]]), _hiding(torch.tensor([[1, 1, 0], [1, 1, 1]]) == 0)),
        (torch.tensor([[1.0, 2.0]]), _hiding(torch.tensor([[True, True]]))),
    ],
    picture=True,
    hints=(
        "What is the softmax of a row of −∞? 0 divided by 0. And of a row of −10⁹?",
        "Compute as usual, then put zeros where `bias` is −∞; in the usual rows they are zeros already.",
        "(scores + bias).softmax(-1).masked_fill(bias.isinf(), 0.0)",
    ),
)


@empty.solution
def safe_weights(scores, bias):
    """Weights (T, S) of scores (T, S) plus bias (T, S), 0 or −∞; a row that is −∞ throughout gets zeros."""
    weights = (scores + bias).softmax(dim=-1)
    return weights.masked_fill(bias.isinf(), 0.0)


@empty.mistake("A fully masked row is NaN with you: the softmax of nothing but −∞ divides 0 by 0.")
def empty_row_nan(scores, bias):
    return (scores + bias).softmax(dim=-1)


@empty.mistake(
    "With a fill of −10⁹ all scores of a fully masked row are equal, so it looks at every key alike, 1/S each."
)
def empty_row_uniform(scores, bias):
    return (scores + bias).clamp(min=-1e9).softmax(dim=-1)


@empty.mistake(
    "You reckoned in float16, which ends at 65,504: −10⁹ has become −∞ there, so an empty row is NaN, and the other "
    "weights have three digits left."
)
def masked_in_half_precision(scores, bias):
    return (scores.half() + bias.clamp(min=-1e9).half()).softmax(dim=-1)


@empty.mistake(
    "You multiplied by 0 and 1 without having masked the scores: empty rows are 0, but the others sum to less than 1."
)
def only_multiplied(scores, bias):
    return scores.softmax(dim=-1) * (bias == 0)


@empty.mistake("Your empty rows are unmasked altogether: they look at what was forbidden.")
def empty_row_unmasked(scores, bias):
    empty = bias.isinf().all(dim=-1, keepdim=True)
    return (scores + bias.masked_fill(empty, 0.0)).softmax(dim=-1)


@empty.mistake("You gave an empty row's weight to its first key, which the mask forbids like all the others.")
def empty_row_first_key(scores, bias):
    weights = safe_weights(scores, bias)
    weights[bias.isinf().all(dim=-1), 0] = 1.0
    return weights


@empty.mistake("You hide with a score of 0 and zero the empty rows: in the other rows hidden keys keep a weight of e⁰.")
def hidden_by_zero(scores, bias):
    seen = bias == 0
    return (scores * seen).softmax(dim=-1) * seen.any(dim=-1, keepdim=True)


# --- both at once ----------------------------------------------------------------------------------------------------

both = Exercise(
    "decoder_mask",
    title="Causal, and padded at the left",
    goal="A decoder-only model fills up at the left, so that all texts end together. Make the mask (B, 1, T, T) of "
    "truth values for ids (B, T) in which `pad` is the filling: a query (a row) may look at a key (a column) that is "
    "not ahead of it and is not filling. Queries that are filling keep the keys this leaves them. And, so that no row "
    "is empty, every position, filling too, may look at itself.",
    difficulty=2,
    minutes=8,
    cases=lambda: [
        (torch.tensor([[0, 4, 5]]), 0),
        (torch.tensor([[1, 2, 3, 4], [9, 9, 9, 4]]), 9),
        (torch.tensor([[2, 3, 4, 5, 6], [1, 1, 6, 5, 3], [1, 1, 1, 1, 7]]), 1),
    ],
    hints=(
        "Three masks: one (T, T), one (B, 1, 1, T), and the diagonal. How do they go together?",
        "Padding concerns the keys, the last axis. Not ahead AND not filling, OR itself.",
        "tril of ones & (ids != pad)[:, None, None, :] | torch.eye(T, dtype=torch.bool)",
    ),
)


@both.solution
def decoder_mask(ids, pad):
    """Mask (B, 1, T, T) for ids (B, T): not ahead and not filling, or the position itself."""
    T = ids.shape[1]
    causal = torch.ones(T, T, dtype=torch.bool).tril()
    return causal & (ids != pad)[:, None, None, :] | torch.eye(T, dtype=torch.bool)


def _expanded(mask, ids):
    return mask.expand(len(ids), 1, ids.shape[1], ids.shape[1])


def _itself(ids):
    return torch.eye(ids.shape[1], dtype=torch.bool)


@both.mistake("The rows of the filling are empty in yours: nothing is left for them to look at, and −∞ makes them NaN.")
def empty_rows_left(ids, pad):
    return _square(ids.shape[1]).tril() & _real(ids, pad)


@both.mistake("You joined the two by “or”: a key ahead is allowed if only it is a word. Both conditions must hold: &.")
def joined_by_or(ids, pad):
    return _square(ids.shape[1]).tril() | _real(ids, pad)


@both.mistake(
    "Only the causal part is there: the padding is not masked, and every word looks at the filling before it."
)
def causal_part_alone(ids, pad):
    return _expanded(_square(ids.shape[1]).tril(), ids)


@both.mistake("Only the padding part is there: every word sees those ahead of it.")
def padding_part_alone(ids, pad):
    return _expanded(_real(ids, pad) | _itself(ids), ids)


@both.mistake("You hid the rows of the filling, not its columns: it is as keys that it must not be looked at.")
def rows_hidden(ids, pad):
    return _square(ids.shape[1]).tril() & _real(ids, pad).transpose(-2, -1) | _itself(ids)


@both.mistake("Your combined mask is inverted: True where it should be False, for a library that means the opposite.")
def both_inverted(ids, pad):
    return ~decoder_mask(ids, pad)


@both.mistake("You let the filling look at all filling before it: each position may look at itself, no further.")
def filling_sees_filling(ids, pad):
    filling = ~_real(ids, pad)
    return _square(ids.shape[1]).tril() & (_real(ids, pad) | filling & filling.transpose(-2, -1))


# --- a window --------------------------------------------------------------------------------------------------------

window = Exercise(
    "window_mask",
    title="A window, and the beginning",
    goal="A causal mask (T, T) of truth values with a window of w ≥ 1: a query sees itself and the w − 1 positions "
    "before it. Besides, it always sees the first g ≥ 0 positions of the text, as far as they are not ahead of it. "
    "(Such positions are called sinks: models park attention there.) w and g may be larger than T.",
    difficulty=2,
    minutes=8,
    source="window: Beltagy et al. 2020 (Longformer); sinks: Xiao et al. 2024, Efficient streaming language models",
    formula=r"M_{ts} = [\,s \le t\,]\ \text{and}\ \big([\,t - s < w\,]\ \text{or}\ [\,s < g\,]\big)",
    cases=lambda: [(4, 2, 1), (6, 1, 2), (7, 3, 1), (9, 3, 2), (3, 5, 0)],
    hints=(
        "The condition on time holds for all cells; the window and the beginning are two ways to be let in.",
        "t = torch.arange(T)[:, None] and s = torch.arange(T)[None, :] give all distances at once.",
        "(s <= t) & ((t - s < w) | (s < g))",
    ),
)


@window.solution
def window_mask(T, w, g):
    """Mask (T, T), True where s ≤ t and either t − s < w or s < g."""
    t, s = torch.arange(T)[:, None], torch.arange(T)[None, :]
    return (s <= t) & ((t - s < w) | (s < g))


@window.mistake("Your window is one too wide: itself and w before it make w + 1.")
def window_too_wide(T, w, g):
    return window_mask(T, w + 1, g)


@window.mistake(
    "The beginning is visible to nobody outside its window: the first g positions are missing from your mask."
)
def sinks_forgotten(T, w, g):
    return window_mask(T, w, 0)


@window.mistake(
    "Your first g positions are visible to all, also to queries before them: a look ahead within the beginning."
)
def sinks_ahead(T, w, g):
    return window_mask(T, w, g) | (torch.arange(T) < g)


@window.mistake("One position too many is always visible in yours: s ≤ g counts g + 1 of them.")
def one_sink_more(T, w, g):
    return window_mask(T, w, g + 1)


@window.mistake("Your window looks both ways: what lies ahead within w is visible, too.")
def window_both_ways(T, w, g):
    return window_mask(T, w, g) | window_mask(T, w, 0).T


@window.mistake("Your window looks ahead in place of back: rows and columns have changed places.")
def window_ahead(T, w, g):
    return window_mask(T, w, g).T


@window.mistake("You left the window out: everything before a query is visible, however far.")
def window_forgotten(T, w, g):
    return _square(T).tril()


@window.mistake("You joined window and beginning by “and”: only what lies in both is left to look at.")
def joined_by_and(T, w, g):
    return window_mask(T, w, 0) & (torch.arange(T) < g)


QUIZ = [
    Question(
        "What does True mean in a mask of this course?",
        (
            Choice("Hidden", "That is what nn.MultiheadAttention means by it: put ~ in front there."),
            Choice(
                "May attend",
                "As in PyTorch's scaled_dot_product_attention; in nn.MultiheadAttention it means the opposite.",
                right=True,
            ),
            Choice("It depends on the mask's shape", "The shape says for whom a mask holds, not what True means."),
        ),
    ),
    Question(
        "The causal mask is applied after the softmax, by setting weights to 0. What happens?",
        (
            Choice(
                "The rows sum to less than 1, and the future leaks",
                "Through the denominator: change a later word, and earlier weights change.",
                right=True,
            ),
            Choice("The same as before it", "The sum below the fraction has already been taken over hidden keys, too."),
            Choice(
                "Only the sums are off; nothing leaks", "The sums are off by an amount that depends on the hidden keys."
            ),
        ),
    ),
    Question(
        "A model trained without a causal mask has a loss near 0. It …",
        (
            Choice("is very good", "It has read the answers off the next position."),
            Choice(
                "has overfitted the training data",
                "Its loss on new text is as low: it looks at the answer there as well.",
            ),
            Choice(
                "copies the next word from the input",
                "When it writes there is no next word, and the text is rubbish.",
                right=True,
            ),
        ),
    ),
    Question(
        "Is −10⁹ as good as −∞ for hiding?",
        (
            Choice(
                "In float32, if each row has something to look at",
                "e to the power of −10⁹ is 0 exactly there.",
                right=True,
            ),
            Choice("Always", "Not in a fully masked row, and not in float16, which ends at 65,504."),
            Choice("Never", "In float32 the usual rows come out the same to the bit."),
        ),
    ),
    Question(
        "Decoding with a cache of keys and values, one token at a time. Is a causal mask needed?",
        (
            Choice(
                "Yes, or the token sees the future", "The future has not been written yet; there is nothing to hide."
            ),
            Choice(
                "Only in the first layer",
                "In no layer: what the cache holds was computed before anything came after it.",
            ),
            Choice("No", "The one query may look at everything there is: itself and the past.", right=True),
        ),
    ),
    Question(
        "The original Transformer's encoder …",
        (
            Choice("reads from left to right", "That is the decoder; its outputs do not depend on later inputs."),
            Choice("looks both ways", "Each output of it depends on every input: look at the Jacobian.", right=True),
            Choice("is masked at random", "That is how BERT is trained, not how the encoder attends."),
        ),
    ),
]
