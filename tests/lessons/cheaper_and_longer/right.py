"""Right answers to the lesson's exercises in unusual forms: all must pass."""

import math

import numpy as np
import torch
import torch.nn.functional as F

from answer_tables import named


def merged_by_logsumexp(one, other):
    (o1, m1, n1), (o2, m2, n2) = one, other
    both = torch.cat([m1 + n1.log(), m2 + n2.log()], dim=-1)  # the logarithm of each block's sum of exponentials
    share = both.softmax(-1)
    m = torch.max(m1, m2)
    return share[:, :1] * o1 + share[:, 1:] * o2, m, (both.logsumexp(-1, keepdim=True) - m).exp()


def merged_row_by_row(one, other):
    rows = []
    for o1, m1, n1, o2, m2, n2 in zip(*one, *other, strict=True):
        m = max(m1.item(), m2.item())
        a, b = n1 * math.exp(m1 - m), n2 * math.exp(m2 - m)
        rows.append(((o1 * a + o2 * b) / (a + b), torch.tensor([m]), a + b))
    return [torch.stack(part) for part in zip(*rows, strict=True)]


def merged_in_a_stack(one, other):
    out, largest, total = (torch.stack(pair) for pair in zip(one, other, strict=True))
    m = largest.amax(0)
    weight = total * (largest - m).exp()
    return (weight * out).sum(0) / weight.sum(0), m, weight.sum(0)


def merged_by_moving_the_first(one, other):
    """From the first output a step towards the second, and one exponential only."""
    (o1, m1, n1), (o2, m2, n2) = one, other
    swap = m2 > m1
    (o1, o2), (m1, m2), (n1, n2) = (
        (torch.where(swap, b, a), torch.where(swap, a, b)) for a, b in ((o1, o2), (m1, m2), (n1, n2))
    )
    total = n1 + n2 * torch.exp(m2 - m1)
    return o1 + (1 - n1 / total) * (o2 - o1), m1, total


def kept_by_where(p, q):
    keep = torch.where(p < q, p / q, 1.0)
    surplus = torch.where(p > q, p - q, 0.0)
    return keep, F.normalize(surplus, p=1, dim=0)


def kept_by_the_common_part(p, q):
    common = torch.minimum(p, q)
    return common / q, (p - common) / (1 - common.sum())


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


def checked_in_place(large, small, text, ahead, dice):
    """Writes onto the text, and cuts it off."""
    T, q = len(text), []
    for _ in range(ahead):
        q.append(small(text)[-1].tolist())
        text.append(dice.draw(q[-1]))
    p = large(text).tolist()
    for i, of_draft in enumerate(q):
        x, of_large = text[T + i], p[T + i - 1]
        if of_large[x] < of_draft[x] and not dice.flip(of_large[x] / of_draft[x]):
            del text[T + i :]
            text.append(dice.draw([max(0.0, a - b) for a, b in zip(of_large, of_draft, strict=True)]))
            return text[T:]
    return [*text[T:], dice.draw(p[-1])]


def checked_in_a_tensor(large, small, text, ahead, dice):
    """All ratios at once; what is flipped for is the token's own refusal."""
    drafted, q = [], []
    for _ in range(ahead):
        q.append(small(text + drafted)[-1])
        drafted.append(dice.draw(q[-1]))
    q, p = torch.stack(q), large(text + drafted)[len(text) - 1 :]
    refuse = 1 - (p[:-1] / q).clamp(max=1)[range(ahead), drafted]
    first = next((i for i in range(ahead) if dice.flip(refuse[i])), ahead)
    again = (p[first] - q[first]).clamp(min=0) if first < ahead else p[-1]
    return torch.tensor([*drafted[:first], dice.draw(again / again.sum())])


def linear_by_einsum(memory, total, q, k, v):
    memory = memory + torch.einsum("hk,he->hke", k, v)
    total = k + total
    return torch.einsum("hk,hke->he", q, memory) / torch.einsum("hk,hk->h", q, total)[:, None], memory, total


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


def linear_without_writing_first(memory, total, q, k, v):
    """Reads the old state, and adds what this token gives to itself."""
    own = (q * k).sum(-1, keepdim=True)
    read = torch.bmm(q.unsqueeze(1), memory).squeeze(1) + own * v
    return read / ((q * total).sum(-1, keepdim=True) + own), memory + k[:, :, None] * v[:, None, :], total + k


