"""Wrong answers to notebook 09's and 10's exercises, unlike any in the bank: none may pass."""

import functools
import math

import torch
import torch.nn.functional as F

from answers.tables import named


def pair_rolled(ids, bos, eos):
    before = torch.cat([torch.tensor([bos]), ids])
    return before, before.roll(-1)


def pair_without_shift(ids, bos, eos):
    whole = torch.cat([torch.tensor([bos]), ids, torch.tensor([eos])])
    return whole[:-1], whole[:-1].clone()


def pair_of_the_first_case(ids, bos, eos):
    before, after = torch.zeros(len(ids) + 1).long(), torch.zeros(len(ids) + 1).long()
    before[:4], after[:4] = torch.tensor([1, 7, 8, 9])[: len(before)], torch.tensor([7, 8, 9, 2])[: len(after)]
    return before, after


def _losses(logits, targets):
    return F.cross_entropy(logits.mT, targets, reduction="none")


def loss_over_the_first_sentences_words(logits, targets, pad):
    kept = (targets[:1] != pad).expand_as(targets)
    return (_losses(logits, targets) * kept).sum(1) / kept.sum(1)


def loss_over_a_common_number(logits, targets, pad):
    kept = targets != pad
    return (_losses(logits, targets) * kept).sum(1) / kept.sum() * len(targets)


def loss_with_pad_out_of_the_vocabulary(logits, targets, pad):
    logits[..., pad] = -torch.inf
    kept = targets != pad
    return _losses(logits, targets).where(kept, 0.0).sum(1) / kept.sum(1)


def loss_with_words_above_the_pad(logits, targets, pad):
    kept = targets > pad
    return (_losses(logits, targets) * kept).sum(1) / kept.sum(1).clamp(min=1)


def loss_smoothed(logits, targets, pad):
    kept = targets != pad
    losses = F.cross_entropy(logits.mT, targets, reduction="none", label_smoothing=0.1)
    return (losses * kept).sum(1) / kept.sum(1)


def loss_without_the_last_word(logits, targets, pad):
    kept = targets != pad
    return (_losses(logits, targets) * kept)[:, :-1].sum(1) / kept[:, :-1].sum(1).clamp(min=1)


def smoothed_without_the_first_word(y, V, eps):
    q = torch.full((len(y), V), eps / (V - 1)).scatter(1, y[:, None], 1 - eps)
    q[:, 0] = 0
    return q


def smoothed_towards_all_targets_of_the_batch(y, V, eps):
    q = torch.full((len(y), V), eps / (V - 1))
    q[:, y] = 1 - eps
    return q


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
def adam_of_nesterov(p, g, m, v, t, lr):
    m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g**2
    ahead = 0.9 * m / (1 - 0.9 ** (t + 1)) + 0.1 * g / (1 - 0.9**t)
    return p - lr * ahead / ((v / (1 - 0.999**t)).sqrt() + 1e-8), m, v


@_in_used_rows
def adam_with_a_mean_over_places(p, g, m, v, t, lr):
    m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * (g**2).mean().expand_as(g)
    return p - lr * m / (1 - 0.9**t) / ((v / (1 - 0.999**t)).sqrt() + 1e-8), m, v


@_in_used_rows
def adam_that_is_adamax(p, g, m, v, t, lr):
    m, v = 0.9 * m + 0.1 * g, torch.maximum(0.999 * v, g.abs())
    return p - lr * m / (1 - 0.9**t) / (v + 1e-8), m, v


def adam_without_rows_of_small_gradients(p, g, m, v, t, lr):
    used = g.norm(dim=1, keepdim=True) > 1e-3
    new = adam_with_a_mean_over_places(p, g, m, v, t, lr)
    return tuple(torch.where(used, one, old) for one, old in zip(new, (p, m, v), strict=True))


def adam_that_forgets_unused_rows(p, g, m, v, t, lr):
    used = (g != 0).any(1, keepdim=True)
    m, v = (0.9 * m + 0.1 * g) * used, (0.999 * v + 0.001 * g**2) * used
    return p - lr * m / (1 - 0.9**t) / ((v / (1 - 0.999**t)).sqrt() + 1e-8), m, v


def descent_against_all_pairs(w, X, y, lr, steps):
    for _ in range(steps):
        w = w.detach().requires_grad_()
        ((X @ w)[:, None] - y).square().mean().backward()
        w = w - lr * w.grad
    return w.detach()


def descent_with_momentum(w, X, y, lr, steps):
    w = w.clone().requires_grad_()
    optimiser = torch.optim.SGD([w], lr=lr, momentum=0.9)
    for _ in range(steps):
        optimiser.zero_grad()
        F.mse_loss(X @ w, y).backward()
        optimiser.step()
    return w.detach()


def descent_example_by_example(w, X, y, lr, steps):
    for _ in range(steps):
        for row, goal in zip(X, y, strict=True):
            w = w - lr * 2 * (row @ w - goal) * row
    return w


