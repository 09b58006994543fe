"""Probes of what training sees: do the parameters get gradients, are they all known, is attention soft?"""

import math
import re
from dataclasses import replace

import torch
from torch import Tensor, nn

from tx_helpers.diagnose.examination import A_FUNCTION, Examination
from tx_helpers.diagnose.report import LOOK, RIGHT, SKIPPED, WRONG, Result
from tx_helpers.diagnose.subject import copy_of, subject_options
from tx_helpers.diagnose.versions import EQUAL_SHAPES, movement, next_token_loss, train
from tx_helpers.diagnose.watch import attention_weights

STEPS = 6  # where the output and the projection before it are both 0 at first, what precedes them learns from step 3 on
SOFT = 0.6  # measured in fresh models: right ones (33, three lengths) at least 0.76, without √K (K = 16) 0.40


def gradients(exam: Examination) -> Result:
    """A few steps of training on a copy: does every parameter get a gradient, sooner or later?"""
    if not isinstance(exam.subject.model, nn.Module):
        return Result(SKIPPED, A_FUNCTION)
    copied = replace(exam.subject, model=copy_of(exam.subject.model))
    named = {name: p for name, p in copied.module.named_parameters() if p.requires_grad}
    frozen = [name for name, p in copied.module.named_parameters() if not p.requires_grad]
    if not named:
        return Result(SKIPPED, "no parameter asks for one (requires_grad)")
    largest: dict[str, float] = {}  # absolute gradient, by name

    def note() -> None:
        for name, parameter in named.items():
            if parameter.grad is not None:
                value = parameter.grad.abs().nan_to_num(nan=math.inf).max().item()
                largest[name] = max(largest.get(name, 0.0), value)

    train(copied, steps=STEPS, lr=1e-3, seed=200, after_backward=note)
    faults = {
        "none": ("none at all", [name for name in named if name not in largest]),
        "zero": ("exactly 0", [name for name, value in largest.items() if value == 0]),
        "broken": ("NaN or infinity", [name for name, value in largest.items() if value == math.inf]),
        "equal": ("the same in all rows", [n for n, value in largest.items() if value > 0 and _is_one_row(named[n])]),
    }
    faults = {key: (what, names) for key, (what, names) in faults.items() if names}
    if not faults:
        apart = f"; frozen (requires_grad=False): {_listed(frozen)}" if frozen else ""
        return Result(RIGHT, f"all {len(named)} do within {STEPS} steps{apart}", 0.0)
    figure = "; ".join(f"{what} for {_listed(names)}" for what, names in faults.values())
    faulty = [name for _, names in faults.values() for name in names]
    inputs = subject_options(exam.subject)
    optional = bool(inputs) and "none" in faults
    state = LOOK if optional and len(faults) == 1 else WRONG
    causes = (*faults, "meant") if optional else tuple(faults)
    if faults.keys() <= {"none", "zero"} and all(_is_idle_expert(name, largest) for name in faulty):
        state, causes = LOOK, ("expert",)
    return Result(state, figure, float(len(faulty)), causes, _listed(faulty), {"inputs": _listed(inputs)})


def _is_idle_expert(name: str, largest: dict[str, float]) -> bool:
    """Is it one of several experts, by its name, of which another one learns?"""
    match = re.fullmatch(r"(.*(?:expert|moe)[a-z_]*\.?)\d+(.*)", name, re.IGNORECASE)
    if match is None:
        return False
    before, after = match.groups()
    others = re.compile(re.escape(before) + r"\d+" + re.escape(after))
    return any(value > 0 for other, value in largest.items() if others.fullmatch(other))


def _is_one_row(parameter: Tensor) -> bool:
    """Are all rows of a matrix the same but for rounding, after steps that should have told them apart?"""
    if parameter.dim() != 2 or len(parameter) == 1:
        return False
    return movement(parameter, parameter[:1]) <= EQUAL_SHAPES.get(parameter.dtype, 1e-6) * parameter.abs().max().item()


def _listed(names: list[str], most: int = 4) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def parameters(exam: Examination) -> Result:
    """Walk the graph of the loss: is every tensor that it trains among `model.parameters()`?"""
    subject = exam.own
    if not isinstance(subject.model, nn.Module):
        return Result(SKIPPED, A_FUNCTION)
    known = {id(parameter) for parameter in subject.model.parameters()}
    lost = [tensor for tensor in leaves(next_token_loss(subject, subject.inputs(0))) if id(tensor) not in known]
    if not lost:
        return Result(RIGHT, f"all {len(known)}", 0.0)
    figure = f"it lacks {len(lost)} tensors with {sum(tensor.numel() for tensor in lost):,} numbers"
    shapes = sorted({str(tuple(tensor.shape)) for tensor in lost})
    return Result(WRONG, figure, float(len(lost)), where=f"tensors of shape {', '.join(shapes)}")


def leaves(loss: Tensor) -> list[Tensor]:
    """The trainable tensors that a loss was computed from."""
    found, seen, todo = [], set(), [loss.grad_fn]
    while todo:
        node = todo.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        if hasattr(node, "variable"):
            found.append(node.variable)
        todo += [before for before, _ in node.next_functions]
    return found


@torch.no_grad()
def attention(exam: Examination) -> Result:
    """The entropy of the attention weights, as a share of even weights'; and over which axis they sum."""
    layers = attention_weights(exam.subject, exam.subject.inputs(0))
    if not layers:
        return Result(SKIPPED, "no softmax to be seen: written in another way, or compiled")
    odd = next((layer for layer in layers if layer.axis != -1), None)
    if odd is not None:
        figure = f"a softmax runs over dim={odd.axis} of {tuple(odd.weights.shape)}"
        return Result(LOOK, figure, float(odd.axis), ("axis",), odd.module)
    shares = [(share, layer.module) for layer in layers if (share := entropy_share(layer.weights)) is not None]
    if not shares:
        return Result(SKIPPED, "no query sees enough keys to tell")
    least, module = min(shares)
    figure = f"entropy {least:.2f} of the largest possible, in the sharpest of {len(layers)} layers"
    if exam.trained or least >= SOFT:
        return Result(RIGHT, figure, least)
    if exam.trained is None:
        return Result(LOOK, figure, least, ("trained", "scale", "large"), module)
    return Result(WRONG, figure, least, ("scale", "large"), module)


def entropy_share(weights: Tensor) -> float | None:
    """Mean over rows of entropy / ln n, n the keys that a row sees; 1: even, 0: one key has all. None: n < 4 always."""
    visible = weights > 0
    n = visible.sum(dim=-1)
    entropy = -torch.where(visible, weights * weights.clamp(min=1e-45).log(), 0.0).sum(dim=-1)
    share = entropy / n.clamp(min=2).log()
    return share[n >= 4].mean().item() if (n >= 4).any() else None
