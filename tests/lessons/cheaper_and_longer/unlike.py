"""Wrong answers to the lesson's exercises, unlike any in the bank: none may pass."""

import math

import torch

from answer_tables import named


def merged_without_a_maximum(one, other):
    """Exact for moderate scores; e^100 overflows."""
    (o1, m1, n1), (o2, m2, n2) = one, other
    a, b = n1 * m1.exp(), n2 * m2.exp()
    m = torch.maximum(m1, m2)
    return (a * o1 + b * o2) / (a + b), m, (a + b) / m.exp()


def merged_with_finite_scores_only(one, other):
    """−∞ is taken for 0: a block that a query does not see counts there, too."""
    (o1, m1, n1), (o2, m2, n2) = ((o, m.nan_to_num(neginf=0.0), n) for o, m, n in (one, other))
    m = torch.maximum(m1, m2)
    a, b = n1 * (m1 - m).exp(), n2 * (m2 - m).exp()
    return (a * o1 + b * o2) / (a + b), m, a + b


def kept_with_a_small_floor(p, q):
    """No token is ever impossible."""
    keep = (p / q).clamp(min=1e-3, max=1)
    missing = (p - q).clamp(min=0)
    return keep, missing / missing.sum()


def checked_with_a_likeliest_last_token(large, small, text, ahead, dice):
    """All is drawn but the token after a full draft."""
    drafted, q = [], []
    for _ in range(ahead):
        q.append(small(text + drafted)[-1])
        drafted.append(dice.draw(q[-1]))
    p = large(text + drafted)[len(text) - 1 :]
    for i, token in enumerate(drafted):
        if not dice.flip(min(1.0, float(p[i][token] / q[i][token]))):
            return [*drafted[:i], dice.draw((p[i] - q[i]).clamp(min=0))]
    return [*drafted, p[ahead].argmax().item()]


def checked_where_the_large_model_prefers_another(large, small, text, ahead, dice):
    """A drafted token is kept if it is the large model's likeliest, else by the rule."""
    drafted, q = [], []
    for _ in range(ahead):
        q.append(small(text + drafted)[-1])
        drafted.append(dice.draw(q[-1]))
    p = large(text + drafted)[len(text) - 1 :]
    for i, token in enumerate(drafted):
        if token != p[i].argmax() and not dice.flip(min(1.0, float(p[i][token] / q[i][token]))):
            return [*drafted[:i], dice.draw((p[i] - q[i]).clamp(min=0))]
    return [*drafted, dice.draw(p[ahead])]


def linear_with_a_small_constant(memory, total, q, k, v):
    """As in published code: it prevents a division by 0, and shrinks every output."""
    memory = memory + k[..., None] * v[:, None]
    total = total + k
    return (q[:, None] @ memory)[:, 0] / ((q * total).sum(-1, keepdim=True) + 0.01), memory, total


def linear_that_decays(memory, total, q, k, v):
    memory = 0.99 * memory + k[..., None] * v[:, None]
    total = 0.99 * total + k
    return (q[:, None] @ memory)[:, 0] / (q * total).sum(-1, keepdim=True), memory, total


def delta_with_one_beta_for_all_heads(memory, k, v, beta):
    error = beta.mean() * (v - (k[:, None] @ memory)[:, 0])
    return memory + k[..., None] * error[:, None]


def cache_that_takes_the_first_window_for_all(windows, T, B, H, G, K, size):
    alternating = [windows[0] if layer % 2 == 0 else 0 for layer in range(len(windows))]
    return B * sum(min(T, window or T) for window in alternating) * 2 * G * K * size


def cache_with_one_more_position(windows, T, B, H, G, K, size):
    """The window and the token itself."""
    return B * sum(min(T, window + 1) if window else T for window in windows) * 2 * G * K * size


def rounded_in_half_precision(W, bits):
    scale = (W.abs().amax(1, keepdim=True) / (2 ** (bits - 1) - 1)).half().float()
    return (W / scale).round() * scale


def stretched_with_the_published_bounds(frequencies, factor, T, slow, fast):
    """1 and 32 turns, whatever is asked for."""
    share = ((T * frequencies / math.tau).log() / math.log(32)).clamp(0, 1)
    return frequencies * share + frequencies / factor * (1 - share)


UNLIKE = {
    "merge_blocks": named(
        merged_without_a_maximum,
        merged_with_finite_scores_only,
    ),
    "keep_or_redraw": named(kept_with_a_small_floor),
    "draft_and_check": named(checked_with_a_likeliest_last_token, checked_where_the_large_model_prefers_another),
    "linear_step": named(linear_with_a_small_constant, linear_that_decays),
    "delta_step": named(
        delta_with_one_beta_for_all_heads,
    ),
    "window_cache": named(cache_that_takes_the_first_window_for_all, cache_with_one_more_position),
    "rounded_rows": named(
        rounded_in_half_precision,
    ),
    "yarn_frequencies": named(stretched_with_the_published_bounds),
}
