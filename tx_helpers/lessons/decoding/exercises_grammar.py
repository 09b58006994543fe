"""Two exercises that stand inside the notebook: what a grammar allows next, and greedy decoding that obeys it."""

from collections.abc import Callable
from dataclasses import dataclass

import torch

from tx_helpers.exercises.compare import as_mask
from tx_helpers.exercises.exercise import Exercise
from tx_helpers.lessons.decoding.exercises_inline import Reader

DATES = {0: {4: 1, 5: 2}, 1: {6: 2, 2: 3}, 2: {4: 1, 2: 3}, 3: {}}  # 2 is the end
TREE = {0: {1: 1, 3: 4}, 1: {0: 2, 3: 3}, 2: {5: 3}, 3: {2: 5}, 4: {2: 5, 0: 3, 1: 1}, 5: {}}

# --- step 1 ----------------------------------------------------------------------------------------------------------


def _mask(answer: Callable, grammar: dict, written: list[int], V: int) -> object:
    return as_mask(answer(grammar, list(written), V))


allowing = Exercise(
    "allowed",
    title="A writer with a grammar, step 1 of 2",
    goal="In a grammar, `grammar[3] = {7: 4}` says that in state 3 only token 7 may come, and that it leads to state "
    "4. Each text begins in state 0. Which tokens may come after those of the list `written`? Return truth values "
    "(V,). If `written` itself breaks the grammar, nothing may come.",
    difficulty=2,
    minutes=8,
    inline=True,
    run=_mask,
    cases=lambda: [
        (DATES, [5, 4], 7),
        (DATES, [], 7),
        (DATES, [4, 2], 8),
        (DATES, [4, 4], 7),
        (TREE, [3, 1, 0], 6),
        (TREE, [1, 0, 5], 7),
    ],
    hints=(
        "Where are you after the first token? And after the second? Walk from state to state.",
        "state = 0; for token in written: state = grammar[state][token]. If the token is not in grammar[state], stop.",
        "Begin with mask = torch.zeros(V, dtype=torch.bool), and set mask[token] = True for each token in "
        "grammar[state].",
    ),
)


@allowing.solution
def allowed(grammar, written, V):
    """Truth values (V,): which tokens may come after `written`."""
    mask = torch.zeros(V, dtype=torch.bool)
    state = 0
    for token in written:
        if token not in grammar[state]:
            return mask
        state = grammar[state][token]
    mask[list(grammar[state])] = True
    return mask


allowing.slips("""
always_the_beginning    return torch.tensor([token in grammar[0] for token in range(V)])
  You looked at state 0 whatever was written. Walk through `written` first, one state for each token.
one_step_behind    return allowed(grammar, written[:-1], V)
  You stopped one token too early: these tokens were allowed in place of the last one of `written`.
newest_token_alone    return allowed(grammar, written[-1:], V)
  You walked only with the newest token, from state 0. What may come depends on the whole text so far.
forbidden_ones    return ~allowed(grammar, written, V)
  Your truth values are the wrong way round: True is for the tokens that may come.
forbidden_ones_of_sound_texts    return allowed(grammar, written, V) ^ (not _broken(grammar, written, V))
  Your truth values are the wrong way round where `written` obeys the grammar: True is for tokens that may come.
anything_in_the_grammar    return torch.tensor([any(token in arrows for arrows in grammar.values()) for token in
      range(V)])
  You allowed each token that occurs anywhere in the grammar. Only those of the present state may come.
states_for_tokens    list(grammar[state]) → list(grammar[state].values())
  You read the states that a state leads to as tokens. In {token: state}, the keys are the tokens.
wrong_tokens_skipped    if token not in → if token in ; return mask ⏎ state = grammar[state][token] →
      state = grammar[state][token]
  You went on in a state as if a wrong token had not come. After a broken text nothing is allowed.
tokens_of_the_whole_way    if token → mask[list(grammar[state])] = True ⏎ if token ; mask[list(grammar[state])] = True ⏎
      return mask → mask[list(grammar[state])] = True ⏎ return mask
  You allowed the tokens of all states that you walked through. Only the last state's may come next.
""")


def _broken(grammar, written, V):
    return any(not allowed(grammar, written[:n], V)[token] for n, token in enumerate(written))


# --- step 2 ----------------------------------------------------------------------------------------------------------


