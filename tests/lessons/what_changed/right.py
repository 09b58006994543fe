"""Right answers to the lesson's exercises in unusual forms: all must pass."""

import math

import numpy as np
import torch
import torch.nn.functional as F

from answer_tables import named


def grouped_by_the_library(q, k, v):
    return F.scaled_dot_product_attention(q[None], k[None], v[None], enable_gqa=True)[0]


def grouped_by_index(q, k, v):
    own = torch.arange(len(q)) * len(k) // len(q)
    scores = torch.einsum("htk,hsk->hts", q, k[own]) * q.shape[-1] ** -0.5
    return scores.softmax(2) @ v[own]


def grouped_head_by_head(q, k, v):
    size = len(q) // len(k)
    return torch.stack(
        [(one @ k[h // size].T / math.sqrt(k.shape[2])).softmax(1) @ v[h // size] for h, one in enumerate(q)]
    )


def grouped_in_long_rows(q, k, v):
    """The queries of a group as one long row of queries of its head of keys."""
    H, T, K = q.shape
    long = q.reshape(len(k), -1, K)
    return (torch.baddbmm(torch.zeros(1), long, k.mT, alpha=K**-0.5).softmax(-1) @ v).reshape(H, T, K)


def routed_by_topk(logits, k):
    values, places = logits.topk(k, dim=-1)
    return torch.zeros_like(logits).scatter(-1, places, values.softmax(-1))


def routed_softmax_first(logits, k):
    """Over all, and then divided by the sum of the chosen ones: the same numbers."""
    p = logits.softmax(-1)
    chosen = p.topk(k).values
    return torch.where(p >= chosen[:, -1:], p, 0.0) / chosen.sum(-1, keepdim=True)


def routed_by_ranks(logits, k):
    rank = (logits[:, None, :] > logits[:, :, None]).sum(-1)  # how many experts suit the token better
    exponentials = torch.exp(logits - logits.max(-1, keepdim=True).values) * (rank < k)
    return exponentials / exponentials.sum(1, keepdim=True)


def routed_token_by_token(logits, k):
    weights = np.zeros(tuple(logits.shape))
    for n, row in enumerate(logits.tolist()):
        best = sorted(range(len(row)), key=row.__getitem__)[-k:]
        total = sum(math.exp(row[i]) for i in best)
        for i in best:
            weights[n, i] = math.exp(row[i]) / total
    return weights


def balanced_by_counting(probabilities, chosen):
    E = probabilities.shape[1]
    f = [chosen.tolist().count(i) / len(chosen) for i in range(E)]
    P = [sum(column) / len(column) for column in probabilities.T.tolist()]
    return E * sum(a * b for a, b in zip(f, P, strict=True))


def balanced_by_one_hot(probabilities, chosen):
    N, E = probabilities.shape
    return E / N**2 * torch.einsum("ne,me->", F.one_hot(chosen, E).to(probabilities), probabilities)


def balanced_by_reading_the_means(probabilities, chosen):
    """Each token reads the mean probability of its expert."""
    return probabilities.mean(0)[chosen].mean() * probabilities.shape[-1]


def balanced_by_comparison(probabilities, chosen):
    experts = torch.arange(probabilities.shape[1])
    share = (chosen[:, None] == experts).double().mean(0)
    return len(experts) * torch.dot(share, probabilities.double().mean(0))


def directions_by_gram(G):
    """Inverse root of G Gᵀ (or of Gᵀ G), from its eigenvectors, times G."""
    if G.shape[0] > G.shape[1]:
        return directions_by_gram(G.T).T
    values, vectors = torch.linalg.eigh(G @ G.T)
    return vectors @ torch.diag(values.rsqrt()) @ vectors.T @ G


def directions_by_newton_schulz(G):
    """The iteration X ← 1.5 X − 0.5 X Xᵀ X, which ends at singular values of 1."""
    X = G.double() / torch.linalg.matrix_norm(G.double(), 2)
    for _ in range(60):
        X = 1.5 * X - 0.5 * X @ X.T @ X
    return X


def directions_in_numpy(G):
    U, _, Vh = np.linalg.svd(G.numpy(), full_matrices=False)
    return torch.from_numpy(U @ Vh)


def directions_one_by_one(G):
    U, S, Vh = torch.linalg.svd(G, full_matrices=False)
    return sum(torch.outer(U[:, n], Vh[n]) for n in range(len(S)))


def muon_in_place_of_copies(W, M, G, rate, keep, directions):
    W, M = W.clone(), M.clone()
    M.mul_(keep).add_(G, alpha=1 - keep)
    W.sub_(rate * max(1, len(W) / len(W.T)) ** 0.5 * directions(M))
    return W, M


def muon_by_lerp(W, M, G, rate, keep, directions):
    M = torch.lerp(G, M, keep)
    length = math.sqrt(W.shape[0] / W.shape[1]) if W.shape[0] > W.shape[1] else 1.0
    return torch.add(W, directions(M), alpha=-rate * length), M


def muon_from_an_unscaled_mean(W, M, G, rate, keep, directions):
    """`directions` takes no notice of the size of what it gets."""
    total = keep * M / (1 - keep) + G
    return W - rate * math.sqrt(max(1.0, W.shape[0] / W.shape[1])) * directions(total), (1 - keep) * total


def muon_as_a_list(W, M, G, rate, keep, directions):
    new = M + (1 - keep) * (G - M)
    return [W - directions(new) * (rate * math.sqrt(max(W.shape) / W.shape[1])), new]


def gated_by_einsum(x, W_gate, W_up, W_down):
    gate = torch.einsum("...d,df->...f", x, W_gate)
    return torch.einsum(
        "...f,...f,fd->...d", gate * torch.sigmoid(gate), torch.einsum("...d,df->...f", x, W_up), W_down
    )


def gated_in_one_product(x, W_gate, W_up, W_down):
    """Both ways in one matrix, as Llama's fused form does it."""
    gate, up = (x @ torch.cat([W_gate, W_up], dim=1)).chunk(2, dim=-1)
    return F.silu(gate).mul(up).matmul(W_down)


def gated_by_linear(x, W_gate, W_up, W_down):
    gate, up = F.linear(x, W_gate.T), F.linear(x, W_up.T)
    return F.linear(up * gate / (1 + torch.exp(-gate)), W_down.T)


def gated_row_by_row(x, W_gate, W_up, W_down):
    rows = [torch.mv(W_down.T, F.silu(torch.mv(W_gate.T, row)) * torch.mv(W_up.T, row)) for row in x.flatten(0, -2)]
    return torch.stack(rows).view_as(x)


def chosen_by_one_hot(p, bias):
    return p * F.one_hot((p + bias).argmax(-1), p.shape[1])


def chosen_by_comparison(p, bias):
    preference = p + bias
    return torch.where(preference == preference.max(-1, keepdim=True).values, p, 0.0)


def chosen_by_index(p, bias):
    rows, best = torch.arange(len(p)), (p + bias[None]).max(dim=1).indices
    weights = torch.zeros(p.shape)
    weights[rows, best] = p[rows, best]
    return weights


def chosen_token_by_token(p, bias):
    weights = np.zeros(tuple(p.shape))
    for n, row in enumerate(p.tolist()):
        best = max(range(len(row)), key=lambda i: row[i] + bias[i].item())
        weights[n, best] = row[best]
    return weights


def balanced_with_counts(p, rate, rounds, choose):
    N, E = p.shape
    bias = torch.zeros(E)
    for _ in range(rounds):
        count = choose(p, bias).count_nonzero(dim=0)
        bias = bias + rate * torch.sign(N - E * count)
    return bias


def balanced_in_place(p, rate, rounds, choose):
    bias = torch.zeros_like(p[0])
    for _ in range(rounds):
        share = choose(p, bias).bool().double().mean(0)
        bias += rate * (share < 1 / p.shape[1] - 1e-9)
        bias -= rate * (share > 1 / p.shape[1] + 1e-9)
    return bias


def balanced_by_recursion(p, rate, rounds, choose):
    if rounds == 0:
        return torch.zeros(p.shape[1])
    bias = balanced_by_recursion(p, rate, rounds - 1, choose)
    load = (choose(p, bias) != 0).sum(0)
    return bias - rate * (load - len(p) / p.shape[1]).sign()


def balanced_in_plain_numbers(p, rate, rounds, choose):
    N, E = p.shape
    steps = [0] * E
    for _ in range(rounds):
        places = choose(p, rate * torch.tensor(steps, dtype=torch.float32)).argmax(-1).tolist()
        for expert in range(E):
            count = E * places.count(expert)
            steps[expert] += (count < N) - (count > N)
    return [rate * step for step in steps]


RIGHT = {
    "gated_layer": named(gated_by_einsum, gated_in_one_product, gated_by_linear, gated_row_by_row),
    "choose_expert": named(chosen_by_one_hot, chosen_by_comparison, chosen_by_index, chosen_token_by_token),
    "balance_bias": named(balanced_with_counts, balanced_in_place, balanced_by_recursion, balanced_in_plain_numbers),
    "all_directions": named(
        directions_by_gram, directions_by_newton_schulz, directions_in_numpy, directions_one_by_one
    ),
    "muon_step": named(muon_in_place_of_copies, muon_by_lerp, muon_from_an_unscaled_mean, muon_as_a_list),
    "grouped_attention": named(grouped_by_the_library, grouped_by_index, grouped_head_by_head, grouped_in_long_rows),
    "route_tokens": named(routed_by_topk, routed_softmax_first, routed_by_ranks, routed_token_by_token),
    "balance_penalty": named(
        balanced_by_counting, balanced_by_one_hot, balanced_by_reading_the_means, balanced_by_comparison
    ),
}
