"""What is trained: the numbers of a model that a plan needs, and the tokens it sees.

    sizes = sizes_of(PUBLISHED["Llama 3 405B"])
    sizes.parameters                              # 405.9e9

Parameters and weights are counted in blocks without numbers (`training.costs`). A forward and a backward pass have 6
FLOPs for each weight of a matrix that a token meets, and 12 · T · H · K a block for scores and values. Sources: Kaplan
et al. 2020, table 1; Chowdhery et al. 2022, appendix B. Left out: the biases of blocks.
"""

from dataclasses import dataclass
from functools import lru_cache

from torch import nn

from tx_helpers.nn.arguments import check_numbers, check_types
from tx_helpers.nn.config import TransformerConfig
from tx_helpers.nn.models import count_parameters
from tx_helpers.training.costs import block_of, cache_width, matrix_weights, parameters
from tx_helpers.zoo.parts.experts import ExpertsConfig
from tx_helpers.zoo.parts.latent import LatentConfig


@dataclass(frozen=True)
class ModelSizes:
    """The numbers of a decoder.

    common, in_experts, outside   parameters: of the blocks, of the experts in them that are chosen, and of the rest
    met            weights of matrices in all blocks that one token meets
    score_width    2 · H · K, over all blocks: the widths over which heads sum, in scores and in mixing values
    kept           numbers of a token that a block's heads and networks keep for the backward pass, in the mean
    cache_width    numbers of a token that travel around the ring, for all `kv_heads`
    parallel       attention and feed-forward network read the same input, as in PaLM: half of the tensor's collectives
    """

    layers: int
    width: int
    heads: int
    kv_heads: int
    vocab: int
    common: int
    in_experts: int
    outside: int
    met: int
    score_width: int
    kept: float
    cache_width: int
    experts: ExpertsConfig | None
    expert_layers: int
    parallel: bool

    @property
    def parameters(self) -> int:
        """All of them."""
        return self.common + self.in_experts + self.outside

    def flops(self, length: int) -> int:
        """FLOPs of forward and backward pass of one token, in a sequence of this length, with all T × T scores."""
        check_numbers("flops", least=1, whole=True, length=length)
        return 6 * (self.met + self.vocab * self.width + length * self.score_width)


@lru_cache(maxsize=64)
def sizes_of(config: TransformerConfig, *, parallel: bool = False) -> ModelSizes:
    """Of a decoder with this config. Windows are counted as full attention."""
    check_types("sizes_of", TransformerConfig, config=config)
    check_types("sizes_of", bool, parallel=parallel)
    layers = [config.of_layer(i) for i in range(config.n_layers)]
    if others := [layer.mixer for layer in layers if not isinstance(layer.mixer, LatentConfig | None)]:
        raise ValueError(f"sizes_of: the mixer is a {type(others[0]).__name__}, expected attention or LatentConfig")
    blocks = [block_of(layer) for layer in layers]
    mixed = [i for i, layer in enumerate(layers) if layer.feed_forward.experts]
    experts = layers[mixed[0]].feed_forward.experts if mixed else None
    in_experts = sum(_unbiased(blocks[i].feed_forward.experts) for i in mixed)
    missed = sum(matrix_weights(blocks[i].feed_forward.experts) for i in mixed)
    missed -= missed * experts.top_k // experts.n_experts if experts else 0
    widths = [_widths(layer) for layer in layers]
    heads = config.attention.n_heads
    return ModelSizes(
        layers=config.n_layers,
        width=config.d_model,
        heads=heads,
        kv_heads=1 if config.mixer else config.attention.n_kv_heads or heads,
        vocab=config.vocab_size,
        common=sum(map(_unbiased, blocks)) - in_experts,
        in_experts=in_experts,
        outside=parameters(config) - sum(map(count_parameters, blocks)),
        met=sum(map(matrix_weights, blocks)) - missed,
        score_width=sum(scores for scores, _ in widths),
        kept=sum(kept for _, kept in widths) / config.n_layers,
        cache_width=cache_width(layers[0]),
        experts=experts,
        expert_layers=len(mixed),
        parallel=parallel,
    )


def _unbiased(module: nn.Module) -> int:
    return sum(weight.numel() for name, weight in module.named_parameters() if not name.endswith("bias"))


def _widths(layer: TransformerConfig) -> tuple[int, int]:
    """Of a block: over which its heads sum; and what they and its network keep of a token."""
    heads, feed = layer.attention.n_heads, layer.feed_forward
    kept = (4 if feed.gated else 2) * layer.d_ff
    if feed.experts is not None:
        kept = feed.experts.top_k * (2 * layer.d_model + kept) + feed.experts.shared * kept
    if layer.mixer is None:
        scores = 2 * heads * layer.d_head
        return scores, scores + cache_width(layer) + kept
    w = layer.mixer.widths
    scores = heads * (w["d_content"] + w["d_rotary"] + w["d_value"])
    return scores, (w["d_query_latent"] or 0) + cache_width(layer) + 2 * scores + kept


@dataclass(frozen=True)
class Training:
    """The tokens, and the bytes of each number.

    tokens, length, batch  of the whole run, of a sequence (T), and how many sequences are in a global batch
    weight, gradient, optimizer, activation    bytes: by default bfloat16 weights and activations, gradients summed in
                           float32, and AdamW's two moments with a copy of the weights in float32 (Rajbhandari et al.
                           2020, section 3.1, counts 2 for the gradient; Narayanan et al. 2021 sum in float32)
    fp8                    products of blocks in 8 bits, as DeepSeek-V3 has them
    dropout                masks are kept for the backward pass, a byte for each number, as in GPT-3
    """

    tokens: float
    length: int
    batch: int
    weight: int = 2
    gradient: int = 4
    optimizer: int = 12
    activation: int = 2
    fp8: bool = False
    dropout: bool = False

    def __post_init__(self) -> None:
        check_numbers("Training", above=0, less_than=float("inf"), tokens=self.tokens)
        check_numbers("Training", least=1, whole=True, length=self.length, batch=self.batch)
        bytes_each = dict(weight=self.weight, gradient=self.gradient, activation=self.activation)
        check_numbers("Training", least=1, whole=True, **bytes_each)
        check_numbers("Training", least=0, whole=True, optimizer=self.optimizer)
        check_types("Training", bool, fp8=self.fp8, dropout=self.dropout)

    @property
    def tokens_a_step(self) -> int:
        """Of the global batch."""
        return self.batch * self.length
