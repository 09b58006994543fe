"""Right answers to the lesson's exercises by other algorithms: all must pass."""

import math

import torch
import torch.nn.functional as F

from answer_tables import named


def by_loops(Q, K):
    rows = []
    for q in Q.T:
        scores = torch.stack([sum(a * b for a, b in zip(q, k, strict=True)) / math.sqrt(len(q)) for k in K.T])
        e = torch.exp(scores - scores.max())
        rows.append(e / e.sum())
    return torch.stack(rows)


def head_by_einsum(x, M, W_v, d_k, tau):
    scores = torch.einsum("btd,de,bse,bt->bts", x, M, x, 1 / tau) / d_k**0.5
    return torch.einsum("bts,bsd,dk->btk", torch.softmax(scores, -1), x, W_v)


def cross_by_loops(x, memory, W_q, W_kv):
    W_k, W_v = W_kv.chunk(2, dim=1)
    outputs, weights = [], []
    for b in range(x.shape[1]):
        w = ((x[:, b] @ W_q) @ (memory[:, b] @ W_k).T / math.sqrt(W_q.shape[1])).softmax(-1)
        weights.append(w)
        outputs.append(sum(w[:, s, None] * (memory[s, b] @ W_v) for s in range(len(memory))))
    return torch.stack(outputs, dim=1), torch.stack(weights)


def backward_by_loops(z, g):
    rows = []
    for one, pull in zip(z, g, strict=True):
        p = one.softmax(0)
        mean = sum(a * b for a, b in zip(p, pull, strict=True))
        rows.append([p[j] * (pull[j] - mean) for j in range(len(p))])
    return rows


def flops_of_products(T, D):
    products = [(T, D, D)] * 4 + [(T, D, T), (T, T, D)]
    return sum(2 * m * k * n for m, k, n in products)


def head_svd_of_m_with_built_in_attention(x, M, W_v, d_k, tau):
    U, S, Vh = torch.linalg.svd(M.double())
    q, k, v = x.double() @ (U * S) / tau[..., None].double(), x.double() @ Vh.T, x.double() @ W_v.double()
    return F.scaled_dot_product_attention(q, k, v, scale=d_k**-0.5).to(x.dtype)


def cross_keys_never_made_w_q_w_k_t(x, memory, W_q, W_kv):
    k = W_q.shape[-1]
    A = W_q @ W_kv[:, :k].T / math.sqrt(k)
    w = torch.einsum("tbd,de,sbe->bts", x, A, memory).softmax(-1)
    return torch.einsum("bts,sbd->tbd", w, memory) @ W_kv[:, k:], w


def backward_the_mean_by_bmm_sum_to_size(z, g):
    p = torch.softmax(z, 1)
    mean = torch.bmm(p.unsqueeze(1), g.unsqueeze(2)).squeeze(2)
    return torch.addcmul(p * g, p, mean.expand_as(p), value=-1)


def mix_by_loops(x):
    rows = []
    for one in x:
        e = torch.stack([one @ other for other in x])
        e = (e - e.max()).exp()
        rows.append(sum(weight * other for weight, other in zip(e / e.sum(), x, strict=True)))
    return torch.stack(rows)


def attention_query_by_query(q, k, v):
    rows = []
    for t in range(q.shape[-2]):
        scores = (q[..., t : t + 1, :] * k).sum(-1) * q.shape[-1] ** -0.5
        rows.append((scores.softmax(-1)[..., None] * v).sum(-2))
    return torch.stack(rows, dim=-2)


def causal_row_by_row(q, k, v):
    out, weights = [], torch.zeros(len(q), len(k))
    for t in range(len(q)):
        weights[t, : t + 1] = torch.softmax(k[: t + 1] @ q[t] / math.sqrt(len(q[t])), 0)
        out.append(weights[t] @ v)
    return torch.stack(out), weights


def causal_by_the_kernel(q, k, v):
    eye = torch.eye(len(k))
    return [F.scaled_dot_product_attention(q, k, each, is_causal=True) for each in (v, eye)]


def join_by_a_softmax(o1, l1, o2, l2):
    both = torch.stack([l1, l2])
    return torch.einsum("gt,gtd->td", both.softmax(0), torch.stack([o1, o2])), both.logsumexp(0)


def join_in_double_query_by_query(o1, l1, o2, l2):
    outputs, logs = [], []
    for a, la, b, lb in zip(o1.double(), l1.double(), o2.double(), l2.double(), strict=True):
        logs.append(torch.logaddexp(la, lb))
        outputs.append(a * torch.exp(la - logs[-1]) + b * torch.exp(lb - logs[-1]))
    return torch.stack(outputs), torch.stack(logs)


def pieces_from_nothing(q, k, v, size, join):
    output, logs = q.new_zeros(len(q), v.shape[1]), q.new_full((len(q),), -torch.inf)
    for keys, values in zip(k.split(size), v.split(size), strict=True):
        z = q @ keys.T / math.sqrt(k.shape[1])
        output, logs = join(output, logs, z.softmax(-1) @ values, z.logsumexp(-1))
    return output, logs


def pieces_two_by_two(q, k, v, size, join):
    if len(k) <= size:
        z = q @ k.T / math.sqrt(q.size(1))
        e = z.exp()
        return e @ v / e.sum(1, keepdim=True), e.sum(1).log()
    half = -(-len(k) // size) // 2 * size
    first = pieces_two_by_two(q, k[:half], v[:half], size, join)
    return join(*first, *pieces_two_by_two(q, k[half:], v[half:], size, join))


RIGHT = {
    "join_looks": named(join_by_a_softmax, join_in_double_query_by_query),
    "attention_in_pieces": named(pieces_from_nothing, pieces_two_by_two),
    "mix": named(mix_by_loops)
    | {
        "by_the_kernel": lambda x: F.scaled_dot_product_attention(x[None], x[None], x[None], scale=1.0)[0],
    },
    "attention": named(attention_query_by_query)
    | {
        "the_kernel": F.scaled_dot_product_attention,
    },
    "causal_attention": named(causal_row_by_row, causal_by_the_kernel),
    "attention_weights": named(by_loops)
    | {
        "by_einsum": lambda Q, K: torch.softmax(torch.einsum("kt,ks->ts", Q * len(Q) ** -0.5, K), dim=1),
    },
    "one_head": named(head_by_einsum, head_svd_of_m_with_built_in_attention),
    "cross_attention": named(cross_by_loops, cross_keys_never_made_w_q_w_k_t),
    "softmax_backward": named(backward_by_loops, backward_the_mean_by_bmm_sum_to_size),
    "attention_flops": named(flops_of_products)
    | {
        "flops_factored": lambda T, D: 4 * T * D * (2 * D + T),
    },
}
