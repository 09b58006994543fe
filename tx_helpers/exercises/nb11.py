"""Exercises of notebook 11, decoding."""

import math

import torch
from torch import Tensor

from tx_helpers.exercises.exercise import Exercise, random_tensors
from tx_helpers.exercises.quizzes import Choice, Question

# --- temperature -----------------------------------------------------------------------------------------------------

warm = Exercise(
    "tempered",
    title="Bolder and milder",
    goal="Return the probabilities (V,) that logits (V,) give at a temperature τ > 0: below 1 the likely becomes "
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
        "Divide by it, then apply the softmax.",
        "(logits / temperature).softmax(-1)",
    ),
)


@warm.solution
def tempered(logits, temperature):
    """Probabilities (V,) of logits (V,) at that temperature."""
    return (logits / temperature).softmax(dim=-1)


warm.add_mistakes(
    {
        "temperature_multiplied": (
            "You multiplied by the temperature: your 0.5 makes the choice milder, and your 2 makes it bolder.",
            lambda logits, temperature: (logits * temperature).softmax(dim=-1),
        ),
        "divided_after": (
            "You divided the probabilities, after the softmax: they do not sum to 1, and their ratios are as before.",
            lambda logits, temperature: logits.softmax(dim=-1) / temperature,
        ),
        "power_without_sum": (
            "You took the power p^(1/τ), which is right, but the powers do not sum to 1: divide them by their sum.",
            lambda logits, temperature: logits.softmax(dim=-1) ** (1 / temperature),
        ),
        "temperature_ignored": (
            "You did not use the temperature: this is the plain softmax, τ = 1.",
            lambda logits, temperature: logits.softmax(dim=-1),
        ),
        "divided_twice": (
            "You divided by the temperature twice, by τ²: the effect is too strong on both sides of 1.",
            lambda logits, temperature: (logits / temperature**2).softmax(dim=-1),
        ),
        "exponential_overflows": (
            "Your exponential overflows: e¹⁰⁰ is ∞ in float32, and ∞ / ∞ is NaN. Subtract the largest logit first.",
            lambda logits, temperature: (logits / temperature).exp() / (logits / temperature).exp().sum(),
        ),
    }
)


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


top_p.add_mistakes(
    {
        "not_shared_anew": (
            "Your probabilities do not sum to 1: divide what stays by its new sum.",
            lambda p, top: p * (nucleus(p, top) > 0),
        ),
        "crossing_dropped": (
            "You dropped the token that crosses the line: `top` is not reached. Where nothing is left, 0 / 0 is NaN.",
            _keeping(lambda ranked, total, top: total <= top),
        ),
        "crossing_dropped_zeros": (
            "You dropped the token that crosses the line, so `top` is not reached. Where nothing is left, all is 0.",
            lambda p, top: _keeping(lambda ranked, total, top: total <= top)(p, top).nan_to_num(0.0),
        ),
        "crossing_dropped_but_one": (
            "You dropped the token that crosses the line but kept the likeliest: the rest does not reach `top`.",
            _keeping(lambda ranked, total, top: (total <= top) | (ranked == ranked[:, :1])),
        ),
        "reaching_dropped": (
            "You kept tokens while their sum is below `top`: it is never reached. Where nothing is left, 0 / 0 is NaN.",
            _keeping(lambda ranked, total, top: total < top),
        ),
        "reaching_dropped_zeros": (
            "You kept tokens while their sum is below `top`: it is never reached. Where nothing is left, all is 0.",
            lambda p, top: _keeping(lambda ranked, total, top: total < top)(p, top).nan_to_num(0.0),
        ),
        "reaching_dropped_but_one": (
            "You kept the likeliest token, and others as long as the sum is below `top`: it is never reached.",
            _keeping(lambda ranked, total, top: (total < top) | (ranked == ranked[:, :1])),
        ),
        "beyond_top": (
            "You kept one token too many where the sum is exactly `top`. Compare with <, not ≤.",
            _keeping(lambda ranked, total, top: total - ranked <= top),
        ),
        "one_too_many": (
            "You kept one token more than needed: `top` is reached before it.",
            _keeping(lambda ranked, total, top: (total - ranked < top).roll(1, -1) | (ranked == ranked[:, :1])),
        ),
        "at_least_two": (
            "You always kept two tokens or more. Where the likeliest reaches `top` alone, it stays alone.",
            _keeping(lambda ranked, total, top: (total - ranked < top) | (ranked >= ranked[:, 1:2])),
        ),
        "by_single_probability": (
            "You kept all tokens of probability 1 − top or more. What counts is the sum from the likeliest on.",
            lambda p, top: _shared(p, p >= 1 - top[:, None]).nan_to_num(0.0),
        ),
        "from_the_tail": (
            "You added up from the unlikeliest: you kept the tail of the distribution and threw its head away.",
            _keeping(lambda ranked, total, top: total - ranked < top, descending=False),
        ),
        "in_order_of_rank": (
            "Your result is in the order of rank, the likeliest first: you did not put it back to the tokens' places.",
            lambda p, top: nucleus(p, top).sort(dim=-1, descending=True).values,
        ),
        "not_sorted": (
            "You added up without sorting: whether a token stays depends on its id. Sort by probability first.",
            lambda p, top: _shared(p, p.cumsum(-1) - p < top[:, None]),
        ),
        "softmax_of_probabilities": (
            "You applied a softmax to what stays, which makes it nearly even. Divide it by its sum.",
            lambda p, top: p.masked_fill(nucleus(p, top) == 0, -math.inf).softmax(dim=-1),
        ),
        "one_top_for_all": (
            "You cut every text at the first one's `top`: each row has a line of its own.",
            lambda p, top: nucleus(p, top[:1].expand_as(top)),
        ),
    }
)

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


