"""Wrong answers to the lesson's exercises, unlike any in the bank: none may pass."""

import functools
import math

import torch

from answer_tables import named
from tx_helpers.plain import Attention


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


def beams_with_different_tokens_only(scores, log_p):
    best = (scores[:, None] + log_p).max(0)
    total, tokens = best.values.topk(len(scores))
    return best.indices[tokens], tokens, total


def beams_divided_by_their_number(scores, log_p):
    total, flat = (scores[:, None] + log_p).flatten().topk(len(scores))
    return flat // len(scores) % len(scores), flat % log_p.shape[1], total


def break_even_on_a_grid(a, n, b, m):
    exact = math.log(b / a) / math.log((5 + m) / (5 + n))
    return round(exact, 1)


def cached_as_many_as_new(new, cached):
    mask = torch.ones(new, cached + new, dtype=torch.bool)
    return mask.tril(new)


def input_with_positions_in_the_first_text(ids, cached, E, P):
    x = E.shape[1] ** 0.5 * E[ids]
    x[0] += P[cached : cached + ids.shape[1]]
    return x


@_text_by_text
def top_logits_without_a_zero(logits, k):  # (tensor([0.0, -1.0, -2.0]), 1)
    kept = logits * (logits >= logits.topk(k).values[-1])
    return torch.where(kept == 0, -torch.inf, logits)


def _ranked_kept(p, keep_of_ranked):
    r, ids = p.sort(-1, descending=True)
    kept = torch.where(keep_of_ranked(r), r, torch.zeros(()))
    return torch.zeros_like(p).scatter(-1, ids, kept / kept.sum(-1, keepdim=True))


def nucleus_the_sum_runs_on_through_the_batch(p, top):
    def keep(r):
        c = r.flatten().cumsum(0).reshape(r.shape)
        k = c - r < top[:, None]
        k[:, 0] = True
        return k

    return _ranked_kept(p, keep)


def _kth_largest(logits, k):
    return logits.sort(-1, descending=True).values.gather(-1, (k[:, None] - 1))


def top_k_threshold_strictly_above(logits, k):
    thr = torch.cat([logits.sort(-1, descending=True).values, torch.full((len(logits), 1), -math.inf)], -1)
    return logits.masked_fill(logits <= thr.gather(-1, k[:, None]).clamp(min=-1e4) + 1e-3, -math.inf)


def greedy_without_the_batch_axis(model, begin, end, most):
    new = []
    while len(new) < most and end not in new:
        new.append(model(torch.tensor(begin + new))[-1].argmax().item())
    return new


def greedy_that_stops_at_a_repetition(model, begin, end, most):
    new = []
    while len(new) < most:
        new.append(model(torch.tensor([begin + new]))[0, -1].argmax().item())
        if new[-1] == end or new[-1] in new[:-1]:
            break
    return new


def top_p_of_two_at_least(p, enough):
    ranked, order = p.sort(descending=True)
    stays = ranked.cumsum(0) - ranked < enough
    stays[:2] = True
    return stays[order.argsort()]


def penalised_towards_the_mean(logits, written, penalty):
    new = logits.clone()
    new[written] = logits.mean() + (logits[written] - logits.mean()) / penalty
    return new


class CachedInPlace(Attention):
    """Right for pieces of one position: the scores are scaled before the past joins, and the mask has S rows."""

    def forward(self, x, past=None):
        k, v = self.split(self.key(x)), self.split(self.value(x))
        if past is not None:
            k, v = torch.cat([past[0] * 1.1, k], 2), torch.cat([past[1], v], 2)
        q = self.split(self.query(x))
        weights = (q @ k.mT / math.sqrt(q.shape[-1])).softmax(-1)
        return self.output((weights @ v).transpose(1, 2).flatten(-2)), (k, v)


def allowed_without_the_end(grammar, written, V):
    state = 0
    for token in written:
        if token not in grammar[state]:
            return torch.zeros(V, dtype=torch.bool)
        state = grammar[state][token]
    return torch.tensor([token in grammar[state] and grammar[grammar[state][token]] != {} for token in range(V)])


def constrained_at_first_only(model, begin, end, most, may_come):
    ids = []
    for n in range(most):
        logits = model(torch.tensor([[*begin, *ids]]))[0, -1]
        ids.append((logits.masked_fill(~may_come(ids), -math.inf) if n == 0 else logits).argmax().item())
        if ids[-1] == end:
            break
    return ids


UNLIKE = {
    "CachedAttention": named(CachedInPlace),
    "allowed": named(allowed_without_the_end),
    "constrained": named(constrained_at_first_only),
    "tempered": {
        "never_above_one": lambda logits, temperature: torch.softmax(logits / min(temperature, 1), 0),
        "in_whole_steps": lambda logits, temperature: torch.softmax(logits // temperature, 0),
        # (tensor([0.2, 0.1, 0.0]), 0.05)
        "at_a_tenth_at_least": lambda logits, temperature: torch.softmax(logits / max(temperature, 0.1), 0),
    },
    "nucleus": named(nucleus_shared_out_evenly, nucleus_the_sum_runs_on_through_the_batch)
    | {
        "tokens_rarer_than_1_top_are_dropped": lambda p, top: _ranked_kept(
            p, lambda r: (r >= 1 - top[:, None]) | (r == r.amax(-1, keepdim=True))
        ),
        "top_never_above_0_95": lambda p, top: _ranked_kept(
            p, lambda r: r.cumsum(-1) - r < top.clamp(max=0.95)[:, None]
        ),
    },
    "top_k_logits": named(
        top_k_threshold_strictly_above,
        top_logits_without_a_zero,
    )
    | {
        "k_threshold_with_a_tolerance": lambda logits, k: logits.masked_fill(
            logits < _kth_largest(logits, k) - 1e-2, -math.inf
        ),
    },
    "next_beams": named(beams_with_different_tokens_only, beams_divided_by_their_number),
    "break_even": named(break_even_on_a_grid),
    "cached_mask": named(cached_as_many_as_new),
    "cached_input": named(input_with_positions_in_the_first_text)
    | {
        "behind_with_a_whole_root": lambda ids, cached, E, P: (
            math.isqrt(E.shape[1]) * E[ids] + P[cached : cached + ids.shape[1]]
        ),
    },
    "tokens_that_fit": {
        "in_half_precision": lambda memory, N, G, K, B, size: int(
            torch.tensor(memory / (2 * N * G * K * B * size)).bfloat16()
        ),
    },
    "greedy": named(greedy_that_stops_at_a_repetition, greedy_without_the_batch_axis),
    "top_p": named(top_p_of_two_at_least),
    "penalised": named(penalised_towards_the_mean),
}
