"""Right answers to notebook 12's inline exercises in unusual forms: all must pass."""

import math

import torch
from torch.nn.functional import cross_entropy

from answers.tables import named


def perplexity_by_the_library(logits, targets):
    return math.exp(cross_entropy(logits.double(), targets).item())


def perplexity_as_a_geometric_mean(logits, targets):
    p = logits.double().softmax(-1)[range(len(targets)), targets]
    return p.log().mean().neg().exp()


def perplexity_in_bits(logits, targets):
    log_p = logits.double().log_softmax(-1) / math.log(2)
    return 2 ** (-sum(log_p[t, i] for t, i in enumerate(targets.tolist())) / len(targets))


def perplexity_by_hand(logits, targets):
    surprises = []
    for row, i in zip(logits.double(), targets, strict=True):
        surprises.append(torch.logsumexp(row, 0) - row[i])
    return torch.stack(surprises).mean().exp().item()


def write_on_recursively(model, ids, n, context, choose):
    if n == 0:
        return ids
    new = choose(model(torch.tensor(ids[-context:])[None])[:, -1][0])
    return write_on_recursively(model, [*ids, new], n - 1, context, choose)


def write_on_in_a_tensor(model, ids, n, context, choose):
    text = torch.tensor([ids])
    while text.shape[1] < len(ids) + n:
        logits = model(text[:, -context:])
        text = torch.cat([text, torch.tensor([[choose(logits[0, -1])]])], dim=1)
    return text[0].tolist()


def write_on_in_place(model, ids, n, context, choose):
    for _ in range(n):
        start = max(0, len(ids) - context)
        ids += [choose(model(torch.tensor(ids[start:]).view(1, -1)).squeeze(0)[-1])]
    return ids


def write_on_with_a_window(model, ids, n, context, choose):
    window, text = list(ids)[-context:], list(ids)
    for _ in range(n):
        text.append(choose(model(torch.tensor([window]))[0][len(window) - 1]))
        window = [*window, text[-1]][-context:]
    return tuple(text)


RIGHT = {
    "perplexity": named(
        perplexity_by_the_library, perplexity_as_a_geometric_mean, perplexity_in_bits, perplexity_by_hand
    ),
    "write_on": named(write_on_recursively, write_on_in_a_tensor, write_on_in_place, write_on_with_a_window),
}
