"""Right answers to the lesson's exercises in unusual forms: all must pass."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from answer_tables import named


def block_by_shapes(D, F):
    shapes = [(D, D)] * 4 + [(D, F), (D, F), (F, D), (D,), (D,)]
    return int(sum(np.prod(shape) for shape in shapes))


def block_by_layers(D, F):
    layers = [nn.Linear(D, D, bias=False, device="meta") for _ in range(4)]
    layers += [nn.Linear(a, b, bias=False, device="meta") for a, b in ((D, F), (D, F), (F, D))]
    layers += [nn.RMSNorm(D), nn.RMSNorm(D)]
    return torch.tensor([p.numel() for layer in layers for p in layer.parameters()]).sum()


def total_by_loops(D, F, V, N):
    weights = 0
    for _ in range(N):
        weights += 4 * D * D + D * F + F * D
        weights += 4 * D * D + 4 * D * D + D * F + F * D
    return weights + V * D + V * D


def total_by_pytorch(D, F, V, N):
    blocks = [nn.TransformerEncoderLayer(D, 1, F, device="meta"), nn.TransformerDecoderLayer(D, 1, F, device="meta")]
    return N * sum(p.numel() for one in blocks for p in one.parameters() if p.dim() == 2) + 2 * V * D


def decoder_fused(x, m, W):
    def attend(q, k):
        return F.scaled_dot_product_attention(q[None], k[None], k[None])[0]

    n = F.layer_norm(x, x.shape[-1:])
    x = x + attend(n, n)
    x = x + attend(F.layer_norm(x, x.shape[-1:]), m)
    return x + F.relu(F.layer_norm(x, x.shape[-1:]) @ W)


def decoder_in_place(x, m, W):
    y = x.clone()
    norm = nn.LayerNorm(x.shape[1])
    for memory in (None, m):
        q = norm(y).detach()
        k = q if memory is None else memory
        y += torch.softmax(q @ k.T / x.shape[1] ** 0.5, 1) @ k
    y += torch.clamp(norm(y).detach() @ W, min=0)
    return y


def decoder_in_float64(x, m, W):
    x, m, W = x.double(), m.double(), W.double()

    def norm(y):
        return (y - y.mean(-1, keepdim=True)) / (y.var(-1, correction=0, keepdim=True) + 1e-5).sqrt()

    def attend(q, k):
        e = torch.exp(q @ k.mT * x.shape[-1] ** -0.5)
        return e / e.sum(-1, keepdim=True) @ k

    branches = [lambda n: attend(n, n), lambda n: attend(n, m), lambda n: torch.relu(n @ W)]
    for branch in branches:
        x = x + branch(norm(x))
    return x


def decoder_batched(x, m, W):
    x, m = x.unsqueeze(0), m.unsqueeze(0)
    for memory in ("self", "cross"):
        q = F.layer_norm(x, x.shape[-1:])
        k = q if memory == "self" else m
        x = x + torch.einsum("bts,bsd->btd", torch.einsum("btd,bsd->bts", q, k).div(x.shape[-1] ** 0.5).softmax(-1), k)
    return (x + F.relu(F.linear(F.layer_norm(x, x.shape[-1:]), W.T)))[0]


def tied_by_einsum(h, E, V):
    z = torch.einsum("td,vd->tv", h, E[range(V)])
    e = (z - z.max(1, keepdim=True).values).exp()
    return e / e.sum(1, keepdim=True)


def tied_in_numpy(h, E, V):
    e = np.exp(h.numpy() @ E.numpy().T)[:, :V]
    return e / e.sum(1, keepdims=True)


def tied_by_mask(h, E, V):
    z = h.double() @ E.double().T
    z[:, V:] = -torch.inf
    return torch.log_softmax(z, -1).exp()[:, :V]


def tied_shared_anew(h, E, V):
    p = (h @ E.T).softmax(-1)[:, :V]
    return p / p.sum(-1, keepdim=True)


def start_in_place(D, K):
    W = torch.empty(2, D, K)
    W.normal_(std=D**-0.5)
    return W[0], W[1]


def start_by_init(D, K):
    pair = [torch.empty(D, K), torch.empty(D, K)]
    for W in pair:
        nn.init.normal_(W, std=1 / D**0.5)
    return pair


def start_by_linear(D, K):
    layers = [nn.Linear(D, K, bias=False) for _ in range(2)]
    for layer in layers:
        nn.init.kaiming_normal_(layer.weight, nonlinearity="linear")
    return tuple(layer.weight.detach().T for layer in layers)


def tied_position_by_position(h, E, V):
    words = torch.nn.Embedding.from_pretrained(E).weight[:V]
    return torch.stack([words.mv(row).softmax(0) for row in h])


def start_by_numpys_random_numbers(D, K):
    return tuple(torch.from_numpy(np.random.randn(D, K)).float() / D**0.5 for _ in "qk")


def start_nn_init_on_parameters(D, K):
    return [torch.nn.init.normal_(torch.nn.Parameter(torch.empty(D, K)), std=D**-0.5) for _ in range(2)]


def start_own_generator_seeded_from_torchs_stream(D, K):
    gen = torch.Generator().manual_seed(torch.randint(2**40, ()).item())
    return torch.randn(D, K, generator=gen) / D**0.5, torch.randn(D, K, generator=gen) / D**0.5


RIGHT = {
    "llama_block_parameters": named(block_by_shapes, block_by_layers)
    | {
        "block_reduced": lambda D, F: D * (4 * D + 3 * F + 2),
        "block_as_float": lambda D, F: 4.0 * D**2 + 3.0 * F * D + D + D,
    },
    "translator_parameters": named(total_by_loops, total_by_pytorch)
    | {
        "total_reduced": lambda D, F, V, N: 12 * N * D**2 + 4 * N * D * F + 2 * V * D,
        "total_as_float": lambda D, F, V, N: float(D) * (N * (12.0 * D + 4.0 * F) + 2.0 * V),
    },
    "decoder_block_pass": named(decoder_fused, decoder_in_place, decoder_in_float64, decoder_batched),
    "tied_probabilities": named(
        tied_by_einsum, tied_in_numpy, tied_by_mask, tied_shared_anew, tied_position_by_position
    )
    | {
        "tied_by_linear": lambda h, E, V: F.softmax(F.linear(h, E)[..., :V], dim=1),
    },
    "starting_projections": named(
        start_in_place,
        start_by_init,
        start_by_linear,
        start_by_numpys_random_numbers,
        start_nn_init_on_parameters,
        start_own_generator_seeded_from_torchs_stream,
    )
    | {
        "start_by_normal": lambda D, K: (torch.normal(0.0, D**-0.5, (D, K)), torch.normal(0.0, D**-0.5, (D, K))),
    },
}
