"""Right answers to the lesson's exercises by other algorithms: all must pass."""

import numpy as np
import torch
import torch.nn.functional as F

from answer_tables import named


def masked_by_loops(ids, special, first, second, words, mask):
    inputs, targets = ids.clone(), torch.full_like(ids, -100)
    for place in np.ndindex(*ids.shape):
        if first[place] < 0.15 and not special[place]:
            targets[place] = ids[place]
            if second[place] < 0.8:
                inputs[place] = mask
            elif second[place] < 0.9:
                inputs[place] = words[place]
    return inputs, targets


def masked_by_places(ids, special, first, second, words, mask):
    target, inputs = torch.full_like(ids, -100), ids.clone()
    chosen = ((first < 0.15) & (special == 0)).nonzero(as_tuple=True)
    target[chosen] = ids[chosen]
    way = torch.bucketize(second[chosen], torch.tensor([0.8, 0.9]), right=True)
    inputs[chosen] = torch.stack([torch.full_like(ids[chosen], mask), words[chosen], ids[chosen]])[
        way, torch.arange(len(way))
    ]
    return inputs, target


def hidden_from_right_to_left(ids, spans, sentinels):
    inputs, targets = list(ids), [sentinels[len(spans)]]
    for number in range(len(spans) - 1, -1, -1):
        start, end = spans[number]
        targets = [sentinels[number], *inputs[start:end], *targets]
        inputs[start:end] = [sentinels[number]]
    return inputs, targets


def hidden_by_cuts(ids, spans, sentinels):
    starts, ends = zip(*spans, strict=True)
    kept = [ids[a:b] for a, b in zip((0, *ends), (*starts, len(ids)), strict=True)]
    lost = [*(ids[a:b] for a, b in spans), []]
    before = dict(enumerate(sentinels))
    inputs = [token for i, part in enumerate(kept) for token in ([before[i - 1], *part] if i else part)]
    return inputs, [token for i, part in enumerate(lost) for token in [before[i], *part]]


def prefix_by_loops(lengths, T):
    return [[[[s < n or s <= t for s in range(T)] for t in range(T)]] for n in lengths.tolist()]


def prefix_by_writing(lengths, T):
    mask = torch.ones(T, T, dtype=torch.bool).tril().repeat(len(lengths), 1, 1, 1)
    for b, n in enumerate(lengths):
        mask[b, :, :, :n] = True
    return mask


def gaps_one_by_one(model, ids, gap, candidates):
    found = []
    for candidate in candidates:
        text = torch.cat([ids[:gap], candidate.view(1), ids[gap + 1 :]])
        log_p = model(text[None])[0].log_softmax(-1)
        found.append(sum(log_p[t, text[t + 1]] for t in range(len(text) - 1)))
    return torch.stack(found)


def gaps_as_a_product(model, ids, gap, candidates):
    p = torch.ones(len(candidates), dtype=torch.float64)
    texts = ids.repeat(len(candidates), 1)
    texts[:, gap] = candidates
    for end in range(1, len(ids)):  # a longer beginning each time, as in writing
        p *= model(texts[:, :end])[:, -1].softmax(-1)[torch.arange(len(texts)), texts[:, end]]
    return p.log().tolist()


def next_by_loops(ids, pad):
    rows = ids.tolist()
    inputs = [row[:-1] for row in rows]
    return inputs, [[-100 if word == pad else word for word in row[1:]] for row in rows]


def next_by_filling(ids, pad):
    return [ids.narrow(1, 0, ids.shape[1] - 1), ids[:, 1:].masked_fill(ids[:, 1:].eq(pad), -100)]


def prefix_loss_by_the_library(model, ids, lengths, masks):
    T = ids.shape[1] - 1
    target = ids[:, 1:].masked_fill(torch.arange(T) + 1 < lengths[:, None], -100)
    return F.cross_entropy(model(ids[:, :-1], masks(lengths, T)).transpose(1, 2), target)


def prefix_loss_text_by_text(model, ids, lengths, masks):
    total = 0.0
    for one, n in zip(ids, lengths, strict=True):
        p = model(one[None, :-1], masks(n[None], len(one) - 1))[0].softmax(-1)
        total = total - p[torch.arange(len(one) - 1), one[1:]][n - 1 :].log().sum()
    return total / (ids.shape[1] - lengths).sum()


def filled_by_sorting(scores, model, ids, gaps, candidates, rounds):
    text = ids + 0
    while rounds:
        for gap in gaps:
            text[gap] = candidates[scores(model, text, gap, candidates).argsort(descending=True, stable=True)[0]]
        rounds -= 1
    return text


def filled_by_chances(scores, model, ids, gaps, candidates, rounds):
    text = torch.tensor(ids.tolist())
    for number in range(rounds * len(gaps)):
        gap = gaps[number % len(gaps)]
        text[gap] = candidates[scores(model, text, gap, candidates).softmax(0).max(0).indices]
    return text


def left_out_by_slices(score, ids, parts):
    found = []
    for start, end in parts:
        rest = list(ids)
        del rest[start:end]
        found.append(score(ids) - score(rest))
    return found


def left_out_by_places(score, ids, parts):
    rests = [[word for place, word in enumerate(ids) if not a <= place < b] for a, b in parts]
    return torch.tensor([score(ids)] * len(parts)) - torch.tensor([score(rest) for rest in rests])


RIGHT = {
    "next_words": named(next_by_loops, next_by_filling),
    "prefix_loss": named(prefix_loss_by_the_library, prefix_loss_text_by_text),
    "fill_gaps": named(filled_by_sorting, filled_by_chances),
    "leave_one_out": named(left_out_by_slices, left_out_by_places),
    "mask_tokens": named(masked_by_loops, masked_by_places),
    "hide_spans": named(hidden_from_right_to_left, hidden_by_cuts),
    "prefix_masks": named(prefix_by_loops, prefix_by_writing),
    "gap_scores": named(gaps_one_by_one, gaps_as_a_product),
}
