"""Right answers to the lesson's exercises by other algorithms: all must pass."""

import math

import torch
import torch.nn.functional as F

from answer_tables import named


def merged_by_logsumexp(one, other):
    (o1, m1, n1), (o2, m2, n2) = one, other
    both = torch.cat([m1 + n1.log(), m2 + n2.log()], dim=-1)  # the logarithm of each block's sum of exponentials
    share = both.softmax(-1)
    m = torch.max(m1, m2)
    return share[:, :1] * o1 + share[:, 1:] * o2, m, (both.logsumexp(-1, keepdim=True) - m).exp()


def merged_in_a_stack(one, other):
    out, largest, total = (torch.stack(pair) for pair in zip(one, other, strict=True))
    m = largest.amax(0)
    weight = total * (largest - m).exp()
    return (weight * out).sum(0) / weight.sum(0), m, weight.sum(0)


def kept_in_logarithms(p, q):
    ratio = p.log() - q.log()
    left = (p - q).relu().log()
    return ratio.clamp(max=0).exp(), left.softmax(0)


def kept_by_a_loop(p, q):
    keep, missing = [], []
    for a, b in zip(p.tolist(), q.tolist(), strict=True):
        keep.append(min(1.0, a / b))
        missing.append(max(0.0, a - b))
    return keep, [part / sum(missing) for part in missing]


def checked_by_a_count(large, small, text, ahead, dice):
    """First how many are kept, then one token more, from p − q with q = 0 after the last."""
    drafted, q = [], []
    while len(drafted) < ahead:
        q += [small([*text, *drafted])[-1]]
        drafted += [dice.draw(q[-1])]
    p = large([*text, *drafted])[-ahead - 1 :]
    n = 0
    while n < ahead and dice.flip(p[n, drafted[n]] / q[n][drafted[n]]):
        n += 1
    q.append(torch.zeros_like(p[0]))
    return [*drafted[:n], dice.draw(F.relu(p[n] - q[n]))]


def checked_by_recursion(large, small, text, ahead, dice):
    def draft(written, n):
        if n == 0:
            return []
        q = small(written)[-1]
        token = dice.draw(q)
        return [(token, q), *draft([*written, token], n - 1)]

    def judge(pairs, p):
        if not pairs:
            return [dice.draw(p[0])]
        (token, q), *others = pairs
        if dice.flip(torch.minimum(p[0], q)[token] / q[token]):
            return [token, *judge(others, p[1:])]
        return [dice.draw(p[0] - torch.minimum(p[0], q))]

    pairs = draft(text, ahead)
    return judge(pairs, large(text + [token for token, _ in pairs])[len(text) - 1 :])


def linear_head_by_head(memory, total, q, k, v):
    memory = torch.stack([m + torch.outer(a, b) for m, a, b in zip(memory, k, v, strict=True)])
    total = torch.add(total, k)
    out = torch.stack([m.T @ x / (x @ z) for m, x, z in zip(memory, q, total, strict=True)])
    return out, memory, total


def linear_with_the_total_as_a_column(memory, total, q, k, v):
    """The total is what a value of 1 leaves in the memory."""
    one = torch.ones_like(v[:, :1])
    state = torch.cat([memory, total[..., None]], -1) + k[..., None] * torch.cat([v, one], -1)[:, None]
    read = torch.matmul(q[:, None], state)[:, 0]
    return read[:, :-1] / read[:, -1:], state[..., :-1], state[..., -1]


def delta_as_a_matrix(memory, k, v, beta):
    """(1 − β k kᵀ) M + β k vᵀ."""
    b = beta[:, None, None]
    eye = torch.eye(k.shape[-1])
    return (eye - b * k[:, :, None] @ k[:, None]) @ memory + b * k[:, :, None] * v[:, None]


def delta_head_by_head(memory, k, v, beta):
    return torch.stack([m.addr(a, w - m.T @ a, alpha=float(b)) for m, a, w, b in zip(memory, k, v, beta, strict=True)])


