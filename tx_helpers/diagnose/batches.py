"""Probes of what a model is trained by: the batches and the loss function, where they are handed over."""

from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from tx_helpers.diagnose.exam import Exam
from tx_helpers.diagnose.findings import LOOK, RIGHT, SKIPPED, WRONG, Finding


@torch.no_grad()
def shift(exam: Exam) -> Finding:
    """The batches: the target at t is the token that the model reads at t + 1."""
    question = "Are the targets the inputs, one position on?"
    if exam.subject.kind == "encoder" or exam.data is None:
        why = (
            "an encoder's targets stand where they are"
            if exam.data is not None
            else "say where batches come from: data="
        )
        return Finding("shift", question, SKIPPED, why)
    read, asked = batch_of(exam.data)[-2:]
    pad_id = exam.subject.pad_id
    wanted = 0 if _asks_for(exam) == 1 else 1  # some loss functions shift the targets themselves
    shares = {}
    for k in (1, 0, -1, 2, -2, 3):
        mine, theirs = (read[:, k:], asked[:, : asked.shape[1] - k]) if k >= 0 else (read[:, :k], asked[:, -k:])
        real = theirs >= 0  # −100 stands for "not counted"
        real = real if pad_id is None else real & (mine != pad_id) & (theirs != pad_id)
        shares[k] = (mine == theirs)[real].double().mean().item() if real.any() else 0.0
    best = max(shares, key=shares.get)
    found = f"at {shares[1]:.0%} of the positions"
    if shares[wanted] > 0.99:
        figure = found if wanted == 1 else "they are the inputs, and the loss shifts them"
        return Finding("shift", question, RIGHT, figure, shares[wanted])
    causes = {
        0: "the targets are not shifted: each position is asked for the token that it reads, and the loss falls to 0",
        -1: "shifted backwards: each position is asked for the token before, which it has seen",
        2: "shifted twice: the batch is shifted, and the loss shifts once more",
    }
    if shares[best] > 0.9:
        found += f"; they are the inputs {best} positions on at {shares[best]:.0%}" if best != 1 else ""
        causes[1] = "shifted twice: the batch is shifted, and the loss shifts once more"
        likely = (causes.get(best, f"shifted by {best} positions instead of 1"),)
    else:
        likely = ("inputs and targets are of different rows or texts", "special tokens stand in one of them only")
    return Finding(
        "shift",
        question,
        WRONG,
        found,
        shares[1],
        likely,
        "the function that makes the batches",
        "input = text[i : i + T], target = text[i + 1 : i + T + 1]; print one row of both as words",
    )


def batch_of(data: Any) -> tuple[Tensor, ...]:
    """(ids, target) or (source, decoder's input, target) of one batch: itself, or what a function or an iterator gives.

    A function may take the number of the step.
    """
    if callable(data):
        try:
            data = data(0)
        except TypeError:
            data = data()
    elif not isinstance(data, tuple | list):
        data = next(iter(data))
    if isinstance(data, tuple | list) and len(data) in (2, 3) and all(isinstance(x, Tensor) for x in data):
        return tuple(x.cpu() for x in data)
    raise ValueError(
        f"diagnose: data gave {type(data).__name__}, "
        "expected (ids, target) or (source, decoder's input, target), tensors (B, T)"
    )


SURE = 5.0  # logits of the token that is named, where all others are 0


