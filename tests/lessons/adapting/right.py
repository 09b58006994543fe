"""Right answers to the lesson's exercises in unusual forms: all must pass."""

import math

import torch
import torch.nn.functional as F

from answer_tables import named


def lora_merged(x, W, A, B, alpha):
    return F.linear(x, W + alpha / A.shape[0] * (B @ A))


def lora_by_einsum(x, W, A, B, alpha):
    r = B.shape[1]
    return torch.einsum("...d,fd->...f", x, W) + torch.einsum("...d,rd,fr->...f", x, A, B) * alpha / r


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


class LayerByEinsum(LayerByFunctions):
    def forward(self, x):
        return self.frozen(x) + torch.einsum("...d,rd,fr->...f", x, self.A, self.B).mul(self.alpha / self.rank)


class LayerDetached(LayerByFunctions):
    def merged(self):
        return self.frozen.weight.detach() + sum(
            self.alpha / self.rank * torch.outer(self.B[:, r], self.A[r]) for r in range(self.rank)
        )


def labels_by_cumsum(ids, assistant, end):
    ids = torch.tensor(ids)
    now = ids[:-1]
    opened, closed = (now == assistant).cumsum(0), (now == end).cumsum(0)
    return ids[1:].masked_fill(opened == closed, -100)


def labels_by_last_sign(ids, assistant, end):
    found = []
    for place in range(1, len(ids)):
        signs = [token for token in ids[:place] if token in (assistant, end)]
        found.append(ids[place] if signs and signs[-1] == assistant else -100)
    return found


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


def dpo_by_bce(better, worse, ref_better, ref_worse, beta):
    moved = beta * (better - worse - (ref_better - ref_worse))
    return F.binary_cross_entropy_with_logits(moved, torch.ones_like(moved))


def dpo_by_logaddexp(better, worse, ref_better, ref_worse, beta):
    moved = beta * ((better - ref_better) - (worse - ref_worse))
    return torch.logaddexp(torch.zeros(1), -moved).mean()


def dpo_by_hand(better, worse, ref_better, ref_worse, beta):
    losses = []
    for c, r, c0, r0 in zip(*(x.tolist() for x in (better, worse, ref_better, ref_worse)), strict=True):
        z = beta * ((c - c0) - (r - r0))
        losses.append(math.log1p(math.exp(-abs(z))) + max(0.0, -z))
    return sum(losses) / len(losses)


RIGHT = {
    "lora_output": named(lora_merged, lora_by_einsum, lora_side_by_side, lora_of_columns),
    "LoRALayer": named(LayerByFunctions, LayerOfLinears, LayerByEinsum, LayerDetached),
    "chat_labels": named(labels_by_cumsum, labels_by_last_sign, labels_by_answers, labels_by_recursion),
    "dpo_loss": named(dpo_by_two_classes, dpo_by_bce, dpo_by_logaddexp, dpo_by_hand),
}
