"""Wrong answers to the lesson's exercises, unlike any in the bank: none may pass."""

import math

import torch
import torch.nn.functional as F

from answer_tables import named


def grouped_with_capped_scores(q, k, v):
    """As Gemma 2 does it: nearly right, since the scores are small."""
    H, K = len(q), q.shape[-1]
    k, v = (x.repeat_interleave(H // len(x), 0) for x in (k, v))
    return (50 * torch.tanh(q @ k.mT / math.sqrt(K) / 50)).softmax(-1) @ v


def grouped_by_strides_of_two(q, k, v):
    """Two query heads to a key, whatever H/G is."""
    own = (torch.arange(len(q)) // 2).clamp(max=len(k) - 1)
    return F.scaled_dot_product_attention(q, k[own], v[own])


def routed_by_absolute_logits(logits, k):
    """Right where the chosen logits are positive."""
    places = logits.abs().topk(k).indices
    return torch.zeros_like(logits).scatter(-1, places, logits.gather(-1, places).softmax(-1))


def balanced_over_used_experts(probabilities, chosen):
    """The factor is the number of experts that got a token: right if all of them did."""
    E = probabilities.shape[1]
    f = torch.bincount(chosen, minlength=E) / len(chosen)
    return (f > 0).sum() * f @ probabilities.mean(0)


def balanced_by_soft_counts(probabilities, chosen):
    f = torch.bincount(chosen, minlength=probabilities.shape[1]).sqrt() / math.sqrt(len(chosen))
    return probabilities.shape[1] * (f / f.sum()) @ probabilities.mean(0)


def directions_of_the_strong_half(G):
    U, S, Vh = torch.linalg.svd(G, full_matrices=False)
    return (U * (S.mean() < S)) @ Vh


def muon_that_changes_the_gradient(W, M, G, rate, keep, directions):
    M = keep * M + G.mul_(1 - keep)
    return W - rate * math.sqrt(max(1, len(W) / len(W.T))) * directions(M), M


def muon_with_adams_length(W, M, G, rate, keep, directions):
    """Scaled to the size of AdamW's steps, as in Liu et al. 2025."""
    M = keep * M + (1 - keep) * G
    return W - 0.2 * math.sqrt(max(W.shape)) * rate * directions(M), M


def gated_with_a_clipped_gate(x, W_gate, W_up, W_down):
    return (F.hardswish(x @ W_gate) * (x @ W_up)) @ W_down


def chosen_above_the_mean(p, bias):
    """Several experts, where more than one stands out."""
    preference = p + bias
    return p * (preference > preference.mean(-1, keepdim=True) + preference.std(-1, keepdim=True))


def balanced_by_relative_load(p, rate, rounds, choose):
    bias = torch.zeros(p.shape[1])
    for _ in range(rounds):
        load = (choose(p, bias) > 0).float().mean(0)
        bias = bias + rate * (1 - p.shape[1] * load).clamp(-1, 1)
    return bias


UNLIKE = {
    "gated_layer": named(gated_with_a_clipped_gate),
    "choose_expert": named(chosen_above_the_mean),
    "balance_bias": named(balanced_by_relative_load),
    "all_directions": named(directions_of_the_strong_half),
    "muon_step": named(muon_that_changes_the_gradient, muon_with_adams_length),
    "grouped_attention": named(grouped_with_capped_scores, grouped_by_strides_of_two),
    "route_tokens": named(routed_by_absolute_logits),
    "balance_penalty": named(balanced_over_used_experts, balanced_by_soft_counts),
}
