"""Right answers to the lesson's exercises in unusual forms: all must pass."""

import math

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


def masked_in_place(ids, special, first, second, words, mask):
    inputs, target = ids.clone(), ids.clone()
    chosen = torch.logical_and(first < 0.15, special.logical_not())
    target[~chosen] = -100
    inputs[chosen & (second < 0.9)] = words[chosen & (second < 0.9)]
    inputs[chosen & (second < 0.8)] = mask
    return [inputs, target]


def masked_by_arithmetic(ids, special, first, second, words, mask):
    chosen = (first < 0.15).long() * (1 - special.long())
    hide, swap = chosen * (second < 0.8), chosen * ((second - 0.85).abs() <= 0.05).long()
    return torch.stack([ids + hide * (mask - ids) + swap * (words - ids), chosen * ids - 100 * (1 - chosen)])


def hidden_from_right_to_left(ids, spans, sentinels):
    inputs, targets = list(ids), [sentinels[len(spans)]]
    for number in range(len(spans) - 1, -1, -1):
        start, end = spans[number]
        targets = [sentinels[number], *inputs[start:end], *targets]
        inputs[start:end] = [sentinels[number]]
    return inputs, targets


def hidden_token_by_token(ids, spans, sentinels):
    number = {place: i for i, (start, end) in enumerate(spans) for place in range(start, end)}
    sides, last = ([], []), None
    for place, token in enumerate(ids):
        here = number.get(place)
        if here is not None and here != last:
            for side in sides:
                side.append(sentinels[here])
        sides[here is not None].append(token)
        last = here
    sides[1].append(sentinels[len(spans)])
    return sides


def hidden_in_tensors(ids, spans, sentinels):
    ids, inputs, target, place = torch.tensor(ids), [], [], 0
    for number, (start, end) in enumerate(spans):
        inputs += [ids[place:start], torch.tensor([sentinels[number]])]
        target += [torch.tensor([sentinels[number]]), ids[start:end]]
        place = end
    return torch.cat([*inputs, ids[place:]]).tolist(), [*torch.cat(target).tolist(), sentinels[len(spans)]]


def hidden_by_cuts(ids, spans, sentinels):
    starts, ends = zip(*spans, strict=True)
    kept = [ids[a:b] for a, b in zip((0, *ends), (*starts, len(ids)), strict=True)]
    lost = [*(ids[a:b] for a, b in spans), []]
    before = dict(enumerate(sentinels))
    inputs = [token for i, part in enumerate(kept) for token in ([before[i - 1], *part] if i else part)]
    return inputs, [token for i, part in enumerate(lost) for token in [before[i], *part]]


def hidden_in_a_tuple(ids, spans, sentinels):
    """The input a tuple, the target an array."""
    inputs, targets = hidden_by_cuts(ids, spans, sentinels)
    return tuple(inputs), np.array(targets)


def prefix_by_loops(lengths, T):
    return [[[[s < n or s <= t for s in range(T)] for t in range(T)]] for n in lengths.tolist()]


def prefix_by_writing(lengths, T):
    mask = torch.ones(T, T, dtype=torch.bool).tril().repeat(len(lengths), 1, 1, 1)
    for b, n in enumerate(lengths):
        mask[b, :, :, :n] = True
    return mask


def prefix_by_the_latest(lengths, T):
    latest = torch.maximum(torch.arange(T), lengths[:, None] - 1)  # the last key that each query sees
    return (torch.arange(T) <= latest[..., None]).unsqueeze(1)


def prefix_in_numpy(lengths, T):
    t = np.arange(T)
    late = np.triu(np.ones((T, T), dtype=bool), 1)
    return ~(late & (t >= lengths.numpy()[:, None, None]))[:, None]


def gaps_one_by_one(model, ids, gap, candidates):
    found = []
    for candidate in candidates:
        text = torch.cat([ids[:gap], candidate.view(1), ids[gap + 1 :]])
        log_p = model(text[None])[0].log_softmax(-1)
        found.append(sum(log_p[t, text[t + 1]] for t in range(len(text) - 1)))
    return torch.stack(found)


def gaps_by_the_loss(model, ids, gap, candidates):
    texts = torch.where(torch.arange(len(ids)) == gap, candidates[:, None], ids)
    losses = F.cross_entropy(model(texts[:, :-1]).transpose(1, 2), texts[:, 1:], reduction="none")
    return -losses.sum(-1)


def gaps_by_logsumexp(model, ids, gap, candidates):
    texts = ids.expand(len(candidates), -1).clone()
    texts[:, gap] = candidates
    logits = model(texts)[:, :-1]
    came = torch.take_along_dim(logits, texts[:, 1:, None], dim=-1).squeeze(-1)
    return (came - logits.logsumexp(-1)).sum(-1)


def gaps_as_a_product(model, ids, gap, candidates):
    p = torch.ones(len(candidates), dtype=torch.float64)
    texts = ids.repeat(len(candidates), 1)
    texts[:, gap] = candidates
    for end in range(1, len(ids)):  # a longer beginning each time, as in writing
        p *= model(texts[:, :end])[:, -1].softmax(-1)[torch.arange(len(texts)), texts[:, end]]
    return p.log().tolist()


def alike_by_the_library(states, real):
    means = torch.stack([one[keep].mean(0) for one, keep in zip(states, real, strict=True)])
    return F.cosine_similarity(means[:, None], means[None], dim=-1)


def alike_by_sums(states, real):
    """A cosine does not change with the lengths, so the sum does what the mean does."""
    total = torch.einsum("btd,bt->bd", states, real.float())
    lengths = total.square().sum(-1).sqrt()
    return total @ total.T / torch.outer(lengths, lengths)


def alike_by_attention(states, real):
    weights = torch.zeros(real.shape).masked_fill(~real, -math.inf).softmax(-1)  # the same for every real token
    unit = F.normalize((weights[:, None] @ states)[:, 0], dim=-1)
    return unit @ unit.mT


def alike_in_numpy(states, real):
    means = [x[m].mean(0) for x, m in zip(states.double().numpy(), real.numpy(), strict=True)]
    return [[u @ v / np.linalg.norm(u) / np.linalg.norm(v) for v in means] for u in means]


RIGHT = {
    "mask_tokens": named(masked_by_loops, masked_by_places, masked_in_place, masked_by_arithmetic),
    "hide_spans": named(
        hidden_from_right_to_left, hidden_token_by_token, hidden_in_tensors, hidden_by_cuts, hidden_in_a_tuple
    ),
    "prefix_masks": named(prefix_by_loops, prefix_by_writing, prefix_by_the_latest, prefix_in_numpy),
    "gap_scores": named(gaps_one_by_one, gaps_by_the_loss, gaps_by_logsumexp, gaps_as_a_product),
    "sentence_similarities": named(alike_by_the_library, alike_by_sums, alike_by_attention, alike_in_numpy),
}
