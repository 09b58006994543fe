"""Probes of what a model is trained by: the batches and the loss function, where they are given."""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from tx_helpers.diagnose.examination import Examination
from tx_helpers.diagnose.report import LOOK, RIGHT, SKIPPED, WRONG, Result

SURE = 5.0  # logits of the token that is named, where all others are 0
PADS = 3
WHERE = "the loss function"


@torch.no_grad()
def shift(exam: Examination) -> Result:
    """The batches: the target at t is the token that the model reads at t + 1."""
    if exam.data is None:
        return Result(SKIPPED, "say where batches come from: data=")
    if exam.subject.kind == "encoder":
        return Result(SKIPPED, "an encoder's targets stand where they are")
    read, asked = batch_of(exam.data)[-2:]
    shares = {k: _equal_share(read, asked, k, exam.subject.pad_id) for k in (1, 0, -1, 2, -2, 3)}
    wanted = 0 if _asks_for(exam) == 1 else 1  # some loss functions shift the targets themselves
    figure = f"at {shares[1]:.0%} of the positions"
    if shares[wanted] > 0.99:
        right = figure if wanted == 1 else "they are the inputs, and the loss shifts them"
        return Result(RIGHT, right, shares[wanted])
    best = max(shares, key=shares.__getitem__)
    if shares[best] <= 0.9:
        return Result(WRONG, figure, shares[1], ("different", "special"), "the function that makes the batches")
    if best != 1:
        figure += f"; they are the inputs {best} positions on at {shares[best]:.0%}"
    cause = {0: "none", -1: "backwards", 1: "twice", 2: "twice"}.get(best, "far")
    return Result(WRONG, figure, shares[1], (cause,), "the function that makes the batches", {"shift": best})


def _equal_share(read: Tensor, asked: Tensor, k: int, pad_id: int | None) -> float:
    """At which share of the real positions the target is the token that is read k positions later."""
    if k >= 0:
        mine, theirs = read[:, k:], asked[:, : asked.shape[1] - k]
    else:
        mine, theirs = read[:, :k], asked[:, -k:]
    real = theirs >= 0  # −100 stands for "not counted"
    if pad_id is not None:
        real = real & (mine != pad_id) & (theirs != pad_id)
    return (mine == theirs)[real].double().mean().item() if real.any() else 0.0


def batch_of(data: Any) -> tuple[Tensor, ...]:
    """(ids, target) or (source, decoder's input, target) of one batch: itself, or what a function or an iterator gives.

    A function may take the number of the step.
    """
    if callable(data):
        try:
            data = data(0)
        except TypeError:
            data = data()
    elif not isinstance(data, tuple | list) or (data and isinstance(data[0], tuple | list)):
        data = next(iter(data))  # of a loader, or a list of batches
    if isinstance(data, tuple | list) and len(data) in (2, 3) and all(isinstance(x, Tensor) for x in data):
        return tuple(x.cpu() for x in data)
    raise ValueError(
        f"diagnose: data gave {type(data).__name__}, "
        "expected (ids, target) or (source, decoder's input, target), tensors (B, T)"
    )


@torch.no_grad()
def loss(exam: Examination) -> Result:
    """The loss function: it falls with the target's logits, at every position, and does not depend on padding."""
    given = exam.loss
    if given is None:
        return Result(SKIPPED, "say how it is computed: loss=")
    pad_id, target = exam.own.pad_id, _targets(exam)
    T = target.shape[1] - (0 if pad_id is None else PADS)
    sure = _naming(exam, target)

    def value(logits: Tensor, target: Tensor = target) -> float:
        return float(given(logits, target))

    even, better, best = value(0.0 * sure), value(4.0 * sure), value(8.0 * sure)
    if better > 0.1 and abs(best - better) < 1e-3 * better:
        figure = f"{better:.2f} for right and sure logits, and no less for surer ones"
        return Result(WRONG, figure, better, ("softmax",), WHERE)
    if not value(sure) < even:
        return _not_of_the_target(exam, even, value(sure), better, value(-sure))
    positions = torch.arange(target.shape[1], device=sure.device)
    unused = [t for t in range(T) if not value(sure * (positions == t)[:, None]) < even]
    if unused:
        figure = f"positions {', '.join(map(str, unused))} of {T} do not count"
        return Result(LOOK, figure, float(len(unused)), ("part", "prompt"), WHERE)
    if pad_id is not None:
        open_end = sure.clone()
        open_end[:, -PADS:] = 0.0
        moved = abs(value(open_end) - value(sure))
        if moved > 1e-4:
            return Result(WRONG, f"it moves by {moved:.2g} with the logits at padding", moved, ("padding",), WHERE)
        cut = value(0.0 * sure[:, :-PADS].contiguous(), target[:, :-PADS].contiguous())
        if abs(cut - even) > 1e-4 * abs(cut):
            figure = f"{even:.2f} with {PADS} ids of padding in a row, {cut:.2f} without them"
            return Result(WRONG, figure, even, ("divided",), WHERE)
    return Result(RIGHT, f"{better:.2f} for right and sure logits", better)


def _not_of_the_target(exam: Examination, even: float, sure: float, better: float, worse: float) -> Result:
    """A loss that does not fall with the target's logits: right only if batches are made for it."""
    shift = _asks_for(exam)
    if shift == 1 and exam.results["shift"].state == RIGHT:
        return Result(RIGHT, "it asks for the next target, as these batches need", better)
    causes: tuple[str, ...] = ("transposed", "other")
    if worse < even - 1:
        causes = ("sign",)
    elif shift != 0:
        causes = ("shifts", "meant") if shift == 1 else ("far",)
    state = LOOK if shift == 1 and exam.results["shift"].state == SKIPPED else WRONG
    figure = f"{even:.2f} for even logits, {sure:.2f} where the target's are higher"
    return Result(state, figure, better, causes, WHERE, {"shift": shift})


def _targets(exam: Examination) -> Tensor:
    """Random ids (B, T), with padding at the end."""
    target = exam.own.inputs(6)[-1].clone()
    if exam.own.pad_id is not None:
        target[:, -PADS:] = exam.own.pad_id
    return target


def _naming(exam: Examination, ids: Tensor) -> Tensor:
    """Logits (B, T, V) that name these ids."""
    return SURE * F.one_hot(ids, exam.own.V).float()


def _asks_for(exam: Examination) -> int:
    """How many positions after its place the loss function reads a target; 0 also where this is not clear."""
    if exam.loss is None:
        return 0
    target = _targets(exam)
    try:
        values = {k: float(exam.loss(_naming(exam, target.roll(-k, 1)), target)) for k in (0, 1, -1, 2)}
        even = float(exam.loss(0.0 * _naming(exam, target), target))
    except Exception:  # the probe `loss` reports it
        return 0
    best = min(values, key=values.__getitem__)
    return best if values[best] < 0.7 * even else 0
