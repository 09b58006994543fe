"""Wrong answers to the lesson's exercises, unlike any in the bank: none may pass."""

import math

import torch

from answer_tables import named


def rotated_at_the_rates_of_llama_3(x):
    K = x.shape[1]
    angles = (torch.arange(len(x))[:, None] * 500000.0 ** (-torch.arange(0, K, 2) / K)).repeat(1, 2)
    return x * angles.cos() + torch.cat([-x[:, K // 2 :], x[:, : K // 2]], 1) * angles.sin()


def bias_of_the_past_alone(H, T):
    t = torch.arange(T)
    return -(0.5 ** (8 * torch.arange(1, H + 1) / H)).view(H, 1, 1) * (t[:, None] - t).clamp(min=0)


def halves_of_the_first_head(W, H):
    K = W.shape[1] // H
    return torch.cat([W[:, 0:K:2], W[:, 1:K:2], W[:, K:]], dim=1).roll(int(H == 1), dims=1)


def starts_with_one_bucket_too_few_exact(b, m):
    e = b // 2 - 1
    return list(range(e)) + [math.ceil(e * (m / e) ** ((j - e) / (b - e))) for j in range(e, b)]


def some_turned_relative_to_the_first(x, positions, R, base):
    angles = (positions - positions[0])[:, None] * base ** (-torch.arange(0, R, 2) / R)
    a, b = x[:, : R // 2], x[:, R // 2 : R]
    turned = torch.cat([a * angles.cos() - b * angles.sin(), a * angles.sin() + b * angles.cos()], dim=1)
    return torch.cat([turned, x[:, R:]], dim=1)


def weights_with_the_last_position_for_all(q, k, cache, turn):
    T, S = len(q), len(cache)
    keys = torch.cat([cache, turn(k, torch.arange(S, S + T))])
    scores = turn(q, torch.full((T,), S + T - 1)) @ keys.T / q.shape[1] ** 0.5
    return scores.masked_fill(torch.ones(T, S + T).triu(S + 1).bool(), -torch.inf).softmax(-1), keys


UNLIKE = {
    "turn_some": named(some_turned_relative_to_the_first),
    "cached_weights": named(weights_with_the_last_position_for_all),
    "rotate_queries": named(rotated_at_the_rates_of_llama_3),
    "alibi_bias": named(bias_of_the_past_alone),
    "to_halves": named(halves_of_the_first_head),
    "bucket_starts": named(starts_with_one_bucket_too_few_exact),
    "stretched_base": {
        "of_a_wavelength": lambda base, K, j, factor: factor * 2 * math.pi * base ** (2 * j / K),
    },
    "alibi_reach": {
        "with_one_more_for_safety": lambda slope, share: 1 + math.ceil(-math.log(1 - share) / slope),
    },
}
