"""Wrong answers to notebook 11's and 12's exercises, unlike any in the bank: none may pass."""

import functools
import math

import torch

from answers.tables import named


def _text_by_text(rule):
    """A rule for one row (V,) and its own setting, applied to (B, V) and (B,)."""

    @functools.wraps(rule)
    def of_rows(rows, settings):
        return torch.stack([rule(row, setting) for row, setting in zip(rows, settings.tolist(), strict=True)])

    return of_rows


def _nucleus(p, top):
    """The kept tokens, as truth values in the order of p."""
    order = p.argsort(descending=True)
    kept = p[order].cumsum(0) - p[order] < top
    return torch.zeros_like(kept).scatter(0, order, kept)


@_text_by_text
def nucleus_shared_out_evenly(p, top):
    kept = _nucleus(p, top)
    return p * kept + (1 - (p * kept).sum()) / kept.sum() * kept


@_text_by_text
def nucleus_of_two(p, top):
    kept = p * (p >= p.topk(min(2, len(p))).values[-1])
    return kept / kept.sum()


@_text_by_text
def top_logits_with_the_smallest_float(logits, k):
    kept = logits >= logits.topk(k).values[-1]
    return torch.where(kept, logits, torch.finfo(logits.dtype).min)


@_text_by_text
def top_two_logits(logits, k):
    return logits.masked_fill(logits < logits.topk(min(2, len(logits))).values[-1], -torch.inf)


@_text_by_text
def top_logits_cut_at_their_mean(logits, k):
    return logits.masked_fill(logits < logits.mean(), -torch.inf)


def beams_with_different_tokens_only(scores, log_p):
    best = (scores[:, None] + log_p).max(0)
    total, tokens = best.values.topk(len(scores))
    return best.indices[tokens], tokens, total


def beams_divided_by_their_number(scores, log_p):
    total, flat = (scores[:, None] + log_p).flatten().topk(len(scores))
    return flat // len(scores) % len(scores), flat % log_p.shape[1], total


def beams_with_scores_of_the_last_step(scores, log_p):
    flat = (scores[:, None] + log_p).flatten().topk(len(scores)).indices
    return flat // log_p.shape[1], flat % log_p.shape[1], log_p.flatten()[flat]


def beams_in_the_order_of_beams(scores, log_p):
    total, flat = (scores[:, None] + log_p).flatten().topk(len(scores))
    flat, order = flat.sort()
    return flat // log_p.shape[1], flat % log_p.shape[1], total[order]


def beams_scored_by_the_other_axis(scores, log_p):
    n, V = log_p.shape
    total, flat = (scores.repeat(V)[: n * V].view(n, V) + log_p).flatten().topk(n)
    return flat // V, flat % V, total


def break_even_on_a_grid(a, n, b, m):
    exact = math.log(b / a) / math.log((5 + m) / (5 + n))
    return round(exact, 1)


def cached_as_many_as_new(new, cached):
    mask = torch.ones(new, cached + new, dtype=torch.bool)
    return mask.tril(new)


def cached_in_a_sliding_window(new, cached):
    gap = torch.arange(cached, cached + new)[:, None] - torch.arange(cached + new)
    return (gap >= 0) & (gap <= max(cached, 1))


def cached_behind_the_new(new, cached):
    causal = torch.ones(new, new, dtype=torch.bool).tril()
    return torch.cat([causal, torch.ones(new, cached, dtype=torch.bool)], 1)


def input_with_texts_one_behind_the_other(ids, cached, E, P):
    B, T = ids.shape
    return E.shape[1] ** 0.5 * E[ids] + P[(cached + torch.arange(B * T).view(B, T)) % len(P)]


def input_with_positions_in_the_first_text(ids, cached, E, P):
    x = E.shape[1] ** 0.5 * E[ids]
    x[0] += P[cached : cached + ids.shape[1]]
    return x


def tempered_without_the_maximum(logits, temperature):  # (tensor([100.0, 0.0]), 1.0): NaN
    shares = (logits / temperature).exp()
    return shares / shares.sum()


@_text_by_text
def top_logits_without_a_zero(logits, k):  # (tensor([0.0, -1.0, -2.0]), 1)
    kept = logits * (logits >= logits.topk(k).values[-1])
    return torch.where(kept == 0, -torch.inf, logits)


def _to_one(kept):
    return kept / kept.sum(-1, keepdim=True)


