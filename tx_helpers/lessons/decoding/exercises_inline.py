"""Greedy decoding and a step of beams, which stand inside the notebook; top-p and a repetition penalty, at its end."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from tx_helpers.exercises.compare import as_tensor
from tx_helpers.exercises.exercise import Exercise, random_tensors

# --- greedy ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Reader:
    """A model of a few lines, ids (1, T) -> logits (1, T, V): each position reads all ids up to it."""

    V: int
    seed: int
    scale: float = 1.0

    def __call__(self, ids: Tensor) -> Tensor:
        if ids.dim() != 2:
            raise ValueError(f"model: the ids have the shape {tuple(ids.shape)}, expected (1, T)")
        table, output = random_tensors((self.V, self.V), (self.V, self.V), seed=self.seed)
        return self.scale * (table[ids].cumsum(-2) @ output)


def _as_texts(write, model, begin, end, most):
    """What was written, and what became of the list that was passed in."""
    ids = as_tensor(write(model, begin, end, most))
    if isinstance(ids, Tensor) and ids.dim() == 1:
        ids = " ".join(f"{i:g}" for i in ids.tolist())
    return {"new ids": ids, "begin afterwards": " ".join(map(str, begin))}


loop = Exercise(
    "greedy",
    title="Write with any model",
    goal="`model` is a function from ids (1, T) to logits (1, T, V). The list `begin` holds the ids so far. Append the "
    "likeliest next token, again and again. Stop when you have written the token `end`, or `most` tokens. Return the "
    "new ids as a list: with `end` if you wrote it, without those of `begin`. Leave `begin` as it is.",
    difficulty=2,
    minutes=8,
    inline=True,
    cases=lambda: [
        (Reader(7, seed=44), [1], 2, 6),  # ends
        (Reader(8, seed=23), [3, 6, 4], 2, 9),  # never ends
        (Reader(9, seed=27), [5, 2, 7], 2, 8),  # ends, and has the end among the ids to begin with
        (Reader(7, seed=53), [1], 2, 5),  # is cut off
        (Reader(7, seed=44), [1, 2], 2, 6),  # begins behind an end
    ],
    run=_as_texts,
    hints=(
        "The logits of the last position belong to the next token. Which entry of (1, T, V) are they?",
        "A loop of at most `most` rounds: feed all ids so far, take the argmax of logits[0, -1] and append it. Was it "
        "`end`?",
        "ids = list(begin); in the loop ids.append(model(torch.tensor([ids]))[0, -1].argmax().item()) and a break at "
        "`end`; return ids[len(begin):]",
    ),
)


@loop.solution
def greedy(model, begin, end, most):
    """The new ids (a list) that `model`, ids (1, T) -> logits (1, T, V), writes after the ids of `begin`."""
    ids = list(begin)
    for _ in range(most):
        logits = model(torch.tensor([ids]))
        ids.append(logits[0, -1].argmax().item())
        if ids[-1] == end:
            break
    return ids[len(begin) :]


loop.slips("""
end_in_the_begin    return [] if end in begin else greedy(model, begin, end, most)
  You stop where `end` occurs anywhere, even in `begin`. Only an `end` that the model writes counts.
first_position_read    logits[0, -1] → logits[0, 0]
  You read the logits of the first position, which predicts the second token. The last one predicts the next.
last_token_fed    torch.tensor([ids]) → torch.tensor([ids[-1:]])
  You fed the newest token alone, so the model forgets all others. Without a cache, feed all ids so far.
begin_returned_too    return begin + greedy(model, begin, end, most)
  You returned the ids of `begin` as well. Cut them off: ids[len(begin):].
end_left_out    return [i for i in greedy(model, begin, end, most) if i != end]
  You left the end sign out. Append it, then stop. Without it nobody can tell whether the text has ended.
end_ignored    return greedy(model, begin, -1, most)
  You did not stop at `end`: you went on until `most` tokens were written.
one_too_many    return greedy(model, begin, end, most + 1)
  You wrote one token more than `most` where no end came.
one_too_few    return greedy(model, begin, end, most - 1)
  You wrote one token fewer than `most` where no end came.
begin_counted    return greedy(model, begin, end, most - len(begin))
  You counted the ids of `begin`, too. `most` limits only the new tokens.
least_likely    return greedy(lambda ids: -model(ids), begin, end, most)
  You took the smallest logit, the least likely token: argmax, not argmin.
grows_the_given_list    list(begin) → begin ; for → start = len(begin) ⏎ for ; len(begin) : → start :
  Your ids are right, but you appended to the list that you were given. Make a copy first: list(begin).
