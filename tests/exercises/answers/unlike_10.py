"""Wrong answers to notebook 10's exercises on probes, unlike any in the bank: none may pass."""

import torch
import torch.nn.functional as F

from answers.tables import named


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


UNLIKE = {
    "future_leak": named(future_by_shuffled_rows, future_by_length, future_at_the_position_before_only),
    "padding_leak": named(padding_of_the_first_row),
    "broken_model": named(broken_by_rows_that_change_places),
}
