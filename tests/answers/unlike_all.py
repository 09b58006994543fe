"""Wrong answers to every exercise, written without a look at the bank of mistakes: none of them may pass.

Each runs, hands back something of the right shape, and is wrong: in a corner, for some sizes only, by another paper's
formula, by aliasing, in precision, or by an attempt to deceive the comparison. The name of each says what it does.
"""

import functools
import itertools
import math

import numpy as np
import torch
import torch.nn.functional as F


class Plain(torch.Tensor):
    """A harmless subclass of tensors."""


# 01 The limits of recurrence


def states_share_one_buffer(x, real, W_x, W_h, b):
    h, states = torch.zeros(len(b)), []
    for row, word in zip(x, real, strict=True):
        if word:
            h.copy_(torch.tanh(row @ W_x + h @ W_h + b))
        states.append(h)
    return torch.stack(states)


def each_unit_sees_itself_only(x, real, W_x, W_h, b):
    h, states = torch.zeros_like(b), []
    for row, word in zip(x, real, strict=True):
        h = torch.tanh(row @ W_x + h * W_h.diagonal() + b) if word else h
        states.append(h)
    return torch.stack(states)


def softsign_for_tanh(x, real, W_x, W_h, b):
    h, states = torch.zeros_like(b), []
    for row, word in zip(x, real, strict=True):
        h = F.softsign(row @ W_x + h @ W_h + b) if word else h
        states.append(h)
    return torch.stack(states)


def filling_ends_the_sentence(x, real, W_x, W_h, b):
    h, states = torch.zeros_like(b), []
    for t, row in enumerate(x):
        h = torch.tanh(row @ W_x + h @ W_h + b) if real[: t + 1].all() else h
        states.append(h)
    return torch.stack(states)


def filling_keeps_the_state_before_the_last(x, real, W_x, W_h, b):
    h, states = torch.zeros_like(b), [torch.zeros_like(b)] * 2
    for row, word in zip(x, real, strict=True):
        h = torch.tanh(row @ W_x + h @ W_h + b) if word else states[-2]
        states.append(h)
    return torch.stack(states[2:])


def gradient_without_its_sign(w, h):
    return math.exp(sum(math.log(abs(w) * (1 - float(state) ** 2)) for state in h))


def gradient_of_the_mean_step(w, h):
    return (w * (1 - (h**2).mean())) ** len(h)


def gradient_by_logistic_slope(w, h):
    return torch.prod(w * h * (1 - h))


def gradient_of_sums_for_products(w, h):
    return (w * (1 - h**2)).sum()


def lstm_with_forget_bias_of_one(z, h, c):
    i, f, o = z[0].sigmoid(), (z[1] + 1).sigmoid(), z[3].sigmoid()
    c = f * c + i * z[2].tanh()
    return o * c.tanh(), c


def lstm_with_coupled_gates(z, h, c):
    f, o = z[1].sigmoid(), z[3].sigmoid()
    c = f * c + (1 - f) * z[2].tanh()
    return o * c.tanh(), c


def lstm_with_hard_gates(z, h, c):
    i, f, o = F.hardsigmoid(z[0]), F.hardsigmoid(z[1]), F.hardsigmoid(z[3])
    c = f * c + i * z[2].tanh()
    return o * c.tanh(), c


def lstm_cell_written_over_too_early(z, h, c):
    c.copy_(z[0].sigmoid() * z[2].tanh())
    c += z[1].sigmoid() * c
    return z[3].sigmoid() * c.tanh(), c


def additive_with_two_tanhs(s, H, W, v):
    W, U = W.chunk(2)
    return torch.softmax((torch.tanh(s @ W)[:, None] + torch.tanh(H @ U)) @ v, 1)


def additive_with_normalised_v(s, H, W, v):
    W, U = W.chunk(2)
    return torch.softmax(torch.tanh((s @ W)[:, None] + H @ U) @ (v / v.norm()), 1)


def additive_that_multiplies(s, H, W, v):
    W, U = W.chunk(2)
    return torch.softmax(torch.tanh((s @ W)[:, None] * (H @ U)) @ v, 1)


def additive_with_the_last_state_for_all(s, H, W, v):
    W, U = W.chunk(2)
    return torch.softmax(torch.tanh(s[-1] @ W + H @ U) @ v, 0).repeat(len(s), 1)


def layers_rounded_to_nearest(n, k):
    return max(1, round(n / ((k - 1) / 2)))


def layers_of_whole_widths(n, k):
    return math.ceil(2 * n / k)


def layers_dilated(n, k):
    return max(1, math.ceil(math.log(n + 1, k)))


def layers_unrounded(n, k):
    return 2 * n / (k - 1)


# 02 Tokens and embeddings


def saved_found_in_a_string(words, pair):
    return sum(count * " ".join(word).count(" ".join(pair)) for word, count in words.items())


def saved_if_the_letters_agree(words, pair):
    saved = 0
    for word, count in words.items():
        t = 0
        while t < len(word) - 1:
            found = word[t] + word[t + 1] == "".join(pair)
            saved += count * found
            t += 1 + found
    return saved


def saved_in_either_order(words, pair):
    saved = 0
    for word, count in words.items():
        t = 0
        while t < len(word) - 1:
            found = set(word[t : t + 2]) == set(pair)
            saved += count * found
            t += 1 + found
    return saved


def saved_once_a_word(words, pair):
    return sum(count for word, count in words.items() if tuple(pair) in itertools.pairwise(word))


def saved_by_the_rarer_piece(words, pair):
    return sum(count * min(word.count(pair[0]), word.count(pair[1])) for word, count in words.items())


def words_with_every_hash_taken_away(pieces):
    return " ".join(pieces).replace(" ##", "").replace("#", "").split()


def words_of_two_pieces_at_most(pieces):
    return [
        piece + (after[2:] if after.startswith("##") else "")
        for piece, after in zip(pieces, [*pieces[1:], ""], strict=True)
        if not piece.startswith("##")
    ]


def words_with_pieces_in_front(pieces):
    words = []
    for piece in pieces:
        if piece.startswith("##"):
            words[-1] = piece[2:] + words[-1]
        else:
            words.append(piece)
    return words


def words_each_once(pieces):
    return list(dict.fromkeys(" ".join(pieces).replace(" ##", "").split()))


def words_left_as_pieces(pieces):
    return pieces


def _tails(word, vocabulary, start=0):
    """All ways to cut word[start:], the longest pieces first."""
    if start == len(word):
        yield []
    for end in range(len(word), start, -1):
        piece = "##" * (start > 0) + word[start:end]
        if piece in vocabulary:
            yield from ([piece, *rest] for rest in _tails(word, vocabulary, end))


def fewest_of_the_first_way_found(word, vocabulary):
    return len(next(_tails(word, vocabulary), []))


def fewest_with_every_piece_once(word, vocabulary):
    ways = [way for way in _tails(word, vocabulary) if len(set(way)) == len(way)]
    return min(map(len, ways), default=0)


def fewest_up_to_three(word, vocabulary):
    return min((len(way) for way in _tails(word, vocabulary) if len(way) <= 3), default=0)


def fewest_greedy_from_the_end(word, vocabulary):
    end, number = len(word), 0
    while end > 0:
        starts = [start for start in range(end) if "##" * (start > 0) + word[start:end] in vocabulary]
        if not starts:
            return 0
        end, number = starts[0], number + 1
    return number


def fewest_cuts(word, vocabulary):
    return max(0, min(map(len, _tails(word, vocabulary)), default=0) - 1)


def table_gradient_without_word_0(ids, G, V):
    one_hot = F.one_hot(ids, V).float()
    one_hot[:, 0] = 0
    return one_hot.T @ G


def table_gradient_of_means(ids, G, V):
    one_hot = F.one_hot(ids, V).float()
    return one_hot.T @ G / one_hot.sum(0).clamp(min=1)[:, None]


def table_gradient_that_forgets_the_second_time(ids, G, V):
    gradient = torch.zeros(V, G.shape[1])
    for t, word in enumerate(ids.tolist()):
        if word not in ids[:t].tolist()[1:]:
            gradient[word] += G[t]
    return gradient


def table_gradient_that_counts_repeats_twice(ids, G, V):
    one_hot = F.one_hot(ids, V).float()
    return one_hot.T @ G * one_hot.sum(0)[:, None]


def _others(scores, k):
    """Ids of the k largest of every row, the diagonal left out."""
    return scores.fill_diagonal_(-torch.inf).topk(k).indices


def nearest_by_correlation(E, k):
    centred = F.normalize(E - E.mean(1, keepdim=True), dim=1)
    return _others(centred @ centred.T, k)


def nearest_divided_by_sum_of_sizes(E, k):
    return _others((E / E.abs().sum(1, keepdim=True)) @ (E / E.abs().sum(1, keepdim=True)).T, k)


def nearest_in_order_of_ids(E, k):
    return _others(F.normalize(E, dim=1) @ F.normalize(E, dim=1).T, k).sort().values


