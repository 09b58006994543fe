"""The exercise that builds Muon, in two steps: a matrix without its sizes, and the optimizer's step with it."""

import math

import torch

from tx_helpers.exercises.exercise import Exercise, random_tensors

# --- step 1: a matrix without its sizes ------------------------------------------------------------------------------


def _stretched(rows, columns, seed):
    """A matrix (rows, columns) whose singular values fall from 3 to 0.3."""
    one, other = random_tensors((rows, rows), (columns, columns), seed=seed)
    left, right = (torch.linalg.qr(x)[0] for x in (one, other))
    count = min(rows, columns)
    return left[:, :count] @ torch.diag(torch.linspace(3, 0.3, count)) @ right[:count]


def _directions(answer, G):
    """The answer's result; an empty one where U and Vh were kept whole, so that they do not fit each other."""
    rows, columns = G.shape
    try:
        return answer(G)
    except RuntimeError as error:
        if f"({rows}x{rows} and {columns}x{columns})" not in str(error):
            raise
        return torch.zeros(0)


direction = Exercise(
    "all_directions",
    title="Muon, step 1 of 2",
    goal="G (rows, columns) is a gradient. Return the matrix of the same shape that maps the same directions to each "
    "other, in the same order, but stretches none of them: all its singular values are 1. You may use "
    "`torch.linalg.svd`. No singular value of G is 0.",
    difficulty=2,
    minutes=6,
    source="Jordan et al. 2024; Carlson et al. 2015",
    inline=True,
    cases=lambda: [
        (torch.tensor([[2.0, 0.0], [0.0, 0.5]]),),
        (_stretched(3, 3, 61),),
        (_stretched(5, 3, 62),),
        (_stretched(3, 6, 63),),
    ],
    run=_directions,
    picture=True,
    hints=(
        "The singular value decomposition writes G as three factors: directions in, how far each is stretched, "
        "directions out.",
        "Which of the three factors holds the sizes? Leave it out. For a matrix that is not square, "
        "`full_matrices=False` makes the other two fit.",
        "U, S, Vh = torch.linalg.svd(G, full_matrices=False); the product of U and Vh. (Vh is transposed already.)",
    ),
)


@direction.solution
def all_directions(G):
    """The matrix (rows, columns) with the directions of G (rows, columns), all of its singular values 1."""
    U, _, Vh = torch.linalg.svd(G, full_matrices=False)
    return U @ Vh


direction.slips("""
whole_norm    return G / G.norm()
  You divided by the norm of the whole matrix. That makes every singular value smaller by the same factor: the strong
  directions stay as much stronger. Each of them needs its own divisor.
largest_one    return G / torch.linalg.matrix_norm(G, 2)
  You divided by the largest singular value. Now the strongest direction has 1, and the weak ones are as weak beside it
  as before.
signs    return G.sign()
  You took the sign of each entry, as Adam's first step does. That makes entries equal, not directions: the singular
  values of a matrix of ±1 are far apart.
rows_normalised    return torch.nn.functional.normalize(G, dim=1)
  You made every row as long as 1. Rows can still point the same way, so the singular values differ.
columns_normalised    return torch.nn.functional.normalize(G, dim=0)
  You made every column as long as 1. Columns can still point the same way, so the singular values differ.
inverted    return (_parts(G)[0] / _parts(G)[1]) @ _parts(G)[2]
  You divided by the singular values twice, so that the weak directions are the strong ones now. Leave S out altogether.
roots    return (_parts(G)[0] * _parts(G)[1].sqrt()) @ _parts(G)[2]
  You took the roots of the singular values. They come closer to each other, but only 1 is 1.
nothing_left_out    return (_parts(G)[0] * _parts(G)[1]) @ _parts(G)[2]
  You multiplied all three factors: that is G again. Leave S out.
five_iterations    = _iterated(3.4445, -4.7750, 2.0315)
  You ran the polynomial. It brings the singular values between 0.7 and 1.2, which is enough in training; here they
  shall be 1, so leave out S of the decomposition.
ten_iterations    = _iterated(3.4445, -4.7750, 2.0315, 10)
  You ran the polynomial ten times. More rounds do not help: Muon's coefficients never settle at 1, they keep the
  singular values between 0.7 and 1.2. Leave out S of the decomposition.
newton_schulz    = _iterated(1.5, -0.5, 0.0)
  You ran five rounds of Newton and Schulz, X ← 1.5 X − 0.5 X Xᵀ X. They do end at 1, but slowly: the weak directions
  are not there yet. Run it until nothing changes, or leave out S of the decomposition.
whole_matrices    False → True
  Your U and Vh do not fit each other where G is not square: torch.linalg.svd returns all directions of both spaces.
  `full_matrices=False` leaves out those that G does not use.
orthonormal_columns    return torch.linalg.qr(G)[0] if len(G) >= len(G.T) else torch.linalg.qr(G.T)[0].mT
  You returned Q of the decomposition G = QR. Its columns stand at right angles, but the first one is always that of G:
  the result depends on the order of the columns, and R is no matter of size alone.
""")


def _parts(G):
    return torch.linalg.svd(G, full_matrices=False)


def _iterated(a, b, c, rounds=5):
    def polynomial(G):
        X = G / G.norm()
        for _ in range(rounds):
            A = X @ X.mT
            X = a * X + (b * A + c * A @ A) @ X
        return X

    return polynomial


# --- step 2: the optimizer's step ------------------------------------------------------------------------------------


def _step(step, W, M, G, rate, keep):
    """What an answer returns for a step, and whether it wrote into what it was given."""
    given = W.clone(), M.clone(), G.clone()
    result = step(*given, rate, keep, all_directions)
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
  You multiplied by the rate inside `directions`, which makes all singular values 1: the rate is lost.
""")


def _long(W, rate):
    rows, columns = W.shape
    return rate * math.sqrt(max(1, rows / columns))


def _mean(M, G, keep):
    return keep * M + (1 - keep) * G


def _in_place(W, M, G, rate, keep, directions):
    M.mul_(keep).add_(G, alpha=1 - keep)
    return W.sub_(_long(W, rate) * directions(M)), M
