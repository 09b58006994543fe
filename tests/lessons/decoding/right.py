"""Right answers to the lesson's exercises in unusual forms: all must pass."""

import math

import numpy as np
import torch

from answer_tables import named
from tx_helpers.plain import Attention


def tempered_by_exp(logits, temperature):
    e = torch.exp((logits - logits.max()) / temperature)
    return e / e.sum()


def tempered_by_power(logits, temperature):
    p = logits.softmax(0) ** (1 / temperature)
    return p / p.sum()


def tempered_in_numpy(logits, temperature):
    e = np.exp(logits.numpy().astype(float) / temperature)
    return e / e.sum()


def tempered_in_place(logits, temperature):
    z = logits.double().clone()
    z /= temperature
    return torch.softmax(z, 0)


def nucleus_by_loop(p, top):
    rows = []
    for row, line in zip(p.tolist(), top.tolist(), strict=True):
        kept, total = [0.0] * len(row), 0.0
        for i in sorted(range(len(row)), key=lambda i: -row[i]):
            if total >= line - 1e-9:
                break
            kept[i] = row[i]
            total += row[i]
        rows.append([value / total for value in kept])
    return rows


def nucleus_by_threshold(p, top):
    ranked = p.sort(descending=True).values
    number = (ranked.cumsum(-1) < top[:, None]).sum(-1, keepdim=True)  # all but the one that crosses the line
    kept = torch.where(p >= ranked.gather(1, number.clamp(max=p.shape[1] - 1)), p, 0.0)
    return torch.nn.functional.normalize(kept, p=1, dim=1)


def nucleus_in_numpy(p, top):
    kept = np.zeros(p.shape)
    for b, row in enumerate(p.numpy()):
        order = np.argsort(-row)
        best = order[: np.searchsorted(np.cumsum(row[order]), top[b].item()) + 1]
        kept[b, best] = row[best]
    return kept / kept.sum(1, keepdims=True)


def nucleus_by_pairs(p, top):
    likelier = ((p[:, None, :] > p[:, :, None]) * p[:, None, :]).sum(-1)  # what the likelier tokens have together
    return p.log().masked_fill(likelier >= top[:, None], -torch.inf).softmax(-1)


def top_k_by_topk(logits, k):
    result = torch.full_like(logits, -math.inf)
    for b, row in enumerate(logits):
        values, ids = row.topk(int(k[b]))
        result[b, ids] = values
    return result


def top_k_by_sort(logits, k):
    rank = logits.argsort(dim=-1, descending=True).argsort(dim=-1)
    return logits.clone().masked_fill_(rank >= k.unsqueeze(1), float("-inf"))


def top_k_by_rank(logits, k):
    rank = (logits[:, None] > logits[:, :, None]).sum(-1)
    return torch.where(rank < k[:, None], logits, torch.tensor(-torch.inf))


def top_k_by_lists(logits, k):
    rows = zip(logits.tolist(), k.tolist(), strict=True)
    return [[z if z in sorted(row, reverse=True)[:n] else -math.inf for z in row] for row, n in rows]


def beams_by_loops(scores, log_p):
    n, V = log_p.shape
    all_ = [(float(scores[b] + log_p[b, v]), b, v) for b in range(n) for v in range(V)]
    best = sorted(all_, reverse=True)[:n]
    return [b for _, b, _ in best], [v for _, _, v in best], [s for s, _, _ in best]


def beams_by_unravel(scores, log_p):
    total = log_p + scores.unsqueeze(1)
    best, index = torch.topk(total.reshape(-1), k=len(scores))
    beams, tokens = torch.unravel_index(index, total.shape)
    return beams, tokens, best


def beams_in_numpy(scores, log_p):
    total = scores.numpy()[:, None] + log_p.numpy()
    index = np.argsort(-total, axis=None)[: len(scores)]
    beams, tokens = np.unravel_index(index, total.shape)
    return beams, tokens, total[beams, tokens]


def beams_by_two_rounds(scores, log_p):
    n = len(scores)
    first, tokens = (scores[:, None] + log_p).topk(n, dim=-1)  # no beam has more than n of the best
    best, index = first.flatten().topk(n)
    return torch.div(index, n, rounding_mode="floor"), tokens.flatten()[index], best


def even_by_search(a, n, b, m):
    low, high = 0.0, 100.0
    while high - low > 1e-12:
        alpha = (low + high) / 2
        first, second = a / ((5 + n) / 6) ** alpha, b / ((5 + m) / 6) ** alpha
        low, high = (alpha, high) if first > second else (low, alpha)
    return (low + high) / 2


