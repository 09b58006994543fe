"""Right answers to the lesson's exercises by other algorithms: all must pass."""

import math

import torch
from torch import nn

from answer_tables import named


def split_by_chunks(packed, H):
    heads = [head.chunk(3, dim=-1) for head in packed.chunk(H, dim=-1)]
    return [torch.stack([head[part] for head in heads], dim=1) for part in range(3)]


def split_by_slices(packed, H):
    K = packed.shape[2] // H // 3
    starts = [[3 * K * h + K * part for h in range(H)] for part in range(3)]
    return tuple(torch.stack([packed[:, :, s : s + K] for s in some], 1) for some in starts)


def join_by_loops(z):
    H, B, T, K = z.shape
    y = torch.empty(B, T, H * K)
    for h in range(H):
        y[:, :, h * K : (h + 1) * K] = z[h]
    return y


def heads_by_module(x, W_q, W_k, W_v, W_o, H):  # the shared columns written out H / G times
    D = len(W_q)
    wide = [W.view(D, -1, D // H).repeat_interleave(D // W.shape[1], dim=1).flatten(1) for W in (W_k, W_v)]
    module = nn.utils.skip_init(nn.MultiheadAttention, D, H, bias=False, batch_first=True)
    module.in_proj_weight.data = torch.cat([W_q.T, wide[0].T, wide[1].T])
    module.out_proj.weight.data = W_o.T.contiguous()
    return module(x, x, x, need_weights=False)[0]


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


def count_by_shapes(D, H, G):
    K = D // H
    return sum(a * b for a, b in [(D, H * K), (D, G * K), (D, G * K), (H * K, D)])


def count_by_modules(D, H, G):
    layers = [nn.Linear(D, w, bias=False, device="meta") for w in (D, D // H * G, D // H * G, D)]
    return sum(p.numel() for layer in layers for p in layer.parameters())


def multi_loop_over_heads_one_slice_of_w_o_each(x, W_q, W_k, W_v, W_o, H):
    D = x.shape[-1]
    k = D // H
    G = W_k.shape[1] // k
    total = torch.zeros_like(x)
    for h in range(H):
        g = h * G // H
        q, kk, v = x @ W_q[:, h * k : (h + 1) * k], x @ W_k[:, g * k : (g + 1) * k], x @ W_v[:, g * k : (g + 1) * k]
        total += (q @ kk.mT / k**0.5).softmax(-1) @ v @ W_o[h * k : (h + 1) * k]
    return total


def plain_split_by_loop(x, H):
    B, T, D = x.shape
    out = x.new_empty(B, H, T, D // H)
    for d in range(D):
        out[:, d // (D // H), :, d % (D // H)] = x[:, :, d]
    return out


def plain_loop(x, W_q, W_k, W_v, W_o, H):
    K = x.shape[-1] // H
    total = 0
    for h in range(H):
        mine = slice(h * K, h * K + K)
        q, k, v = x @ W_q[:, mine], x @ W_k[:, mine], x @ W_v[:, mine]
        total = total + (q @ k.mT * K**-0.5).softmax(2) @ v @ W_o[mine]
    return total


def shares_in_a_loop(z, W_o):
    K = z.shape[-1]
    return torch.stack([z[:, h] @ W_o[h * K : (h + 1) * K] for h in range(z.shape[1])])


def shares_by_silencing(z, W_o):
    """The whole output, with every other head set to zero."""
    H = z.shape[1]
    only = torch.eye(H).view(H, 1, H, 1, 1) * z  # (H, B, H, T, K)
    return only.transpose(2, 3).flatten(3) @ W_o


def order_with_a_running_sum(shares):
    missing, order = torch.zeros_like(shares[0]), []
    for _ in shares:
        h = min(set(range(len(shares))) - set(order), key=lambda h: torch.norm(missing + shares[h]))
        missing = missing + shares[h]
        order.append(h)
    return torch.tensor(order)


def order_by_inner_products(shares):
    flat = shares.flatten(1).double()
    gram, gone = flat @ flat.T, torch.zeros(len(shares), dtype=torch.double)
    order = []
    while len(order) < len(shares):
        cost = gram.diagonal() + 2 * gram @ gone
        cost[order] = math.inf
        order.append(cost.argmin().item())
        gone[order[-1]] = 1
    return tuple(order)


RIGHT = {
    "split_heads": named(plain_split_by_loop)
    | {
        "plain_split_by_chunks": lambda x, H: torch.stack(x.chunk(H, dim=-1), dim=1),
    },
    "multi_head": named(plain_loop, heads_by_module),
    "split_packed": named(split_by_chunks, split_by_slices),
    "join_heads": named(join_by_loops)
    | {
        "join_by_cat": lambda z: torch.cat(list(z), dim=-1),
    },
    "grouped_heads": named(heads_by_module, multi_loop_over_heads_one_slice_of_w_o_each),
    "HeadProjections": named(ByDict, ByParameters),
    "head_shares": named(shares_in_a_loop, shares_by_silencing),
    "removal_order": named(order_with_a_running_sum, order_by_inner_products),
    "grouped_parameters": named(count_by_shapes, count_by_modules),
}
