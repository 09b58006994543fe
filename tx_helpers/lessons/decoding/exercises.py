"""Exercises on decoding."""

import math

import torch
from torch import Tensor

from tx_helpers.exercises.compare import as_mask
from tx_helpers.exercises.exercise import Exercise, random_tensors
from tx_helpers.exercises.quizzes import questions

# --- temperature -----------------------------------------------------------------------------------------------------

warm = Exercise(
    "tempered",
    title="Sharper and flatter",
    goal="Return the probabilities (V,) that the softmax makes of logits (V,) at a temperature τ > 0. Below 1, likely "
    "tokens become even likelier.",
    difficulty=1,
    minutes=3,
    cases=lambda: [
        (torch.tensor([2.0, 1.0, 0.0]), 0.5),
        *((z, t) for z, t in zip(random_tensors((5,), (7,), seed=0), (2.0, 0.8), strict=True)),
        (torch.tensor([1.0, 0.9, 0.0]), 0.05),
        (torch.tensor([100.0, 0.0]), 1.0),
    ],
    hints=(
        "The temperature works on the logits.",
        "Divide by it, then apply the softmax.",
        "(logits / temperature).softmax(-1)",
    ),
)


@warm.solution
def tempered(logits, temperature):
    """Probabilities (V,) of logits (V,) at that temperature."""
    return (logits / temperature).softmax(dim=-1)


warm.slips("""
temperature_multiplied    logits / → logits *
  You multiplied by the temperature: your 0.5 flattens the distribution, and it should sharpen it.
divided_after    return logits.softmax(dim=-1) / temperature
  You divided the probabilities, after the softmax: they do not sum to 1, and their ratios are as before.
power_without_sum    return logits.softmax(dim=-1) ** (1 / temperature)
  You took the power p^(1/τ), which is right, but the powers do not sum to 1: divide them by their sum.
temperature_ignored    return logits.softmax(dim=-1)
  You did not use the temperature: this is the plain softmax, τ = 1.
logarithm_of_softmax    softmax → log_softmax
  Your numbers are logarithms: log_softmax gives ln p. Use softmax.
root_of_the_temperature    / temperature → / temperature**0.5
  You divided by √τ, so the effect is too weak. Divide by τ.
divided_twice    / temperature → / temperature**2
  You divided by the temperature twice, by τ²: the effect is too strong on both sides of 1.
exponential_overflows    softmax(dim=-1) → exp() / (logits / temperature).exp().sum()
  Your exponential overflows: e¹⁰⁰ is ∞ in float32, and ∞ / ∞ is NaN. Subtract the largest logit first.
""")


# --- top-p -----------------------------------------------------------------------------------------------------------

top_p = Exercise(
    "nucleus",
    title="Top-p for a batch",
    goal="Which distributions does top-p draw from? Each row of p (B, V) belongs to a text, and `top` (B,) holds a "
    "number for each text. In each row keep the likeliest tokens, as few as possible, whose probabilities together "
    "reach at least the row's `top`; give the others 0, and divide the row by its new sum. Return probabilities (B, "
    "V), in the order of p. No two probabilities of a row are equal, and 0 < top ≤ 1.",
    difficulty=3,
    minutes=14,
    source="Holtzman et al. 2020, section 3.1",
    formula=r"\sum_{v\ \text{kept}} p_{bv} \ge \mathrm{top}_b",
    cases=lambda: [
        (torch.tensor([[0.15, 0.5, 0.05, 0.3], [0.1, 0.2, 0.3, 0.4]]), torch.tensor([0.75, 0.35])),
        (torch.tensor([[0.0625, 0.5, 0.25, 0.1875], [0.25, 0.5, 0.1875, 0.0625]]), torch.tensor([0.75, 0.5])),
        (torch.tensor([[0.25, 0.5, 0.0078125, 0.2421875]]), torch.tensor([1.0])),
        (random_tensors((3, 9), seed=1)[0].softmax(-1), torch.tensor([0.9, 0.5, 0.2])),
        (random_tensors((2, 6), seed=2)[0].softmax(-1), torch.tensor([0.5, 0.95])),
    ],
    hints=(
        "Sort each row from likely to unlikely, and add up along it. Which token is the last that is needed?",
        "A token stays if those before it have not reached `top`. Back to the tokens' places: scatter along the last "
        "axis.",
        "ranked, ids = p.sort(descending=True); stays = ranked.cumsum(-1) - ranked < top[:, None]; keep = "
        "stays.gather(-1, ids.argsort(-1)); p * keep over its sum along the row",
    ),
)


