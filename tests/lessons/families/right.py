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


def next_by_loops(ids, pad):
    rows = ids.tolist()
    inputs = [row[:-1] for row in rows]
    return inputs, [[-100 if word == pad else word for word in row[1:]] for row in rows]


def next_by_rolling(ids, pad):
    target = ids.roll(-1, dims=1)[:, :-1].clone()
    target[target == pad] = -100
    return ids[:, :-1], target


def next_by_filling(ids, pad):
    return [ids.narrow(1, 0, ids.shape[1] - 1), ids[:, 1:].masked_fill(ids[:, 1:].eq(pad), -100)]


def next_in_numpy(ids, pad):
    table = ids.numpy()
    return table[:, :-1].copy(), np.where(table[:, 1:] == pad, -100, table[:, 1:])


def prefix_loss_by_the_library(model, ids, lengths, masks):
    T = ids.shape[1] - 1
    target = ids[:, 1:].masked_fill(torch.arange(T) + 1 < lengths[:, None], -100)
    return F.cross_entropy(model(ids[:, :-1], masks(lengths, T)).transpose(1, 2), target)


def prefix_loss_by_loops(model, ids, lengths, masks):
    T, losses = ids.shape[1], []
    log_p = model(ids[:, :-1], masks(lengths, T - 1)).log_softmax(-1)
    for b, n in enumerate(lengths.tolist()):
        losses += [-log_p[b, place - 1, ids[b, place]].item() for place in range(n, T)]
    return sum(losses) / len(losses)


def prefix_loss_text_by_text(model, ids, lengths, masks):
    total = 0.0
    for one, n in zip(ids, lengths, strict=True):
        p = model(one[None, :-1], masks(n[None], len(one) - 1))[0].softmax(-1)
        total = total - p[torch.arange(len(one) - 1), one[1:]][n - 1 :].log().sum()
    return total / (ids.shape[1] - lengths).sum()


def prefix_loss_by_weights(model, ids, lengths, masks):
    T = ids.shape[1] - 1
    weights = (torch.arange(T) >= lengths[:, None] - 1).double()
    logits = model(ids[:, :-1], masks(lengths, T))
    came = torch.take_along_dim(logits, ids[:, 1:, None], -1).squeeze(-1) - logits.logsumexp(-1)
    return -(came * weights).sum() / weights.sum()


def filled_in_lists(scores, model, ids, gaps, candidates, rounds):
    text = ids.tolist()
    for gap in list(gaps) * rounds:
        found = scores(model, torch.tensor(text), gap, candidates).tolist()
        text[gap] = candidates.tolist()[found.index(max(found))]
    return text


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


def filled_by_new_sentences(scores, model, ids, gaps, candidates, rounds):
    text = ids
    for _ in range(rounds):
        for gap in gaps:
            best = candidates[scores(model, text, gap, candidates).argmax()]
            text = torch.cat([text[:gap], best.view(1), text[gap + 1 :]])
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


def left_out_in_numpy(score, ids, parts):
    return score(ids) - np.array([score(np.delete(ids, slice(a, b)).tolist()) for a, b in parts])


def left_out_by_unpacking(score, ids, parts):
    whole = score(list(ids))
    return tuple(whole - score([*ids[:a], *ids[b:]]) for a, b in parts)


RIGHT = {
    "next_words": named(next_by_loops, next_by_rolling, next_by_filling, next_in_numpy),
    "prefix_loss": named(
        prefix_loss_by_the_library, prefix_loss_by_loops, prefix_loss_text_by_text, prefix_loss_by_weights
    ),
    "fill_gaps": named(filled_in_lists, filled_by_sorting, filled_by_chances, filled_by_new_sentences),
    "leave_one_out": named(left_out_by_slices, left_out_by_places, left_out_in_numpy, left_out_by_unpacking),
    "mask_tokens": named(masked_by_loops, masked_by_places, masked_in_place, masked_by_arithmetic),
    "hide_spans": named(
        hidden_from_right_to_left, hidden_token_by_token, hidden_in_tensors, hidden_by_cuts, hidden_in_a_tuple
    ),
    "prefix_masks": named(prefix_by_loops, prefix_by_writing, prefix_by_the_latest, prefix_in_numpy),
    "gap_scores": named(gaps_one_by_one, gaps_by_the_loss, gaps_by_logsumexp, gaps_as_a_product),
    "sentence_similarities": named(alike_by_the_library, alike_by_sums, alike_by_attention, alike_in_numpy),
}
