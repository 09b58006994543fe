"""Right answers to the lesson's exercises by other algorithms: all must pass."""

import math

import torch

from answer_tables import named
from tx_helpers.plain import Attention


def tempered_by_exp(logits, temperature):
    e = torch.exp((logits - logits.max()) / temperature)
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


def nucleus_by_pairs(p, top):
    likelier = ((p[:, None, :] > p[:, :, None]) * p[:, None, :]).sum(-1)  # what the likelier tokens have together
    return p.log().masked_fill(likelier >= top[:, None], -torch.inf).softmax(-1)


def top_k_by_topk(logits, k):
    result = torch.full_like(logits, -math.inf)
    for b, row in enumerate(logits):
        values, ids = row.topk(int(k[b]))
        result[b, ids] = values
    return result


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


def even_by_search(a, n, b, m):
    low, high = 0.0, 100.0
    while high - low > 1e-12:
        alpha = (low + high) / 2
        first, second = a / ((5 + n) / 6) ** alpha, b / ((5 + m) / 6) ** alpha
        low, high = (alpha, high) if first > second else (low, alpha)
    return (low + high) / 2


def mask_by_positions(new, cached):
    return torch.arange(cached, cached + new)[:, None] >= torch.arange(cached + new)[None, :]


def fit_of_tensors(memory, N, G, K, B, size):
    dtype = {2: torch.float16, 4: torch.float32}[size]
    one = torch.empty(N, 2, B, G, 1, K, dtype=dtype, device="meta")
    return math.floor(memory / (one.numel() * one.element_size()))


def placed_by_arange(ids, cached, E, P):
    return math.sqrt(E.size(1)) * E[ids] + P[torch.arange(ids.size(1)) + cached]


def placed_by_loops(ids, cached, E, P):
    rows = [[E[i] * E.shape[1] ** 0.5 + P[cached + t] for t, i in enumerate(row)] for row in ids.tolist()]
    return torch.stack([torch.stack(row) for row in rows])


def top_k_how_many_are_larger(logits, k):
    larger = (logits.unsqueeze(1) > logits.unsqueeze(2)).sum(2)
    return torch.where(larger < k.unsqueeze(1), logits, float("-inf"))


def greedy_by_recursion(model, begin, end, most):
    new = int(model(torch.tensor(begin)[None])[0, -1].topk(1).indices)
    return [new] if new == end or most == 1 else [new, *greedy_by_recursion(model, [*begin, new], end, most - 1)]


def greedy_cut_afterwards(model, begin, end, most):
    new = []
    for _ in range(most):
        new.append(model(torch.tensor([begin + new])).softmax(-1)[0, -1].argmax())
    texts = [int(i) for i in new]
    return texts[: texts.index(end) + 1] if end in texts else texts


def top_p_by_loop(p, enough):
    stays, total = [False] * len(p), 0.0
    for i in sorted(range(len(p)), key=lambda i: -p[i]):
        if total < enough - 1e-9:
            stays[i], total = True, total + p[i].item()
    return stays


def top_p_by_pairs(p, enough):
    return (p * (p > p[:, None])).sum(-1) < enough


def penalised_by_loop(logits, written, penalty):
    new = logits.tolist()
    for i in set(written.tolist()):
        new[i] = new[i] / penalty if new[i] > 0 else new[i] * penalty
    return new


def penalised_by_power_of_the_sign(logits, written, penalty):
    occurs = torch.zeros_like(logits)
    occurs[written] = 1.0
    return logits * penalty ** (-occurs * logits.sign())


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


class CachedFromEmpty(Attention):
    def forward(self, x, past=None):
        k_new, v_new = self.split(self.key(x)), self.split(self.value(x))
        old_k, old_v = past or (k_new[:, :, :0], v_new[:, :, :0])
        k, v = torch.cat((old_k, k_new), 2), torch.cat((old_v, v_new), 2)
        scores = self.split(self.query(x)) @ k.transpose(2, 3) * k.shape[3] ** -0.5
        scores = scores + torch.full(scores.shape[2:], -math.inf).triu(k.shape[2] - x.shape[1] + 1)
        return self.output((scores.softmax(3) @ v).transpose(1, 2).reshape(x.shape)), (k, v)


def allowed_by_recursion(grammar, written, V, state=0):
    if not written:
        return torch.tensor([token in grammar[state] for token in range(V)])
    if written[0] not in grammar[state]:
        return torch.zeros(V, dtype=bool)
    return allowed_by_recursion(grammar, written[1:], V, grammar[state][written[0]])


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


RIGHT = {
    "CachedAttention": named(CachedBeforeSplit, CachedFromEmpty),
    "allowed": named(allowed_by_recursion, allowed_by_one_hot),
    "constrained": named(constrained_by_sorting, constrained_by_index),
    "tempered": named(tempered_by_exp, tempered_in_place),
    "nucleus": named(nucleus_by_loop, nucleus_by_pairs),
    "top_k_logits": named(top_k_by_topk, top_k_how_many_are_larger),
    "next_beams": named(beams_by_loops, beams_by_unravel),
    "break_even": named(even_by_search)
    | {
        "even_by_differences": lambda a, n, b, m: (math.log(-b) - math.log(-a)) / (math.log(5 + m) - math.log(5 + n)),
    },
    "cached_mask": named(mask_by_positions)
    | {
        "mask_by_loops": lambda new, cached: [[s <= cached + t for s in range(cached + new)] for t in range(new)],
    },
    "cached_input": named(placed_by_arange, placed_by_loops),
    "tokens_that_fit": named(fit_of_tensors)
    | {
        "fit_by_division": lambda memory, N, G, K, B, size: int(memory / math.prod([2, N, G, K, B, size])),
    },
    "greedy": named(greedy_by_recursion, greedy_cut_afterwards),
    "top_p": named(top_p_by_loop, top_p_by_pairs),
    "penalised": named(penalised_by_loop, penalised_by_power_of_the_sign),
}
