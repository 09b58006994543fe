"""Wrong answers to the lesson's exercises, unlike any in the bank: none may pass."""

import math

import torch

from answer_tables import named


def _head(x, M, W_v, scale):
    return (x @ M @ x.mT / scale).softmax(-1) @ x @ W_v


def head_across_all_sentences(x, M, W_v, d_k, tau):
    words = x.flatten(0, 1)
    scores = words @ M @ words.T / math.sqrt(d_k) / tau.view(-1, 1)
    return (torch.softmax(scores, 1) @ words @ W_v).view(*x.shape[:2], -1)


def cross_output_without_the_scale(x, memory, W_q, W_kv):
    W_k, W_v = W_kv.chunk(2, dim=1)
    scores = torch.einsum("tbk,sbk->bts", x @ W_q, memory @ W_k)
    output = torch.einsum("bts,sbk->tbk", torch.softmax(scores, -1), memory @ W_v)
    return output, torch.softmax(scores / math.sqrt(W_q.shape[1]), -1)


def cross_weights_without_the_scale(x, memory, W_q, W_kv):
    W_k, W_v = W_kv.chunk(2, dim=1)
    scores = torch.einsum("tbk,sbk->bts", x @ W_q, memory @ W_k)
    weights = torch.softmax(scores / math.sqrt(W_q.shape[1]), -1)
    return torch.einsum("bts,sbk->tbk", weights, memory @ W_v), torch.softmax(scores, -1)


def cross_weights_on_the_tape_and_rounded(x, memory, W_q, W_kv):
    W_k, W_v = W_kv.chunk(2, dim=1)
    W_q = W_q.clone().requires_grad_()
    weights = torch.softmax(torch.einsum("tbk,sbk->bts", x @ W_q, memory @ W_k) / math.sqrt(W_q.shape[1]), -1)
    return torch.einsum("bts,sbk->tbk", weights, memory @ W_v), (weights * 100).round() / 100


def weights_epsilon_under_the_line(Q, K):
    z = Q.T @ K / math.sqrt(Q.shape[0])
    e = (z - z.amax(-1, keepdim=True)).exp()
    return e / (e.sum(-1, keepdim=True) + 1e-3)


def weights_exp_that_overflows(Q, K):
    e = (Q.T @ K / math.sqrt(Q.shape[0])).exp()
    return e / e.sum(-1, keepdim=True)


def weights_keys_and_queries_swapped_when_square(Q, K):
    z = Q.T @ K / math.sqrt(Q.shape[0])
    return (z.T if z.shape[0] == z.shape[1] else z).softmax(dim=-1)


def _less(z, g, mean):
    p = z.softmax(-1)
    return p * (g - mean(p))


def backward_finite_differences_in_single_precision(z, g):
    out = torch.zeros_like(z)
    for j in range(z.shape[1]):
        d = torch.zeros_like(z)
        d[:, j] = 1e-3
        out[:, j] = (g * ((z + d).softmax(-1) - (z - d).softmax(-1))).sum(-1) / 2e-3
    return out


def backward_exp_overflows(z, g):
    e = z.exp()
    p = e / e.sum(-1, keepdim=True)
    return p * (g - (g * p).sum(-1, keepdim=True))


def attention_exp_overflows(q, k, v):
    e = (q @ k.mT / math.sqrt(q.shape[-1])).exp()
    return e / e.sum(-1, keepdim=True) @ v


def causal_only_the_last_three(q, k, v):
    seen = torch.ones(len(q), len(k)).tril().triu(-2).bool()
    weights = (q @ k.T / math.sqrt(q.shape[-1])).masked_fill(~seen, -math.inf).softmax(-1)
    return weights @ v, weights


def join_with_base_two(o1, l1, o2, l2):
    both = torch.logaddexp2(l1, l2)
    return torch.exp2(l1 - both)[:, None] * o1 + torch.exp2(l2 - both)[:, None] * o2, both


def join_first_share_for_all_queries(o1, l1, o2, l2):
    both = torch.logaddexp(l1, l2)
    share = (l1 - both).exp()[0]
    return share * o1 + (1 - share) * o2, both


def pieces_joined_in_the_wrong_order(q, k, v, size, join):
    found = None
    for keys, values in zip(k.split(size), v.split(size), strict=True):
        z = q @ keys.T / math.sqrt(q.shape[1])
        new = z.softmax(-1) @ values, z.logsumexp(-1)
        found = new if found is None else join(new[0], found[1], found[0], new[1])
    return found


def pieces_without_join(q, k, v, size, join):
    z = q @ k.T / math.sqrt(q.size(1))
    return [torch.nn.functional.scaled_dot_product_attention(q[None], k[None], v[None])[0], z.logsumexp(-1)]


def pieces_of_two_queries(q, k, v, size, join):
    """Never a table (T, S), and never a join: each piece of queries has all keys."""
    scores = [part @ k.T / math.sqrt(q.shape[1]) for part in q.split(2)]
    return torch.cat([z.softmax(-1) @ v for z in scores]), torch.cat([z.logsumexp(-1) for z in scores])


UNLIKE = {
    "join_looks": named(join_with_base_two, join_first_share_for_all_queries),
    "attention_in_pieces": named(pieces_joined_in_the_wrong_order, pieces_without_join, pieces_of_two_queries),
    "mix": {
        "twice": lambda x: (x @ x.T).softmax(-1) @ (x @ x.T).softmax(-1) @ x,
    },
    "attention": named(attention_exp_overflows),
    "causal_attention": named(causal_only_the_last_three),
    "attention_weights": named(
        weights_epsilon_under_the_line, weights_exp_that_overflows, weights_keys_and_queries_swapped_when_square
    )
    | {
        "in_half_precision": lambda Q, K: torch.softmax((Q.bfloat16().T @ K.bfloat16() / math.sqrt(len(Q))).float(), 1),
        "whole_root_right_for_square_widths_only": lambda Q, K: (Q.T @ K / math.isqrt(Q.shape[0])).softmax(dim=-1),
    },
    "one_head": named(head_across_all_sentences)
    | {
        "with_the_first_sentences_keys": lambda x, M, W_v, d, tau: (
            torch.softmax(x @ M @ x[:1].mT / math.sqrt(d) / tau[..., None], -1) @ x @ W_v
        ),
        "scale_from_the_width_of_the_values": lambda x, M, W_v, d, tau: _head(
            x, M, W_v, W_v.shape[-1] ** 0.5 * tau[:, :, None]
        ),
        "temperatures_of_the_first_text_for_all": lambda x, M, W_v, d, tau: _head(x, M, W_v, d**0.5 * tau[:1, :, None]),
        "d_k_rounded_to_a_whole_root": lambda x, M, W_v, d, tau: _head(x, M, W_v, math.isqrt(d) * tau[:, :, None]),
        "epsilon_on_tau": lambda x, M, W_v, d, tau: _head(x, M, W_v, d**0.5 * (tau[:, :, None] + 0.01)),
    },
    "cross_attention": named(
        cross_output_without_the_scale, cross_weights_without_the_scale, cross_weights_on_the_tape_and_rounded
    ),
    "softmax_backward": named(backward_finite_differences_in_single_precision, backward_exp_overflows)
    | {
        "of_the_first_row": lambda z, g: _less(z, g, lambda p: (g * p)[:1].sum()),
        "the_sum_over_all_rows": lambda z, g: _less(z, g, lambda p: (g * p).sum()),
    },
    "attention_flops": {
        "of_a_causal_mask": lambda T, D: 8 * T * D**2 + 2 * T * (T + 1) * D,
    },
}
