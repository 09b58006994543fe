"""Right answers to the lesson's exercises in unusual forms: all must pass."""

import math

import numpy as np
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


def in_numpy(Q, K):
    e = np.exp(Q.numpy().T @ K.numpy() / np.sqrt(Q.shape[0]))
    return e / e.sum(axis=-1, keepdims=True)


def in_place(Q, K):
    scores = Q.T @ K
    scores /= math.sqrt(Q.size(0))
    scores -= scores.max(dim=-1, keepdim=True).values
    scores.exp_()
    scores /= scores.sum(dim=-1, keepdim=True)
    return scores


def head_by_einsum(x, M, W_v, d_k, tau):
    scores = torch.einsum("btd,de,bse,bt->bts", x, M, x, 1 / tau) / d_k**0.5
    return torch.einsum("bts,bsd,dk->btk", torch.softmax(scores, -1), x, W_v)


def head_by_pytorch(x, M, W_v, d_k, tau):  # queries x M, cooler or hotter, keys x
    return torch.nn.functional.scaled_dot_product_attention(x @ M / tau.unsqueeze(-1), x, x @ W_v, scale=d_k**-0.5)


def head_sentence_by_sentence(x, M, W_v, d_k, tau):
    pairs = zip(x, tau, strict=True)
    return torch.stack([(one @ (M / d_k**0.5) @ one.T / t.view(-1, 1)).softmax(-1) @ (one @ W_v) for one, t in pairs])


def head_with_queries_again(x, M, W_v, d_k, tau):  # some W_q and W_k that give M
    U, S, Vh = torch.linalg.svd(M.double())
    Q, K = x.double() @ U, x.double() @ (torch.diag(S) @ Vh).T
    e = (Q @ K.mT / math.sqrt(d_k)).exp() ** (1 / tau)[..., None]
    return (e / e.sum(-1, keepdim=True)).float() @ (x @ W_v)


def cross_by_transposing(x, memory, W_q, W_kv):
    Q, KV = (x @ W_q).transpose(0, 1), (memory @ W_kv).transpose(0, 1)
    w = (Q @ KV[..., : Q.shape[-1]].mT / W_q.shape[1] ** 0.5).softmax(-1)
    return [(w @ KV[..., Q.shape[-1] :]).transpose(0, 1), w]


def cross_by_loops(x, memory, W_q, W_kv):
    W_k, W_v = W_kv.chunk(2, dim=1)
    outputs, weights = [], []
    for b in range(x.shape[1]):
        w = ((x[:, b] @ W_q) @ (memory[:, b] @ W_k).T / math.sqrt(W_q.shape[1])).softmax(-1)
        weights.append(w)
        outputs.append(sum(w[:, s, None] * (memory[s, b] @ W_v) for s in range(len(memory))))
    return torch.stack(outputs, dim=1), torch.stack(weights)


def cross_in_numpy(x, memory, W_q, W_kv):
    W_k, W_v = np.split(W_kv.numpy(), 2, axis=1)
    Q, K, V = (z.numpy().swapaxes(0, 1) @ W for z, W in ((x, W_q.numpy()), (memory, W_k), (memory, W_v)))
    e = np.exp(Q @ K.swapaxes(1, 2) / np.sqrt(Q.shape[-1]))
    w = e / e.sum(-1, keepdims=True)
    return (w @ V).swapaxes(0, 1), w


def cross_by_baddbmm(x, memory, W_q, W_kv):
    Q = (x @ W_q).permute(1, 0, 2)
    K, V = (memory @ W_kv).permute(1, 0, 2).split(W_q.shape[1], dim=-1)
    w = torch.baddbmm(torch.zeros(Q.shape[0], len(x), len(memory)), Q, K.mT, alpha=Q.shape[-1] ** -0.5).softmax(-1)
    return torch.bmm(w, V).permute(1, 0, 2), w


def backward_by_matrices(z, g):  # not as asked, but right
    p = torch.softmax(z, -1)
    return torch.einsum("ti,tij->tj", g, torch.diag_embed(p) - p[:, :, None] * p[:, None, :])


def backward_by_loops(z, g):
    rows = []
    for one, pull in zip(z, g, strict=True):
        p = one.softmax(0)
        mean = sum(a * b for a, b in zip(p, pull, strict=True))
        rows.append([p[j] * (pull[j] - mean) for j in range(len(p))])
    return rows


