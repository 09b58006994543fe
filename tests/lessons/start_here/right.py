"""Right answers to the lesson's exercises in unusual forms: all must pass."""

from collections import Counter, defaultdict
from statistics import mean

import numpy as np
import torch

from answer_tables import named


def next_by_sorting(logits):
    return sorted(range(logits.shape[-1]), key=lambda i: logits[0, -1, i])[-1]


def next_in_numpy(logits):
    return np.argmax(logits.detach().numpy()[0][-1])


def next_by_a_loop(logits):
    best, row = 0, logits.squeeze(0)[-1].tolist()
    for i, z in enumerate(row):
        if z > row[best]:
            best = i
    return best


def scored_by_a_loop(pairs, translate):
    found = {}
    for number, source, target in pairs:
        found[number] = translate(source).split() == target.split()
    return found


def scored_word_for_word(pairs, translate):
    def same(a, b):
        return len(a) == len(b) and all(x == y for x, y in zip(a, b, strict=True))

    return dict((p.number, same(translate(p.source).split(" "), p.target.split(" "))) for p in pairs)


def scored_as_ones_and_zeros(pairs, translate):
    return {p[0]: int(translate(p[1]).__eq__(p[2])) for p in pairs}


def scored_in_a_defaultdict(pairs, translate):
    found = defaultdict(bool)
    for pair in pairs:
        found[pair.number] |= pair.target == translate(pair.source)
    return found


def share_with_counters(right, kind):
    size, good = Counter(), Counter()
    for number, ok in right.items():
        size[kind(number)] += 1
        good[kind(number)] += ok
    return {name: good[name] / size[name] for name in size}


def share_of_each_set(right, kind):
    kinds = {kind(number) for number in right}
    return {name: mean(float(ok) for number, ok in right.items() if kind(number) == name) for name in kinds}


def share_as_running_mean(right, kind):
    share, seen = {}, {}
    for number, ok in right.items():
        name = kind(number)
        seen[name] = seen.get(name, 0) + 1
        share[name] = share.get(name, 0.0) + (ok - share.get(name, 0.0)) / seen[name]
    return share


def share_in_torch(right, kind):
    names = [kind(number) for number in right]
    values = torch.tensor([float(ok) for ok in right.values()])
    return {name: values[torch.tensor([other == name for other in names])].mean() for name in names}


RIGHT = {
    "next_id": named(next_by_sorting, next_in_numpy, next_by_a_loop)
    | {
        "next_by_topk": lambda logits: logits[:, -1].topk(1).indices,
        "next_of_the_softmax": lambda logits: logits.softmax(dim=-1)[..., -1, :].argmax(),
    },
    "scored": named(scored_by_a_loop, scored_word_for_word, scored_as_ones_and_zeros, scored_in_a_defaultdict),
    "share_by_kind": named(share_with_counters, share_of_each_set, share_as_running_mean, share_in_torch),
}
