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
shares_of_logarithms    return _shared(o1, l1 / (l1 + l2), o2, torch.logaddexp(l1, l2))
  You took l1 / (l1 + l2) as the share. These are logarithms: the sums themselves are e^l1 and e^l2.
logarithms_added    return (join_looks(o1, l1, o2, l2)[0], l1 + l2)
  You added the logarithms. That is the logarithm of the product; you need that of e^l1 + e^l2.
the_larger_logarithm    return (join_looks(o1, l1, o2, l2)[0], torch.maximum(l1, l2))
  You returned the larger of l1 and l2. The sum over all keys is e^l1 + e^l2, which is larger than either.
groups_swapped    return join_looks(o2, l1, o1, l2)
  You gave the first group's share to the second, and the other way round.
sum_in_place_of_its_logarithm    return (join_looks(o1, l1, o2, l2)[0], torch.logaddexp(l1, l2).exp())
  Your output is right, but you returned the sum e^l1 + e^l2 itself. Return its logarithm.
too_large_a_power    return _shared(o1, l1.exp() / (l1.exp() + l2.exp()), o2, torch.logaddexp(l1, l2))
  You computed e^l itself. For l = 200 this is too large for the computer, and the share becomes nan. Subtract before
  you take the power: (l1 - l).exp().
logarithm_of_powers    return _by_logarithm(o1, l1, o2, l2, (l1.exp() + l2.exp()).log())
  You took log(e^l1 + e^l2) by its parts. e^200 is too large for the computer, so the logarithm is infinite and all
  shares are 0. torch.logaddexp(l1, l2) gives the same number without the powers.
everything_by_powers    return _shared(o1, l1.exp() / (l1.exp() + l2.exp()), o2, (l1.exp() + l2.exp()).log())
  You computed both sums e^l themselves, for the shares and for the logarithm. e^200 is infinite, and ∞ divided by ∞ is
  NaN. Take the logarithm of the whole sum by torch.logaddexp, then (l1 - l).exp().
""")


def _shared(o1, share, o2, both):
    return share[:, None] * o1 + (1 - share)[:, None] * o2, both


def _by_logarithm(o1, l1, o2, l2, both):
    return (l1 - both).exp()[:, None] * o1 + (l2 - both).exp()[:, None] * o2, both


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
begun_at_zeros    return _joined([(q.new_zeros(len(q), v.shape[1]), q.new_zeros(len(q))), *_looks(q, k, v, size)], join)
  You began with zeros. A logarithm of 0 is a sum of e⁰ = 1, as if a key with the score 0 and the value 0 had been
  there. Begin with the first piece, or with logarithms of −∞.
scale_forgotten    / q.shape[-1] ** 0.5 →
  You did not divide the scores by √d_k. Each piece needs the usual scale.
scale_of_the_piece    return _joined(_looks(q, k, v, size, root=size**0.5), join)
  You divided by the root of the piece's size. The scale is √d_k, the width of a query.
last_piece_only    return _looks(q, k, v, size)[-1]
  You returned the last piece alone. Each piece has to be joined to all the ones before it.
""")


def _looks(q, k, v, size, *, root=None):
    """The look at each piece: pairs (T, d_v), (T,)."""
    root = q.shape[-1] ** 0.5 if root is None else root
    found = []
    for start in range(0, len(k), size):
        scores = q @ k[start : start + size].mT / root
        found.append((scores.softmax(-1) @ v[start : start + size], scores.logsumexp(-1)))
    return found


def _joined(looks, join):
    so_far = looks[0]
    for look in looks[1:]:
        so_far = join(*so_far, *look)
    return so_far


@pieces.mistake(
    "Your numbers are right, but you made the whole table of T × S and never called join. Cut the keys into pieces, "
    "look at each piece by itself, and join the looks."
)
def whole_table(q, k, v, size, join):
    scores = q @ k.mT / q.shape[-1] ** 0.5
    return scores.softmax(-1) @ v, scores.logsumexp(-1)


@pieces.mistake(
    "Your numbers are right, but join was never called. Did you cut the queries into pieces? Each query then still has "
    "a score for every key at once. Cut the keys, and join the looks at their pieces."
)
def pieces_of_queries(q, k, v, size, join):
    looks = [whole_table(part, k, v, size, join) for part in q.split(1)]
    return tuple(torch.cat(parts) for parts in zip(*looks, strict=True))


@pieces.mistake(
    "Your numbers are right, but you computed the whole table of T × S scores first and cut it afterwards. Compute the "
    "scores of one piece at a time, from k[start : start + size]."
)
def table_cut_afterwards(q, k, v, size, join):
    scores = (q @ k.mT / q.shape[-1] ** 0.5).split(size, -1)
    looks = [(s.softmax(-1) @ part, s.logsumexp(-1)) for s, part in zip(scores, v.split(size), strict=True)]
    return _joined(looks, join)


@pieces.mistake("You lost the last piece. range(0, len(k), size) ends after it; with len(k) - size it ends before.")
def last_piece_lost(q, k, v, size, join):
    looks = _looks(q, k, v, size)[: len(range(0, len(k) - size, size))]
    return _joined(looks, join) if looks else None


@pieces.mistake(
    "Your last piece is missing where it is shorter than the others. k[start : start + size] may end early."
)
def short_piece_left_out(q, k, v, size, join):
    whole = max(len(k) // size * size, min(size, len(k)))
    return _joined(_looks(q, k[:whole], v[:whole], size), join)


@pieces.mistake("You took the plain mean of the pieces' outputs. Their sums differ: join weighs each piece by its sum.")
def plain_mean_of_pieces(q, k, v, size, join):
    looks = _looks(q, k, v, size)
    return torch.stack([output for output, _ in looks]).mean(0), _joined(looks, join)[1]


@pieces.mistake(
    "After a join you kept the newest piece's logarithm, so the pieces before it count too little at the next join."
)
def logarithm_not_carried_on(q, k, v, size, join):
    looks = _looks(q, k, v, size)
    output, logs = looks[0]
    for new, new_logs in looks[1:]:
        output, logs = join(output, logs, new, new_logs)[0], new_logs
    return output, logs


@pieces.mistake(
    "As the logarithm of a piece you took its largest score. join needs the logarithm of the whole sum of e^score."
)
def largest_score_as_logarithm(q, k, v, size, join):
    found = []
    for start in range(0, len(k), size):
        scores = q @ k[start : start + size].mT / q.shape[-1] ** 0.5
        found.append((scores.softmax(-1) @ v[start : start + size], scores.amax(-1)))
    return _joined(found, join)