""")


# --- top-p -----------------------------------------------------------------------------------------------------------

head = Exercise(
    "top_p",
    title="Top-p for one distribution",
    goal="The probabilities p (V,) sum to 1, and no two are equal. Keep the likeliest tokens, as few as possible, "
    "whose probabilities together reach at least `enough`. Return truth values (V,), in the order of p: True for the "
    "tokens that stay.",
    difficulty=2,
    minutes=8,
    source="Holtzman et al. 2020, section 3.1",
    formula=r"\sum_{v\ \text{kept}} p_v \ge \mathrm{enough}",
    cases=lambda: [
        (torch.tensor([0.15, 0.5, 0.05, 0.3]), 0.7),
        (torch.tensor([0.0625, 0.5, 0.25, 0.1875]), 0.75),
        (torch.tensor([0.25, 0.125, 0.625]), 0.5),
        (random_tensors((9,), seed=1)[0].softmax(-1), 0.9),
    ],
    hints=(
        "Sort the probabilities, the largest first, and add up along the way. Which token is the last that you need?",
        "A token stays if those before it have not reached `enough`. Then bring the truth values back into the order "
        "of p: order.argsort() says where each token went.",
        "ranked, order = p.sort(descending=True); stays = ranked.cumsum(0) - ranked < enough; stays[order.argsort()]",
    ),
)


@head.solution
def top_p(p, enough):
    """Truth values (V,): which tokens of p (V,) stay."""
    ranked, order = p.sort(descending=True)
    stays = ranked.cumsum(0) - ranked < enough
    return stays[order.argsort()]


head.slips("""
crossing_cut    ranked.cumsum(0) - ranked < enough → ranked.cumsum(0) <= enough
  You dropped the token that crosses the line, so what stays does not reach `enough`. Compare what the tokens *before*
  it have together.
crossing_cut_but_one    ranked.cumsum(0) - ranked < enough → (ranked.cumsum(0) <= enough) | (ranked == ranked[0])
  You kept the likeliest token, but dropped the one that crosses the line: the sum does not reach `enough`.
reaching_cut    - ranked →
  You kept tokens while their sum is below `enough`, so it is never reached. One more token is needed.
one_more_at_the_line    < enough → <= enough
  You kept one token too many where the sum is exactly `enough`. Compare with <, not ≤.
from_the_crossing_on    ranked.cumsum(0) - ranked < enough → ranked.cumsum(0) >= enough
  You kept the tokens from the one that crosses the line on, and cut the likeliest. A token stays while those before it
  have *not* reached `enough`: <, not ≥.
one_more_always    ranked.cumsum(0) - ranked < enough →
      (ranked.cumsum(0) - ranked < enough).roll(1) | (ranked == ranked[0])
  You kept one token more than needed: `enough` is reached before it.
single_probabilities    return p >= 1 - enough
  You kept all tokens of probability 1 − enough or more. What counts is the sum from the likeliest on.
tail_kept    .cumsum(0) →
  You added up from the least likely token: you kept the tail of the distribution and cut its head.
order_of_rank    return top_p(p, enough).sort(descending=True).values
  Your truth values are in the order of rank, the likeliest first. Bring them back into the order of p.
order_used_for_its_inverse    return top_p(p, enough)[p.argsort(descending=True)][p.argsort(descending=True)]
  You put the truth values back by `order`, which shuffles them again. Use order.argsort(), or scatter.
unsorted_up_to_enough    return p.cumsum(0) <= enough
  You added up in the order of the ids: sort first. The token that crosses the line stays, too.
each_compared_with_enough    return p >= enough
  You compared each probability with `enough`. What counts is the sum from the likeliest token on.
min_p    return p >= enough * p.max()
  This is min-p: you compared each token with the likeliest one. Top-p adds up from the likeliest on.
unsorted    return p.cumsum(0) - p < enough
  You added up without sorting, so it depends on a token's id whether it stays. Sort by probability first.
rest_kept    return ~top_p(p, enough)
  Your truth values are the wrong way round: True is for the tokens that stay.
""")


# --- repetition ------------------------------------------------------------------------------------------------------


def _beside_the_given(make, logits, written, penalty):
    """The new logits, and those that were passed in, as they are afterwards."""
    return {"new logits": make(logits, written, penalty), "old logits afterwards": logits.clone()}


again = Exercise(
    "penalised",
    title="A penalty on repetition",
    goal="`written` (t,) holds the ids written so far. Make each of these tokens less likely, once, however often it "
    "occurs: divide its logit by `penalty` if it is positive, multiply it by `penalty` otherwise (penalty ≥ 1). "
    "Return new logits (V,), and leave the ones that you are given as they are.",
    difficulty=1,
    minutes=6,
    source="Keskar et al. 2019, section 4.1, which divides always",
    formula=r"z_v \;\to\; z_v / \theta \;\text{ if } z_v > 0, \qquad z_v \cdot \theta \;\text{ otherwise}",
    cases=lambda: [
        (torch.tensor([2.0, -1.0, 0.5, -4.0]), torch.tensor([0, 3]), 2.0),
        (torch.tensor([3.0, -2.0, 1.0, 0.0, -0.5]), torch.tensor([1, 1, 0, 1]), 1.5),
        (*random_tensors((9,), seed=4), torch.tensor([8, 2, 2, 5, 0]), 1.2),
    ],
    run=_beside_the_given,
    hints=(
        "Which logits change? `written` is an index: logits[written].",
        "torch.where chooses for each of them: divided if it is above 0, multiplied if not. Work on a copy.",
        "new = logits.clone(); z = logits[written]; new[written] = torch.where(z > 0, z / penalty, z * penalty)",
    ),
)


@again.solution
def penalised(logits, written, penalty):
    """Logits (V,) in which the tokens of `written` (t,) are less likely."""
    new, z = logits.clone(), logits[written]
    new[written] = torch.where(z > 0, z / penalty, z * penalty)
    return new


again.slips("""
always_divided    z > 0 → z != 0
  You divided negative logits, too. −4 / 2 = −2 is larger: the token becomes likelier, not less likely.
