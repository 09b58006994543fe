"""Wrong answers to the lesson's exercises, unlike any in the bank: none may pass."""

import math

import torch

from answer_tables import named


def perplexity_of_the_median(logits, targets):
    log_p = logits.log_softmax(-1)[torch.arange(len(targets)), targets]
    return (-log_p.median()).exp()


def write_on_with_an_axis_too_many(model, ids, n, context, choose):
    """`choose` gets (1, V)."""
    for _ in range(n):
        ids = [*ids, choose(model(torch.tensor([ids[-context:]]))[:, -1])]
    return ids


def questions_once_a_name(words, names, context):
    """Each name asks once, at its second mention."""
    seconds = {name: [t for t, word in enumerate(words) if word == name][1:2] for name in names}
    return sorted((t, words[t] in words[max(0, t - context) : t]) for ts in seconds.values() for t in ts)


def score_by_the_median_rival(model, words, questions, context):
    leads = {True: [], False: []}
    for t, visible in questions:
        p = model(words[max(0, t - context) : t])
        rivals = sorted(math.log(q) for name, q in p.items() if name != words[t])
        leads[visible].append(math.log(p[words[t]]) - rivals[len(rivals) // 2])
    return [sum(group) / max(1, len(group)) for group in leads.values()]


UNLIKE = {
    "memory_questions": named(questions_once_a_name),
    "memory_score": named(score_by_the_median_rival),
    "perplexity": named(perplexity_of_the_median),
    "write_on": named(write_on_with_an_axis_too_many),
    "entropy_floor": {
        "of_the_even_source": lambda p, lengths: torch.tensor(float(len(p))).log() / (p * lengths).sum(),
    },
    "per_character": {
        "mean_word_length_rounded": lambda per_word, words, characters: per_word ** (1 / round(characters / words + 1)),
    },
}
