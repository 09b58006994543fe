"""Right answers to the lesson's exercises in unusual forms: all must pass."""

import math

import numpy as np
import torch
import torch.nn.functional as F

from answer_tables import named


def picture_by_loops(tokens, H, W):
    P = round(tokens.shape[-1] ** 0.5)
    pictures = torch.empty(len(tokens), H, W)
    for n in range(tokens.shape[1]):
        top, left = n // (W // P) * P, n % (W // P) * P
        pictures[:, top : top + P, left : left + P] = tokens[:, n].reshape(-1, P, P)
    return pictures


def picture_by_fold(tokens, H, W):
    P = math.isqrt(tokens.shape[2])
    return F.fold(tokens.transpose(1, 2), (H, W), kernel_size=P, stride=P).squeeze(1)


def picture_by_joining(tokens, H, W):
    P = int(math.sqrt(tokens.shape[-1]))
    rows = tokens.unflatten(-1, (P, P)).split(W // P, dim=1)
    return torch.cat([torch.cat(row.unbind(1), dim=-1) for row in rows], dim=1)


def picture_by_pixel_shuffle(tokens, H, W):
    P = math.isqrt(tokens.shape[-1])
    return F.pixel_shuffle(tokens.mT.reshape(-1, P * P, H // P, W // P), P)[:, 0]


RIGHT = {
    "picture_of": named(picture_by_loops, picture_by_fold, picture_by_joining, picture_by_pixel_shuffle),
}
