"""Wrong answers to notebook 06's exercises, unlike any in the bank: none may pass."""

import math

import numpy as np
import torch

from answers.tables import named


class Plain(torch.Tensor):
    """A harmless subclass of tensors."""


def _numbers(allowed):
    return torch.zeros(allowed.shape).masked_fill(~allowed, -torch.inf)


def causal_two_back_at_most(T):
    s = torch.arange(T)
    return _numbers((s <= s[:, None]) & (s[:, None] - s < 3))


def causal_with_an_open_prefix(T):
    mask = torch.ones(T, T).tril().bool()
    mask[0, : min(T, 2)] = True
    return _numbers(mask)


def padding_wiped_out_of_the_input(lengths, S):
    lengths.fill_(S)
    return (torch.arange(S) < lengths[:, None])[:, None, None]


def masked_with_the_rows_minimum(Q, K, V, hidden, real):
    mask = ~hidden & real
    scores = Q @ K.T / math.sqrt(Q.shape[1])
    return torch.softmax(torch.where(mask, scores, scores.amin(1, keepdim=True)), 1) @ V


def masked_with_minus_nine(Q, K, V, hidden, real):
    mask = ~hidden & real
    return torch.softmax((Q @ K.T / math.sqrt(Q.shape[1])).masked_fill(~mask, -9.0), 1) @ V


def masked_by_tiny_factor(Q, K, V, hidden, real):
    mask = ~hidden & real
    weights = torch.softmax(Q @ K.T / math.sqrt(Q.shape[1]), 1) * mask
    return weights / (weights.sum(1, keepdim=True) + 0.001) @ V


def masked_values_instead_of_keys(Q, K, V, hidden, real):
    mask = ~hidden & real
    weights = torch.softmax(Q @ K.T / math.sqrt(Q.shape[1]), 1) * mask
    return weights.softmax(1) @ V


def safe_with_a_large_epsilon(scores, bias):
    mask = bias == 0
    shares = (scores - scores.amax()).exp() * mask
    return shares / (shares.sum(1, keepdim=True) + 1e-3)


def safe_all_or_nothing(scores, bias):
    mask = bias == 0
    weights = torch.softmax(scores.masked_fill(~mask, -torch.inf), 1)
    return torch.zeros_like(weights) if weights.isnan().any() else weights


def safe_with_zeros_for_scores(scores, bias):
    mask = bias == 0
    return torch.softmax(scores * mask, 1) * mask.any(1, keepdim=True)


def _causal(T):
    return torch.ones(T, T, dtype=torch.bool).tril()


def decoder_above_the_pad(ids, pad):
    T = ids.shape[1]
    return (_causal(T) & (ids > pad)[:, None, None]) | torch.eye(T, dtype=torch.bool)


def decoder_of_the_shortest_sentence(ids, pad):
    T = ids.shape[1]
    mask = _causal(T).expand(len(ids), 1, T, T) & (ids != pad).all(0)
    return mask | torch.eye(T, dtype=torch.bool)


def decoder_with_rows_for_columns(ids, pad):
    T = ids.shape[1]
    return (_causal(T) & (ids != pad)[:, None, :, None]) | torch.eye(T, dtype=torch.bool)


def decoder_filled_up_at_the_right(ids, pad):
    T, lengths = ids.shape[1], (ids != pad).sum(1)
    real = torch.arange(T) < lengths[:, None]
    return (_causal(T) & real[:, None, None]) | torch.eye(T, dtype=torch.bool)


def decoder_with_all_open_for_filling(ids, pad):
    T, real = ids.shape[1], ids != pad
    return (_causal(T) & real[:, None, None]) | (_causal(T) & ~real[:, None, :, None])


def _window(T, allowed):
    """The earlier positions s that allowed(t, s) lets query t see."""
    s = torch.arange(T)
    t = s[:, None]
    return (s <= t) & allowed(t, s)


def causal_only_the_superdiagonal(T):
    m = torch.zeros(T, T)
    for t in range(T - 1):
        m[t, t + 1] = -math.inf
    return m


def causal_a_window_of_eight(T):
    m = torch.full((T, T), -math.inf).triu(1)
    return m + torch.full((T, T), -math.inf).tril(-8)