def backward_in_numpy(z, g):
    e = np.exp(z.numpy().astype("float64"))
    p = e / e.sum(-1, keepdims=True)
    return p * g.numpy() - p * (p * g.numpy()).sum(-1, keepdims=True)


def backward_by_autograd(z, g):  # not what was asked for, but right
    z = z.clone().requires_grad_()
    return torch.autograd.grad(z.softmax(-1), z, g)[0]


def backward_in_place(z, g):
    p = z.softmax(-1)
    pulled = p * g
    pulled -= p * pulled.sum(-1, keepdim=True)
    return pulled


def flops_of_products(T, D):
    products = [(T, D, D)] * 4 + [(T, D, T), (T, T, D)]
    return sum(2 * m * k * n for m, k, n in products)


def weights_scaled_dot_product_attention_on_the_identity(Q, K):
    return F.scaled_dot_product_attention(Q.T[None], K.T[None], torch.eye(K.shape[1], dtype=K.dtype)[None])[0]


def head_svd_of_m_with_built_in_attention(x, M, W_v, d_k, tau):
    U, S, Vh = torch.linalg.svd(M.double())
    q, k, v = x.double() @ (U * S) / tau[..., None].double(), x.double() @ Vh.T, x.double() @ W_v.double()
    return F.scaled_dot_product_attention(q, k, v, scale=d_k**-0.5).to(x.dtype)


def cross_sentence_by_sentence_list_returned(x, memory, W_q, W_kv):
    k = W_q.shape[1]
    outs, ws = [], []
    for b in range(x.shape[1]):
        w = torch.softmax(x[:, b] @ W_q @ (memory[:, b] @ W_kv[:, :k]).T / k**0.5, dim=1)
        ws.append(w)
        outs.append(w @ (memory[:, b] @ W_kv[:, k:]))
    return [torch.stack(outs, 1), torch.stack(ws)]


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


def mix_in_numpy(x):
    x = x.numpy().astype("float64")
    e = np.exp(x @ x.T)
    return e / e.sum(1, keepdims=True) @ x


def attention_by_einsum(q, k, v):
    weights = torch.softmax(torch.einsum("...tk,...sk->...ts", q, k) / math.sqrt(k.shape[-1]), dim=-1)
    return torch.einsum("...ts,...sv->...tv", weights, v)


def attention_query_by_query(q, k, v):
    rows = []
    for t in range(q.shape[-2]):
        scores = (q[..., t : t + 1, :] * k).sum(-1) * q.shape[-1] ** -0.5
        rows.append((scores.softmax(-1)[..., None] * v).sum(-2))
    return torch.stack(rows, dim=-2)


def attention_with_keys_scaled(q, k, v):
    scores = torch.matmul(q, (k / k.shape[-1] ** 0.5).mT)
    e = (scores - scores.amax(-1, keepdim=True)).exp()
    return e @ v / e.sum(-1, keepdim=True)


def causal_row_by_row(q, k, v):
    out, weights = [], torch.zeros(len(q), len(k))
    for t in range(len(q)):
        weights[t, : t + 1] = torch.softmax(k[: t + 1] @ q[t] / math.sqrt(len(q[t])), 0)
        out.append(weights[t] @ v)
    return torch.stack(out), weights


def causal_by_the_kernel(q, k, v):
    eye = torch.eye(len(k))
    return [F.scaled_dot_product_attention(q, k, each, is_causal=True) for each in (v, eye)]


def causal_with_a_large_negative_number(q, k, v):
    scores = q @ k.T / q.shape[1] ** 0.5 + torch.full((len(q), len(k)), -1e9).triu(1)
    return scores.softmax(1) @ v, scores.softmax(1)


def causal_divided_again(q, k, v):
    z = q @ k.T / math.sqrt(k.shape[-1])
    largest = torch.stack([row[: t + 1].max() for t, row in enumerate(z)])  # of the scores that may be seen
    e = (z - largest[:, None]).tril().exp().tril()
    weights = e / e.sum(-1, keepdim=True)
    return weights @ v, weights


def join_by_powers_of_the_gap(o1, l1, o2, l2):
    share = torch.sigmoid(l1 - l2)[:, None]
    return o2 + share * (o1 - o2), l2 + F.softplus(l1 - l2)


def join_in_numpy(o1, l1, o2, l2):
    top = np.maximum(l1.numpy(), l2.numpy())
    a, b = np.exp(l1.numpy() - top), np.exp(l2.numpy() - top)
    output = (o1.numpy() * a[:, None] + o2.numpy() * b[:, None]) / (a + b)[:, None]
    return output, top + np.log(a + b)


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