def descent_on_the_root(w, X, y, lr, steps):
    for _ in range(steps):
        w = w.detach().requires_grad_()
        F.mse_loss(X @ w, y).sqrt().backward()
        w = w - lr * w.grad
    return w


def measured_as_the_mean_of_many(model, x):
    with torch.no_grad():
        return torch.stack([model(x) for _ in range(5)]).mean(0)


def measured_with_the_outermost_switch_only(model, x):
    was, model.training = model.training, False
    with torch.no_grad():
        y = model(x)
    model.training = was
    return y


def measured_and_always_back_to_training(model, x):
    model.eval()
    with torch.no_grad():
        y = model(x)
    model.train()
    return y


def measured_with_a_seed(model, x):
    torch.manual_seed(0)
    with torch.no_grad():
        return model(x)


def _adam_for_rows(p, g, m, v, t, lr, seen, eps_in=False, corr=True, tt=None):
    tt = t if tt is None else tt
    m2, v2 = torch.where(seen, 0.9 * m + 0.1 * g, m), torch.where(seen, 0.999 * v + 0.001 * g * g, v)
    a, b = (1 - 0.9**tt, 1 - 0.999**tt) if corr else (1, 1)
    den = (v2 / b + 1e-8).sqrt() if eps_in else (v2 / b).sqrt() + 1e-8
    return torch.where(seen, p - lr * (m2 / a) / den, p), m2, v2


def adam_p_moves_on_without_a_gradient_means_stay(p, g, m, v, t, lr):
    s = g.ne(0).any(-1, keepdim=True)
    _, m, v = _adam_for_rows(p, g, m, v, t, lr, s)
    return p - lr * m / (1 - 0.9**t) / ((v / (1 - 0.999**t)).sqrt() + 1e-8), m, v


def adam_p_stays_means_fade(p, g, m, v, t, lr):
    s = g.ne(0).any(-1, keepdim=True)
    q, _, _ = _adam_for_rows(p, g, m, v, t, lr, s)
    return q, 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g


def adam_corrected_means_returned(p, g, m, v, t, lr):
    s = g.ne(0).any(-1, keepdim=True)
    p, m2, v2 = _adam_for_rows(p, g, m, v, t, lr, s)
    return p, torch.where(s, m2 / (1 - 0.9**t), m), torch.where(s, v2 / (1 - 0.999**t), v)


def adam_epsilon_not_corrected_along(p, g, m, v, t, lr):
    s = g.ne(0).any(-1, keepdim=True)
    m = torch.where(s, 0.9 * m + 0.1 * g, m)
    v = torch.where(s, 0.999 * v + 0.001 * g * g, v)
    step = lr * math.sqrt(1 - 0.999**t) / (1 - 0.9**t)
    return torch.where(s, p - step * m / (v.sqrt() + 1e-8), p), m, v


def adam_means_of_the_step_before(p, g, m, v, t, lr):
    s = g.ne(0).any(-1, keepdim=True)
    _, m2, v2 = _adam_for_rows(p, g, m, v, t, lr, s)
    mh, vh = m / (1 - 0.9**t), v / (1 - 0.999**t)
    return torch.where(s, p - lr * mh / (vh.sqrt() + 1e-8), p), m2, v2


def adam_the_two_betas_swapped(p, g, m, v, t, lr):
    s = g.ne(0).any(-1, keepdim=True)
    m, v = torch.where(s, 0.999 * m + 0.001 * g, m), torch.where(s, 0.9 * v + 0.1 * g * g, v)
    return torch.where(s, p - lr * m / (1 - 0.999**t) / ((v / (1 - 0.9**t)).sqrt() + 1e-8), p), m, v


def adam_v_before_m(p, g, m, v, t, lr):
    p, m, v = _adam_for_rows(p, g, m, v, t, lr, g.ne(0).any(-1, keepdim=True))
    return p, v, m


def adam_weight_decay_of_adamw(p, g, m, v, t, lr):
    s = g.ne(0).any(-1, keepdim=True)
    q, m, v = _adam_for_rows(p, g, m, v, t, lr, s)
    return torch.where(s, q - lr * 0.01 * p, p), m, v


def measured_with_parameters_frozen_for_ever(model, x):  # [p.requires_grad for p in model.parameters()] afterwards
    was = model.training
    model.eval().requires_grad_(False)
    y = model(x)
    model.train(was)
    return y


def measured_with_dropout_taken_out_for_ever(model, x):  # model(x) twice afterwards, in training mode
    for part in model.modules():
        if isinstance(part, torch.nn.Dropout):
            part.p = 0
    with torch.no_grad():
        return model(x)


