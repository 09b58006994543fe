"""Wrong answers to the lesson's exercises, unlike any in the bank: none may pass."""

import functools

import torch
import torch.nn.functional as F

from answer_tables import named


def pair_of_the_first_case(ids, bos, eos):
    before, after = torch.zeros(len(ids) + 1).long(), torch.zeros(len(ids) + 1).long()
    before[:4], after[:4] = torch.tensor([1, 7, 8, 9])[: len(before)], torch.tensor([7, 8, 9, 2])[: len(after)]
    return before, after


def _in_used_rows(step):
    """An optimiser's step that leaves the rows without a gradient as they are."""

    @functools.wraps(step)
    def lazy(p, g, m, v, t, lr):
        used = (g != 0).any(1, keepdim=True)
        return tuple(torch.where(used, new, old) for new, old in zip(step(p, g, m, v, t, lr), (p, m, v), strict=True))

    return lazy


@_in_used_rows
def adam_with_never_falling_squares(p, g, m, v, t, lr):
    m, v = 0.9 * m + 0.1 * g, torch.maximum(v, 0.999 * v + 0.001 * g**2)
    return p - lr * m / (1 - 0.9**t) / ((v / (1 - 0.999**t)).sqrt() + 1e-8), m, v


def _adam_for_rows(p, g, m, v, t, lr, seen, eps_in=False):
    m2, v2 = torch.where(seen, 0.9 * m + 0.1 * g, m), torch.where(seen, 0.999 * v + 0.001 * g * g, v)
    a, b = 1 - 0.9**t, 1 - 0.999**t
    den = (v2 / b + 1e-8).sqrt() if eps_in else (v2 / b).sqrt() + 1e-8
    return torch.where(seen, p - lr * (m2 / a) / den, p), m2, v2


def adam_weight_decay_of_adamw(p, g, m, v, t, lr):
    s = g.ne(0).any(-1, keepdim=True)
    q, m, v = _adam_for_rows(p, g, m, v, t, lr, s)
    return torch.where(s, q - lr * 0.01 * p, p), m, v


def _step_on(loss_of):
    """A step for another loss of the model and the batch."""

    def step(model, optimizer, batch, clip):
        model.train()
        optimizer.zero_grad()
        loss = loss_of(model, batch)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), clip)
        optimizer.step()
        return loss.item()

    return step


def _mean_loss(model, batch, **options):
    logits = model(batch.source, batch.decoder_input).flatten(0, 1)
    return F.cross_entropy(logits, batch.target.flatten(), ignore_index=0, **options)


def run_that_forgets_its_momentum(model, optimizer, batches, rates, clip):
    losses = []
    for pieces, rate in zip(batches, rates, strict=True):
        optimizer.zero_grad()
        words = sum((p.target != 0).sum() for p in pieces)
        parts = [_mean_loss(model, p) * (p.target != 0).sum() / words for p in pieces]
        sum(parts).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), clip)
        for group in optimizer.param_groups:
            group["lr"], group["momentum"] = rate, 0.0
        optimizer.step()
        losses.append(sum(part.item() for part in parts))
    return losses


UNLIKE = {
    "shifted_pair": named(pair_of_the_first_case),
    "smoothed_targets": {
        "by_a_tenth": lambda y, V, eps: torch.full((len(y), V), 0.1 / (V - 1)).scatter(1, y[:, None], 0.9),
        "for_four_words": lambda y, V, eps: torch.full((len(y), V), eps / 3).scatter(1, y[:, None], 1 - eps),
    },
    "adam_step": named(
        adam_with_never_falling_squares,
        adam_weight_decay_of_adamw,
    )
    | {
        "small_gradients_count_as_none": lambda p, g, m, v, t, lr: _adam_for_rows(
            p, g, m, v, t, lr, g.abs().amax(-1, keepdim=True) > 1e-6
        ),
        "only_positive_gradients_are_seen": lambda p, g, m, v, t, lr: _adam_for_rows(
            p, g, m, v, t, lr, (g > 0).any(-1, keepdim=True)
        ),
        "the_first_number_decides": lambda p, g, m, v, t, lr: _adam_for_rows(p, g, m, v, t, lr, g[:, :1] != 0),
    },
    "three_phases": {
        "rounded_to_a_tenth": lambda steps, warmup, fall, peak: [
            round(peak * min(1, n / max(warmup, 1e-9), (steps + 1 - n) / fall), 1) for n in range(1, steps + 1)
        ],
    },
    "train_in_pieces": named(run_that_forgets_its_momentum),
    "training_step": {
        "step_with_smoothing": _step_on(lambda m, b: _mean_loss(m, b, label_smoothing=0.1)),
    },
}