def pieces_from_the_end(q, k, v, size, join):
    found = None
    for keys, values in reversed(list(zip(k.split(size), v.split(size), strict=True))):
        z = torch.einsum("td,sd->ts", q, keys) * k.shape[1] ** -0.5
        new = torch.softmax(z, 1) @ values, torch.logsumexp(z, 1)
        found = join(*new, *found) if found else new
    return found


def pieces_two_by_two(q, k, v, size, join):
    if len(k) <= size:
        z = q @ k.T / math.sqrt(q.size(1))
        e = z.exp()
        return e @ v / e.sum(1, keepdim=True), e.sum(1).log()
    half = -(-len(k) // size) // 2 * size
    first = pieces_two_by_two(q, k[:half], v[:half], size, join)
    return join(*first, *pieces_two_by_two(q, k[half:], v[half:], size, join))


def pieces_query_by_query(q, k, v, size, join):
    """In double precision, each query's running look by itself."""
    rows = []
    for asked in q.double().split(1):
        found = (torch.zeros(1, v.shape[1]).double(), torch.full((1,), -math.inf).double())
        for start in range(0, len(k), size):
            z = asked @ k[start : start + size].double().T / math.sqrt(q.shape[1])
            found = join(*found, torch.softmax(z, 1) @ v[start : start + size].double(), torch.logsumexp(z, 1))
        rows.append(found)
    return [torch.cat(parts) for parts in zip(*rows, strict=True)]


RIGHT = {
    "join_looks": named(join_by_powers_of_the_gap, join_in_numpy, join_by_a_softmax, join_in_double_query_by_query),
    "attention_in_pieces": named(pieces_from_nothing, pieces_from_the_end, pieces_two_by_two, pieces_query_by_query),
    "mix": named(mix_by_loops, mix_in_numpy)
    | {
        "by_the_kernel": lambda x: F.scaled_dot_product_attention(x[None], x[None], x[None], scale=1.0)[0],
        "by_einsum": lambda x: torch.einsum("ts,sd->td", torch.softmax(torch.einsum("td,sd->ts", x, x), 1), x),
        "columns_then_turned": lambda x: torch.softmax(x @ x.T, 0).T @ x,
    },
    "attention": named(attention_by_einsum, attention_query_by_query, attention_with_keys_scaled)
    | {
        "the_kernel": F.scaled_dot_product_attention,
        "in_double": lambda q, k, v: (q.double() @ k.double().mT / q.shape[-1] ** 0.5).softmax(-1) @ v.double(),
    },
    "causal_attention": named(
        causal_row_by_row, causal_by_the_kernel, causal_with_a_large_negative_number, causal_divided_again
    ),
    "attention_weights": named(by_loops, in_numpy, in_place, weights_scaled_dot_product_attention_on_the_identity)
    | {
        "by_einsum": lambda Q, K: torch.softmax(torch.einsum("kt,ks->ts", Q * len(Q) ** -0.5, K), dim=1),
        "in_float64": lambda Q, K: torch.softmax((K.double().T @ Q.double()).T / Q.shape[0] ** 0.5, -1),
        "column_by_column": lambda Q, K: (K.T @ Q / math.sqrt(len(K))).softmax(0).T,
    },
    "one_head": named(
        head_by_einsum,
        head_by_pytorch,
        head_sentence_by_sentence,
        head_with_queries_again,
        head_svd_of_m_with_built_in_attention,
    ),
    "cross_attention": named(
        cross_by_transposing,
        cross_by_loops,
        cross_in_numpy,
        cross_by_baddbmm,
        cross_sentence_by_sentence_list_returned,
        cross_keys_never_made_w_q_w_k_t,
    ),
    "softmax_backward": named(
        backward_by_matrices,
        backward_by_loops,
        backward_in_numpy,
        backward_by_autograd,
        backward_in_place,
        backward_the_mean_by_bmm_sum_to_size,
    ),
    "attention_flops": named(flops_of_products)
    | {
        "flops_factored": lambda T, D: 4 * T * D * (2 * D + T),
        "flops_as_float": lambda T, D: 8.0 * T * D**2 + 4.0 * T**2 * D,
        "flops_as_tensor": lambda T, D: torch.tensor(8 * T * D * D) + 4 * T * T * D,
    },
}