def causal_last_column_left_open(T):
    m = torch.zeros(T, T)
    for t in range(T - 1):
        m[t, t + 1 : T - 1] = -math.inf
    return m


def causal_a_numpy_mask_of_whole_numbers(T):
    m = torch.zeros(T, T, dtype=torch.long)
    m[torch.ones(T, T).triu(1).bool()] = -(2**62)
    return m


def causal_nan_below(T):
    m = torch.full((T, T), math.nan)
    m[torch.ones(T, T).triu(1).bool()] = -math.inf
    return m


def _attended(Q, K, V, mask, fill=-math.inf, d=None):
    return (Q @ K.T / math.sqrt(d or Q.shape[-1])).masked_fill(mask, fill).softmax(-1) @ V


def masked_after_the_softmax_not_divided_again(Q, K, V, hidden, real):
    w = (Q @ K.T / math.sqrt(Q.shape[-1])).softmax(-1)
    return w.masked_fill(hidden | ~real, 0) @ V


def masked_after_the_softmax_divided_again_underflow(Q, K, V, hidden, real):
    w = (Q @ K.T / math.sqrt(Q.shape[-1])).softmax(-1).masked_fill(hidden | ~real, 0)
    return w / w.sum(-1, keepdim=True) @ V


def masked_hidden_read_with_keys_as_rows_where_square(Q, K, V, hidden, real):
    h = hidden.T if hidden.shape[0] == hidden.shape[1] else hidden
    return _attended(Q, K, V, h | ~real, fill=-1e30)


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


def safe_softmax_with_one_more_in_the_sum(scores, bias):
    z = scores + bias
    m = z.amax(-1, keepdim=True).clamp(min=0)
    e = (z - m).exp()
    return e / (e.sum(-1, keepdim=True) + (-m).exp())


def safe_softmax_that_drops_small_shares(scores, bias):
    w = (scores + bias).softmax(-1).nan_to_num(0.0)
    return w * (w > 1e-2)


def safe_bias_returned_when_nothing_is_allowed(scores, bias):
    if bias.isinf().all():
        return bias
    return (scores + bias).softmax(-1).nan_to_num(0.0)


def window_open_where_it_is_wider_than_the_text(T, w, g):  # (3, 5, 0)
    if w > T:
        return torch.ones(T, T, dtype=torch.bool)
    return _window(T, lambda t, s: (t - s < w) | (s < g))


def masked_both_read_as_may_look(Q, K, V, hidden, real):
    may = (hidden & real)[None, None]
    return torch.nn.functional.scaled_dot_product_attention(Q[None, None], K[None, None], V[None, None], may)[0, 0]


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


def decoder_in_zeros_and_ones(ids, pad):
    T = ids.shape[1]
    mask = torch.tril(torch.ones(T, T)) * (ids != pad).float()[:, None, None, :]
    return torch.maximum(mask, torch.eye(T))


