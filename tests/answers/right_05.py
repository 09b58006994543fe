"""Right answers to notebook 05's exercises in other clothes: all must pass."""

import numpy as np
import torch
from torch import nn


def split_by_chunks(x, H):
    return torch.stack(x.chunk(H, dim=-1), dim=1)


def split_by_loops(x, H):
    K = x.shape[2] // H
    return torch.stack([torch.stack([row[:, h * K : (h + 1) * K] for h in range(H)]) for row in x])


def split_in_numpy(x, H):
    return x.numpy().reshape(*x.shape[:2], H, -1).transpose(0, 2, 1, 3)


def split_unflatten(x, H):
    return x.double().unflatten(-1, (H, -1)).permute(0, 2, 1, 3).contiguous()


def join_by_cat(z):
    return torch.cat(list(z.unbind(1)), dim=-1)


def join_permuted(z):
    B, H, T, K = z.size()
    return z.permute(0, 2, 1, 3).contiguous().view(B, T, H * K)


def join_in_numpy(z):
    return np.concatenate([z[:, h].numpy() for h in range(z.shape[1])], axis=2)


def join_by_loops(z):
    B, H, T, K = z.shape
    y = torch.empty(B, T, H * K)
    for h in range(H):
        y[:, :, h * K : (h + 1) * K] = z[:, h]
    return y


def heads_in_a_loop(x, W_q, W_k, W_v, W_o, H):
    K = x.shape[-1] // H
    out = 0
    for h in range(H):
        part = slice(h * K, (h + 1) * K)
        q, k, v = x @ W_q[:, part], x @ W_k[:, part], x @ W_v[:, part]
        out = out + torch.softmax(q @ k.mT / K**0.5, -1) @ v @ W_o[part]
    return out


def heads_by_einsum(x, W_q, W_k, W_v, W_o, H):
    q, k, v = (torch.einsum("btd,dhk->bhtk", x, W.view(len(W), H, -1)) for W in (W_q, W_k, W_v))
    w = torch.softmax(torch.einsum("bhtk,bhsk->bhts", q, k) * q.shape[-1] ** -0.5, dim=3)
    return torch.einsum("bhts,bhsk,hkd->btd", w, v, W_o.view(H, -1, len(W_o)))


def heads_fused(x, W_q, W_k, W_v, W_o, H):
    q, k, v = (split_by_chunks(x @ W, H) for W in (W_q, W_k, W_v))
    return join_by_cat(nn.functional.scaled_dot_product_attention(q, k, v)) @ W_o


def heads_by_module(x, W_q, W_k, W_v, W_o, H):
    module = nn.utils.skip_init(nn.MultiheadAttention, len(W_q), H, bias=False, batch_first=True)
    module.in_proj_weight.data = torch.cat([W_q.T, W_k.T, W_v.T])
    module.out_proj.weight.data = W_o.T.contiguous()
    return module(x, x, x, need_weights=False)[0]


class Registered(nn.Module):
    def __init__(self, D, H):
        super().__init__()
        for h in range(H):
            self.add_module(f"head{h}", nn.Linear(D, D // H, bias=False))

    def forward(self, x):
        return torch.stack([head(x) for head in self.children()], dim=1)


class ByDict(nn.Module):
    def __init__(self, width, n):
        super().__init__()
        self.heads = nn.ModuleDict({str(h): nn.Linear(width, width // n, False) for h in range(n)})

    def forward(self, x):
        return torch.cat([head(x).unsqueeze(1) for head in self.heads.values()], 1)


class ByParameters(nn.Module):
    def __init__(self, D, H):
        super().__init__()
        self.W = nn.Parameter(torch.randn(H, D, D // H))

    def forward(self, x):
        return x.unsqueeze(1) @ self.W


class ByParameterList(nn.Module):
    def __init__(self, D, H):
        super().__init__()
        self.W = nn.ParameterList([torch.randn(D // H, D) for _ in range(H)])

    def forward(self, x):
        return torch.stack([nn.functional.linear(x, W) for W in self.W], dim=-3)


def count_by_shapes(D, H, G):
    K = D // H
    return sum(a * b for a, b in [(D, H * K), (D, G * K), (D, G * K), (H * K, D)])


def count_by_share(D, H, G):
    return 2 * D**2 * (1 + G / H)


def count_by_modules(D, H, G):
    layers = [nn.Linear(D, w, bias=False, device="meta") for w in (D, D // H * G, D // H * G, D)]
    return sum(p.numel() for layer in layers for p in layer.parameters())


def count_as_float(D, H, G):
    return float(D * D + D * D) + 2.0 * D * (D / H) * G


RIGHT = {
    "split_heads": [split_by_chunks, split_by_loops, split_in_numpy, split_unflatten],
    "join_heads": [join_by_cat, join_permuted, join_in_numpy, join_by_loops],
    "multi_head": [heads_in_a_loop, heads_by_einsum, heads_fused, heads_by_module],
    "HeadProjections": [Registered, ByDict, ByParameters, ByParameterList],
    "grouped_parameters": [count_by_shapes, count_by_share, count_by_modules, count_as_float],
}
