"""Bytes on a chip, and seconds of a step, by part, for one layout.

With t, p, v, c, e, d for tensor, pipeline, chunks, context, expert and data, m microbatches of N = rows · T / c tokens,
and L layers. The first stage of the pipeline is counted, which keeps most.

    parameters      (blocks) / (p t) + (experts) / (p t e) + embedding / t
    weights         their bytes; / d c from stage 3 on, and then one gathered block
    gradients       / d c from stage 2 on;   optimizer: / d c from stage 1 on         Rajbhandari et al. 2020, section 5
    activations     a block's N · (4 D + 2 HK + 2 GK + 2 F) / t numbers, gated 4 F, and H T for each token where the
                    scores are kept; times the chunks that wait for their backward    Korthikanti et al. 2022, section 4

    compute         FLOPs / (peak · share): 3 forward passes, 4 with full recomputation
    memory-bound    4 times the block's activations / bandwidth: written and read, forward and backward
    tensor          2 all-reduces of N D forward and 2 backward, a block               Shoeybi et al. 2019, section 3
    pipeline        N D / t to the next stage and back, v times                     Narayanan et al. 2021, section 2.2
    context         keys and values c − 1 times around the ring, once forward and twice backward    Liu et al. 2023
    experts         N D to k experts and back, forward and backward; between nodes once for each node, not for each
                    expert                                                           DeepSeek-AI 2024, section 3.2.2
    bubble          (p − 1) / (v m + p − 1) of the time of the pipeline                `schedules.bubble_by_formula`
    data            all-reduce of the gradients, or reduce-scatter and all-gather; from stage 2 on for each microbatch
    optimizer       its numbers, weights and gradients read and written / bandwidth

Context and data are counted as far as they take longer than the computing beside which they run: a block's attention,
and the backward pass of one microbatch (in stages 2 and 3 all of each microbatch). The others are counted in full.
"""

import math
from collections.abc import Callable

from tx_helpers.lessons.scaling_up.planning.cluster import Assumptions, Cluster, Layout, members_inside
from tx_helpers.lessons.scaling_up.planning.workload import ModelSizes, Training
from tx_helpers.lessons.scaling_up.simulated.schedules import bubble_by_formula

# Passes of a block's matrices, and of its scores, in units of one forward pass with all T × T scores. The fused kernel
# has 2 products forward and 5 backward, each of half the scores: Dao et al. 2022, algorithms 1 and 4.
PASSES = {"none": (3, 3.0), "selective": (3, 7 / 4), "full": (4, 9 / 4)}


def parameters_on_a_chip(sizes: ModelSizes, layout: Layout) -> tuple[float, float]:
    """Of the first stage: (those that all data groups have, those in experts)."""
    share = layers_on_a_chip(sizes, layout) / sizes.layers / layout.tensor
    embedding = sizes.outside if layout.pipeline == 1 else sizes.vocab * sizes.width
    return sizes.common * share + embedding / layout.tensor, sizes.in_experts * share / layout.expert


def layers_on_a_chip(sizes: ModelSizes, layout: Layout) -> int:
    """Of the largest stage."""
    return math.ceil(sizes.layers / (layout.pipeline * layout.chunks)) * layout.chunks


def waiting(pipeline: int, microbatches: int, chunks: int = 1) -> int:
    """Chunks whose activations the first rank keeps at once: what `schedules.in_flight` counts."""
    most = pipeline if chunks == 1 else 2 * (pipeline - 1) + (chunks - 1) * pipeline + 1
    return min(microbatches * chunks, most)


def kept_by_a_block(sizes: ModelSizes, training: Training, layout: Layout, *, scores: bool) -> float:
    """Bytes of one microbatch on one chip, in the mean of all blocks. `scores`: with those of T × T."""
    D, a, t = sizes.width, training.activation, layout.tensor
    of_a_token = a * (4 * D + sizes.kept) + training.dropout * 2 * D
    if scores:
        of_a_token += sizes.heads * training.length * (a + training.dropout * (1 + a))
    return tokens_on_a_chip(training, layout) * of_a_token / t


def tokens_on_a_chip(training: Training, layout: Layout) -> float:
    """N, of a microbatch."""
    return layout.rows * training.length / layout.context


def memory(sizes: ModelSizes, training: Training, layout: Layout) -> dict[str, float]:
    """Bytes on a chip of the first stage, by part."""
    common, in_experts = parameters_on_a_chip(sizes, layout)
    shared, shared_experts = layout.data * layout.context, layout.data * layout.context / layout.expert

    def bytes_of(each: int, from_stage: int) -> float:
        if layout.stage < from_stage:
            return each * (common + in_experts)
        return each * (common / shared + in_experts / shared_experts)

    weights = bytes_of(training.weight, 3)
    if layout.stage == 3:
        whole = training.weight * (common + in_experts)
        weights = min(whole, weights + whole / layers_on_a_chip(sizes, layout))
    many, per_chunk = layout.microbatches(training), layers_on_a_chip(sizes, layout) / layout.chunks
    blocks = waiting(layout.pipeline, many, layout.chunks) * per_chunk
    block = kept_by_a_block(sizes, training, layout, scores=layout.recompute == "none")
    N = tokens_on_a_chip(training, layout)
    kept = blocks * block
    if layout.recompute == "full":
        kept = blocks * N * sizes.width * training.activation / layout.tensor + block
    if layout.pipeline == 1:  # the last norm, the output layer's input, and the logits in float32
        kept += N * (2 * sizes.width * training.activation + 4 * sizes.vocab) / layout.tensor
    return {
        "weights": weights,
        "gradients": bytes_of(training.gradient, 2),
        "optimizer": bytes_of(training.optimizer, 1),
        "activations": kept,
    }


