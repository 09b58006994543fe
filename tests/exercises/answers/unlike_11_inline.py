"""Wrong answers to the exercises inside notebook 11, unlike any in the bank: none may pass."""

import torch

from answers.tables import named


def greedy_that_stops_at_a_repetition(model, begin, end, most):
    new = []
    while len(new) < most:
        new.append(model(torch.tensor([begin + new]))[0, -1].argmax().item())
        if new[-1] == end or new[-1] in new[:-1]:
            break
    return new


def top_p_of_two_at_least(p, enough):
    ranked, order = p.sort(descending=True)
    stays = ranked.cumsum(0) - ranked < enough
    stays[:2] = True
    return stays[order.argsort()]


def penalised_towards_the_mean(logits, written, penalty):
    new = logits.clone()
    new[written] = logits.mean() + (logits[written] - logits.mean()) / penalty
    return new


UNLIKE = {
    "greedy": named(greedy_that_stops_at_a_repetition),
    "top_p": named(top_p_of_two_at_least),
    "penalised": named(penalised_towards_the_mean),
}
