"""Wrong answers to the lesson's exercises, unlike any in the bank: none may pass."""

import torch
import torch.nn.functional as F

from answer_tables import named


def masked_with_words_for_special_ones(ids, special, first, second, words, mask):
    """Special tokens are never masked or scored, but some are replaced."""
    chosen = (first < 0.15) & ~special
    inputs = ids.masked_fill(chosen & (second < 0.8), mask)
    inputs = torch.where((first < 0.15) & (second >= 0.8) & (second < 0.9), words, inputs)
    return inputs, ids.masked_fill(~chosen, -100)


def masked_once_for_the_batch(ids, special, first, second, words, mask):
    """Every sentence has its gaps at the places of the first one."""
    chosen = (first.view(-1, first.shape[-1])[0] < 0.15) & ~special
    inputs = torch.where(chosen & (second < 0.9), words, ids).masked_fill(chosen & (second < 0.8), mask)
    return inputs, torch.where(chosen, ids, -100)


def spans_closed_by_the_last_sentinel(ids, spans, sentinels):
    inputs, targets, place = [], [], 0
    for (start, end), sentinel in zip(spans, sentinels, strict=False):
        inputs += [*ids[place:start], sentinel]
        targets += [sentinel, *ids[start:end]]
        place = end
    return inputs + ids[place:], [*targets, sentinels[-1]]


def prefix_of_the_shortest(lengths, T):
    """One mask for all texts of the batch: right for a batch of one."""
    s = torch.arange(T)
    return ((s <= s[:, None]) | (s < lengths.min())).expand(len(lengths), 1, T, T)


def gaps_with_the_first_token_twice(model, ids, gap, candidates):
    texts = ids.repeat(len(candidates), 1)
    texts[:, gap] = candidates
    log_p = model(texts).log_softmax(-1).gather(-1, texts.roll(-1, dims=1)[..., None])
    return log_p.sum(dim=(1, 2))


def alike_of_right_padded_texts(states, real):
    """The first tokens, as many as are real: wrong for padding at the left."""
    ends = real.sum(1)
    unit = F.normalize(torch.stack([one[:n].mean(0) for one, n in zip(states, ends, strict=True)]), dim=-1)
    return unit @ unit.T


def next_words_of_the_batch(ids, pad):
    """The texts written one behind the other: right for a batch of one."""
    target = ids.flatten().roll(-1).view_as(ids)[:, : ids.shape[1] - 1].roll(len(ids) - 1, dims=0)
    return ids[:, :-1], torch.where(target == pad, -100, target)


def prefix_loss_with_the_first_length(model, ids, lengths, masks):
    """All prompts as long as the first: right for a batch of one."""
    T = ids.shape[1] - 1
    log_p = model(ids[:, :-1], masks(lengths, T)).log_softmax(-1).gather(-1, ids[:, 1:, None])[..., 0]
    return -log_p[:, lengths[0] - 1 :].mean()


def gaps_filled_until_the_first_stays(scores, model, ids, gaps, candidates, rounds):
    """Goes on only with the first gap after the first round."""
    text = ids.clone()
    for number in range(rounds):
        for gap in gaps if number == 0 else gaps[:1]:
            text[gap] = candidates[scores(model, text, gap, candidates).argmax()]
    return text


def left_out_at_the_end(score, ids, parts):
    """Takes away as many words as the part has, but always the last ones."""
    return [score(ids) - score(ids[: len(ids) - (b - a)]) for a, b in parts]


UNLIKE = {
    "next_words": named(next_words_of_the_batch),
    "prefix_loss": named(prefix_loss_with_the_first_length),
    "fill_gaps": named(gaps_filled_until_the_first_stays),
    "leave_one_out": named(left_out_at_the_end),
    "mask_tokens": named(masked_with_words_for_special_ones, masked_once_for_the_batch),
    "hide_spans": named(spans_closed_by_the_last_sentinel),
    "prefix_masks": named(
        prefix_of_the_shortest,
    ),
    "gap_scores": named(gaps_with_the_first_token_twice),
    "sentence_similarities": named(
        alike_of_right_padded_texts,
    ),
}
