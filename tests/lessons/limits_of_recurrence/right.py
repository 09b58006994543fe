"""Right answers to the lesson's exercises in unusual forms: all must pass."""

import math

import numpy as np
import torch
import torch.nn.functional as F

from answer_tables import named


def states_by_module(x, real, W, U, b):
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        layer = torch.nn.RNN(len(W), len(b), batch_first=True)
        for name, value in (("weight_ih_l0", W.T), ("weight_hh_l0", U.T), ("bias_ih_l0", b), ("bias_hh_l0", 0 * b)):
            getattr(layer, name).copy_(value)
        words = torch.cat([torch.zeros(1, len(b)), layer(x[real][None])[0][0]])
        return words[real.long().cumsum(0)]


def states_filled_in(x, real, W, U, b):
    H = torch.zeros(len(x) + 1, len(b))
    for t in range(len(x)):
        H[t + 1] = torch.where(real[t], (x[t] @ W + H[t] @ U + b).tanh(), H[t])
    return H[1:]


def states_in_numpy(x, real, W, U, b):
    h, out = np.zeros(len(b)), []
    for row, word in zip(x.numpy(), real.tolist(), strict=True):
        if word:
            h = np.tanh(row @ W.numpy() + h @ U.numpy() + b.numpy())
        out.append(h)
    return np.array(out)


def states_by_recursion(x, real, W, U, b):
    if len(x) == 0:
        return torch.zeros(0, len(b))
    before = states_by_recursion(x[:-1], real[:-1], W, U, b)
    last = before[-1:] if len(before) else torch.zeros(1, len(b))
    return torch.cat([before, torch.tanh(x[-1:] @ W + last @ U + b) if real[-1] else last])


def gradient_by_loop(w, h):
    product = 1.0
    for state in h.tolist():
        product *= w * (1 - state * state)
    return product


def gradient_by_logs(w, h):
    factors = [w * (1 - s**2) for s in h.tolist()]
    return math.prod(factors)


def gradient_by_autograd(w, h):
    x = torch.atanh(h) - w * torch.cat([torch.zeros(1, dtype=h.dtype), h[:-1]])  # the inputs that lead to these states
    h0 = torch.zeros((), dtype=h.dtype, requires_grad=True)
    state = h0
    for value in x:
        state = torch.tanh(w * state + value)
    return torch.autograd.grad(state, h0)[0]


def lstm_by_chunks(z, h, c):
    i, f, g, o = z.unbind(0)
    new = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(new), new


def lstm_in_numpy(z, h, c):
    z, c = z.numpy(), c.numpy()
    s = 1 / (1 + np.exp(-z))
    c = s[1] * c + s[0] * np.tanh(z[2])
    return s[3] * np.tanh(c), c


def lstm_in_float64(z, h, c):
    gates = z[[0, 1, 3]].double().sigmoid()
    c = gates[1] * c.double() + gates[0] * z[2].double().tanh()
    return [gates[2] * c.tanh(), c]


def lstm_by_number(z, h, c):
    def sigmoid(x):
        return 1 / (1 + math.exp(-x))

    new = [sigmoid(z[1, d]) * c[d].item() + sigmoid(z[0, d]) * math.tanh(z[2, d]) for d in range(len(c))]
    return [sigmoid(z[3, d]) * math.tanh(new[d]) for d in range(len(c))], new


def weights_by_loop(s, H, W, v):
    scores = torch.stack([torch.stack([torch.dot(v, torch.tanh(torch.cat([a, h]) @ W)) for h in H]) for a in s])
    return torch.softmax(scores, 1)


def weights_by_einsum(s, H, W, v):
    D = s.shape[1]
    hidden = torch.tanh(torch.einsum("td,da->ta", s, W[:D])[:, None] + torch.einsum("sd,da->sa", H, W[D:])[None])
    e = torch.exp(torch.einsum("tsa,a->ts", hidden, v))
    return e / e.sum(1, keepdim=True)


def weights_joined(s, H, W, v):
    pairs = torch.cat([s.repeat_interleave(len(H), 0), H.repeat(len(s), 1)], dim=1)
    return torch.softmax(((pairs @ W).tanh() * v).sum(1).view(len(s), len(H)), -1)


def weights_in_numpy(s, H, W, v):
    W, U = W.numpy()[: s.shape[1]], W.numpy()[s.shape[1] :]
    scores = np.tanh((s.numpy() @ W)[:, None] + H.numpy() @ U) @ v.numpy()
    return np.exp(scores) / np.exp(scores).sum(1, keepdims=True)


def layers_by_counting(n, k):
    layers = reach = 0
    while reach < n:
        reach += (k - 1) // 2
        layers += 1
    return layers


@torch.no_grad()
def additive_expanded_pairs_no_grad(s, H, W, v):
    T, S = s.size(0), H.size(0)
    pairs = torch.cat([s.unsqueeze(1).expand(T, S, -1), H.unsqueeze(0).expand(T, S, -1)], dim=2)
    return torch.softmax(torch.einsum("tsa,a->ts", torch.tanh(F.linear(pairs, W.t())), v), 1)


def additive_tanh_by_sigmoid_log_softmax_and_exp(s, H, W, v):
    d = s.shape[-1]
    z = (s @ W[:d]).unsqueeze(1) + (H @ W[d:]).unsqueeze(0)
    t = 2 * torch.sigmoid(2 * z) - 1
    return (t * v).sum(-1).log_softmax(-1).exp()