def _as_text(write: Callable, model, begin, end, most, may_come) -> str:
    ids = torch.as_tensor(write(model, list(begin), end, most, may_come)).flatten().tolist()
    return " ".join(f"{i:g}" for i in ids)


@dataclass(frozen=True)
class Rule:
    """Step 1 for one grammar: the new ids so far -> truth values (V,)."""

    grammar: dict
    V: int

    def __call__(self, written: list[int]) -> object:
        return allowed(self.grammar, written, self.V)


writing = Exercise(
    "constrained",
    title="A writer with a grammar, step 2 of 2",
    goal="Write greedily as in `greedy`, but choose only among the tokens that may come. `may_come(written)` is your "
    "step 1 for one grammar: from the list of new ids, without those of `begin`, it makes truth values (V,). Stop "
    "after `end`, or after `most` tokens, and return the new ids.",
    difficulty=2,
    minutes=10,
    inline=True,
    run=_as_text,
    cases=lambda: [
        (Reader(7, seed=44), [1], 2, 6, Rule(DATES, 7)),
        (Reader(6, seed=4), [3, 0], 2, 9, Rule(TREE, 6)),
        (Reader(7, seed=15), [5, 4], 2, 5, Rule(DATES, 7)),
        (Reader(6, seed=8), [1], 2, 8, Rule(TREE, 6)),
        (Reader(7, seed=5), [2, 3], 2, 4, Rule(DATES, 7)),
        (Reader(6, seed=4), [3, 0], 2, 3, Rule(TREE, 6)),  # is cut off
        (Reader(7, seed=44, scale=200.0), [1], 2, 6, Rule(DATES, 7)),  # sure of a forbidden token
    ],
    hints=(
        "Take your greedy loop. One line comes between the logits and the argmax.",
        "A token that may not come gets the logit −∞: logits.masked_fill(~may_come(written), float('-inf')).",
        "written = []; in the loop: logits = model(torch.tensor([[*begin, *written]]))[0, -1], then the mask, then "
        "written.append(…argmax().item()), and a break at `end`.",
    ),
)


@writing.solution
def constrained(model, begin, end, most, may_come):
    """The new ids (a list) that `model` writes after `begin`, each of them one that `may_come`."""
    written = []
    for _ in range(most):
        logits = model(torch.tensor([[*begin, *written]]))[0, -1]  # (V,)
        written.append(logits.masked_fill(~may_come(written), float("-inf")).argmax().item())
        if written[-1] == end:
            break
    return written


writing.slips("""
unconstrained    .masked_fill(~may_come(written), float("-inf")) →
  You did not use `may_come`: this is what plain greedy decoding writes.
multiplied    logits.masked_fill(~may_come(written), float("-inf")) → (logits * may_come(written))
  You multiplied the logits by the mask. A forbidden token then has the logit 0, which beats a negative one. Set it to
  −∞.
probabilities_multiplied    logits.masked_fill(~may_come(written), float("-inf")) →
      (logits.softmax(-1) * may_come(written))
  You multiplied the softmax by the mask. Where the model is sure, all allowed probabilities round to 0. Set forbidden
  logits to −∞.
mask_of_the_beginning    may_come(written) → may_come([])
  You asked `may_come` once, before the loop. The answer changes with each token that is written.
begin_asked_too    may_come(written) → may_come([*begin, *written])
  You gave `begin` to `may_come` as well. The grammar only knows the new ids.
forbidden_chosen    ~may_come → may_come
  You masked the tokens that may come, and chose among the forbidden ones. Use ~ before the mask.
begin_returned_too    return [*begin, *constrained(model, begin, end, most, may_come)]
  You returned the ids of `begin` as well. Return only the new ones.
end_not_written    return [token for token in constrained(model, begin, end, most, may_come) if token != end]
  Your text has no end sign. Append it, too, and then stop.
first_allowed    logits.masked_fill(~may_come(written), float("-inf")) → may_come(written).int()
  You took the first token that may come, whatever the model says. Take the likeliest of them.
stops_at_a_forbidden_token    written.append( → if not may_come(written)[logits.argmax()]: ⏎     break ⏎ written.append(
  You stopped where the likeliest token is forbidden. Take the likeliest of those that may come.
cleaned_afterwards    .masked_fill(~may_come(written), float("-inf")) → ; return written → sound = [] ⏎
      for token in written: ⏎     sound += [token] * bool(may_come(sound)[token]) ⏎ return sound
  You wrote freely and removed the forbidden tokens afterwards. Each choice changes what comes after it.
""")
