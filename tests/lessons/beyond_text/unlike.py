"""Wrong answers to the lesson's exercises, unlike any in the bank: none may pass."""

import math

import torch
import torch.nn.functional as F

from answer_tables import named


def picture_in_half_precision(tokens, H, W):
    P = math.isqrt(tokens.shape[-1])
    return F.fold(tokens.mT, (H, W), kernel_size=P, stride=P)[:, 0].half().float()


UNLIKE = {
    "picture_of": named(
        picture_in_half_precision,
    ),
}
