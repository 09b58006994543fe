"""Wrong answers to the lesson's exercises, unlike any in the bank: none may pass."""

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


UNLIKE = {
    "perplexity": named(perplexity_of_the_median),
    "write_on": named(write_on_with_an_axis_too_many),
    "entropy_floor": {
        "of_the_even_source": lambda p, lengths: torch.tensor(float(len(p))).log() / (p * lengths).sum(),
    },
    "per_character": {
        "mean_word_length_rounded": lambda per_word, words, characters: per_word ** (1 / round(characters / words + 1)),
    },
}
