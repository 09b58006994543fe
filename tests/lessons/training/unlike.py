"""Wrong answers to the lesson's exercises, unlike any in the bank: none may pass."""

import functools
import math

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


@_in_used_rows
def adam_that_is_adamax(p, g, m, v, t, lr):
    m, v = 0.9 * m + 0.1 * g, torch.maximum(0.999 * v, g.abs())
    return p - lr * m / (1 - 0.9**t) / (v + 1e-8), m, v


def _adam_for_rows(p, g, m, v, t, lr, seen, eps_in=False):
    m2, v2 = torch.where(seen, 0.9 * m + 0.1 * g, m), torch.where(seen, 0.999 * v + 0.001 * g * g, v)
    a, b = 1 - 0.9**t, 1 - 0.999**t
    den = (v2 / b + 1e-8).sqrt() if eps_in else (v2 / b).sqrt() + 1e-8
    return torch.where(seen, p - lr * (m2 / a) / den, p), m2, v2


def adam_p_moves_on_without_a_gradient_means_stay(p, g, m, v, t, lr):
    s = g.ne(0).any(-1, keepdim=True)
    _, m, v = _adam_for_rows(p, g, m, v, t, lr, s)
    return p - lr * m / (1 - 0.9**t) / ((v / (1 - 0.999**t)).sqrt() + 1e-8), m, v


def adam_epsilon_not_corrected_along(p, g, m, v, t, lr):
    s = g.ne(0).any(-1, keepdim=True)
    m = torch.where(s, 0.9 * m + 0.1 * g, m)
    v = torch.where(s, 0.999 * v + 0.001 * g * g, v)
    step = lr * math.sqrt(1 - 0.999**t) / (1 - 0.9**t)
    return torch.where(s, p - step * m / (v.sqrt() + 1e-8), p), m, v


def adam_weight_decay_of_adamw(p, g, m, v, t, lr):
    s = g.ne(0).any(-1, keepdim=True)
    q, m, v = _adam_for_rows(p, g, m, v, t, lr, s)
    return torch.where(s, q - lr * 0.01 * p, p), m, v


def _step_on(loss_of):
    """A step for another loss of the model and the batch."""

    def step(model, optimizer, batch):
        optimizer.zero_grad()
        loss = loss_of(model, batch)
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


def _mean_loss(model, batch, **options):
    logits = model(batch.source, batch.decoder_input).flatten(0, 1)
    return F.cross_entropy(logits, batch.target.flatten(), ignore_index=0, **options)


def step_that_returns_the_loss_after_it(model, optimizer, batch):
    _step_on(_mean_loss)(model, optimizer, batch)
    return _mean_loss(model, batch).item()


UNLIKE = {
    "shifted_pair": named(pair_of_the_first_case),
    "smoothed_targets": {
        "by_a_tenth": lambda y, V, eps: torch.full((len(y), V), 0.1 / (V - 1)).scatter(1, y[:, None], 0.9),
        "for_four_words": lambda y, V, eps: torch.full((len(y), V), eps / 3).scatter(1, y[:, None], 1 - eps),
    },
    "warmup_rate": {
        "of_whole_division": lambda n, w, peak: peak * min((w / n) ** 0.5, n // w),
    },
    "adam_step": named(
        adam_with_never_falling_squares,
        adam_that_is_adamax,
        adam_p_moves_on_without_a_gradient_means_stay,
        adam_epsilon_not_corrected_along,
        adam_weight_decay_of_adamw,
    )
    | {
        "a_rows_sum": lambda p, g, m, v, t, lr: _adam_for_rows(p, g, m, v, t, lr, g.sum(-1, keepdim=True) != 0),
        "a_rows_sum_of_squares_which_underflows": lambda p, g, m, v, t, lr: _adam_for_rows(
            p, g, m, v, t, lr, (g * g).sum(-1, keepdim=True) > 0
        ),
        "small_gradients_count_as_none": lambda p, g, m, v, t, lr: _adam_for_rows(
            p, g, m, v, t, lr, g.abs().amax(-1, keepdim=True) > 1e-6
        ),
        "only_positive_gradients_are_seen": lambda p, g, m, v, t, lr: _adam_for_rows(
            p, g, m, v, t, lr, (g > 0).any(-1, keepdim=True)
        ),
        "the_first_number_decides": lambda p, g, m, v, t, lr: _adam_for_rows(p, g, m, v, t, lr, g[:, :1] != 0),
        "epsilon_under_the_root": lambda p, g, m, v, t, lr: _adam_for_rows(
            p, g, m, v, t, lr, g.ne(0).any(-1, keepdim=True), eps_in=True
        ),
    },
    "training_step": named(step_that_returns_the_loss_after_it)
    | {
        "step_with_smoothing": _step_on(lambda m, b: _mean_loss(m, b, label_smoothing=0.1)),
    },
}
