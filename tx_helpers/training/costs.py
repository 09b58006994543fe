"""What a training run needs, by formula: memory by part, FLOPs, and the bytes that processes send each other.

With N = B · T tokens in a batch, and b bytes for a number (4 in float32):

    weights, gradients      b for each parameter; AdamW keeps two more numbers of each, Muon one of a block's matrix
    activations of a block  what its backward pass reads again: b · N · (inputs of its matrices, norms and activations)
    FLOPs, forward          2 for each weight of a matrix and token, and 4 · T · H · K a token for scores and values
    FLOPs, backward         twice that: one product for the gradient of each factor

The formulas walk through a model of the course, which may be on the meta device, and so of any size. They are those of
float32 and the fused attention, without dropout. Sources: Kaplan et al. 2020, section 2.1; Korthikanti et al. 2022 for
activations; Rajbhandari et al. 2020 (ZeRO), section 7, for bytes sent.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

import torch
from torch import nn

from tx_helpers.nn.arguments import check_numbers, check_one_of
from tx_helpers.nn.attention import MultiHeadAttention
from tx_helpers.nn.blocks import Block, DecoderBlock
from tx_helpers.nn.building import new_block
from tx_helpers.nn.config import TransformerConfig
from tx_helpers.nn.layers import FeedForward, GatedFeedForward, RMSNorm
from tx_helpers.nn.models import DecoderOnly, TransformerModel, count_parameters
from tx_helpers.training.parallel import blocks_of
from tx_helpers.zoo.parts.latent import LatentConfig

BYTES = 4  # of a number in float32
# Numbers of width F that a feed-forward network keeps: an activation's input and output, where they are not the same.
KEPT = {"relu": 1}


@dataclass(frozen=True)
class Memory:
    """Bytes of a training run in one process, by part; `total` is their sum."""

    weights: int
    gradients: int
    optimizer: int
    activations: int

    @property
    def total(self) -> int:
        """All parts together."""
        return self.weights + self.gradients + self.optimizer + self.activations


def block_matrices(config: TransformerConfig) -> list[tuple[int, int]]:
    """(inputs, outputs) of each matrix in a block: queries, keys, values, output, and the feed-forward network's."""
    D, F, K = config.d_model, config.d_ff, config.d_head
    H = config.attention.n_heads
    G = config.attention.n_kv_heads or H
    expansions = 2 if config.feed_forward.gated else 1
    return [(D, H * K), (D, G * K), (D, G * K), (H * K, D), *[(D, F)] * expansions, (F, D)]


def cache_width(config: TransformerConfig) -> int:
    """Numbers of a position that the cache of a block keeps: 2 · G · K, or those of latent attention."""
    if isinstance(config.mixer, LatentConfig):
        return config.mixer.d_latent + config.mixer.d_rotary
    return 2 * (config.attention.n_kv_heads or config.attention.n_heads) * config.d_head


@lru_cache(maxsize=256)
def block_of(layer: TransformerConfig) -> Block:
    """A block of a decoder-only model with this config, `of_layer`, on the meta device: shapes without numbers."""
    with torch.device("meta"):
        return new_block(layer, cross=False)


def parameters(config: TransformerConfig) -> int:
    """Of a decoder-only model of any size: one block of each kind is made, and all of them are counted."""
    layers = [config.of_layer(i) for i in range(config.n_layers)]
    with torch.device("meta"):
        shell = DecoderOnly(replace(config, n_layers=1))
    blocks = sum(count_parameters(block_of(layer)) for layer in layers[1:])
    return count_parameters(shell) + blocks


def parameters_by_part(model: nn.Module) -> dict[str, int]:
    """How many parameters stand in embeddings, attention, feed-forward, norms, output; shared ones once."""
    kinds = {
        "embeddings": nn.Embedding,
        "attention": MultiHeadAttention,
        "feed-forward": FeedForward | GatedFeedForward,
        "norms": nn.LayerNorm | RMSNorm,
        "output": nn.Linear,
    }
    counts, seen = dict.fromkeys([*kinds, "other"], 0), set()
    for name, kind in [*kinds.items(), ("other", nn.Module)]:
        for module in model.modules():
            if isinstance(module, kind):
                new = [parameter for parameter in module.parameters() if parameter not in seen]
                counts[name] += sum(parameter.numel() for parameter in new)
                seen.update(new)
    return counts


