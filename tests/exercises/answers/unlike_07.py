"""Wrong answers to notebook 07's exercises, unlike any in the bank: none may pass."""

import functools
import math

import torch
import torch.nn.functional as F

from answers.tables import layer_normed, named


def swiglu_with_steep_gate(x, W_gate, W_up, W_down):
    z = x @ W_gate
    return (z * torch.sigmoid(1.702 * z) * (x @ W_up)) @ W_down


def layer_norm_with_the_larger_of_variance_and_epsilon(x, gain, bias):
    centred = x - x.mean(-1, keepdim=True)
    return centred / (centred**2).mean(-1, keepdim=True).clamp(min=1e-5).sqrt() * gain + bias


def layer_norm_by_mean_deviation(x, gain, bias):
    centred = x - x.mean(-1, keepdim=True)
    return centred / (centred.abs().mean(-1, keepdim=True) + 1e-5) * gain + bias


def _head_by_head(norm):
    """The norm of vectors (…, K), applied to the heads of x (T, H·K)."""
    return lambda x, gain: norm(x.reshape(len(x), -1, len(gain)), gain).reshape(x.shape)


def _mean_square(h):
    return h.square().mean(-1, keepdim=True)


def _sub_layer(n, m):
    return (n @ m).relu()


def _stack(step, last=layer_normed):
    """Sub-layers one after the other: x becomes step(x, m) for each matrix m of W."""
    return lambda x, W: last(functools.reduce(step, W, x))


def _same(x):
    return x


_pre_norm = _stack(lambda x, m: x + _sub_layer(layer_normed(x), m))


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


def rms_the_whole_rows_mean_square(x, gain):
    H = x.shape[1] // len(gain)
    return x / (_mean_square(x) + 1e-5).sqrt() * gain.repeat(H)


def rms_heads_in_turn(x, gain):
    h = x.reshape(len(x), len(gain), -1)
    return (h / (h.square().mean(1, keepdim=True) + 1e-5).sqrt() * gain[:, None]).reshape(x.shape)


