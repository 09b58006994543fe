"""Right answers to the lesson's exercises in unusual forms: all must pass."""

import itertools

import numpy as np
import torch
import torch.nn.functional as F

from answer_tables import named


def hinges_by_a_loop(x, y):
    v, before = [], 0.0
    for n in range(len(x)):
        after = ((y[n + 1] - y[n]) / (x[n + 1] - x[n])).item() if n + 1 < len(x) else 0.0
        v.append(after - before)
        before = after
    return torch.tensor(v)


def hinges_by_solving(x, y):
    x, y = x.double(), y.double()
    places = torch.cat([x, x[-1:] + 1])
    table = (places[:, None] - x).relu()
    return torch.linalg.lstsq(table[1:], torch.cat([y, y[-1:]])[1:] - y[0]).solution


def hinges_in_numpy(x, y):
    slopes = np.diff(y.numpy().astype(np.float64)) / np.diff(x.numpy().astype(np.float64))
    return np.diff(slopes, prepend=0.0, append=0.0)


def hinges_padded(x, y):
    return F.pad((y[1:] - y[:-1]) / (x[1:] - x[:-1]), (1, 1)).diff()


def plain_in_place(x, W_1, b_1, W_2, b_2):
    hidden = x @ W_1
    hidden += b_1
    return hidden.clamp_(min=0) @ W_2 + b_2


def plain_unit_by_unit(x, W_1, b_1, W_2, b_2):
    return b_2 + sum((x @ k + b).relu()[..., None] * v for k, b, v in zip(W_1.T, b_1, W_2, strict=True))


def plain_with_a_mask(x, W_1, b_1, W_2, b_2):
    z = torch.einsum("btd,df->btf", x, W_1) + b_1
    return torch.einsum("btf,fd->btd", z * (z > 0), W_2) + b_2


def plain_in_numpy(x, W_1, b_1, W_2, b_2):
    x, W_1, b_1, W_2, b_2 = (t.numpy() for t in (x, W_1, b_1, W_2, b_2))
    return np.maximum(x @ W_1 + b_1, 0) @ W_2 + b_2


def gated_together(x, W_gate, W_up, W_down):
    gate, up = (x @ torch.cat([W_gate, W_up], 1)).chunk(2, -1)
    return torch.einsum("tf,fd->td", up * gate / (1 + torch.exp(-gate)), W_down)


def gated_in_numpy(x, W_gate, W_up, W_down):
    g, u = x.numpy() @ W_gate.numpy(), x.numpy() @ W_up.numpy()
    return (g / (1 + np.exp(-g)) * u) @ W_down.numpy()


def gated_in_float64(x, W_gate, W_up, W_down):
    x = x.double()
    return (F.silu(x @ W_gate.double()) * (x @ W_up.double())) @ W_down.double()


def norm_by_mean_of_squares(x, gain, bias):
    centred = x - x.mean(-1, keepdim=True)
    return centred * torch.rsqrt(centred.pow(2).mean(-1, keepdim=True) + 1e-5) * gain + bias


def norm_by_loops(x, gain, bias):
    y = torch.empty_like(x)
    for b in range(x.shape[0]):
        for t in range(x.shape[1]):
            v = x[b, t].double()
            y[b, t] = ((v - v.mean()) / (v.var(unbiased=False) + 1e-5) ** 0.5 * gain + bias).float()
    return y


def norm_in_numpy(x, gain, bias):
    v = x.numpy().astype(np.float64)
    v = (v - v.mean(-1, keepdims=True)) / np.sqrt(v.var(-1, keepdims=True) + 1e-5)
    return v * gain.numpy() + bias.numpy()


def rms_by_norm(x, gain):
    heads = x.unflatten(1, (-1, len(gain)))
    return (gain * heads / torch.sqrt(heads.norm(dim=2, keepdim=True) ** 2 / len(gain) + 1e-5)).flatten(1)


def rms_in_numpy(x, gain):
    heads = x.numpy().reshape(len(x), -1, len(gain))
    return (heads * gain.numpy() / np.sqrt((heads**2).mean(2, keepdims=True) + 1e-5)).reshape(x.shape)


def rms_by_rows(x, gain):
    K = len(gain)
    rows = [[row[k : k + K] for k in range(0, len(row), K)] for row in x]
    return torch.stack([torch.cat([h * gain * (h @ h / K + 1e-5) ** -0.5 for h in row]) for row in rows])


