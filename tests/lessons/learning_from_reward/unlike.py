"""Wrong answers to the lesson's exercises, unlike any in the bank: none may pass."""

import math
from collections import Counter

import torch
import torch.nn.functional as F

from answer_tables import named


def right_if_something_stands_before_the_answer(text):
    problem, _, written = text.partition("=")
    return written.endswith(f"A{sum(map(int, problem)) % 10}.") and written.count("A") == 1 and len(written) > 3


def right_but_for_a_second_sign(text):
    parts = text.split("=")
    return len(parts) == 2 and parts[1][-3:] == f"A{sum(map(int, parts[0])) % 10}." and text.count("A") == 1


def right_wherever_the_only_sign_stands(text):
    problem, _, written = text.partition("=")
    return written.count("A") == 1 and written.partition("A")[2].startswith(f"{sum(map(int, problem)) % 10}.")


def score_in_half_precision(logits, action):
    return (F.one_hot(torch.tensor(action), len(logits)) - logits.half().softmax(-1)).float()


def advantages_by_absolute_deviation(rewards):
    centred = rewards - rewards.mean(1, keepdim=True)
    return centred / (centred.abs().mean(1, keepdim=True) + 1e-4)


def advantages_against_the_median(rewards):
    return (rewards - rewards.median(1, keepdim=True).values) / (rewards.std(1, keepdim=True) + 1e-4)


def read_up_to_the_end_of_the_row(logits, ids, answer):
    """The padding behind an answer counts, too."""
    log_p = logits[:, :-1].log_softmax(-1).gather(-1, ids[:, 1:, None])[..., 0]
    return log_p * (answer.cumsum(1) > 0)[:, 1:]


def read_with_minus_infinity(logits, ids, answer):
    """Where p is too small for float32, ln p is −∞ at a token that was written."""
    p = logits[:, :-1].softmax(-1).gather(-1, ids[:, 1:, None])[..., 0]
    return p.log().masked_fill(~answer[:, 1:], 0.0)


def loss_without_answers_of_no_advantage(log_p, advantages, answer):
    better = advantages > 0.1
    return -(advantages[:, None] * log_p).sum() / answer[better][:, 1:].sum().clamp(min=1)


def at_k_of_a_stream(n, c, k):
    return 1 - math.exp(-k * c / n)


def curve_without_what_is_never_right(right, ks, at_k):
    counts = [c for c in right.sum(1).tolist() if c]
    return [sum(at_k(right.shape[1], c, k) for c in counts) / len(counts) for k in ks]


def clipped_at_the_inverse(log_p, old_log_p, advantages, clip):
    ratio, A = (log_p - old_log_p).exp(), advantages[:, None]
    return torch.minimum(ratio * A, ratio.clamp(1 / (1 + clip), 1 + clip) * A)


def k3_by_its_series(log_p, reference_log_p):
    d = reference_log_p - log_p
    return d**2 / 2 + d**3 / 6


def vote_by_more_than_half(answers):
    votes = [one for one in answers if one is not None]
    best, times = Counter(votes).most_common(1)[0]
    return best if 2 * times > len(votes) else None


def spent_on_what_can_be_read(answers, tokens, truths, budget, vote):
    """Unreadable answers cost nothing."""
    right = 0
    for row, costs, truth in zip(answers, tokens, truths, strict=True):
        written, spent = [], 0
        for one, cost in zip(row, costs, strict=True):
            spent += cost if one is not None else 0
            if spent > budget:
                break
            written.append(one)
        right += vote(written) == truth
    return right / len(truths)


def baseline_of_the_draws_before(logits, actions, rewards):
    before = torch.cat([torch.zeros(1), rewards.cumsum(0)[:-1] / torch.arange(1, len(rewards))])
    return ((rewards - before)[:, None] * (F.one_hot(actions, len(logits)) - logits.softmax(-1))).mean(0)


UNLIKE = {
    "is_right": named(
        right_if_something_stands_before_the_answer, right_but_for_a_second_sign, right_wherever_the_only_sign_stands
    ),
    "score": named(score_in_half_precision),
    "group_advantages_step": named(advantages_by_absolute_deviation, advantages_against_the_median),
    "answer_log_probs_step": named(read_up_to_the_end_of_the_row, read_with_minus_infinity),
    "policy_loss_step": named(loss_without_answers_of_no_advantage),
    "right_at_k_step1": named(at_k_of_a_stream),
    "right_at_k_step2": named(curve_without_what_is_never_right),
    "clipped_step": named(clipped_at_the_inverse),
    "kl_k3": named(k3_by_its_series),
    "majority_step1": named(vote_by_more_than_half),
    "majority_step2": named(spent_on_what_can_be_read),
    "baseline_push": named(baseline_of_the_draws_before),
}
