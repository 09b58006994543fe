"""Right answers to notebook 04's exercises in other clothes: all must pass."""

import math

import numpy as np
import torch


def by_loops(Q, K):
    rows = []
    for q in Q:
        scores = torch.stack([sum(a * b for a, b in zip(q, k, strict=True)) / math.sqrt(len(q)) for k in K])
        e = torch.exp(scores - scores.max())
        rows.append(e / e.sum())
    return torch.stack(rows)


def by_einsum(Q, K):
    return torch.softmax(torch.einsum("tk,sk->ts", Q * Q.shape[1] ** -0.5, K), dim=1)


def in_float64(Q, K):
    return torch.softmax(Q.double() @ K.double().T / Q.shape[-1] ** 0.5, -1)


def in_numpy(Q, K):
    e = np.exp(Q.numpy() @ K.numpy().T / np.sqrt(Q.shape[-1]))
    return e / e.sum(axis=-1, keepdims=True)


def in_place(Q, K):
    scores = Q @ K.T
    scores /= math.sqrt(Q.shape[-1])
    scores -= scores.max(dim=-1, keepdim=True).values
    scores.exp_()
    scores /= scores.sum(dim=-1, keepdim=True)
    return scores


def head_by_einsum(x, W_q, W_k, W_v):
    Q, K, V = (torch.einsum("btd,dk->btk", x, W) for W in (W_q, W_k, W_v))
    return torch.einsum("bts,bsk->btk", torch.softmax(torch.einsum("btk,bsk->bts", Q, K) / Q.shape[-1] ** 0.5, -1), V)


def head_by_pytorch(x, W_q, W_k, W_v):
    return torch.nn.functional.scaled_dot_product_attention(x @ W_q, x @ W_k, x @ W_v)


def head_sentence_by_sentence(x, W_q, W_k, W_v):
    return torch.stack([by_einsum(one @ W_q, one @ W_k) @ (one @ W_v) for one in x])


def head_scaled_before(x, W_q, W_k, W_v):
    Q = x @ (W_q / math.sqrt(W_q.size(1)))
    scores = Q.double() @ (x @ W_k).double().mT
    e = (scores - scores.amax(-1, keepdim=True)).exp()
    return e @ (x @ W_v).double() / e.sum(-1, keepdim=True)


def cross_by_weights(x, memory, W_q, W_k, W_v):
    w = by_einsum(x @ W_q, memory @ W_k)
    return [w @ memory @ W_v, w]


def cross_by_loops(x, memory, W_q, W_k, W_v):
    w = by_loops(x @ W_q, memory @ W_k)
    return sum(w[:, s, None] * (memory @ W_v)[s] for s in range(len(memory))), w


def cross_in_numpy(x, memory, W_q, W_k, W_v):
    w = in_numpy(x @ W_q, memory @ W_k)
    return w @ (memory @ W_v).numpy(), w


def cross_batched(x, memory, W_q, W_k, W_v):
    Q, K, V = (x @ W_q)[None], (memory @ W_k)[None], (memory @ W_v)[None]
    w = torch.baddbmm(torch.zeros(1, len(x), len(memory)), Q, K.mT, alpha=Q.shape[-1] ** -0.5).softmax(-1)
    return (w @ V)[0], w[0]


def jacobian_by_formula(z):
    p = torch.softmax(z, 0)
    return p[:, None] * (torch.eye(len(z)) - p[None, :])


def jacobian_by_loops(z):
    e = (z - z.max()).exp()
    p = e / e.sum()
    return [[p[i] * (int(i == j) - p[j]) for j in range(len(z))] for i in range(len(z))]


def jacobian_in_numpy(z):
    e = np.exp(z.numpy().astype("float64"))
    p = e / e.sum()
    return np.diag(p) - np.outer(p, p)


def jacobian_by_autograd(z):  # not what was asked for, but right
    return torch.autograd.functional.jacobian(lambda v: v.softmax(-1), z)


def jacobian_in_place(z):
    J = torch.diag(z.softmax(-1))
    J -= torch.outer(z.softmax(-1), z.softmax(-1))
    return J


def flops_of_products(T, D):
    products = [(T, D, D)] * 4 + [(T, D, T), (T, T, D)]
    return sum(2 * m * k * n for m, k, n in products)


def flops_factored(T, D):
    return 4 * T * D * (2 * D + T)


def flops_as_float(T, D):
    return 8.0 * T * D**2 + 4.0 * T**2 * D


def flops_as_tensor(T, D):
    return torch.tensor(8 * T * D * D) + 4 * T * T * D


RIGHT = {
    "attention_weights": [by_loops, by_einsum, in_float64, in_numpy, in_place],
    "one_head": [head_by_einsum, head_by_pytorch, head_sentence_by_sentence, head_scaled_before],
    "cross_attention": [cross_by_weights, cross_by_loops, cross_in_numpy, cross_batched],
    "softmax_jacobian": [
        jacobian_by_formula,
        jacobian_by_loops,
        jacobian_in_numpy,
        jacobian_by_autograd,
        jacobian_in_place,
    ],
    "attention_flops": [flops_of_products, flops_factored, flops_as_float, flops_as_tensor],
}