@top_p.solution
def nucleus(p, top):
    """Probabilities (B, V) after top-p, for rows p (B, V) that sum to 1 and a top (B,) for each."""
    ranked, ids = p.sort(dim=-1, descending=True)
    kept = ranked.where(ranked.cumsum(dim=-1) - ranked < top[:, None], 0.0)
    return torch.zeros_like(p).scatter(-1, ids, kept / kept.sum(dim=-1, keepdim=True))


top_p.slips("""
not_shared_anew    return p * (nucleus(p, top) > 0)
  Your probabilities do not sum to 1: divide what stays by its new sum.
shared_with_the_batch    return (q := p * (nucleus(p, top) > 0)) / q.sum()
  You divided by the sum of the whole batch. Each row has its own sum: sum(-1, keepdim=True).
crossing_dropped    = _keeping(lambda ranked, total, top: total <= top)
  You dropped the token that crosses the line: `top` is not reached. Where nothing is left, 0 / 0 is NaN.
crossing_dropped_zeros    return _keeping(lambda ranked, total, top: total <= top)(p, top).nan_to_num(0.0)
  You dropped the token that crosses the line, so `top` is not reached. Where nothing is left, all is 0.
crossing_dropped_but_one    = _keeping(lambda ranked, total, top: (total <= top) | (ranked == ranked[:, :1]))
  You dropped the token that crosses the line but kept the likeliest: the rest does not reach `top`.
reaching_dropped    - ranked →
  You kept tokens while their sum is below `top`: it is never reached. Where nothing is left, 0 / 0 is NaN.
reaching_dropped_zeros    return _keeping(lambda ranked, total, top: total < top)(p, top).nan_to_num(0.0)
  You kept tokens while their sum is below `top`: it is never reached. Where nothing is left, all is 0.
reaching_dropped_but_one    = _keeping(lambda ranked, total, top: (total < top) | (ranked == ranked[:, :1]))
  You kept the likeliest token, and others as long as the sum is below `top`: it is never reached.
beyond_top    < top → <= top
  You kept one token too many where the sum is exactly `top`. Compare with <, not ≤.
one_too_many    = _keeping(lambda ranked, total, top: (total - ranked < top).roll(1, -1) | (ranked == ranked[:, :1]))
  You kept one token more than needed: `top` is reached before it.
at_least_two    = _keeping(lambda ranked, total, top: (total - ranked < top) | (ranked >= ranked[:, 1:2]))
  You always kept two tokens or more. Where the likeliest reaches `top` alone, it stays alone.
by_single_probability    return _shared(p, p >= 1 - top[:, None]).nan_to_num(0.0)
  You kept all tokens of probability 1 − top or more. What counts is the sum from the likeliest on.
rest_kept    < top → >= top
  You set the kept tokens to 0 and shared out the rest. Keep the likeliest. Where no rest is left, 0 / 0 is NaN.
from_the_tail    descending=True → descending=False
  You added up from the unlikely end: you kept the tail of each distribution and cut its head.
in_order_of_rank    return nucleus(p, top).sort(dim=-1, descending=True).values
  Your result is in the order of rank, the likeliest first. Put each value back at its token's place.
not_sorted    return _shared(p, p.cumsum(-1) - p < top[:, None])
  You added up without sorting: whether a token stays depends on its id. Sort by probability first.
softmax_of_probabilities    return p.masked_fill(nucleus(p, top) == 0, -math.inf).softmax(dim=-1)
  You applied a softmax to what stays, which makes it nearly even. Divide it by its sum.
one_top_for_all    return nucleus(p, top[:1].expand_as(top))
  You cut every text at the `top` of the first one. Each row has its own.
""")


def _shared(p, keep):
    """The kept probabilities over their sum; a row of which nothing is kept is NaN."""
    return p * keep / (p * keep).sum(dim=-1, keepdim=True)