def _threshold(logits, k):
    return logits.sort(dim=-1, descending=True).values.gather(-1, k[:, None].clamp(max=logits.shape[1]) - 1)


def _first_kept(logits, k):
    return torch.where(torch.arange(logits.shape[1]) < k[:, None], logits, -math.inf)


top_k.add_mistakes(
    {
        "zero_for_infinity": (
            "You set the others to 0. A logit of 0 is an ordinary one, above every negative logit, and can be drawn.",
            lambda logits, k: logits.masked_fill(logits < _threshold(logits, k), 0.0),
        ),
        "billion_for_infinity": (
            "You set the others to −10⁹. The softmax makes it 0, too, but whoever looks for −∞ later does not find it.",
            lambda logits, k: logits.masked_fill(logits < _threshold(logits, k), -1e9),
        ),
        "changed_in_place": (
            "You changed the logits that you were given (a _ at the end of a name says so): make a new tensor.",
            lambda logits, k: logits.masked_fill_(logits < _threshold(logits, k), -math.inf),
        ),
        "handed_back_itself": (
            "Where nothing is cut you return the very tensor that you were given: whoever changes one changes both.",
            lambda logits, k: logits if (k == logits.shape[1]).all() else top_k_logits(logits, k),
        ),
        "k_and_one": (
            "You kept k + 1 logits, one too many: the threshold is the k-th largest.",
            lambda logits, k: logits.masked_fill(logits < _threshold(logits, k + 1), -math.inf),
        ),
        "threshold_dropped": (
            "You dropped the k-th largest: the comparison with it must let it stay (<, not ≤).",
            lambda logits, k: logits.masked_fill(logits <= _threshold(logits, k), -math.inf),
        ),
        "smallest_kept": (
            "You kept the k smallest: topk with largest=False, or a sort the wrong way round.",
            lambda logits, k: -top_k_logits(-logits, k).nan_to_num(neginf=math.inf),
        ),
        "first_kept": (
            "You kept the first k of the list. Ids say nothing about how likely a token is.",
            _first_kept,
        ),
        "ranks_by_one_argsort": (
            "You took argsort for ranks. It tells which token has a rank; the rank of a token takes a second argsort.",
            lambda logits, k: logits.masked_fill(logits.argsort(dim=-1, descending=True) >= k[:, None], -math.inf),
        ),
        "sorted_away": (
            "Your logits are sorted: each one has lost its token, whose id is its place in the list.",
            lambda logits, k: _first_kept(logits.sort(dim=-1, descending=True).values, k),
        ),
        "one_k_for_all": (
            "You used one k, the first text's, for all of them: each row has a k of its own.",
            lambda logits, k: top_k_logits(logits, k[:1].expand_as(k)),
        ),
        "largest_k_for_all": (
            "You used one k, the largest, for all texts, as with topk(k.max()): each row has a k of its own.",
            lambda logits, k: top_k_logits(logits, k.max().expand_as(k)),
        ),
    }
)


# --- beams -----------------------------------------------------------------------------------------------------------