def adam_by_pytorch_with_a_larger_epsilon(p, g, m, v, t, lr):
    rows = g.ne(0).any(1)
    q = p[rows].clone().requires_grad_()
    q.grad = g[rows].clone()
    optimizer = torch.optim.Adam([q], lr=lr, eps=1e-4)
    state = {"step": torch.tensor(t - 1.0), "exp_avg": m[rows].clone(), "exp_avg_sq": v[rows].clone()}
    optimizer.state[q] = state
    optimizer.step()
    p, m, v = p.clone(), m.clone(), v.clone()
    p[rows], m[rows], v[rows] = q.detach(), state["exp_avg"], state["exp_avg_sq"]
    return p, m, v


def measured_with_parameters_frozen_for_once(model, x):
    was = model.training
    for parameter in model.parameters():
        parameter.requires_grad = False
    y = model.eval()(x)
    model.train(was)
    return y


UNLIKE = {
    "shifted_pair": named(pair_rolled, pair_without_shift, pair_of_the_first_case)
    | {
        "with_marks_exchanged": lambda ids, bos, eos: (
            (torch.cat([torch.tensor([eos]), ids]), torch.cat([ids, torch.tensor([bos])]))
        ),
    },
    "padded_loss": named(
        loss_over_the_first_sentences_words,
        loss_over_a_common_number,
        loss_with_pad_out_of_the_vocabulary,
        loss_with_words_above_the_pad,
        loss_smoothed,
        loss_without_the_last_word,
    ),
    "smoothed_targets": named(smoothed_without_the_first_word, smoothed_towards_all_targets_of_the_batch)
    | {
        "by_a_tenth": lambda y, V, eps: torch.full((len(y), V), 0.1 / (V - 1)).scatter(1, y[:, None], 0.9),
        "for_four_words": lambda y, V, eps: torch.full((len(y), V), eps / 3).scatter(1, y[:, None], 1 - eps),
        "towards_the_first_target": lambda y, V, eps: torch.full((len(y), V), eps / (V - 1)).scatter(
            1, y[:1, None].repeat(len(y), 1), 1 - eps
        ),
    },
    "warmup_rate": {
        "of_finished_steps": lambda n, w, peak: peak * min((w / n) ** 0.5, (n - 1) / w),
        "that_falls_linearly": lambda n, w, peak: peak * min(n / w, max(0.0, 2 - n / w)),
        "that_falls_as_one_over_n": lambda n, w, peak: peak * min(n / w, w / n),
        "of_whole_division": lambda n, w, peak: peak * min((w / n) ** 0.5, n // w),
        "on_a_cosine": lambda n, w, peak: (
            peak * n / w if n <= w else peak * (1 + math.cos(math.pi * min(1, (n - w) / w))) / 2
        ),
    },
    "adam_step": named(
        adam_by_pytorch_with_a_larger_epsilon,
        adam_with_never_falling_squares,
        adam_of_nesterov,
        adam_with_a_mean_over_places,
        adam_that_is_adamax,
        adam_without_rows_of_small_gradients,
        adam_that_forgets_unused_rows,
        adam_p_moves_on_without_a_gradient_means_stay,
        adam_p_stays_means_fade,
        adam_corrected_means_returned,
        adam_epsilon_not_corrected_along,
        adam_means_of_the_step_before,
        adam_the_two_betas_swapped,
        adam_v_before_m,
        adam_weight_decay_of_adamw,
    )
    | {
        "plain_adam": lambda p, g, m, v, t, lr: _adam_for_rows(p, g, m, v, t, lr, torch.ones_like(g, dtype=torch.bool)),
        "number_by_number": lambda p, g, m, v, t, lr: _adam_for_rows(p, g, m, v, t, lr, g != 0),
        "a_rows_sum": lambda p, g, m, v, t, lr: _adam_for_rows(p, g, m, v, t, lr, g.sum(-1, keepdim=True) != 0),
        "all_numbers_must_be_other_than_0": lambda p, g, m, v, t, lr: _adam_for_rows(
            p, g, m, v, t, lr, (g != 0).all(-1, keepdim=True)
        ),
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
        "no_correction": lambda p, g, m, v, t, lr: _adam_for_rows(
            p, g, m, v, t, lr, g.ne(0).any(-1, keepdim=True), corr=False
        ),
        "step_counted_from_0": lambda p, g, m, v, t, lr: _adam_for_rows(
            p, g, m, v, t, lr, g.ne(0).any(-1, keepdim=True), tt=t + 1
        ),
        "only_words_never_seen_stay": lambda p, g, m, v, t, lr: _adam_for_rows(
            p, g, m, v, t, lr, (g.ne(0) | v.ne(0)).any(-1, keepdim=True)
        ),
    },
    "descend": named(descent_against_all_pairs, descent_with_momentum, descent_example_by_example, descent_on_the_root),
    "measured_output": named(
        measured_with_parameters_frozen_for_once,
        measured_as_the_mean_of_many,
        measured_with_the_outermost_switch_only,
        measured_and_always_back_to_training,
        measured_with_a_seed,
        measured_with_parameters_frozen_for_ever,
        measured_with_dropout_taken_out_for_ever,
    ),
}
