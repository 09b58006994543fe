"""Right answers to the lesson's exercises in unusual forms: all must pass."""

import functools

import numpy as np
import torch
import torch.nn.functional as F

from answer_tables import named


def net_with_clamp(x, W_1, b_1, W_2, b_2):
    return torch.clamp(torch.matmul(x, W_1) + b_1, min=0).pow(2).matmul(W_2) + b_2


def net_by_units(x, W_1, b_1, W_2, b_2):
    y = b_2.expand_as(x).clone()
    for f in range(len(b_1)):
        key = x @ W_1[:, f] + b_1[f]
        y += torch.where(key > 0, key * key, 0.0)[..., None] * W_2[f]
    return y


def net_in_numpy(x, W_1, b_1, W_2, b_2):
    x, W_1, b_1, W_2, b_2 = (t.numpy().astype(np.float64) for t in (x, W_1, b_1, W_2, b_2))
    return np.square(np.maximum(0, x @ W_1 + b_1)) @ W_2 + b_2


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


def stack_in_place(x, W):
    x = x.clone()
    for matrix in W:
        out = F.layer_norm(x, [x.shape[1]]) @ matrix
        x += out.clamp_(min=0)
    return F.layer_norm(x, [x.shape[1]])


def stack_by_hand(x, W):
    def norm(x):
        return (x - x.mean(1, keepdim=True)) / torch.sqrt(x.var(1, correction=0, keepdim=True) + 1e-5)

    for n in range(W.shape[0]):
        x = torch.relu(norm(x) @ W[n]) + x
    return norm(x)


def stack_by_recursion(x, W):
    norm = torch.nn.LayerNorm(x.shape[-1])
    if len(W) == 0:
        return norm(x)
    return stack_by_recursion(torch.add(F.relu(F.linear(norm(x), W[0].T)), x), W[1:])


def stack_row_by_row(x, W):
    rows = []
    for row in x.double():
        for matrix in W.double():
            row = row + (F.layer_norm(row, row.shape) @ matrix).relu()
        rows.append(F.layer_norm(row, row.shape))
    return torch.stack(rows)


def share_by_modules(D, F):
    net = [torch.nn.Linear(D, F, bias=False, device="meta"), torch.nn.Linear(F, D, bias=False, device="meta")]
    mine = sum(layer.weight.numel() for layer in net)
    return mine / (mine + 4 * D**2)


def share_as_tensor(D, F):
    counts = torch.tensor([2.0 * D * F, 4.0 * D * D], dtype=torch.float64)
    return (counts / counts.sum())[0]


def _layer_normed(x):
    return F.layer_norm(x, x.shape[-1:])


def rms_an_averaging_matrix_over_the_row(x, gain):
    D, K = x.shape[1], len(gain)
    M = torch.block_diag(*[torch.full((K, K), 1 / K) for _ in range(D // K)])
    return x * (x**2 @ M + 1e-5) ** -0.5 * gain.repeat(D // K)


def stack_functools_reduce(x, W):
    return _layer_normed(functools.reduce(lambda a, m: a + F.relu(_layer_normed(a).mm(m)), W.unbind(), x))


def stack_modules_in_place_on_an_own_clone(x, W):
    norm = torch.nn.LayerNorm(x.shape[-1], elementwise_affine=False)
    x = x.clone()
    for i in range(W.shape[0]):
        x += torch.maximum(norm(x) @ W[i], torch.zeros(()))
    return norm(x)


RIGHT = {
    "feed_forward": named(plain_in_place, plain_unit_by_unit, plain_with_a_mask, plain_in_numpy)
    | {
        "plain_by_linear": lambda x, W_1, b_1, W_2, b_2: F.linear(F.linear(x, W_1.T, b_1).relu(), W_2.T, b_2),
    },
    "feed_forward_net": named(net_with_clamp, net_by_units, net_in_numpy)
    | {
        "net_by_linear": lambda x, W_1, b_1, W_2, b_2: F.linear(F.relu(F.linear(x, W_1.T, b_1)) ** 2, W_2.T, b_2),
    },
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
    "pre_norm_stack": named(
        stack_in_place,
        stack_by_hand,
        stack_by_recursion,
        stack_row_by_row,
        stack_functools_reduce,
        stack_modules_in_place_on_an_own_clone,
    ),
    "feed_forward_share": named(share_by_modules, share_as_tensor)
    | {
        "share_reduced": lambda D, F: F / (F + 2 * D),
        "share_as_rest": lambda D, F: 1 - 4 * D**2 / (4 * D**2 + 2 * D * F),
    },
}
