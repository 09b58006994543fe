"""How a model is spread over processes, by PyTorch's own engine.

The processes form a DeviceMesh (data, shard, tensor), and talk by gloo on CPUs, by nccl on GPUs. In this order: tensor
parallelism (DTensor), checkpointing and compilation of the blocks, then `fully_shard` (FSDP2) or, where there are only
copies, DistributedDataParallel. Copies of a model that tensor parallelism has cut are FSDP2 with one shard each.
"""

import atexit
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from functools import partial

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.fsdp import FSDPModule, MixedPrecisionPolicy, fully_shard
from torch.distributed.tensor import DTensor
from torch.nn.parallel import DistributedDataParallel

from tx_helpers.training.gradients import by_mesh
from tx_helpers.training.parallel import Parallel, blocks_of, prepare_blocks
from tx_helpers.training.tensor_parallel import split_blocks

LEAVE = 10.0  # seconds that a process which is done waits for the others


def spread(
    model: nn.Module, optimizers: list[torch.optim.Optimizer], parallel: Parallel, sizes: tuple[int, int, int]
) -> tuple[nn.Module, Callable[[bool], None]]:
    """Spread a model in place, and let the optimizers hold its new parameters. -> `module`, `synchronise` of a Layout

    sizes are those of data, shard and tensor. Raises ValueError if the model is spread already, or begins with
    different values in different processes.
    """
    data, shard, tensor = sizes
    before = dict(model.named_parameters())
    if any(isinstance(parameter, DTensor) for parameter in before.values()):
        raise ValueError("Parallel: this model is already spread; make it anew, and go on with resume=checkpoint")
    kind = _join(model, parallel.timeout)
    _check_same_values(model)
    mesh = init_device_mesh(kind, sizes, mesh_dim_names=("data", "shard", "tensor"))
    if tensor > 1:
        split_blocks(model, mesh["tensor"])
    prepare_blocks(model, parallel)
    module = model
    if shard > 1 or (data > 1 and tensor > 1):
        _shard(model, mesh["data", "shard"] if data > 1 else mesh["shard"], parallel.precision)
    elif data > 1:
        module = DistributedDataParallel(model, process_group=mesh["data"].get_group())
    _point_to_new_parameters(optimizers, before, model)
    return module, partial(_synchronise, module)


def _join(model: nn.Module, timeout: float) -> str:
    """Meet the other processes, unless that is done, and take this process's GPU. -> the kind of device"""
    kind = next(model.parameters()).device.type
    if kind == "cuda":
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
        model.to(torch.device("cuda", torch.cuda.current_device()))
    if not dist.is_initialized():
        backend = "cpu:gloo,cuda:nccl" if kind == "cuda" else "gloo"
        dist.init_process_group(backend, timeout=timedelta(seconds=timeout))
        atexit.register(_leave)
    return kind


def _leave() -> None:
    """Wait for the other processes, then end the connections: who ends them first can make another one abort.

    After an error nobody is waited for, since the others may stand in a step that this process will never join.
    """
    if not dist.is_initialized():
        return
    if not hasattr(sys, "last_value"):
        with suppress(RuntimeError, ValueError):  # another one has ended by an error, or a backend cannot be asked
            dist.monitored_barrier(timeout=timedelta(seconds=LEAVE))
    dist.destroy_process_group()


def _check_same_values(model: nn.Module) -> None:
    sums = torch.stack([parameter.detach().double().sum() for parameter in model.parameters()])
    least, most = sums.clone(), sums.clone()
    dist.all_reduce(least, dist.ReduceOp.MIN)
    dist.all_reduce(most, dist.ReduceOp.MAX)
    if not torch.equal(least, most):
        raise ValueError(
            "Parallel: the model begins with different values in the processes, expected the same: "
            "seed torch alike in all of them before the model is made"
        )


def _shard(model: nn.Module, mesh: DeviceMesh, precision: torch.dtype | None) -> None:
    policy = MixedPrecisionPolicy(param_dtype=precision, reduce_dtype=precision and torch.float32)
    for module in (*blocks_of(model), model):
        sharded = fully_shard(module, mesh=mesh, mp_policy=policy)
        if mesh.device_type == "cpu":  # gloo has no average, and once returned a sum instead: pytorch #162338
            sharded.set_force_sum_reduction_for_comms(True)


def _synchronise(module: nn.Module, last: bool) -> None:
    """Before a piece: gradients are sent to the other processes only with the last one."""
    if isinstance(module, FSDPModule):
        module.set_requires_gradient_sync(last)
    if isinstance(module, DistributedDataParallel):
        module.require_backward_grad_sync = last  # no_sync() would leave it False if the loss raises an error


def _point_to_new_parameters(
    optimizers: list[torch.optim.Optimizer], before: dict[str, nn.Parameter], model: nn.Module
) -> None:
    """Let the optimizers hold the parameters that the model has now.

    An optimizer's fast kernels want tensors of one kind, so a group of several kinds is divided.
    """
    after = dict(model.named_parameters())
    new = {parameter: after[name] for name, parameter in before.items()}
    for optimizer in optimizers:
        groups = []
        for group in optimizer.param_groups:
            parameters = [new[parameter] for parameter in group["params"]]
            groups += [group | {"params": alike} for alike in by_mesh(parameters)]
        optimizer.param_groups[:] = groups