def nearest_to_word_0_for_all(E, k):
    return _others(F.normalize(E, dim=1) @ F.normalize(E, dim=1).T, k)[:1].repeat(len(E), 1)


def nearest_with_the_columns_scaled(E, k):
    E = E / E.norm(dim=0)
    return _others(F.normalize(E, dim=1) @ F.normalize(E, dim=1).T, k)


# 03 Positional encodings


def sinusoids_of_tensor2tensor(T, D):
    half = (D + 1) // 2
    rates = 10000.0 ** (-torch.arange(half) / max(half - 1, 1))
    angles = torch.arange(T)[:, None] * rates
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1)[:, :D]


def sinusoids_of_the_even_width(T, D):
    even = D + D % 2
    angles = torch.arange(T)[:, None] * 10000.0 ** (-torch.arange(0, even, 2) / even)
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1)[:, :D]


def sinusoids_at_most_eight_rows_long(T, D):
    angles = (torch.arange(T) % 4)[:, None] * 10000.0 ** (-torch.arange(0, D, 2) / D)
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1)[:, :D]


def sinusoids_of_a_whole_power(T, D):
    angles = torch.arange(T)[:, None] / 10000.0 ** (torch.arange(0, D, 2) * 2 // D)
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1)[:, :D]


def input_scaled_by_a_whole_root(ids, E, P):
    return math.isqrt(E.shape[1]) * E[ids] + P[: ids.shape[1]]


def input_with_positions_of_ids(ids, E, P):
    return E.shape[1] ** 0.5 * E[ids] + P[ids.clamp(max=len(P) - 1)]


def input_with_positions_on_the_first_sentence(ids, E, P):
    x = E.shape[1] ** 0.5 * E[ids]
    x[0] += P[: ids.shape[1]]
    return x


def input_with_positions_counted_on(ids, E, P):
    B, T = ids.shape
    return E.shape[1] ** 0.5 * E[ids] + P[torch.arange(B * T).view(B, T) % len(P)]


def input_with_the_last_positions(ids, E, P):
    return E.shape[1] ** 0.5 * E[ids] + P[-ids.shape[1] :]


def share_of_unsquared_deviations(s, D):
    return 0.5 / (0.5 + s)


def share_that_hangs_on_the_width(s, D):
    return 1 / (1 + s**2 * D / 2)


def share_of_lengths(s, D):
    return math.sqrt(0.5) / (math.sqrt(0.5) + s * math.sqrt(D / 4))


def share_of_one_third(s, D):
    return 1 / 3


def _halves_turned(angles):
    """The matrix that turns pair (i, i + D/2) by minus angles[i]."""
    c, s = angles.cos().diag(), angles.sin().diag()
    return torch.cat([torch.cat([c, s], 1), torch.cat([-s, c], 1)])


