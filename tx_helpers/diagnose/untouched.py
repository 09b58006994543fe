"""Leave no trace: after the block `with untouched(model)` everything is as it was before.

`diagnose` runs copies, but a copy may still share things with its original (a function that holds the model, a hook,
the global random numbers). So everything is saved and restored, also where the block ends in an exception.
"""

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from types import FunctionType, MethodType
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn


@contextmanager
def untouched(*models: Callable[..., Any]) -> Iterator[None]:
    """Parameters, buffers, gradients, modes, attributes and random states (torch, Python, NumPy) are as before.

    models are modules, or functions: the modules that a function holds are restored as well. Inside, torch's random
    numbers start from a fixed seed, so that two reports agree, and gradients may be taken.
    """
    modules = _distinct(part for model in models for held in held_modules(model) for part in held.modules())
    modes = [(module, module.training) for module in modules]
    buffers = [(module, name, tensor) for module in modules for name, tensor in module._buffers.items()]
    attributes = [(module, dict(vars(module))) for module in modules if not isinstance(module, torch.jit.ScriptModule)]
    parameters = _distinct(p for module in modules for p in module._parameters.values() if p is not None)
    gradients = [(p, p.grad, p.requires_grad) for p in parameters]
    tensors = [*parameters, *(tensor for _, _, tensor in buffers), *(gradient for _, gradient, _ in gradients)]
    values = [(tensor, tensor.detach().clone()) for tensor in tensors if tensor is not None]
    devices = sorted({tensor.device.index for tensor, _ in values if tensor.device.type == "cuda"})
    python, numpys = random.getstate(), np.random.get_state()
    try:
        with torch.inference_mode(False), torch.enable_grad(), torch.random.fork_rng(devices=devices):
            torch.manual_seed(0)
            yield
    finally:
        random.setstate(python)
        np.random.set_state(numpys)
        for module, training in modes:
            if module.training != training:
                object.__setattr__(module, "training", training)
        for module, known in attributes:  # new attributes go, the old ones are restored
            vars(module).clear()
            vars(module).update(known)
            module._buffers.clear()
        for module, name, tensor in buffers:
            module._buffers[name] = tensor
        for parameter, gradient, requires_grad in gradients:
            parameter.grad = gradient
            if parameter.requires_grad != requires_grad:
                parameter.requires_grad_(requires_grad)
        with torch.no_grad():
            for tensor, value in values:
                _put_back(tensor, value)


def held_modules(model: Any, depth: int = 3) -> list[nn.Module]:
    """The modules that a callable holds: its `self`, its closure, the globals it names, the arguments of a partial."""
    if isinstance(model, nn.Module):
        return [model]
    if depth == 0:
        return []
    parts: list[Any] = []
    if isinstance(model, partial):
        parts = [model.func, *model.args, *model.keywords.values()]
    elif isinstance(model, MethodType):
        parts = [model.__self__, model.__func__]
    elif isinstance(model, FunctionType):
        parts = [cell.cell_contents for cell in model.__closure__ or () if _is_filled(cell)]
        parts += [model.__globals__.get(name) for name in model.__code__.co_names]
    elif hasattr(model, "__dict__") and not isinstance(model, type):
        parts = list(vars(model).values())
    functions = (nn.Module, partial, MethodType, FunctionType)
    followed = [part for part in parts if isinstance(part, functions) or part is getattr(model, "__self__", model)]
    return _distinct(module for part in followed for module in held_modules(part, depth - 1))


def _is_filled(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True


def _distinct(things: Any) -> list[Any]:
    return list({id(thing): thing for thing in things}.values())


def _put_back(tensor: Tensor, value: Tensor) -> None:
    """In place, and only where something changed: another graph may still need the tensor as it is."""
    if (tensor.shape, tensor.dtype, tensor.device) != (value.shape, value.dtype, value.device):
        tensor.data = value
    elif not tensor.is_meta and not torch.equal(tensor, value):
        with torch.inference_mode() if tensor.is_inference() else nullcontext():
            tensor.copy_(value)
