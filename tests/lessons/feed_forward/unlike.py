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


def stack_only_the_first_sub_layer_is_normed(x, W):
    for i, m in enumerate(W):
        x = x + ((layer_normed(x) if i == 0 else x) @ m).relu()
    return layer_normed(x)


def stack_epsilon_1e_12(x, W):
    for m in W:
        x = x + (F.layer_norm(x, x.shape[-1:], eps=1e-12) @ m).relu()
    return F.layer_norm(x, x.shape[-1:], eps=1e-12)


def stack_deviation_over_d_1(x, W):
    def n(a):
        return (a - a.mean(-1, keepdim=True)) / (a.var(-1, keepdim=True) + 1e-5).sqrt()

    for m in W:
        x = x + (n(x) @ m).relu()
    return n(x)


UNLIKE = {
    "feed_forward": {
        "with_gelu": lambda x, W_1, b_1, W_2, b_2: F.gelu(x @ W_1 + b_1) @ W_2 + b_2,
    },
    "feed_forward_net": {
        "with_leaky_relu": lambda x, W_1, b_1, W_2, b_2: F.leaky_relu(x @ W_1 + b_1) ** 2 @ W_2 + b_2,
    },
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
    "pre_norm_stack": named(stack_only_the_first_sub_layer_is_normed, stack_epsilon_1e_12, stack_deviation_over_d_1),
    "feed_forward_share": {
        "of_two_thirds": lambda D, F: 2 / 3,
        "in_two_decimals": lambda D, F: round(F / (F + 2 * D), 2),
    },
}
