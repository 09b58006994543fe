"""Tensor parallelism: the matrices of a block are cut, and each process has a part of every one.

Attention is cut by heads, a feed-forward network by hidden features. The first matrices (query, key, value; expand) are
cut by outputs and need nobody else's numbers; the last (output; contract) is cut by inputs, and the sum of all parts
is its result: one all-reduce for each sub-layer, and one on the way back. Embeddings, norms and the output layer are
whole in every process. Source: Shoeybi et al. 2019 (Megatron-LM), section 3.
"""

from torch import nn
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    ParallelStyle,
    RowwiseParallel,
    SequenceParallel,
    parallelize_module,
)

from tx_helpers.nn.attention import MultiHeadAttention
from tx_helpers.nn.layers import FeedForward, GatedFeedForward
from tx_helpers.nn.positions import ALiBi, T5Bias

CUT = {"query", "key", "value", "output", "query_norm", "key_norm"}  # of an attention


def split_blocks(model: nn.Module, mesh: DeviceMesh) -> None:
    """Cut every attention and feed-forward network of a model over the processes of a mesh, in place.

    Raises ValueError, before anything is changed, for heads or hidden features that are not divisible, and for what
    is known by head outside of the attention.
    """
    parts = mesh.size()
    for name, module in model.named_modules():
        _check(name, module, parts)
    for module in model.modules():
        if isinstance(module, MultiHeadAttention):
            _split_attention(module, mesh)
        elif isinstance(module, FeedForward | GatedFeedForward):
            plan = {"gate": ColwiseParallel(), "expand": ColwiseParallel(), "contract": RowwiseParallel()}
            parallelize_module(module, mesh, {key: style for key, style in plan.items() if hasattr(module, key)})


def _split_attention(attention: MultiHeadAttention, mesh: DeviceMesh) -> None:
    plan: dict[str, ParallelStyle] = {name: ColwiseParallel() for name in ("query", "key", "value")}
    plan["output"] = RowwiseParallel()
    if not isinstance(attention.query_norm, nn.Identity):
        # One gain for all heads: its gradient is the sum over heads, here (B, H, T, K) -> dimension 1.
        plan |= {name: SequenceParallel(sequence_dim=1, use_local_output=True) for name in ("query_norm", "key_norm")}
    parallelize_module(attention, mesh, plan)
    attention.n_heads //= mesh.size()
    attention.n_kv_heads //= mesh.size()


def _check(name: str, module: nn.Module, parts: int) -> None:
    sizes = {}
    if isinstance(module, MultiHeadAttention):
        sizes = {"n_heads": module.n_heads, "n_kv_heads": module.n_kv_heads}
        if own := [key for key, _ in module.named_parameters() if key.partition(".")[0] not in CUT]:
            raise ValueError(f"Parallel: {name}.{own[0]} is not cut by heads: tensor={parts} is not possible")
    elif isinstance(module, FeedForward | GatedFeedForward):
        sizes = {"d_ff": module.expand.out_features}
    elif isinstance(module, ALiBi | T5Bias):
        raise ValueError(f"Parallel: {name} adds a bias by head: tensor={parts} is not possible")
    for key, size in sizes.items():
        if size % parts:
            raise ValueError(f"Parallel: {name} has {key}={size}, not divisible by tensor={parts}")
