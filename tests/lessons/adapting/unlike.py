"""Wrong answers to the lesson's exercises, unlike any in the bank: none may pass."""

import torch
import torch.nn.functional as F

from answer_tables import named


def lora_in_half_precision(x, W, A, B, alpha):
    update = (alpha / len(A) * (B @ A)).half()
    return x @ (W + update.float()).T


def lora_whose_update_is_transposed(x, W, A, B, alpha):
    """Only where W is square; right where it is symmetric."""
    update = alpha / len(A) * (B @ A)
    return x @ (W + (update.T if W.shape[0] == W.shape[1] else update)).T


class LayerScaledByTheRank(torch.nn.Module):
    """The factor is 1/rank: right only where alpha is 1."""

    def __init__(self, linear, rank, alpha):
        super().__init__()
        self.linear = linear.requires_grad_(False)
        self.A = torch.nn.Parameter(torch.randn(rank, linear.in_features))
        self.B = torch.nn.Parameter(torch.zeros(linear.out_features, rank))

    def merged(self):
        return self.linear.weight + self.B @ self.A / len(self.A)

    def forward(self, x):
        return F.linear(x, self.merged())


class LayerUnderNoGrad(LayerScaledByTheRank):
    def __init__(self, linear, rank, alpha):
        super().__init__(linear, rank, alpha)
        self.alpha = alpha

    def merged(self):
        return self.linear.weight + self.B @ self.A * self.alpha / len(self.A)

    @torch.no_grad()
    def forward(self, x):
        return F.linear(x, self.merged())


class LayerWithBDetached(LayerUnderNoGrad):
    def forward(self, x):
        return self.linear(x) + x @ self.A.T @ self.B.detach().T * self.alpha / len(self.A)


class LayerMergedForGood(LayerUnderNoGrad):
    """Works until it is merged; from then on the update counts twice."""

    def forward(self, x):
        return self.linear(x) + x @ self.A.T @ self.B.T * self.alpha / len(self.A)

    def merged(self):
        with torch.no_grad():
            self.linear.weight.add_(super().merged() - self.linear.weight)
        return self.linear.weight


class LayerOfOneDirection(LayerMergedForGood):
    def __init__(self, linear, rank, alpha):
        super().__init__(linear, rank, alpha)
        self.A.data.fill_(0.1)

    def merged(self):
        return LayerUnderNoGrad.merged(self)


class LayerTurned(LayerScaledByTheRank):
    """A is (D, rank)."""

    def __init__(self, linear, rank, alpha):
        super().__init__(linear, rank, alpha)
        self.A = torch.nn.Parameter(self.A.detach().T.contiguous())

    def merged(self):
        return self.linear.weight + self.B @ self.A.T


def labels_without_an_answer_cut_off(ids, assistant, end):
    """An answer that is not closed is not scored."""
    targets, place = [-100] * len(ids), 0
    while assistant in ids[place:] and end in ids[ids.index(assistant, place) :]:
        first = ids.index(assistant, place) + 1
        place = ids.index(end, first) + 1
        targets[first:place] = ids[first:place]
    return targets[1:]


def dpo_with_a_clamp(better, worse, ref_better, ref_worse, beta):
    p = torch.sigmoid(beta * ((better - ref_better) - (worse - ref_worse)))
    return -p.clamp(min=1e-8).log().mean()


def log_p_without_token_0(logits, targets):
    """Token 0 is taken for padding, wherever it stands."""
    logs = logits.log_softmax(-1).gather(-1, targets.clamp(min=0).unsqueeze(-1)).squeeze(-1)
    return (logs * (targets > 0)).sum(-1)


def log_p_rounded_to_zero(logits, targets):
    p = logits.softmax(-1).gather(-1, targets.clamp(min=0).unsqueeze(-1)).squeeze(-1)
    return torch.where(targets == -100, 0.0, p.clamp(min=1e-30).log()).sum(-1)


def drift_both_ways(logits, reference, targets):
    """The mean of both directions, as Jeffreys proposed."""
    log_p, log_q = logits.log_softmax(-1), reference.log_softmax(-1)
    both = ((log_p.exp() - log_q.exp()) * (log_p - log_q)).sum(-1) / 2
    return (both * (targets != -100)).sum(-1)


UNLIKE = {
    "lora_output": named(lora_in_half_precision, lora_whose_update_is_transposed),
    "LoRALayer": named(
        LayerScaledByTheRank,
        LayerUnderNoGrad,
        LayerWithBDetached,
        LayerMergedForGood,
        LayerOfOneDirection,
        LayerTurned,
    ),
    "chat_labels": named(
        labels_without_an_answer_cut_off,
    ),
    "answer_log_p": named(log_p_without_token_0, log_p_rounded_to_zero),
    "drift_in_nats": named(
        drift_both_ways,
    ),
    "dpo_loss": named(
        dpo_with_a_clamp,
    ),
}