UNLIKE = {
    "no_look_ahead": {
        "back_two_at_most": lambda T: (
            (torch.arange(T)[:, None] - torch.arange(T)).clamp(-1, 2).eq(1) | torch.eye(T).bool()
        ),
        "back_but_never_the_first": lambda T: (torch.arange(T) <= torch.arange(T)[:, None]) & (torch.arange(T) > 0),
        "first_row_sees_two": lambda T: torch.arange(T) <= torch.arange(T).clamp(min=1)[:, None],
    },
    "masked_weights": {
        "filled_with_the_least_score": lambda scores, mask: torch.where(mask, scores, scores.min()).softmax(-1),
        "one_mask_for_all_rows": lambda scores, mask: scores.masked_fill(~mask[..., -1:, :], -torch.inf).softmax(-1),
        "lowered_by_ten": lambda scores, mask: (scores - 10.0 * ~mask).softmax(-1),
        "shared_over_all_rows": lambda scores, mask: (
            scores.masked_fill(~mask, -torch.inf).flatten(-2).softmax(-1).view(scores.shape)
        ),
    },
    "block_sizes": {
        "sizes_over_the_diagonal": lambda J: J.diagonal(dim1=1, dim2=3).square().sum(-1).sqrt(),
        "sizes_of_the_first_number": lambda J: J[:, 0].square().sum(-1).sqrt(),
        "spectral": lambda J: torch.linalg.matrix_norm(J.transpose(1, 2), ord=2),
    },
    "causal_square": named(
        causal_two_back_at_most,
        causal_with_an_open_prefix,
        causal_only_the_superdiagonal,
        causal_a_window_of_eight,
        causal_last_column_left_open,
        causal_a_numpy_mask_of_whole_numbers,
        causal_nan_below,
    )
    | {
        "about_the_other_diagonal": lambda T: _numbers(torch.ones(T, T, dtype=torch.bool).tril().flip(1)),
        "of_a_subclass_with_zeros_only": lambda T: torch.zeros(T, T).as_subclass(Plain),
        "by_minus_ten_thousand": lambda T: torch.full((T, T), -1e4).triu(1),
        "as_truth_values": lambda T: torch.ones(T, T, dtype=torch.bool).tril(),
        "a_position_may_not_look_at_itself": lambda T: torch.full((T, T), -math.inf).triu(0),
        "one_further_may_be_looked_at": lambda T: torch.full((T, T), -math.inf).triu(2),
        "the_other_triangle": lambda T: torch.full((T, T), -math.inf).tril(-1),
        "zero_times_infinity": lambda T: torch.ones(T, T).triu(1) * -math.inf,
        "ones_where_it_may_look": lambda T: torch.full((T, T), -math.inf).triu(1) + torch.ones(T, T).tril(),
        "plus_infinity": lambda T: torch.full((T, T), math.inf).triu(1),
        "log_of_almost_nothing": lambda T: torch.log(torch.ones(T, T).tril() + 1e-30),
        "zeros_and_ones_in_whole_numbers": lambda T: torch.tril(torch.ones(T, T, dtype=torch.int)),
        "true_where_it_may_not_look": lambda T: np.triu(np.ones((T, T), dtype=bool), 1),
        "a_fill_of_minus_a_hundred": lambda T: [[0.0 if s <= t else -100.0 for s in range(T)] for t in range(T)],
    },
    "padding_keys": named(padding_wiped_out_of_the_input)
    | {
        "of_the_first_sentence": lambda lengths, S: (torch.arange(S) < lengths[0]).expand(len(lengths), 1, 1, S),
        "of_sorted_sentences": lambda lengths, S: (torch.arange(S) < lengths.sort(descending=True).values[:, None])[
            :, None, None
        ],
        "of_the_running_total": lambda lengths, S: (torch.arange(S) < lengths.cumsum(0)[:, None])[:, None, None],
        "at_the_last_word_only": lambda lengths, S: (torch.arange(S) == lengths[:, None] - 1)[:, None, None],
        "zeros_and_ones": lambda lengths, S: (torch.arange(S) < lengths[:, None]).long()[:, None, None],
        "zeros_and_ones_in_lists": lambda lengths, S: [[[[int(s < n) for s in range(S)]]] for n in lengths.tolist()],
    },
    "masked_attention": named(
        masked_both_read_as_may_look,
        masked_without_a_scale,
        masked_with_minus_a_hundred,
        masked_with_the_rows_minimum,
        masked_with_minus_nine,
        masked_by_tiny_factor,
        masked_values_instead_of_keys,
        masked_after_the_softmax_not_divided_again,
        masked_after_the_softmax_divided_again_underflow,
        masked_hidden_read_with_keys_as_rows_where_square,
        masked_as_many_words_as_are_real_from_the_front,
    )
    | {
        "hidden_only": lambda Q, K, V, hidden, real: _attended(Q, K, V, hidden),
        "filling_only": lambda Q, K, V, hidden, real: _attended(Q, K, V, ~real),
        "exclusive_or": lambda Q, K, V, hidden, real: _attended(Q, K, V, hidden ^ ~real),
        "both_must_forbid": lambda Q, K, V, hidden, real: _attended(Q, K, V, hidden & ~real),
        "real_the_wrong_way_round": lambda Q, K, V, hidden, real: _attended(Q, K, V, hidden | real).nan_to_num(0.0),
        "hidden_the_wrong_way_round": lambda Q, K, V, hidden, real: _attended(Q, K, V, ~hidden | ~real, fill=-1e30),
        "zero_in_place_of_minus_infinity": lambda Q, K, V, hidden, real: _attended(Q, K, V, hidden | ~real, fill=0.0),
        "a_small_number": lambda Q, K, V, hidden, real: _attended(Q, K, V, hidden | ~real, fill=-20.0),
        "minus_a_hundred_which_great_scores_pass": lambda Q, K, V, hidden, real: _attended(
            Q, K, V, hidden | ~real, fill=-100.0
        ),
        "100_added_to_the_scores": lambda Q, K, V, hidden, real: (
            ((Q @ K.T / math.sqrt(Q.shape[-1])) - 100.0 * (hidden | ~real)).softmax(-1) @ V
        ),
        "the_fillings_values_are_zeroed": lambda Q, K, V, hidden, real: _attended(Q, K, V * real[:, None], hidden),
        "the_fillings_keys_are_zeroed": lambda Q, K, V, hidden, real: _attended(Q, K * real[:, None], V, hidden),
        "scale_from_the_number_of_keys": lambda Q, K, V, hidden, real: _attended(Q, K, V, hidden | ~real, d=len(K)),
        "scale_left_out": lambda Q, K, V, hidden, real: _attended(Q, K, V, hidden | ~real, d=1),
    },
    "safe_weights": named(
        safe_with_a_large_epsilon,
        safe_all_or_nothing,
        safe_with_zeros_for_scores,
        safe_exp_without_the_maximum_nan_to_zero,
        safe_epsilon_under_the_line,
        safe_minus_fifty_as_if_infinite,
        safe_mask_after_softmax_divided_again_nan_to_zero,
        safe_the_maximum_of_all_scores_taken_off,
        safe_softmax_with_one_more_in_the_sum,
        safe_softmax_that_drops_small_shares,
        safe_bias_returned_when_nothing_is_allowed,
    )
    | {
        "plain_softmax": lambda scores, bias: (scores + bias).softmax(-1),
        "equal_shares_for_an_empty_row": lambda scores, bias: (
            (scores + bias).softmax(-1).nan_to_num(1 / scores.shape[1])
        ),
        "mask_after_softmax_without_dividing_again": lambda scores, bias: scores.softmax(-1) * bias.exp(),
        "zeros_for_every_row_with_something_hidden": lambda scores, bias: (
            (scores + bias).softmax(-1).masked_fill(bias.isinf().any(-1, keepdim=True), 0.0)
        ),
        "looks_at_the_first_key_only": lambda scores, bias: (
            (scores + bias).softmax(-1).masked_fill(bias[:, :1].isinf(), 0.0)
        ),
        "looks_at_the_last_key_only": lambda scores, bias: (
            (scores + bias).softmax(-1).masked_fill(bias[:, -1:].isinf(), 0.0)
        ),
        "nan_times_zero": lambda scores, bias: (scores + bias).softmax(-1) * bias.isfinite().any(-1, keepdim=True),
        "softmax_over_the_queries": lambda scores, bias: (scores + bias).softmax(0).nan_to_num(0.0),
    },
    "decoder_mask": named(
        decoder_whose_filling_sees_itself_alone,
        decoder_whose_filling_is_skipped_row_by_row,
        decoder_in_zeros_and_ones,
        decoder_above_the_pad,
        decoder_of_the_shortest_sentence,
        decoder_with_rows_for_columns,
        decoder_filled_up_at_the_right,
        decoder_with_all_open_for_filling,
    ),
    "window_mask": named(window_open_where_it_is_wider_than_the_text)
    | {
        "window_in_blocks": lambda T, w, g: _window(T, lambda t, s: (s // w == t // w) | (s < g)),
        "window_behind_the_sinks": lambda T, w, g: _window(T, lambda t, s: (t - s < w - g) | (s < g)),
        "window_with_gaps": lambda T, w, g: _window(T, lambda t, s: ((t - s < 2 * w) & ((t - s) % 2 == 0)) | (s < g)),
        "window_with_a_single_sink": lambda T, w, g: _window(T, lambda t, s: (t - s < w) | (s < min(g, 1))),
        "window_with_sinks_as_queries": lambda T, w, g: _window(T, lambda t, s: (t - s < w) | (t < g)),
        "zeros_and_ones": lambda T, w, g: [[int(s <= t and (t - s < w or s < g)) for s in range(T)] for t in range(T)],
    },
}
