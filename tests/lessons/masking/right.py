"""Right answers to the lesson's exercises in unusual forms: all must pass."""

import math

import numpy as np
import torch

from answer_tables import named


def causal_minus_billion(T):  # as good as −∞
    return torch.triu(torch.full((T, T), -1e9, dtype=torch.float64), diagonal=1)


def padding_in_numpy(lengths, S):
    return (np.arange(S)[None] < lengths.numpy()[:, None]).reshape(len(lengths), 1, 1, S)


def padding_filled_in(lengths, S):
    mask = torch.zeros(len(lengths), 1, 1, S, dtype=torch.bool)
    for b, n in enumerate(lengths):
        mask[b, ..., :n] = True
    return mask


def attention_minus_billion(Q, K, V, hidden, real):
    scores = (Q @ K.T) / math.sqrt(K.size(1))
    scores[hidden] = -1e9
    scores[:, ~real] = -1e9
    return torch.softmax(scores, 1) @ V


def attention_additive(Q, K, V, hidden, real):
    bias = torch.zeros(hidden.shape).masked_fill(hidden, float("-inf")).masked_fill(~real[None], float("-inf"))
    return torch.softmax(Q @ K.T * Q.shape[1] ** -0.5 + bias, dim=-1) @ V


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


def attention_without_the_filling(Q, K, V, hidden, real):  # which is cut off beforehand
    K, V, hidden = K[real], V[real], hidden[:, real]
    return (Q @ K.T / Q.shape[1] ** 0.5).masked_fill(hidden, -math.inf).softmax(-1) @ V


def attention_renormalised(Q, K, V, hidden, real):
    mask = torch.logical_not(hidden | ~real)
    scores = Q.double() @ K.T.double() / Q.shape[1] ** 0.5
    scores = scores - torch.where(mask, scores, -torch.inf).amax(-1, keepdim=True)
    e = torch.where(mask, scores, -torch.inf).exp()
    return e @ V.double() / e.sum(-1, keepdim=True)


def safe_times_mask(scores, bias):
    mask = bias == 0
    return torch.softmax(torch.where(mask, scores, torch.tensor(-1e9)), dim=-1) * mask


def safe_by_rows(scores, bias):
    weights = torch.zeros_like(scores)
    for row, allowed in enumerate(bias > -1):
        if allowed.any():
            weights[row, allowed] = scores[row, allowed].softmax(0)
    return weights


def safe_by_sums(scores, bias):
    e = torch.exp(scores.double() + bias)
    return e / e.sum(-1, keepdim=True).clamp(min=1e-300)


def both_by_comparison(ids, pad):
    t = torch.arange(ids.shape[1])
    return (t[:, None] > t)[None, None] & ids.ne(pad)[:, None, None] | (t[:, None] == t)


def both_by_loops(ids, pad):
    T = range(ids.shape[1])
    return torch.tensor([[[[s == t or (s < t and row[s] != pad) for s in T] for t in T]] for row in ids.tolist()])


def both_in_numpy(ids, pad):
    T = ids.shape[1]
    return np.logical_or(np.tri(T, dtype=bool) & (ids.numpy() != pad)[:, None, None, :], np.eye(T, dtype=bool))


def both_multiplied(ids, pad):
    T = ids.shape[1]
    mask = (torch.tril(torch.ones(T, T)) * (ids != pad).float()[:, None, None, :]).bool()
    mask.diagonal(dim1=-2, dim2=-1).fill_(True)
    return mask


def window_by_triangles(T, w, g):
    past = torch.ones(T, T, dtype=torch.bool).tril()
    near = past.triu(1 - w)
    near[:, :g] = True
    return near & past


def window_in_numpy(T, w, g):
    t, s = np.indices((T, T))
    return (s <= t) & np.logical_or(t < s + w, s < g)


def window_by_rows(T, w, g):
    mask = torch.zeros(T, T, dtype=torch.bool)
    for t in range(T):
        mask[t, max(0, t - w + 1) : t + 1] = True
        mask[t, : min(g, t + 1)] = True
    return mask


