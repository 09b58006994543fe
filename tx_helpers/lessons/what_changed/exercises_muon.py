"""The exercise that builds Muon, in two steps: Newton–Schulz, and the optimizer's step with it."""

import math

import torch

from tx_helpers.exercises.exercise import Exercise, random_tensors

# --- step 1: Newton–Schulz -------------------------------------------------------------------------------------------


def _stretched(rows, columns, seed):
    """A matrix (rows, columns) whose singular values fall from 1.5 to 0.15."""
    one, other = random_tensors((rows, rows), (columns, columns), seed=seed)
    left, right = (torch.linalg.qr(x)[0] for x in (one, other))
    count = min(rows, columns)
    return left[:, :count] @ torch.diag(torch.linspace(1.5, 0.15, count)) @ right[:count]


def _iterated(answer, G):
    """The answer's result; an empty one where it multiplies matrices that do not fit each other."""
    try:
        return answer(G)
    except RuntimeError as error:
        if "cannot be multiplied" not in str(error):
            raise
        return torch.zeros(0)


iteration = Exercise(
    "newton_schulz",
    title="Muon, step 1 of 2",
    goal="G (rows, columns) is a gradient. Bring its singular values near 1, without a decomposition: begin with X = G "
    "divided by its norm, the root of the sum of all squares. Then replace X five times by the polynomial below, with "
    "a = 3.4445, b = −4.7750, c = 2.0315. Return X (rows, columns).",
    formula=r"X \leftarrow a X + \bigl(b\,A + c\,A A\bigr) X, \qquad A = X X^\top",
    difficulty=2,
    minutes=6,
    source="Jordan et al. 2024",
    inline=True,
    cases=lambda: [
        (torch.tensor([[0.8, 0.0], [0.0, 0.2]]),),
        (_stretched(5, 3, 62),),
        (_stretched(3, 6, 63),),
    ],
    run=_iterated,
    picture=True,
    hints=(
        "Five lines: the division, the loop, A, the new X, and the return.",
        "G.norm() is the norm of the whole matrix. A belongs inside of the loop: each round has its own.",
        "X = G / G.norm(); in each round A = X @ X.mT, and then X = a * X + (b * A + c * A @ A) @ X",
    ),
)


@iteration.solution
def newton_schulz(G):
    """G (rows, columns) with singular values near 1, after five rounds of the polynomial."""
    a, b, c = 3.4445, -4.7750, 2.0315
    X = G / G.norm()
    for _ in range(5):
        A = X @ X.mT
        X = a * X + (b * A + c * A @ A) @ X
    return X


iteration.slips("""
not_divided    / G.norm() →
  You did not divide G by its norm first. The polynomial pulls sizes between 0 and 1 towards 1; above 1.3 they grow
  without limit.
divided_by_the_largest    G.norm() → torch.linalg.matrix_norm(G, 2)
  You divided by the largest singular value. That works, too, but it needs the decomposition that we want to save. The
  norm of all entries is never smaller, and costs one pass: G.norm().
divided_by_the_largest_entry    G.norm() → G.abs().max()
  You divided by the largest entry. Singular values can be larger than any entry: take the norm of the whole matrix.
rows_divided    X = G / G.norm() → X = torch.nn.functional.normalize(G, dim=1)
  You divided each row by its own norm, which turns the directions. One number divides the whole matrix.
divided_in_each_round    A = X → A = (X := X / X.norm())
  You divided in every round. Once, before the loop, is enough: afterwards the sizes stay below 1.3, and a new division
  makes them small again.
four_rounds    range(5) → range(4)
  You ran four rounds. The weak directions are not there yet: it takes five.
one_round    range(5) → range(1)
  You ran one round. It makes a small size 3.4 times as large, which is not enough: the loop has five.
ten_rounds    range(5) → range(10)
  You ran ten rounds. More do not help: with these coefficients the sizes never settle at 1, they stay between 0.7 and
  1.2. Five are enough.
sign_of_b    -4.7750 → 4.7750
  Your b is positive. It is −4.7750: the middle term holds the large sizes back.
classic_coefficients    3.4445, -4.7750, 2.0315 → 1.5, -0.5, 0.0
  You took 1.5, −0.5 and 0, the coefficients of Newton and Schulz. They end at exactly 1, but slowly: after five rounds
  the weak directions are not there yet.
b_and_c_swapped    3.4445, -4.7750, 2.0315 → 3.4445, 2.0315, -4.7750
  You swapped b and c. b = −4.7750 belongs to A, c = 2.0315 to A A.
without_a    a * X + → X +
  The factor a is missing. It makes small sizes 3.4 times as large in each round.
third_power_only    + c * A @ A →
  The term c A A is missing: without it the large sizes fall too far.
entries_squared    c * A @ A → c * A * A
  You squared the entries of A. A A is a product of matrices: A @ A.
columns_for_rows    X @ X.mT → X.mT @ X
  Your A is Xᵀ X, which is (columns, columns). It stands on the left of X, so it has to be X Xᵀ, (rows, rows).
old_product    A = X @ X.mT → A = G @ G.mT / G.norm() ** 2
  Your A stays that of the first X. Each round needs the A of its own X.
returned_transposed    return X → return X.mT
  You returned the transpose. X has the shape of G.
exact    = _exact
  You returned U Vᵀ of the decomposition, whose singular values are exactly 1. That is what Muon wants, but it takes too
  long: here the polynomial comes near it with products of matrices alone.
signs    return G.sign()
  You took the sign of each entry, as Adam's first step does. That makes entries equal, not directions.
nothing_but_the_norm    return G / G.norm()
  You only divided by the norm. All sizes became smaller by the same factor: the strong directions stay ahead.
""")


