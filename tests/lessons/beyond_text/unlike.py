"""Wrong answers to the lesson's exercises, unlike any in the bank: none may pass."""

import math

import torch
import torch.nn.functional as F

from answer_tables import named


def picture_in_half_precision(tokens, H, W):
    P = math.isqrt(tokens.shape[-1])
    return F.fold(tokens.mT, (H, W), kernel_size=P, stride=P)[:, 0].half().float()


def patches_right_if_square(pictures, P):
    B, H, W = pictures.shape
    return pictures.reshape(B, W // P, P, H // P, P).transpose(2, 3).reshape(B, -1, P * P)


def scores_with_a_joint_length(pictures, captions, temperature):
    return pictures @ captions.T / (pictures.norm() * captions.norm()) / temperature


def loss_without_the_pair_below(scores):
    others = scores.masked_fill(torch.eye(len(scores), dtype=torch.bool), -math.inf)
    return (others.logsumexp(0) + others.logsumexp(1) - 2 * scores.diagonal()).mean() / 2


def mask_without_lonely_nodes(edges, N):
    mask = torch.zeros(N, N, dtype=torch.bool)
    for a, b in edges:
        mask[a, b] = mask[b, a] = mask[a, a] = mask[b, b] = True
    return mask


def chances_of_captions_added(pictures, captions, temperature):
    classes = F.normalize(captions.sum((0, 1), keepdim=True) - captions.sum(1), dim=-1)[0]
    return (-pictures @ classes.T / temperature).softmax(-1)


def codes_of_whole_numbers(x, codebook):
    return torch.cdist(x.round(), codebook.round()).argmin(-1)


def sound_with_the_first_strength_lost(wave, width, hop, window):
    strengths = torch.fft.rfft(wave.unfold(0, width, hop) * window).abs()
    return torch.cat([torch.zeros_like(strengths[:, :1]), strengths[:, 1:]], 1)


UNLIKE = {
    "patches_of": named(patches_right_if_square),
    "caption_scores": named(scores_with_a_joint_length),
    "contrastive_loss": named(loss_without_the_pair_below),
    "neighbour_mask": named(mask_without_lonely_nodes),
    "class_chances": named(chances_of_captions_added),
    "nearest_codes": named(codes_of_whole_numbers),
    "sound_tokens": named(sound_with_the_first_strength_lost),
    "picture_of": named(
        picture_in_half_precision,
    ),
}
