"""Right answers to the lesson's exercises by other algorithms: all must pass."""

import math

import numpy as np
import torch

from answer_tables import named


def routed_softmax_first(logits, k):
    """Over all, and then divided by the sum of the chosen ones: the same numbers."""
    p = logits.softmax(-1)
    chosen = p.topk(k).values
    return torch.where(p >= chosen[:, -1:], p, 0.0) / chosen.sum(-1, keepdim=True)


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


def balanced_by_reading_the_means(probabilities, chosen):
    """Each token reads the mean probability of its expert."""
    return probabilities.mean(0)[chosen].mean() * probabilities.shape[-1]


def newton_schulz_by_powers(G):
    """The polynomial as a sum of odd powers of X."""
    X = G.double() / G.double().square().sum().sqrt()
    for _ in range(5):
        XXX = X @ X.T @ X
        X = 3.4445 * X - 4.7750 * XXX + 2.0315 * X @ X.T @ XXX
    return X


def newton_schulz_of_the_sizes(G):
    """The same polynomial of each singular value."""
    U, S, Vh = torch.linalg.svd(G.double(), full_matrices=False)
    S = S / S.norm()
    for _ in range(5):
        S = 3.4445 * S - 4.7750 * S**3 + 2.0315 * S**5
    return (U * S) @ Vh


def muon_by_lerp(W, M, G, rate, keep, directions):
    M = torch.lerp(G, M, keep)
    length = math.sqrt(W.shape[0] / W.shape[1]) if W.shape[0] > W.shape[1] else 1.0
    return torch.add(W, directions(M), alpha=-rate * length), M


def muon_from_an_unscaled_mean(W, M, G, rate, keep, directions):
    """`directions` takes no notice of the size of what it gets."""
    total = keep * M / (1 - keep) + G
    return W - rate * math.sqrt(max(1.0, W.shape[0] / W.shape[1])) * directions(total), (1 - keep) * total


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
    "choose_expert": named(chosen_by_index, chosen_token_by_token),
    "balance_bias": named(balanced_by_recursion, balanced_in_plain_numbers),
    "newton_schulz": named(newton_schulz_by_powers, newton_schulz_of_the_sizes),
    "muon_step": named(muon_by_lerp, muon_from_an_unscaled_mean),
    "route_tokens": named(routed_softmax_first, routed_token_by_token),
    "balance_penalty": named(balanced_by_counting, balanced_by_reading_the_means),
}
