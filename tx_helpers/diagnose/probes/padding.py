"""Probes of padding: it must not move the logits at real tokens, and a row of nothing else must do no harm."""

from dataclasses import replace

import torch
from torch import Tensor, nn

from tx_helpers.diagnose.examination import Examination, moves
from tx_helpers.diagnose.report import LOOK, RIGHT, SKIPPED, WRONG, Result
from tx_helpers.diagnose.subject import Ids, Subject, padding_rows
from tx_helpers.diagnose.versions import movement, without_dropout
from tx_helpers.diagnose.watch import attention_weights, first_to_move

PADS = 3
MOST_IDS = 256  # of a larger vocabulary the first and the last ids are compared, where padding mostly stands


@torch.no_grad()
def padding(exam: Examination) -> Result:
    """Padding at the side where it stands, as much in all rows and by row: the logits at real tokens must not move."""
    if exam.subject.source_pad_id is None:
        return Result(SKIPPED, _unsaid(exam.own))
    another = _another(exam.own)
    if another is not None:
        return another
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
    training, subject = exam.largest(lambda subject: _moved_in_training(subject, side), exam.loose)
    if subject is not None:
        figure = f"it does in evaluation; in training mode {moves(training)}"
        return Result(WRONG, figure, training, ("training",), values={"at": ""})
    return Result(RIGHT, f"it does, at the {side}", share)


def set_apart(subject: Subject) -> Subject:
    """The same, and random ids have none that looks like padding, which nobody has said."""
    sizes = subject.V, subject.V_source
    apart = {row for table, row in padding_rows(subject.model).items() if table.num_embeddings in sizes}
    apart |= {id for ids in hidden_ids(subject).values() for id in ids}
    changed = replace(subject, apart=tuple(sorted(apart - {subject.pad_id, subject.source_pad_id})))
    return changed if min(len(changed.allowed(V)) for V in sizes) >= 2 else subject


def hidden_ids(subject: Subject) -> dict[str, list[int]]:
    """For each sequence the ids at which the first attention never looks: one or two, where it looks at all others."""
    names = ("source", "target") if subject.kind == "seq2seq" else ("ids",)
    found = {}
    for i, name in enumerate(names):
        V = subject.V_source if name == "source" else subject.V
        ids = torch.arange(V) if V <= MOST_IDS else torch.cat([torch.arange(32), torch.arange(V - 32, V)])
        tried = [_hidden(subject, subject.inputs(seed), i, ids) for seed in (0, 1)]  # one may itself end in padding
        found[name] = sorted({id for hidden in tried if len(hidden) <= min(2, V // 4) for id in hidden})
    return found


@torch.no_grad()
def _hidden(subject: Subject, inputs: Ids, sequence: int, ids: Tensor) -> list[int]:
    """The ids whose attention weight is 0 where they stand before the last token of one of the sequences."""
    hidden = []
    for some in ids.split(32):
        rows = tuple(x[:1].repeat(len(some), 1) for x in inputs)
        rows[sequence][:, -2] = some.to(rows[sequence].device)
        layers = attention_weights(subject, rows)
        fits = (x.weights for x in layers if x.axis == -1 and x.weights.shape[-1] == rows[sequence].shape[1])
        weights = next(fits, None)
        if weights is None or len(weights) % len(some):
            return []
        largest = weights[..., -1, -2].reshape(len(some), -1).amax(dim=1)
        hidden += some[(largest == 0).cpu()].tolist()
    return hidden


def _unsaid(subject: Subject) -> str:
    """Why padding is not probed."""
    if not subject.apart:
        return "say which id is padding: pad_id="
    ids = " and ".join(map(str, subject.apart))
    look = "looks" if len(subject.apart) == 1 else "look"
    return f"id {ids} {look} like padding (padding_idx, or no token attends to it): say pad_id={subject.apart[0]}"


def _another(subject: Subject) -> Result | None:
    """Does attention hide an id other than the one that is padding?"""
    known = {"source": subject.source_pad_id}
    for name, ids in hidden_ids(subject).items():
        pad_id = known.get(name, subject.pad_id)
        if pad_id is not None and ids and pad_id not in ids:
            of = "" if name == "ids" else f" of the {name}"
            figure = f"id {ids[0]}{of} is hidden as padding is; padding is said to be {pad_id}"
            sure = subject.kind != "seq2seq" or subject.source_pad_id != subject.pad_id  # both were said
            return Result(WRONG if sure else LOOK, figure, None, ("other id", "said"), values={"at": ""})
    return None


def _pad_id(subject: Subject) -> int:
    """The first sequence's id of padding: without one there is nothing to probe."""
    assert subject.source_pad_id is not None
    return subject.source_pad_id


def _padded(subject: Subject, side: str) -> Ids:
    """The inputs with more padding in all rows (of the source, where there is one)."""
    first, *target = subject.inputs(0)
    pads = first.new_full((len(first), PADS), _pad_id(subject))
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
        padded[b, length - b :] = _pad_id(subject)
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
    pads = padded[0][0] == _pad_id(subject)  # (S + 3,): the same in all rows
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
    if subject.source_pad_id is None:
        return Result(SKIPPED, _unsaid(exam.own))
    first, *target = subject.inputs(0)
    blank = first.clone()
    blank[0] = subject.source_pad_id
    bad = ~subject(blank, *target).isfinite().all(dim=-1)  # (B, T)
    if not bad.any():
        return Result(RIGHT, "it does not", 0.0)
    share = bad.double().mean().item()
    if bad[1:].any():
        return Result(WRONG, "it makes NaN, in other rows, too", share)
    return Result(LOOK, "it makes NaN of itself", share)
