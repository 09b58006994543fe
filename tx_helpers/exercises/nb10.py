"""Exercises of notebook 10, generation."""

import math

import torch
from torch import Tensor

from tx_helpers.exercises.exercise import Exercise, random_tensors
from tx_helpers.exercises.quizzes import Choice, Question

# --- temperature -----------------------------------------------------------------------------------------------------

warm = Exercise(
    "tempered",
    title="Bolder and milder",
    goal="Hand back the probabilities (V,) that logits (V,) give at a temperature τ > 0: below 1 the likely becomes "
    "likelier.",
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
        "Divide by it, then the softmax.",
        "(logits / temperature).softmax(-1)",
    ),
)


@warm.solution
def tempered(logits, temperature):
    """Probabilities (V,) of logits (V,) at that temperature."""
    return (logits / temperature).softmax(dim=-1)


@warm.mistake("You multiplied by the temperature: with yours 0.5 makes the choice milder, and 2 makes it bolder.")
def temperature_multiplied(logits, temperature):
    return (logits * temperature).softmax(dim=-1)


@warm.mistake(
    "You divided the probabilities, after the softmax: they no longer sum to 1, and their ratios are as before."
)
def divided_after(logits, temperature):
    return logits.softmax(dim=-1) / temperature


@warm.mistake("You took the power p^(1/τ), which is right, but the powers do not sum to 1: divide them by their sum.")
def power_without_sum(logits, temperature):
    return logits.softmax(dim=-1) ** (1 / temperature)


@warm.mistake("The temperature does not occur in your probabilities: this is the plain softmax, τ = 1.")
def temperature_ignored(logits, temperature):
    return logits.softmax(dim=-1)


@warm.mistake("You divided by the temperature twice, τ²: the effect is too strong on both sides of 1.")
def divided_twice(logits, temperature):
    return (logits / temperature**2).softmax(dim=-1)


# --- top-p -----------------------------------------------------------------------------------------------------------

