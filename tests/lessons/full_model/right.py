"""Right answers to the lesson's exercises in unusual forms: all must pass."""

from copy import deepcopy

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


def fold_by_a_diagonal(g, b, W, c):
    return W @ torch.diag(g), torch.mv(W, b).add(c)


def fold_by_trying(g, b, W, c):
    """The layer's answers to 0 and to each unit vector."""
    layer = lambda z: F.linear(g * z + b, W, c)  # noqa: E731
    zero = layer(torch.zeros(len(g)))
    return torch.stack([layer(unit) - zero for unit in torch.eye(len(g))], dim=1), zero


def fold_in_numpy(g, b, W, c):
    return np.einsum("ij,j->ij", W.numpy(), g.numpy()), W.numpy().dot(b.numpy()) + c.numpy()


def fold_in_float64(g, b, W, c):
    return W.double().mul(g.double()), c + (W * b).sum(dim=1)


def model_by_names(model, fold):
    """A table of the ends of names, and new parameters in place of the old numbers."""
    parts = dict(model.named_modules())
    ends = {"self_attention_norm": ("query", "key", "value"), "cross_attention_norm": ("query",)}
    for name, norm in list(parts.items()):
        if not isinstance(norm, nn.LayerNorm) or name == "decoder.norm":
            continue
        if name == "encoder.norm":
            readers = [
                part for path, part in parts.items() if path.endswith(("cross_attention.key", "attention.value"))
            ]
            readers = [part for part in readers if part not in [b.self_attention.value for b in all_blocks(model)]]
        elif name.endswith("feed_forward_norm"):
            readers = [parts[name.removesuffix("_norm")].expand]
        else:
            sublayer = parts[name.removesuffix("_norm")]
            readers = [getattr(sublayer, end) for end in ends[name.rpartition(".")[2]]]
        for layer in readers:
            W, c = fold(norm.weight, norm.bias, layer.weight, layer.bias)
            layer.weight, layer.bias = nn.Parameter(W.detach()), nn.Parameter(c.detach())
        nn.init.ones_(norm.weight), nn.init.zeros_(norm.bias)
    return model


def all_blocks(model):
    return [*model.encoder.blocks, *model.decoder.blocks]


def into(fold, norm, *layers):
    for layer in layers:
        W, c = fold(norm.weight.data, norm.bias.data, layer.weight.data, layer.bias.data)
        layer.weight.data, layer.bias.data = W, c


def fold_in_place(model, fold):
    for block in all_blocks(model):
        into(fold, block.self_attention_norm, *list(block.self_attention.children())[:3])
        into(fold, block.feed_forward_norm, block.feed_forward.expand)
        if hasattr(block, "cross_attention"):
            into(fold, block.cross_attention_norm, block.cross_attention.query)
            into(fold, model.encoder.norm, block.cross_attention.key, block.cross_attention.value)
    for norm in model.modules():
        if isinstance(norm, nn.LayerNorm) and norm is not model.decoder.norm:
            norm.weight.data, norm.bias.data = torch.ones(8), torch.zeros(8)


def model_in_place(model, fold):
    fold_in_place(model, fold)
    return model


def model_copied(model, fold):
    copy = deepcopy(model)
    fold_in_place(copy, fold)
    return copy


def model_with_norms_anew(model, fold):
    """The folded norms are replaced by fresh ones, which begin with gain 1 and bias 0."""
    fold_in_place(model, fold)
    for block in all_blocks(model):
        block.self_attention_norm, block.feed_forward_norm = nn.LayerNorm(8), nn.LayerNorm(8)
    model.encoder.norm = nn.LayerNorm(8)
    return model


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
    "tied_probabilities": named(
        tied_by_einsum, tied_in_numpy, tied_by_mask, tied_shared_anew, tied_position_by_position
    )
    | {
        "tied_by_linear": lambda h, E, V: F.softmax(F.linear(h, E)[..., :V], dim=1),
    },
    "folded_layer": named(fold_by_a_diagonal, fold_by_trying, fold_in_numpy, fold_in_float64),
    "folded_model": named(model_by_names, model_in_place, model_copied, model_with_norms_anew),
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
