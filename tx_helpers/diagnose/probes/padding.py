"""Probes of padding: it must not move the logits at real tokens, and a row of nothing else must do no harm."""

import torch
from torch import Tensor, nn

from tx_helpers.diagnose.examination import Examination, moves
from tx_helpers.diagnose.report import LOOK, RIGHT, SKIPPED, WRONG, Result
from tx_helpers.diagnose.subject import Ids, Subject
from tx_helpers.diagnose.versions import movement, without_dropout
from tx_helpers.diagnose.watch import attention_weights, first_to_move

NO_PAD_ID = "say which id is padding: pad_id="
PADS = 3


@torch.no_grad()
def padding(exam: Examination) -> Result:
    """Padding at the side where it stands, as much in all rows and by row: the logits at real tokens must not move."""
    if exam.subject.pad_id is None:
        return Result(SKIPPED, NO_PAD_ID)
    side = exam.pad_side
    share, subject = exam.largest(lambda subject: _moved(subject, side), exam.loose)
    if subject is not None:
        ids, padded = subject.inputs(0), _padded(subject, side)
        comparable = subject.kind == "seq2seq" or side == "right"
        where = first_to_move(subject, ids, padded, columns=subject.T) if comparable else ""
        state, causes, at = _causes(subject, padded, side)
        figure = f"{moves(share)} when {PADS} ids of padding are added at the {side}"
        return Result(state, figure, share, causes, where, {"at": at})
    by_row, subject = exam.largest(lambda subject: _moved_by_row(subject, side), exam.loose)
    if subject is not None and not exam.found("neighbours"):
        figure = f"it does where all rows have as much; {moves(by_row)} where rows have less and more of it"
        return Result(WRONG, figure, by_row, ("row",), values={"at": ""})
    training = _moved_in_training(exam.subject, side)
    if exam.share(exam.subject, training) > exam.loose:
        figure = f"it does in evaluation; in training mode {moves(exam.share(exam.subject, training))}"
        return Result(WRONG, figure, training, ("training",))
    return Result(RIGHT, f"it does, at the {side}", share)


def _padded(subject: Subject, side: str) -> Ids:
    """The inputs with more padding in all rows (of the source, where there is one)."""
    first, *target = subject.inputs(0)
    pads = first.new_full((len(first), PADS), subject.pad_id)
    return torch.cat([first, pads] if side == "right" else [pads, first], dim=1), *target


def _at_real_tokens(subject: Subject, padded: Ids, side: str) -> Tensor:
    logits = subject(*padded)
    if subject.kind == "seq2seq":
        return logits
    return logits[:, : subject.T] if side == "right" else logits[:, -subject.T :]


def _moved(subject: Subject, side: str) -> float:
    return movement(subject(*subject.inputs(0)), _at_real_tokens(subject, _padded(subject, side), side))


def _moved_by_row(subject: Subject, side: str) -> float:
    """Row b loses b tokens to padding; its other logits are those of a batch that is b tokens shorter."""
    first, *target = subject.inputs(0)
    length, padded = first.shape[1], first.clone()
    for b in range(len(first)):
        padded[b, length - b :] = subject.pad_id
    if side == "left":
        padded = torch.stack([row.roll(b) for b, row in enumerate(padded)])
    together, moved = subject(padded, *target), 0.0
    for b in range(len(first)):
        alone = subject(first[:, : length - b], *target)[b]
        row = together[b]
        if not target:
            row = row[: length - b] if side == "right" else row[b:]
        moved = max(moved, movement(row, alone))
    return moved


def _moved_in_training(subject: Subject, side: str) -> float:
    """The movement in training mode with dropout at 0; 0 where the two modes differ without padding, too."""
    if not isinstance(subject.model, nn.Module):
        return 0.0
    try:
        training = without_dropout(subject)
        if movement(training(*subject.inputs(0)), subject(*subject.inputs(0))) > 1e-6:
            return 0.0
        return _moved(training, side)
    except Exception:  # some answer otherwise in training
        return 0.0


def _causes(subject: Subject, padded: Ids, side: str) -> tuple[str, tuple[str, ...], str]:
    """The result's state, its causes and the layer, by the attention weights on padding."""
    pads = padded[0][0] == subject.pad_id  # (S + 3,): the same in all rows
    real_rows = ~pads if subject.kind != "seq2seq" else slice(None)
    layers = attention_weights(subject, padded, {subject.T, len(pads)})
    for layer in (layer for layer in layers if layer.weights.shape[-1] == len(pads)):
        at = f", in {layer.module or 'the forward'}"
        if layer.weights.isnan().any():
            return WRONG, ("empty", "missing", "inverted"), at
        weights = layer.weights.flatten(0, -3)
        weights = weights[:, real_rows] if weights.shape[1] == len(pads) else weights
        if weights[..., pads].max() > 1e-9:
            mask = ("inverted", "missing") if weights[..., ~pads].max() < 1e-6 else ("missing", "inverted")
            others = ("positions", "mixed", "mean") if side == "left" else ("mixed", "mean")
            return WRONG, (*mask, *others), at
    if not layers:
        return LOOK if not _attends(subject) else WRONG, ("no mask", "missing", "inverted", "mean"), ""
    modules = subject.model.modules() if isinstance(subject.model, nn.Module) else ()
    convolves = any(isinstance(module, nn.Conv1d | nn.Conv2d) for module in modules)
    if side == "left":
        return WRONG, ("positions", "mixed", "mean", "missing"), ""
    return (LOOK, ("no mask", "mixed", "mean"), "") if convolves else (WRONG, ("mixed", "mean", "missing"), "")


def _attends(subject: Subject) -> bool:
    """Is there a module that bears the name of attention and has parameters of its own?"""
    if not isinstance(subject.model, nn.Module):
        return True
    for module in subject.model.modules():
        if "attention" in type(module).__name__.lower() and any(True for _ in module.parameters()):
            return True
    return False


@torch.no_grad()
def empty_row(exam: Examination) -> Result:
    """One row of the batch is nothing but padding: is anything NaN?"""
    subject = exam.subject
    if subject.pad_id is None:
        return Result(SKIPPED, NO_PAD_ID)
    first, *target = subject.inputs(0)
    blank = first.clone()
    blank[0] = subject.pad_id
    bad = ~subject(blank, *target).isfinite().all(dim=-1)  # (B, T)
    if not bad.any():
        return Result(RIGHT, "it does not", 0.0)
    share = bad.double().mean().item()
    if bad[1:].any():
        return Result(WRONG, "it makes NaN, in other rows, too", share)
    return Result(LOOK, "it makes NaN of itself", share)
