"""Wrong answers to notebook 01's exercises, unlike any in the bank: none may pass."""

import math

import torch
import torch.nn.functional as F

from answers.tables import named


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


def additive_with_normalised_v(s, H, W, v):
    W, U = W.chunk(2)
    return torch.softmax(torch.tanh((s @ W)[:, None] + H @ U) @ (v / v.norm()), 1)


def additive_that_multiplies(s, H, W, v):
    W, U = W.chunk(2)
    return torch.softmax(torch.tanh((s @ W)[:, None] * (H @ U)) @ v, 1)


def additive_with_the_last_state_for_all(s, H, W, v):
    W, U = W.chunk(2)
    return torch.softmax(torch.tanh(s[-1] @ W + H @ U) @ v, 0).repeat(len(s), 1)


def additive_the_halves_of_w_are_swapped(s, H, W, v):
    for_h, for_s = W.chunk(2)
    return (((s @ for_s)[:, None] + H @ for_h).tanh() @ v).softmax(dim=-1)


def additive_tanh_of_each_half_before_they_are_added(s, H, W, v):
    for_s, for_h = W.chunk(2)
    return (((s @ for_s).tanh()[:, None] + (H @ for_h).tanh()) @ v).softmax(dim=-1)


def additive_tanh_after_v(s, H, W, v):
    for_s, for_h = W.chunk(2)
    return (((s @ for_s)[:, None] + H @ for_h) @ v).tanh().softmax(dim=-1)


def additive_shares_over_the_decoders_states(s, H, W, v):
    for_s, for_h = W.chunk(2)
    return (((s @ for_s)[:, None] + H @ for_h).tanh() @ v).softmax(dim=0)


def additive_divided_by_the_root_of_a(s, H, W, v):
    for_s, for_h = W.chunk(2)
    return (((s @ for_s)[:, None] + H @ for_h).tanh() @ v / math.sqrt(len(v))).softmax(dim=-1)


def additive_pairs_laid_out_with_both_repeated_alike(s, H, W, v):
    T, S = len(s), len(H)
    pairs = torch.cat([s.repeat(S, 1), H.repeat_interleave(T, dim=0)], dim=-1)
    return ((pairs @ W).tanh() @ v).reshape(T, S).softmax(dim=-1)


def additive_hardtanh(s, H, W, v):
    for_s, for_h = W.chunk(2)
    return (((s @ for_s)[:, None] + H @ for_h).clamp(-1, 1) @ v).softmax(dim=-1)


def additive_without_the_decoders_states(s, H, W, v):
    _for_s, for_h = W.chunk(2)
    return ((H @ for_h).tanh() @ v).softmax(dim=-1).expand(len(s), -1)


def additive_v_loses_its_sign(s, H, W, v):
    for_s, for_h = W.chunk(2)
    return (((s @ for_s)[:, None] + H @ for_h).tanh() @ v.abs()).softmax(dim=-1)


def states_of_words_alone(x, real, W_x, W_h, b):
    h, states = torch.zeros_like(b), []
    for row in x[real]:
        h = torch.tanh(row @ W_x + h @ W_h + b)
        states.append(h)
    return torch.stack(states)


def words_with_the_last_state_everywhere(x, W, U, b):
    h, states = torch.zeros_like(b), []
    for word in x:
        h = torch.tanh(W @ word + U @ h + b)
        states = [*states, h]
    return torch.stack([h] * len(states))


def words_by_sigmoid(x, W, U, b):
    h, states = torch.zeros_like(b), []
    for word in x:
        h = torch.sigmoid(W @ word + U @ h + b)
        states.append(h)
    return torch.stack(states)


def back_scaled(s, H, W, U, v):
    alpha = (torch.tanh(W @ s + H @ U.T) @ v / math.sqrt(len(v))).softmax(0)
    return alpha, alpha @ H


def back_at_all_but_the_last(s, H, W, U, v):
    alpha = (torch.tanh(W @ s + H @ U.T) @ v)[:-1].softmax(0)
    alpha = torch.cat([alpha, torch.zeros(1)])
    return alpha, alpha @ H


def back_with_the_context_first(s, H, W, U, v):
    alpha = (torch.tanh(W @ s + H @ U.T) @ v).softmax(0)
    return alpha @ H, alpha


UNLIKE = {
    "read_words": named(words_with_the_last_state_everywhere, words_by_sigmoid),
    "look_back": named(back_scaled, back_at_all_but_the_last, back_with_the_context_first),
    "rnn_states": named(
        states_of_words_alone,
        states_share_one_buffer,
        each_unit_sees_itself_only,
        softsign_for_tanh,
        filling_ends_the_sentence,
        filling_keeps_the_state_before_the_last,
    ),
    "gradient_through_time": {
        "without_its_sign": lambda w, h: math.exp(sum(math.log(abs(w) * (1 - float(state) ** 2)) for state in h)),
        "of_the_mean_step": lambda w, h: (w * (1 - (h**2).mean())) ** len(h),
        "by_logistic_slope": lambda w, h: torch.prod(w * h * (1 - h)),
        "of_sums_for_products": lambda w, h: (w * (1 - h**2)).sum(),
        # (3.0, zeros(4)): 81
        "clipped_to_one": lambda w, h: max(-1.0, min(1.0, float(torch.prod(w * (1 - h**2))))),
    },
    "lstm_step": named(
        lstm_with_forget_bias_of_one, lstm_with_coupled_gates, lstm_with_hard_gates, lstm_cell_written_over_too_early
    ),
    "additive_weights": named(
        additive_with_normalised_v,
        additive_that_multiplies,
        additive_with_the_last_state_for_all,
        additive_the_halves_of_w_are_swapped,
        additive_tanh_of_each_half_before_they_are_added,
        additive_tanh_after_v,
        additive_shares_over_the_decoders_states,
        additive_divided_by_the_root_of_a,
        additive_pairs_laid_out_with_both_repeated_alike,
        additive_hardtanh,
        additive_without_the_decoders_states,
        additive_v_loses_its_sign,
    )
    | {
        "even_rows_for_s_odd_ones_for_h": lambda s, H, W, v: (
            ((s @ W[0::2])[:, None] + H @ W[1::2]).tanh() @ v
        ).softmax(dim=-1),
    },
    "convolution_layers": {
        "rounded_to_nearest": lambda n, k: max(1, round(n / ((k - 1) / 2))),
        "of_whole_widths": lambda n, k: math.ceil(2 * n / k),
        "dilated": lambda n, k: max(1, math.ceil(math.log(n + 1, k))),
        "unrounded": lambda n, k: 2 * n / (k - 1),
    },
}
