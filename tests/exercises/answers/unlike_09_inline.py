"""Wrong answers to the training step of notebook 09, unlike any in the bank: none may pass."""

import torch
import torch.nn.functional as F

from answers.tables import named


def _step_on(loss_of, clip=None):
    """A step for another loss of the model and the batch, or with a clipped gradient."""

    def step(model, optimizer, batch):
        optimizer.zero_grad()
        loss = loss_of(model, batch)
        loss.backward()
        if clip is not None:
            torch.nn.utils.clip_grad_norm_(model.parameters(), clip)
        optimizer.step()
        return loss.item()

    return step


def _mean_loss(model, batch, **options):
    logits = model(batch.source, batch.decoder_input).flatten(0, 1)
    return F.cross_entropy(logits, batch.target.flatten(), ignore_index=0, **options)


def step_on_the_first_word_only(model, optimizer, batch):
    return _step_on(lambda m, b: F.cross_entropy(m(b.source, b.decoder_input)[:, 0], b.target[:, 0]))(
        model, optimizer, batch
    )


def step_that_returns_the_loss_after_it(model, optimizer, batch):
    _step_on(_mean_loss)(model, optimizer, batch)
    return _mean_loss(model, batch).item()


def step_taken_twice(model, optimizer, batch):
    _step_on(_mean_loss)(model, optimizer, batch)
    return _step_on(_mean_loss)(model, optimizer, batch)


UNLIKE = {
    "training_step": named(step_on_the_first_word_only, step_that_returns_the_loss_after_it, step_taken_twice)
    | {
        "step_clipped_to_a_tenth": _step_on(_mean_loss, clip=0.1),
        "step_with_smoothing": _step_on(lambda m, b: _mean_loss(m, b, label_smoothing=0.1)),
        "step_with_a_mean_of_sentence_means": _step_on(
            lambda m, b: torch.stack(
                [
                    F.cross_entropy(z[y != 0], y[y != 0])
                    for z, y in zip(m(b.source, b.decoder_input), b.target, strict=True)
                ]
            ).mean()
        ),
    },
}