def cache_in_a_loop(windows, T, B, H, G, K, size):
    count = 0
    for window in windows:
        positions = T if window == 0 or window > T else window
        count += B * positions * (G * K + G * K) * size
    return count


def cache_in_a_tensor(windows, T, B, H, G, K, size):
    kept = torch.tensor(windows)
    return torch.where(kept > 0, kept, T).clamp(max=T).sum() * 2 * G * K * B * size


def rounded_by_half_up(W, bits):
    """floor(x + ½): another result only at exact halves."""
    scale = torch.linalg.vector_norm(W, ord=math.inf, dim=1, keepdim=True) / ((1 << bits - 1) - 1)
    return torch.floor(W / scale + 0.5) * scale


def rounded_by_the_nearest_of_all_codes(W, bits):
    codes = torch.arange(-(2 ** (bits - 1)) + 1, 2 ** (bits - 1))
    levels = codes / codes[-1] * W.abs().max(1, keepdim=True).values  # (F, number of codes)
    nearest = (W[..., None] - levels[:, None]).abs().argmin(-1)
    return levels.gather(1, nearest)


def stretched_pair_by_pair(frequencies, factor, T, slow, fast):
    found = []
    for w in frequencies.tolist():
        turns = T / (2 * math.pi / w)  # the wavelength is 2π/ω
        share = min(1.0, max(0.0, math.log(turns / slow, fast / slow)))
        found.append(w * (share + (1 - share) / factor))
    return found


def stretched_by_where(frequencies, factor, T, slow, fast):
    turns = frequencies * T / math.tau
    share = (turns.log() - math.log(slow)) / (math.log(fast) - math.log(slow))
    mixed = frequencies / factor + share * (frequencies - frequencies / factor)
    return torch.where(turns >= fast, frequencies, torch.where(turns <= slow, frequencies / factor, mixed))


def block_scores_of_all_keys(q, k, block):
    return (q @ k.mT).unflatten(-1, (-1, block)).mean(-1)


def block_scores_by_pooling(q, k, block):
    means = F.avg_pool1d(k.mT.flatten(0, -3) if k.dim() > 3 else k.mT, block)
    return q @ means.reshape(*k.shape[:-2], k.shape[-1], -1)


def best_blocks_by_a_threshold(scores, block, count):
    T, N = scores.shape[-2:]
    own, blocks = torch.arange(T)[:, None] // block, torch.arange(N)
    ranked = scores.where(blocks < own, -torch.inf).where(blocks != own, torch.inf)
    chosen = (ranked >= ranked.topk(count, -1).values[..., -1:]) & (blocks <= own)
    return chosen.repeat_interleave(block, -1) & torch.ones(T, T).tril().bool()


def best_blocks_row_by_row(scores, block, count):
    rows = scores.reshape(-1, *scores.shape[-2:])
    mask = torch.zeros(len(rows), rows.shape[1], rows.shape[1], dtype=torch.bool)
    for number, row in enumerate(rows):
        for t, found in enumerate(row.tolist()):
            own = t // block
            for n in [own, *sorted(range(own), key=lambda n, found=found: -found[n])[: count - 1]]:
                mask[number, t, n * block : min((n + 1) * block, t + 1)] = True
    return mask.reshape(*scores.shape[:-1], scores.shape[-2])


RIGHT = {
    "block_scores": named(block_scores_of_all_keys, block_scores_by_pooling),
    "best_blocks": named(best_blocks_by_a_threshold, best_blocks_row_by_row),
    "merge_blocks": named(merged_by_logsumexp, merged_in_a_stack),
    "keep_or_redraw": named(kept_in_logarithms, kept_by_a_loop),
    "draft_and_check": named(checked_by_a_count, checked_by_recursion),
    "linear_step": named(linear_head_by_head, linear_with_the_total_as_a_column),
    "delta_step": named(delta_as_a_matrix, delta_head_by_head),
    "window_cache": named(cache_in_a_loop, cache_in_a_tensor),
    "rounded_rows": named(rounded_by_half_up, rounded_by_the_nearest_of_all_codes),
    "yarn_frequencies": named(stretched_pair_by_pair, stretched_by_where),
}