def _keeping(stays, descending=True):
    """A mistake that keeps other ranks: stays(ranked, ranked.cumsum(-1), top (B, 1)) is (B, V)."""

    def kept(p, top):
        ranked, ids = p.sort(dim=-1, descending=descending)
        stay = stays(ranked, ranked.cumsum(dim=-1), top[:, None])
        return _shared(p, stay.gather(-1, ids.argsort(dim=-1)))

    return kept


@top_p.mistake("You used scatter's ids with gather, which shuffles the row again. Use scatter, or ids.argsort().")
def put_back_by_gather(p, top):
    ranked, ids = p.sort(dim=-1, descending=True)
    return _shared(ranked, ranked.cumsum(dim=-1) - ranked < top[:, None]).gather(-1, ids)


# --- top-k -----------------------------------------------------------------------------------------------------------


def _beside_the_old(make, logits, k):
    """The new logits, and those that were passed in, as they are afterwards."""
    made = make(logits, k)
    shared = isinstance(made, Tensor) and made.data_ptr() == logits.data_ptr()
    return {"new logits": made, "old logits afterwards": logits.clone(), "in the memory of the old ones": shared}


top_k = Exercise(
    "top_k_logits",
    title="Top-k, with a k for each text",
    goal="In each row b of the logits (B, V) leave the k[b] largest as they are and set the others to −∞, so that a "
    "softmax gives them 0. k (B,) holds whole numbers from 1 to V, and all logits of a row differ. Do not change the "
    "logits that you are given: make a new tensor.",
    difficulty=2,
    minutes=7,
    source="Fan, Lewis and Dauphin 2018",
    cases=lambda: [
        (torch.tensor([[1.0, 4.0, 2.0, 3.0], [5.0, 6.0, 8.0, 7.0]]), torch.tensor([2, 1])),
        (*random_tensors((3, 8), seed=3), torch.tensor([3, 1, 8])),
        (torch.tensor([[0.0, -1.0, -2.0]]), torch.tensor([1])),
        (torch.tensor([[2.0, 2.0008, 2.0004]]), torch.tensor([2])),
        (torch.tensor([[1.0, 2.0]]), torch.tensor([2])),
    ],
    run=_beside_the_old,
    hints=(
        "Which is the smallest logit that stays, in each row?",
        "Sort the rows, the largest first: the threshold of row b is at k[b] − 1. gather picks a place in each row.",
        "threshold = logits.sort(descending=True).values.gather(-1, k[:, None] - 1), then masked_fill below it",
    ),
)


@top_k.solution
def top_k_logits(logits, k):
    """Logits (B, V) with −∞ for all but the k[b] largest of row b; k (B,)."""
    threshold = logits.sort(dim=-1, descending=True).values.gather(-1, k[:, None] - 1)  # (B, 1)
    return logits.masked_fill(logits < threshold, -math.inf)


top_k.slips("""
zero_for_infinity    math.inf → 0.0
  You set the others to 0. A logit of 0 is an ordinary one, above every negative logit, and can be drawn.
billion_for_infinity    math.inf → 1e9
  You set the others to −10⁹. The softmax makes 0 of it, too, but code that looks for −∞ will not find it.
changed_in_place    return logits.masked_fill_(logits < _threshold(logits, k), -math.inf)
  You changed the logits that you were given (a _ at the end of a name says so): make a new tensor.
handed_back_itself    return logits if (k == logits.shape[1]).all() else top_k_logits(logits, k)
  Where nothing is cut, you return the tensor that you were given. A change to one then changes both.
k_and_one    return logits.masked_fill(logits < _threshold(logits, k + 1), -math.inf)
  You kept k + 1 logits, one too many: the threshold is the k-th largest.
threshold_dropped    logits < → logits <=
  You dropped the k-th largest: the comparison with it must let it stay (<, not ≤).
smallest_kept    return -top_k_logits(-logits, k).nan_to_num(neginf=math.inf)
  You kept the k smallest. Did you call topk with largest=False, or sort the wrong way round?
largest_dropped    logits < → logits >=
  You set the k largest to −∞ and left the others. It is the others that may not be drawn.
softmax_applied    return top_k_logits(logits, k).softmax(-1)
  You returned probabilities. Return logits, the others at −∞: the softmax comes later.
first_kept    = _first_kept
  You kept the first k of the list. Ids say nothing about how likely a token is.
ranks_by_one_argsort    return logits.masked_fill(logits.argsort(dim=-1, descending=True) >= k[:, None], -math.inf)
  You took argsort for ranks. It says which token has each rank. For the rank of each token, sort again.
sorted_away    return _first_kept(logits.sort(dim=-1, descending=True).values, k)
  Your logits are sorted: each one has lost its token, whose id is its place in the list.
one_k_for_all    return top_k_logits(logits, k[:1].expand_as(k))
  You used one k, the first text's, for all of them: each row has a k of its own.
largest_k_for_all    return top_k_logits(logits, k.max().expand_as(k))
  You used one k, the largest, for all texts, as with topk(k.max()): each row has a k of its own.
""")


