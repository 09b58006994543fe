"""Wrong answers to the lesson's exercises, unlike any in the bank: none may pass."""

import math

import torch

from answer_tables import named


def sinusoids_at_most_eight_rows_long(T, D):
    angles = (torch.arange(T) % 4)[:, None] * 10000.0 ** (-torch.arange(0, D, 2) / D)
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1)[:, :D]


def _halves_turned(angles):
    """The matrix that turns pair (i, i + D/2) by minus angles[i]."""
    c, s = angles.cos().diag(), angles.sin().diag()
    return torch.cat([torch.cat([c, s], 1), torch.cat([-s, c], 1)])


def rise_for_base_1000(D):
    products = torch.cos(torch.arange(101)[:, None] * 1000.0 ** (-torch.arange(0, D, 2) / D)).sum(1)
    return int((products.diff() > 0).nonzero()[0])


def pair_by_position_first(x, E, P):
    p = torch.cdist(x, P).argmin(1)
    return torch.stack([torch.cdist(x - P[p], E).argmin(1), p], dim=1)


def back_without_the_largest_gap(pairs):
    order = pairs[:, 1].argsort()
    out = []
    for word, step in zip(pairs[order, 0].tolist(), [1, *pairs[order, 1].diff().tolist()], strict=True):
        out += [-1] * min(step - 1, 1) + [word]
    return out


UNLIKE = {
    "nearest_pair": named(pair_by_position_first),
    "sentence_back": named(back_without_the_largest_gap),
    "sinusoid_table": named(sinusoids_at_most_eight_rows_long),
    "model_input": {
        "scaled_by_a_whole_root": lambda ids, E, P: math.isqrt(E.shape[1]) * E[ids] + P[: ids.shape[1]],
    },
    "position_share": {
        "that_hangs_on_the_width": lambda s, D: 1 / (1 + s**2 * D / 2),
    },
    "shift_matrix": {
        "forwards_only": lambda k, D: _halves_turned(abs(k) * 10000.0 ** (-torch.arange(0, D, 2) / D)),
    },
    "first_rise": named(rise_for_base_1000)
    | {
        "that_grows_with_the_width": lambda D: D // 12,
    },
}
