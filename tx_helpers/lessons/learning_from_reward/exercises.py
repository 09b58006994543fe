"""Exercises on learning from reward, for the notebook's end, and its quiz. Those within it: exercises_inline."""

import math

import torch

from tx_helpers.exercises.exercise import Exercise, random_tensors
from tx_helpers.exercises.quizzes import questions

# --- right at k, over many problems ----------------------------------------------------------------------------------


def chance(n, c, k):
    """Step 1's result: the chance that at least one of k answers is right, where c of n are."""
    return 1 - math.comb(n - c, k) / math.comb(n, k)


def _table(seed, problems, n):
    """Right or not (P, n), where some problems are harder than others."""
    share, draw = random_tensors((problems, 1), (problems, n), seed=seed)
    return draw < share - 0.6


averaging = Exercise(
    "right_at_k_step2",
    title="Right at k without bias, step 2 of 2",
    goal="`right` (P, n) says for each of P problems which of the model's n answers are right. `at_k(n, c, k)` is "
    "step 1. "
    "Return a list with a number for each k of the list `ks`, in its order: the mean over the problems of the chance "
    "that one of k answers is right.",
    difficulty=2,
    minutes=8,
    source="Chen et al. 2021, section 2.1",
    cases=lambda: [
        (torch.tensor([[1, 0, 0, 0], [1, 1, 1, 0]]).bool(), [1, 2, 4], chance),
        (_table(71, 7, 8), [1, 2, 4, 8], chance),
        (_table(72, 12, 16), [8, 1, 3], chance),
    ],
    hints=(
        "Two loops: over ks, and inside it over the problems, whose c is the number of right answers in their row.",
        "right.sum(1).tolist() gives all c; n is right.shape[1].",
        "[sum(at_k(n, c, k) for c in counts) / len(counts) for k in ks]",
    ),
)


@averaging.solution
def right_at_k_step2(right, ks, at_k):
    """Mean chance, for each k of ks, that one of k answers is right; right (P, n), at_k(n, c, k) as in step 1."""
    n, counts = right.shape[1], right.sum(1).tolist()
    return [sum(at_k(n, c, k) for c in counts) / len(counts) for k in ks]


averaging.slips("""
one_large_problem    right.shape[1], right.sum(1).tolist() → right.numel(), [int(right.sum())]
  You counted all right answers together, as if they belonged to one problem. An easy problem then solves the hard ones.
mean_share_first    right.sum(1).tolist() → [round(right.sum(1).float().mean().item())]
  You averaged the counts first and asked at_k about the mean problem. The curve is bent, so the mean of the chances is
  another number.
first_k_alone    sum(at_k(n, c, k) for c in counts) / len(counts) → right[:, :k].any(1).float().mean().item()
  You looked whether one of the first k answers is right. That is right on average, and uses only k of the n answers:
  far more noise than needed.
first_problem_alone    for c in counts) / len(counts) → for c in counts[:1])
  You returned the first problem's numbers. The mean runs over all P.
best_problem    sum(at_k(n, c, k) for c in counts) / len(counts) → max(at_k(n, c, k) for c in counts)
  You took the best problem's number in place of the mean.
middle_problem    sum(at_k(n, c, k) for c in counts) / len(counts) → at_k(n, sorted(counts)[(len(counts) - 1) // 2], k)
  You took the median over the problems. The quantity asked for is the mean.
added_up    / len(counts) →
  You added up the problems' chances, and did not divide by their number.
axes_exchanged    right.shape[1], right.sum(1) → right.shape[0], right.sum(0) ; [sum(at_k(n, → [sum(at_k(max(n, k),
  You counted along the problems, sum(0), in place of along the answers, sum(1).
always_one    sum(at_k(n, c, k) for c in counts) / len(counts) → right.float().mean().item()
  You used k = 1 for every entry: the curve is flat.
sorted    return right_at_k_step2(right, [*sorted(ks)[1:], min(ks)], at_k)
  Your numbers are those of sorted ks, or of another order. They have to stand in the order of `ks`.
""")


# --- samples used twice ----------------------------------------------------------------------------------------------


def _gain_and_gradient(answer, log_p, old_log_p, advantages, clip):
    """The gains, and the push that they give to each token: the gradient of their sum with respect to log_p."""
    log_p = log_p.clone().requires_grad_()
    gain = answer(log_p, old_log_p, advantages, clip)
    if not (isinstance(gain, torch.Tensor) and gain.requires_grad):
        return {"gain": gain, "gradient": torch.zeros_like(log_p)}
    return {"gain": gain, "gradient": torch.autograd.grad(gain.sum(), log_p)[0]}


