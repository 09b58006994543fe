"""Exercises that stand inside the notebook: a checker, the push on one choice, right at k."""

import math

import torch

from tx_helpers.exercises.exercise import Exercise, random_tensors

# --- a checker -------------------------------------------------------------------------------------------------------

TEXTS = (
    "271828=A8.",
    "271828=290808A8.",
    "271828=A7.",
    "271828=8.",
    "271828=A8",
    "271828=A18.",
    "271828=A28.",
    "271828=A0A1A8.",
    "271828=A8A3.",
    "271828=A8A",
    "271828=123456A8.",
    "271828=2=9A8.",
    "271828=8A.",
    "271828=A8.123.",
    "11=A2.7",
    "000000=A0.",
    "999997=A2.",
    "271828=",
)

checking = Exercise(
    "is_right",
    inline=True,
    title="A checker without a hole",
    goal="`text` holds a problem of digits, the sign '=', and what the model wrote behind it, as in "
    "'271828=290808A8.'. "
    "The answer is right if what the model wrote has exactly one 'A', and ends in 'A', the last digit of the sum of "
    "the "
    "problem's digits, and a full stop. What stands between '=' and 'A' is free: steps, wrong steps, even another '='. "
    "Return True or False.",
    difficulty=1,
    minutes=6,
    cases=lambda: [(text,) for text in TEXTS],
    hints=(
        "Cut the text at its first '=', then work out how the answer has to end.",
        "The last digit of a sum is sum(…) % 10. `problem, _, written = text.partition('=')` cuts at the first '='.",
        "written.endswith(f'A{digit}.') and written.count('A') == 1",
    ),
)


@checking.solution
def is_right(text):
    """Is the answer in `text` right? For example '271828=290808A8.'."""
    problem, _, written = text.partition("=")
    digit = sum(map(int, problem)) % 10
    return written.endswith(f"A{digit}.") and written.count("A") == 1


checking.slips("""
anywhere    return f"A{_parts(text)[0]}" in _parts(text)[1]
  You accept 'A8' anywhere in the answer. A model that writes 'A8A3.', or every digit in turn, gets its reward without a
  sum.
stop_anywhere    return f"A{_parts(text)[0]}." in text
  You look for 'A8.' anywhere, so 'A0A1A8.' passes, and so does 'A8.123.': it goes on behind its full stop. Ask for the
  end, and count the 'A's.
more_behind_the_stop    return f"A{_parts(text)[0]}." in text and text.count("A") == 1
  You count the 'A's, but accept 'A8.' anywhere: 'A8.123.' goes on behind its full stop. Ask that the text ends there.
several_answers    written.count("A") == 1 → True
  You look at the end alone, so 'A0A1A8.' passes. Whoever may try several answers need not know one: count the 'A's.
digit_alone    return _parts(text)[1].endswith(f"{_parts(text)[0]}.") and _parts(text)[1].count("A") < 2
  You look at the last digit and the full stop alone. '8.' has no 'A', and 'A18.' is another number.
without_the_end    return _parts(text)[1].rstrip(".").endswith(f"A{_parts(text)[0]}") and text.count("A") == 1
  You do not ask for the full stop. Then nothing rewards a model for stopping, and its answers are cut off.
first_answer    = _first_answer
  You read the digit behind the first 'A' and nothing after it: 'A8A3.' passes, and so does 'A8' without an end.
whole_sum    sum(map(int, problem)) % 10 → sum(map(int, problem))
  You compare with the whole sum, 28. The task asks for its last digit, 8: take the sum modulo 10.
last_digit_of_the_problem    return _parts(text)[1].endswith(f"A{text.partition('=')[0][-1]}.") and text.count("A") == 1
  You compare with the last digit of the problem itself. It has to be the last digit of the sum.
digit_then_sign    return _parts(text)[1].endswith(f"{_parts(text)[0]}A.") and text.count("A") == 1
  You look for the digit in front of the 'A'. The answer is what stands behind it.
steps_checked    = _steps_too
  You also demand that the steps are right. That is a reward for the process; here the outcome alone counts.
answer_at_once    return _parts(text)[1] == f"A{_parts(text)[0]}."
  You accept only answers without steps. An answer that writes its sums down first is right, too.
always    return True
  Everything passes. Where all answers get the same reward, none is better than its group: nothing is learned.
""")


def _parts(text):
    """The last digit of the sum, and what the model wrote."""
    problem, _, written = text.partition("=")
    return sum(map(int, problem)) % 10, written


def _first_answer(text):
    digit, written = _parts(text)
    return written.partition("A")[2][:1] == str(digit)


def _steps_too(text):
    digit, written = _parts(text)
    sums, total = "", 0
    for one in text.partition("=")[0]:
        total += int(one)
        sums += str(total % 10)
    return written in (f"A{digit}.", f"{sums}A{digit}.")