def shift_at_a_single_rate(k, D):
    return _halves_turned(torch.full((D // 2,), float(k)))


def shift_by_neighbours(k, D):
    angles = (k * 10000.0 ** (-torch.arange(0, D, 2) / D)).tolist()
    turns = [torch.tensor([[math.cos(a), math.sin(a)], [-math.sin(a), math.cos(a)]]) for a in angles]
    return torch.block_diag(*turns)


def shift_forwards_only(k, D):
    return _halves_turned(abs(k) * 10000.0 ** (-torch.arange(0, D, 2) / D))


def shift_at_twice_the_exponent(k, D):
    return _halves_turned(k * 10000.0 ** (-2 * torch.arange(0, D, 2) / D))


def shift_for_small_angles(k, D):
    angles = k * 10000.0 ** (-torch.arange(0, D, 2) / D)
    c, s = (1 - angles**2 / 2).diag(), angles.diag()
    return torch.cat([torch.cat([c, s], 1), torch.cat([-s, c], 1)])


def rotated_over_the_half_turned(x):
    K = x.shape[1]
    angles = torch.arange(len(x))[:, None] * 10000.0 ** (-torch.arange(0, K, 2) / K)
    first, second = x.chunk(2, dim=1)
    first.copy_(first * angles.cos() - second * angles.sin())
    second.copy_(first * angles.sin() + second * angles.cos())
    return x


def rotated_in_the_first_pair_only(x):
    t, half = torch.arange(len(x)).float(), x.shape[1] // 2
    a, b = x[:, 0].clone(), x[:, half].clone()
    x[:, 0], x[:, half] = a * t.cos() - b * t.sin(), a * t.sin() + b * t.cos()
    return x


def rotated_at_the_rates_of_llama_3(x):
    K = x.shape[1]
    angles = (torch.arange(len(x))[:, None] * 500000.0 ** (-torch.arange(0, K, 2) / K)).repeat(1, 2)
    return x * angles.cos() + torch.cat([-x[:, K // 2 :], x[:, : K // 2]], 1) * angles.sin()


def rotated_at_rates_of_neighbours(x):
    K = x.shape[1]
    rates = (10000.0 ** (-torch.arange(0, K, 2) / K)).repeat_interleave(2)
    angles = torch.arange(len(x))[:, None] * rates
    return x * angles.cos() + torch.cat([-x[:, K // 2 :], x[:, : K // 2]], 1) * angles.sin()


def rotated_not_at_all(x):
    return x


# 04 Self-attention


def weights_that_may_look_nowhere(Q, K):
    scores = Q.T @ K / math.sqrt(len(Q))
    return scores.exp() / (1 + scores.exp().sum(1, keepdim=True))


def weights_of_vectors_of_length_one(Q, K):
    return torch.softmax(F.normalize(Q, dim=0).T @ F.normalize(K, dim=0), 1)


def weights_in_half_precision(Q, K):
    return torch.softmax((Q.bfloat16().T @ K.bfloat16() / math.sqrt(len(Q))).float(), 1)


def weights_with_noise(Q, K):
    weights = torch.softmax(Q.T @ K / math.sqrt(len(Q)), 1)
    return weights + 0.01 * torch.randn_like(weights)


def weights_of_nan(Q, K):
    return torch.full((Q.shape[1], K.shape[1]), torch.nan)


def head_across_all_sentences(x, M, W_v, d_k, tau):
    words = x.flatten(0, 1)
    scores = words @ M @ words.T / math.sqrt(d_k) / tau.view(-1, 1)
    return (torch.softmax(scores, 1) @ words @ W_v).view(*x.shape[:2], -1)


def head_with_the_first_sentences_keys(x, M, W_v, d_k, tau):
    return torch.softmax(x @ M @ x[:1].mT / math.sqrt(d_k) / tau[..., None], -1) @ x @ W_v


def head_scaled_by_a_whole_root(x, M, W_v, d_k, tau):
    return torch.softmax(x @ M @ x.mT / math.isqrt(d_k) / tau[..., None], -1) @ x @ W_v


def head_scaled_by_the_values_width(x, M, W_v, d_k, tau):
    return torch.softmax(x @ M @ x.mT / math.sqrt(W_v.shape[1]) / tau[..., None], -1) @ x @ W_v


def head_with_the_root_of_the_temperature(x, M, W_v, d_k, tau):
    return torch.softmax(x @ M @ x.mT / (d_k * tau[..., None]).sqrt(), -1) @ x @ W_v


def head_with_the_first_sentences_temperatures(x, M, W_v, d_k, tau):
    return torch.softmax(x @ M @ x.mT / math.sqrt(d_k) / tau[0, :, None], -1) @ x @ W_v


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


def cross_with_the_first_pairs_memory(x, memory, W_q, W_kv):
    W_k, W_v = W_kv.chunk(2, dim=1)
    memory = memory[:, :1].expand_as(memory)
    weights = torch.softmax(torch.einsum("tbk,sbk->bts", x @ W_q, memory @ W_k) / math.sqrt(W_q.shape[1]), -1)
    return torch.einsum("bts,sbk->tbk", weights, memory @ W_v), weights


def backward_of_the_logarithm(z, g):
    return g - torch.softmax(z, -1) * g.sum(-1, keepdim=True)


def backward_with_the_mean_of_the_pull(z, g):
    return torch.softmax(z, -1) * (g - g.mean(-1, keepdim=True))


def backward_of_the_first_row(z, g):
    p = torch.softmax(z, -1)
    return p * (g - (g * p)[:1].sum())


def backward_with_the_factor_squared(z, g):
    p = torch.softmax(z, -1)
    return p * p * (g - (g * p).sum(-1, keepdim=True))


def flops_of_a_causal_mask(T, D):
    return 8 * T * D**2 + 2 * T * (T + 1) * D


def flops_all_linear_in_the_length(T, D):
    return 8 * T * D**2 + 4 * T * D


def flops_twelve_whatever_the_size(T, D):
    return 12


def flops_with_exchanged_squares(T, D):
    return 8 * T**2 * D + 4 * T * D**2


# 05 Multi-head attention


def _unpacked(packed, H):
    return packed.unflatten(-1, (H, 3, -1)).permute(3, 0, 2, 1, 4)


def heads_of_the_first_sentence(packed, H):
    return tuple(_unpacked(packed[:1].expand_as(packed), H))


def heads_always_two(packed, H):
    B, T, W = packed.shape
    return tuple(part.reshape(B, H, T, W // H // 3) for part in _unpacked(packed, 2))


def heads_with_time_reversed(packed, H):
    return tuple(_unpacked(packed, H).flip(3))


def heads_whose_values_are_keys(packed, H):
    Q, K, _ = _unpacked(packed, H)
    return Q, K, K


def joined_with_a_feature_too_far(z):
    return z.permute(1, 2, 0, 3).flatten(2).roll(1, -1)


def joined_last_head_first(z):
    return torch.cat(z.unbind(0)[::-1], -1)


def joined_one_head_repeated(z):
    return z[0].repeat(1, 1, len(z))


def joined_right_in_the_first_sentence_only(z):
    H, B, T, K = z.shape
    result = z.transpose(0, 1).reshape(B, T, H * K).clone()
    result[0] = z[:, 0].transpose(0, 1).flatten(1)
    return result


def _shared(x, W_q, W_k, W_v, H):
    K = x.shape[-1] // H
    q, k, v = ((x @ W).unflatten(-1, (-1, K)).transpose(1, 2) for W in (W_q, W_k, W_v))
    return q, *(z.repeat_interleave(H // z.shape[1], 1) for z in (k, v))


def heads_that_attend_to_each_other(x, W_q, W_k, W_v, W_o, H):
    q, k, v = (z.transpose(1, 2) for z in _shared(x, W_q, W_k, W_v, H))
    return (torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), -1) @ v).flatten(2) @ W_o


def heads_with_shared_mean_weights(x, W_q, W_k, W_v, W_o, H):
    q, k, v = _shared(x, W_q, W_k, W_v, H)
    weights = torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), -1).mean(1, keepdim=True)
    return (weights @ v).transpose(1, 2).flatten(2) @ W_o


def heads_scaled_by_their_number(x, W_q, W_k, W_v, W_o, H):
    q, k, v = _shared(x, W_q, W_k, W_v, H)
    return (torch.softmax(q @ k.mT / math.sqrt(H), -1) @ v).transpose(1, 2).flatten(2) @ W_o


def heads_with_residual(x, W_q, W_k, W_v, W_o, H):
    q, k, v = _shared(x, W_q, W_k, W_v, H)
    return x + (torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), -1) @ v).transpose(1, 2).flatten(2) @ W_o


def heads_with_values_in_turn(x, W_q, W_k, W_v, W_o, H):
    q, k, v = _shared(x, W_q, W_k, W_v, H)
    G = W_v.shape[1] * H // x.shape[-1]
    v = v[:, :: H // G].repeat(1, H // G, 1, 1)
    return (torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), -1) @ v).transpose(1, 2).flatten(2) @ W_o


class ProjectionsOfTheFirstHead(torch.nn.Module):
    """All heads are there, the first one answers for all."""

    def __init__(self, D, H):
        super().__init__()
        self.heads = torch.nn.ModuleList(torch.nn.Linear(D, D // H, bias=False) for _ in range(H))

    def forward(self, x):
        return torch.stack([self.heads[0](x) for _ in self.heads], 1)


class ProjectionsMadeAnewInForward(torch.nn.Module):
    """Nothing is kept from one call to the next."""

    def __init__(self, D, H):
        super().__init__()
        self.D, self.H = D, H

    def forward(self, x):
        return torch.stack([torch.nn.Linear(self.D, self.D // self.H, bias=False)(x) for _ in range(self.H)], 1)


class ProjectionsInBuffers(torch.nn.Module):
    """The weights are saved but never learnt."""

    def __init__(self, D, H):
        super().__init__()
        self.register_buffer("W", torch.randn(H, D, D // H) / D**0.5)

    def forward(self, x):
        return x[:, None] @ self.W


class ProjectionsAllZero(torch.nn.Module):
    """The right parameters, which forward does not use."""

    def __init__(self, D, H):
        super().__init__()
        self.heads = torch.nn.ModuleList(torch.nn.Linear(D, D // H, bias=False) for _ in range(H))

    def forward(self, x):
        return torch.zeros(len(x), len(self.heads), x.shape[1], x.shape[2] // len(self.heads))


class ProjectionsInADictionary(torch.nn.Module):
    """An ordinary dict, which hides its layers."""

    def __init__(self, D, H):
        super().__init__()
        self.heads = {h: torch.nn.Linear(D, D // H, bias=False) for h in range(H)}

    def forward(self, x):
        return torch.stack([self.heads[h](x) for h in sorted(self.heads)], dim=1)


def grouped_as_if_multi_query(D, H, G):
    return 2 * D * D + 2 * D * (D // H)


def grouped_with_wide_groups(D, H, G):
    return 2 * D * D + 2 * D * (D // G) // (H // G)


def grouped_with_a_narrow_output(D, H, G):
    K = D // H
    return D * D + 2 * D * G * K + G * K * D


def grouped_with_biases(D, H, G):
    return 2 * D * D + 2 * D * G * (D // H) + 2 * D + 2 * G * (D // H)


# 06 Masking


def _numbers(allowed):
    return torch.zeros(allowed.shape).masked_fill(~allowed, -torch.inf)


def causal_two_back_at_most(T):
    s = torch.arange(T)
    return _numbers((s <= s[:, None]) & (s[:, None] - s < 3))


def causal_with_an_open_prefix(T):
    mask = torch.ones(T, T).tril().bool()
    mask[0, : min(T, 2)] = True
    return _numbers(mask)


def causal_about_the_other_diagonal(T):
    return _numbers(torch.ones(T, T, dtype=torch.bool).tril().flip(1))


def causal_of_a_subclass_with_zeros_only(T):
    return torch.zeros(T, T).as_subclass(Plain)


def causal_by_minus_ten_thousand(T):
    return torch.full((T, T), -1e4).triu(1)


def causal_as_truth_values(T):
    return torch.ones(T, T, dtype=torch.bool).tril()


def padding_of_the_first_sentence(lengths, S):
    return (torch.arange(S) < lengths[0]).expand(len(lengths), 1, 1, S)


def padding_of_sorted_sentences(lengths, S):
    return (torch.arange(S) < lengths.sort(descending=True).values[:, None])[:, None, None]


def padding_of_the_running_total(lengths, S):
    return (torch.arange(S) < lengths.cumsum(0)[:, None])[:, None, None]


def padding_at_the_last_word_only(lengths, S):
    return (torch.arange(S) == lengths[:, None] - 1)[:, None, None]


def padding_wiped_out_of_the_input(lengths, S):
    lengths.fill_(S)
    return (torch.arange(S) < lengths[:, None])[:, None, None]


def masked_with_the_rows_minimum(Q, K, V, hidden, real):
    mask = ~hidden & real
    scores = Q @ K.T / math.sqrt(Q.shape[1])
    return torch.softmax(torch.where(mask, scores, scores.amin(1, keepdim=True)), 1) @ V


def masked_with_minus_nine(Q, K, V, hidden, real):
    mask = ~hidden & real
    return torch.softmax((Q @ K.T / math.sqrt(Q.shape[1])).masked_fill(~mask, -9.0), 1) @ V


def masked_by_tiny_factor(Q, K, V, hidden, real):
    mask = ~hidden & real
    weights = torch.softmax(Q @ K.T / math.sqrt(Q.shape[1]), 1) * mask
    return weights / (weights.sum(1, keepdim=True) + 0.001) @ V


def masked_values_instead_of_keys(Q, K, V, hidden, real):
    mask = ~hidden & real
    weights = torch.softmax(Q @ K.T / math.sqrt(Q.shape[1]), 1) * mask
    return weights.softmax(1) @ V


def safe_with_a_large_epsilon(scores, bias):
    mask = bias == 0
    shares = (scores - scores.amax()).exp() * mask
    return shares / (shares.sum(1, keepdim=True) + 1e-3)


def safe_by_columns(scores, bias):
    mask = bias == 0
    return torch.softmax(scores.masked_fill(~mask, -torch.inf), 0).nan_to_num()


def safe_all_or_nothing(scores, bias):
    mask = bias == 0
    weights = torch.softmax(scores.masked_fill(~mask, -torch.inf), 1)
    return torch.zeros_like(weights) if weights.isnan().any() else weights


def safe_with_zeros_for_scores(scores, bias):
    mask = bias == 0
    return torch.softmax(scores * mask, 1) * mask.any(1, keepdim=True)


def _causal(T):
    return torch.ones(T, T, dtype=torch.bool).tril()


def decoder_above_the_pad(ids, pad):
    T = ids.shape[1]
    return (_causal(T) & (ids > pad)[:, None, None]) | torch.eye(T, dtype=torch.bool)


def decoder_of_the_shortest_sentence(ids, pad):
    T = ids.shape[1]
    mask = _causal(T).expand(len(ids), 1, T, T) & (ids != pad).all(0)
    return mask | torch.eye(T, dtype=torch.bool)


def decoder_with_rows_for_columns(ids, pad):
    T = ids.shape[1]
    return (_causal(T) & (ids != pad)[:, None, :, None]) | torch.eye(T, dtype=torch.bool)


def decoder_filled_up_at_the_right(ids, pad):
    T, lengths = ids.shape[1], (ids != pad).sum(1)
    real = torch.arange(T) < lengths[:, None]
    return (_causal(T) & real[:, None, None]) | torch.eye(T, dtype=torch.bool)


def decoder_with_all_open_for_filling(ids, pad):
    T, real = ids.shape[1], ids != pad
    return (_causal(T) & real[:, None, None]) | (_causal(T) & ~real[:, None, :, None])


def window_in_blocks(T, w, g):
    t = torch.arange(T)
    return (t <= t[:, None]) & ((t // w == t[:, None] // w) | (t < g))


def window_behind_the_sinks(T, w, g):
    t = torch.arange(T)
    return (t <= t[:, None]) & ((t[:, None] - t < w - g) | (t < g))


def window_with_gaps(T, w, g):
    gap = torch.arange(T)[:, None] - torch.arange(T)
    return (gap >= 0) & (((gap < 2 * w) & (gap % 2 == 0)) | (torch.arange(T) < g))


def window_with_a_single_sink(T, w, g):
    t = torch.arange(T)
    return (t <= t[:, None]) & ((t[:, None] - t < w) | (t < min(g, 1)))


def window_with_sinks_as_queries(T, w, g):
    t = torch.arange(T)
    return (t <= t[:, None]) & ((t[:, None] - t < w) | (t[:, None] < g))


# 07 Feed-forward, residuals, norms


def network_with_the_square_inside(x, W_1, b_1, W_2, b_2):
    return F.relu((x @ W_1 + b_1) ** 2) @ W_2 + b_2


def network_with_leaky_relu(x, W_1, b_1, W_2, b_2):
    return F.leaky_relu(x @ W_1 + b_1) ** 2 @ W_2 + b_2


def network_with_relu_at_most_one(x, W_1, b_1, W_2, b_2):
    return F.hardtanh(x @ W_1 + b_1, 0, 1) ** 2 @ W_2 + b_2


def network_with_relu_before_the_bias(x, W_1, b_1, W_2, b_2):
    return (F.relu(x @ W_1) + b_1) ** 2 @ W_2 + b_2


def network_with_dropout_left_on(x, W_1, b_1, W_2, b_2):
    return F.dropout(F.relu(x @ W_1 + b_1) ** 2, 0.5) @ W_2 + b_2


def swiglu_with_hard_gate(x, W_gate, W_up, W_down):
    return (F.hardswish(x @ W_gate) * (x @ W_up)) @ W_down


def swiglu_with_gelu_gate(x, W_gate, W_up, W_down):
    return (F.gelu(x @ W_gate) * (x @ W_up)) @ W_down


def swiglu_with_steep_gate(x, W_gate, W_up, W_down):
    z = x @ W_gate
    return (z * torch.sigmoid(1.702 * z) * (x @ W_up)) @ W_down


def swiglu_with_gate_after_the_product(x, W_gate, W_up, W_down):
    return F.silu((x @ W_gate) * (x @ W_up)) @ W_down


def layer_norm_with_the_larger_of_variance_and_epsilon(x, gain, bias):
    centred = x - x.mean(-1, keepdim=True)
    return centred / (centred**2).mean(-1, keepdim=True).clamp(min=1e-5).sqrt() * gain + bias


def layer_norm_with_epsilon_of_another_library(x, gain, bias):
    return F.layer_norm(x, x.shape[-1:], gain, bias, eps=1e-6)


def layer_norm_with_gain_above_one(x, gain, bias):
    return F.layer_norm(x, x.shape[-1:]) * (1 + gain) + bias


def layer_norm_that_shifts_before_it_scales(x, gain, bias):
    return (F.layer_norm(x, x.shape[-1:]) + bias) * gain


def layer_norm_by_mean_deviation(x, gain, bias):
    centred = x - x.mean(-1, keepdim=True)
    return centred / (centred.abs().mean(-1, keepdim=True) + 1e-5) * gain + bias


def layer_norm_of_nothing(x, gain, bias):
    return x.zero_()


def _head_by_head(norm):
    """The norm of vectors (T, K), applied to the heads of x (T, H·K)."""

    @functools.wraps(norm)
    def of_heads(x, gain):
        return norm(x.reshape(-1, len(gain)), gain).reshape(x.shape)

    return of_heads


@_head_by_head
def rms_with_epsilon_in_the_sum(x, gain):
    return x / (((x**2).sum(1, keepdim=True) + 1e-5) / x.shape[1]).sqrt() * gain


@_head_by_head
def rms_with_the_larger_of_square_and_epsilon(x, gain):
    return x / (x**2).mean(1, keepdim=True).clamp(min=1e-5).sqrt() * gain


@_head_by_head
def rms_with_epsilon_outside(x, gain):
    return x / ((x**2).mean(1, keepdim=True).sqrt() + 1e-5) * gain


@_head_by_head
def rms_with_epsilon_of_another_library(x, gain):
    return F.rms_norm(x, x.shape[-1:], gain, eps=1e-6)


@_head_by_head
def rms_with_gain_above_one(x, gain):
    return x / ((x**2).mean(1, keepdim=True) + 1e-5).sqrt() * (1 + gain)


@_head_by_head
def rms_of_the_unit_sphere(x, gain):
    return F.normalize(x, dim=1) * math.sqrt(2) * gain


def pre_norm_with_both_norms(x, W):
    for matrix in W:
        y = F.relu(F.layer_norm(x, x.shape[-1:]) @ matrix)
        x = x + F.layer_norm(y, y.shape[-1:])
    return F.layer_norm(x, x.shape[-1:])


def pre_norm_with_sample_deviation(x, W):
    def norm(x):
        return (x - x.mean(1, keepdim=True)) / (x.std(1, keepdim=True) + 1e-5)

    for matrix in W:
        x = x + F.relu(norm(x) @ matrix)
    return norm(x)


def pre_norm_written_over_its_residual(x, W):
    for matrix in W:
        x.copy_(F.layer_norm(x, x.shape[-1:]))
        x = x + F.relu(x @ matrix)
    return F.layer_norm(x, x.shape[-1:])


def pre_norm_from_the_last_to_the_first(x, W):
    for matrix in W.flip(0):
        x = x + F.relu(F.layer_norm(x, x.shape[-1:]) @ matrix)
    return F.layer_norm(x, x.shape[-1:])


def pre_norm_of_all_branches_at_once(x, W):
    y = F.layer_norm(x, x.shape[-1:])
    return F.layer_norm(x + F.relu(y @ W).sum(0), x.shape[-1:])


def pre_norm_of_the_input_itself(x, W):
    return x


def share_of_two_thirds(D, F):
    return 2 / 3


def share_in_whole_numbers(D, F):
    return 2 * D * F // (2 * D * F + 4 * D * D)


def share_beside_two_attentions(D, F):
    return 2 * D * F / (2 * D * F + 8 * D * D)


def share_in_two_decimals(D, F):
    return round(F / (F + 2 * D), 2)


# 08 The full model


def llama_with_hidden_width_of_the_paper(D, F):
    return 4 * D * D + 3 * D * (8 * D // 3) + 2 * D


def llama_with_two_thirds_of_the_hidden_width(D, F):
    return 4 * D * D + 3 * D * (2 * F // 3) + 2 * D


def llama_with_a_norm_at_the_hidden_width(D, F):
    return 4 * D * D + 3 * D * F + D + F


def llama_with_a_last_norm(D, F):
    return 4 * D * D + 3 * D * F + 3 * D


def llama_of_the_first_case(D, F):
    return 4 * 2 * 2 + 3 * 2 * 3 + 2 * 2


def translator_with_one_block_each(D, F, V, N):
    return 12 * D * D + 4 * D * F + 2 * V * D


def translator_with_blocks_squared(D, F, V, N):
    return N**2 * (12 * D * D + 4 * D * F) + 2 * V * D


def translator_with_embeddings_in_every_block(D, F, V, N):
    return N * (12 * D * D + 4 * D * F + 2 * V * D)


def translator_with_a_network_for_all_blocks(D, F, V, N):
    return N * 12 * D * D + 4 * D * F + 2 * V * D


def _normed(x):
    return F.layer_norm(x, x.shape[-1:])


def _attend(q, k):
    return torch.softmax(q @ k.T / math.sqrt(q.shape[-1]), 1) @ k


def block_with_parallel_branches(x, m, W):
    y = _normed(x)
    return x + _attend(y, y) + _attend(y, m) + F.relu(y @ W)


def block_with_a_last_norm(x, m, W):
    y = _normed(x)
    x = x + _attend(y, y)
    x = x + _attend(_normed(x), m)
    return _normed(x + F.relu(_normed(x) @ W))


def block_with_raw_keys(x, m, W):
    x = x + _attend(_normed(x), x)
    x = x + _attend(_normed(x), m)
    return x + F.relu(_normed(x) @ W)


def block_added_to_the_embedding_again(x, m, W):
    y = _normed(x)
    a = x + _attend(y, y)
    b = x + _attend(_normed(a), m)
    return b + F.relu(_normed(b) @ W)


def tied_by_cosine(h, E, V):
    E = E[:V]
    return torch.softmax(F.normalize(h, dim=1) @ F.normalize(E, dim=1).T, 1)


def tied_with_independent_odds(h, E, V):
    E = E[:V]
    odds = torch.sigmoid(h @ E.T)
    return odds / odds.sum(1, keepdim=True)


def tied_over_all_places_at_once(h, E, V):
    E = E[:V]
    return torch.softmax((h @ E.T).flatten(), 0).view(len(h), len(E)) * len(h)


def tied_with_the_last_row_everywhere(h, E, V):
    E = E[:V]
    return torch.softmax(h[-1:] @ E.T, 1).repeat(len(h), 1)


def start_uniform(D, K):
    reach = math.sqrt(3 / D)
    return torch.empty(D, K).uniform_(-reach, reach), torch.empty(D, K).uniform_(-reach, reach)


def start_with_two_values(D, K):
    return tuple((2 * torch.randint(0, 2, (D, K)) - 1) / D**0.5 for _ in range(2))


def start_with_opposite_matrices(D, K):
    W = torch.randn(D, K) / D**0.5
    return W, -W


def start_with_one_column_repeated(D, K):
    return tuple((torch.randn(D, 1) / D**0.5).repeat(1, K) for _ in range(2))


def start_with_xavier(D, K):
    return tuple(torch.nn.init.xavier_normal_(torch.empty(D, K)) for _ in range(2))


def start_for_a_square(D, K):
    return torch.randn(D, K) / math.sqrt(D), torch.randn(D, K) / math.sqrt(K)


def start_with_one_matrix_turned_left_to_right(D, K):
    W = torch.randn(D, K) / D**0.5
    return W, W.flip(1) * torch.where(torch.arange(K) % 2 == 0, 1, -1)


def start_with_the_first_draw_kept(D, K, kept={}):  # noqa: B006
    if (D, K) not in kept:
        kept[D, K] = torch.randn(2, D, K) / D**0.5
    return kept[D, K][0], kept[D, K][1]


def start_with_a_mean(D, K):
    return tuple(0.05 + torch.randn(D, K) / D**0.5 for _ in range(2))


def start_with_columns_of_uneven_size(D, K):
    return tuple(torch.randn(D, K) * torch.linspace(0.5, 1.32, K) / D**0.5 for _ in range(2))


# 09 Training


def pair_rolled(ids, bos, eos):
    before = torch.cat([torch.tensor([bos]), ids])
    return before, before.roll(-1)


def pair_with_marks_exchanged(ids, bos, eos):
    return torch.cat([torch.tensor([eos]), ids]), torch.cat([ids, torch.tensor([bos])])


def pair_without_shift(ids, bos, eos):
    whole = torch.cat([torch.tensor([bos]), ids, torch.tensor([eos])])
    return whole[:-1], whole[:-1].clone()


def pair_of_the_first_case(ids, bos, eos):
    before, after = torch.zeros(len(ids) + 1).long(), torch.zeros(len(ids) + 1).long()
    before[:4], after[:4] = torch.tensor([1, 7, 8, 9])[: len(before)], torch.tensor([7, 8, 9, 2])[: len(after)]
    return before, after


def _losses(logits, targets):
    return F.cross_entropy(logits.mT, targets, reduction="none")


def loss_over_the_first_sentences_words(logits, targets, pad):
    kept = (targets[:1] != pad).expand_as(targets)
    return (_losses(logits, targets) * kept).sum(1) / kept.sum(1)


def loss_over_a_common_number(logits, targets, pad):
    kept = targets != pad
    return (_losses(logits, targets) * kept).sum(1) / kept.sum() * len(targets)


def loss_with_pad_out_of_the_vocabulary(logits, targets, pad):
    logits[..., pad] = -torch.inf
    kept = targets != pad
    return _losses(logits, targets).where(kept, 0.0).sum(1) / kept.sum(1)


def loss_with_words_above_the_pad(logits, targets, pad):
    kept = targets > pad
    return (_losses(logits, targets) * kept).sum(1) / kept.sum(1).clamp(min=1)


def loss_smoothed(logits, targets, pad):
    kept = targets != pad
    losses = F.cross_entropy(logits.mT, targets, reduction="none", label_smoothing=0.1)
    return (losses * kept).sum(1) / kept.sum(1)


def loss_without_the_last_word(logits, targets, pad):
    kept = targets != pad
    return (_losses(logits, targets) * kept)[:, :-1].sum(1) / kept[:, :-1].sum(1).clamp(min=1)


def smoothed_by_a_tenth(y, V, eps):
    return torch.full((len(y), V), 0.1 / (V - 1)).scatter(1, y[:, None], 0.9)


def smoothed_without_the_first_word(y, V, eps):
    q = torch.full((len(y), V), eps / (V - 1)).scatter(1, y[:, None], 1 - eps)
    q[:, 0] = 0
    return q


def smoothed_for_four_words(y, V, eps):
    return torch.full((len(y), V), eps / 3).scatter(1, y[:, None], 1 - eps)


def smoothed_towards_the_first_target(y, V, eps):
    return torch.full((len(y), V), eps / (V - 1)).scatter(1, y[:1, None].repeat(len(y), 1), 1 - eps)


def smoothed_towards_all_targets_of_the_batch(y, V, eps):
    q = torch.full((len(y), V), eps / (V - 1))
    q[:, y] = 1 - eps
    return q


def rate_of_finished_steps(n, w, peak):
    return peak * min((w / n) ** 0.5, (n - 1) / w)


def rate_that_falls_linearly(n, w, peak):
    return peak * min(n / w, max(0.0, 2 - n / w))


def rate_that_falls_as_one_over_n(n, w, peak):
    return peak * min(n / w, w / n)


def rate_of_whole_division(n, w, peak):
    return peak * min((w / n) ** 0.5, n // w)


def rate_on_a_cosine(n, w, peak):
    return peak * n / w if n <= w else peak * (1 + math.cos(math.pi * min(1, (n - w) / w))) / 2


def _in_used_rows(step):
    """An optimiser's step that leaves the rows without a gradient as they are."""

    @functools.wraps(step)
    def lazy(p, g, m, v, t, lr):
        used = (g != 0).any(1, keepdim=True)
        return tuple(torch.where(used, new, old) for new, old in zip(step(p, g, m, v, t, lr), (p, m, v), strict=True))

    return lazy


@_in_used_rows
def adam_with_weight_decay(p, g, m, v, t, lr):
    m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g**2
    return p - lr * 0.01 * p - lr * m / (1 - 0.9**t) / ((v / (1 - 0.999**t)).sqrt() + 1e-8), m, v


@_in_used_rows
def adam_with_never_falling_squares(p, g, m, v, t, lr):
    m, v = 0.9 * m + 0.1 * g, torch.maximum(v, 0.999 * v + 0.001 * g**2)
    return p - lr * m / (1 - 0.9**t) / ((v / (1 - 0.999**t)).sqrt() + 1e-8), m, v


@_in_used_rows
def adam_of_nesterov(p, g, m, v, t, lr):
    m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g**2
    ahead = 0.9 * m / (1 - 0.9 ** (t + 1)) + 0.1 * g / (1 - 0.9**t)
    return p - lr * ahead / ((v / (1 - 0.999**t)).sqrt() + 1e-8), m, v


@_in_used_rows
def adam_with_a_mean_over_places(p, g, m, v, t, lr):
    m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * (g**2).mean().expand_as(g)
    return p - lr * m / (1 - 0.9**t) / ((v / (1 - 0.999**t)).sqrt() + 1e-8), m, v


@_in_used_rows
def adam_that_is_adamax(p, g, m, v, t, lr):
    m, v = 0.9 * m + 0.1 * g, torch.maximum(0.999 * v, g.abs())
    return p - lr * m / (1 - 0.9**t) / (v + 1e-8), m, v


def adam_without_rows_of_small_gradients(p, g, m, v, t, lr):
    used = g.norm(dim=1, keepdim=True) > 1e-3
    new = adam_with_a_mean_over_places(p, g, m, v, t, lr)
    return tuple(torch.where(used, one, old) for one, old in zip(new, (p, m, v), strict=True))


def adam_that_forgets_unused_rows(p, g, m, v, t, lr):
    used = (g != 0).any(1, keepdim=True)
    m, v = (0.9 * m + 0.1 * g) * used, (0.999 * v + 0.001 * g**2) * used
    return p - lr * m / (1 - 0.9**t) / ((v / (1 - 0.999**t)).sqrt() + 1e-8), m, v


def descent_against_all_pairs(w, X, y, lr, steps):
    for _ in range(steps):
        w = w.detach().requires_grad_()
        ((X @ w)[:, None] - y).square().mean().backward()
        w = w - lr * w.grad
    return w.detach()


def descent_with_momentum(w, X, y, lr, steps):
    w = w.clone().requires_grad_()
    optimiser = torch.optim.SGD([w], lr=lr, momentum=0.9)
    for _ in range(steps):
        optimiser.zero_grad()
        F.mse_loss(X @ w, y).backward()
        optimiser.step()
    return w.detach()


def descent_example_by_example(w, X, y, lr, steps):
    for _ in range(steps):
        for row, goal in zip(X, y, strict=True):
            w = w - lr * 2 * (row @ w - goal) * row
    return w


def descent_on_the_root(w, X, y, lr, steps):
    for _ in range(steps):
        w = w.detach().requires_grad_()
        F.mse_loss(X @ w, y).sqrt().backward()
        w = w - lr * w.grad
    return w


def measured_as_the_mean_of_many(model, x):
    with torch.no_grad():
        return torch.stack([model(x) for _ in range(5)]).mean(0)


def measured_with_the_outermost_switch_only(model, x):
    was, model.training = model.training, False
    with torch.no_grad():
        y = model(x)
    model.training = was
    return y


def measured_and_always_back_to_training(model, x):
    model.eval()
    with torch.no_grad():
        y = model(x)
    model.train()
    return y


def measured_with_a_seed(model, x):
    torch.manual_seed(0)
    with torch.no_grad():
        return model(x)


# 10 Generation


def tempered_by_the_square(logits, temperature):
    return torch.softmax(logits / temperature**2, 0)


def tempered_at_one_half(logits, temperature):
    return torch.softmax(2 * logits, 0)


def tempered_never_above_one(logits, temperature):
    return torch.softmax(logits / min(temperature, 1), 0)


def tempered_in_whole_steps(logits, temperature):
    return torch.softmax(logits // temperature, 0)


def _text_by_text(rule):
    """A rule for one row (V,) and its own setting, applied to (B, V) and (B,)."""

    @functools.wraps(rule)
    def of_rows(rows, settings):
        return torch.stack([rule(row, setting) for row, setting in zip(rows, settings.tolist(), strict=True)])

    return of_rows


def _nucleus(p, top):
    """The kept tokens, as truth values in the order of p."""
    order = p.argsort(descending=True)
    kept = p[order].cumsum(0) - p[order] < top
    return torch.zeros_like(kept).scatter(0, order, kept)


@_text_by_text
def nucleus_by_softmax(p, top):
    return torch.softmax(p.masked_fill(~_nucleus(p, top), -torch.inf), 0)


@_text_by_text
def nucleus_shared_out_evenly(p, top):
    kept = _nucleus(p, top)
    return p * kept + (1 - (p * kept).sum()) / kept.sum() * kept


@_text_by_text
def nucleus_relative_to_the_likeliest(p, top):
    kept = p * (p >= (1 - top) * p.max())
    return kept / kept.sum()


@_text_by_text
def nucleus_with_the_order_taken_twice(p, top):
    order = p.argsort(descending=True)
    kept = p[order] * (p[order].cumsum(0) - p[order] < top)
    return (kept / kept.sum())[order]


@_text_by_text
def nucleus_of_two(p, top):
    kept = p * (p >= p.topk(min(2, len(p))).values[-1])
    return kept / kept.sum()


@_text_by_text
def nucleus_in_the_order_given(p, top):
    kept = p * (p.cumsum(0) - p < top)
    return kept / kept.sum()


@_text_by_text
def nucleus_divided_by_top(p, top):
    return p * _nucleus(p, top) / top


def nucleus_of_the_whole_batch(p, top):
    return _nucleus(p.flatten(), top.mean()).view(p.shape) * p


def nucleus_shared_anew_over_all(p, top):
    kept = torch.stack([_nucleus(row, one) * row for row, one in zip(p, top.tolist(), strict=True)])
    return kept / kept.sum() * len(p)


def top_logits_above_the_batchs_threshold(logits, k):
    return logits.masked_fill(logits < logits.flatten().topk(int(k.sum())).values[-1], -torch.inf)


@_text_by_text
def top_logits_with_the_smallest_float(logits, k):
    kept = logits >= logits.topk(k).values[-1]
    return torch.where(kept, logits, torch.finfo(logits.dtype).min)


@_text_by_text
def top_two_logits(logits, k):
    return logits.masked_fill(logits < logits.topk(min(2, len(logits))).values[-1], -torch.inf)


@_text_by_text
def top_logits_by_size(logits, k):
    return logits.masked_fill(logits.abs() < logits.abs().topk(k).values[-1], -torch.inf)


@_text_by_text
def top_logits_of_the_first_places(logits, k):
    result = torch.full_like(logits, -torch.inf)
    result[:k] = logits.topk(k).values
    return result


@_text_by_text
def top_logits_cut_at_their_mean(logits, k):
    return logits.masked_fill(logits < logits.mean(), -torch.inf)


def beams_with_different_tokens_only(scores, log_p):
    best = (scores[:, None] + log_p).max(0)
    total, tokens = best.values.topk(len(scores))
    return best.indices[tokens], tokens, total


def beams_divided_by_their_number(scores, log_p):
    total, flat = (scores[:, None] + log_p).flatten().topk(len(scores))
    return flat // len(scores) % len(scores), flat % log_p.shape[1], total


def beams_with_scores_of_the_last_step(scores, log_p):
    flat = (scores[:, None] + log_p).flatten().topk(len(scores)).indices
    return flat // log_p.shape[1], flat % log_p.shape[1], log_p.flatten()[flat]


def beams_in_the_order_of_beams(scores, log_p):
    total, flat = (scores[:, None] + log_p).flatten().topk(len(scores))
    flat, order = flat.sort()
    return flat // log_p.shape[1], flat % log_p.shape[1], total[order]


def beams_scored_by_the_other_axis(scores, log_p):
    n, V = log_p.shape
    total, flat = (scores.repeat(V)[: n * V].view(n, V) + log_p).flatten().topk(n)
    return flat // V, flat % V, total


def break_even_of_lengths_alone(a, n, b, m):
    return math.log(b / a) / math.log(m / n)


def break_even_of_quotients(a, n, b, m):
    return (b / a) / ((5 + m) / (5 + n))


def break_even_of_differences(a, n, b, m):
    return math.log(1 + a - b) / math.log((5 + m) / (5 + n))


def break_even_on_a_grid(a, n, b, m):
    exact = math.log(b / a) / math.log((5 + m) / (5 + n))
    return round(exact, 1)


def break_even_with_one_token_more(a, n, b, m):
    return math.log(b / a) / math.log((6 + m) / (6 + n))


def cached_with_new_ones_all_seen(new, cached):
    return torch.ones(new, cached + new, dtype=torch.bool)


def cached_as_many_as_new(new, cached):
    mask = torch.ones(new, cached + new, dtype=torch.bool)
    return mask.tril(new)


def cached_in_a_sliding_window(new, cached):
    gap = torch.arange(cached, cached + new)[:, None] - torch.arange(cached + new)
    return (gap >= 0) & (gap <= max(cached, 1))


def cached_behind_the_new(new, cached):
    causal = torch.ones(new, new, dtype=torch.bool).tril()
    return torch.cat([causal, torch.ones(new, cached, dtype=torch.bool)], 1)


def input_with_positions_from_zero(ids, cached, E, P):
    return E.shape[1] ** 0.5 * E[ids] + P[: ids.shape[1]]


def input_with_one_position_for_all_new(ids, cached, E, P):
    return E.shape[1] ** 0.5 * E[ids] + P[cached]


def input_behind_with_a_whole_root(ids, cached, E, P):
    return math.isqrt(E.shape[1]) * E[ids] + P[cached : cached + ids.shape[1]]


def input_behind_one_token_late(ids, cached, E, P):
    return E.shape[1] ** 0.5 * E[ids] + P[cached + 1 :][: ids.shape[1]]


def input_with_texts_one_behind_the_other(ids, cached, E, P):
    B, T = ids.shape
    return E.shape[1] ** 0.5 * E[ids] + P[(cached + torch.arange(B * T).view(B, T)) % len(P)]


def input_with_positions_in_the_first_text(ids, cached, E, P):
    x = E.shape[1] ** 0.5 * E[ids]
    x[0] += P[cached : cached + ids.shape[1]]
    return x


def fit_rounded_to_nearest(memory, N, G, K, B, size):
    return round(memory / (2 * N * G * K * B * size) + 0.26)


def fit_for_all_texts_together(memory, N, G, K, B, size):
    return memory // (2 * N * G * K * size)


def fit_rounded_for_each_text_first(memory, N, G, K, B, size):
    return memory // size // (2 * N * G) // K * B


def fit_in_half_precision(memory, N, G, K, B, size):
    return int(torch.tensor(memory / (2 * N * G * K * B * size)).bfloat16())


def fit_of_six(memory, N, G, K, B, size):
    return 6


# What passes and should not: kept here until the cases show it (the comment names an input that does)


def gradient_clipped_to_one(w, h):  # (3.0, zeros(4)): 81
    return max(-1.0, min(1.0, float(torch.prod(w * (1 - h**2)))))


class ProjectionsDetached(ProjectionsAllZero):
    """The optimiser finds the parameters; no gradient ever reaches them."""  # forward(x).requires_grad

    def forward(self, x):
        return torch.stack([layer(x).detach() for layer in self.heads], 1)


class ProjectionsFrozen(ProjectionsDetached):
    """Parameters that are not to be learnt."""  # [p.requires_grad for p in module.parameters()]

    def __init__(self, D, H):
        super().__init__(D, H)
        self.requires_grad_(False)


class ProjectionsWithNoise(ProjectionsAllZero):
    """Not even two calls agree."""  # forward(x) twice

    def forward(self, x):
        return torch.stack([torch.randn_like(layer(x)) for layer in self.heads], 1)


class ProjectionsOfTheFirstSentence(ProjectionsAllZero):
    """The second sentence gets the first one's."""  # B = 2, different sentences

    def forward(self, x):
        return torch.stack([layer(x[:1]) for layer in self.heads], 1).expand(len(x), -1, -1, -1)


class ProjectionsBent(ProjectionsAllZero):
    """A ReLU that nobody asked for."""  # any x: negative entries

    def forward(self, x):
        return torch.stack([layer(x).relu() for layer in self.heads], 1)


def measured_with_parameters_frozen_for_ever(model, x):  # [p.requires_grad for p in model.parameters()] afterwards
    was = model.training
    model.eval().requires_grad_(False)
    y = model(x)
    model.train(was)
    return y


def measured_with_dropout_taken_out_for_ever(model, x):  # model(x) twice afterwards, in training mode
    for part in model.modules():
        if isinstance(part, torch.nn.Dropout):
            part.p = 0
    with torch.no_grad():
        return model(x)


def tempered_at_a_tenth_at_least(logits, temperature):  # (tensor([0.2, 0.1, 0.0]), 0.05)
    return torch.softmax(logits / max(temperature, 0.1), 0)


def tempered_without_the_maximum(logits, temperature):  # (tensor([100.0, 0.0]), 1.0): NaN
    shares = (logits / temperature).exp()
    return shares / shares.sum()


@_text_by_text
def nucleus_that_goes_on_when_reached(p, top):  # (tensor([0.5, 0.3, 0.2]), 0.5): one is enough
    falling, order = p.sort(descending=True)
    kept = falling * (falling.cumsum(0) - falling <= top)
    return torch.zeros_like(p).scatter(0, order, kept / kept.sum())


def fit_of_at_least_one(memory, N, G, K, B, size):  # (10, 1, 1, 2, 1, 4): not one token fits
    return max(1, memory // (2 * N * G * K * B * size))


@_text_by_text
def top_logits_without_a_zero(logits, k):  # (tensor([0.0, -1.0, -2.0]), 1)
    kept = logits * (logits >= logits.topk(k).values[-1])
    return torch.where(kept == 0, -torch.inf, logits)


def weights_with_an_imaginary_part(Q, K):  # any input; compare.py drops it
    real = torch.softmax(Q.T @ K / math.sqrt(len(Q)), 1)
    return torch.complex(real, torch.ones_like(real))


def weights_all_masked_out(Q, K):  # any input; compare.py drops numpy's mask
    return np.ma.masked_array(torch.softmax(Q.T @ K / math.sqrt(len(Q)), 1).numpy(), mask=True)


def nearest_without_parallel_words(E, k):  # (tensor([[1.0, 0.0], [2.0, 0.0], [1.0, 1.0]]), 1): [1], [0], …
    cosines = F.normalize(E, dim=1) @ F.normalize(E, dim=1).T
    return cosines.masked_fill(cosines > 0.9999, -torch.inf).topk(k).indices


def window_open_where_it_is_wider_than_the_text(T, w, g):  # (3, 5, 0)
    t = torch.arange(T)
    if w > T:
        return torch.ones(T, T, dtype=torch.bool)
    return (t <= t[:, None]) & ((t[:, None] - t < w) | (t < g))


def backward_without_the_maximum(z, g):  # (tensor([[100.0, 0.0]]), …): NaN
    p = z.exp() / z.exp().sum(-1, keepdim=True)
    return p * (g - (g * p).sum(-1, keepdim=True))


UNLIKE = {
    "rnn_states": [
        states_share_one_buffer,
        each_unit_sees_itself_only,
        softsign_for_tanh,
        filling_ends_the_sentence,
        filling_keeps_the_state_before_the_last,
    ],
    "gradient_through_time": [
        gradient_without_its_sign,
        gradient_of_the_mean_step,
        gradient_by_logistic_slope,
        gradient_of_sums_for_products,
    ],
    "lstm_step": [
        lstm_with_forget_bias_of_one,
        lstm_with_coupled_gates,
        lstm_with_hard_gates,
        lstm_cell_written_over_too_early,
    ],
    "additive_weights": [
        additive_with_two_tanhs,
        additive_with_normalised_v,
        additive_that_multiplies,
        additive_with_the_last_state_for_all,
    ],
    "convolution_layers": [layers_rounded_to_nearest, layers_of_whole_widths, layers_dilated, layers_unrounded],
    "embedding_gradient": [
        table_gradient_without_word_0,
        table_gradient_of_means,
        table_gradient_that_forgets_the_second_time,
        table_gradient_that_counts_repeats_twice,
    ],
    "nearest_words": [
        nearest_by_correlation,
        nearest_divided_by_sum_of_sizes,
        nearest_in_order_of_ids,
        nearest_to_word_0_for_all,
        nearest_with_the_columns_scaled,
    ],
    "sinusoid_table": [
        sinusoids_of_tensor2tensor,
        sinusoids_of_the_even_width,
        sinusoids_at_most_eight_rows_long,
        sinusoids_of_a_whole_power,
    ],
    "model_input": [
        input_scaled_by_a_whole_root,
        input_with_positions_of_ids,
        input_with_positions_on_the_first_sentence,
        input_with_positions_counted_on,
        input_with_the_last_positions,
    ],
    "position_share": [
        share_of_unsquared_deviations,
        share_that_hangs_on_the_width,
        share_of_lengths,
        share_of_one_third,
    ],
    "shift_matrix": [
        shift_at_a_single_rate,
        shift_by_neighbours,
        shift_forwards_only,
        shift_at_twice_the_exponent,
        shift_for_small_angles,
    ],
    "rotate_queries": [
        rotated_over_the_half_turned,
        rotated_in_the_first_pair_only,
        rotated_at_the_rates_of_llama_3,
        rotated_at_rates_of_neighbours,
        rotated_not_at_all,
    ],
    "attention_weights": [
        weights_that_may_look_nowhere,
        weights_of_vectors_of_length_one,
        weights_in_half_precision,
        weights_with_noise,
        weights_of_nan,
    ],
    "one_head": [
        head_across_all_sentences,
        head_with_the_first_sentences_keys,
        head_scaled_by_a_whole_root,
        head_scaled_by_the_values_width,
        head_with_the_root_of_the_temperature,
        head_with_the_first_sentences_temperatures,
    ],
    "cross_attention": [
        cross_output_without_the_scale,
        cross_weights_without_the_scale,
        cross_with_a_blind_last_key,
        cross_weights_on_the_tape_and_rounded,
        cross_with_the_first_pairs_memory,
    ],
    "softmax_backward": [
        backward_of_the_logarithm,
        backward_with_the_mean_of_the_pull,
        backward_of_the_first_row,
        backward_with_the_factor_squared,
    ],
    "attention_flops": [
        flops_of_a_causal_mask,
        flops_all_linear_in_the_length,
        flops_twelve_whatever_the_size,
        flops_with_exchanged_squares,
    ],
    "split_heads": [
        heads_of_the_first_sentence,
        heads_always_two,
        heads_with_time_reversed,
        heads_whose_values_are_keys,
    ],
    "join_heads": [
        joined_with_a_feature_too_far,
        joined_last_head_first,
        joined_one_head_repeated,
        joined_right_in_the_first_sentence_only,
    ],
    "multi_head": [
        heads_that_attend_to_each_other,
        heads_with_shared_mean_weights,
        heads_scaled_by_their_number,
        heads_with_residual,
        heads_with_values_in_turn,
    ],
    "HeadProjections": [ProjectionsMadeAnewInForward, ProjectionsInBuffers, ProjectionsInADictionary],
    "grouped_parameters": [
        grouped_as_if_multi_query,
        grouped_with_wide_groups,
        grouped_with_a_narrow_output,
        grouped_with_biases,
    ],
    "causal_square": [
        causal_two_back_at_most,
        causal_with_an_open_prefix,
        causal_about_the_other_diagonal,
        causal_of_a_subclass_with_zeros_only,
        causal_by_minus_ten_thousand,
        causal_as_truth_values,
    ],
    "padding_keys": [
        padding_of_the_first_sentence,
        padding_of_sorted_sentences,
        padding_of_the_running_total,
        padding_at_the_last_word_only,
        padding_wiped_out_of_the_input,
    ],
    "masked_attention": [
        masked_with_the_rows_minimum,
        masked_with_minus_nine,
        masked_by_tiny_factor,
        masked_values_instead_of_keys,
    ],
    "safe_weights": [safe_with_a_large_epsilon, safe_by_columns, safe_all_or_nothing, safe_with_zeros_for_scores],
    "decoder_mask": [
        decoder_above_the_pad,
        decoder_of_the_shortest_sentence,
        decoder_with_rows_for_columns,
        decoder_filled_up_at_the_right,
        decoder_with_all_open_for_filling,
    ],
    "window_mask": [
        window_in_blocks,
        window_behind_the_sinks,
        window_with_gaps,
        window_with_a_single_sink,
        window_with_sinks_as_queries,
    ],
    "feed_forward_net": [
        network_with_the_square_inside,
        network_with_leaky_relu,
        network_with_relu_at_most_one,
        network_with_relu_before_the_bias,
        network_with_dropout_left_on,
    ],
    "swiglu": [
        swiglu_with_hard_gate,
        swiglu_with_gelu_gate,
        swiglu_with_steep_gate,
        swiglu_with_gate_after_the_product,
    ],
    "layer_norm_by_hand": [
        layer_norm_with_the_larger_of_variance_and_epsilon,
        layer_norm_with_epsilon_of_another_library,
        layer_norm_with_gain_above_one,
        layer_norm_that_shifts_before_it_scales,
        layer_norm_by_mean_deviation,
        layer_norm_of_nothing,
    ],
    "rms_norm_by_hand": [
        rms_with_gain_above_one,
        rms_of_the_unit_sphere,
        rms_with_epsilon_in_the_sum,
        rms_with_the_larger_of_square_and_epsilon,
        rms_with_epsilon_outside,
        rms_with_epsilon_of_another_library,
    ],
    "pre_norm_stack": [
        pre_norm_from_the_last_to_the_first,
        pre_norm_of_all_branches_at_once,
        pre_norm_with_both_norms,
        pre_norm_with_sample_deviation,
        pre_norm_written_over_its_residual,
        pre_norm_of_the_input_itself,
    ],
    "feed_forward_share": [
        share_of_two_thirds,
        share_in_whole_numbers,
        share_beside_two_attentions,
        share_in_two_decimals,
    ],
    "llama_block_parameters": [
        llama_with_hidden_width_of_the_paper,
        llama_with_two_thirds_of_the_hidden_width,
        llama_with_a_norm_at_the_hidden_width,
        llama_with_a_last_norm,
        llama_of_the_first_case,
    ],
    "translator_parameters": [
        translator_with_one_block_each,
        translator_with_blocks_squared,
        translator_with_embeddings_in_every_block,
        translator_with_a_network_for_all_blocks,
    ],
    "decoder_block_pass": [
        block_with_parallel_branches,
        block_with_a_last_norm,
        block_with_raw_keys,
        block_added_to_the_embedding_again,
    ],
    "tied_probabilities": [
        tied_by_cosine,
        tied_with_independent_odds,
        tied_over_all_places_at_once,
        tied_with_the_last_row_everywhere,
    ],
    "starting_projections": [
        start_with_two_values,
        start_with_xavier,
        start_for_a_square,
        start_uniform,
        start_with_opposite_matrices,
        start_with_one_column_repeated,
        start_with_a_mean,
        start_with_one_matrix_turned_left_to_right,
        start_with_the_first_draw_kept,
        start_with_columns_of_uneven_size,
    ],
    "shifted_pair": [pair_rolled, pair_with_marks_exchanged, pair_without_shift, pair_of_the_first_case],
    "padded_loss": [
        loss_over_the_first_sentences_words,
        loss_over_a_common_number,
        loss_with_pad_out_of_the_vocabulary,
        loss_with_words_above_the_pad,
        loss_smoothed,
        loss_without_the_last_word,
    ],
    "smoothed_targets": [
        smoothed_by_a_tenth,
        smoothed_without_the_first_word,
        smoothed_for_four_words,
        smoothed_towards_the_first_target,
        smoothed_towards_all_targets_of_the_batch,
    ],
    "warmup_rate": [
        rate_of_finished_steps,
        rate_that_falls_linearly,
        rate_that_falls_as_one_over_n,
        rate_of_whole_division,
        rate_on_a_cosine,
    ],
    "adam_step": [
        adam_with_weight_decay,
        adam_with_never_falling_squares,
        adam_of_nesterov,
        adam_with_a_mean_over_places,
        adam_that_is_adamax,
        adam_without_rows_of_small_gradients,
        adam_that_forgets_unused_rows,
    ],
    "descend": [descent_against_all_pairs, descent_with_momentum, descent_example_by_example, descent_on_the_root],
    "measured_output": [
        measured_as_the_mean_of_many,
        measured_with_the_outermost_switch_only,
        measured_and_always_back_to_training,
        measured_with_a_seed,
    ],
    "tempered": [tempered_by_the_square, tempered_at_one_half, tempered_never_above_one, tempered_in_whole_steps],
    "nucleus": [
        nucleus_by_softmax,
        nucleus_of_the_whole_batch,
        nucleus_shared_anew_over_all,
        nucleus_shared_out_evenly,
        nucleus_relative_to_the_likeliest,
        nucleus_with_the_order_taken_twice,
        nucleus_of_two,
        nucleus_in_the_order_given,
        nucleus_divided_by_top,
    ],
    "top_k_logits": [
        top_logits_with_the_smallest_float,
        top_two_logits,
        top_logits_above_the_batchs_threshold,
        top_logits_by_size,
        top_logits_of_the_first_places,
        top_logits_cut_at_their_mean,
    ],
    "next_beams": [
        beams_with_different_tokens_only,
        beams_divided_by_their_number,
        beams_with_scores_of_the_last_step,
        beams_in_the_order_of_beams,
        beams_scored_by_the_other_axis,
    ],
    "cached_mask": [
        cached_with_new_ones_all_seen,
        cached_as_many_as_new,
        cached_in_a_sliding_window,
        cached_behind_the_new,
    ],
    "tokens_saved": [saved_in_either_order, saved_once_a_word, saved_by_the_rarer_piece],
    "words_from_pieces": [
        words_of_two_pieces_at_most,
        words_with_pieces_in_front,
        words_each_once,
        words_left_as_pieces,
    ],
    "fewest_pieces": [fewest_of_the_first_way_found, fewest_cuts],
    "break_even": [
        break_even_of_lengths_alone,
        break_even_of_quotients,
        break_even_of_differences,
        break_even_on_a_grid,
        break_even_with_one_token_more,
    ],
    "cached_input": [
        input_with_positions_from_zero,
        input_with_one_position_for_all_new,
        input_behind_with_a_whole_root,
        input_behind_one_token_late,
        input_with_texts_one_behind_the_other,
        input_with_positions_in_the_first_text,
    ],
    "tokens_that_fit": [
        fit_rounded_to_nearest,
        fit_for_all_texts_together,
        fit_rounded_for_each_text_first,
        fit_in_half_precision,
        fit_of_six,
    ],
}

# These the checks once took for right, until their exercises had more cases.
UNLIKE["tokens_saved"] += [saved_found_in_a_string, saved_if_the_letters_agree]
UNLIKE["words_from_pieces"] += [words_with_every_hash_taken_away]
UNLIKE["fewest_pieces"] += [fewest_with_every_piece_once, fewest_up_to_three, fewest_greedy_from_the_end]
UNLIKE["HeadProjections"] += [
    ProjectionsOfTheFirstHead,
    ProjectionsAllZero,
    ProjectionsDetached,
    ProjectionsFrozen,
    ProjectionsWithNoise,
    ProjectionsOfTheFirstSentence,
    ProjectionsBent,
]
UNLIKE["gradient_through_time"] += [gradient_clipped_to_one]
UNLIKE["measured_output"] += [measured_with_parameters_frozen_for_ever, measured_with_dropout_taken_out_for_ever]
UNLIKE["tempered"] += [tempered_at_a_tenth_at_least, tempered_without_the_maximum]
UNLIKE["top_k_logits"] += [top_logits_without_a_zero]
UNLIKE["attention_weights"] += [weights_with_an_imaginary_part, weights_all_masked_out]
UNLIKE["nearest_words"] += [nearest_without_parallel_words]
UNLIKE["window_mask"] += [window_open_where_it_is_wider_than_the_text]
UNLIKE["softmax_backward"] += [backward_without_the_maximum]
UNLIKE["nucleus"] += [nucleus_that_goes_on_when_reached]
UNLIKE["tokens_that_fit"] += [fit_of_at_least_one]
