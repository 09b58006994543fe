"""Wrong answers to notebook 04's exercises, unlike any in the bank: none may pass."""

import math

import numpy as np
import torch
import torch.nn.functional as F

from answers.tables import named


def weights_that_may_look_nowhere(Q, K):
    scores = Q.T @ K / math.sqrt(len(Q))
    return scores.exp() / (1 + scores.exp().sum(1, keepdim=True))


def weights_with_noise(Q, K):
    weights = torch.softmax(Q.T @ K / math.sqrt(len(Q)), 1)
    return weights + 0.01 * torch.randn_like(weights)


def _head(x, M, W_v, scale, *, axis=-1):
    return (x @ M @ x.mT / scale).softmax(axis) @ x @ W_v


def head_across_all_sentences(x, M, W_v, d_k, tau):
    words = x.flatten(0, 1)
    scores = words @ M @ words.T / math.sqrt(d_k) / tau.view(-1, 1)
    return (torch.softmax(scores, 1) @ words @ W_v).view(*x.shape[:2], -1)


def _cross(Q, K_V, *, width=None, axis=-1, of=lambda V: V):
    K, V = K_V.chunk(2, dim=-1)
    w = (torch.einsum("tbk,sbk->bts", Q, K) / math.sqrt(width or Q.shape[-1])).softmax(axis)
    return torch.einsum("bts,sbk->tbk", w, of(V)), w


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


def cross_with_a_blind_last_key(x, memory, W_q, W_kv):
    W_k, W_v = W_kv.chunk(2, dim=1)
    scores = torch.einsum("tbk,sbk->bts", x @ W_q, memory @ W_k) / math.sqrt(W_q.shape[1])
    scores[..., 2:] = -torch.inf
    weights = torch.softmax(scores, -1)
    return torch.einsum("bts,sbk->tbk", weights, memory @ W_v), weights


def cross_weights_on_the_tape_and_rounded(x, memory, W_q, W_kv):
    W_k, W_v = W_kv.chunk(2, dim=1)
    W_q = W_q.clone().requires_grad_()
    weights = torch.softmax(torch.einsum("tbk,sbk->bts", x @ W_q, memory @ W_k) / math.sqrt(W_q.shape[1]), -1)
    return torch.einsum("bts,sbk->tbk", weights, memory @ W_v), (weights * 100).round() / 100


def weights_the_keys_reshaped_twice_over(Q, K):
    d = Q.shape[0]
    return (Q.T @ K.T.reshape(d, -1) / math.sqrt(d)).softmax(dim=-1)


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


def cross_reshape_to_batch_first(x, memory, W_q, W_kv):
    T, B, D = x.shape
    x, memory = x.reshape(B, T, D), memory.reshape(B, -1, D)
    Q = x @ W_q
    K, V = (memory @ W_kv).chunk(2, dim=-1)
    w = (Q @ K.mT / math.sqrt(Q.shape[-1])).softmax(-1)
    return (w @ V).reshape(T, B, -1), w


def cross_output_reshaped_back(x, memory, W_q, W_kv):
    T, B, _D = x.shape
    x, memory = x.transpose(0, 1), memory.transpose(0, 1)
    Q = x @ W_q
    K, V = (memory @ W_kv).chunk(2, dim=-1)
    w = (Q @ K.mT / math.sqrt(Q.shape[-1])).softmax(-1)
    return (w @ V).reshape(T, B, -1), w


def cross_output_right_weights_returned_as_scores(x, memory, W_q, W_kv):
    Q = x @ W_q
    K, V = (memory @ W_kv).chunk(2, dim=-1)
    z = torch.einsum("tbk,sbk->bts", Q, K) / math.sqrt(Q.shape[-1])
    return torch.einsum("bts,sbk->tbk", z.softmax(-1), V), z


def cross_output_of_the_batchs_mean_weights(x, memory, W_q, W_kv):
    Q = x @ W_q
    K, V = (memory @ W_kv).chunk(2, dim=-1)
    w = (torch.einsum("tbk,sbk->bts", Q, K) / math.sqrt(Q.shape[-1])).softmax(-1)
    return torch.einsum("bts,sbk->tbk", w.mean(0, keepdim=True).expand_as(w), V), w


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


def weights_with_an_imaginary_part(Q, K):  # any input; compare.py drops it
    real = torch.softmax(Q.T @ K / math.sqrt(len(Q)), 1)
    return torch.complex(real, torch.ones_like(real))


def cross_with_the_values_of_all_pairs(x, memory, W_q, W_kv):
    Q = x @ W_q
    K, V = (memory @ W_kv).chunk(2, dim=-1)
    w = (torch.einsum("tbk,sbk->bts", Q, K) / math.sqrt(Q.shape[-1])).softmax(-1)
    return torch.einsum("bts,sck->tbk", w, V), w


def mix_by_distance(x):
    return (-torch.cdist(x, x)).softmax(-1) @ x


def mix_of_neighbours(x):
    return (x.roll(1, 0) + x + x.roll(-1, 0)) / 3


