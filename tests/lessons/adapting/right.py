"""Right answers to the lesson's exercises by other algorithms: all must pass."""

import math

import torch
import torch.nn.functional as F

from answer_tables import named


def lora_side_by_side(x, W, A, B, alpha):
    both = torch.cat([x @ W.T, x @ A.T * (alpha / len(A))], dim=-1)
    return both @ torch.cat([torch.eye(len(W)), B.T])


def lora_of_columns(x, W, A, B, alpha):
    columns = x.reshape(-1, x.shape[-1]).T
    out = W @ columns + B @ ((alpha / A.shape[0]) * (A @ columns))
    return out.T.reshape(*x.shape[:-1], -1)


class LayerByFunctions(torch.nn.Module):
    def __init__(self, linear, rank, alpha):
        super().__init__()
        self.frozen, self.alpha, self.rank = linear, alpha, rank
        for one in linear.parameters():
            one.requires_grad = False
        self.A = torch.nn.Parameter(torch.rand(rank, linear.in_features))
        self.B = torch.nn.Parameter(linear.weight.new_zeros(len(linear.weight), rank))

    def merged(self):
        return torch.addmm(self.frozen.weight, self.B, self.A, alpha=self.alpha / self.rank)

    def forward(self, x):
        return F.linear(x, self.merged())


class LayerOfLinears(LayerByFunctions):
    def forward(self, x):
        return self.frozen(x) + F.linear(F.linear(x, self.A), self.B) * self.alpha / self.rank


class LayerDetached(LayerByFunctions):
    def merged(self):
        return self.frozen.weight.detach() + sum(
            self.alpha / self.rank * torch.outer(self.B[:, r], self.A[r]) for r in range(self.rank)
        )


def labels_by_answers(ids, assistant, end):
    targets, start = [-100] * len(ids), 0
    while assistant in ids[start:]:
        first = ids.index(assistant, start) + 1
        last = ids.index(end, first) + 1 if end in ids[first:] else len(ids)
        targets[first:last], start = ids[first:last], last
    return targets[1:]


def labels_by_recursion(ids, assistant, end, speaks=False):
    if len(ids) < 2:
        return ()
    speaks = ids[0] == assistant or (speaks and ids[0] != end)
    return (ids[1] if speaks else -100, *labels_by_recursion(ids[1:], assistant, end, speaks))


def dpo_by_two_classes(better, worse, ref_better, ref_worse, beta):
    rewards = beta * torch.stack([better - ref_better, worse - ref_worse], dim=-1)
    return F.cross_entropy(rewards, torch.zeros(len(better), dtype=torch.long))


def dpo_by_hand(better, worse, ref_better, ref_worse, beta):
    losses = []
    for c, r, c0, r0 in zip(*(x.tolist() for x in (better, worse, ref_better, ref_worse)), strict=True):
        z = beta * ((c - c0) - (r - r0))
        losses.append(math.log1p(math.exp(-abs(z))) + max(0.0, -z))
    return sum(losses) / len(losses)


def log_p_by_hand(logits, targets):
    found = []
    for rows, asked in zip(logits, targets.tolist(), strict=True):
        found.append(sum(float(row[t] - row.logsumexp(0)) for row, t in zip(rows, asked, strict=True) if t != -100))
    return torch.tensor(found)


def log_p_by_a_distribution(logits, targets):
    scored = targets != -100
    logs = torch.distributions.Categorical(logits=logits).log_prob(torch.where(scored, targets, 0))
    return logs.masked_fill(~scored, 0).sum(1)


def drift_by_distributions(logits, reference, targets):
    one, other = (torch.distributions.Categorical(logits=x) for x in (logits, reference))
    return (torch.distributions.kl_divergence(one, other) * targets.ne(-100)).sum(-1)


def drift_by_chats(logits, reference, targets):
    found = []
    for own, theirs, asked in zip(logits, reference, targets, strict=True):
        log_p, log_q = own[asked != -100].log_softmax(-1), theirs[asked != -100].log_softmax(-1)
        found.append(torch.sum(log_p.exp() * (log_p - log_q)))
    return torch.stack(found)


RIGHT = {
    "lora_output": named(lora_side_by_side, lora_of_columns),
    "LoRALayer": named(LayerOfLinears, LayerDetached),
    "chat_labels": named(labels_by_answers, labels_by_recursion),
    "answer_log_p": named(log_p_by_hand, log_p_by_a_distribution),
    "drift_in_nats": named(drift_by_distributions, drift_by_chats),
    "dpo_loss": named(dpo_by_two_classes, dpo_by_hand),
}
