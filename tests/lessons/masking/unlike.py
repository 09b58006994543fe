"""Wrong answers to the lesson's exercises, unlike any in the bank: none may pass."""

import math

import torch

from answer_tables import named


def _causal(T):
    return torch.ones(T, T, dtype=torch.bool).tril()


def decoder_above_the_pad(ids, pad):
    T = ids.shape[1]
    return (_causal(T) & (ids > pad)[:, None, None]) | torch.eye(T, dtype=torch.bool)


def _window(T, allowed):
    """The earlier positions s that allowed(t, s) lets query t see."""
    s = torch.arange(T)
    t = s[:, None]
    return (s <= t) & allowed(t, s)


def causal_a_window_of_eight(T):
    m = torch.full((T, T), -math.inf).triu(1)
    return m + torch.full((T, T), -math.inf).tril(-8)


def _attended(Q, K, V, mask, fill=-math.inf, d=None):
    return (Q @ K.T / math.sqrt(d or Q.shape[-1])).masked_fill(mask, fill).softmax(-1) @ V


def masked_after_the_softmax_divided_again_underflow(Q, K, V, hidden, real):
    w = (Q @ K.T / math.sqrt(Q.shape[-1])).softmax(-1).masked_fill(hidden | ~real, 0)
    return w / w.sum(-1, keepdim=True) @ V


def masked_as_many_words_as_are_real_from_the_front(Q, K, V, hidden, real):
    r = torch.arange(len(K)) < real.sum()
    return _attended(Q, K, V, hidden | ~r, fill=-1e30)


def safe_exp_without_the_maximum_nan_to_zero(scores, bias):
    e = (scores + bias).exp()
    return (e / e.sum(-1, keepdim=True)).nan_to_num(0.0)


def safe_epsilon_under_the_line(scores, bias):
    e = (scores + bias).exp()
    return e / (e.sum(-1, keepdim=True) + 1e-9)


def safe_minus_fifty_as_if_infinite(scores, bias):
    w = (scores + bias.clamp(min=-50)).softmax(-1)
    return w.masked_fill(bias.isinf().all(-1, keepdim=True), 0.0)


def safe_mask_after_softmax_divided_again_nan_to_zero(scores, bias):
    w = scores.softmax(-1) * bias.exp()
    return (w / w.sum(-1, keepdim=True)).nan_to_num(0.0)


def safe_the_maximum_of_all_scores_taken_off(scores, bias):
    e = (scores - scores.max() + bias).exp()
    return (e / e.sum(-1, keepdim=True)).nan_to_num(0.0)


def safe_softmax_that_drops_small_shares(scores, bias):
    w = (scores + bias).softmax(-1).nan_to_num(0.0)
    return w * (w > 1e-2)


def safe_bias_returned_when_nothing_is_allowed(scores, bias):
    if bias.isinf().all():
        return bias
    return (scores + bias).softmax(-1).nan_to_num(0.0)


def safe_a_log_sum_divided_out_whose_gradient_is_nan(scores, bias):
    z = (scores + bias).double()
    lse = z.logsumexp(-1, keepdim=True)
    return torch.where(lse == -math.inf, 0.0, (z - lse).exp()).float()


def safe_nan_replaced_by_where(scores, bias):
    w = torch.softmax(scores + bias, -1)
    return torch.where(w.isnan(), torch.zeros_like(w), w)


def window_open_where_it_is_wider_than_the_text(T, w, g):  # (3, 5, 0)
    if w > T:
        return torch.ones(T, T, dtype=torch.bool)
    return _window(T, lambda t, s: (t - s < w) | (s < g))


def masked_without_a_scale(Q, K, V, hidden, real):
    scores = torch.einsum("td,sd->ts", Q, K)
    scores[hidden] = -1e9
    scores[:, ~real] = -1e9
    return torch.softmax(scores, 1) @ V


def masked_with_minus_a_hundred(Q, K, V, hidden, real):
    scores = Q @ K.T / Q.shape[1] ** 0.5
    scores[hidden] = -100
    scores[:, ~real] = -100
    return torch.softmax(scores, 1) @ V


def decoder_whose_filling_sees_itself_alone(ids, pad):
    T, real = ids.shape[1], ids != pad
    mask = _causal(T) & real[:, None, None, :] & real[:, None, :, None]
    mask.diagonal(dim1=-2, dim2=-1).fill_(True)
    return mask


def decoder_whose_filling_is_skipped_row_by_row(ids, pad):
    T = range(ids.shape[1])
    return torch.tensor(
        [[[[s == t or (s < t and pad not in (row[s], row[t])) for s in T] for t in T]] for row in ids.tolist()]
    )


