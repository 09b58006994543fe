"""Wrong answers to the lesson's exercises, unlike any in the bank: none may pass."""

import math

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


UNLIKE = {
    "lora_output": named(lora_in_half_precision, lora_whose_update_is_transposed),
    "chat_labels": named(
        labels_without_an_answer_cut_off,
    ),
    "dpo_loss": named(
        dpo_with_a_clamp,
    ),
}