def mask_by_positions(new, cached):
    return torch.arange(cached, cached + new)[:, None] >= torch.arange(cached + new)[None, :]


def mask_from_whole(new, cached):
    whole = torch.ones(cached + new, cached + new).tril().bool()
    return whole[cached:]


def mask_joined(new, cached):
    return torch.cat([torch.ones(new, cached, dtype=torch.bool), torch.ones(new, new, dtype=torch.bool).tril()], dim=1)


def fit_by_token(memory, N, G, K, B, size):
    token = N * (G * K + G * K) * size
    return memory // B // token


def fit_of_tensors(memory, N, G, K, B, size):
    dtype = {2: torch.float16, 4: torch.float32}[size]
    one = torch.empty(N, 2, B, G, 1, K, dtype=dtype, device="meta")
    return math.floor(memory / (one.numel() * one.element_size()))


def fit_by_remainder(memory, N, G, K, B, size):
    each = 2 * N * G * K * B * size
    return (memory - memory % each) / each


def placed_by_arange(ids, cached, E, P):
    return math.sqrt(E.size(1)) * E[ids] + P[torch.arange(ids.size(1)) + cached]


def placed_by_whole(ids, cached, E, P):
    whole = torch.cat([torch.zeros(len(ids), cached, dtype=torch.long), ids], dim=1)
    return (E[whole] * E.shape[1] ** 0.5 + P[: whole.shape[1]])[:, cached:]


def placed_by_loops(ids, cached, E, P):
    rows = [[E[i] * E.shape[1] ** 0.5 + P[cached + t] for t, i in enumerate(row)] for row in ids.tolist()]
    return torch.stack([torch.stack(row) for row in rows])


def placed_in_numpy(ids, cached, E, P):
    E, P = E.double().numpy(), P.double().numpy()
    return E[ids.numpy()] * np.sqrt(E.shape[1]) + P[None, cached : cached + ids.shape[1]]


def nucleus_what_stands_before_each_by_comparing_pairs(p, top):
    before = (p[:, None, :] * (p[:, None, :] > p[:, :, None])).sum(-1)
    k = p * (before < top.unsqueeze(1))
    return k / k.sum(1, keepdim=True)


def nucleus_searchsorted_for_the_number_kept_threshold_on_p(p, top):
    r = p.sort(-1, descending=True).values
    n = torch.searchsorted(r.cumsum(-1), top[:, None].contiguous()).clamp(max=p.shape[1] - 1)
    k = torch.where(p >= r.gather(-1, n), p, 0.0)
    return k / k.sum(-1, keepdim=True)


def top_k_how_many_are_larger(logits, k):
    larger = (logits.unsqueeze(1) > logits.unsqueeze(2)).sum(2)
    return torch.where(larger < k.unsqueeze(1), logits, float("-inf"))


def top_k_adding_a_mask_of_zeros_and_minus_infinity_double(logits, k):
    rank = logits.neg().argsort(1).argsort(1)
    return logits + torch.zeros(logits.shape).masked_fill(rank >= k.view(-1, 1), -math.inf)


def greedy_by_growing_a_tensor(model, begin, end, most):
    ids = torch.tensor([begin])
    while ids.shape[1] < len(begin) + most:
        ids = torch.cat([ids, model(ids)[:, -1:].argmax(-1)], dim=1)
        if ids[0, -1] == end:
            break
    return ids[0, len(begin) :]


def greedy_by_recursion(model, begin, end, most):
    new = int(model(torch.tensor(begin)[None])[0, -1].topk(1).indices)
    return [new] if new == end or most == 1 else [new, *greedy_by_recursion(model, [*begin, new], end, most - 1)]


def greedy_cut_afterwards(model, begin, end, most):
    new = []
    for _ in range(most):
        new.append(model(torch.tensor([begin + new])).softmax(-1)[0, -1].argmax())
    texts = [int(i) for i in new]
    return texts[: texts.index(end) + 1] if end in texts else texts


def greedy_of_numpy(model, begin, end, most):
    ids = np.array(begin)
    for _ in range(most):
        ids = np.append(ids, np.argmax(model(torch.from_numpy(ids)[None]).numpy()[0, -1]))
        if ids[-1] == end:
            break
    return ids[len(begin) :]


def top_p_by_loop(p, enough):
    stays, total = [False] * len(p), 0.0
    for i in sorted(range(len(p)), key=lambda i: -p[i]):
        if total < enough - 1e-9:
            stays[i], total = True, total + p[i].item()
    return stays


def top_p_by_scatter(p, enough):
    ranked, ids = torch.sort(p, descending=True)
    return torch.zeros(len(p), dtype=torch.bool).scatter(0, ids, ranked.cumsum(0) - ranked < enough)


