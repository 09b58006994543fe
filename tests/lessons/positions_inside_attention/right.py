"""Right answers to the lesson's exercises in unusual forms: all must pass."""

import math

import numpy as np
import torch

from answer_tables import named
from tx_helpers.nn.positions import Rotary


def turned_complex(x):
    T, K = x.shape
    angles = torch.outer(torch.arange(T).float(), 10000 ** (-torch.arange(0, K, 2).float() / K))
    pairs = torch.complex(x[:, : K // 2], x[:, K // 2 :]) * torch.polar(torch.ones_like(angles), angles)
    return torch.cat([pairs.real, pairs.imag], dim=1)


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


def turned_with_partner(x):
    T, K = x.shape
    angles = (torch.arange(T)[:, None] * 10000 ** (-torch.arange(0, K, 2) / K)).repeat(1, 2).double()
    partner = torch.cat((-x[:, K // 2 :], x[:, : K // 2]), -1)
    return x * angles.cos() + partner * angles.sin()


def bias_by_loops(H, T):
    return [[[-abs(t - s) / 2 ** (8 * h / H) for s in range(T)] for t in range(T)] for h in range(1, H + 1)]


def bias_by_powers(H, T):
    ratio = 2 ** (-8 / H)
    t = torch.arange(T)
    distance = torch.maximum(t[:, None] - t, t - t[:, None])
    return torch.stack([-(ratio ** (h + 1)) * distance for h in range(H)])


def bias_in_numpy(H, T):
    t = np.arange(T)
    return -np.exp2(-8 * np.arange(1, H + 1) / H)[:, None, None] * np.abs(t[:, None] - t)


def bias_by_einsum(H, T):
    slopes = torch.logspace(-8 / H, -8, H, base=2.0)
    distance = torch.cdist(torch.arange(T).float()[:, None], torch.arange(T).float()[:, None], p=1)
    return torch.einsum("h,ts->hts", slopes, -distance)


def halves_by_index(W, H):
    K = W.shape[1] // H
    within = torch.cat([torch.arange(0, K, 2), torch.arange(1, K, 2)])
    return W[:, torch.cat([head * K + within for head in range(H)])]


def halves_by_heads(W, H):
    return torch.cat([torch.cat([part[:, 0::2], part[:, 1::2]], dim=1) for part in W.chunk(H, dim=1)], dim=1)


def halves_by_sorting(W, H):
    K = W.shape[1] // H
    return W[:, sorted(range(H * K), key=lambda column: (column // K, column % K % 2, column))]


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


def starts_as_tensor(b, m):
    e = b // 2
    far = torch.ceil(e * (m / e) ** (torch.arange(e, dtype=torch.float64) / e)).long()
    return torch.cat([torch.arange(e), far])


def starts_by_exp(b, m):
    e = b / 2
    return [j if j < e else math.ceil(math.exp(math.log(e) + (j - e) / e * math.log(m / e))) for j in range(b)]


def starts_step_by_step(b, m):
    starts, begin = list(range(b // 2)), b / 2
    while len(starts) < b:
        starts.append(math.ceil(begin - 1e-9))
        begin *= (2 * m / b) ** (2 / b)
    return starts


def base_by_frequency(base, K, j, factor):
    frequency = base ** (-2 * j / K) / factor
    return frequency ** (-K / (2 * j))


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


def some_turned_complex(x, positions, R, base):
    pairs = torch.complex(x[:, : R // 2], x[:, R // 2 : R])
    angles = torch.outer(positions.to(x.dtype), base ** (-2 * torch.arange(R // 2) / R))
    turned = pairs * torch.polar(torch.ones_like(angles), angles)
    return torch.cat([turned.real, turned.imag, x[:, R:]], dim=1)


def some_turned_in_place(x, positions, R, base):
    out = x.clone()
    for t, p in enumerate(positions.tolist()):
        for i in range(R // 2):
            angle = p * base ** (-2 * i / R)
            a, b = x[t, i].item(), x[t, i + R // 2].item()
            out[t, i] = a * math.cos(angle) - b * math.sin(angle)
            out[t, i + R // 2] = a * math.sin(angle) + b * math.cos(angle)
    return out


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


def weights_all_turned_at_once(q, k, cache, turn):
    T, S = q.shape[0], cache.shape[0]
    at = S + torch.arange(T)
    both = turn(torch.cat([q, k]), torch.cat([at, at]))
    keys = torch.vstack([cache, both[T:]])
    scores = torch.einsum("tk,sk->ts", both[:T], keys) * q.shape[-1] ** -0.5
    return torch.softmax(scores + torch.full((T, S + T), -torch.inf).triu(S + 1), dim=-1), keys


def weights_by_positions(q, k, cache, turn):
    keys = torch.cat((cache, turn(k, torch.arange(len(k)) + len(cache))), 0)
    place = torch.arange(len(keys))
    mine = place[len(cache) :]
    scores = (turn(q, mine) / q.shape[1] ** 0.5) @ keys.t()
    return scores.masked_fill(place > mine[:, None], float("-inf")).softmax(1), keys


def weights_without_softmax(q, k, cache, turn):
    keys = torch.cat([cache, turn(k, torch.arange(len(cache), len(cache) + len(k)))])
    scores = turn(q, torch.arange(len(cache), len(keys))) @ keys.T / q.shape[1] ** 0.5
    powers = (scores - scores.amax()).exp().tril(len(cache))
    return powers / powers.sum(dim=-1, keepdim=True), keys


RIGHT = {
    "turn_some": named(
        some_turned_complex, some_turned_in_place, some_turned_with_zero_rates, some_turned_by_the_package
    ),
    "cached_weights": named(
        weights_row_by_row, weights_all_turned_at_once, weights_by_positions, weights_without_softmax
    ),
    "rotate_queries": named(turned_complex, turned_by_matrices, turned_by_loops, turned_with_partner),
    "alibi_bias": named(bias_by_loops, bias_by_powers, bias_in_numpy, bias_by_einsum),
    "to_halves": named(halves_by_index, halves_by_heads, halves_by_sorting, halves_by_matrix),
    "bucket_starts": named(starts_by_trying, starts_as_tensor, starts_by_exp, starts_step_by_step),
    "stretched_base": named(base_by_frequency, base_by_logarithm)
    | {
        "base_by_wavelength": lambda base, K, j, factor: (base ** (2 * j / K) * factor) ** (K / 2 / j),
        "base_by_roots": lambda base, K, j, factor: base * (factor ** (1 / j)) ** (K / 2),
    },
    "alibi_reach": named(reach_by_adding, reach_by_softmax)
    | {
        "reach_by_another_base": lambda slope, share: math.ceil(math.log(1 - share, math.exp(-slope))),
        "reach_in_numpy": lambda slope, share: int(np.ceil(np.log1p(-share) / -slope)),
    },
}
