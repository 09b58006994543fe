"""Right answers to the lesson's exercises by other algorithms: all must pass."""

import math

import torch

from answer_tables import named
from tx_helpers.nn.positions import Rotary


def turned_by_matrices(x):
    T, K = x.shape
    angles = torch.outer(torch.arange(T).float(), 10000.0 ** (-torch.arange(0, K, 2) / K))
    C, S = torch.diag_embed(angles.cos()), torch.diag_embed(angles.sin())  # (T, K/2, K/2)
    turns = torch.cat([torch.cat([C, -S], dim=2), torch.cat([S, C], dim=2)], dim=1)
    return (turns @ x.unsqueeze(-1)).squeeze(-1)


def turned_by_loops(x):
    y, half = x.clone(), x.shape[1] // 2
    for t in range(x.shape[0]):
        for i in range(half):
            a = t / 10000 ** (i / half)
            y[t, i] = x[t, i] * math.cos(a) - x[t, i + half] * math.sin(a)
            y[t, i + half] = x[t, i] * math.sin(a) + x[t, i + half] * math.cos(a)
    return y


def bias_by_loops(H, T):
    return [[[-abs(t - s) / 2 ** (8 * h / H) for s in range(T)] for t in range(T)] for h in range(1, H + 1)]


def bias_by_einsum(H, T):
    slopes = torch.logspace(-8 / H, -8, H, base=2.0)
    distance = torch.cdist(torch.arange(T).float()[:, None], torch.arange(T).float()[:, None], p=1)
    return torch.einsum("h,ts->hts", slopes, -distance)


def halves_by_heads(W, H):
    return torch.cat([torch.cat([part[:, 0::2], part[:, 1::2]], dim=1) for part in W.chunk(H, dim=1)], dim=1)


def halves_by_matrix(W, H):
    K = W.shape[1] // H
    P = torch.zeros(H * K, H * K)
    for column in range(H * K):
        head, feature = divmod(column, K)
        P[column, head * K + feature // 2 + feature % 2 * (K // 2)] = 1
    return W @ P


def starts_by_trying(b, m):
    e, found = b // 2, {}
    for d in range(4 * m):
        bucket = d if d < e else min(b - 1, e + math.floor(e * math.log(d / e) / math.log(m / e)))
        found.setdefault(bucket, d)
    return [found[bucket] for bucket in range(b)]


def starts_step_by_step(b, m):
    starts, begin = list(range(b // 2)), b / 2
    while len(starts) < b:
        starts.append(math.ceil(begin - 1e-9))
        begin *= (2 * m / b) ** (2 / b)
    return starts


def base_by_logarithm(base, K, j, factor):
    return torch.tensor([math.exp(math.log(base) + K / (2 * j) * math.log(factor))], dtype=torch.float64).item()


def reach_by_adding(slope, share):
    n, held, whole = 0, 0.0, 1 / (1 - math.exp(-slope))
    while held / whole < share:
        held += math.exp(-slope * n)
        n += 1
    return n


def reach_by_softmax(slope, share):
    weights = torch.softmax(-slope * torch.arange(20_000, dtype=torch.float64), dim=0)
    return int((weights.cumsum(0) < share).sum()) + 1


def some_turned_with_zero_rates(x, positions, R, base):
    part, rest = x.split([R, x.shape[1] - R], dim=-1)
    rates = (base ** (-torch.arange(0, R, 2) / R)).repeat(2)
    angles = positions[:, None] * rates
    partner = torch.cat([-part[:, R // 2 :], part[:, : R // 2]], dim=-1)
    return torch.hstack([part * angles.cos() + partner * angles.sin(), rest])


def some_turned_by_the_package(x, positions, R, base):
    return Rotary(x.shape[1], base=base, d_rotary=R).at(positions)(x[None, None])[0, 0]


def weights_row_by_row(q, k, cache, turn):
    S, keys, rows = len(cache), cache, []
    for t in range(len(q)):
        at = torch.tensor([S + t])
        keys = torch.cat([keys, turn(k[t : t + 1], at)])
        row = torch.softmax(turn(q[t : t + 1], at) @ keys.T / math.sqrt(q.shape[1]), dim=-1)
        rows.append(torch.nn.functional.pad(row, (0, len(q) - 1 - t)))
    return torch.cat(rows), keys


def weights_by_positions(q, k, cache, turn):
    keys = torch.cat((cache, turn(k, torch.arange(len(k)) + len(cache))), 0)
    place = torch.arange(len(keys))
    mine = place[len(cache) :]
    scores = (turn(q, mine) / q.shape[1] ** 0.5) @ keys.t()
    return scores.masked_fill(place > mine[:, None], float("-inf")).softmax(1), keys


RIGHT = {
    "turn_some": named(some_turned_with_zero_rates, some_turned_by_the_package),
    "cached_weights": named(weights_row_by_row, weights_by_positions),
    "rotate_queries": named(turned_by_matrices, turned_by_loops),
    "alibi_bias": named(bias_by_loops, bias_by_einsum),
    "to_halves": named(halves_by_heads, halves_by_matrix),
    "bucket_starts": named(starts_by_trying, starts_step_by_step),
    "stretched_base": named(base_by_logarithm)
    | {
        "base_by_wavelength": lambda base, K, j, factor: (base ** (2 * j / K) * factor) ** (K / 2 / j),
    },
    "alibi_reach": named(reach_by_adding, reach_by_softmax),
}