def words_by_module(x, W, U, b):
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        layer = torch.nn.RNN(len(W), len(b), batch_first=True)
        for name, value in (("weight_ih_l0", W.T), ("weight_hh_l0", U.T), ("bias_ih_l0", b), ("bias_hh_l0", 0 * b)):
            getattr(layer, name).copy_(value)
        return layer(x[None])[0][0]


def words_filled_in(x, W, U, b):
    H = torch.zeros(len(x), len(b))
    for t in range(len(x)):
        H[t] = (W.T @ x[t] + (U.T @ H[t - 1] if t else 0) + b).tanh()
    return H


def words_in_numpy(x, W, U, b):
    h, out = np.zeros(len(b)), []
    for row in x.numpy():
        h = np.tanh(row @ W.numpy() + h @ U.numpy() + b.numpy())
        out.append(h)
    return np.stack(out)


def words_as_tables(x, W, U, b):
    h, out = torch.zeros(1, len(b)), []
    for row in x.split(1):
        h = torch.tanh(torch.cat([row, h], dim=1) @ torch.cat([W, U]) + b)
        out.append(h)
    return torch.cat(out)


def back_by_loop(s, h, W, U, v):
    scores = torch.stack([v @ torch.tanh(s @ W + one @ U) for one in h])
    weights = scores.exp() / scores.exp().sum()
    return weights, sum(a * one for a, one in zip(weights, h, strict=True))


def back_by_einsum(s, h, W, U, v):
    scores = torch.einsum("a,sa->s", v, torch.tanh(F.linear(s, W.T) + F.linear(h, U.T)))
    weights = torch.softmax(scores, -1)
    return [weights, torch.einsum("s,sd->d", weights, h)]


def back_in_numpy(s, h, W, U, v):
    s, h, W, U, v = (part.numpy() for part in (s, h, W, U, v))
    e = np.exp(np.tanh(s @ W + h @ U) @ v)
    return e / e.sum(), (e / e.sum()) @ h


def back_joined(s, h, W, U, v):
    pairs = torch.cat([s.expand(len(h), -1), h], dim=1) @ torch.cat([W, U])
    weights = pairs.tanh().mv(v).log_softmax(0).exp()
    return weights, h.T @ weights


def decoder_filled_in(y, s, h, weigh, W, C, U):
    states, weights = torch.empty(len(y), len(s)), torch.empty(len(y), len(h))
    for t in range(len(y)):
        weights[t] = weigh(s.unsqueeze(0), h).squeeze(0)
        s = states[t] = torch.tanh(y[t] @ W + (weights[t] @ h) @ C + s @ U)
    return states, weights


def decoder_in_rows(y, s, h, weigh, W, C, U):
    s, found = s[None], []
    for row in y.split(1):
        alpha = weigh(s, h)
        s = torch.tanh(torch.cat([row, alpha @ h, s], dim=1) @ torch.cat([W, C, U]))
        found.append((s, alpha))
    return [torch.cat(part) for part in zip(*found, strict=True)]


def decoder_by_recursion(y, s, h, weigh, W, C, U):
    if len(y) == 0:
        return torch.zeros(0, len(s)), torch.zeros(0, len(h))
    alpha = weigh(s[None], h)
    new = (y[0] @ W + (alpha[0, :, None] * h).sum(0) @ C + s @ U).tanh()
    states, weights = decoder_by_recursion(y[1:], new, h, weigh, W, C, U)
    return torch.cat([new[None], states]), torch.cat([alpha, weights])


def decoder_with_prepared_parts(y, s, h, weigh, W, C, U):
    words, memory = y @ W, h @ C
    states, weights = [], []
    for t in range(y.shape[0]):
        (alpha,) = weigh(s.reshape(1, -1), h)
        s = torch.tanh(words[t] + alpha @ memory + torch.mv(U.T, s))
        states, weights = [*states, s], [*weights, alpha]
    return torch.stack(states), torch.stack(weights)


RIGHT = {
    "read_words": named(words_by_module, words_filled_in, words_in_numpy, words_as_tables),
    "look_back": named(back_by_loop, back_by_einsum, back_in_numpy, back_joined),
    "rnn_states": named(states_by_module, states_filled_in, states_in_numpy, states_by_recursion),
    "gradient_through_time": named(gradient_by_loop, gradient_by_logs, gradient_by_autograd)
    | {
        "gradient_by_parts": lambda w, h: w ** len(h) * torch.prod(1 - h.square()),
    },
    "lstm_step": named(lstm_by_chunks, lstm_in_numpy, lstm_in_float64, lstm_by_number),
    "additive_weights": named(
        weights_by_loop,
        weights_by_einsum,
        weights_joined,
        weights_in_numpy,
        additive_expanded_pairs_no_grad,
        additive_tanh_by_sigmoid_log_softmax_and_exp,
    ),
    "decoder_states": named(decoder_filled_in, decoder_in_rows, decoder_by_recursion, decoder_with_prepared_parts),
    "convolution_layers": named(layers_by_counting)
    | {
        "layers_by_floor": lambda n, k: (n - 1) // ((k - 1) // 2) + 1,
        "layers_by_negation": lambda n, k: -(-n // (k // 2)),
        "layers_by_numpy": lambda n, k: int(np.ceil(n / ((k - 1) / 2))),
    },
}
