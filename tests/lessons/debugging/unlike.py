"""Wrong answers to the lesson's exercises, unlike any in the bank: none may pass."""

import torch
import torch.nn.functional as F

from answer_tables import named


def _losses(logits, targets):
    return F.cross_entropy(logits.mT, targets, reduction="none")


def loss_with_pad_out_of_the_vocabulary(logits, targets, pad):
    logits[..., pad] = -torch.inf
    kept = targets != pad
    return _losses(logits, targets).where(kept, 0.0).sum(1) / kept.sum(1)


def loss_with_words_above_the_pad(logits, targets, pad):
    kept = targets > pad
    return (_losses(logits, targets) * kept).sum(1) / kept.sum(1).clamp(min=1)


def loss_without_the_last_word(logits, targets, pad):
    kept = targets != pad
    return (_losses(logits, targets) * kept)[:, :-1].sum(1) / kept[:, :-1].sum(1).clamp(min=1)


def descent_against_all_pairs(w, X, y, lr, steps):
    for _ in range(steps):
        w = w.detach().requires_grad_()
        ((X @ w)[:, None] - y).square().mean().backward()
        w = w - lr * w.grad
    return w.detach()


def measured_as_the_mean_of_many(model, x):
    with torch.no_grad():
        return torch.stack([model(x) for _ in range(5)]).mean(0)


def future_by_shuffled_rows(model, source, read, other, t):
    words = torch.cat([read[:, :t], read.roll(1, 0)[:, t:]], dim=1)
    return (model(source, words) - model(source, read))[:, :t].abs().max()


def future_by_length(model, source, read, other, t):
    return (model(source, read[:, :t]) - model(source, read)[:, :t]).abs().max()


def future_at_the_position_before_only(model, source, read, other, t):
    words = torch.cat([read[:, :t], other[:, t:]], dim=1)
    return (model(source, words) - model(source, read))[:, t - 1].abs().max()


def padding_of_the_first_row(model, source, read, pad, extra):
    return (model(F.pad(source, (0, extra), value=pad), read) - model(source, read))[0].abs().max()


def broken_by_rows_that_change_places(models, source, read, other, pad):
    def moved(model):
        return (model(source.flip(0), read.flip(0)).flip(0) - model(source, read)).abs().max().item()

    return max(range(3), key=lambda n: moved(models[n]))


def bad_by_the_sum(named):
    return next((name for name, tensor in named if not tensor.sum().isfinite()), None)


def bad_by_the_last_row(named):
    return next((name for name, tensor in named if not tensor[0].isfinite().all()), None)


def _fault(grown=10, low=0.05, times=2, end=lambda losses: losses[-10:].mean()):
    """The right answer with another limit, or another end of the run."""

    def name(record, first_bad):
        norms, step = record["norms"], first_bad(list(enumerate(record["norms"])))
        if step is not None:
            return "exploding" if step > 0 and norms[step - 1] > grown * norms[0] else "overflow"
        if record["moved"].sum() < low:
            return "too low"
        return "repeated" if record["validation"] > times * end(record["losses"]) else "healthy"

    return name


UNLIKE = {
    "first_bad": named(bad_by_the_sum, bad_by_the_last_row),
    "name_fault": {
        "any_growth": _fault(grown=1),
        "five_times_the_norm": _fault(grown=5),
        "moved_by_three_hundredths": _fault(low=0.03),
        "validation_at_one_and_a_half": _fault(times=1.5),
        "validation_at_two_and_a_half": _fault(times=2.5),
        "validation_at_three": _fault(times=3),
        "mean_of_five_losses": _fault(end=lambda losses: losses[-5:].mean()),
        "the_best_loss": _fault(end=lambda losses: losses.min()),
    },
    "padded_loss": named(
        loss_with_pad_out_of_the_vocabulary, loss_with_words_above_the_pad, loss_without_the_last_word
    ),
    "descend": named(descent_against_all_pairs),
    "measured_output": named(
        measured_as_the_mean_of_many,
    ),
    "future_leak": named(future_by_shuffled_rows, future_by_length, future_at_the_position_before_only),
    "padding_leak": named(padding_of_the_first_row),
    "broken_model": named(broken_by_rows_that_change_places),
}
