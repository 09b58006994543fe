"""Probes for leaks: something is changed that must not matter, and no logit may move."""

import math
from collections.abc import Callable
from dataclasses import replace

import torch
from torch import Tensor, nn

from tx_helpers.diagnose.examination import Examination, moves
from tx_helpers.diagnose.report import LOOK, RIGHT, SKIPPED, WRONG, Result
from tx_helpers.diagnose.subject import Ids, Subject
from tx_helpers.diagnose.versions import EQUAL_SHAPES, in_training_mode, movement
from tx_helpers.diagnose.watch import Softmax, attention_weights, first_to_move


@torch.no_grad()
def future(exam: Examination) -> Result:
    """Other tokens from position t on, for every t: the logits before t must not move."""
    if exam.subject.kind == "encoder":
        return Result(SKIPPED, "an encoder may see all positions")
    share, subject = exam.largest(lambda subject: max(_leaks(subject).values()), exam.tolerance)
    if subject is None:
        return _future_in_training(exam) or Result(RIGHT, "they do", share)
    leaks = _leaks(subject)
    t = next(t for t in leaks if exam.share(subject, leaks[t]) > exam.tolerance)
    causes, values = leak_causes(subject)
    if len(exam.versions) == 3 and subject is exam.versions[-1]:  # only where attention is sharp
        causes = ("weak for large", *causes)
    where = first_to_move(subject, subject.inputs(0), _other_from(subject, t), columns=t, tolerance=exam.tolerance)
    return Result(WRONG, moves(share), share, causes, where, values)


def _other_from(subject: Subject, t: int) -> Ids:
    """The inputs with other tokens from position t on."""
    *source, ids = subject.inputs(0)
    return *source, torch.cat([ids[:, :t], subject.others(ids, t)[:, t:]], dim=1)


def _leaks(subject: Subject) -> dict[int, float]:
    """For each t how far the logits before t move."""
    base, moved = subject(*subject.inputs(0)), {}
    for t in range(1, subject.T):
        logits = subject(*_other_from(subject, t))
        moved[t] = movement(logits[:, :t], base[:, :t])
    return moved


def _future_in_training(exam: Examination) -> Result | None:
    """The same in training mode, unless rows of a batch affect each other (`neighbours` reports that)."""
    subject, t = exam.own, exam.subject.T // 2
    moved = _moved_in_training(subject, _other_from(subject, t))
    batch = _moved_in_training(subject, _other_neighbours(subject))
    if moved is None or batch is None:
        return None
    share = exam.share(subject, moved[:, :t].max().item())
    limit = EQUAL_SHAPES.get(subject.dtype, 1e-5)
    if share <= limit or exam.share(subject, batch[:1].max().item()) > limit:
        return None
    return Result(WRONG, f"they do in evaluation; in training mode {moves(share)}", share, ("training",))


def _moved_in_training(subject: Subject, other: Ids) -> Tensor | None:
    """How far the logits (B, T, V) move in training mode. From one seed dropout is the same, and only the ids differ.

    None for functions, and where two calls differ as it is or the model answers otherwise in training.
    """
    if not isinstance(subject.model, nn.Module):
        return None
    training, ids = in_training_mode(subject), subject.inputs(0)
    try:
        base, again, changed = training(*ids), training(*ids), training(*other)
    except Exception:
        return None
    return (changed - base).abs().nan_to_num(nan=math.inf) if torch.equal(base, again) else None


def _other_neighbours(subject: Subject) -> Ids:
    """The first row unchanged, the other rows with other ids."""
    ids, others = subject.inputs(0), subject.inputs(1)
    return tuple(torch.cat([mine[:1], other[1:]]) for mine, other in zip(ids, others, strict=True))