def top_p_by_threshold(p, enough):
    ranked = p.sort(descending=True).values
    last = int((ranked.cumsum(0) < enough).sum())
    return p >= ranked[last]


def top_p_by_pairs(p, enough):
    return (p * (p > p[:, None])).sum(-1) < enough


def top_p_in_numpy(p, enough):
    p = p.numpy()
    order = np.argsort(-p)
    stays = np.zeros(len(p), dtype=bool)
    stays[order[: np.searchsorted(np.cumsum(p[order]), enough) + 1]] = True
    return stays


def penalised_by_loop(logits, written, penalty):
    new = logits.tolist()
    for i in set(written.tolist()):
        new[i] = new[i] / penalty if new[i] > 0 else new[i] * penalty
    return new


def penalised_by_mask(logits, written, penalty):
    occurs = torch.isin(torch.arange(len(logits)), written)
    factor = torch.where(logits > 0, 1 / penalty, penalty)
    return torch.where(occurs, logits * factor, logits)


def penalised_by_power_of_the_sign(logits, written, penalty):
    occurs = torch.zeros_like(logits)
    occurs[written] = 1.0
    return logits * penalty ** (-occurs * logits.sign())


def penalised_in_numpy(logits, written, penalty):
    z = logits.numpy().copy()
    i = np.unique(written.numpy())
    z[i] = np.minimum(z[i] / penalty, z[i] * penalty)
    return z


class CachedBeforeSplit(Attention):
    """Keeps what belongs in the pair, but joins by stacking position after position."""

    def forward(self, x, past=None):
        rows, k, v = [], *(past or (None, None))
        for t in range(x.shape[1]):
            one = x[:, t : t + 1]
            q, k_new, v_new = (self.split(layer(one)) for layer in (self.query, self.key, self.value))
            k = k_new if k is None else torch.cat([k, k_new], -2)
            v = v_new if v is None else torch.cat([v, v_new], -2)
            rows.append(((q @ k.mT / math.sqrt(q.shape[-1])).softmax(-1) @ v).transpose(1, 2).flatten(-2))
        return self.output(torch.cat(rows, 1)), (k, v)


class CachedByLibrary(Attention):
    def forward(self, x, past=()):
        q, *new = map(self.split, (self.query(x), self.key(x), self.value(x)))
        k, v = (torch.cat(pair, dim=-2) for pair in zip(past, new, strict=True)) if past else new
        far = torch.arange(k.shape[-2])[None, :] <= torch.arange(k.shape[-2] - q.shape[-2], k.shape[-2])[:, None]
        heads = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=far)
        return self.output(heads.transpose(1, 2).flatten(-2)), [k, v]


class CachedFromEmpty(Attention):
    def forward(self, x, past=None):
        k_new, v_new = self.split(self.key(x)), self.split(self.value(x))
        old_k, old_v = past or (k_new[:, :, :0], v_new[:, :, :0])
        k, v = torch.cat((old_k, k_new), 2), torch.cat((old_v, v_new), 2)
        scores = self.split(self.query(x)) @ k.transpose(2, 3) * k.shape[3] ** -0.5
        scores = scores + torch.full(scores.shape[2:], -math.inf).triu(k.shape[2] - x.shape[1] + 1)
        return self.output((scores.softmax(3) @ v).transpose(1, 2).reshape(x.shape)), (k, v)


class CachedInEinsum(Attention):
    def forward(self, x, past=None):
        q, k, v = self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x))
        if past:
            k = torch.hstack([past[0].transpose(1, 2), k.transpose(1, 2)]).transpose(1, 2)
            v = torch.concat([past[1], v], axis=2)
        scores = torch.einsum("bhtk,bhsk->bhts", q, k) / q.shape[-1] ** 0.5
        T, S = scores.shape[2:]
        for t in range(T):
            scores[:, :, t, S - T + t + 1 :] = -math.inf
        mixed = torch.einsum("bhts,bhsk->bthk", scores.softmax(-1), v)
        return self.output(mixed.flatten(2)), (k, v)


def allowed_by_recursion(grammar, written, V, state=0):
    if not written:
        return torch.tensor([token in grammar[state] for token in range(V)])
    if written[0] not in grammar[state]:
        return torch.zeros(V, dtype=bool)
    return allowed_by_recursion(grammar, written[1:], V, grammar[state][written[0]])


def allowed_in_numpy(grammar, written, V):
    state = 0
    for token in written:
        state = grammar.get(state, {}).get(token)
    mask = np.zeros(V, dtype=bool)
    mask[list(grammar.get(state, {}))] = True
    return mask