beam = Exercise(
    "next_beams",
    title="One step of beam search",
    goal="n beams have the log-probabilities `scores` (n,) so far; `log_p` (n, V) holds those of every next token "
    "after each beam. Among all n · V continuations find the n likeliest, counted from their first token on, the "
    "likeliest first; several may continue one beam. Return the beams that they continue (n,), their tokens (n,), and "
    "their scores (n,), in this order. No two are equal.",
    difficulty=2,
    minutes=10,
    cases=lambda: [
        (torch.tensor([-1.0, -1.5]), torch.tensor([[0.7, 0.2, 0.1], [0.6, 0.25, 0.15]]).log()),
        (torch.tensor([-0.1, -4.0, -4.2]), random_tensors((3, 6), seed=5)[0].log_softmax(-1)),
        (torch.tensor([-2.0, -2.3, -2.6, -9.0]), random_tensors((4, 7), seed=6)[0].log_softmax(-1)),
        (torch.tensor([-3.0, -1.0]), torch.tensor([[0.9, 0.1], [0.5, 0.5001]]).log()),  # the second beam is ahead
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


@beam.mistake("You multiplied the log-probabilities. Probabilities multiply; their logarithms add.")
def logs_multiplied(scores, log_p):
    n, V = log_p.shape
    best, index = (scores[:, None] * log_p).flatten().topk(n)
    return index // V, index % V, best


@beam.mistake("You swapped beam and token: index // V is the beam, index % V the token.")
def beam_and_token_swapped(scores, log_p):
    beams, tokens, best = next_beams(scores, log_p)
    return tokens, beams, best


@beam.mistake("Beams and tokens are right, but your scores are those of the last token: add the beam's score so far.")
def scores_of_the_last_token(scores, log_p):
    beams, tokens, _ = next_beams(scores, log_p)
    return beams, tokens, log_p[beams, tokens]


@beam.mistake("You let each beam keep its own best continuation. A good beam may have two of the best.")
def one_for_each_beam(scores, log_p):
    best, tokens = (scores[:, None] + log_p).max(dim=-1)
    order = best.argsort(descending=True)
    return order, tokens[order], best[order]


@beam.mistake(
    "You took each beam's own best continuation, in the order of the beams. All n · V compete in one contest."
)
def each_beams_own_best(scores, log_p):
    best, tokens = (scores[:, None] + log_p).max(dim=-1)
    return torch.arange(len(scores)), tokens, best


@beam.mistake("You found the right continuations, but they are in the order of their beams. The likeliest comes first.")
def in_order_of_beams(scores, log_p):
    n, V = log_p.shape
    totals = (scores[:, None] + log_p).flatten()
    index = totals.topk(n).indices.sort().values
    return index // V, index % V, totals[index]


beam.add_mistakes(
    {
        "best_beam_only": (
            "All your continuations come from the best beam: the others never get a chance to overtake it.",
            lambda scores, log_p: next_beams(scores.where(scores == scores.max(), -math.inf), log_p),
        ),
        "past_forgotten": (
            "You count only the last token's log-probability: a poor beam competes like a good one. Add `scores`.",
            lambda scores, log_p: next_beams(torch.zeros_like(scores), log_p),
        ),
        "probabilities_added": (
            "You added probabilities to log-probabilities: take the logarithm of both, or multiply two probabilities.",
            lambda scores, log_p: next_beams(scores, log_p.exp()),
        ),
    }
)


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


length.add_mistakes(
    {
        "five_forgotten": (
            "You compared the lengths themselves. The formula adds 5 to each, which makes the penalty gentler.",
            lambda a, n, b, m: math.log(b / a) / math.log(m / n),
        ),
        "upside_down": (
            "Your α is negative: one of the two ratios is upside down. A longer text gains as α grows, so α > 0.",
            lambda a, n, b, m: math.log(a / b) / math.log((5 + m) / (5 + n)),
        ),
        "one_logarithm": (
            "The logarithm of b/a is missing: α is an exponent, so take the logarithm of both sides of the equation.",
            lambda a, n, b, m: (b / a) / math.log((5 + m) / (5 + n)),
        ),
        "subtracted": (
            "You subtracted the log-probabilities; in the equation one is divided by the other.",
            lambda a, n, b, m: (a - b) / math.log((5 + m) / (5 + n)),
        ),
        "no_logarithm": (
            "You divided the two ratios without logarithms, but α is an exponent.",
            lambda a, n, b, m: (b / a) / ((5 + m) / (5 + n)),
        ),
        "inverse": (
            "Your fraction is upside down: your number is 1/α.",
            lambda a, n, b, m: math.log((5 + m) / (5 + n)) / math.log(b / a),
        ),
    }
)


# --- the quiz --------------------------------------------------------------------------------------------------------

QUIZ = [
    Question(
        "Temperature 0.5 in place of 1. What changes?",
        (
            Choice("The unlikely becomes likelier", "A temperature above 1 does that: it evens the logits out."),
            Choice("The likely becomes likelier", "Logits are divided by 0.5: their differences double.", right=True),
            Choice("Another token may become the likeliest", "All logits are divided alike, so their order stays."),
        ),
    ),
    Question(
        "What does top-p keep that top-k does not?",
        (
            Choice("More tokens, at every step", "Where the model is sure, one token alone may reach p."),
            Choice("The unlikely tokens", "Both cut the tail and draw from the head alone."),
            Choice("As many tokens as it takes", "Few where the model is sure, many where it is not.", right=True),
        ),
    ),
    Question(
        "A larger beam …",
        (
            Choice("finds likelier texts, as a rule", "With 8 beams ln P rose from −3.47 to −2.87.", right=True),
            Choice("always translates better than a smaller one", "Exact match fell here, from 23 to 20 %."),
            Choice("costs nothing", "Every beam is one more text to compute at each step."),
        ),
    ),
    Question(
        "What does the cache save?",
        (
            Choice("Memory, since nothing is computed again", "It costs memory, for every token of every layer."),
            Choice("The softmax over the earlier tokens", "The new query's softmax is computed in full."),
            Choice("Computing earlier keys and values", "No earlier token looks ahead: they stay.", right=True),
        ),
    ),
    Question(
        "Why does greedy decoding of a language model go round in circles?",
        (
            Choice("Like steps have like choices", "After “sieben” every step had the same best token.", right=True),
            Choice("The cache is full", "It happens without a cache as well, which changes no logit."),
            Choice("The model has too few layers", "When it draws at random, the same model gets out."),
        ),
    ),
]
