"""The norm of all gradients together, and clipping to it, also where gradients are shards in several processes.

A shard is a DTensor: a tensor that knows the mesh of processes which hold its other parts.
"""

import torch
from torch import Tensor, nn


def gradient_norm(parameters: list[nn.Parameter]) -> Tensor:
    """√(Σ g²) over every gradient, wherever its shards are. -> scalar, the same in all processes"""
    lists = ([p.grad for p in alike if p.grad is not None] for alike in by_mesh(parameters))
    norms = [whole(torch.nn.utils.get_total_norm(gradients)) for gradients in lists]
    return norms[0] if len(norms) == 1 else torch.stack(norms).norm()


def clip_gradients(parameters: list[nn.Parameter], most: float, norm: Tensor) -> None:
    """Scale all gradients, whose norm this is, by one factor, so that it becomes `most`."""
    for alike in by_mesh(parameters):
        torch.nn.utils.clip_grads_with_norm_(alike, most, norm)


def by_mesh(parameters: list[nn.Parameter]) -> list[list[nn.Parameter]]:
    """Parameters in lists of one kind: plain tensors, or DTensors of one mesh."""
    lists: dict[object, list[nn.Parameter]] = {}
    for parameter in parameters:
        lists.setdefault(getattr(parameter, "device_mesh", None), []).append(parameter)
    return list(lists.values())


def whole(tensor: Tensor) -> Tensor:
    """The full tensor, in every process, where this process has a shard of it."""
    return tensor.full_tensor() if hasattr(tensor, "full_tensor") else tensor


def cut_like(sharded: Tensor, tensor: Tensor) -> Tensor:
    """Of a full tensor that all processes have, the shard that belongs to this process's shard. Nothing is sent."""
    if not (hasattr(sharded, "device_mesh") and hasattr(sharded, "placements")):
        return tensor
    from torch.distributed.tensor import DTensor, Replicate  # takes a third of a second to import

    mesh = sharded.device_mesh
    return DTensor.from_local(tensor, mesh, [Replicate()] * mesh.ndim).redistribute(placements=sharded.placements)
