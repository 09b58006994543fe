"""Probes of what a model is trained by: the batches and the loss function, where they are handed over."""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from tx_helpers.diagnose.exam import Exam
from tx_helpers.diagnose.findings import RIGHT, SKIPPED, WRONG, Finding


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
    shares = {}
    for k in (1, 0, -1, 2, -2, 3):
        mine, theirs = (read[:, k:], asked[:, : asked.shape[1] - k]) if k >= 0 else (read[:, :k], asked[:, -k:])
        real = torch.ones_like(mine, dtype=torch.bool) if pad_id is None else (mine != pad_id) & (theirs != pad_id)
        shares[k] = (mine == theirs)[real].double().mean().item() if real.any() else 0.0
    best = max(shares, key=shares.get)
    if shares[1] > 0.99:
        return Finding("shift", question, RIGHT, f"at {shares[1]:.0%} of the positions", shares[1])
    found = f"at {shares[1]:.0%} of the positions"
    causes = {
        0: "the targets are not shifted: each position is asked for the token that it reads, and the loss falls to 0",
        -1: "shifted backwards: each position is asked for the token before, which it has seen",
        2: "shifted twice: the batch is shifted, and the loss shifts once more",
    }
    if shares[best] > 0.9:
        found += f"; they are the inputs {best} positions on at {shares[best]:.0%}"
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


@torch.no_grad()
def loss(exam: Exam) -> Finding:
    """The loss function: near 0 for sure and right logits, and deaf to what stands at padding."""
    question = "Does the loss ask for the target, and leave padding out?"
    if exam.loss is None:
        return Finding("loss", question, SKIPPED, "say how it is computed: loss=")
    subject, V = exam.own, exam.own.V
    target = subject.inputs(6)[-1].clone()
    if subject.pad_id is not None:
        target[:, -3:] = subject.pad_id
    sure = 20.0 * F.one_hot(target, V).float()
    value, surer = (float(exam.loss(scale * sure, target)) for scale in (1.0, 2.0))
    if value > 0.1 and abs(surer - value) < 1e-3 * value:
        return Finding(
            "loss",
            question,
            WRONG,
            f"{value:.2f} for right and sure logits, and no less for surer ones",
            value,
            ("a softmax before the cross-entropy, which has its own",),
            "the loss function",
            "hand the logits to F.cross_entropy",
        )
    if subject.pad_id is not None:
        flat = sure.clone()
        flat[:, -3:] = 0.0
        moved = abs(float(exam.loss(flat, target)) - value)
        if moved > 1e-4:
            return Finding(
                "loss",
                question,
                WRONG,
                f"it moves by {moved:.2g} with the logits at padding",
                moved,
                ("padding counts as a target: easily predicted, it flatters the loss",),
                "the loss function",
                "F.cross_entropy(…, ignore_index=pad_id)",
            )
    return Finding("loss", question, RIGHT, f"{value:.2f} for right and sure logits", value)