def _threshold(logits, k):
    return logits.sort(dim=-1, descending=True).values.gather(-1, k[:, None].clamp(max=logits.shape[1]) - 1)


def _first_kept(logits, k):
    return torch.where(torch.arange(logits.shape[1]) < k[:, None], logits, -math.inf)


# --- length ----------------------------------------------------------------------------------------------------------

length = Exercise(
    "break_even",
    title="Long against short",
    goal="Two finished beams have the log-probabilities a and b (ln P, both below 0) and n and m tokens. At which α "
    "of the length penalty are their scores equal? a > b, n < m, and such an α > 0 exists. Return α.",
    difficulty=2,
    minutes=10,
    formula=r"\mathrm{score} = \frac{\ln P}{\left((5+\mathrm{length})\,/\,6\right)^{\alpha}}",
    source="Wu et al. 2016, equation 14, as in the notebook",
    tolerance=1e-6,
    cases=lambda: [(-1.0, 1, -2.0, 7), (-4.04, 6, -4.44, 8), (-3.0, 4, -9.0, 40)],
    hints=(
        "Write both scores down, set them equal, and bring the two powers of α to one side.",
        "((5 + m) / (5 + n))^α = b / a: the 6 has dropped out. How do you solve for an exponent?",
        "math.log(b / a) / math.log((5 + m) / (5 + n))",
    ),
)


@length.solution
def break_even(a, n, b, m):
    """The α at which ln P = a with n tokens and ln P = b with m tokens have the same score."""
    return math.log(b / a) / math.log((5 + m) / (5 + n))


length.slips("""
five_forgotten    (5 + m) / (5 + n) → m / n
  You compared the lengths themselves. The formula adds 5 to each, which makes the penalty gentler.
upside_down    b / a → a / b
  Your α is negative: one of the two ratios is upside down. A longer text gains as α grows, so α > 0.
one_logarithm    math.log(b / a) → (b / a)
  The logarithm of b/a is missing: α is an exponent, so take the logarithm of both sides of the equation.
subtracted    math.log(b / a) → (a - b)
  You subtracted the log-probabilities; in the equation one is divided by the other.
no_logarithm    return (b / a) / ((5 + m) / (5 + n))
  You divided the two ratios without logarithms, but α is an exponent.
inverse    return math.log((5 + m) / (5 + n)) / math.log(b / a)
  Your fraction is upside down: your number is 1/α.
""")


# --- the cache -------------------------------------------------------------------------------------------------------

cache = Exercise(
    "cached_mask",
    title="A mask for new queries",
    goal="The cache already holds `cached` keys (perhaps none). Now `new` tokens arrive together, and their own keys "
    "come after those. Write the causal mask (new, cached + new) of truth values: True where a new query (a row) may "
    "look at a key (a column), which is at every key that is not ahead of it.",
    difficulty=2,
    minutes=8,
    cases=lambda: [(2, 2), (1, 4), (3, 0), (3, 5)],
    run=lambda make, new, cached: as_mask(make(new, cached)),
    picture=True,
    hints=(
        "At which position of the full sequence is the first new query?",
        "At position `cached`: it sees everything in the cache, and itself.",
        "torch.ones(new, cached + new, dtype=torch.bool).tril(diagonal=cached)",
    ),
)


