"""Wrong answers to notebook 10's exercises on probes, unlike any in the bank: none may pass."""

import torch
import torch.nn.functional as F

from answers.tables import named


def future_in_probabilities(model, source, read, other, t):
    words = torch.cat([read[:, :t], other[:, t:]], dim=1)
    return (model(source, words).softmax(-1) - model(source, read).softmax(-1))[:, :t].abs().max()


def future_of_the_choice(model, source, read, other, t):
    words = torch.cat([read[:, :t], other[:, t:]], dim=1)
    return (model(source, words).argmax(-1) != model(source, read).argmax(-1))[:, :t].float().max()


def future_by_shuffled_rows(model, source, read, other, t):
    words = torch.cat([read[:, :t], read.roll(1, 0)[:, t:]], dim=1)
    return (model(source, words) - model(source, read))[:, :t].abs().max()


def future_by_length(model, source, read, other, t):
    return (model(source, read[:, :t]) - model(source, read)[:, :t]).abs().max()


def future_at_the_position_before_only(model, source, read, other, t):
    words = torch.cat([read[:, :t], other[:, t:]], dim=1)
    return (model(source, words) - model(source, read))[:, t - 1].abs().max()


def future_summed_over_words(model, source, read, other, t):
    words = torch.cat([read[:, :t], other[:, t:]], dim=1)
    return (model(source, words) - model(source, read))[:, :t].abs().sum(-1).max()


def padding_on_both_sides(model, source, read, pad, extra):
    return (model(F.pad(source, (extra, extra), value=pad), read) - model(source, read)).abs().max()


def padding_doubled(model, source, read, pad, extra):
    return (model(F.pad(source, (0, 2 * extra), value=pad), read) - model(source, read)).abs().max()


def padding_of_the_first_row(model, source, read, pad, extra):
    return (model(F.pad(source, (0, extra), value=pad), read) - model(source, read))[0].abs().max()


def padding_squared(model, source, read, pad, extra):
    return (model(F.pad(source, (0, extra), value=pad), read) - model(source, read)).square().max()


def padding_against_the_first_pad(model, source, read, pad, extra):
    longer = F.pad(source, (0, extra), value=pad)
    return (model(longer, read) - model(F.pad(source, (0, 1), value=pad), read)).abs().max()


def broken_by_the_largest_logits(models, source, read, other, pad):
    return max(range(3), key=lambda n: models[n](source, read).abs().max().item())


def broken_by_the_source(models, source, read, other, pad):
    return max(range(3), key=lambda n: (models[n](source.flip(0), read) - models[n](source, read)).abs().max().item())


def broken_by_loss(models, source, read, other, pad):
    def loss(model):
        return F.cross_entropy(model(source, read)[:, :-1].flatten(0, 1), read[:, 1:].flatten()).item()

    return min(range(3), key=lambda n: loss(models[n]))


def broken_by_rows_that_change_places(models, source, read, other, pad):
    def moved(model):
        return (model(source.flip(0), read.flip(0)).flip(0) - model(source, read)).abs().max().item()

    return max(range(3), key=lambda n: moved(models[n]))


UNLIKE = {
    "future_leak": named(
        future_in_probabilities,
        future_of_the_choice,
        future_by_shuffled_rows,
        future_by_length,
        future_at_the_position_before_only,
        future_summed_over_words,
    ),
    "padding_leak": named(
        padding_on_both_sides,
        padding_doubled,
        padding_of_the_first_row,
        padding_squared,
        padding_against_the_first_pad,
    ),
    "broken_model": named(
        broken_by_the_largest_logits,
        broken_by_the_source,
        broken_by_loss,
        broken_by_rows_that_change_places,
    )
    | {"always_the_last": lambda models, source, read, other, pad: 2},
}