def _exact(G):
    U, _, Vh = torch.linalg.svd(G, full_matrices=False)
    return U @ Vh


# --- step 2: the optimizer's step ------------------------------------------------------------------------------------


def _step(step, W, M, G, rate, keep):
    """What an answer returns for a step, and whether it wrote into what it was given."""
    given = W.clone(), M.clone(), G.clone()
    result = step(*given, rate, keep, newton_schulz)
    changed = not all(map(torch.equal, given, (W, M, G)))
    return {"the new W and M": result, "the changes in place": float(changed)}


def _case(rows, columns, seed, rate, keep):
    W, M, G = random_tensors((rows, columns), (rows, columns), (rows, columns), seed=seed)
    return W, M, G, rate, keep


muon = Exercise(
    "muon_step",
    title="Muon, step 2 of 2",
    goal="One step of Muon for a weight W. Its momentum M is a running mean of the gradients: it keeps the share "
    "`keep` of what it was, and takes the rest from the new gradient G. The step goes against the new M, but with all "
    "directions alike: `directions(M)` is your function of step 1. It is `rate` long in each direction, and "
    "√(rows/columns) times as long where W has more rows than columns. Return the new W and the new M, and leave the "
    "tensors that you were given as they are. (Without the look ahead that the course's Muon adds.)",
    difficulty=2,
    minutes=8,
    source="Jordan et al. 2024",
    inline=True,
    run=_step,
    cases=lambda: [
        _case(2, 2, 64, 0.1, 0.5),
        _case(3, 5, 65, 0.2, 0.9),
        _case(6, 3, 66, 0.05, 0.95),
    ],
    hints=(
        "Three lines: the new M, how long the step is, the new W.",
        "A running mean: keep times the old one, plus (1 − keep) times the new gradient. M is made first, and the step "
        "uses the new one.",
        "M = keep * M + (1 - keep) * G; length = rate * math.sqrt(max(1, rows / columns)); "
        "return W - length * directions(M), M",
    ),
)


@muon.solution
def muon_step(W, M, G, rate, keep, directions):
    """The new weight W and the new momentum M, both (rows, columns), after the gradient G (rows, columns)."""
    rows, columns = W.shape
    M = keep * M + (1 - keep) * G
    return W - rate * math.sqrt(max(1, rows / columns)) * directions(M), M


muon.slips("""
in_place    = _in_place
  Your numbers are right, but you wrote into a tensor that you were given. Whoever called still needs the old one, to
  compare or to go back: make new tensors, M = keep * M + …, not M.mul_(keep).
look_ahead    return (W - _long(W, rate) * directions(_mean(_mean(M, G, keep), G, keep)), _mean(M, G, keep))
  You added the look ahead: directions(keep · M + (1 − keep) · G) with the new M. The course's own Muon does so
  (Nesterov), but here the step follows the new M itself.
old_momentum    return (W - _long(W, rate) * directions(M), _mean(M, G, keep))
  Your step uses the old momentum: the new gradient moves nothing yet. Make the new M first.
gradient_alone    return (W - _long(W, rate) * directions(G), _mean(M, G, keep))
  Your step takes the directions of G alone, and the momentum is never used. One batch's gradient is noisy, and with all
  directions alike its noise counts in full: take the directions of M.
averaged_directions    return (W - _long(W, rate) * _mean(M, directions(G), keep), _mean(M, directions(G), keep))
  You averaged directions(G). The mean comes first: what changes from batch to batch should cancel before all directions
  are made equal.
directions_kept    return (W - _long(W, rate) * directions(_mean(M, G, keep)), directions(_mean(M, G, keep)))
  Your W is right, but you returned directions(M) as the momentum. Next time it has forgotten its sizes: return M
  itself.
uphill    W - rate → W + rate
  Your step goes along the gradient, so the loss rises. Subtract it.
shares_swapped    return (W - _long(W, rate) * directions(_mean(G, M, keep)), _mean(G, M, keep))
  You keep the share 1 − keep of M and take `keep` of G. It is the other way round: keep=0.95 is a long memory.
sum_for_mean    - keep →
  Your momentum is keep · M + G, the sum that torch.optim.SGD keeps. Here it is a mean: the new gradient gets the share
  1 − keep.
root_forgotten    math.sqrt →
  Your step is rows/columns times as long where W has more rows than columns. The root is missing.
returned_in_reverse    return (_mean(M, G, keep), W - _long(W, rate) * directions(_mean(M, G, keep)))
  You returned the momentum first. The new W comes first, then the new M.
no_length    return (W - rate * directions(_mean(M, G, keep)), _mean(M, G, keep))
  √(rows/columns) is missing for a W with more rows than columns.
length_for_wide    1, rows → 0, rows
  Your step is shorter where W has more columns than rows. There the factor is 1.
columns_over_rows    shape → T.shape
  You divided columns by rows. It is rows over columns: a W with more rows than columns takes longer steps.
without_directions    directions(M) → (M)
  You moved W by M itself, which is gradient descent with momentum. Take directions(M).
rate_inside    return (W - directions(_long(W, rate) * _mean(M, G, keep)), _mean(M, G, keep))
  You multiplied by the rate inside `directions`, which brings all singular values near 1: the rate is lost.
""")


def _long(W, rate):
    rows, columns = W.shape
    return rate * math.sqrt(max(1, rows / columns))


def _mean(M, G, keep):
    return keep * M + (1 - keep) * G


def _in_place(W, M, G, rate, keep, directions):
    M.mul_(keep).add_(G, alpha=1 - keep)
    return W.sub_(_long(W, rate) * directions(M)), M
