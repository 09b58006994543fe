"""Wrong answers to the lesson's exercises, unlike any in the bank: none may pass."""

import torch
import torch.nn.functional as F

from answer_tables import layer_normed, named


def swiglu_with_steep_gate(x, W_gate, W_up, W_down):
    z = x @ W_gate
    return (z * torch.sigmoid(1.702 * z) * (x @ W_up)) @ W_down


def layer_norm_with_the_larger_of_variance_and_epsilon(x, gain, bias):
    centred = x - x.mean(-1, keepdim=True)
    return centred / (centred**2).mean(-1, keepdim=True).clamp(min=1e-5).sqrt() * gain + bias


def _head_by_head(norm):
    """The norm of vectors (…, K), applied to the heads of x (T, H·K)."""
    return lambda x, gain: norm(x.reshape(len(x), -1, len(gain)), gain).reshape(x.shape)


def _mean_square(h):
    return h.square().mean(-1, keepdim=True)


def rms_gain_one_number_a_head_block(x, gain):
    h = x.reshape(len(x), -1, len(gain))
    n = (h * (_mean_square(h) + 1e-5).rsqrt()).reshape(x.shape)
    return n * gain.repeat_interleave(x.shape[1] // len(gain))


def hinges_at_even_steps(x, y):
    return F.pad(y.diff() * (len(x) - 1) / (x[-1] - x[0]), (1, 1)).diff()


def block_with_a_norm_at_its_end(x, attention, network, norm_a, norm_n):
    x = x + attention(norm_a(x))
    return norm_n(x + network(norm_n(x)))


def block_that_keeps_half(x, attention, network, norm_a, norm_n):
    x = (x + attention(norm_a(x))) / 2**0.5
    return (x + network(norm_n(x))) / 2**0.5


def block_that_reads_the_first_norm_twice(x, attention, network, norm_a, norm_n):
    normed = norm_a(x)
    return x + attention(normed) + network(norm_n(normed + attention(normed)))


def lens_with_half_steps(x, blocks, norm, table, block):
    read = [norm(x) @ table.T]
    for parts in blocks:
        x, before = block(x, *parts), x
        read.append(norm((x + before) / 2) @ table.T)
    return torch.stack(read)


def lens_with_a_norm_of_its_own(x, blocks, norm, table, block):
    read = [layer_normed(x) @ table.T]
    for parts in blocks:
        x = block(x, *parts)
        read.append(layer_normed(x) @ table.T)
    return torch.stack(read)


UNLIKE = {
    "feed_forward": {
        "with_silu": lambda x, W_1, b_1, W_2, b_2: F.silu(x @ W_1 + b_1) @ W_2 + b_2,
    },
    "hinges_through": named(hinges_at_even_steps),
    "swiglu": named(swiglu_with_steep_gate),
    "layer_norm_by_hand": named(layer_norm_with_the_larger_of_variance_and_epsilon),
    "rms_norm_by_hand": named(rms_gain_one_number_a_head_block)
    | {
        "rms_epsilon_added_to_the_sum_of_squares": _head_by_head(
            lambda h, gain: h / (_mean_square(h) + 1e-5 / len(gain)).sqrt() * gain
        ),
        "rms_mean_over_the_positions_as_well": _head_by_head(
            lambda h, gain: h * (h.square().mean((0, 2), keepdim=True) + 1e-5).rsqrt() * gain
        ),
    },
    "pre_norm_block": named(block_with_a_norm_at_its_end, block_that_keeps_half, block_that_reads_the_first_norm_twice),
    "read_the_stream": named(lens_with_half_steps, lens_with_a_norm_of_its_own),
    "feed_forward_share": {
        "of_one_half": lambda D, F: 1 / 2,
        "in_two_decimals": lambda D, F: round(F / (F + 2 * D), 2),
    },
}