def masked_only_the_allowed_keys_are_taken_row_by_row(Q, K, V, hidden, real):
    out = torch.empty(len(Q), V.shape[1], dtype=V.dtype)
    for t, q in enumerate(Q):
        ok = [s for s in range(len(K)) if real[s].item() and not hidden[t, s].item()]
        out[t] = (K[ok] @ q / len(q) ** 0.5).softmax(0) @ V[ok]
    return out


def masked_two_masks_as_numbers_that_are_added(Q, K, V, hidden, real):
    a = torch.zeros(hidden.shape).masked_fill_(hidden, -math.inf)
    b = real.float().log()
    return (Q @ K.mT / math.sqrt(Q.shape[1]) + a + b).softmax(-1).mm(V)


def safe_own_maximum_made_finite(scores, bias):
    z = scores.double() + bias.double()
    top = z.amax(1, True)
    e = torch.exp(z - torch.where(top.isinf(), torch.zeros_like(top), top))
    return (e / e.sum(1, True).clamp(min=1e-300)).to(scores.dtype)


def safe_open_for_a_moment(scores, bias):
    nothing = torch.isinf(bias).all(1)
    z = scores + torch.where(nothing[:, None], torch.zeros_like(bias), bias)
    return torch.softmax(z, 1) * (~nothing)[:, None]


def safe_filled_and_nan_replaced(scores, bias):
    """masked_fill hands no gradient back to what it has filled, so none is NaN here."""
    return scores.masked_fill(bias.isinf(), -math.inf).softmax(-1).nan_to_num(0.0)


def safe_in_numpy(scores, bias):
    z = scores.numpy().astype(float) + bias.numpy()
    top = z.max(-1, keepdims=True)
    e = np.exp(z - np.where(np.isinf(top), 0, top))
    return e / np.maximum(e.sum(-1, keepdims=True), 1e-300)


def back_row_by_row(T):
    mask = torch.zeros(T, T, dtype=torch.bool)
    for t in range(T):
        mask[t, : t + 1] = True
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


def packed_by_one_hot(documents):
    of = torch.nn.functional.one_hot(documents)
    return torch.tril(of @ of.T) > 0


def packed_in_numpy(documents):
    d = documents.numpy()
    return np.equal.outer(d, d) & np.tri(len(d), dtype=bool)


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


def row_in_numpy(texts, mask_of):
    documents = np.concatenate([np.full(len(text), 10 * d) for d, text in enumerate(texts)])
    return {
        "ids": np.concatenate([text.numpy() for text in texts]),
        "positions": np.concatenate([np.arange(len(text)) for text in texts]),
        "targets": np.concatenate([np.append(text.numpy()[1:], -100) for text in texts]),
        "mask": mask_of(torch.from_numpy(documents)),
    }


def row_from_its_mask(texts, mask_of):  # how many earlier tokens of its text a token sees is its position
    ids = torch.hstack(texts)
    mask = mask_of(torch.hstack([text * 0 + len(texts) - d for d, text in enumerate(texts)]))
    positions = mask.sum(1) - 1
    after = torch.cat([positions[1:], torch.zeros(1, dtype=torch.long)])
    targets = torch.where(after == 0, -100, torch.cat([ids[1:], ids[:1]]))
    return {"ids": ids, "positions": positions, "targets": targets, "mask": mask}


def prefix_by_slices(T, p):
    mask = torch.tril(torch.ones(T, T)).bool()
    mask[:, :p] = True
    return mask


def prefix_by_rows(T, p):
    return [[s < max(p, t + 1) for s in range(T)] for t in range(T)]


def prefix_in_numpy(T, p):
    t, s = np.indices((T, T))
    return (s <= t) | (s < p)


