"""Wrong answers to notebook 13's exercises, unlike any in the bank: none may pass."""

import math

import torch

from answers.tables import named


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


def rotated_with_positions_from_the_end(x):
    angles = torch.arange(len(x)).flip(0)[:, None] / 10000 ** (torch.arange(0, x.shape[1], 2) / x.shape[1])
    first, second = x.chunk(2, dim=-1)
    cos, sin = angles.cos(), angles.sin()
    return torch.cat([first * cos - second * sin, first * sin + second * cos], dim=-1)


def bias_of_the_past_alone(H, T):
    t = torch.arange(T)
    return -(0.5 ** (8 * torch.arange(1, H + 1) / H)).view(H, 1, 1) * (t[:, None] - t).clamp(min=0)


def bias_with_the_future_closed(H, T):
    t = torch.arange(T)
    bias = -(0.5 ** (8 * torch.arange(1, H + 1) / H)).view(H, 1, 1) * (t[:, None] - t).abs()
    return bias.masked_fill(t > t[:, None], -1e9)


def halves_of_the_first_head(W, H):
    K = W.shape[1] // H
    return torch.cat([W[:, 0:K:2], W[:, 1:K:2], W[:, K:]], dim=1).roll(int(H == 1), dims=1)


def starts_with_one_bucket_too_few_exact(b, m):
    e = b // 2 - 1
    return list(range(e)) + [math.ceil(e * (m / e) ** ((j - e) / (b - e))) for j in range(e, b)]


UNLIKE = {
    "rotate_queries": named(
        rotated_with_positions_from_the_end,
        rotated_over_the_half_turned,
        rotated_in_the_first_pair_only,
        rotated_at_the_rates_of_llama_3,
        rotated_at_rates_of_neighbours,
    )
    | {
        "not_at_all": lambda x: x,
    },
    "alibi_bias": named(bias_of_the_past_alone, bias_with_the_future_closed),
    "to_halves": named(halves_of_the_first_head)
    | {
        "of_columns_sorted_by_size": lambda W, H: W[:, W.norm(dim=0).argsort()],
        "the_whole_turned_round": lambda W, H: W.flip(1),
    },
    "bucket_starts": named(starts_with_one_bucket_too_few_exact)
    | {
        "beginning_at_one": lambda b, m: [1 + d for d in range(b // 2)] + list(range(m - b // 2, m)),
    },
    "stretched_base": {
        "of_a_wavelength": lambda base, K, j, factor: factor * 2 * math.pi * base ** (2 * j / K),
        "with_the_factor_added": lambda base, K, j, factor: base + factor ** (K / (2 * j)),
    },
    "alibi_reach": {
        "of_half_the_slope": lambda slope, share: math.ceil(-2 * math.log(1 - share) / slope),
        "with_one_more_for_safety": lambda slope, share: 1 + math.ceil(-math.log(1 - share) / slope),
    },
}