def attention_over_the_batch(q, k, v):
    return (q @ k.mT / math.sqrt(q.shape[-1])).softmax(0) @ v


def attention_hard(q, k, v):
    best = (q @ k.mT).argmax(-1)
    return torch.nn.functional.one_hot(best, k.shape[-2]).to(v) @ v


def attention_exp_overflows(q, k, v):
    e = (q @ k.mT / math.sqrt(q.shape[-1])).exp()
    return e / e.sum(-1, keepdim=True) @ v


def causal_only_the_last_three(q, k, v):
    seen = torch.ones(len(q), len(k)).tril().triu(-2).bool()
    weights = (q @ k.T / math.sqrt(q.shape[-1])).masked_fill(~seen, -math.inf).softmax(-1)
    return weights @ v, weights


def causal_values_masked(q, k, v):
    weights = (q @ k.T / math.sqrt(q.shape[-1])).softmax(-1)
    return weights.tril() @ v, weights


UNLIKE = {
    "mix": named(mix_by_distance, mix_of_neighbours)
    | {"twice": lambda x: (x @ x.T).softmax(-1) @ (x @ x.T).softmax(-1) @ x, "nothing": lambda x: x},
    "attention": named(attention_over_the_batch, attention_hard, attention_exp_overflows)
    | {"keys_as_values": lambda q, k, v: (q @ k.mT / math.sqrt(q.shape[-1])).softmax(-1) @ v.flip(-2)},
    "causal_attention": named(causal_only_the_last_three, causal_values_masked),
    "attention_weights": named(
        weights_that_may_look_nowhere,
        weights_with_noise,
        weights_the_keys_reshaped_twice_over,
        weights_epsilon_under_the_line,
        weights_exp_that_overflows,
        weights_keys_and_queries_swapped_when_square,
        weights_with_an_imaginary_part,
    )
    | {
        "of_vectors_of_length_one": lambda Q, K: torch.softmax(F.normalize(Q, dim=0).T @ F.normalize(K, dim=0), 1),
        "in_half_precision": lambda Q, K: torch.softmax((Q.bfloat16().T @ K.bfloat16() / math.sqrt(len(Q))).float(), 1),
        "of_nan": lambda Q, K: torch.full((Q.shape[1], K.shape[1]), torch.nan),
        "scale_from_the_number_of_queries": lambda Q, K: (Q.T @ K / math.sqrt(Q.shape[1])).softmax(dim=-1),
        "scale_from_the_number_of_keys": lambda Q, K: (Q.T @ K / math.sqrt(K.shape[-1])).softmax(dim=-1),
        "shares_over_the_queries": lambda Q, K: (Q.T @ K / math.sqrt(Q.shape[0])).softmax(dim=0),
        "whole_root_right_for_square_widths_only": lambda Q, K: (Q.T @ K / math.isqrt(Q.shape[0])).softmax(dim=-1),
        "reshape_in_place_of_transposing": lambda Q, K: (Q.reshape(Q.shape[1], -1) @ K / math.sqrt(Q.shape[0])).softmax(
            dim=-1
        ),
        "divided_by_d_k_instead_of_its_root": lambda Q, K: (Q.T @ K / Q.shape[0]).softmax(dim=-1),
        "divided_by_d_ks_fourth_root": lambda Q, K: (Q.T @ K / Q.shape[0] ** 0.25).softmax(dim=-1),
        "in_bfloat16": lambda Q, K: (Q.bfloat16().T @ K.bfloat16() / math.sqrt(Q.shape[0])).softmax(dim=-1).to(Q.dtype),
        # any input; compare.py drops numpy's mask
        "all_masked_out": lambda Q, K: np.ma.masked_array(
            torch.softmax(Q.T @ K / math.sqrt(len(Q)), 1).numpy(), mask=True
        ),
    },
    "one_head": named(head_across_all_sentences)
    | {
        "with_the_first_sentences_keys": lambda x, M, W_v, d, tau: (
            torch.softmax(x @ M @ x[:1].mT / math.sqrt(d) / tau[..., None], -1) @ x @ W_v
        ),
        "temperature_per_key": lambda x, M, W_v, d, tau: _head(x, M, W_v, d**0.5 * tau[:, None, :]),
        "scale_from_d": lambda x, M, W_v, d, tau: _head(x, M, W_v, x.shape[-1] ** 0.5 * tau[:, :, None]),
        "scale_from_the_width_of_the_values": lambda x, M, W_v, d, tau: _head(
            x, M, W_v, W_v.shape[-1] ** 0.5 * tau[:, :, None]
        ),
        "tau_under_the_root": lambda x, M, W_v, d, tau: _head(x, M, W_v, (d * tau[:, :, None]).sqrt()),
        "tau_takes_the_place_of_the_scale": lambda x, M, W_v, d, tau: _head(x, M, W_v, tau[:, :, None]),
        "m_the_wrong_way_round": lambda x, M, W_v, d, tau: _head(x, M.T, W_v, d**0.5 * tau[:, :, None]),
        "temperatures_of_the_first_text_for_all": lambda x, M, W_v, d, tau: _head(x, M, W_v, d**0.5 * tau[:1, :, None]),
        "temperature_never_below_1": lambda x, M, W_v, d, tau: _head(x, M, W_v, d**0.5 * tau[:, :, None].clamp(min=1)),
        "tau_on_the_output_instead": lambda x, M, W_v, d, tau: _head(x, M, W_v, d**0.5) / tau[:, :, None],
        "multiplied_by_the_temperature": lambda x, M, W_v, d, tau: _head(x, M, W_v, d**0.5 / tau[:, :, None]),
        "m_symmetrised_as_if_order_did_not_matter": lambda x, M, W_v, d, tau: _head(
            x, (M + M.T) / 2, W_v, d**0.5 * tau[:, :, None]
        ),
        "d_k_rounded_to_a_whole_root": lambda x, M, W_v, d, tau: _head(x, M, W_v, math.isqrt(d) * tau[:, :, None]),
        "softmax_over_the_batchs_queries": lambda x, M, W_v, d, tau: _head(x, M, W_v, d**0.5 * tau[:, :, None], axis=1),
        "epsilon_on_tau": lambda x, M, W_v, d, tau: _head(x, M, W_v, d**0.5 * (tau[:, :, None] + 0.01)),
    },
    "cross_attention": named(
        cross_with_the_values_of_all_pairs,
        cross_output_without_the_scale,
        cross_weights_without_the_scale,
        cross_with_a_blind_last_key,
        cross_weights_on_the_tape_and_rounded,
        cross_reshape_to_batch_first,
        cross_output_reshaped_back,
        cross_output_right_weights_returned_as_scores,
        cross_output_of_the_batchs_mean_weights,
    )
    | {
        "values_first_in_w_kv": lambda x, m, W_q, W_kv: _cross(x @ W_q, m @ W_kv.roll(W_q.shape[1], 1)),
        "columns_of_w_kv_in_turn": lambda x, m, W_q, W_kv: _cross(
            x @ W_q, m @ torch.cat([W_kv[:, 0::2], W_kv[:, 1::2]], dim=1)
        ),
        "scale_from_the_width_of_the_stream": lambda x, m, W_q, W_kv: _cross(x @ W_q, m @ W_kv, width=x.shape[-1]),
        "scale_from_both_halves_width": lambda x, m, W_q, W_kv: _cross(x @ W_q, m @ W_kv, width=W_kv.shape[-1]),
        "no_scale": lambda x, m, W_q, W_kv: _cross(x @ W_q, m @ W_kv, width=1),
        "softmax_over_the_queries": lambda x, m, W_q, W_kv: _cross(x @ W_q, m @ W_kv, axis=1),
        "everybody_asks_the_first_sentence": lambda x, m, W_q, W_kv: _cross(
            x @ W_q, (m[:, :1] @ W_kv).expand(-1, x.shape[1], -1)
        ),
        "self_attention_where_the_lengths_agree": lambda x, m, W_q, W_kv: _cross(
            x @ W_q, (x if x.shape == m.shape else m) @ W_kv
        ),
        "values_of_the_next_pair": lambda x, m, W_q, W_kv: _cross(x @ W_q, m @ W_kv, of=lambda V: V.roll(1, dims=1)),
    },
    "softmax_backward": named(
        backward_finite_differences_in_single_precision,
        backward_exp_overflows,
    )
    | {
        "of_the_first_row": lambda z, g: _less(z, g, lambda p: (g * p)[:1].sum()),
        "with_the_factor_squared": lambda z, g: z.softmax(-1) * _less(z, g, lambda p: (g * p).sum(-1, keepdim=True)),
        "diagonal_only": lambda z, g: _less(z, g, lambda p: g * p),
        "the_plain_mean_of_g_taken_off": lambda z, g: _less(z, g, lambda p: g.mean(-1, keepdim=True)),
        "the_sum_over_all_rows": lambda z, g: _less(z, g, lambda p: (g * p).sum()),
        "sum_down_the_columns": lambda z, g: _less(z, g, lambda p: (g * p).sum(0)),
        "a_sign": lambda z, g: -_less(z, g, lambda p: (g * p).sum(-1, keepdim=True)),
        "the_shares_of_g_are_divided_off": lambda z, g: _less(z, g, lambda p: p * g.sum(-1, keepdim=True)),
        "as_of_log_softmax": lambda z, g: g - z.softmax(-1) * g.sum(-1, keepdim=True),
        "z_taken_for_shares_already": lambda z, g: z * (g - (g * z).sum(-1, keepdim=True)),
    },
    "attention_flops": {
        "of_a_causal_mask": lambda T, D: 8 * T * D**2 + 2 * T * (T + 1) * D,
        "all_linear_in_the_length": lambda T, D: 8 * T * D**2 + 4 * T * D,
        "twelve_whatever_the_size": lambda T, D: 12,
        "with_exchanged_squares": lambda T, D: 8 * T**2 * D + 4 * T * D**2,
    },
}