@torch.no_grad()
def loss(exam: Exam) -> Finding:
    """The loss function: it falls with the target's logits, at every position, and is deaf to padding."""
    question = "Does the loss ask for the target, and leave padding out?"
    if exam.loss is None:
        return Finding("loss", question, SKIPPED, "say how it is computed: loss=")
    found = partial(Finding, "loss", question)
    pad_id, target = exam.own.pad_id, _targets(exam)
    T = target.shape[1] - (0 if pad_id is None else PADS)
    sure = _naming(exam, target)

    def value(logits: Tensor) -> float:
        return float(exam.loss(logits, target))

    even, better, best = (value(scale * sure) for scale in (0.0, 4.0, 8.0))
    if better > 0.1 and abs(best - better) < 1e-3 * better:
        figure = f"{better:.2f} for right and sure logits, and no less for surer ones"
        cause = "a softmax before the cross-entropy, which has its own"
        return found(WRONG, figure, better, (cause,), "the loss function", "hand the logits to F.cross_entropy")
    if not value(sure) < even:
        batches = exam.found["shift"].verdict if _asks_for(exam) == 1 else WRONG
        if batches == RIGHT:
            return found(RIGHT, "it asks for the next target, as these batches need", better)
        return found(
            LOOK if batches == SKIPPED else WRONG,
            f"{even:.2f} for even logits, {value(sure):.2f} where the target's are higher",
            better,
            _astray(exam, even),
            "the loss function",
            "give it logits that name the target, 9.0 * F.one_hot(target, V): it must be near 0",
        )
    alone = [value(sure * (torch.arange(len(sure[0]), device=sure.device) == t)[:, None]) for t in range(T)]
    deaf = [t for t in range(T) if not alone[t] < even]
    if deaf:
        return found(
            LOOK,
            f"positions {', '.join(map(str, deaf))} of {T} do not count",
            float(len(deaf)),
            ("the loss is taken of a part of the logits", "it is meant: a prompt whose tokens are given"),
            "the loss function",
            "reshape all logits to (B T, V) and all targets to (B T)",
        )
    if pad_id is not None:
        open_end = sure.clone()
        open_end[:, -PADS:] = 0.0
        moved = abs(value(open_end) - value(sure))
        cut = float(exam.loss(0.0 * sure[:, :-PADS], target[:, :-PADS]))
        remedy = "F.cross_entropy(…, ignore_index=pad_id)"
        if moved > 1e-4:
            figure = f"it moves by {moved:.2g} with the logits at padding"
            cause = "padding counts as a target: easily predicted, it flatters the loss"
            return found(WRONG, figure, moved, (cause,), "the loss function", remedy)
        if abs(cut - even) > 1e-4 * abs(cut):
            figure = f"{even:.2f} with {PADS} ids of padding in a row, {cut:.2f} without them"
            cause = "the sum is divided by all positions, padding among them: padded rows then count less"
            return found(WRONG, figure, even, (cause,), "the loss function", "divide by the number of real targets")
    return found(RIGHT, f"{better:.2f} for right and sure logits", better)


PADS = 3


def _targets(exam: Exam) -> Tensor:
    """Random ids (B, T), with padding at the end."""
    target = exam.own.inputs(6)[-1].clone()
    if exam.own.pad_id is not None:
        target[:, -PADS:] = exam.own.pad_id
    return target


def _naming(exam: Exam, ids: Tensor) -> Tensor:
    """Logits (B, T, V) that name these ids."""
    return SURE * F.one_hot(ids, exam.own.V).float()


def _asks_for(exam: Exam) -> int:
    """How many positions on from its place a target is asked for by the loss function; 0 also where it has no such."""
    if exam.loss is None:
        return 0
    target = _targets(exam)
    try:
        values = {k: float(exam.loss(_naming(exam, target.roll(-k, 1)), target)) for k in (0, 1, -1, 2)}
        even = float(exam.loss(0.0 * _naming(exam, target), target))
    except Exception:  # the probe `loss` tells of it
        return 0
    best = min(values, key=values.get)
    return best if values[best] < 0.7 * even else 0


def _astray(exam: Exam, even: float) -> tuple[str, ...]:
    """Why a loss does not fall with the target's logits."""
    k, target = _asks_for(exam), _targets(exam)
    if float(exam.loss(-_naming(exam, target), target)) < even - 1:
        return ("its sign: it is the log-likelihood, which grows",)
    if k == 1:
        return (
            "it shifts the targets by itself: once more, if the batches are shifted already",
            "it is meant: the batches are not shifted (then hand them over, too, by data=)",
        )
    if k != 0:
        return (f"each position is asked for the target {k} positions on",)
    mixed = "logits and targets are of different places: one of them was transposed, or a view mixed up its axes"
    return (mixed, "the targets are not what the logits are compared with")
