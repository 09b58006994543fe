"""Wrong answers to the lesson's exercises, unlike any in the bank: none may pass."""

import math

import torch
import torch.nn.functional as F

from answer_tables import named


def each_unit_sees_itself_only(x, real, W, U, b):
    h, states = torch.zeros_like(b), []
    for row, word in zip(x, real, strict=True):
        h = torch.tanh(row @ W + h * U.diagonal() + b) if word else h
        states.append(h)
    return torch.stack(states)


def softsign_for_tanh(x, real, W, U, b):
    h, states = torch.zeros_like(b), []
    for row, word in zip(x, real, strict=True):
        h = F.softsign(row @ W + h @ U + b) if word else h
        states.append(h)
    return torch.stack(states)


def lstm_with_hard_gates(z, h, c):
    i, f, o = F.hardsigmoid(z[0]), F.hardsigmoid(z[1]), F.hardsigmoid(z[3])
    c = f * c + i * z[2].tanh()
    return o * c.tanh(), c


def additive_divided_by_the_root_of_a(s, H, W, v):
    for_s, for_h = W.chunk(2)
    return (((s @ for_s)[:, None] + H @ for_h).tanh() @ v / math.sqrt(len(v))).softmax(dim=-1)


def additive_v_loses_its_sign(s, H, W, v):
    for_s, for_h = W.chunk(2)
    return (((s @ for_s)[:, None] + H @ for_h).tanh() @ v.abs()).softmax(dim=-1)


def words_by_softsign(x, W, U, b):
    h, states = torch.zeros_like(b), []
    for word in x:
        h = F.softsign(word @ W + h @ U + b)
        states.append(h)
    return torch.stack(states)


def back_scaled(s, h, W, U, v):
    alpha = (torch.tanh(s @ W + h @ U) @ v / math.sqrt(len(v))).softmax(0)
    return alpha, alpha @ h


def decoder_that_normalises_its_context(y, s, h, weigh, W, C, U):
    states, weights = [], []
    for word in y:
        alpha = weigh(s[None], h)[0]
        s = torch.tanh(word @ W + F.normalize(alpha @ h, dim=0) @ C + s @ U)
        states.append(s)
        weights.append(alpha)
    return torch.stack(states), torch.stack(weights)


UNLIKE = {
    "decoder_states": named(decoder_that_normalises_its_context),
    "read_words": named(words_by_softsign),
    "look_back": named(back_scaled),
    "rnn_states": named(each_unit_sees_itself_only, softsign_for_tanh),
    "gradient_through_time": {
        "of_the_mean_step": lambda w, h: (w * (1 - (h**2).mean())) ** len(h),
        # (3.0, zeros(4)): 81
        "clipped_to_one": lambda w, h: max(-1.0, min(1.0, float(torch.prod(w * (1 - h**2))))),
    },
    "lstm_step": named(lstm_with_hard_gates),
    "additive_weights": named(additive_divided_by_the_root_of_a, additive_v_loses_its_sign),
    "convolution_layers": {
        "rounded_to_nearest": lambda n, k: max(1, round(n / ((k - 1) / 2))),
    },
}
