"""Right answers to the lesson's exercises by other algorithms: all must pass."""

import math
from fractions import Fraction
from itertools import accumulate, combinations
from statistics import mode

import numpy as np
import torch
import torch.nn.functional as F

from answer_tables import named

# --- is_right


def right_by_parts(text):
    problem, written = text.split("=", maxsplit=1)
    pieces = written.split("A")
    return len(pieces) == 2 and pieces[1] == str(sum(map(int, problem)))[-1] + "."


def right_by_places(text):
    cut = text.index("=")
    signs = [place for place, one in enumerate(text) if one == "A" and place > cut]
    total = 0
    for one in text[:cut]:
        total = (total + ord(one) - ord("0")) % 10
    return len(signs) == 1 and text[signs[0] :] == "A" + str(total) + "."


# --- score


def score_by_one_hot(logits, action):
    return F.one_hot(torch.tensor(action), len(logits)) - logits.softmax(0)


def score_of_numpy(logits, action):
    e = np.exp(logits.numpy() - logits.numpy().max())
    return (np.arange(len(e)) == action).astype(np.float32) - e / e.sum()


# --- group_advantages_step
def advantages_group_by_group(rewards):
    return torch.stack([(group - group.mean()) / (group.std() + 1e-4) for group in rewards])


def advantages_by_a_matrix(rewards):
    G = rewards.shape[1]
    centred = rewards @ (torch.eye(G) - 1 / G)
    return centred / (centred.pow(2).sum(1, keepdim=True).div(G - 1).sqrt() + 1e-4)


# --- answer_log_probs_step
def read_by_cross_entropy(logits, ids, answer):
    target = ids.masked_fill(~answer, -100)[:, 1:]
    return -F.cross_entropy(logits[:, :-1].mT, target, reduction="none")


def read_place_by_place(logits, ids, answer):
    out = torch.zeros(ids.shape[0], ids.shape[1] - 1)
    for n, t in answer.nonzero().tolist():
        out[n, t - 1] = logits[n, t - 1, ids[n, t]] - logits[n, t - 1].logsumexp(0)
    return out


# --- policy_loss_step
def loss_by_einsum(log_p, advantages, answer):
    return -torch.einsum("n,nt->", advantages, log_p) / answer.sum()


def loss_with_a_mask(log_p, advantages, answer):
    mask = answer[:, 1:].float()
    return ((-advantages).unsqueeze(1).expand_as(log_p) * log_p * mask).sum() / mask.sum()


# --- right at k
def at_k_by_products(n, c, k):
    return 1 - math.prod(1 - k / i for i in range(n - c + 1, n + 1)) if n - c >= k else 1.0


def at_k_one_after_the_other(n, c, k):
    wrong = Fraction(1)
    for taken in range(k):
        wrong *= Fraction(max(0, n - c - taken), n - taken)
    return 1 - wrong


def curve_as_a_tensor(right, ks, at_k):
    return torch.tensor([[at_k(len(row), int(row.sum()), k) for k in ks] for row in right]).mean(0)


def curve_by_all_choices(right, ks, at_k):
    found = []
    for k in ks:
        choices = [right[:, list(chosen)].any(1).double() for chosen in combinations(range(right.shape[1]), k)]
        found.append(torch.stack(choices).mean().item())
    return found


# --- clipped_step
def clipped_by_cases(log_p, old_log_p, advantages, clip):
    ratio, A = torch.exp(log_p - old_log_p), advantages.unsqueeze(1)
    return torch.where(A >= 0, ratio.clamp(max=1 + clip), ratio.clamp(min=1 - clip)) * A


def clipped_by_stack(log_p, old_log_p, advantages, clip):
    ratio = log_p.exp() / old_log_p.exp()
    return torch.stack([r * advantages[:, None] for r in (ratio, ratio.clip(1 - clip, 1 + clip))]).amin(0)


# --- kl_k3


def k3_by_expm1(log_p, reference_log_p):
    return torch.expm1(reference_log_p - log_p) + log_p - reference_log_p


def k3_number_by_number(log_p, reference_log_p):
    pairs = zip(log_p.flatten().tolist(), reference_log_p.flatten().tolist(), strict=True)
    return torch.tensor([math.exp(b - a) - (b - a) - 1 for a, b in pairs]).view_as(log_p)


# --- votes


def vote_by_mode(answers):
    return mode(filter(None, answers))


def vote_by_dict(answers):
    counts: dict = {}
    for one in filter(lambda one: one is not None, answers):
        counts[one] = counts.get(one, 0) + 1
    return max(counts, key=counts.get, default=None)


def spent_by_accumulate(answers, tokens, truths, budget, vote):
    right = [
        vote([a for a, spent in zip(given, accumulate(costs), strict=True) if spent <= budget]) == truth
        for given, costs, truth in zip(answers, tokens, truths, strict=True)
    ]
    return sum(right) / len(right)


def spent_as_a_fraction(answers, tokens, truths, budget, vote):
    def of(problem):
        return vote([a for n, a in enumerate(answers[problem]) if sum(tokens[problem][: n + 1]) <= budget])

    return Fraction(sum(of(p) == truths[p] for p in range(len(truths))), len(truths))


RIGHT = {
    "is_right": named(right_by_parts, right_by_places),
    "score": named(score_by_one_hot, score_of_numpy),
    "group_advantages_step": named(advantages_group_by_group, advantages_by_a_matrix),
    "answer_log_probs_step": named(read_by_cross_entropy, read_place_by_place),
    "policy_loss_step": named(loss_by_einsum, loss_with_a_mask),
    "right_at_k_step1": named(at_k_by_products, at_k_one_after_the_other),
    "right_at_k_step2": named(curve_as_a_tensor, curve_by_all_choices),
    "clipped_step": named(clipped_by_cases, clipped_by_stack),
    "kl_k3": named(k3_by_expm1, k3_number_by_number),
    "majority_step1": named(vote_by_mode, vote_by_dict),
    "majority_step2": named(spent_by_accumulate, spent_as_a_fraction),
}
