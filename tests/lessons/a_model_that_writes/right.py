"""Right answers to the lesson's exercises in unusual forms: all must pass."""

import math

import torch
from torch.nn.functional import cross_entropy

from answer_tables import named


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


def floor_by_loops(p, lengths):
    nats = sum(-q * math.log(q) for q in p.tolist() if q > 0)
    return nats / sum(q * n for q, n in zip(p.tolist(), lengths.tolist(), strict=True))


def floor_without_the_impossible(p, lengths):
    p, lengths = p[p > 0].double(), lengths[p > 0].double()
    return -(p @ p.log()) / (p @ lengths)


def floor_by_the_library(p, lengths):
    return torch.distributions.Categorical(probs=p.double()).entropy() / (p.double() * lengths).sum()


def floor_by_a_limit(p, lengths):
    return torch.xlogy(p, p).sum().neg() / torch.dot(p, lengths.to(p.dtype))


def questions_with_a_memory(words, names, context):
    last, pairs = {}, []
    for t, word in enumerate(words):
        if word in last:
            pairs.append((t, t - last[word] <= context))
        if word in names:
            last[word] = t
    return pairs


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


def questions_as_numbers(words, names, context):
    return [
        (t, int(words[max(t - context, 0) : t].count(word) > 0))
        for t, word in enumerate(words)
        if names.count(word) and words[:t].count(word)
    ]


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


def score_as_mean_ratio(model, words, questions, context):
    groups = [[], []]
    for t, visible in questions:
        p = dict(model(words[max(0, t - context) : t]))
        right = p.pop(words[t])
        groups[not visible].append(sum(math.log(right / q) for q in p.values()) / len(p))
    return [math.fsum(group) / max(1, len(group)) for group in groups]


def score_as_geometric_mean(model, words, questions, context):
    def lead(t):
        p = model(words[max(0, t - context) : t])
        others = math.prod(q for name, q in p.items() if name != words[t])
        return math.log(p[words[t]] / others ** (1 / (len(p) - 1)))

    seen = [lead(t) for t, visible in questions if visible]
    hidden = [lead(t) for t, visible in questions if not visible]
    return sum(seen) / (len(seen) or 1), sum(hidden) / (len(hidden) or 1)


def score_by_running_means(model, words, questions, context):
    mean, count = [0.0, 0.0], [0, 0]
    for t, visible in questions:
        p, n = model(words[max(0, t - context) : t]), 0 if visible else 1
        total = sum(map(math.log, p.values()))
        right = math.log(p[words[t]])
        count[n] += 1
        mean[n] += (right - (total - right) / (len(p) - 1) - mean[n]) / count[n]
    return torch.tensor(mean, dtype=torch.float64)


RIGHT = {
    "memory_questions": named(
        questions_with_a_memory, questions_by_windows, questions_from_the_end, questions_as_numbers
    ),
    "memory_score": named(score_in_tensors, score_as_mean_ratio, score_as_geometric_mean, score_by_running_means),
    "entropy_floor": named(floor_by_loops, floor_without_the_impossible, floor_by_the_library, floor_by_a_limit),
    "per_character": {
        "by_logarithm": lambda per_word, words, characters: math.exp(math.log(per_word) * words / characters),
        "in_bits": lambda per_word, words, characters: 2 ** (words * math.log2(per_word) / characters),
        "by_rate": lambda per_word, words, characters: pow(per_word, 1 / (characters / words)),
        "in_torch": lambda per_word, words, characters: torch.tensor(per_word).double().pow(words / characters),
    },
    "perplexity": named(
        perplexity_by_the_library, perplexity_as_a_geometric_mean, perplexity_in_bits, perplexity_by_hand
    ),
    "write_on": named(write_on_recursively, write_on_in_a_tensor, write_on_in_place, write_on_with_a_window),
}
