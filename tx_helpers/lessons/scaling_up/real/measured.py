"""What a training run really needs: memory and FLOPs as PyTorch counts them, beside the formulas of `costs`.

    activations   the storages that the graph keeps for the backward pass, as `saved_tensors_hooks` sees them
    the rest      the bytes of all parameters, gradients and tensors of the optimizers, in this process
    FLOPs         those of matrix products, as torch's FlopCounterMode counts them, with attention written out

Temporary tensors and what the allocator keeps in reserve are not in it.
"""

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from tx_helpers.training.loop import Loss, Run
from tx_helpers.training.parallel import blocks_of


def measured_activations(model: nn.Module, batch: Any, loss: Loss) -> dict[str, int]:
    """Bytes kept for the backward pass of `loss(model, batch)`: of each block, and "around" the blocks.

    A storage counts once, in the block that keeps it first. Parameters are not counted: they are there anyway.
    """
    blocks = blocks_of(model)
    kept = {f"block {number}": 0 for number in range(len(blocks))} | {"around": 0}
    known = {_local(parameter).untyped_storage().data_ptr() for parameter in model.parameters()}
    alive, place = [], ["around"]

    def note(tensor: Tensor) -> Tensor:
        storage = _local(tensor).untyped_storage()
        if storage.data_ptr() not in known:
            known.add(storage.data_ptr())
            kept[place[-1]] += storage.nbytes()
            alive.append(storage)  # else its address may be given to another
        return tensor

    def enter(name: str) -> Callable:
        return lambda *_: place.append(name)

    def leave(*_: Any) -> None:
        place.pop()

    hooks = []
    for number, block in enumerate(blocks):
        hooks.append(block.register_forward_pre_hook(enter(f"block {number}")))
        hooks.append(block.register_forward_hook(leave, always_call=True))
    try:
        with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
            loss(model, batch)
    finally:
        for hook in hooks:
            hook.remove()
    return kept


def measured_state(run: Run) -> dict[str, int]:
    """Bytes of "weights", "gradients" and "optimizer" of a run that has done a step: what this process has of them."""
    if not run.step or any(parameter.grad is None for parameter in run.parameters.values()):
        raise ValueError(f"measured_state: {run} has no gradients, expected a run that has done a step")
    states = [state for optimizer in run.optimizers for state in optimizer.state.values()]
    return {
        "weights": _bytes(run.model.parameters()),
        "gradients": _bytes(parameter.grad for parameter in run.parameters.values()),
        "optimizer": _bytes(value for state in states for value in state.values()),
    }


def measured_flops(model: nn.Module, batch: Any, loss: Loss) -> int:
    """FLOPs of the forward and backward pass of a batch; the gradients in the parameters stay as they are."""
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        torch.autograd.grad(loss(model, batch), trained, allow_unused=True)
    return counter.get_total_flops()


def _bytes(tensors: Iterable[Any]) -> int:
    """Of numbers that grow with the model: an optimizer's count of steps is a scalar, and is left out."""
    return sum(_local(tensor).nbytes for tensor in tensors if isinstance(tensor, Tensor) and tensor.dim())


def _local(tensor: Tensor) -> Tensor:
    """This process's part of a DTensor; any other tensor as it is."""
    return tensor.to_local() if hasattr(tensor, "to_local") else tensor