@cache.solution
def cached_mask(new, cached):
    """Mask (new, cached + new), True where a new query may look."""
    return torch.ones(new, cached + new, dtype=torch.bool).tril(diagonal=cached)


cache.slips("""
from_top_left    diagonal=cached →
  Your triangle starts at the top left: the first new query sees only the oldest key, as if it came first.
offset_too_large    diagonal=cached → cached + 1
  Your offset is one too large: each new query sees the next one, and cached and uncached logits differ.
offset_too_small    diagonal=cached → cached - 1
  Your offset is one too small: no new query sees itself; with an empty cache the first sees nothing.
nothing_masked    .tril(diagonal=cached) →
  Your mask hides nothing. For a single new token that is right; several at once see each other's future.
cache_hidden    return cached_mask(new, cached) & (torch.arange(cached + new) >= cached)
  Your mask hides the old keys: the new tokens see each other, but nothing from the cache.
cache_behind    return cached_mask(new, cached).roll(new, dims=1)
  Your old keys come after the new ones: the triangle is in the first columns, where the cache should be.
upside_down_mask    return ~cached_mask(new, cached)
  Your truth values are the wrong way round: True is where a query may look, not where it may not.
cached_in_numbers    return cached_mask(new, cached).float()
  Your entries are right, but 0 and 1 would be added to the scores. Return truth values: dtype=torch.bool.
""")


# --- where the new tokens stand --------------------------------------------------------------------------------------

places = Exercise(
    "cached_input",
    title="Where are the new tokens?",
    goal="The model has read `cached` tokens of each text. Now come T more, with ids (B, T). Return their input "
    "vectors (B, T, D): the row of the embedding E (V, D), times √D, plus the position. P (N, D) has a row for each "
    "position of a text, counted from 0, and N ≥ cached + T.",
    difficulty=1,
    minutes=6,
    inline=True,
    cases=lambda: [
        (torch.tensor([[1]]), 2, torch.tensor([[1.0, 0.0], [0.0, 2.0]]), torch.arange(10.0).view(5, 2)),
        (torch.tensor([[2, 0, 5], [5, 1, 1]]), 3, *random_tensors((7, 6), (9, 6), seed=7)),
        (torch.tensor([[3, 1], [0, 0], [4, 2]]), 1, *random_tensors((5, 3), (6, 3), seed=8)),
    ],
    hints=(
        "Position 0 belongs to the first token of the text. Which position does the first new token have?",
        "The new tokens are at cached, cached + 1, …, cached + T − 1.",
        "E[ids] * D**0.5 + P[cached : cached + T]",
    ),
)


@places.solution
def cached_input(ids, cached, E, P):
    """Vectors (B, T, D) of the new ids (B, T) after `cached` others; E (V, D), P (N, D)."""
    return E[ids] * E.shape[1] ** 0.5 + P[cached : cached + ids.shape[1]]


places.slips("""
offset_forgotten    cached : cached + → :
  Your positions start at 0, as if nothing had been read before: cached and uncached logits differ.
one_too_far    return _placed(ids, E, P[cached + 1 :][: ids.shape[1]])
  Your positions are one too far: the cache holds positions 0 to cached − 1, so the next is `cached`.
one_too_early    return _placed(ids, E, P[cached - 1 :][: ids.shape[1]])
  Your positions start one too early: the first new token got that of the last one in the cache.
all_in_one_place    ids.shape[1] → 1
  You gave all new tokens the position `cached`. That is right for the first; the others follow it.
last_of_the_table    return _placed(ids, E, P[-ids.shape[1] :])
  You took the last rows of P, as if the text ended where the table ends.
without_positions    0.5 + P → 0.5 + 0 * P
  You gave the new tokens no position: without one the model cannot tell where in the text they are.
positions_scaled_too    return (E[ids] + P[cached : cached + ids.shape[1]]) * E.shape[1] ** 0.5
  You multiplied the positions by √D as well. Only the embedding is scaled; then add the position.
new_rows_unscaled    * E.shape[1] ** 0.5 →
  You did not scale the embedding by √D, but the tokens in the cache were scaled.
""")


def _placed(ids, E, positions):
    return E[ids] * E.shape[1] ** 0.5 + positions


# --- memory ----------------------------------------------------------------------------------------------------------