def _put_back(p, top, change):
    r, ids = p.sort(-1, descending=True)
    return torch.zeros_like(p).scatter(-1, ids, change(r.where(r.cumsum(-1) - r < top[:, None], 0.0)))


def _ranked_kept(p, keep_of_ranked):
    r, ids = p.sort(-1, descending=True)
    kept = torch.where(keep_of_ranked(r), r, torch.zeros(()))
    return torch.zeros_like(p).scatter(-1, ids, kept / kept.sum(-1, keepdim=True))


def nucleus_stops_before_the_one_that_reaches_top_but_keeps(p, top):
    def keep(r):
        k = r.cumsum(-1) <= top[:, None]
        k[:, 0] = True
        return k

    return _ranked_kept(p, keep)


def nucleus_in_order_of_size(p, top):
    r, _ids = p.sort(-1, descending=True)
    k = r.where(r.cumsum(-1) - r < top[:, None], 0.0)
    return k / k.sum(-1, keepdim=True)


def nucleus_put_back_with_gather(p, top):
    r, ids = p.sort(-1, descending=True)
    k = r.where(r.cumsum(-1) - r < top[:, None], 0.0)
    return (k / k.sum(-1, keepdim=True)).gather(-1, ids)


def nucleus_at_least_two_tokens(p, top):
    def keep(r):
        k = r.cumsum(-1) - r < top[:, None]
        k[:, :2] = True
        return k

    return _ranked_kept(p, keep)


def nucleus_the_rarest_tokens(p, top):
    r, ids = p.sort(-1)
    k = r.where(r.cumsum(-1) - r < top[:, None], 0.0)
    return torch.zeros_like(p).scatter(-1, ids, k / k.sum(-1, keepdim=True))


def nucleus_the_sum_runs_on_through_the_batch(p, top):
    def keep(r):
        c = r.flatten().cumsum(0).reshape(r.shape)
        k = c - r < top[:, None]
        k[:, 0] = True
        return k

    return _ranked_kept(p, keep)


def _kth_largest(logits, k):
    return logits.sort(-1, descending=True).values.gather(-1, (k[:, None] - 1))


def top_k_the_handed_in_tensor_itself_when_all_stay(logits, k):
    if (k == logits.shape[-1]).all():
        return logits
    return logits.masked_fill(logits < _kth_largest(logits, k), -math.inf)


def top_k_in_order_of_size(logits, k):
    r = logits.sort(-1, descending=True).values
    return r.masked_fill(torch.arange(r.shape[1]) >= k[:, None], -math.inf)


def top_k_as_many_as_k_sum_over_the_whole_batch(logits, k):
    thr = logits.flatten().sort(descending=True).values[k.sum() - 1]
    return logits.masked_fill(logits < thr, -math.inf)


def top_k_logits_moved_so_that_the_best_is_0(logits, k):
    z = logits.masked_fill(logits < _kth_largest(logits, k), -math.inf)
    return z - logits.amax(-1, keepdim=True)


def top_k_ranks_in_half_precision(logits, k):
    h = logits.half().float()
    return logits.masked_fill(h < _kth_largest(h, k), -math.inf)


def top_k_threshold_strictly_above(logits, k):
    thr = torch.cat([logits.sort(-1, descending=True).values, torch.full((len(logits), 1), -math.inf)], -1)
    return logits.masked_fill(logits <= thr.gather(-1, k[:, None]).clamp(min=-1e4) + 1e-3, -math.inf)


@_text_by_text
def nucleus_that_stops_before_the_line(p, top):
    kept, total = torch.zeros_like(p), 0.0
    for i in p.argsort(descending=True):
        if total + p[i] > top:
            break
        kept[i] = p[i]
        total += p[i]
    return kept / kept.sum()


@_text_by_text
def nucleus_below_the_line_and_the_likeliest(p, top):
    ranked, ids = p.sort(descending=True)
    drop = ranked.cumsum(0) >= top
    drop[0] = False
    kept = p.clone()
    kept[ids[drop]] = 0
    return kept / kept.sum()


def beams_each_with_its_own_best(scores, log_p):
    tokens = log_p.argmax(1)
    return list(range(len(scores))), tokens, scores + log_p.gather(1, tokens[:, None])[:, 0]


def beams_each_with_its_own_best_in_order(scores, log_p):
    own = [(float(scores[b] + row.max()), b, int(row.argmax())) for b, row in enumerate(log_p)]
    own.sort(reverse=True)
    return [b for _, b, _ in own], [v for _, _, v in own], [s for s, _, _ in own]