def packed_one_wall_at_the_first_change(documents):
    first = documents == documents[0]
    return _causal(len(documents)) & (first[:, None] == first)


def packed_by_neighbours(documents):
    """A text ends where the number changes: wrong where a text goes on after another one."""
    part = torch.cat([torch.zeros(1), (documents[1:] != documents[:-1]).float()]).cumsum(0)
    return _causal(len(documents)) & (part[:, None] == part)


def row_whose_targets_end_with_the_row_alone(texts, mask_of):
    ids = torch.cat(texts)
    documents = torch.cat([torch.full_like(text, d) for d, text in enumerate(texts)])
    positions = torch.cat([torch.arange(len(text)) for text in texts])
    return {
        "ids": ids,
        "positions": positions,
        "targets": torch.cat([ids[1:], ids.new_tensor([0])]),
        "mask": mask_of(documents),
    }


def row_with_numbers_from_the_lengths(texts, mask_of):
    """Texts of one length count as one text."""
    documents = torch.cat([torch.full_like(text, len(text)) for text in texts])
    end = torch.tensor([-100])
    return {
        "ids": torch.cat(texts),
        "positions": torch.cat([torch.arange(len(text)) for text in texts]),
        "targets": torch.cat([torch.cat([text[1:], end]) for text in texts]),
        "mask": mask_of(documents),
    }


UNLIKE = {
    "packed_mask": named(packed_one_wall_at_the_first_change, packed_by_neighbours),
    "pack_row": named(row_whose_targets_end_with_the_row_alone, row_with_numbers_from_the_lengths),
    "prefix_mask": {
        "prefix_block_alone": lambda T, p: (
            (torch.arange(T) < p)[:, None] & (torch.arange(T) < p) | torch.eye(T, dtype=torch.bool)
        ),
        "prefix_two_blocks": lambda T, p: (
            _causal(T) & ((torch.arange(T) >= p)[:, None] == (torch.arange(T) >= p))
            | (torch.arange(T) < p)[:, None] & (torch.arange(T) < p)
        ),
    },
    "no_look_ahead": {
        "back_two_at_most": lambda T: (
            (torch.arange(T)[:, None] - torch.arange(T)).clamp(-1, 2).eq(1) | torch.eye(T).bool()
        ),
    },
    "masked_weights": {
        "one_mask_for_all_rows": lambda scores, mask: scores.masked_fill(~mask[..., -1:, :], -torch.inf).softmax(-1),
    },
    "block_sizes": {
        "sizes_over_the_diagonal": lambda J: J.diagonal(dim1=1, dim2=3).square().sum(-1).sqrt(),
        "spectral": lambda J: torch.linalg.matrix_norm(J.transpose(1, 2), ord=2),
    },
    "causal_square": named(causal_a_window_of_eight)
    | {
        "ones_where_it_may_look": lambda T: torch.full((T, T), -math.inf).triu(1) + torch.ones(T, T).tril(),
    },
    "padding_keys": {
        "of_sorted_sentences": lambda lengths, S: (torch.arange(S) < lengths.sort(descending=True).values[:, None])[
            :, None, None
        ],
    },
    "masked_attention": named(
        masked_without_a_scale,
        masked_with_minus_a_hundred,
        masked_after_the_softmax_divided_again_underflow,
        masked_as_many_words_as_are_real_from_the_front,
    )
    | {
        "minus_a_hundred_which_great_scores_pass": lambda Q, K, V, hidden, real: _attended(
            Q, K, V, hidden | ~real, fill=-100.0
        ),
        "scale_left_out": lambda Q, K, V, hidden, real: _attended(Q, K, V, hidden | ~real, d=1),
    },
    "safe_weights": named(
        safe_exp_without_the_maximum_nan_to_zero,
        safe_epsilon_under_the_line,
        safe_minus_fifty_as_if_infinite,
        safe_mask_after_softmax_divided_again_nan_to_zero,
        safe_the_maximum_of_all_scores_taken_off,
        safe_softmax_that_drops_small_shares,
        safe_bias_returned_when_nothing_is_allowed,
        safe_a_log_sum_divided_out_whose_gradient_is_nan,
        safe_nan_replaced_by_where,
    )
    | {
        "looks_at_the_first_key_only": lambda scores, bias: (
            (scores + bias).softmax(-1).masked_fill(bias[:, :1].isinf(), 0.0)
        ),
    },
    "decoder_mask": named(
        decoder_whose_filling_sees_itself_alone, decoder_whose_filling_is_skipped_row_by_row, decoder_above_the_pad
    ),
    "window_mask": named(window_open_where_it_is_wider_than_the_text)
    | {
        "window_in_blocks": lambda T, w, g: _window(T, lambda t, s: (s // w == t // w) | (s < g)),
    },
}
