"""Two exercises that build attention piece by piece: join two looks, then go over all keys without a (T, S) table."""

import math

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from tx_helpers.exercises.compare import as_tensor, difference
from tx_helpers.exercises.exercise import Exercise, random_tensors

# --- two looks become one ---------------------------------------------------------------------------------------------

joining = Exercise(
    "join_looks",
    title="Attention in pieces, step 1 of 2",
    goal="Some queries looked at keys in two groups, each group with a softmax of its own. From each group came the "
    "output, o1 and o2 (T, d_v), and for each query the logarithm of its sum of e^score, l1 and l2 (T,). Return what "
    "one look at all keys gives: the output (T, d_v) and the logarithm (T,) of its sum, in this order. A sum e^l may "
    "be too large for the computer.",
    difficulty=2,
    minutes=12,
    source="Dao et al. 2022, section 3.1, with the largest score left to logaddexp",
    cases=lambda: [
        (torch.tensor([[4.0, 0.0]]), torch.tensor([math.log(3)]), torch.tensor([[0.0, 8.0]]), torch.tensor([0.0])),
        random_tensors((5, 3), (5,), (5, 3), (5,), seed=20),
        (
            torch.tensor([[1.0], [2.0]]),
            torch.tensor([200.0, 1.0]),
            torch.tensor([[3.0], [5.0]]),
            torch.tensor([199.0, 0.5]),
        ),
    ],
    hints=(
        "The sum over all keys is e^l1 + e^l2. Which share of it belongs to the first group?",
        "The share is e^l1 / (e^l1 + e^l2) = e^(l1 − l), where l is the logarithm of the whole sum. The outputs are "
        "mixed with these shares.",
        "l = torch.logaddexp(l1, l2); the output is (l1 - l).exp()[:, None] * o1 + (l2 - l).exp()[:, None] * o2.",
    ),
)


@joining.solution
def join_looks(o1, l1, o2, l2):
    """Output (T, d_v) and logarithm (T,) of a look at both groups, from o1, o2 (T, d_v) and l1, l2 (T,)."""
    both = torch.logaddexp(l1, l2)
    first = (l1 - both).exp()[:, None]  # the share of the first group
    second = (l2 - both).exp()[:, None]
    return first * o1 + second * o2, both


joining.slips("""
both_alike    return ((o1 + o2) / 2, torch.logaddexp(l1, l2))
  You took the plain mean of the two outputs. The group with the larger sum of e^score counts for more.
outputs_added    return (o1 + o2, torch.logaddexp(l1, l2))
  You added the two outputs. Each is a mean already, so they are mixed with shares that sum to 1.
shares_of_logarithms    (l1 - both).exp()[:, None] → (l1 / (l1 + l2))[:, None] ; (l2 - both).exp()[:, None] → 1 - first
  You took l1 / (l1 + l2) as the share. These are logarithms: the sums themselves are e^l1 and e^l2.
logarithms_added    return (join_looks(o1, l1, o2, l2)[0], l1 + l2)
  You added the logarithms. That is the logarithm of the product; you need that of e^l1 + e^l2.
the_larger_logarithm    return (join_looks(o1, l1, o2, l2)[0], torch.maximum(l1, l2))
  You returned the larger of l1 and l2. The sum over all keys is e^l1 + e^l2, which is larger than either.
groups_swapped    return join_looks(o2, l1, o1, l2)
  You gave the first group's share to the second, and the other way round.
sum_in_place_of_its_logarithm    return (join_looks(o1, l1, o2, l2)[0], torch.logaddexp(l1, l2).exp())
  Your output is right, but you returned the sum e^l1 + e^l2 itself. Return its logarithm.
too_large_a_power    (l1 - both).exp()[:, None] → (l1.exp() / (l1.exp() + l2.exp()))[:, None] ;
      (l2 - both).exp()[:, None] → 1 - first
  You computed e^l itself. For l = 200 this is too large for the computer, and the share becomes nan. Subtract before
  you take the power: (l1 - l).exp().
logarithm_of_powers    torch.logaddexp(l1, l2) → (l1.exp() + l2.exp()).log()
  You took log(e^l1 + e^l2) by its parts. e^200 is too large for the computer, so the logarithm is infinite and all
  shares are 0. torch.logaddexp(l1, l2) gives the same number without the powers.
everything_by_powers    torch.logaddexp(l1, l2) → (l1.exp() + l2.exp()).log() ; (l1 - both).exp()[:, None] →
      (l1.exp() / (l1.exp() + l2.exp()))[:, None] ; (l2 - both).exp()[:, None] → 1 - first
  You computed both sums e^l themselves, for the shares and for the logarithm. e^200 is infinite, and ∞ divided by ∞ is
  NaN. Take the logarithm of the whole sum by torch.logaddexp, then (l1 - l).exp().
""")


# --- all keys, a piece at a time --------------------------------------------------------------------------------------


class _Tables(TorchDispatchMode):
    """Notes whether any operation returns a tensor with both of these lengths among its axes: a table (T, S)."""

    def __init__(self, T, S):
        super().__init__()
        self.lengths, self.met = {T, S}, False

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        for tensor in result if isinstance(result, (tuple, list)) else [result]:
            self.met |= isinstance(tensor, torch.Tensor) and self.lengths <= set(tensor.shape)
        return result