@torch.no_grad()
def prefix(exam: Examination) -> Result:
    """The first t tokens alone must give the same logits as in the full sequence, and as in a longer one."""
    if exam.subject.kind == "encoder":
        return Result(SKIPPED, "an encoder may see all positions")
    T = exam.subject.T
    lengths = sorted({1, 2, T // 2, T - 1})

    def differences(subject: Subject, length: int) -> dict[int, float]:
        *source, ids = of_length(subject, length)
        logits = subject(*source, ids)
        return {t: movement(subject(*source, ids[:, :t]), logits[:, :t]) for t in lengths}

    def most(length: int) -> Callable[[Subject], float]:
        return lambda subject: max(differences(subject, length).values())

    for length in (T, longest(exam.subject)):
        share, subject = exam.largest(most(length), exam.loose)
        if subject is not None:
            break
    else:
        return Result(RIGHT, "it does", share)
    differ = differences(subject, length)
    t = next(t for t in lengths if exam.share(subject, differ[t]) > exam.loose)
    *source, ids = of_length(subject, length)
    causes: tuple[str, ...] = ("norm", "cut", "view")
    if exam.found("future"):
        causes = ("leak", *causes)
    elif _reads_less_than_its_weights(subject):
        causes = ("view", "norm", "cut")
    figure = moves(share, "differ")
    if length > T:
        causes, figure = ("short", *causes), f"{figure}, but only in front of {length} positions"
    where = first_to_move(subject, (*source, ids), (*source, ids[:, :t]), columns=t)
    return Result(WRONG, figure, share, causes, where, {"length": length})


def of_length(subject: Subject, length: int) -> Ids:
    """Random ids with a (target) sequence of this length."""
    return *subject.inputs(0)[:-1], replace(subject, T=length).inputs(0)[-1]


def longest(subject: Subject) -> int:
    """4 T, 2 T or T, whatever the model can take (T on CUDA, where a position too many ends the process)."""
    for length in (4 * subject.T, 2 * subject.T) if subject.device.type == "cpu" else ():
        try:
            subject(*of_length(subject, length))
        except Exception:
            continue
        return length
    return subject.T


def _reads_less_than_its_weights(subject: Subject) -> bool:
    """Does the last position weigh the first one, and yet not depend on it?"""
    *source, ids = subject.inputs(0)
    layers = attention_weights(subject, (*source, ids), {subject.T})
    changed = ids.clone()
    changed[:, 0] = subject.others(ids)[:, 0]
    still = movement(subject(*source, changed)[:, -1], subject(*source, ids)[:, -1]) <= 1e-9
    return still and any(layer.weights[..., -1, 0].max() > 0 for layer in layers)


@torch.no_grad()
def neighbours(exam: Examination) -> Result:
    """A row's logits must not move when it is alone, when rows are reordered, or when its neighbours change."""

    def by_content(subject: Subject, row: int) -> tuple[Ids, Ids, int, int]:
        ids, others = subject.inputs(0), subject.inputs(1)
        rows = torch.arange(subject.B, device=subject.device)[:, None]
        return ids, tuple(torch.where(rows == row, x, y) for x, y in zip(ids, others, strict=True)), row, row

    def by_place(subject: Subject) -> list[tuple[Ids, Ids, int, int]]:
        ids = subject.inputs(0)
        turned = (ids, tuple(x.flip(0) for x in ids), 0, subject.B - 1)
        return [turned, *((ids, tuple(x[b : b + 1] for x in ids), b, 0) for b in range(subject.B))]

    def differ(subject: Subject, one: Ids, other: Ids, row: int, other_row: int) -> float:
        return movement(subject(*one)[row], subject(*other)[other_row])

    last_row = exam.subject.B - 1
    measures = {
        "first": lambda subject: differ(subject, *by_content(subject, 0)),
        "last": lambda subject: differ(subject, *by_content(subject, last_row)),
        "place": lambda subject: max(differ(subject, *case) for case in by_place(subject)),
    }
    found = {name: exam.largest(measure, exam.loose) for name, measure in measures.items()}
    share = max(share for share, _ in found.values())
    moved = {name: subject for name, (_, subject) in found.items() if subject is not None}
    if not moved:
        return _neighbours_in_training(exam) or Result(RIGHT, "they do", share)
    subject = min(moved.values(), key=exam.versions.index)
    causes, figure = ("norm", "axes", "experts", "positions"), moves(share)
    if set(moved) == {"place"}:
        causes, figure = ("positions", "axes", "norm", "experts"), f"{figure}, by their place in the batch alone"
    elif "first" not in moved or attention_weights(subject, subject.inputs(0), {subject.B}):
        causes = ("axes", "norm", "experts", "positions")  # rows see the rows before them, or attention runs over rows
    where = ""
    for one, other, row, other_row in (by_content(subject, 0), by_content(subject, last_row), *by_place(subject)):
        rows = slice(row, row + 1), slice(other_row, other_row + 1)
        where = where or first_to_move(subject, one, other, rows=rows, columns=subject.T)
    return Result(WRONG, figure, share, causes, where)


def _neighbours_in_training(exam: Examination) -> Result | None:
    """The same in training mode."""
    moved = _moved_in_training(exam.own, _other_neighbours(exam.own))
    if moved is None or exam.share(exam.own, moved[:1].max().item()) <= 1e-3:
        return None
    figure = "they do in evaluation, but not in training mode"
    return Result(LOOK, figure, moved[:1].max().item(), ("BatchNorm", "meant"))


def leak_causes(subject: Subject) -> tuple[tuple[str, ...], dict[str, str]]:
    """What makes a leak, by the weights of the attention layers from a sequence to itself: keys and their values."""
    layers = attention_weights(subject, subject.inputs(0))
    layers = [layer for layer in layers if layer.weights.shape[-2:] == (subject.T, subject.T)]
    if not layers and _from_the_next_alone(subject, reach=4):
        return ("next", "nothing", "mixed"), {}
    if not layers:
        return ("nothing", "mixed", "both ways", "encoder"), {}
    odd = next((layer for layer in layers if layer.axis != -1), None)
    values = {"at": f", in {(odd or layers[0]).module or 'the forward'}"}
    if odd is not None:
        name = {-2: "the queries", -3: "the heads"}.get(odd.axis, "the batch")
        return ("axis", "mixed"), values | {"axis": str(odd.axis), "axis_name": name}
    return _mask_causes(layers, subject, values), values


def _mask_causes(layers: list[Softmax], subject: Subject, values: dict[str, str]) -> tuple[str, ...]:
    weights = layers[0].weights.flatten(0, -3).amax(dim=0)  # (T, T): the largest of all rows and heads
    above, below = weights.triu(1), weights.tril(-1)
    if above.max() == 0:
        later = next((layer for layer in layers if layer.weights.triu(1).max() > 0), None)
        if later is not None:
            values["module"] = later.module
            return "missing", "mixed"
        return ("next", "mixed") if _from_the_next_alone(subject, reach=len(layers)) else ("mixed", "other place")
    if above.max() < 1e-3 * weights.max():
        return ("weak",)
    if below[:-1].max() < 1e-6:  # an inverted mask leaves the last row nothing, and even weights
        return "inverted", "encoder"
    if above.triu(2).max() < 1e-6:
        return "one too far", "mixed"
    if above[1:].max() < 1e-6:
        return ("first row",)
    if layers[0].weights.std(dim=-1).max() < 1e-6:
        return ("even",)
    return "no mask", "multiplied", "encoder", "mixed"


def _from_the_next_alone(subject: Subject, reach: int) -> bool:
    """Does each token move the position before it, and none that is further than `reach` before it?

    Position 0 is left out: the key that it sees has the weight 1, whatever it is.
    """
    *source, ids = subject.inputs(0)
    base, others = subject(*source, ids), subject.others(ids)
    for t in range(2, subject.T):
        changed = ids.clone()
        changed[:, t] = others[:, t]
        moved = (subject(*source, changed) - base).abs().amax(dim=(0, 2))[:t] > 1e-9  # (t,)
        if not moved[-1] or moved[: max(t - reach, 0)].any():
            return False
    return True
