"""Wrong answers to the training step of notebook 09, unlike any in the bank: none may pass."""

import torch.nn.functional as F

from answers.tables import named


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
    "training_step": named(step_that_returns_the_loss_after_it)
    | {
        "step_with_smoothing": _step_on(lambda m, b: _mean_loss(m, b, label_smoothing=0.1)),
    },
}