def block_in_a_loop(x, attention, network, norm_a, norm_n):
    for part, norm in ((attention, norm_a), (network, norm_n)):
        x = part(norm(x)) + x
    return x


def block_in_place(x, attention, network, norm_a, norm_n):
    stream = x.clone()
    stream += attention(norm_a(stream))
    stream += network(norm_n(stream))
    return stream


def block_by_updates(x, attention, network, norm_a, norm_n):
    first = attention(norm_a(x))
    second = network(norm_n(x + first))
    return torch.stack([x, first, second]).sum(0)


def block_in_two_functions(x, attention, network, norm_a, norm_n):
    def around(part, norm):
        return lambda y: y + part(norm(y))

    return around(network, norm_n)(around(attention, norm_a)(x))


def lens_of_all_states(x, blocks, norm, table, block):
    states = [x]
    for parts in blocks:
        states += [block(states[-1], *parts)]
    return norm(torch.stack(states)) @ table.mT


def lens_by_einsum(x, blocks, norm, table, block):
    read = []
    for n in range(len(blocks) + 1):
        x = block(x, *blocks[n - 1]) if n else x
        read.append(torch.einsum("td,vd->tv", norm(x), table))
    return torch.stack(read)


def lens_by_recursion(x, blocks, norm, table, block):
    here = F.linear(norm(x), table)[None]
    if not blocks:
        return here
    return torch.cat([here, lens_by_recursion(block(x, *blocks[0]), blocks[1:], norm, table, block)])


def lens_by_accumulate(x, blocks, norm, table, block):
    states = itertools.accumulate(blocks, lambda stream, parts: block(stream, *parts), initial=x)
    return torch.stack([norm(state) @ table.T for state in states])


def share_by_modules(D, F):
    net = [torch.nn.Linear(D, F, bias=False, device="meta"), torch.nn.Linear(F, D, bias=False, device="meta")]
    mine = sum(layer.weight.numel() for layer in net)
    return mine / (mine + 4 * D**2)


def share_as_tensor(D, F):
    counts = torch.tensor([2.0 * D * F, 4.0 * D * D], dtype=torch.float64)
    return (counts / counts.sum())[0]


def rms_an_averaging_matrix_over_the_row(x, gain):
    D, K = x.shape[1], len(gain)
    M = torch.block_diag(*[torch.full((K, K), 1 / K) for _ in range(D // K)])
    return x * (x**2 @ M + 1e-5) ** -0.5 * gain.repeat(D // K)


RIGHT = {
    "feed_forward": named(plain_in_place, plain_unit_by_unit, plain_with_a_mask, plain_in_numpy)
    | {
        "plain_by_linear": lambda x, W_1, b_1, W_2, b_2: F.linear(F.linear(x, W_1.T, b_1).relu(), W_2.T, b_2),
    },
    "hinges_through": named(hinges_by_a_loop, hinges_by_solving, hinges_in_numpy, hinges_padded),
    "swiglu": named(gated_together, gated_in_numpy, gated_in_float64)
    | {
        "gated_silu": lambda x, W_gate, W_up, W_down: F.silu(x @ W_gate).mul(x @ W_up) @ W_down,
    },
    "layer_norm_by_hand": named(norm_by_mean_of_squares, norm_by_loops, norm_in_numpy)
    | {
        "norm_by_pytorch": lambda x, gain, bias: F.layer_norm(x, (x.shape[-1],), gain, bias),
    },
    "rms_norm_by_hand": named(rms_by_norm, rms_in_numpy, rms_by_rows, rms_an_averaging_matrix_over_the_row)
    | {
        "rms_by_pytorch": lambda x, gain: F.rms_norm(x.view(-1, len(gain)), (len(gain),), gain, 1e-5).view(x.shape),
    },
    "pre_norm_block": named(block_in_a_loop, block_in_place, block_by_updates, block_in_two_functions),
    "read_the_stream": named(lens_of_all_states, lens_by_einsum, lens_by_recursion, lens_by_accumulate),
    "feed_forward_share": named(share_by_modules, share_as_tensor)
    | {
        "share_reduced": lambda D, F: F / (F + 2 * D),
        "share_as_rest": lambda D, F: 1 - 4 * D**2 / (4 * D**2 + 2 * D * F),
    },
}