def rms_gain_one_number_a_head_block(x, gain):
    h = x.reshape(len(x), -1, len(gain))
    n = (h * (_mean_square(h) + 1e-5).rsqrt()).reshape(x.shape)
    return n * gain.repeat_interleave(x.shape[1] // len(gain))


def stack_all_sub_layers_get_the_first_input(x, W):
    n = layer_normed(x)
    return layer_normed(x + sum((n @ m).relu() for m in W))


def stack_residual_from_the_beginning(x, W):
    y = x
    for m in W:
        y = x + (layer_normed(y) @ m).relu()
    return layer_normed(y)


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


def stack_no_residual_in_the_first_one(x, W):
    for i, m in enumerate(W):
        x = (0 if i == 0 else x) + (layer_normed(x) @ m).relu()
    return layer_normed(x)


def stack_post_norm_twice_at_the_end(x, W):
    norm = torch.nn.LayerNorm(x.shape[-1], elementwise_affine=False)
    for matrix in W:
        x = norm(x + torch.clamp(x @ matrix, min=0))
    return norm(x)


UNLIKE = {
    "feed_forward": {
        "with_gelu": lambda x, W_1, b_1, W_2, b_2: F.gelu(x @ W_1 + b_1) @ W_2 + b_2,
        "with_the_absolute_value": lambda x, W_1, b_1, W_2, b_2: (x @ W_1 + b_1).abs() @ W_2 + b_2,
        "with_the_negative_part": lambda x, W_1, b_1, W_2, b_2: (x @ W_1 + b_1).clamp(max=0) @ W_2 + b_2,
        "with_a_softmax": lambda x, W_1, b_1, W_2, b_2: (x @ W_1 + b_1).softmax(-1) @ W_2 + b_2,
        "with_both_biases_inside": lambda x, W_1, b_1, W_2, b_2: F.relu(x @ W_1 + b_1) @ (W_2 + b_2),
    },
    "feed_forward_net": {
        "with_the_square_inside": lambda x, W_1, b_1, W_2, b_2: F.relu((x @ W_1 + b_1) ** 2) @ W_2 + b_2,
        "with_leaky_relu": lambda x, W_1, b_1, W_2, b_2: F.leaky_relu(x @ W_1 + b_1) ** 2 @ W_2 + b_2,
        "with_relu_at_most_one": lambda x, W_1, b_1, W_2, b_2: F.hardtanh(x @ W_1 + b_1, 0, 1) ** 2 @ W_2 + b_2,
        "with_relu_before_the_bias": lambda x, W_1, b_1, W_2, b_2: (F.relu(x @ W_1) + b_1) ** 2 @ W_2 + b_2,
        "with_dropout_left_on": lambda x, W_1, b_1, W_2, b_2: F.dropout(F.relu(x @ W_1 + b_1) ** 2, 0.5) @ W_2 + b_2,
    },
    "swiglu": named(swiglu_with_steep_gate)
    | {
        "with_hard_gate": lambda x, W_gate, W_up, W_down: (F.hardswish(x @ W_gate) * (x @ W_up)) @ W_down,
        "with_gelu_gate": lambda x, W_gate, W_up, W_down: (F.gelu(x @ W_gate) * (x @ W_up)) @ W_down,
        "with_gate_after_the_product": lambda x, W_gate, W_up, W_down: F.silu((x @ W_gate) * (x @ W_up)) @ W_down,
    },
    "layer_norm_by_hand": named(layer_norm_with_the_larger_of_variance_and_epsilon, layer_norm_by_mean_deviation)
    | {
        "norm_with_epsilon_of_another_library": lambda x, gain, bias: F.layer_norm(
            x, x.shape[-1:], gain, bias, eps=1e-6
        ),
        "norm_with_gain_above_one": lambda x, gain, bias: F.layer_norm(x, x.shape[-1:]) * (1 + gain) + bias,
        "norm_that_shifts_before_it_scales": lambda x, gain, bias: (F.layer_norm(x, x.shape[-1:]) + bias) * gain,
        "norm_of_nothing": lambda x, gain, bias: x.zero_(),
        "std_plus_epsilon": lambda x, gain, bias: (
            (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + 1e-5) * gain + bias
        ),
    },
    "rms_norm_by_hand": named(rms_the_whole_rows_mean_square, rms_heads_in_turn, rms_gain_one_number_a_head_block)
    | {
        "rms_of_the_unit_sphere": _head_by_head(lambda h, gain: F.normalize(h, dim=-1) * math.sqrt(2) * gain),
        "rms_epsilon_outside_the_root": _head_by_head(lambda h, gain: h / (_mean_square(h).sqrt() + 1e-5) * gain),
        "rms_epsilon_1e_6": _head_by_head(lambda h, gain: h / (_mean_square(h) + 1e-6).sqrt() * gain),
        "rms_epsilon_left_out": _head_by_head(lambda h, gain: (h / _mean_square(h).sqrt() * gain).nan_to_num(0.0)),
        "rms_epsilon_as_the_least_value": _head_by_head(
            lambda h, gain: h / _mean_square(h).clamp(min=1e-5).sqrt() * gain
        ),
        "rms_epsilon_added_to_the_sum_of_squares": _head_by_head(
            lambda h, gain: h / (_mean_square(h) + 1e-5 / len(gain)).sqrt() * gain
        ),
        "rms_sum_instead_of_mean": _head_by_head(
            lambda h, gain: h / (h.square().sum(-1, keepdim=True) + 1e-5).sqrt() * gain
        ),
        "rms_the_mean_taken_off_first": _head_by_head(lambda h, gain: F.layer_norm(h, h.shape[-1:], eps=1e-5) * gain),
        "rms_standard_deviation_the_numbers_themselves_kept": _head_by_head(
            lambda h, gain: h / (h.var(-1, keepdim=True, correction=0) + 1e-5).sqrt() * gain
        ),
        "rms_gain_counted_from_one": _head_by_head(lambda h, gain: h * (_mean_square(h) + 1e-5).rsqrt() * (1 + gain)),
        "rms_mean_over_the_positions_as_well": _head_by_head(
            lambda h, gain: h * (h.square().mean((0, 2), keepdim=True) + 1e-5).rsqrt() * gain
        ),
        "rms_gain_before_the_mean_square": _head_by_head(
            lambda h, gain: h * gain * (_mean_square(h * gain) + 1e-5).rsqrt()
        ),
        "rms_torchs_rms_norm_with_its_own_epsilon": _head_by_head(lambda h, gain: F.rms_norm(h, h.shape[-1:], gain)),
    },
    "pre_norm_stack": named(
        stack_post_norm_twice_at_the_end,
        pre_norm_with_both_norms,
        pre_norm_with_sample_deviation,
        stack_all_sub_layers_get_the_first_input,
        stack_residual_from_the_beginning,
        stack_only_the_first_sub_layer_is_normed,
        stack_epsilon_1e_12,
        stack_deviation_over_d_1,
        stack_no_residual_in_the_first_one,
    )
    | {
        "stack_post_norm": _stack(lambda x, m: layer_normed(x + _sub_layer(x, m)), last=_same),
        "stack_last_norm_forgotten": _stack(lambda x, m: x + _sub_layer(layer_normed(x), m), last=_same),
        "stack_the_residual_starts_from_the_normed_stream": _stack(
            lambda x, m: layer_normed(x) + _sub_layer(layer_normed(x), m)
        ),
        "stack_w_the_other_way_round": _stack(lambda x, m: x + _sub_layer(layer_normed(x), m.T)),
        "stack_norm_over_the_whole_sentence": _stack(lambda x, m: x + _sub_layer(F.layer_norm(x, x.shape), m)),
        "stack_relu_over_the_sum": _stack(lambda x, m: (x + layer_normed(x) @ m).relu()),
        "stack_relu_before_the_matrix": _stack(lambda x, m: x + layer_normed(x).relu() @ m),
        "stack_sub_layers_in_the_reverse_order": lambda x, W: _pre_norm(x, W.flip(0)),
        "stack_the_last_sub_layer_left_out": lambda x, W: _pre_norm(x, W[:-1]),
        "pre_norm_of_the_input_itself": lambda x, W: x,
    },
    "feed_forward_share": {
        "of_two_thirds": lambda D, F: 2 / 3,
        "in_whole_numbers": lambda D, F: 2 * D * F // (2 * D * F + 4 * D * D),
        "beside_two_attentions": lambda D, F: 2 * D * F / (2 * D * F + 8 * D * D),
        "in_two_decimals": lambda D, F: round(F / (F + 2 * D), 2),
        "of_the_network_without_its_second_matrix": lambda D, F: F / (F + 4 * D),
    },
}
