"""Right answers to the lesson's exercises in unusual forms: all must pass."""

import math

import numpy as np
import torch

from answer_tables import named


def table_by_loops(T, D):
    rows = []
    for p in range(T):
        row = []
        for j in range(D):
            angle = p / 10000 ** ((j - j % 2) / D)
            row.append(math.cos(angle) if j % 2 else math.sin(angle))
        rows.append(row)
    return rows


def table_by_phase(T, D):
    j = torch.arange(D)
    angles = torch.outer(torch.arange(T).double(), torch.exp(-(j // 2 * 2) * math.log(10000) / D))
    return torch.sin(angles + (j % 2) * math.pi / 2)


def table_in_numpy(T, D):
    table = np.empty((T, D))
    for i in range(0, D, 2):
        table[:, i] = np.sin(np.arange(T) / 10000 ** (i / D))
        if i + 1 < D:
            table[:, i + 1] = np.cos(np.arange(T) / 10000 ** (i / D))
    return table


def table_cut(T, D):
    angles = torch.arange(T).float()[:, None] * torch.pow(10000.0, -torch.arange(0, D, 2).float() / D)
    return torch.stack((angles.sin(), angles.cos()), 2).reshape(T, -1)[:, :D]


def input_by_lookup(ids, E, P):
    B, T = ids.shape
    return torch.nn.functional.embedding(ids, E * math.sqrt(E.size(-1))) + P[torch.arange(T).expand(B, T)]


def input_by_loops(ids, E, P):
    rows = [[E[i] * math.sqrt(E.shape[1]) + P[t] for t, i in enumerate(row.tolist())] for row in ids]
    return torch.stack([torch.stack(row) for row in rows])


def input_by_one_hot(ids, E, P):
    one_hot = torch.nn.functional.one_hot(ids, len(E)).double()
    return one_hot @ E.double() * E.shape[1] ** 0.5 + P.double()[: ids.shape[1]].unsqueeze(0)


def input_in_place(ids, E, P):
    x = E[ids]  # indexing copies
    x *= E.shape[1] ** 0.5
    x += P[: ids.shape[1]]
    return x


def share_by_table(s, D):
    position = float((torch.tensor(table_by_loops(3, D))[2] ** 2).sum())
    return position / (position + D * s**2)


def shift_by_rows(k, D):
    M = torch.zeros(D, D)
    for i in range(D // 2):
        a = k * 10000 ** (-2 * i / D)
        M[i, i], M[i, i + D // 2] = math.cos(a), math.sin(a)
        M[i + D // 2, i], M[i + D // 2, i + D // 2] = -math.sin(a), math.cos(a)
    return M


def shift_by_reordering(k, D):
    turns = [k * 10000 ** (-2 * i / D) for i in range(D // 2)]
    blocks = [torch.tensor([[math.cos(a), math.sin(a)], [-math.sin(a), math.cos(a)]]) for a in turns]
    order = torch.cat([torch.arange(0, D, 2), torch.arange(1, D, 2)])
    return torch.block_diag(*blocks)[order][:, order]


def shift_by_exponential(k, D):
    generator = torch.zeros(D, D, dtype=torch.float64)
    for i in range(D // 2):
        generator[i, i + D // 2] = 10000 ** (-2 * i / D)
    return torch.linalg.matrix_exp(k * (generator - generator.T))


def shift_in_numpy(k, D):
    a = k / 10000 ** (np.arange(0, D, 2) / D)
    C, S = np.diag(np.cos(a)), np.diag(np.sin(a))
    return np.block([[C, S], [-S, C]])


def rise_by_table(D):
    table = torch.tensor(table_by_loops(60, D), dtype=torch.float64)
    products = table @ table[0]
    return 1 + int((products[1:] > products[:-1]).int().argmax())


def rise_by_walking(D):
    k, last = 0, math.inf
    while True:
        product = sum(math.cos(k / 10000 ** (i / D)) for i in range(0, D, 2))
        if product > last:
            return k
        k, last = k + 1, product


def rise_in_numpy(D):
    products = np.cos(np.outer(np.arange(100), 10000.0 ** (-np.arange(0, D, 2) / D))).sum(axis=1)
    return np.flatnonzero(np.diff(products) > 0)[0] + 1


def pair_by_loops(x, E, P):
    found = []
    for row in x:
        gaps = {(v, p): float((row - E[v] - P[p]).norm()) for v in range(len(E)) for p in range(len(P))}
        found.append(min(gaps, key=gaps.get))
    return found


def pair_by_cdist(x, E, P):
    gaps = torch.cdist(x, (E.unsqueeze(1) + P.unsqueeze(0)).reshape(-1, x.shape[1]))
    return torch.stack(torch.unravel_index(gaps.argmin(1), (len(E), len(P))), dim=-1)


def pair_by_products(x, E, P):
    sums = (E[:, None] + P).flatten(0, 1)
    best = (x @ sums.T - sums.square().sum(1) / 2).argmax(1)
    return torch.stack([best.div(len(P), rounding_mode="floor"), best.remainder(len(P))], 1).int()


def pair_in_numpy(x, E, P):
    x, E, P = x.numpy(), E.numpy(), P.numpy()
    gaps = np.linalg.norm(x[:, None, None] - E[None, :, None] - P[None, None], axis=-1)
    flat = gaps.reshape(len(x), -1).argmin(1)
    return np.stack(np.unravel_index(flat, gaps.shape[1:]), axis=1)


def back_by_dict(pairs):
    at = {int(p): int(w) for w, p in pairs}
    return [at.get(p, -1) for p in range(min(at), max(at) + 1)]


def back_by_loop(pairs):
    low, high = pairs[:, 1].min(), pairs[:, 1].max()
    out = -torch.ones(high - low + 1, dtype=torch.long)
    for word, place in pairs:
        out[place - low] = word
    return out


def back_in_numpy(pairs):
    words, places = pairs.numpy().T
    out = np.full(np.ptp(places) + 1, -1)
    np.put(out, places - places.min(), words)
    return out


def back_by_scatter(pairs):
    places = pairs[:, 1] - pairs[:, 1].min()
    return torch.zeros(int(places.max()) + 1, dtype=torch.long).scatter(0, places, pairs[:, 0] + 1) - 1


RIGHT = {
    "nearest_pair": named(pair_by_loops, pair_by_cdist, pair_by_products, pair_in_numpy),
    "sentence_back": named(back_by_dict, back_by_loop, back_in_numpy, back_by_scatter),
    "sinusoid_table": named(table_by_loops, table_by_phase, table_in_numpy, table_cut),
    "model_input": named(input_by_lookup, input_by_loops, input_by_one_hot, input_in_place),
    "position_share": named(share_by_table)
    | {
        "share_cancelled": lambda s, D: 1 / (2 * s * s + 1),
        "share_as_rest": lambda s, D: 1 - s**2 / (s**2 + 0.5),
        "share_as_tensor": lambda s, D: torch.tensor(0.5) / (torch.tensor(s).square() + 0.5),
    },
    "shift_matrix": named(shift_by_rows, shift_by_reordering, shift_by_exponential, shift_in_numpy)
    | {
        "shift_by_power": lambda k, D: torch.linalg.matrix_power(shift_by_rows(1, D).double(), k),
    },
    "first_rise": named(rise_by_table, rise_by_walking, rise_in_numpy)
    | {
        "rise_as_tensor": lambda D: torch.tensor(rise_by_walking(D)),
    },
}