def _moved(seed, size):
    """ln p before and after some steps, and advantages."""
    old, step, advantages = random_tensors((4, size), (4, size), (4,), seed=seed)
    old = -old.abs() - 0.1
    return old + 0.3 * step, old, advantages


clipping = Exercise(
    "clipped_step",
    title="Samples used twice",
    goal="N answers were written by an older model, which gave their tokens `old_log_p` (N, T). The model of now gives "
    "`log_p` (N, T). Return the gain of each token (N, T): with the ratio ρ = p / p_old and the advantage A of its "
    "answer, the smaller of ρ A and of ρ A with ρ held between 1 − clip and 1 + clip. Keep the path of the gradient "
    "through log_p: it is checked, too.",
    difficulty=2,
    minutes=10,
    source="Schulman et al. 2017, equation 7",
    formula=r"\min\bigl(\rho A,\ \mathrm{clip}(\rho, 1-\epsilon, 1+\epsilon)\, A\bigr),\quad \rho = p / p_{\text{old}}",
    run=_gain_and_gradient,
    cases=lambda: [
        (
            torch.tensor([[-1.0, -1.0, -1.0], [-1.0, -1.0, -1.0]]),
            torch.tensor([[-1.0, -1.5, -0.5], [-1.0, -1.5, -0.5]]),
            torch.tensor([2.0, -1.0]),
            0.2,
        ),
        (*_moved(73, 6), 0.2),
        (*_moved(74, 5), 0.1),
    ],
    hints=(
        "You have logarithms: p / p_old is the exp of a difference.",
        "ratio.clamp(1 - clip, 1 + clip) holds it. The advantages need a second axis: advantages[:, None].",
        "torch.minimum(ratio * A, ratio.clamp(1 - clip, 1 + clip) * A)",
    ),
)


@clipping.solution
def clipped_step(log_p, old_log_p, advantages, clip):
    """Gain (N, T) of each token, from ln p now and before (N, T) and the answers' advantages (N,)."""
    ratio = (log_p - old_log_p).exp()
    held = ratio.clamp(1 - clip, 1 + clip)
    A = advantages[:, None]
    return torch.minimum(ratio * A, held * A)


clipping.slips("""
min_forgotten    torch.minimum(ratio * A, held * A) → held * A
  You always hold the ratio. Where a token has already moved the wrong way, nothing then pulls it back: take the smaller
  of the two.
larger_of_the_two    torch.minimum → torch.maximum
  You took the larger of the two gains. The clip is there to stop a step that goes too far: the smaller one.
never_held    clip, →
  You never hold the ratio: on samples that are used often, single tokens run away.
exp_forgotten    .exp() →
  Your ratio is a difference of logarithms. It becomes p / p_old by exp.
ratio_upside_down    log_p - old_log_p → old_log_p - log_p
  Your ratio is p_old / p. Then the gain falls where a good token becomes likelier.
quotient_of_logarithms    (log_p - old_log_p).exp() → log_p / old_log_p
  You divided ln p by ln p_old. The ratio is that of the probabilities.
old_left_out    - old_log_p →
  You used p itself as the ratio: the model that wrote the answers is missing.
clip_before_the_sign    torch.minimum(ratio * A, held * A) → torch.minimum(ratio, held) * A
  You chose the smaller ratio first and multiplied by A afterwards. For a negative advantage that is the larger gain:
  multiply, then compare.
gain_clipped    held * A → (ratio * A).clamp(1 - clip, 1 + clip)
  You held the product ρ A between 1 − clip and 1 + clip. It is the ratio alone that is held.
no_gradient    exp() → exp().detach()
  Your numbers are right, but no gradient reaches log_p: the ratio was detached, or made under no_grad. Only the old
  probabilities and the advantages are constants.
no_advantages    return clipped_step(log_p, old_log_p, torch.ones_like(advantages), clip)
  The advantages are missing: each answer is pushed alike.
""")


# --- how far from the base model -------------------------------------------------------------------------------------

