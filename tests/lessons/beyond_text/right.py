"""Right answers to the lesson's exercises by other algorithms: all must pass."""

import math

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


def patches_by_unfold(pictures, P):
    return F.unfold(pictures[:, None], P, stride=P).mT


def patches_by_chunks(pictures, P):
    rows = [torch.cat(row.split(P, dim=2), 1).unflatten(1, (-1, P)).flatten(2) for row in pictures.split(P, dim=1)]
    return torch.cat(rows, 1)


def scores_by_cosine_similarity(pictures, captions, temperature):
    return F.cosine_similarity(pictures[:, None], captions[None], dim=-1) / temperature


def scores_by_loops(pictures, captions, temperature):
    return torch.stack([torch.stack([(p @ c) / p.norm() / c.norm() / temperature for c in captions]) for p in pictures])


def loss_by_log_softmax(scores):
    return -(scores.log_softmax(1).diagonal().mean() + scores.log_softmax(0).diagonal().mean()) / 2


def loss_by_both_in_one(scores):
    return F.cross_entropy(torch.cat([scores, scores.mT]), torch.arange(len(scores)).repeat(2))


def chances_by_exp(pictures, captions, temperature):
    classes = captions.mean(1)
    grown = (F.cosine_similarity(pictures[:, None], classes, dim=-1) / temperature).exp()
    return grown / grown.sum(1, keepdim=True)


def chances_by_log(pictures, captions, temperature):
    classes = F.normalize(torch.stack([group.mean(0) for group in captions]), dim=-1)
    return F.log_softmax(pictures @ classes.T / temperature, dim=-1).exp()


def row_by_embedding(patches, question, answer, W, E):
    words = torch.cat([question, answer], 1)
    row = torch.cat([F.linear(patches, W.T), F.embedding(words, E)], 1)
    after = torch.cat([torch.zeros(patches.shape[:2], dtype=torch.long), words], 1).roll(-1, 1)
    place = torch.arange(row.shape[1])
    first = patches.shape[1] + question.shape[1] - 1
    asked = (place >= first) & (place < row.shape[1] - 1)
    return row, after.masked_fill(~asked, -100)


def row_by_loops(patches, question, answer, W, E):
    rows, targets = [], []
    for picture, asked, said in zip(patches, question.tolist(), answer.tolist(), strict=True):
        rows.append(torch.stack([*(patch @ W for patch in picture), *(E[word] for word in asked + said)]))
        targets.append([-100] * (len(picture) + len(asked) - 1) + said + [-100])
    return torch.stack(rows), torch.tensor(targets)


RIGHT = {
    "patches_of": named(patches_by_unfold, patches_by_chunks),
    "picture_of": named(picture_by_loops, picture_by_fold),
    "caption_scores": named(scores_by_cosine_similarity, scores_by_loops),
    "contrastive_loss": named(loss_by_log_softmax, loss_by_both_in_one),
    "picture_row": named(row_by_embedding, row_by_loops),
    "class_chances": named(chances_by_exp, chances_by_log),
}