UNLIKE = {
    "tempered": named(tempered_without_the_maximum)
    | {
        "by_the_square": lambda logits, temperature: torch.softmax(logits / temperature**2, 0),
        "at_one_half": lambda logits, temperature: torch.softmax(2 * logits, 0),
        "never_above_one": lambda logits, temperature: torch.softmax(logits / min(temperature, 1), 0),
        "in_whole_steps": lambda logits, temperature: torch.softmax(logits // temperature, 0),
        # (tensor([0.2, 0.1, 0.0]), 0.05)
        "at_a_tenth_at_least": lambda logits, temperature: torch.softmax(logits / max(temperature, 0.1), 0),
    },
    "nucleus": named(
        nucleus_that_stops_before_the_line,
        nucleus_below_the_line_and_the_likeliest,
        nucleus_shared_out_evenly,
        nucleus_of_two,
        nucleus_stops_before_the_one_that_reaches_top_but_keeps,
        nucleus_in_order_of_size,
        nucleus_put_back_with_gather,
        nucleus_at_least_two_tokens,
        nucleus_the_rarest_tokens,
        nucleus_the_sum_runs_on_through_the_batch,
    )
    | {
        "not_divided_by_the_new_sum": lambda p, top: _put_back(p, top, lambda kept: kept),
        "divided_by_the_sum_of_the_batch": lambda p, top: _put_back(p, top, lambda kept: kept / kept.sum() * len(p)),
        "divided_by_top_in_place_of_the_sum": lambda p, top: _put_back(p, top, lambda kept: kept / top[:, None]),
        "softmax_over_what_is_kept": lambda p, top: _put_back(
            p, top, lambda kept: kept.where(kept > 0, -math.inf).softmax(-1)
        ),
        "min_p": lambda p, top: _to_one(p.where(p >= (1 - top[:, None]) * p.amax(-1, keepdim=True), 0.0)),
        "tokens_rarer_than_1_top_are_dropped": lambda p, top: _to_one(
            p.where((p >= 1 - top[:, None]) | (p == p.amax(-1, keepdim=True)), 0.0)
        ),
        "cut_in_the_order_of_the_vocabulary": lambda p, top: _to_one(p.where(p.cumsum(-1) - p < top[:, None], 0.0)),
        "the_longest_rows_number_of_tokens_for_all": lambda p, top: _ranked_kept(
            p, lambda r: (r.cumsum(-1) - r < top[:, None]).any(0).expand(r.shape)
        ),
        "of_the_whole_batch": lambda p, top: _nucleus(p.flatten(), top.mean()).view(p.shape) * p,
        "goes_beyond_top_where_it_is_just_reached": lambda p, top: _ranked_kept(
            p, lambda r: r.cumsum(-1) - r <= top[:, None]
        ),
        "first_texts_top_for_all": lambda p, top: _ranked_kept(p, lambda r: r.cumsum(-1) - r < top[0]),
        "top_never_above_0_95": lambda p, top: _ranked_kept(
            p, lambda r: r.cumsum(-1) - r < top.clamp(max=0.95)[:, None]
        ),
    },
    "top_k_logits": named(
        top_logits_with_the_smallest_float,
        top_two_logits,
        top_logits_cut_at_their_mean,
        top_k_the_handed_in_tensor_itself_when_all_stay,
        top_k_in_order_of_size,
        top_k_as_many_as_k_sum_over_the_whole_batch,
        top_k_logits_moved_so_that_the_best_is_0,
        top_k_ranks_in_half_precision,
        top_k_threshold_strictly_above,
        top_logits_without_a_zero,
    )
    | {
        "k_the_first_texts_k": lambda logits, k: logits.masked_fill(
            logits < _kth_largest(logits, k[:1].expand_as(k)), -math.inf
        ),
        "k_the_largest_k": lambda logits, k: logits.masked_fill(
            logits < _kth_largest(logits, k.max().expand_as(k)), -math.inf
        ),
        "k_one_too_many": lambda logits, k: logits.masked_fill(
            logits < _kth_largest(logits, (k + 1).clamp(max=logits.shape[1])), -math.inf
        ),
        "k_one_too_few_but_one_at_least": lambda logits, k: logits.masked_fill(
            logits < _kth_largest(logits, (k - 1).clamp(min=1)), -math.inf
        ),
        "k_the_k_smallest": lambda logits, k: logits.masked_fill(logits > -_kth_largest(-logits, k), -math.inf),
        "k_in_place": lambda logits, k: logits.masked_fill_(logits < _kth_largest(logits, k), -math.inf),
        "k_a_large_number": lambda logits, k: logits.masked_fill(logits < _kth_largest(logits, k), -1e9),
        "k_zero": lambda logits, k: logits.masked_fill(logits < _kth_largest(logits, k), 0.0),
        "k_ranks_by_one_argsort": lambda logits, k: logits.masked_fill(
            logits.argsort(-1, descending=True) >= k[:, None], -math.inf
        ),
        "k_largest_by_size_without_sign": lambda logits, k: logits.masked_fill(
            logits.abs() < _kth_largest(logits.abs(), k), -math.inf
        ),
        "k_the_first_k_columns": lambda logits, k: logits.masked_fill(
            torch.arange(logits.shape[1]) >= k[:, None], -math.inf
        ),
        "k_log_probabilities_instead": lambda logits, k: logits.masked_fill(
            logits < _kth_largest(logits, k), -math.inf
        ).log_softmax(-1),
        "k_threshold_with_a_tolerance": lambda logits, k: logits.masked_fill(
            logits < _kth_largest(logits, k) - 1e-2, -math.inf
        ),
    },
    "next_beams": named(
        beams_each_with_its_own_best,
        beams_each_with_its_own_best_in_order,
        beams_with_different_tokens_only,
        beams_divided_by_their_number,
        beams_with_scores_of_the_last_step,
        beams_in_the_order_of_beams,
        beams_scored_by_the_other_axis,
    ),
    "break_even": named(break_even_on_a_grid)
    | {
        "even_of_lengths_alone": lambda a, n, b, m: math.log(b / a) / math.log(m / n),
        "even_of_quotients": lambda a, n, b, m: (b / a) / ((5 + m) / (5 + n)),
        "even_of_differences": lambda a, n, b, m: math.log(1 + a - b) / math.log((5 + m) / (5 + n)),
        "even_with_one_token_more": lambda a, n, b, m: math.log(b / a) / math.log((6 + m) / (6 + n)),
    },
    "cached_mask": named(cached_as_many_as_new, cached_in_a_sliding_window, cached_behind_the_new)
    | {
        "with_new_ones_all_seen": lambda new, cached: torch.ones(new, cached + new, dtype=torch.bool),
        "in_zeros_and_ones": lambda new, cached: [
            [int(s <= cached + t) for s in range(cached + new)] for t in range(new)
        ],
    },
    "cached_input": named(input_with_texts_one_behind_the_other, input_with_positions_in_the_first_text)
    | {
        "with_positions_from_zero": lambda ids, cached, E, P: E.shape[1] ** 0.5 * E[ids] + P[: ids.shape[1]],
        "with_one_position_for_all_new": lambda ids, cached, E, P: E.shape[1] ** 0.5 * E[ids] + P[cached],
        "behind_with_a_whole_root": lambda ids, cached, E, P: (
            math.isqrt(E.shape[1]) * E[ids] + P[cached : cached + ids.shape[1]]
        ),
        "behind_one_token_late": lambda ids, cached, E, P: E.shape[1] ** 0.5 * E[ids] + P[cached + 1 :][: ids.shape[1]],
    },
    "tokens_that_fit": {
        "rounded_to_nearest": lambda memory, N, G, K, B, size: round(memory / (2 * N * G * K * B * size) + 0.26),
        "for_all_texts_together": lambda memory, N, G, K, B, size: memory // (2 * N * G * K * size),
        "rounded_for_each_text_first": lambda memory, N, G, K, B, size: memory // size // (2 * N * G) // K * B,
        "in_half_precision": lambda memory, N, G, K, B, size: int(
            torch.tensor(memory / (2 * N * G * K * B * size)).bfloat16()
        ),
        "of_six": lambda memory, N, G, K, B, size: 6,
        # (10, 1, 1, 2, 1, 4): not one token fits
        "of_at_least_one": lambda memory, N, G, K, B, size: max(1, memory // (2 * N * G * K * B * size)),
        "with_parts_of_tokens": lambda memory, N, G, K, B, size: memory / B / (2 * N * G * K * size),
        "rounded_up": lambda memory, N, G, K, B, size: math.ceil(memory / (2 * N * G * K * B * size)),
    },
}