def memory(
    model: TransformerModel,
    rows: int,
    length: int,
    *,
    optimizer: str = "adamw",
    shard: int = 1,
    tensor: int = 1,
    checkpointing: bool = False,
) -> Memory:
    """Bytes in each process; rows and length are those of its piece of a batch.

    `shard` processes share weights, gradients and the optimizer's numbers; `tensor` share the matrices in blocks. That
    they also share some of the activations is not counted: with tensor > 1 activations are an upper bound.
    """
    check_numbers("costs", least=1, whole=True, rows=rows, length=length, shard=shard, tensor=tensor)
    check_one_of("costs", ("adamw", "muon", "sgd"), optimizer=optimizer)
    count = sum(parameter.numel() for parameter in model.parameters())
    inside = {parameter for block in blocks_of(model) for parameter in block.parameters() if parameter.ndim == 2}
    in_matrices = sum(parameter.numel() for parameter in inside)
    count, in_matrices = count - in_matrices + in_matrices // tensor, in_matrices // tensor
    states = {"adamw": 2 * count, "muon": 2 * count - in_matrices, "sgd": 0}[optimizer]
    kept = sum(activations(model, rows, length, checkpointing=checkpointing).values())
    each = BYTES * count // shard
    return Memory(each, each, BYTES * states // shard, kept)


def activations(model: TransformerModel, rows: int, length: int, *, checkpointing: bool = False) -> dict[str, int]:
    """Bytes kept for the backward pass, by block and around the blocks, of a model with a single stack.

    With checkpointing a block keeps its input alone; while its backward pass runs, it keeps the rest once more.
    """
    check_numbers("costs", least=1, whole=True, rows=rows, length=length)
    N, D, V = rows * length, model.config.d_model, model.config.vocab_size
    kept: dict[str, int] = {}
    for number, parts in enumerate(_parts_of_blocks(model)):
        kept[f"block {number}"] = BYTES * N * (D if checkpointing else sum(_kept_by_block(*parts)))
    norms = sum(_kept_by_norm(norm, D) for stack in model.children() for norm in [getattr(stack, "norm", None)])
    ids = 2 * N * 2  # the inputs and the targets, of 8 bytes
    around: int = BYTES * (N * (norms + D + V) + ids)
    return kept | {"around": around}


def _parts_of_blocks(model: nn.Module) -> Iterator[tuple[Block, MultiHeadAttention, FeedForward | GatedFeedForward]]:
    """Each block, its attention and its feed-forward network; ValueError at a block of another kind."""
    for number, block in enumerate(blocks_of(model)):
        attention, feed_forward = getattr(block, "self_attention", None), getattr(block, "feed_forward", None)
        if (
            isinstance(block, Block)
            and not isinstance(block, DecoderBlock)
            and isinstance(attention, MultiHeadAttention)
            and isinstance(feed_forward, FeedForward | GatedFeedForward)
        ):
            yield block, attention, feed_forward
        else:
            raise ValueError(
                f"costs: block {number} is a {type(block).__name__} of {type(attention).__name__} and "
                f"{type(feed_forward).__name__}; expected a Block of MultiHeadAttention and FeedForward"
            )


def _kept_by_block(
    block: Block, attention: MultiHeadAttention, feed_forward: FeedForward | GatedFeedForward
) -> Iterator[int]:
    """Numbers a token that the parts of a block keep: what each of its operations needs of its inputs and outputs."""
    D, H, K = attention.d_model, attention.n_heads, attention.d_head
    yield _kept_by_norm(block.self_attention_norm, D)
    yield D  # the input of the query, key and value matrices
    yield 3 * H * K + H * K + H  # queries, keys, values and the result of the kernel, and the sums of its softmax
    if not isinstance(attention.query_norm, nn.Identity):
        yield 2 * (H + attention.n_kv_heads) * K + H + attention.n_kv_heads
    yield _kept_by_norm(block.feed_forward_norm, D)
    F = feed_forward.expand.out_features
    yield D + (4 if isinstance(feed_forward, GatedFeedForward) else _times(feed_forward)) * F


def _times(feed_forward: FeedForward) -> int:
    return KEPT.get(getattr(feed_forward.activation, "__name__", ""), 2)


def _kept_by_norm(norm: nn.Module | None, D: int) -> int:
    if isinstance(norm, nn.LayerNorm):
        return D + 2  # the input, a mean and a deviation
    return 2 * D + 1 if isinstance(norm, RMSNorm) else 0  # the input, what the gain multiplies, and a root


def flops(model: nn.Module, rows: int, length: int, *, checkpointing: bool = False) -> int:
    """FLOPs of forward and backward pass of a batch: of products of matrices alone, with all T × T scores.

    So PyTorch's counter counts where attention is written out. That the fused kernel computes its scores again, on the
    way back, is not counted, as is usual in figures of MFU (Chowdhery et al. 2022, appendix B).
    """
    check_numbers("costs", least=1, whole=True, rows=rows, length=length)
    N, blocks = rows * length, blocks_of(model)
    parts = list(_parts_of_blocks(model))
    in_blocks = sum(2 * N * matrix_weights(block) for block in blocks)
    outside = 2 * N * (matrix_weights(model) - sum(map(matrix_weights, blocks)))
    attention = sum(4 * N * length * part.n_heads * part.d_head for _, part, _ in parts)
    again = 0
    if checkpointing:  # all of a block but its last product, of which nothing is kept
        again = in_blocks + attention - sum(2 * N * matrix_weights(part.contract) for _, _, part in parts)
    return 3 * (in_blocks + outside + attention) + again


def sent(
    model: TransformerModel, rows: int, length: int, *, data: int = 1, shard: int = 1, tensor: int = 1
) -> dict[str, int]:
    """Bytes of the tensors that a process reduces or gathers in a step; one of data, shard and tensor is more than 1.

    rows and length are those of the process's part of a batch. A ring sends 2 (n − 1)/n of an all-reduce's bytes, and
    (n − 1)/n of the others', to the next of n processes.
    """
    check_numbers("costs", least=1, whole=True, rows=rows, length=length, data=data, shard=shard, tensor=tensor)
    if sum(size > 1 for size in (data, shard, tensor)) != 1:
        raise ValueError(f"costs: data={data}, shard={shard}, tensor={tensor}, expected one of them to be more than 1")
    if shard > 1:  # blocks are gathered for both passes, the rest stays from the first to the second
        blocks = sum(_padded(parameter, shard) for block in blocks_of(model) for parameter in block.parameters())
        whole = sum(_padded(parameter, shard) for parameter in model.parameters())
        return {"all-gather": BYTES * (whole + blocks), "reduce-scatter": BYTES * whole}
    if data > 1:
        return {"all-reduce": BYTES * sum(parameter.numel() for parameter in model.parameters())}
    gated = sum(isinstance(part, GatedFeedForward) for _, _, part in _parts_of_blocks(model))
    # forward: one for each of the 2 sub-layers; backward: one for each matrix that is cut by outputs
    sums = (2 + 3 + 1) * len(blocks_of(model)) + gated
    return {"all-reduce": BYTES * sums * rows * length * model.config.d_model}


def _padded(parameter: nn.Parameter, shard: int) -> int:
    """Numbers of a parameter, the rows of which are filled up to a multiple of `shard`."""
    rows = parameter.shape[0]
    return -(-rows // shard) * shard * (parameter.numel() // rows)


def matrix_weights(module: nn.Module) -> int:
    """The weights of its matrices, which are products of a forward pass."""
    return sum(part.weight.numel() for part in module.modules() if isinstance(part, nn.Linear))
