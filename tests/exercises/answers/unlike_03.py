"""Wrong answers to notebook 03's exercises, unlike any in the bank: none may pass."""

import math

import torch

from answers.tables import named


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


def input_with_positions_on_the_first_sentence(ids, E, P):
    x = E.shape[1] ** 0.5 * E[ids]
    x[0] += P[: ids.shape[1]]
    return x


def input_with_positions_counted_on(ids, E, P):
    B, T = ids.shape
    return E.shape[1] ** 0.5 * E[ids] + P[torch.arange(B * T).view(B, T) % len(P)]


def _halves_turned(angles):
    """The matrix that turns pair (i, i + D/2) by minus angles[i]."""
    c, s = angles.cos().diag(), angles.sin().diag()
    return torch.cat([torch.cat([c, s], 1), torch.cat([-s, c], 1)])


def shift_by_neighbours(k, D):
    angles = (k * 10000.0 ** (-torch.arange(0, D, 2) / D)).tolist()
    turns = [torch.tensor([[math.cos(a), math.sin(a)], [-math.sin(a), math.cos(a)]]) for a in angles]
    return torch.block_diag(*turns)


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


def rotated_with_positions_from_the_end(x):
    angles = torch.arange(len(x)).flip(0)[:, None] / 10000 ** (torch.arange(0, x.shape[1], 2) / x.shape[1])
    first, second = x.chunk(2, dim=-1)
    cos, sin = angles.cos(), angles.sin()
    return torch.cat([first * cos - second * sin, first * sin + second * cos], dim=-1)


UNLIKE = {
    "sinusoid_table": named(
        sinusoids_of_tensor2tensor,
        sinusoids_of_the_even_width,
        sinusoids_at_most_eight_rows_long,
        sinusoids_of_a_whole_power,
    ),
    "model_input": named(input_with_positions_on_the_first_sentence, input_with_positions_counted_on)
    | {
        "scaled_by_a_whole_root": lambda ids, E, P: math.isqrt(E.shape[1]) * E[ids] + P[: ids.shape[1]],
        "with_positions_of_ids": lambda ids, E, P: E.shape[1] ** 0.5 * E[ids] + P[ids.clamp(max=len(P) - 1)],
        "with_the_last_positions": lambda ids, E, P: E.shape[1] ** 0.5 * E[ids] + P[-ids.shape[1] :],
    },
    "position_share": {
        "of_unsquared_deviations": lambda s, D: 0.5 / (0.5 + s),
        "that_hangs_on_the_width": lambda s, D: 1 / (1 + s**2 * D / 2),
        "of_lengths": lambda s, D: math.sqrt(0.5) / (math.sqrt(0.5) + s * math.sqrt(D / 4)),
        "of_one_third": lambda s, D: 1 / 3,
    },
    "shift_matrix": named(shift_by_neighbours, shift_for_small_angles)
    | {
        "at_a_single_rate": lambda k, D: _halves_turned(torch.full((D // 2,), float(k))),
        "forwards_only": lambda k, D: _halves_turned(abs(k) * 10000.0 ** (-torch.arange(0, D, 2) / D)),
        "at_twice_the_exponent": lambda k, D: _halves_turned(k * 10000.0 ** (-2 * torch.arange(0, D, 2) / D)),
    },
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
}