def hardware_flops(sizes: ModelSizes, training: Training, layout: Layout) -> dict[str, float]:
    """FLOPs of a step on all chips, with all that is computed again: of blocks' matrices, scores, output layer."""
    matrices, scores = PASSES[layout.recompute]
    tokens = training.tokens_a_step
    return {
        "matrices": matrices * 2 * sizes.met * tokens,
        "scores": scores * 2 * training.length * sizes.score_width * tokens,
        "output": 3 * 2 * sizes.vocab * sizes.width * tokens,
    }


def seconds(
    sizes: ModelSizes, training: Training, cluster: Cluster, layout: Layout, assumed: Assumptions
) -> dict[str, float]:
    """Of a step, by part; see the module's table."""
    chip, t, p, m = cluster.chip, layout.tensor, layout.pipeline, layout.microbatches(training)
    layers = layers_on_a_chip(sizes, layout)
    uneven = layers * p / sizes.layers
    flops = {part: count * uneven / layout.chips for part, count in hardware_flops(sizes, training, layout).items()}
    fast = chip.fp8 * assumed.fp8 if training.fp8 and chip.fp8 else chip.flops * assumed.matmul
    scores = flops["scores"] / (chip.flops * assumed.matmul)
    compute = flops["matrices"] / fast + scores + flops["output"] / (chip.flops * assumed.matmul)
    speed = chip.bandwidth * assumed.bandwidth
    block = kept_by_a_block(sizes, training, layout, scores=layout.recompute == "none")
    touched = (6 if layout.recompute == "full" else 4) * block * layers * m / speed

    N, a = tokens_on_a_chip(training, layout), training.activation
    stream = N * sizes.width * a  # bytes of a microbatch between two blocks

    def collective(name: str, size: float, n: int, stride: int) -> float:
        return cluster.seconds(name, size, n, stride) / assumed.bandwidth

    sums = (2 if sizes.parallel else 4) * (1.5 if layout.recompute == "full" else 1)
    tensor = m * layers * sums * collective("all_reduce", stream, t, 1)
    between = chip.link if layout.chips <= cluster.node else chip.network
    passed = m * 2 * layout.chunks * stream / t / (between * assumed.bandwidth) if p > 1 else 0.0
    ring = m * layers * 3 * _ring(sizes, layout, N * a, cluster) / assumed.bandwidth
    experts = m * _all_to_all(sizes, layout, stream, cluster) / assumed.bandwidth * uneven / p
    busy = compute + touched + tensor + passed + max(0.0, ring - scores) + experts
    waits = bubble_by_formula(p, m, layout.chunks)
    common, in_experts = parameters_on_a_chip(sizes, layout)
    data = _between_groups(training, layout, common, m, layout.data * layout.context, t, collective)
    if in_experts:
        apart = layout.data * layout.context // layout.expert
        data += _between_groups(training, layout, in_experts, m, apart, t * layout.expert, collective)
    beside = compute if layout.stage >= 2 else compute / m * 2 / 3
    kept = memory(sizes, training, layout)
    updated = sum(kept[part] for part in ("weights", "gradients", "optimizer"))
    return {
        "compute": compute,
        "memory-bound": touched,
        "tensor": tensor,
        "pipeline": passed,
        "context": max(0.0, ring - scores),
        "experts": experts,
        "bubble": busy * waits / (1 - waits),
        "data": max(0.0, data - beside),
        "optimizer": 2 * updated / speed,
    }


def _ring(sizes: ModelSizes, layout: Layout, N: float, cluster: Cluster) -> float:
    """Seconds in which keys and values of one block travel around the ring once; N: tokens times bytes."""
    if layout.context == 1:
        return 0.0
    width = sizes.cache_width / min(sizes.kv_heads, layout.tensor)
    inside = members_inside(layout.context, layout.tensor, cluster.node)
    slowest = cluster.chip.link if inside == layout.context else cluster.chip.network
    return (layout.context - 1) * N * width / slowest


def _all_to_all(sizes: ModelSizes, layout: Layout, stream: float, cluster: Cluster) -> float:
    """Seconds of one microbatch in all layers with experts: to the experts and back, forward and backward."""
    if layout.expert == 1:
        return 0.0
    n, chosen = layout.expert, sizes.experts.top_k
    inside = members_inside(n, layout.tensor * layout.context, cluster.node)
    nodes = n // inside
    reached = min(chosen, nodes, sizes.experts.groups.kept if sizes.experts.groups else nodes)
    sent = stream / layout.tensor
    within = sent * chosen * (inside - 1) / inside / cluster.chip.link
    return sizes.expert_layers * 4 * max(within, sent * reached * (nodes - 1) / nodes / cluster.chip.network)


def _between_groups(
    training: Training, layout: Layout, count: float, m: int, n: int, stride: int, collective: Callable[..., float]
) -> float:
    """Seconds in which n groups sum the gradients of `count` parameters, and gather what they share."""
    gradients, weights = count * training.gradient, count * training.weight
    if layout.stage == 0:
        return collective("all_reduce", gradients, n, stride)
    summed, gathered = collective("reduce_scatter", gradients, n, stride), collective("all_gather", weights, n, stride)
    return {1: summed + gathered, 2: m * summed + gathered, 3: m * (summed + 2 * gathered)}[layout.stage]