# --- the push on one choice ------------------------------------------------------------------------------------------

pushing = Exercise(
    "score",
    inline=True,
    title="Which way makes this choice likelier?",
    goal="A model has `logits` z (V,) and has drawn the choice `action`, a number from 0 to V − 1. Return the gradient "
    "(V,) of ln p(action) with respect to the logits, where p = softmax(z). Write the formula; no autograd is needed.",
    difficulty=1,
    minutes=5,
    source="Williams 1992, section 4",
    formula=r"\frac{\partial \ln p_a}{\partial z_v} = [v = a] - p_v",
    cases=lambda: [
        (torch.tensor([0.0, 1.0, 2.0]), 2),
        (2 * random_tensors((5,), seed=61)[0], 0),
        (3 * random_tensors((8,), seed=62)[0], 5),
    ],
    hints=(
        "ln p(action) = z[action] − ln Σ exp(z). What does each logit do to these two terms?",
        "The first term gives a 1 at `action`; the second takes p away everywhere.",
        "gradient = −softmax(z), then add 1 at `action`",
    ),
)


@pushing.solution
def score(logits, action):
    """Gradient (V,) of ln softmax(logits)[action] with respect to the logits (V,)."""
    gradient = -logits.softmax(-1)
    gradient[action] += 1
    return gradient


pushing.slips("""
against    return → return -
  Your signs are turned round: this direction makes the drawn choice less likely. (It is the gradient of the loss −ln
  p.)
choice_alone    return _one_hot(logits, action) * (1 - logits.softmax(-1))
  You push the drawn choice alone. All p add up to 1, so the others have to give something up.
full_push    = _one_hot
  You return 1 at the choice and 0 elsewhere. The nearer p comes to 1, the less is left to push: subtract p.
others_alone    return -logits.softmax(-1)
  The 1 at the drawn choice is missing: your push lowers all logits, the choice's among them.
of_the_probability    return logits.softmax(-1)[action] * (_one_hot(logits, action) - logits.softmax(-1))
  That is the gradient of p itself. It has a factor p, so a rare choice would hardly move; ln p has none.
logits_for_probabilities    .softmax(-1) →
  You subtracted the logits. They are no probabilities yet: softmax comes first.
logarithms_subtracted    .softmax → .log_softmax
  You subtracted ln p. The derivative of ln Σ exp(z) is p, without a logarithm.
even_share    return _one_hot(logits, action) - 1 / len(logits)
  You took the same from every choice, 1/V. Each gives as much as it has: p.
""")


def _one_hot(logits, action):
    return torch.nn.functional.one_hot(torch.tensor(action), len(logits)).float()


# --- right at k ------------------------------------------------------------------------------------------------------

drawing = Exercise(
    "right_at_k_step1",
    inline=True,
    title="Right at k without bias, step 1 of 2",
    goal="To one problem the model has written n answers, of which c are right. Somebody takes k of these n at random, "
    "without putting any back. How likely is it that at least one of them is right? Return this number, from 0 to 1.",
    difficulty=2,
    minutes=8,
    source="Chen et al. 2021, section 2.1",
    formula=r"1 - \binom{n-c}{k} \Big/ \binom{n}{k}",
    cases=lambda: [(4, 1, 2), (10, 3, 1), (10, 3, 4), (16, 2, 8), (6, 4, 3), (5, 0, 2), (64, 5, 16)],
    hints=(
        "Turn it round: how likely is it that all k are wrong?",
        "There are C(n, k) ways to take k of n, and C(n − c, k) of them take wrong ones alone.",
        "math.comb(n, k) counts them; it is 0 where k is larger than n.",
    ),
)


@drawing.solution
def right_at_k_step1(n, c, k):
    """The chance that at least one of k answers is right, where c of n are."""
    return 1 - math.comb(n - c, k) / math.comb(n, k)


drawing.slips("""
put_back    return 1 - (1 - c / n) ** k
  1 − (1 − c/n)ᵏ puts each answer back before the next is taken. It is too small on average, most of all where k is near
  n.
all_right    1 - math.comb → math.comb ; n - →
  You counted the ways in which all k are right. One right answer is enough.
all_wrong    1 - math.comb → math.comb
  You returned the chance that all k are wrong. Subtract it from 1.
share    return c / n
  You returned c / n, which is the answer for k = 1 alone.
times_k    return min(1.0, k * c / n)
  You multiplied the share by k. Two right answers among the k would count twice.
exactly_one    return c * math.comb(n - c, k - 1) / math.comb(n, k)
  You counted the ways with exactly one right answer. Two or more are as good.
any_at_all    return float(c > 0)
  You asked whether there is a right one among all n, or // rounded your quotient down. It also has to be among the k.
right_for_wrong    n - →
  You exchanged right and wrong: this is the chance that at least one of the k is wrong.
""")
