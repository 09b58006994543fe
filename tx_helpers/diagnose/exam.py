"""An examination: the versions of a model that are looked at, and the scale by which a movement is judged.

A movement of the logits is measured in the model's own unit: the root mean square by which they move when all ids are
replaced. So 0.3 says "three tenths of what a change of everything does", for logits of any size.

Three versions are looked at, and the largest movement counts: the model as it is; after a few steps on random ids,
where parts that begin at zero take part; and then with its matrices made larger, so that attention is sharp, and a mask
that is nearly closed opens.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tx_helpers.diagnose.findings import WRONG, Finding
from tx_helpers.diagnose.subject import Ids, Subject, copy_of

# Movements up to here are rounding, by precision. Measured on the right models of tests/diagnose/right_models.py (three
# lengths and seeds): with equal shapes 0 in every precision; with others 1e-13 in float64 (5e-8 where a library works
# in float32 in places), 2e-6 in float32, 0.003 in float16, 0.03 in bfloat16. The wrong ones beside them move
# by 0.4 or more once attention is sharp, and what must move moves by 0.03 or more.
EQUAL_SHAPES = {torch.float64: 1e-9, torch.float32: 1e-6, torch.float16: 0.003, torch.bfloat16: 0.03}
OTHER_SHAPES = {torch.float64: 1e-5, torch.float32: 1e-3, torch.float16: 0.03, torch.bfloat16: 0.2}
COARSE = (torch.float16, torch.bfloat16)  # too coarse to tell what hardly moves from what does not
TOO_COARSE = "half precision is too coarse to tell; hand over the nn.Module"


@dataclass
class Exam:
    """What the probes share; the options are those of `diagnose`."""

    own: Subject  # in its own precision
    versions: list[Subject]
    trained: bool | None = None
    pad_side: str = "right"
    decoding: Callable | None = None
    data: Any = None
    loss: Callable | None = None
    found: dict[str, Finding] = field(default_factory=dict)  # by the probes so far
    scales: dict[int, float] = field(default_factory=dict)

    @property
    def subject(self) -> Subject:
        """The model as it is, in the best precision."""
        return self.versions[0]

    @property
    def tolerance(self) -> float:
        """The largest movement that is rounding, where the shapes are equal."""
        return EQUAL_SHAPES.get(self.subject.dtype, 1e-5)

    @property
    def loose(self) -> float:
        """The same where they are not."""
        return OTHER_SHAPES.get(self.subject.dtype, 1e-3)

    @property
    def leaks(self) -> bool:
        """Has the probe `future` convicted?"""
        return "future" in self.found and self.found["future"].verdict == WRONG

    def scale(self, subject: Subject) -> float:
        """How far the logits move, root mean square, when all ids are replaced; computed once."""
        if id(subject) not in self.scales:
            difference = subject(*subject.inputs(1)) - subject(*subject.inputs(2))
            self.scales[id(subject)] = difference.square().mean().sqrt().item()
        return self.scales[id(subject)]

    def shares(self, measure: Callable[[Subject], float]) -> list[float]:
        """What a probe measures of each version, in units of its scale; 0 where nothing moves the logits at all."""
        return [measure(s) / self.scale(s) if self.scale(s) > 0 else 0.0 for s in self.versions]

    def first_above(self, shares: list[float], limit: float) -> Subject:
        """The first version, and so the one most like the model, that is above the limit."""
        return next(s for s, share in zip(self.versions, shares, strict=True) if share > limit)


def new_exam(subject: Subject, **options: Any) -> Exam:
    """The versions of a model, ready for the probes."""
    best = in_float64(subject)
    woken = (awake(best), awake(best, scale=3.0))
    return Exam(
        subject, [best, *(version for version in woken if version is not None and _is_finite(version))], **options
    )


@torch.no_grad()
def _is_finite(subject: Subject) -> bool:
    """Not if the steps have blown it up."""
    return bool(subject(*subject.inputs(0)).isfinite().all())


def movement(one: Tensor, other: Tensor) -> float:
    """The largest difference; infinite where one of the numbers is none."""
    return (one - other).abs().nan_to_num(nan=math.inf).max().item()


def moves(share: float, verb: str = "move") -> str:
    """A movement in words."""
    return f"they {verb} {share:.2g} times as far as when all tokens change" if share < math.inf else "they become NaN"


def in_float64(subject: Subject) -> Subject:
    """The same in float64; as it is where that does not run, or is another model.

    So it is with a function, and with a precision written into the code or traced into it.
    """
    if not isinstance(subject.model, nn.Module):
        return subject
    ids, others = subject.inputs(0), subject.inputs(1)
    try:
        double = replace(subject, model=copy_of(subject.model).double())
        with torch.no_grad():
            logits, own = double(*ids), subject(*ids)
            scale = (own - subject(*others)).square().mean().sqrt().item()
    except Exception:
        return subject
    rounding = 10 * OTHER_SHAPES.get(subject.dtype, 1e-3) * scale
    return replace(double, dtype=logits.dtype) if movement(logits, own.double()) <= rounding else subject


def awake(subject: Subject, *, steps: int = 5, scale: float = 1.0) -> Subject | None:
    """A copy after some steps of Adam on random ids, its matrices then times `scale`; None if it cannot be trained.

    Parts that begin at zero on purpose (output projections, a last norm's gain) take part only after some steps.
    """
    if not isinstance(subject.model, nn.Module):
        return None
    copied = replace(subject, model=copy_of(subject.model))
    parameters = [parameter for parameter in copied.model.parameters() if parameter.requires_grad]
    if not parameters:
        return None
    optimizer = torch.optim.Adam(parameters, lr=1e-2)
    try:
        for step in range(steps):
            optimizer.zero_grad()
            next_token_loss(copied, copied.inputs(100 + step)).backward()
            optimizer.step()
    except Exception:  # the probe `gradients` tells of it
        return None
    with torch.no_grad():
        for parameter in parameters:
            if parameter.dim() >= 2:
                parameter.mul_(scale)
    return copied


def next_token_loss(subject: Subject, ids: Ids) -> Tensor:
    """Cross-entropy of random tokens that follow the ids: what a model is trained by. -> scalar"""
    logits = subject(*ids)
    if subject.kind == "encoder":
        target = subject.others(ids[-1], seed=9)
    else:
        logits, target = logits[:, :-1], ids[-1][:, 1:]
    return F.cross_entropy(logits.flatten(0, 1), target.flatten() % logits.shape[-1])  # hidden states will do, too
