"""Wrong answers to the exercises inside notebook 11, unlike any in the bank: none may pass."""

import torch

from answers.tables import named


def greedy_in_one_pass(model, begin, end, most):
    return model(torch.tensor([begin]))[0].argmax(-1).tolist()[:most]


def greedy_without_the_first_tokens(model, begin, end, most):
    new = []
    for _ in range(most):
        new.append(model(torch.tensor([(begin + new)[-3:]]))[0, -1].argmax().item())
        if new[-1] == end:
            break
    return new


def greedy_that_stops_at_a_repetition(model, begin, end, most):
    new = []
    while len(new) < most:
        new.append(model(torch.tensor([begin + new]))[0, -1].argmax().item())
        if new[-1] == end or new[-1] in new[:-1]:
            break
    return new


def greedy_of_the_second_best(model, begin, end, most):
    new = []
    while len(new) < most and end not in new:
        new.append(model(torch.tensor([begin + new]))[0, -1].topk(2).indices[1].item())
    return new


def top_p_of_two_at_least(p, enough):
    ranked, order = p.sort(descending=True)
    stays = ranked.cumsum(0) - ranked < enough
    stays[:2] = True
    return stays[order.argsort()]


def top_p_of_the_share_of_the_largest(p, enough):
    return p >= p.max() * (1 - enough)


def top_p_of_a_count(p, enough):
    return p >= p.topk(max(1, round(enough * len(p) / 2))).values[-1]


def penalised_towards_the_mean(logits, written, penalty):
    new = logits.clone()
    new[written] = logits.mean() + (logits[written] - logits.mean()) / penalty
    return new


def penalised_after_a_shift(logits, written, penalty):
    shifted = logits - logits.max()
    new = shifted.clone()
    new[written] = shifted[written] * penalty
    return new


def penalised_probabilities(logits, written, penalty):
    p = logits.softmax(-1)
    p[written] = p[written] / penalty
    return (p / p.sum()).log()


UNLIKE = {
    "greedy": named(
        greedy_in_one_pass,
        greedy_without_the_first_tokens,
        greedy_that_stops_at_a_repetition,
        greedy_of_the_second_best,
    ),
    "top_p": named(top_p_of_two_at_least, top_p_of_the_share_of_the_largest, top_p_of_a_count),
    "penalised": named(penalised_towards_the_mean, penalised_after_a_shift, penalised_probabilities),
}
