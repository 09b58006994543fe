"""What is trained: the sizes of a model, its parameters and FLOPs by formula, and the tokens it sees.

    sizes = ModelSizes(126, 16_384, 128, 128_256, kv_heads=8, hidden=53_248, gated=True, tied=False)
    sizes.parameters                              # 405.9e9: Llama 3 405B
    ModelSizes.of(config)                         # of a TransformerConfig of the course

A block's matrices, inputs × outputs, with H query heads, G heads of keys and values, K wide:

    attention     D × HK, twice D × GK, HK × D; latent attention has those of `latent`
    feed-forward  D × F and F × D, gated: D × F once more; of E experts each has its own
    FLOPs         6 for each weight of a matrix that a token meets, and 12 · T · H · K a block for scores and values

These are the formulas of `training.costs`, which walks through a model that exists; published models are too large to
build. Left out: biases, and the router's bias. Sources: Kaplan et al. 2020, table 1; Chowdhery et al. 2022, appendix B.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from tx_helpers.nn.arguments import check_numbers, check_types
from tx_helpers.nn.config import TransformerConfig
from tx_helpers.zoo.parts.experts import ExpertsConfig
from tx_helpers.zoo.parts.latent import LatentConfig


@dataclass(frozen=True)
class ModelSizes:
    """The sizes of a decoder.

    layers        L; of a model with experts `dense_layers` have none
    width         D
    heads         H; kv_heads G, by default H; head_width K, by default D / H
    hidden        F, of the dense layers; by default 4 D. `expert_hidden` is that of an expert
    vocab         V; tied: the output layer is the embedding
    parallel      attention and feed-forward network read the same input, as in PaLM: half of the tensor's collectives
    positions     learned positions, which are parameters; 0 without
    """

    layers: int
    width: int
    heads: int
    vocab: int
    hidden: int | None = None
    kv_heads: int | None = None
    head_width: int | None = None
    gated: bool = False
    tied: bool = True
    parallel: bool = False
    positions: int = 0
    latent: LatentConfig | None = None
    experts: ExpertsConfig | None = None
    expert_hidden: int | None = None
    dense_layers: int = 0

    def __post_init__(self) -> None:
        sizes = dict(layers=self.layers, width=self.width, heads=self.heads, vocab=self.vocab)
        check_numbers("ModelSizes", least=1, whole=True, **sizes)
        defaults = dict(hidden=4 * self.width, kv_heads=self.heads, head_width=self.width // self.heads)
        for name, default in defaults.items():
            object.__setattr__(self, name, default if getattr(self, name) is None else getattr(self, name))
            check_numbers("ModelSizes", least=1, whole=True, **{name: getattr(self, name)})
        check_numbers("ModelSizes", least=0, whole=True, positions=self.positions)
        check_types("ModelSizes", bool, gated=self.gated, tied=self.tied, parallel=self.parallel)
        check_types("ModelSizes", (LatentConfig, type(None)), latent=self.latent)
        check_types("ModelSizes", (ExpertsConfig, type(None)), experts=self.experts)
        if self.heads % self.kv_heads:
            raise ValueError(f"ModelSizes: heads={self.heads} is not divisible by kv_heads={self.kv_heads}")
        check_numbers("ModelSizes", least=0, most=self.layers, whole=True, dense_layers=self.dense_layers)
        if self.experts is not None:
            check_numbers("ModelSizes", least=1, whole=True, expert_hidden=self.expert_hidden)

    @classmethod
    def of(cls, config: TransformerConfig, *, parallel: bool = False) -> "ModelSizes":
        """The sizes of a decoder with this config. Windows are counted as full attention."""
        check_types("ModelSizes.of", TransformerConfig, config=config)
        layers = [config.of_layer(i) for i in range(config.n_layers)]
        dense = [layer for layer in layers if layer.feed_forward.experts is None]
        mixed = [layer for layer in layers if layer.feed_forward.experts is not None]
        for same in (dense, mixed):
            shapes = {(one.attention, one.mixer, one.d_ff, one.feed_forward) for one in same}
            if len({(a.n_heads, a.n_kv_heads, a.d_head, m, f, n.experts, n.gated) for a, m, f, n in shapes}) > 1:
                raise ValueError("ModelSizes.of: blocks of several shapes, expected one, and one with experts")
        if not isinstance(layers[0].mixer, LatentConfig | None):
            raise ValueError(
                f"ModelSizes.of: the mixer is a {type(layers[0].mixer).__name__}, expected attention or LatentConfig"
            )
        first, attention = layers[0], layers[0].attention
        return cls(
            *(config.n_layers, config.d_model, attention.n_heads, config.vocab_size),
            hidden=(dense or mixed)[0].d_ff,
            kv_heads=attention.n_kv_heads,
            head_width=first.d_head if first.mixer is None else None,
            gated=first.feed_forward.gated,
            tied=config.embedding.tied,
            parallel=parallel,
            positions=config.context_length if config.positions.kind == "learned" else 0,
            latent=first.mixer,
            experts=mixed[0].feed_forward.experts if mixed else None,
            expert_hidden=mixed[0].d_ff if mixed else None,
            dense_layers=len(dense) if mixed else 0,
        )

    def attention_matrices(self) -> Iterator[tuple[int, int]]:
        """(inputs, outputs) of each matrix of a block's attention."""
        D, H, G, K = self.width, self.heads, self.kv_heads, self.head_width
        if self.latent is None:
            yield from ((D, H * K), (D, G * K), (D, G * K), (H * K, D))
            return
        w = self.latent.widths
        if w["d_query_latent"]:
            yield D, w["d_query_latent"]
        yield w["d_query_latent"] or D, H * (w["d_content"] + w["d_rotary"])
        yield from ((D, w["d_latent"] + w["d_rotary"]), (w["d_latent"], H * (w["d_content"] + w["d_value"])))
        yield H * w["d_value"], D

    @cached_property
    def attention_weights(self) -> int:
        """The weights of a block's attention."""
        return sum(a * b for a, b in self.attention_matrices())

    @cached_property
    def norm_weights(self) -> int:
        """The gains of a block's norms."""
        w = self.latent.widths if self.latent else {}
        return 2 * self.width + w.get("d_latent", 0) + (w.get("d_query_latent") or 0)

    @cached_property
    def score_width(self) -> int:
        """Widths over which a block's heads sum, in the scores and in the mixing of values: 2 · H · K."""
        if self.latent is None:
            return 2 * self.heads * self.head_width
        w = self.latent.widths
        return self.heads * (w["d_content"] + w["d_rotary"] + w["d_value"])

    @cached_property
    def kept_by_heads(self) -> int:
        """Numbers of a token that a block's heads keep for the backward pass: queries, keys, values, the result."""
        if self.latent is None:
            return 2 * (self.heads + self.kv_heads) * self.head_width
        w = self.latent.widths
        return (w["d_query_latent"] or 0) + w["d_latent"] + w["d_rotary"] + 2 * self.score_width

    @property
    def products(self) -> int:
        """Matrices of a feed-forward network."""
        return 3 if self.gated else 2

    @property
    def dense_weights(self) -> int:
        """The weights of a feed-forward network without experts."""
        return self.products * self.width * self.hidden

    @property
    def expert_layers(self) -> int:
        """Layers with experts."""
        return self.layers - self.dense_layers if self.experts else 0

    @property
    def expert_weights(self) -> int:
        """The weights of all experts of a layer that are chosen, without the shared ones; 0 without experts."""
        return self.experts.n_experts * self._one_expert if self.experts else 0

    @property
    def shared_weights(self) -> int:
        """The weights that each token meets in a layer with experts: the router's, and the shared experts'."""
        if self.experts is None:
            return 0
        return self.width * self.experts.n_experts + self.experts.shared * self._one_expert

    @property
    def _one_expert(self) -> int:
        return self.products * self.width * (self.expert_hidden or 0)

    @property
    def embedding_weights(self) -> int:
        """The embedding's, the positions' and the output layer's, together with the last norm."""
        return (1 if self.tied else 2) * self.vocab * self.width + (self.positions + 1) * self.width

    @cached_property
    def common(self) -> int:
        """Parameters of all blocks but those of the experts that are chosen."""
        blocks = self.layers * (self.attention_weights + self.norm_weights)
        return (
            blocks + (self.layers - self.expert_layers) * self.dense_weights + self.expert_layers * self.shared_weights
        )

    @cached_property
    def in_experts(self) -> int:
        """Parameters of the experts that are chosen, in all layers."""
        return self.expert_layers * self.expert_weights

    @cached_property
    def parameters(self) -> int:
        """All of them."""
        return self.common + self.in_experts + self.embedding_weights

    @cached_property
    def block_weights_met(self) -> int:
        """Weights of matrices in all blocks that one token meets."""
        met = self.shared_weights + self.experts.top_k * self._one_expert if self.experts else 0
        dense = (self.layers - self.expert_layers) * self.dense_weights
        return self.layers * self.attention_weights + dense + self.expert_layers * met

    @property
    def active(self) -> int:
        """Parameters that one token meets, the embeddings included."""
        return self.block_weights_met + self.layers * self.norm_weights + self.embedding_weights

    def flops(self, length: int) -> int:
        """FLOPs of forward and backward pass of one token, in a sequence of this length, with all T × T scores."""
        check_numbers("flops", least=1, whole=True, length=length)
        weights = self.block_weights_met + self.vocab * self.width
        return 6 * weights + self.layers * 6 * length * self.score_width


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