def delta_by_einsum(memory, k, v, beta):
    error = v - torch.einsum("hk,hke->he", k, memory)
    return memory + torch.einsum("h,hk,he->hke", beta, k, error)


def delta_as_a_matrix(memory, k, v, beta):
    """(1 − β k kᵀ) M + β k vᵀ."""
    b = beta[:, None, None]
    eye = torch.eye(k.shape[-1])
    return (eye - b * k[:, :, None] @ k[:, None]) @ memory + b * k[:, :, None] * v[:, None]


def delta_head_by_head(memory, k, v, beta):
    return torch.stack([m.addr(a, w - m.T @ a, alpha=float(b)) for m, a, w, b in zip(memory, k, v, beta, strict=True)])


def delta_as_a_step_of_gradient_descent(memory, k, v, beta):
    """On ½ |Mᵀk − v|², with the rate β."""
    memory = memory.clone().requires_grad_()
    loss = ((k[:, None] @ memory)[:, 0] - v).square().sum() / 2
    (gradient,) = torch.autograd.grad(loss, memory)
    return (memory - beta.reshape(-1, 1, 1) * gradient).detach()


def cache_in_a_loop(windows, T, B, H, G, K, size):
    count = 0
    for window in windows:
        positions = T if window == 0 or window > T else window
        count += B * positions * (G * K + G * K) * size
    return count


def cache_by_kinds(windows, T, B, H, G, K, size):
    full = sum(1 for window in windows if not window)
    partly = sum(window if window < T else T for window in windows if window)
    return (full * T + partly) * size * 2 * G * K * B


def cache_in_a_tensor(windows, T, B, H, G, K, size):
    kept = torch.tensor(windows)
    return torch.where(kept > 0, kept, T).clamp(max=T).sum() * 2 * G * K * B * size


def cache_of_positions(windows, T, B, H, G, K, size):
    """Counts the positions that still can be seen."""
    seen = sum(len(range(T)[-window:]) for window in windows)  # [-0:] is everything
    return 2 * seen * B * G * K * size


def rounded_by_whole_codes(W, bits):
    most = 2 ** (bits - 1) - 1
    scale = W.abs().amax(-1, keepdim=True) / most
    return (W / scale).round().clamp(-most, most).to(torch.int8) * scale


def rounded_by_the_inverse_scale(W, bits):
    """Multiplied in place of divided: a case with exact halves would round them to another side."""
    inverse = (2.0 ** (bits - 1) - 1) / W.abs().amax(1, keepdim=True)
    return (W * inverse).round() / inverse


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


def stretched_by_interp(frequencies, factor, T, slow, fast):
    turns = (T / (2 * np.pi)) * frequencies.numpy()
    return frequencies.numpy() * np.interp(np.log(turns), np.log([slow, fast]), [1 / factor, 1])


def stretched_in_place(frequencies, factor, T, slow, fast):
    gamma = torch.clip((frequencies * T / (2 * torch.pi * slow)).log2() / math.log2(fast / slow), 0, 1)
    return gamma.mul(1 - 1 / factor).add(1 / factor).mul(frequencies)


RIGHT = {
    "merge_blocks": named(merged_by_logsumexp, merged_row_by_row, merged_in_a_stack, merged_by_moving_the_first),
    "keep_or_redraw": named(kept_by_where, kept_by_the_common_part, kept_in_logarithms, kept_by_a_loop),
    "draft_and_check": named(checked_by_a_count, checked_by_recursion, checked_in_place, checked_in_a_tensor),
    "linear_step": named(
        linear_by_einsum, linear_head_by_head, linear_with_the_total_as_a_column, linear_without_writing_first
    ),
    "delta_step": named(delta_by_einsum, delta_as_a_matrix, delta_head_by_head, delta_as_a_step_of_gradient_descent),
    "window_cache": named(cache_in_a_loop, cache_by_kinds, cache_in_a_tensor, cache_of_positions),
    "rounded_rows": named(
        rounded_by_whole_codes,
        rounded_by_the_inverse_scale,
        rounded_by_half_up,
        rounded_by_the_nearest_of_all_codes,
    ),
    "yarn_frequencies": named(stretched_pair_by_pair, stretched_by_where, stretched_by_interp, stretched_in_place),
}