def allowed_as_a_list(grammar, written, V):
    here = grammar[0]
    for token in written:
        here = grammar[here[token]] if token in here else {}
    return [token in here for token in range(V)]


def allowed_by_one_hot(grammar, written, V):
    states = {0}
    for token in written:
        states = {to for state in states for by, to in grammar[state].items() if by == token}
    tokens = torch.tensor([token for state in states for token in grammar[state]], dtype=torch.long)
    return torch.nn.functional.one_hot(tokens, V).sum(0) > 0 if len(tokens) else torch.zeros(V).bool()


def constrained_by_sorting(model, begin, end, most, may_come):
    ids = list(begin)
    while len(ids) < len(begin) + most and (len(ids) == len(begin) or ids[-1] != end):
        order = model(torch.tensor([ids]))[0, -1].argsort(descending=True).tolist()
        mask = may_come(ids[len(begin) :])
        ids.append(next(token for token in order if mask[token]))
    return ids[len(begin) :]


def constrained_by_index(model, begin, end, most, may_come):
    new = []
    while len(new) < most and end not in new:
        places = may_come(new).nonzero()[:, 0]
        new.append(int(places[model(torch.tensor([begin + new]))[0, -1][places].argmax()]))
    return new


def constrained_by_where(model, begin, end, most, may_come):
    new = torch.tensor([], dtype=torch.long)
    for _ in range(most):
        p = model(torch.cat([torch.tensor(begin), new])[None])[0, -1].softmax(-1)
        new = torch.cat([new, torch.where(may_come(new.tolist()), p, -1.0).argmax()[None]])
        if new[-1] == end:
            return new.tolist()
    return new.tolist()


def constrained_by_recursion(model, begin, end, most, may_come, new=()):
    if most == len(new) or end in new:
        return list(new)
    logits = model(torch.tensor([[*begin, *new]]))[0, -1].clone()
    logits[~may_come(list(new))] = -torch.inf
    return constrained_by_recursion(model, begin, end, most, may_come, (*new, logits.argmax().item()))


RIGHT = {
    "CachedAttention": named(CachedBeforeSplit, CachedByLibrary, CachedFromEmpty, CachedInEinsum),
    "allowed": named(allowed_by_recursion, allowed_in_numpy, allowed_as_a_list, allowed_by_one_hot),
    "constrained": named(constrained_by_sorting, constrained_by_index, constrained_by_where, constrained_by_recursion),
    "tempered": named(tempered_by_exp, tempered_by_power, tempered_in_numpy, tempered_in_place),
    "nucleus": named(
        nucleus_by_loop,
        nucleus_by_threshold,
        nucleus_in_numpy,
        nucleus_by_pairs,
        nucleus_what_stands_before_each_by_comparing_pairs,
        nucleus_searchsorted_for_the_number_kept_threshold_on_p,
    ),
    "top_k_logits": named(
        top_k_by_topk,
        top_k_by_sort,
        top_k_by_rank,
        top_k_by_lists,
        top_k_how_many_are_larger,
        top_k_adding_a_mask_of_zeros_and_minus_infinity_double,
    ),
    "next_beams": named(beams_by_loops, beams_by_unravel, beams_in_numpy, beams_by_two_rounds),
    "break_even": named(even_by_search)
    | {
        "even_by_differences": lambda a, n, b, m: (math.log(-b) - math.log(-a)) / (math.log(5 + m) - math.log(5 + n)),
        "even_by_base": lambda a, n, b, m: math.log(b / a, (5 + m) / (5 + n)),
        "even_in_numpy": lambda a, n, b, m: np.log2(b / a) / np.log2(((5 + m) / 6) / ((5 + n) / 6)),
    },
    "cached_mask": named(mask_by_positions, mask_from_whole, mask_joined)
    | {
        "mask_by_loops": lambda new, cached: [[s <= cached + t for s in range(cached + new)] for t in range(new)],
    },
    "cached_input": named(placed_by_arange, placed_by_whole, placed_by_loops, placed_in_numpy),
    "tokens_that_fit": named(fit_by_token, fit_of_tensors, fit_by_remainder)
    | {
        "fit_by_division": lambda memory, N, G, K, B, size: int(memory / math.prod([2, N, G, K, B, size])),
    },
    "greedy": named(greedy_by_growing_a_tensor, greedy_by_recursion, greedy_cut_afterwards, greedy_of_numpy),
    "top_p": named(top_p_by_loop, top_p_by_scatter, top_p_by_threshold, top_p_by_pairs, top_p_in_numpy),
    "penalised": named(penalised_by_loop, penalised_by_mask, penalised_by_power_of_the_sign, penalised_in_numpy),
}
