"""Right answers to the lesson's exercises by other algorithms: all must pass."""

import math

import numpy as np
import torch

from answer_tables import named


def attention_fused(Q, K, V, hidden, real):
    mask = hidden.logical_not() & real
    return torch.nn.functional.scaled_dot_product_attention(Q[None], K[None], V[None], attn_mask=mask[None])[0]


def attention_row_by_row(Q, K, V, hidden, real):
    rows = []
    for q, barred in zip(Q, hidden, strict=True):
        allowed = ~barred & real
        w = torch.softmax(K[allowed].double() @ q.double() / len(q) ** 0.5, 0)
        rows.append(w @ V[allowed].double())
    return torch.stack(rows)


def safe_times_mask(scores, bias):
    mask = bias == 0
    return torch.softmax(torch.where(mask, scores, torch.tensor(-1e9)), dim=-1) * mask


def safe_by_rows(scores, bias):
    weights = torch.zeros_like(scores)
    for row, allowed in enumerate(bias > -1):
        if allowed.any():
            weights[row, allowed] = scores[row, allowed].softmax(0)
    return weights


def both_by_comparison(ids, pad):
    t = torch.arange(ids.shape[1])
    return (t[:, None] > t)[None, None] & ids.ne(pad)[:, None, None] | (t[:, None] == t)


def both_by_loops(ids, pad):
    T = range(ids.shape[1])
    return torch.tensor([[[[s == t or (s < t and row[s] != pad) for s in T] for t in T]] for row in ids.tolist()])


def window_by_rows(T, w, g):
    mask = torch.zeros(T, T, dtype=torch.bool)
    for t in range(T):
        mask[t, max(0, t - w + 1) : t + 1] = True
        mask[t, : min(g, t + 1)] = True
    return mask


def weights_over_allowed_keys_alone(scores, mask):
    mask = mask.expand(scores.shape)
    weights = torch.zeros(scores.shape)
    for place in np.ndindex(*scores.shape[:-1]):
        weights[place][mask[place]] = scores[place][mask[place]].softmax(0)
    return weights


def sizes_by_loops(J):
    return [[J[i, :, j].norm().item() for j in range(J.shape[2])] for i in range(J.shape[0])]


def packed_by_loops(documents):
    d = documents.tolist()
    return [[d[s] == d[t] and s <= t for s in range(len(d))] for t in range(len(d))]


def packed_by_positions(documents):
    t = torch.arange(len(documents))
    return torch.logical_and(documents.unsqueeze(1).eq(documents), t.unsqueeze(1).ge(t))


def row_by_loops(texts, mask_of):
    ids, positions, targets, documents = [], [], [], []
    for number, text in enumerate(texts):
        for place, one in enumerate(text.tolist()):
            ids.append(one)
            positions.append(place)
            targets.append(text[place + 1].item() if place + 1 < len(text) else -100)
            documents.append(number)
    return {
        "ids": torch.tensor(ids),
        "positions": torch.tensor(positions),
        "targets": torch.tensor(targets),
        "mask": mask_of(torch.tensor(documents)),
    }


def row_by_repeats(texts, mask_of):
    lengths = torch.tensor([len(text) for text in texts])
    ids, ends = torch.cat(texts), lengths.cumsum(0)
    targets = ids.roll(-1)
    targets[ends - 1] = -100
    documents = torch.arange(len(texts)).repeat_interleave(lengths)
    positions = torch.arange(len(ids)) - (ends - lengths).repeat_interleave(lengths)
    return dict(mask=mask_of(documents), targets=targets, positions=positions, ids=ids)


def prefix_by_rows(T, p):
    return [[s < max(p, t + 1) for s in range(T)] for t in range(T)]


RIGHT = {
    "packed_mask": named(packed_by_loops, packed_by_positions),
    "pack_row": named(row_by_loops, row_by_repeats),
    "prefix_mask": named(prefix_by_rows)
    | {
        "prefix_by_length": lambda T, p: torch.arange(T) < (torch.arange(T) + 1).clamp(min=p)[:, None],
    },
    "no_look_ahead": {
        "back_by_sums": lambda T: torch.eye(T).cumsum(0) > 0,
        "back_by_loops": lambda T: [[s <= t for s in range(T)] for t in range(T)],
    },
    "masked_weights": named(weights_over_allowed_keys_alone)
    | {
        "weights_by_logsumexp": lambda scores, mask: (
            (z := torch.where(mask, scores, -torch.inf)) - z.logsumexp(-1, keepdim=True)
        ).exp(),
    },
    "block_sizes": named(sizes_by_loops)
    | {
        "sizes_by_einsum": lambda J: torch.einsum("iajb,iajb->ij", J, J) ** 0.5,
    },
    "causal_square": {
        "causal_by_loops": lambda T: [[0.0 if s <= t else -math.inf for s in range(T)] for t in range(T)],
        "causal_by_pytorch": lambda T: torch.nn.Transformer.generate_square_subsequent_mask(T),
    },
    "padding_keys": {
        "padding_by_comparison": lambda lengths, S: ~torch.arange(S).ge(lengths.unsqueeze(1)).unsqueeze(1).unsqueeze(2),
        "padding_by_loops": lambda lengths, S: [[[[s < n for s in range(S)]]] for n in lengths.tolist()],
    },
    "masked_attention": named(attention_fused, attention_row_by_row),
    "safe_weights": named(safe_times_mask, safe_by_rows),
    "decoder_mask": named(both_by_comparison, both_by_loops),
    "window_mask": named(window_by_rows)
    | {
        "window_by_loops": lambda T, w, g: [[s <= t and (s < g or s > t - w) for s in range(T)] for t in range(T)],
    },
}
