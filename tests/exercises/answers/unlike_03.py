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


def rise_of_three_in_a_row(D):
    products = [sum(math.cos(k / 10000 ** (i / D)) for i in range(0, D, 2)) for k in range(101)]
    return next(k for k in range(98) if products[k] < products[k + 1] < products[k + 2] < products[k + 3])


def rise_for_base_1000(D):
    products = torch.cos(torch.arange(101)[:, None] * 1000.0 ** (-torch.arange(0, D, 2) / D)).sum(1)
    return int((products.diff() > 0).nonzero()[0])


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
    "first_rise": named(rise_of_three_in_a_row, rise_for_base_1000)
    | {
        "known_for_64_alone": lambda D: 5,
        "that_grows_with_the_width": lambda D: D // 12,
    },
}
