"""Right answers to the lesson's exercises by other algorithms: all must pass."""

import math

import torch
from torch.nn.functional import cross_entropy

from answer_tables import named


def perplexity_by_the_library(logits, targets):
    return math.exp(cross_entropy(logits.double(), targets).item())


def perplexity_by_hand(logits, targets):
    surprises = []
    for row, i in zip(logits.double(), targets, strict=True):
        surprises.append(torch.logsumexp(row, 0) - row[i])
    return torch.stack(surprises).mean().exp().item()


def write_on_in_a_tensor(model, ids, n, context, choose):
    text = torch.tensor([ids])
    while text.shape[1] < len(ids) + n:
        logits = model(text[:, -context:])
        text = torch.cat([text, torch.tensor([[choose(logits[0, -1])]])], dim=1)
    return text[0].tolist()


def write_on_with_a_window(model, ids, n, context, choose):
    window, text = list(ids)[-context:], list(ids)
    for _ in range(n):
        text.append(choose(model(torch.tensor([window]))[0][len(window) - 1]))
        window = [*window, text[-1]][-context:]
    return tuple(text)


def floor_by_loops(p, lengths):
    nats = sum(-q * math.log(q) for q in p.tolist() if q > 0)
    return nats / sum(q * n for q, n in zip(p.tolist(), lengths.tolist(), strict=True))


def floor_without_the_impossible(p, lengths):
    p, lengths = p[p > 0].double(), lengths[p > 0].double()
    return -(p @ p.log()) / (p @ lengths)


def questions_by_windows(words, names, context):
    again = [t for t in range(len(words)) if words[t] in set(names) & set(words[:t])]
    return [[t, words[t] in words[:t][-context:]] for t in again]


def questions_from_the_end(words, names, context):
    pairs = []
    for t in reversed(range(1, len(words))):
        distances = [t - s for s in range(t) if words[s] == words[t]]
        if words[t] in names and distances:
            pairs.insert(0, (t, min(distances) <= context))
    return tuple(pairs)


def score_in_tensors(model, words, questions, context):
    means = []
    for wanted in (True, False):
        leads = []
        for t, visible in questions:
            if bool(visible) == wanted:
                p = model(words[:t][-context:])
                log_p = torch.tensor(list(p.values()), dtype=torch.float64).log()
                right = list(p).index(words[t])
                leads.append(log_p[right] - (log_p.sum() - log_p[right]) / (len(p) - 1))
        means.append(torch.stack(leads).mean() if leads else torch.tensor(0.0))
    return means


def score_as_geometric_mean(model, words, questions, context):
    def lead(t):
        p = model(words[max(0, t - context) : t])
        others = math.prod(q for name, q in p.items() if name != words[t])
        return math.log(p[words[t]] / others ** (1 / (len(p) - 1)))

    seen = [lead(t) for t, visible in questions if visible]
    hidden = [lead(t) for t, visible in questions if not visible]
    return sum(seen) / (len(seen) or 1), sum(hidden) / (len(hidden) or 1)


RIGHT = {
    "memory_questions": named(questions_by_windows, questions_from_the_end),
    "memory_score": named(score_in_tensors, score_as_geometric_mean),
    "entropy_floor": named(floor_by_loops, floor_without_the_impossible),
    "per_character": {
        "by_logarithm": lambda per_word, words, characters: math.exp(math.log(per_word) * words / characters),
        "by_rate": lambda per_word, words, characters: pow(per_word, 1 / (characters / words)),
    },
    "perplexity": named(perplexity_by_the_library, perplexity_by_hand),
    "write_on": named(write_on_in_a_tensor, write_on_with_a_window),
}
