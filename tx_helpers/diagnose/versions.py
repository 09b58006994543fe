"""Versions of a model: in float64, after some steps, with larger matrices, in training mode. All of them are copies."""

import math
from collections.abc import Callable
from dataclasses import fields, replace

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tx_helpers.diagnose.subject import Ids, Subject, copy_of
from tx_helpers.diagnose.watch import no_fast_path

# The largest movement that is rounding, by precision. Measured on the right models of tests/diagnose/right_models.py
# (three lengths and seeds): with equal shapes 0 in every precision; with others 1e-13 in float64 (5e-8 where a library
# works in float32 in places), 2e-6 in float32, 0.003 in float16, 0.03 in bfloat16. The wrong models move by 0.4 or more
# once attention is sharp, and what must move moves by 0.03 or more.
EQUAL_SHAPES = {torch.float64: 1e-9, torch.float32: 1e-6, torch.float16: 0.003, torch.bfloat16: 0.03}
OTHER_SHAPES = {torch.float64: 1e-5, torch.float32: 1e-3, torch.float16: 0.03, torch.bfloat16: 0.2}
COARSE = (torch.float16, torch.bfloat16)  # too coarse to tell what hardly moves from what does not


def movement(one: Tensor, other: Tensor) -> float:
    """The largest difference; infinite where one of the numbers is NaN."""
    return (one - other).abs().nan_to_num(nan=math.inf).max().item()


@torch.no_grad()
def is_finite(subject: Subject) -> bool:
    """Are the logits finite? Steps that are too large make a model diverge."""
    return bool(subject(*subject.inputs(0)).isfinite().all())


@torch.no_grad()
def in_float64(subject: Subject) -> Subject:
    """A copy in float64; the model as it is where that does not run, or computes something else.

    Functions stay as they are, as do models with a precision written into the code or traced into it, and models whose
    mask fills with the smallest number, where that overflows in float64 alone, at rows that see nothing but padding.
    So do models that make a float32 mask in their forward: PyTorch's kernel for the CPU misreads it beside float64
    queries of 16 positions and more, but not on the way that evaluation takes. Hence both ways are compared.
    """
    if not isinstance(subject.model, nn.Module):
        return subject
    ids, others = subject.inputs(0), subject.inputs(1)
    try:
        double = replace(subject, model=copy_of(subject.model).double())
        logits, own = double(*ids), subject(*ids)
        with no_fast_path():
            slow, own_slow = double(*ids), subject(*ids)
        scale = (own - subject(*others)).square().mean().sqrt().item()
        if subject.source_pad_id is not None:
            padded = (ids[0].clone(), *ids[1:])
            padded[0][:, :2] = subject.source_pad_id
            if subject(*padded).isfinite().all() and not double(*padded).isfinite().all():
                return subject
    except Exception:
        return subject
    rounding = 10 * OTHER_SHAPES.get(subject.dtype, 1e-3) * scale
    apart = max(movement(logits, own.double()), movement(slow, own_slow.double()))
    return replace(double, dtype=logits.dtype) if apart <= rounding else subject


def in_precision_of(own: Subject, subject: Subject) -> Subject:
    """A version of a model in the model's own precision."""
    if subject.dtype == own.dtype or not isinstance(subject.model, nn.Module):
        return subject
    return replace(subject, model=copy_of(subject.model).to(next(own.module.parameters()).dtype), dtype=own.dtype)


def after_steps(subject: Subject) -> Subject | None:
    """A copy after some steps on random ids; None if it cannot be trained.

    Parts that are 0 at first on purpose (output projections, a last norm's gain) take part only after some steps.
    """
    if not isinstance(subject.model, nn.Module) or not any(p.requires_grad for p in subject.model.parameters()):
        return None
    copied = replace(subject, model=copy_of(subject.model))
    try:
        train(copied, steps=5, lr=1e-2, seed=100)
    except Exception:  # the probe `gradients` reports it
        return None
    return copied


@torch.no_grad()
def with_larger_matrices(subject: Subject, factor: float = 3.0) -> Subject:
    """A copy whose trainable matrices are larger."""
    copied = replace(subject, model=copy_of(subject.module))
    for parameter in copied.module.parameters():
        if parameter.requires_grad and parameter.dim() >= 2:
            parameter.mul_(factor)
    return copied


def train(
    subject: Subject, *, steps: int, lr: float, seed: int, after_backward: Callable[[], None] = lambda: None
) -> None:
    """Train in place on random ids. Each step is Adam's first one, which takes no memory for means of gradients."""
    parameters = [parameter for parameter in subject.module.parameters() if parameter.requires_grad]
    for step in range(steps):
        with torch.enable_grad():
            loss = next_token_loss(subject, subject.inputs(seed + step))
            if not loss.requires_grad:
                return
            loss.backward()
        after_backward()
        with torch.no_grad():
            for parameter in parameters:
                if parameter.grad is not None:
                    parameter.sub_(lr * parameter.grad / (parameter.grad.abs() + 1e-8))
                    parameter.grad = None


def next_token_loss(subject: Subject, ids: Ids) -> Tensor:
    """Cross-entropy of random tokens that follow the ids: what a model is trained by. -> scalar"""
    logits = subject(*ids)
    if subject.kind == "encoder":
        target = subject.others(ids[-1], seed=9)
    else:
        logits, target = logits[:, :-1], ids[-1][:, 1:]
    return F.cross_entropy(logits.flatten(0, 1), target.flatten() % logits.shape[-1])  # hidden states will do, too


class _Seeded(Subject):
    """A model whose calls all draw the same random numbers."""

    def __call__(self, *ids: Tensor) -> Tensor:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            return super().__call__(*ids)


def in_training_mode(subject: Subject) -> Subject:
    """A copy in training mode. Calls with equal shapes have the same dropout."""
    values = {field.name: getattr(subject, field.name) for field in fields(subject)}
    return _Seeded(**values | {"model": copy_of(subject.module).train()})


def without_dropout(subject: Subject) -> Subject:
    """A copy in training mode, its dropout at 0."""
    copied = replace(subject, model=copy_of(subject.module).train())
    for module in copied.module.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.0
        for name, value in vars(module).items():
            if "drop" in name and isinstance(value, float):
                setattr(module, name, 0.0)
    return copied