memory = Exercise(
    "tokens_that_fit",
    title="How long a text fits?",
    goal="A machine has `memory` bytes left for the key–value cache. How many tokens may each of B texts (all of one "
    "length) have at most? The model has N layers and G key–value heads of width K; a number takes `size` bytes. "
    "Return a whole number: tokens that fit entirely, 0 if not even one does.",
    difficulty=1,
    minutes=6,
    cases=lambda: [
        (100, 1, 1, 2, 1, 4),
        (16 * 2**30, 32, 8, 128, 4, 2),
        (10**6, 2, 4, 16, 8, 4),
        (10**9, 12, 12, 64, 3, 2),
        (30, 2, 1, 2, 1, 4),
        (10, 1, 1, 2, 1, 4),
    ],
    tolerance=1e-9,
    hints=(
        "How many numbers does one token store in one layer, and how many bytes in all layers?",
        "G heads of K numbers, as a key and as a value, in N layers: 2·N·G·K numbers for a token of one text.",
        "memory // (2 * N * G * K * B * size)",
    ),
)


@memory.solution
def tokens_that_fit(memory, N, G, K, B, size):
    """Tokens of each of B texts that fit into `memory` bytes: N layers, G heads of width K, `size` bytes a number."""
    return memory // (2 * N * G * K * B * size)


memory.slips("""
one_of_the_two    2 * N → N
  You counted keys or values, but the cache holds both: half as many tokens fit.
one_layer    N * →
  You counted one layer: each of the N layers stores keys and values of its own.
square_of_the_length    return math.isqrt(memory // (2 * N * G * K * B * size))
  You took a root, as if the cache held T × T scores. It holds keys and values, and grows with T itself.
numbers_for_bytes    * size →
  You counted one byte for each number, but each takes `size` bytes.
queries_kept    2 * N → 3 * N
  You counted queries as well: they are used once and thrown away.
texts_forgotten    B * →
  You left out the B texts: each has a cache of its own, so this is for all of them together.
multiplied_by_the_texts    return memory // (2 * N * G * K * size) * B
  You multiplied the result by B. More texts leave fewer tokens for each: divide by B.
rounded_up    return -(-memory // (2 * N * G * K * B * size))
  You rounded up: the last token would no longer fit entirely.
rounded_to_the_nearest    return round(memory / (2 * N * G * K * B * size))
  You rounded to the nearest whole number: from a half on, the last token would not fit entirely.
not_rounded    memory // → memory /
  You did not round: a part of a token does not fit. Divide with //, which rounds down.
""")


# --- the quiz --------------------------------------------------------------------------------------------------------

QUIZ = questions("""
Temperature 0.5 in place of 1. What changes?
  - The unlikely becomes likelier | A temperature above 1 does that: it evens the logits out.
  * The likely becomes likelier | Logits are divided by 0.5: their differences double.
  - Another token may become the likeliest | All logits are divided by the same number, so their order stays.
What does top-p keep that top-k does not?
  - More tokens, at every step | Where the model is sure, one token alone may reach p.
  - The unlikely tokens | Both cut the tail and draw from the head alone.
  * As many tokens as it takes | Few where the model is sure, many where it is not.
A larger beam …
  * finds likelier texts, as a rule | With eight beams, mean ln P rose at each of four seeds.
  - always translates better than a smaller one | Three of our four apprentices got fewer right.
  - costs nothing | Every beam is one more text to compute at each step.
What does the cache save?
  - Memory, since nothing is computed again | It costs memory, for every token of every layer.
  - The softmax over the earlier tokens | The new query's softmax is computed in full.
  * Computing earlier keys and values | No earlier token looks ahead: they stay.
Why does greedy decoding of a language model go round in circles?
  * Similar steps make the same choice | After “sieben”, every step had the same best token.
  - The cache is full | It happens without a cache, too; a cache changes no logit.
  - The model has too few layers | The same model leaves the circle when it draws at random.
A grammar allows nothing but number words. What is certain?
  - The text is right | The apprentice stayed at 23 right ones of 100: form is not content.
  * The text is a number word | All others have an impossible step somewhere.
  - The text has the highest probability | It is greedy, and among the allowed tokens only.
""")
