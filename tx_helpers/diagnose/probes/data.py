"""Probes of what a model is trained by: the batches and the loss function, where they are given."""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from tx_helpers.diagnose.report import LOOK, RIGHT, SKIPPED, WRONG, Result
from tx_helpers.diagnose.run import Run

SURE = 5.0  # logits of the token that is named, where all others are 0
PADS = 3
WHERE = "the loss function"


@torch.no_grad()
def shift(run: Run) -> Result:
    """The batches: the target at t is the token that the model reads at t + 1."""
    if run.data is None:
        return Result(SKIPPED, "say where batches come from: data=")
    if run.subject.kind == "encoder":
        return Result(SKIPPED, "an encoder's targets stand where they are")
    read, asked = batch_of(run.data)[-2:]
    shares = {k: _equal_share(read, asked, k, run.subject.pad_id) for k in (1, 0, -1, 2, -2, 3)}
    wanted = 0 if _asks_for(run) == 1 else 1  # some loss functions shift the targets themselves
    figure = f"at {shares[1]:.0%} of the positions"
    if shares[wanted] > 0.99:
        right = figure if wanted == 1 else "they are the inputs, and the loss shifts them"
        return Result(RIGHT, right, shares[wanted])
    best = max(shares, key=shares.get)
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
    elif not isinstance(data, tuple | list):
        data = next(iter(data))
    if isinstance(data, tuple | list) and len(data) in (2, 3) and all(isinstance(x, Tensor) for x in data):
        return tuple(x.cpu() for x in data)
    raise ValueError(
        f"diagnose: data gave {type(data).__name__}, "
        "expected (ids, target) or (source, decoder's input, target), tensors (B, T)"
    )


@torch.no_grad()
def loss(run: Run) -> Result:
    """The loss function: it falls with the target's logits, at every position, and does not depend on padding."""
    if run.loss is None:
        return Result(SKIPPED, "say how it is computed: loss=")
    pad_id, target = run.own.pad_id, _targets(run)
    T = target.shape[1] - (0 if pad_id is None else PADS)
    sure = _naming(run, target)

    def value(logits: Tensor, target: Tensor = target) -> float:
        return float(run.loss(logits, target))

    even, better, best = value(0.0 * sure), value(4.0 * sure), value(8.0 * sure)
    if better > 0.1 and abs(best - better) < 1e-3 * better:
        figure = f"{better:.2f} for right and sure logits, and no less for surer ones"
        return Result(WRONG, figure, better, ("softmax",), WHERE)
    if not value(sure) < even:
        return _not_of_the_target(run, even, value(sure), better)
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
        cut = value(0.0 * sure[:, :-PADS], target[:, :-PADS])
        if abs(cut - even) > 1e-4 * abs(cut):
            figure = f"{even:.2f} with {PADS} ids of padding in a row, {cut:.2f} without them"
            return Result(WRONG, figure, even, ("divided",), WHERE)
    return Result(RIGHT, f"{better:.2f} for right and sure logits", better)


def _not_of_the_target(run: Run, even: float, sure: float, better: float) -> Result:
    """A loss that does not fall with the target's logits: right only if batches are made for it."""
    shift, target = _asks_for(run), _targets(run)
    if shift == 1 and run.results["shift"].state == RIGHT:
        return Result(RIGHT, "it asks for the next target, as these batches need", better)
    causes = ("transposed", "other")
    if float(run.loss(-_naming(run, target), target)) < even - 1:
        causes = ("sign",)
    elif shift != 0:
        causes = ("shifts", "meant") if shift == 1 else ("far",)
    state = LOOK if shift == 1 and run.results["shift"].state == SKIPPED else WRONG
    figure = f"{even:.2f} for even logits, {sure:.2f} where the target's are higher"
    return Result(state, figure, better, causes, WHERE, {"shift": shift})


def _targets(run: Run) -> Tensor:
    """Random ids (B, T), with padding at the end."""
    target = run.own.inputs(6)[-1].clone()
    if run.own.pad_id is not None:
        target[:, -PADS:] = run.own.pad_id
    return target


def _naming(run: Run, ids: Tensor) -> Tensor:
    """Logits (B, T, V) that name these ids."""
    return SURE * F.one_hot(ids, run.own.V).float()


def _asks_for(run: Run) -> int:
    """How many positions after its place the loss function reads a target; 0 also where this is not clear."""
    if run.loss is None:
        return 0
    target = _targets(run)
    try:
        values = {k: float(run.loss(_naming(run, target.roll(-k, 1)), target)) for k in (0, 1, -1, 2)}
        even = float(run.loss(0.0 * _naming(run, target), target))
    except Exception:  # the probe `loss` reports it
        return 0
    best = min(values, key=values.get)
    return best if values[best] < 0.7 * even else 0