def _on_the_way(make, q, k, v, size, join):
    """The output and the logarithms; and where both are right, whether they came by pieces of keys and by `join`."""
    joins = 0

    def counted(*looks):
        nonlocal joins
        joins += 1
        return join(*looks)

    with _Tables(len(q), len(k)) as tables:
        found = make(q, k, v, size, counted)
    if found is None:
        return None
    output, logs = map(as_tensor, found) if isinstance(found, (tuple, list)) and len(found) == 2 else (found, None)
    scores = q @ k.mT / q.shape[-1] ** 0.5
    wrong = difference([output, logs], [scores.softmax(-1) @ v, scores.logsumexp(-1)], pieces.tolerance)
    several = wrong is None and size < len(k)  # one piece is a table of its own, and there is nothing to join
    return {
        "output": output,
        "logarithms": logs,
        "number of joins left out": max(0, -(-len(k) // size) - 1 - joins) * several,
        "number of tables T × S": int(tables.met and several),
    }


pieces = Exercise(
    "attention_in_pieces",
    title="Attention in pieces, step 2 of 2",
    goal="Now build attention that never holds a table of T × S weights. Go over the keys in pieces of `size`; the "
    "last piece may be shorter. In each piece q (T, d_k) looks at k and v of this piece alone, with the usual scale. "
    "Join each look with the ones before by `join(o1, l1, o2, l2)`, your function of step 1, which returns the output "
    "and the logarithm of the sum. Return both for all keys: (T, d_v) and (T,).",
    difficulty=3,
    minutes=15,
    source="Dao et al. 2022, algorithm 1, over the keys alone",
    cases=lambda: [
        (
            torch.tensor([[1.0], [2.0]]),
            torch.tensor([[0.0], [1.0], [2.0]]),
            torch.tensor([[3.0], [6.0], [9.0]]),
            1,
            join_looks,
        ),
        (*random_tensors((4, 9), (7, 9), (7, 3), seed=21), 3, join_looks),
        (*random_tensors((3, 4), (6, 4), (6, 5), seed=22), 2, join_looks),
        (*random_tensors((2, 4), (3, 4), (3, 2), seed=23), 8, join_looks),
    ],
    run=_on_the_way,
    hints=(
        "Begin with one piece, k[:size] and v[:size]. Which two things does join need to know of the look at it?",
        "The pieces begin at range(0, len(k), size); scores.logsumexp(-1) is the logarithm of a piece's sum. The first "
        "piece begins the result. Every later one is joined to it, and the joined pair replaces it.",
        "Start with output, logs = None; in the loop: output, logs = new if output is None else "
        "join(output, logs, *new), where new is the pair of the piece.",
    ),
)


@pieces.solution
def attention_in_pieces(q, k, v, size, join):
    """Output (T, d_v) and logarithms of the sums (T,) of q (T, d_k) over k (S, d_k), v (S, d_v), `size` at once."""
    so_far = None
    for start in range(0, len(k), size):
        scores = q @ k[start : start + size].mT / q.shape[-1] ** 0.5  # (T, size)
        look = scores.softmax(-1) @ v[start : start + size], scores.logsumexp(-1)
        so_far = look if so_far is None else join(*so_far, *look)
    return so_far


pieces.slips("""
begun_at_zeros    so_far = None ⏎ → so_far = q.new_zeros(len(q), v.shape[1]), q.new_zeros(len(q)) ⏎
  You began with zeros. A logarithm of 0 is a sum of e⁰ = 1, as if a key with the score 0 and the value 0 had been
  there. Begin with the first piece, or with logarithms of −∞.
scale_forgotten    / q.shape[-1] ** 0.5 →
  You did not divide the scores by √d_k. Each piece needs the usual scale.
scale_of_the_piece    q.shape[-1] ** 0.5 → size**0.5
  You divided by the root of the piece's size. The scale is √d_k, the width of a query.
last_piece_only    so_far = look if so_far is None else join(*so_far, *look) → so_far = look
  You returned the last piece alone. Each piece has to be joined to all the ones before it.
whole_table    range(0, len(k), size) → range(1) ; k[start : start + size] → k ; v[start : start + size] → v
  Your numbers are right, but you made the whole table of T × S and never called join. Cut the keys into pieces, look at
  each piece by itself, and join the looks.
pieces_of_queries    return tuple(torch.cat(part) for part in zip(*[attention_in_pieces(one, k, v, len(k), join) for one
      in q.split(1)], strict=True))
  Your numbers are right, but join was never called. Did you cut the queries into pieces? Each query then still has a
  score for every key at once. Cut the keys, and join the looks at their pieces.
table_cut_afterwards    q @ k[start : start + size].mT / q.shape[-1] ** 0.5 →
      (q @ k.mT / q.shape[-1] ** 0.5)[:, start : start + size]
  Your numbers are right, but you computed the whole table of T × S scores first and cut it afterwards. Compute the
  scores of one piece at a time, from k[start : start + size].
last_piece_lost    range(0, len(k), size) → range(0, len(k) - size, size)
  You lost the last piece. range(0, len(k), size) ends after it; with len(k) - size it ends before.
short_piece_left_out    range(0, len(k), size): → range(0, max(len(k) - size, 0) + 1, size):
  Your last piece is missing where it is shorter than the others. k[start : start + size] may end early.
plain_mean_of_pieces    for start → means = [] ⏎ for start ; so_far = look if → means.append(look[0]) ⏎
      so_far = look if ; return so_far → return torch.stack(means).mean(0), so_far[1]
  You took the plain mean of the pieces' outputs. Their sums differ: join weighs each piece by its sum.
logarithm_not_carried_on    else join(*so_far, *look) → else (join(*so_far, *look)[0], look[1])
  After a join you kept the newest piece's logarithm, so the pieces before it count too little at the next join.
largest_score_as_logarithm    scores.logsumexp(-1) → scores.amax(-1)
  As the logarithm of a piece you took its largest score. join needs the logarithm of the whole sum of e^score.
""")