leaving = Exercise(
    "kl_k3",
    title="How far from the base model?",
    goal="The model has drawn tokens, and gave them `log_p` (N, T); the base model would have given them "
    "`reference_log_p` (N, T). Return for each token an estimate of the distance KL(model ‖ base): eᵈ − d − 1, where d "
    "is what the base model's ln p is above the model's own. On average over drawn tokens it is the KL itself, and it "
    "is never negative.",
    difficulty=1,
    minutes=5,
    source="Schulman 2020, 'Approximating KL divergence', k3; Shao et al. 2024, equation 4",
    formula=r"e^{d} - d - 1,\quad d = \ln p_{\text{base}} - \ln p",
    cases=lambda: [
        (torch.tensor([[-1.0, -2.0, -0.5]]), torch.tensor([[-1.0, -1.0, -2.5]])),
        tuple(-part.abs() for part in random_tensors((3, 5), (3, 5), seed=75)),
        tuple(-2 * part.abs() for part in random_tensors((4, 6), (4, 6), seed=76)),
    ],
    hints=(
        "First d, the difference of the two logarithms. Which one is subtracted?",
        "Where the base model finds a token likelier than the model does, d is positive.",
        "d = reference_log_p - log_p, then d.exp() - d - 1",
    ),
)


@leaving.solution
def kl_k3(log_p, reference_log_p):
    """Estimate (N, T) of KL(model ‖ base) from tokens of the model: ln p (N, T) of both."""
    d = reference_log_p - log_p
    return d.exp() - d - 1


leaving.slips("""
turned_round    return kl_k3(reference_log_p, log_p)
  Your d has the wrong sign. Then the estimate is no longer right on average for tokens of the model.
difference_alone    d.exp() → 1
  You returned ln p − ln p_base (k1). It is right on average, too, but far noisier, and it is negative for many tokens.
half_the_square    d.exp() - d - 1 → d**2 / 2
  You returned d²/2 (k2). It is never negative, but not right on average.
one_forgotten    d - 1 → d
  The 1 is missing: for equal models, d = 0, the distance has to be 0.
d_forgotten    d - →
  The term −d is missing. Without it the estimate is eᵈ − 1, whose mean over drawn tokens is 0 for any model.
exp_left_out    .exp() →
  The exp is missing: d − d − 1 is −1 everywhere.
absolute_value    d.exp() - d - 1 → d.abs()
  You took |d|. It is never negative, but its mean over drawn tokens is not the KL.
plus_d    d - 1 → -d - 1
  The sign of the middle term is wrong: eᵈ − d − 1 touches 0 at d = 0, eᵈ + d − 1 crosses it.
of_the_probabilities    return kl_k3(log_p.exp(), reference_log_p.exp())
  You used p in place of ln p for d. d is a difference of logarithms.
""")


QUIZ = questions("""
All 16 answers to a problem are right. What does this group do to the model?
  * Nothing: every advantage is 0 | None is better than its group, so nothing is pushed.
  - It makes all 16 answers much likelier | Each would have to be better than the mean of all 16.
  - It divides by 0, and the update is lost | 0.0001 is added to the deviation; 0 / 0.0001 is 0.
Why does a baseline not change the direction of learning on average?
  - It is small | It may be as large as you like: 1000 does no harm to the average either.
  * The gradient of ln p is 0 on average | Σ p · ∇ ln p = ∇ Σ p = ∇ 1 = 0, and a constant times 0 is 0.
  - The optimizer divides it out again | Nothing is divided; the average is right before the step.
n = 4 answers were drawn, one of them is right. What is right at 4, without bias?
  - 1 − (3/4)⁴ ≈ 0.68 | That puts each answer back: the right one may be missed four times.
  - 1/4 | That is right at 1.
  * 1 | All 4 are taken, and the right one is among them.
A token's advantage is positive, and its ratio is already 1.5 with clip = 0.2. What does the next step do to it?
  - It pushes it further up | The smaller of 1.5 A and 1.2 A is 1.2 A: a constant, without a gradient.
  * It does not push it | min(1.5 A, 1.2 A) = 1.2 A does not depend on it.
  - It pushes it down again, towards a ratio of 1 | A clip stops a push. It does not pull back.
The loss averages each answer over its tokens first. What can that do to the length of wrong answers?
  * They grow | Spread over more tokens, the same punishment is lighter for each.
  - They shrink | A short wrong answer gets the full punishment on few tokens.
  - Nothing | The length divides what each token gets.
Reward rises, the share that a strict checker calls right falls. What do you do first?
  - Train on | The model gets better at the reward, which no longer measures what you want.
  - Lower the learning rate, so that the reward rises more slowly | It would arrive there later.
  * Read answers with a high reward | They show the hole that the model has found.
Why is the token that ends an answer among those that are pushed?
  - The checker has to see it | The checker sees the text whatever is pushed.
  * The model wrote it: stopping is a choice | Left out, nothing teaches it when to stop.
  - Without it, the number of tokens would be odd | The number of tokens does not matter.
""")