RIGHT = {
    "packed_mask": named(packed_by_loops, packed_by_one_hot, packed_in_numpy, packed_by_positions),
    "pack_row": named(row_by_loops, row_by_repeats, row_in_numpy, row_from_its_mask),
    "prefix_mask": named(prefix_by_slices, prefix_by_rows, prefix_in_numpy)
    | {
        "prefix_by_length": lambda T, p: torch.arange(T) < (torch.arange(T) + 1).clamp(min=p)[:, None],
        "prefix_not_hidden": lambda T, p: ~(torch.ones(T, T).triu(1).bool() & (torch.arange(T) >= p)),
    },
    "no_look_ahead": named(back_row_by_row)
    | {
        "back_by_comparison": lambda T: torch.arange(T)[None] <= torch.arange(T)[:, None],
        "back_in_numpy": lambda T: np.tri(T, dtype=bool),
        "back_by_sums": lambda T: torch.eye(T).cumsum(0) > 0,
        "back_by_loops": lambda T: [[s <= t for s in range(T)] for t in range(T)],
    },
    "masked_weights": named(weights_over_allowed_keys_alone)
    | {
        "weights_with_minus_billion": lambda scores, mask: scores.masked_fill(~mask, -1e9).softmax(-1),
        "weights_by_where": lambda scores, mask: torch.where(mask, scores, -torch.inf).softmax(-1),
        "weights_with_a_term": lambda scores, mask: (scores + mask.double().log()).softmax(-1),
        "weights_by_logsumexp": lambda scores, mask: (
            (z := torch.where(mask, scores, -torch.inf)) - z.logsumexp(-1, keepdim=True)
        ).exp(),
    },
    "block_sizes": named(sizes_by_loops)
    | {
        "sizes_by_norm": lambda J: J.norm(dim=(1, 3)),
        "sizes_by_einsum": lambda J: torch.einsum("iajb,iajb->ij", J, J) ** 0.5,
        "sizes_in_numpy": lambda J: np.sqrt((J.numpy() ** 2).sum((1, 3))),
        "sizes_flat": lambda J: J.transpose(1, 2).flatten(2).double().pow(2).sum(-1).sqrt(),
    },
    "causal_square": named(causal_minus_billion)
    | {
        "causal_by_comparison": lambda T: torch.where(torch.arange(T)[:, None] >= torch.arange(T), 0.0, float("-inf")),
        "causal_by_loops": lambda T: [[0.0 if s <= t else -math.inf for s in range(T)] for t in range(T)],
        "causal_in_numpy": lambda T: np.where(np.tri(T, dtype=bool), 0, -np.inf),
        "causal_by_pytorch": lambda T: torch.nn.Transformer.generate_square_subsequent_mask(T),
        "causal_of_the_smallest_float": lambda T: torch.ones(T, T).triu(1) * torch.finfo(torch.float32).min,
        "causal_minus_zero": lambda T: -torch.full((T, T), math.inf).triu(1),
    },
    "padding_keys": named(padding_in_numpy, padding_filled_in)
    | {
        "padding_by_comparison": lambda lengths, S: ~torch.arange(S).ge(lengths.unsqueeze(1)).unsqueeze(1).unsqueeze(2),
        "padding_by_loops": lambda lengths, S: [[[[s < n for s in range(S)]]] for n in lengths.tolist()],
    },
    "masked_attention": named(
        attention_minus_billion,
        attention_additive,
        attention_fused,
        attention_row_by_row,
        attention_renormalised,
        attention_without_the_filling,
        masked_only_the_allowed_keys_are_taken_row_by_row,
        masked_two_masks_as_numbers_that_are_added,
    ),
    "safe_weights": named(
        safe_times_mask,
        safe_by_rows,
        safe_by_sums,
        safe_own_maximum_made_finite,
        safe_open_for_a_moment,
        safe_in_numpy,
        safe_filled_and_nan_replaced,
    ),
    "decoder_mask": named(both_by_comparison, both_by_loops, both_in_numpy, both_multiplied),
    "window_mask": named(window_by_triangles, window_in_numpy, window_by_rows)
    | {
        "window_by_loops": lambda T, w, g: [[s <= t and (s < g or s > t - w) for s in range(T)] for t in range(T)],
    },
}
