"""Right answers to the lesson's exercises in unusual forms: all must pass."""

import math

import numpy as np
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


def split_in_numpy(packed, H):
    parts = packed.numpy().reshape(*packed.shape[:2], H, 3, -1).transpose(3, 0, 2, 1, 4)
    return parts[0], parts[1], parts[2]


def split_unflatten(packed, H):
    return packed.double().unflatten(-1, (H, 3, -1)).transpose(1, 2).contiguous().unbind(3)


def join_permuted(z):
    H, B, T, K = z.size()
    return z.transpose(0, 1).transpose(1, 2).contiguous().view(B, T, H * K)


def join_by_loops(z):
    H, B, T, K = z.shape
    y = torch.empty(B, T, H * K)
    for h in range(H):
        y[:, :, h * K : (h + 1) * K] = z[h]
    return y


def heads_in_a_loop(x, W_q, W_k, W_v, W_o, H):
    K = x.shape[-1] // H
    each = H * K // W_k.shape[1]  # query heads for a head of keys
    out = 0
    for h in range(H):
        mine, shared = slice(h * K, (h + 1) * K), slice(h // each * K, (h // each + 1) * K)
        q, k, v = x @ W_q[:, mine], x @ W_k[:, shared], x @ W_v[:, shared]
        out = out + torch.softmax(q @ k.mT / K**0.5, -1) @ v @ W_o[mine]
    return out


def heads_by_einsum(x, W_q, W_k, W_v, W_o, H):
    K = len(W_q) // H
    G = W_k.shape[1] // K
    q = torch.einsum("btd,dgrk->bgrtk", x, W_q.view(len(W_q), G, H // G, K))  # r of the group's query heads
    k, v = (torch.einsum("btd,dgk->bgtk", x, W.view(len(W), G, K)) for W in (W_k, W_v))
    w = torch.softmax(torch.einsum("bgrtk,bgsk->bgrts", q, k) * K**-0.5, dim=-1)
    return torch.einsum("bgrts,bgsk,grkd->btd", w, v, W_o.view(G, H // G, K, len(W_o)))


def heads_fused(x, W_q, W_k, W_v, W_o, H):
    q, k, v = ((x @ W).unflatten(-1, (-1, len(W_q) // H)).transpose(1, 2) for W in (W_q, W_k, W_v))
    return nn.functional.scaled_dot_product_attention(q, k, v, enable_gqa=True).transpose(1, 2).flatten(2) @ W_o


def heads_by_module(x, W_q, W_k, W_v, W_o, H):  # the shared columns written out H / G times
    D = len(W_q)
    wide = [W.view(D, -1, D // H).repeat_interleave(D // W.shape[1], dim=1).flatten(1) for W in (W_k, W_v)]
    module = nn.utils.skip_init(nn.MultiheadAttention, D, H, bias=False, batch_first=True)
    module.in_proj_weight.data = torch.cat([W_q.T, wide[0].T, wide[1].T])
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


def count_by_modules(D, H, G):
    layers = [nn.Linear(D, w, bias=False, device="meta") for w in (D, D // H * G, D // H * G, D)]
    return sum(p.numel() for layer in layers for p in layer.parameters())


def split_slices_and_stack_a_list(packed, H):
    k = packed.shape[-1] // (3 * H)
    return [torch.stack([packed[..., (3 * h + i) * k : (3 * h + i + 1) * k] for h in range(H)], 1) for i in range(3)]


def split_index_select_by_computed_columns(packed, H):
    B, T, C = packed.shape
    k = C // 3 // H
    cols = torch.arange(C).view(H, 3, k)
    return tuple(packed.index_select(2, cols[:, i].flatten()).view(B, T, H, k).swapaxes(1, 2) for i in range(3))


def join_filled_slice_by_slice(z):
    H, B, T, K = z.shape
    out = z.new_zeros(B, T, H * K)
    for h in range(H):
        out[:, :, h * K : (h + 1) * K].copy_(z[h])
    return out


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


def multi_einsum_with_a_group_axis(x, W_q, W_k, W_v, W_o, H):
    B, T, D = x.shape
    k = D // H
    G = W_k.shape[1] // k
    q = (x @ W_q).view(B, T, G, H // G, k)
    kk, v = (x @ W_k).view(B, T, G, k), (x @ W_v).view(B, T, G, k)
    w = torch.einsum("btgrk,bsgk->bgrts", q, kk).div(math.sqrt(k)).softmax(-1)
    return torch.einsum("bgrts,bsgk,grkd->btd", w, v, W_o.view(G, H // G, k, D))


def plain_split_by_loop(x, H):
    B, T, D = x.shape
    out = x.new_empty(B, H, T, D // H)
    for d in range(D):
        out[:, d // (D // H), :, d % (D // H)] = x[:, :, d]
    return out


def plain_split_in_numpy(x, H):
    return np.stack(np.split(x.numpy(), H, axis=-1), axis=1)


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


def shares_by_einsum(z, W_o):
    _, H, _, K = z.shape
    return torch.einsum("bhtk,hkd->hbtd", z, W_o.unflatten(0, (H, K)))


def shares_by_silencing(z, W_o):
    """The whole output, with every other head set to zero."""
    H = z.shape[1]
    only = torch.eye(H).view(H, 1, H, 1, 1) * z  # (H, B, H, T, K)
    return only.transpose(2, 3).flatten(3) @ W_o


def shares_in_numpy(z, W_o):
    parts = np.split(W_o.numpy(), z.shape[1])
    return np.stack([z.numpy()[:, h] @ part for h, part in enumerate(parts)])


def order_by_what_is_left(shares):
    full, kept, order = shares.sum(0), list(range(len(shares))), []
    while kept:
        losses = [(full - shares[[k for k in kept if k != h]].sum(0)).pow(2).mean().item() for h in kept]
        order.append(kept.pop(int(np.argmin(losses))))
    return order


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


def order_recursively(shares, gone=()):
    left = [h for h in range(len(shares)) if h not in gone]
    if not left:
        return list(gone)
    costs = {((shares[list(gone)].sum(0) + shares[h]) ** 2).sum().item(): h for h in left}
    return order_recursively(shares, (*gone, costs[min(costs)]))


RIGHT = {
    "split_heads": named(plain_split_by_loop, plain_split_in_numpy)
    | {
        "plain_split_by_chunks": lambda x, H: torch.stack(x.chunk(H, dim=-1), dim=1),
        "plain_split_unflatten": lambda x, H: x.double().unflatten(-1, (H, -1)).permute(0, 2, 1, 3).contiguous(),
    },
    "multi_head": named(plain_loop, heads_by_einsum, heads_fused, heads_by_module),
    "split_packed": named(
        split_by_chunks,
        split_by_slices,
        split_in_numpy,
        split_unflatten,
        split_slices_and_stack_a_list,
        split_index_select_by_computed_columns,
    ),
    "join_heads": named(join_permuted, join_by_loops, join_filled_slice_by_slice)
    | {
        "join_by_cat": lambda z: torch.cat(list(z), dim=-1),
        "join_in_numpy": lambda z: np.concatenate([head.numpy() for head in z], axis=2),
    },
    "grouped_heads": named(
        heads_in_a_loop,
        heads_by_einsum,
        heads_fused,
        heads_by_module,
        multi_loop_over_heads_one_slice_of_w_o_each,
        multi_einsum_with_a_group_axis,
    ),
    "HeadProjections": named(Registered, ByDict, ByParameters, ByParameterList),
    "head_shares": named(shares_in_a_loop, shares_by_einsum, shares_by_silencing, shares_in_numpy),
    "removal_order": named(order_by_what_is_left, order_with_a_running_sum, order_by_inner_products, order_recursively),
    "grouped_parameters": named(count_by_shapes, count_by_modules)
    | {
        "count_by_share": lambda D, H, G: 2 * D**2 * (1 + G / H),
        "count_as_float": lambda D, H, G: float(D * D + D * D) + 2.0 * D * (D / H) * G,
    },
}