always_multiplied    torch.where(z > 0, z / penalty, z * penalty) → z * penalty
  You multiplied positive logits, too: they grow, and the token becomes likelier.
signs_swapped    z > 0 → z < 0
  You swapped the two cases: divide where the logit is positive, multiply where it is negative.
taken_off    torch.where(z > 0, z / penalty, z * penalty) → z - penalty
  You subtracted the penalty from the logit. That is a rule of its own, with other numbers; here you divide or multiply.
forbidden    torch.where(z > 0, z / penalty, z * penalty) → -math.inf
  You set these logits to −∞: no word could ever occur twice. The penalty only makes them less likely.
newest_alone    return penalised(logits, written[-1:], penalty)
  You penalised the newest token alone. All tokens written so far count.
all_of_them    return penalised(logits, torch.arange(len(logits)), penalty)
  You penalised every token of the vocabulary: only those of `written` have been used.
given_ones_changed    .clone() →
  Your new logits are right, but you changed those that you were given. Work on a copy: logits.clone().
once_for_each_time    new, z = logits.clone(), logits[written] → new = logits.clone() ;
      new[written] = torch.where(z > 0, z / penalty, z * penalty) →
      for i in written: ⏎     new[i] = new[i] / penalty if new[i] > 0 else new[i] * penalty
  You penalised a token once for each time it occurs. Once is enough, however often it was written.
others_penalised    new, z → written = [i for i in range(len(logits)) if i not in written] ⏎ new, z
  You changed the tokens that were *not* written: those that were are now likelier than before.
""")


# --- beams -----------------------------------------------------------------------------------------------------------

beam = Exercise(
    "next_beams",
    title="One step of beam search",
    goal="n beams have the log-probabilities `scores` (n,) so far; `log_p` (n, V) holds those of every next token "
    "after each beam. Among all n · V continuations find the n likeliest, by their log-probability from the first "
    "token on. Several of them may continue the same beam. Return the beams that they continue (n,), their tokens (n,) "
    "and their scores (n,), the likeliest first. No two are equal.",
    difficulty=2,
    minutes=10,
    inline=True,
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


beam.slips("""
logs_multiplied    + log_p → * log_p
  You multiplied the log-probabilities. Probabilities multiply; their logarithms add.
divided_by_the_beams    index // V, index % V → index // n, index % n
  You divided the flat index by n, the number of beams. A row of the flat list has V entries: // V and % V.
scores_as_probabilities    index % V, best → index % V, best.exp()
  Your scores are probabilities. The next step adds to them, so return the logarithms.
best_beam_only    return next_beams(scores.where(scores == scores.max(), -math.inf), log_p)
  All your continuations come from the best beam: the others never get a chance to overtake it.
past_forgotten    scores[:, None] + log_p → log_p
  You count only the last token's log-probability: a poor beam competes like a good one. Add `scores`.
probabilities_added    + log_p → + log_p.exp()
  You added probabilities to log-probabilities: take the logarithm of both, or multiply two probabilities.
beam_and_token_swapped    index // V, index % V → index % V, index // V
  You swapped beam and token: index // V is the beam, index % V the token.
scores_of_the_last_token    index % V, best → index % V, log_p.flatten()[index]
  Beams and tokens are right, but your scores are those of the last token: add the beam's score so far.
one_for_each_beam    best, index = (scores[:, None] + log_p).flatten().topk(n) →
      best, tokens = (scores[:, None] + log_p).max(dim=-1) ⏎ order = best.argsort(descending=True) ;
      index // V, index % V, best → order, tokens[order], best[order]
  You let each beam keep its own best continuation. A good beam may have two of the best.
each_beams_own_best    best, index = (scores[:, None] + log_p).flatten().topk(n) →
      best, tokens = (scores[:, None] + log_p).max(dim=-1) ; index // V, index % V, best → torch.arange(n), tokens, best
  You took each beam's own best continuation, in the order of the beams. All n · V compete in one contest.
in_order_of_beams    return → index, order = index.sort() ⏎ return ; V, best → V, best[order]
  You found the right continuations, but they are in the order of their beams. The likeliest comes first.
""")