top_p = Exercise(
    "nucleus",
    title="Top-p for a batch",
    goal="Which distributions does top-p draw from? Each row of p (B, V) belongs to a text, which has a `top` (B,) of "
    "its own. In each row keep the likeliest tokens, as few as possible, whose probabilities together reach at least "
    "the row's `top`; give the others 0, and divide the row by its new sum. Hand back probabilities (B, V), in the "
    "order of p. No two probabilities of a row are equal, and 0 < top ≤ 1.",
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
        "Sort each row from likely to unlikely, and add up along it. Which one is the last that is needed?",
        "A token stays if those before it have not reached `top` yet: the one that crosses the line stays. Then back "
        "to the tokens' places: scatter along the last axis, or the argsort of the ids.",
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


def _kept(p, ranks):
    """The tokens of these ranks (B, V), shared out anew."""
    ids = p.sort(dim=-1, descending=True).indices
    return _shared(p, ranks.gather(-1, ids.argsort(dim=-1)))


def _shared(p, keep):
    return p * keep / (p * keep).sum(dim=-1, keepdim=True).clamp(min=1e-9)


@top_p.mistake("Your probabilities do not sum to 1: what was cut off has to be shared among the tokens that stay.")
def not_shared_anew(p, top):
    return p * (nucleus(p, top) > 0)


@top_p.mistake("You dropped the token that crosses the line: what is left over does not reach `top`.")
def crossing_dropped(p, top):
    return _kept(p, p.sort(dim=-1, descending=True).values.cumsum(-1) <= top[:, None])


@top_p.mistake(
    "You kept all tokens whose own probability is at least 1 − top. It is the sum from the likeliest on that counts."
)
def by_single_probability(p, top):
    return _shared(p, p >= 1 - top[:, None])


@top_p.mistake("You added up from the unlikeliest: the tail of the distribution is kept, and its head is thrown away.")
def from_the_tail(p, top):
    ranked, ids = p.sort(dim=-1)
    stays = ranked.cumsum(-1) - ranked < top[:, None]
    return _shared(p, stays.gather(-1, ids.argsort(dim=-1)))


@top_p.mistake(
    "Your result stands in the order of rank, the likeliest first: it was not put back to the tokens' places."
)
def in_order_of_rank(p, top):
    return nucleus(p, top).sort(dim=-1, descending=True).values


@top_p.mistake("You kept one token more than needed: the line had been crossed before it.")
def one_too_many(p, top):
    number = (nucleus(p, top) > 0).sum(dim=-1, keepdim=True) + 1
    return _kept(p, torch.arange(p.shape[1]).expand_as(p) < number)


@top_p.mistake(
    "You added up in the order of the ids, without sorting: whether a token stays depends on where it is listed."
)
def not_sorted(p, top):
    return _shared(p, p.cumsum(-1) - p < top[:, None])


@top_p.mistake("You cut every text at the first one's `top`: each row has a line of its own.")
def one_top_for_all(p, top):
    return nucleus(p, top[:1].expand_as(top))


# --- top-k -----------------------------------------------------------------------------------------------------------


def _beside_the_old(make, logits, k):
    """The new logits, and what has become of those that were handed in."""
    made = make(logits, k)
    shared = isinstance(made, Tensor) and made.data_ptr() == logits.data_ptr()
    return {"new logits": made, "old logits afterwards": logits.clone(), "in the memory of the old ones": shared}


top_k = Exercise(
    "top_k_logits",
    title="Top-k, with a k for each text",
    goal="In each row b of the logits (B, V) leave the k[b] largest as they are and set the others to −∞, so that a "
    "softmax gives them 0. k (B,) holds whole numbers from 1 to V, and all logits of a row differ. Do not change the "
    "logits that are handed in: make a new tensor.",
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


def _threshold(logits, k):
    return logits.sort(dim=-1, descending=True).values.gather(-1, k[:, None].clamp(max=logits.shape[1]) - 1)


@top_k.mistake("You set the others to 0. A logit of 0 is a middling one, above every negative logit, and can be drawn.")
def zero_for_infinity(logits, k):
    return logits.masked_fill(logits < _threshold(logits, k), 0.0)


@top_k.mistake("You changed the logits that were handed in (a _ at the end of a name says so): make a new tensor.")
def changed_in_place(logits, k):
    return logits.masked_fill_(logits < _threshold(logits, k), -math.inf)


@top_k.mistake(
    "Where nothing is to be cut you hand back the very tensor that was handed in: who writes to one changes both."
)
def handed_back_itself(logits, k):
    return logits if (k == logits.shape[1]).all() else top_k_logits(logits, k)


@top_k.mistake("You kept k + 1 logits, one too many: the threshold is the k-th largest.")
def k_and_one(logits, k):
    return logits.masked_fill(logits < _threshold(logits, k + 1), -math.inf)


@top_k.mistake("The k-th largest is gone: the comparison with it must let it stay (<, not ≤).")
def threshold_dropped(logits, k):
    return logits.masked_fill(logits <= _threshold(logits, k), -math.inf)


@top_k.mistake("You kept the k smallest: topk with largest=False, or a sort the wrong way round.")
def smallest_kept(logits, k):
    return -top_k_logits(-logits, k).nan_to_num(neginf=math.inf)


@top_k.mistake("You kept the first k of the list. Ids say nothing of how likely a token is.")
def first_kept(logits, k):
    return torch.where(torch.arange(logits.shape[1]) < k[:, None], logits, -math.inf)


@top_k.mistake("Your logits are sorted: each one has lost its token, whose id is its place in the list.")
def sorted_away(logits, k):
    return first_kept(logits.sort(dim=-1, descending=True).values, k)


@top_k.mistake("You took one k, the first text's, for all of them: each row has a k of its own.")
def one_k_for_all(logits, k):
    return top_k_logits(logits, k[:1].expand_as(k))


# --- beams -----------------------------------------------------------------------------------------------------------

beam = Exercise(
    "next_beams",
    title="One step of beam search",
    goal="n beams have the log-probabilities `scores` (n,) so far; `log_p` (n, V) holds those of every next token "
    "after each beam. Among all n · V continuations find the n likeliest as wholes, the likeliest first; several may "
    "go on from one beam. Hand back the beams they come from (n,), their tokens (n,), and their scores (n,), in this "
    "order. No two are equal.",
    difficulty=2,
    minutes=10,
    cases=lambda: [
        (torch.tensor([-1.0, -1.5]), torch.tensor([[0.7, 0.2, 0.1], [0.6, 0.25, 0.15]]).log()),
        (torch.tensor([-0.1, -4.0, -4.2]), random_tensors((3, 6), seed=5)[0].log_softmax(-1)),
        (torch.tensor([-2.0, -2.3, -2.6, -9.0]), random_tensors((4, 7), seed=6)[0].log_softmax(-1)),
    ],
    hints=(
        "Every continuation of every beam competes: n · V candidates in one contest.",
        "Log-probabilities add: scores[:, None] + log_p. Then flatten and take topk(n).",
        "An index into the flat list is beam · V + token: index // V and index % V.",
    ),
)


@beam.solution
def next_beams(scores, log_p):
    """Beams (n,), tokens (n,) and scores (n,) of the n best continuations."""
    n, V = log_p.shape
    best, index = (scores[:, None] + log_p).flatten().topk(n)
    return index // V, index % V, best


@beam.mistake("You let each beam keep its own best continuation: a good beam may have two, and a poor one none.")
def one_for_each_beam(scores, log_p):
    best, tokens = (scores[:, None] + log_p).max(dim=-1)
    order = best.argsort(descending=True)
    return order, tokens[order], best[order]


@beam.mistake(
    "You forgot what came before: only the last token's log-probability counts, and a poor beam competes like a good "
    "one."
)
def past_forgotten(scores, log_p):
    return next_beams(torch.zeros_like(scores), log_p)


@beam.mistake(
    "You added probabilities to log-probabilities: take the logarithm of both, or multiply two probabilities."
)
def probabilities_added(scores, log_p):
    return next_beams(scores, log_p.exp())


@beam.mistake("You multiplied the log-probabilities. Probabilities multiply; their logarithms add.")
def logs_multiplied(scores, log_p):
    n, V = log_p.shape
    best, index = (scores[:, None] * log_p).flatten().topk(n)
    return index // V, index % V, best


@beam.mistake("Beam and token have changed places: index // V is the beam, index % V the token.")
def beam_and_token_swapped(scores, log_p):
    beams, tokens, best = next_beams(scores, log_p)
    return tokens, beams, best


@beam.mistake("All your continuations come from the best beam: the others never get a chance to overtake it.")
def best_beam_only(scores, log_p):
    first = scores.argmax()
    best, tokens = (scores[first] + log_p[first]).topk(len(scores))
    return first.expand(len(scores)).clone(), tokens, best


# --- length ----------------------------------------------------------------------------------------------------------

length = Exercise(
    "break_even",
    title="Long against short",
    goal="Two finished beams have the log-probabilities a and b (ln P, both below 0) and n and m tokens. At which α of "
    "the length penalty do their scores become equal? a > b, n < m, and such an α > 0 exists. Hand back α.",
    difficulty=2,
    minutes=10,
    formula=r"\mathrm{score} = \frac{\ln P}{\left((5+\mathrm{length})\,/\,6\right)^{\alpha}}",
    source="Wu et al. 2016, equation 14, as in the notebook",
    tolerance=1e-6,
    cases=lambda: [(-1.0, 1, -2.0, 7), (-4.04, 6, -4.44, 8), (-3.0, 4, -9.0, 40)],
    hints=(
        "Write both scores down, set them equal, and bring the two powers of α to one side.",
        "((5 + m) / (5 + n))^α = b / a: the 6 has dropped out. What takes an exponent down?",
        "math.log(b / a) / math.log((5 + m) / (5 + n))",
    ),
)


@length.solution
def break_even(a, n, b, m):
    """The α at which ln P = a with n tokens and ln P = b with m tokens have the same score."""
    return math.log(b / a) / math.log((5 + m) / (5 + n))


@length.mistake(
    "You compared the lengths themselves. In the formula 5 is added to each, which makes the penalty gentler."
)
def five_forgotten(a, n, b, m):
    return math.log(b / a) / math.log(m / n)


@length.mistake("Your α is negative: one of the two ratios is upside down. A longer text gains as α grows, so α > 0.")
def upside_down(a, n, b, m):
    return math.log(a / b) / math.log((5 + m) / (5 + n))


@length.mistake(
    "The logarithm of b/a is missing: α is an exponent, and both sides of the equation need their logarithm."
)
def one_logarithm(a, n, b, m):
    return (b / a) / math.log((5 + m) / (5 + n))


@length.mistake("Log-probabilities are divided by each other in the equation; you subtracted them.")
def subtracted(a, n, b, m):
    return (a - b) / math.log((5 + m) / (5 + n))


@length.mistake("You divided the two ratios without logarithms; it is an exponent that is asked for.")
def no_logarithm(a, n, b, m):
    return (b / a) / ((5 + m) / (5 + n))


@length.mistake("The whole fraction is upside down: your number is 1/α.")
def inverse(a, n, b, m):
    return math.log((5 + m) / (5 + n)) / math.log(b / a)


# --- the cache -------------------------------------------------------------------------------------------------------

cached = Exercise(
    "cached_mask",
    title="A mask for new queries",
    goal="`cached` keys are kept from earlier (there may be none); `new` tokens come at once, with their own keys "
    "behind those. Write the causal mask (new, cached + new) of truth values, True where a new query (a row) may look "
    "at a key (a column): at every key that is not ahead of it.",
    difficulty=2,
    minutes=8,
    cases=lambda: [(2, 2), (1, 4), (3, 0), (3, 5)],
    picture=True,
    hints=(
        "Where in the whole sequence does the first new query stand?",
        "At position `cached`: it sees all that is kept, and itself.",
        "torch.ones(new, cached + new, dtype=torch.bool).tril(diagonal=cached)",
    ),
)


@cached.solution
def cached_mask(new, cached):
    """Mask (new, cached + new), True where a new query may look."""
    return torch.ones(new, cached + new, dtype=torch.bool).tril(diagonal=cached)


@cached.mistake(
    "Your triangle begins at the top left, as if the first new query stood at position 0: it sees a single key, the "
    "oldest."
)
def from_top_left(new, cached):
    return torch.ones(new, cached + new, dtype=torch.bool).tril()


@cached.mistake(
    "Your offset is one too large: each new query sees the token after it, and cached and uncached logits differ."
)
def offset_too_large(new, cached):
    return torch.ones(new, cached + new, dtype=torch.bool).tril(cached + 1)


@cached.mistake(
    "Your offset is one too small: no new query sees itself, and with an empty cache the first one sees nothing at all."
)
def offset_too_small(new, cached):
    return torch.ones(new, cached + new, dtype=torch.bool).tril(cached - 1)


@cached.mistake("Nothing is masked. For a single new token that is right; several at once see each other's future.")
def nothing_masked(new, cached):
    return torch.ones(new, cached + new, dtype=torch.bool)


@cached.mistake(
    "The old keys are hidden in yours: the new tokens see each other, but nothing of what was kept for them."
)
def cache_hidden(new, cached):
    mask = cached_mask(new, cached)
    mask[:, :cached] = False
    return mask


@cached.mistake(
    "Your old keys stand behind the new ones: the triangle is in the first columns, where the cache should be."
)
def cache_behind(new, cached):
    return cached_mask(new, cached).roll(new, dims=1)


# --- where the new tokens stand --------------------------------------------------------------------------------------

places = Exercise(
    "cached_input",
    title="Where do the new tokens stand?",
    goal="The vectors of new tokens when `cached` tokens of each text have been read before: ids (B, T) of the new "
    "ones, embedding E (V, D), positions P (N, D), a row for each position of the whole text from 0 on, N ≥ cached + "
    "T. Scale the embedding by √D and add the positions: (B, T, D).",
    difficulty=1,
    minutes=6,
    cases=lambda: [
        (torch.tensor([[1]]), 2, torch.tensor([[1.0, 0.0], [0.0, 2.0]]), torch.arange(10.0).view(5, 2)),
        (torch.tensor([[2, 0, 5], [5, 1, 1]]), 3, *random_tensors((7, 6), (9, 6), seed=7)),
        (torch.tensor([[3, 1], [0, 0], [4, 2]]), 1, *random_tensors((5, 3), (6, 3), seed=8)),
    ],
    hints=(
        "Position 0 belongs to the first token of the text. To which one does the first new token belong?",
        "The new tokens stand at cached, cached + 1, …, cached + T − 1.",
        "E[ids] * D**0.5 + P[cached : cached + T]",
    ),
)


@places.solution
def cached_input(ids, cached, E, P):
    """Vectors (B, T, D) of the new ids (B, T) behind `cached` others; E (V, D), P (N, D)."""
    return E[ids] * E.shape[1] ** 0.5 + P[cached : cached + ids.shape[1]]


def _placed(ids, E, places):
    return E[ids] * E.shape[1] ** 0.5 + places


@places.mistake(
    "Your positions begin at 0, as if nothing had been read before: each new token takes itself for the beginning, and "
    "cached and uncached logits differ."
)
def offset_forgotten(ids, cached, E, P):
    return _placed(ids, E, P[: ids.shape[1]])


@places.mistake(
    "Your positions are one too far: `cached` tokens have the numbers 0 to cached − 1, so the next is `cached`."
)
def one_too_far(ids, cached, E, P):
    return _placed(ids, E, P[cached + 1 :][: ids.shape[1]])


@places.mistake("Your positions begin one too early: the first new token got that of the last one in the cache.")
def one_too_early(ids, cached, E, P):
    return _placed(ids, E, P[cached - 1 :][: ids.shape[1]])


@places.mistake(
    "All your new tokens stand at the same place, `cached`. That is right for a single one; several go on from it."
)
def all_in_one_place(ids, cached, E, P):
    return _placed(ids, E, P[cached])


@places.mistake("You took the last rows of P, as if the text ended where the table of positions ends.")
def last_of_the_table(ids, cached, E, P):
    return _placed(ids, E, P[-ids.shape[1] :])


@places.mistake("The new tokens have no position in yours: without one the model cannot tell them from the first.")
def without_positions(ids, cached, E, P):
    return _placed(ids, E, 0)


@places.mistake("You did not scale the embedding by √D, which the tokens in the cache were.")
def new_rows_unscaled(ids, cached, E, P):
    return E[ids] + P[cached : cached + ids.shape[1]]


# --- memory ----------------------------------------------------------------------------------------------------------

memory = Exercise(
    "tokens_that_fit",
    title="How long a text fits?",
    goal="A machine has `memory` bytes left for the key–value cache. How many tokens may each of B texts (all of one "
    "length) have at most? The model has N layers and G key–value heads of width K; a number takes `size` bytes. Hand "
    "back a whole number: tokens that fit entirely, 0 if not even one does.",
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
        "How many numbers does one token leave in one layer, and how many bytes in all layers?",
        "G heads of K numbers, as a key and as a value, in N layers: 2·N·G·K numbers for a token of one text.",
        "memory // (2 * N * G * K * B * size)",
    ),
)


@memory.solution
def tokens_that_fit(memory, N, G, K, B, size):
    """Tokens for each of B texts in so many bytes, for N layers, G heads of width K, numbers of `size` bytes."""
    return memory // (2 * N * G * K * B * size)


@memory.mistake("You counted keys or values, but both are kept: half as many tokens fit.")
def one_of_the_two(memory, N, G, K, B, size):
    return memory // (N * G * K * B * size)


@memory.mistake("You counted one layer: each of the N layers keeps keys and values of its own.")
def one_layer(memory, N, G, K, B, size):
    return memory // (2 * G * K * B * size)


@memory.mistake(
    "You took a root, as if T × T scores were kept. Keys and values are kept: the cache grows with T itself."
)
def square_of_the_length(memory, N, G, K, B, size):
    return math.isqrt(memory // (2 * N * G * K * B * size))


@memory.mistake("You counted a byte for a number; each of them takes `size` bytes.")
def numbers_for_bytes(memory, N, G, K, B, size):
    return memory // (2 * N * G * K * B)


@memory.mistake("You counted queries as well: they are used once and thrown away.")
def queries_kept(memory, N, G, K, B, size):
    return memory // (3 * N * G * K * B * size)


@memory.mistake("The B texts are missing: each has a cache of its own, so this is for all of them together.")
def texts_forgotten(memory, N, G, K, B, size):
    return memory // (2 * N * G * K * size)


@memory.mistake("You rounded up: the last token would no longer fit as a whole.")
def rounded_up(memory, N, G, K, B, size):
    return -(-memory // (2 * N * G * K * B * size))


QUIZ = [
    Question(
        "Temperature 0.5 in place of 1. What changes?",
        (
            Choice(
                "The unlikely becomes likelier",
                "A temperature above 1 does that: it brings the logits nearer together.",
            ),
            Choice("The likely becomes likelier", "Logits are divided by 0.5: their differences double.", right=True),
            Choice(
                "Another token may become the likeliest",
                "All logits are divided by the same number, so their order stays.",
            ),
        ),
    ),
    Question(
        "What does top-p keep that top-k does not?",
        (
            Choice("Always more tokens", "Where the model is sure, one token alone may reach p."),
            Choice("The unlikely tokens", "Both cut the tail, and draw from the head alone."),
            Choice(
                "A number of tokens that fits the distribution",
                "Few where the model is sure, many where it is not.",
                right=True,
            ),
        ),
    ),
    Question(
        "A larger beam …",
        (
            Choice(
                "finds, as a rule, a text that the model holds to be likelier",
                "That is all that it searches for. On average ln P rose from −3.47 to −2.87 with 8 beams.",
                right=True,
            ),
            Choice(
                "always translates better",
                "The apprentice's exact match fell from 23 to 20 %: the likeliest text need not be the right one.",
            ),
            Choice("costs nothing", "Every beam is one more text for which each step must be computed."),
        ),
    ),
    Question(
        "What does the cache save?",
        (
            Choice("Memory", "It costs memory, for every token of every layer."),
            Choice("The softmax", "The new query's softmax is computed in full."),
            Choice(
                "Computing keys and values of earlier tokens again",
                "They do not change, since nobody earlier looks ahead.",
                right=True,
            ),
        ),
    ),
    Question(
        "How does a GPT read its prompt without an encoder?",
        (
            Choice("It cannot", "It can: the stack that writes also reads."),
            Choice(
                "In the same stack, all positions at once",
                "And what it computes of them lands in the cache.",
                right=True,
            ),
            Choice("By a second network", "There is only one; an encoder is just what it lacks."),
        ),
    ),
    Question(
        "Why does greedy decoding of a language model go round in circles?",
        (
            Choice(
                "Where a step looks to it like the one before, it chooses the same again",
                "After the second “sieben” each step had the same likeliest token. Drawing at random breaks the "
                "circle.",
                right=True,
            ),
            Choice("The cache is full", "A cache changes no logit, so it happens without one as well."),
            Choice(
                "The model has too few layers",
                "It is the choice of the likeliest that does it: drawn at random, the same model gets out.",
            ),
        ),
    ),
]
