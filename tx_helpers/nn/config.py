"""What a model is made of, as data: one frozen, validated `TransformerConfig` for all three classes of `models`.

Grouped by part, so that a change reads as what it is:

    config = TransformerConfig(vocab_size=64, positions=PositionConfig("rotary"))
    replace(config, norm=NormConfig("rms"))

What only some models have is a part that is handed in (`nn.parts`):

    TransformerConfig(vocab_size=64, mixer=LatentConfig(d_latent=32, d_rotary=8))
    replace(config, layers=(LayerConfig(mixer=DeltaRule()), LayerConfig(mixer=DeltaRule()), LayerConfig()))   # a hybrid

`zoo.presets` has the published models.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from functools import partial

from torch import Tensor

from tx_helpers.nn.arguments import check_numbers, check_one_of, check_types, described
from tx_helpers.nn.blocks import WIRINGS
from tx_helpers.nn.layers import ACTIVATIONS
from tx_helpers.nn.parts import Attend, Experts, Input, Mixer, Output


@dataclass(frozen=True)
class AttentionConfig:
    """H heads of width K; see `attention.MultiHeadAttention`."""

    n_heads: int = 4
    n_kv_heads: int | None = None  # n_heads
    d_head: int | None = None  # d_model / n_heads
    bias: bool = True
    output_bias: bool | None = None  # as bias
    qk_norm: bool = False
    scale: float | None = None  # 1 / √d_head
    window: int | None = None  # of a causal stack: each query sees this many positions, its own included
    attend: Attend | None = None

    def __post_init__(self) -> None:
        at_least_one = partial(check_numbers, "AttentionConfig", least=1, whole=True)
        at_least_one(n_heads=self.n_heads)
        at_least_one(optional=True, n_kv_heads=self.n_kv_heads, d_head=self.d_head)
        check_numbers("AttentionConfig", optional=True, scale=self.scale)
        at_least_one(optional=True, window=self.window)
        check_types("AttentionConfig", (Attend, type(None)), attend=self.attend)
        if self.n_heads % (self.n_kv_heads or self.n_heads):
            raise ValueError(
                f"AttentionConfig: n_heads={self.n_heads} is not divisible by n_kv_heads={self.n_kv_heads}"
            )


@dataclass(frozen=True)
class FeedForwardConfig:
    """See `layers.FeedForward` and, if gated, `layers.GatedFeedForward`. With experts, each is such a network."""

    d_ff: int | None = None  # 4 · d_model
    activation: str = "relu"
    gated: bool = False
    bias: bool = True
    experts: Experts | None = None

    def __post_init__(self) -> None:
        check_numbers("FeedForwardConfig", least=1, whole=True, optional=True, d_ff=self.d_ff)
        check_one_of("FeedForwardConfig", ACTIVATIONS, activation=self.activation)
        check_types("FeedForwardConfig", (Experts, type(None)), experts=self.experts)


POSITIONS = ("none", "sinusoidal", "learned", "rotary", "t5", "alibi", "sinusoidal_halves")


@dataclass(frozen=True)
class PositionConfig:
    """How the model gets to know the positions: see `positions`."""

    kind: str = "sinusoidal"
    base: float = 10000.0  # sinusoidal, rotary
    layout: str = "half"  # rotary
    interpolation: float = 1.0  # rotary
    stretch: Callable[[Tensor], Tensor] | None = None  # rotary
    d_rotary: int | None = None  # rotary: how many of the d_head features turn; all
    buckets: int = 32  # t5
    max_distance: int = 128  # t5

    def __post_init__(self) -> None:
        check_one_of("PositionConfig", POSITIONS, kind=self.kind)
        check_one_of("PositionConfig", ("half", "interleaved"), layout=self.layout)
        check_numbers("PositionConfig", least=1, less_than=math.inf, base=self.base)
        check_numbers("PositionConfig", above=0, less_than=math.inf, interpolation=self.interpolation)
        if self.stretch is not None and not callable(self.stretch):
            raise ValueError(f"PositionConfig: stretch is {described(self.stretch)}, expected a function ω (K/2,) -> ω")
        check_numbers("PositionConfig", least=2, whole=True, optional=True, d_rotary=self.d_rotary)
        check_numbers("PositionConfig", least=1, whole=True, buckets=self.buckets, max_distance=self.max_distance)


@dataclass(frozen=True)
class NormConfig:
    """LayerNorm or RMSNorm (gain: the weight, or 1 + weight). After pre-norm blocks a stack has one more at its end."""

    kind: str = "layer"
    eps: float = 1e-5

    def __post_init__(self) -> None:
        check_one_of("NormConfig", ("layer", "rms", "rms_plus_one"), kind=self.kind)
        check_numbers("NormConfig", least=0, eps=self.eps)


@dataclass(frozen=True)
class EmbeddingConfig:
    """The embedding at the input; if tied, its matrix is also the output layer's (Press and Wolf 2017)."""

    tied: bool = True
    scale: bool = True  # times √d_model at the input, as in 2017
    input: Input | None = None
    output: Output | None = None

    def __post_init__(self) -> None:
        check_types("EmbeddingConfig", (Input, type(None)), input=self.input)
        check_types("EmbeddingConfig", (Output, type(None)), output=self.output)


@dataclass(frozen=True)
class InitConfig:
    """Initial values of the matrices. Embeddings: normal with deviation d_model^−½ ("xavier") or `std` (the others).

    kind: "xavier" uniform; "normal" with deviation `std`, as in GPT-2 and BERT; "fan_in", normal with deviation
    fan_in^−½, as in T5, where the queries are smaller because attention does not divide by √d_head.
    residual: how the matrices that write into the residual stream (attention output and FFN contraction) start:
    "plain", "scaled" by 1/√(2·layers) as in GPT-2, or "zero", so that every block starts as the identity.
    """

    kind: str = "xavier"
    std: float = 0.02
    residual: str = "plain"

    def __post_init__(self) -> None:
        check_one_of("InitConfig", ("xavier", "normal", "fan_in"), kind=self.kind)
        check_one_of("InitConfig", ("plain", "scaled", "zero"), residual=self.residual)
        check_numbers("InitConfig", least=0, std=self.std)


@dataclass(frozen=True)
class LayerConfig:
    """What one block has of its own; None: as in the whole config. See `TransformerConfig.layers`.

    A block with an `attention` of its own and no `mixer` has attention, also where the whole config has a mixer.
    """

    attention: AttentionConfig | None = None
    feed_forward: FeedForwardConfig | None = None
    positions: PositionConfig | None = None
    mixer: Mixer | None = None

    def __post_init__(self) -> None:
        kinds = dict(attention=AttentionConfig, feed_forward=FeedForwardConfig, positions=PositionConfig, mixer=Mixer)
        for name, kind in kinds.items():
            check_types("LayerConfig", (kind, type(None)), **{name: getattr(self, name)})


@dataclass(frozen=True)
class TransformerConfig:
    """The full description of a model.

    vocab_size         V, ids 0 … V−1; source_vocab_size if the encoder has its own (otherwise embeddings are shared)
    d_model            D
    n_layers           blocks in a stack; n_encoder_layers if the encoder has another number
    context_length     the longest sequence; None: no limit (learned positions need one)
    pad_id             the id of padding, which is masked everywhere; None: no padding
    wiring             "pre_norm", "post_norm" or, with a norm on both sides, "sandwich"; "…_without_residual" to show
                       what the residual connection is for
    mixer              what blocks have in the place of self-attention; None: `attention`
    layers             a pattern of `LayerConfig`, repeated over the blocks: block i has what layers[i mod n] says.
                       For windows that alternate with full attention, rotations of their own, dense blocks before those
                       with experts, and hybrids
    """

    vocab_size: int
    d_model: int = 64
    n_layers: int = 2
    n_encoder_layers: int | None = None
    source_vocab_size: int | None = None
    context_length: int | None = None
    pad_id: int | None = None
    dropout: float = 0.0
    wiring: str = "pre_norm"
    attention: AttentionConfig = field(default_factory=AttentionConfig)
    feed_forward: FeedForwardConfig = field(default_factory=FeedForwardConfig)
    positions: PositionConfig = field(default_factory=PositionConfig)
    norm: NormConfig = field(default_factory=NormConfig)
    embedding: EmbeddingConfig = field(default_factory=EmbeddingConfig)
    init: InitConfig = field(default_factory=InitConfig)
    mixer: Mixer | None = None
    layers: tuple[LayerConfig, ...] = ()

    def __post_init__(self) -> None:
        at_least_one = partial(check_numbers, "TransformerConfig", least=1, whole=True)
        at_least_one(vocab_size=self.vocab_size, d_model=self.d_model, n_layers=self.n_layers)
        at_least_one(
            optional=True,
            n_encoder_layers=self.n_encoder_layers,
            source_vocab_size=self.source_vocab_size,
            context_length=self.context_length,
        )
        check_numbers("TransformerConfig", least=0, less_than=1, dropout=self.dropout)
        check_one_of("TransformerConfig", WIRINGS, wiring=self.wiring)
        for part in fields(self):
            value, kind = getattr(self, part.name), part.default_factory
            if isinstance(kind, type) and not isinstance(value, kind):
                raise ValueError(f"TransformerConfig: {part.name} is {described(value)}, expected {kind.__name__}")
        if self.mixer is not None:
            check_types("TransformerConfig", Mixer, mixer=self.mixer)
        if self.mixer is None and self.attention.d_head is None and self.d_model % self.attention.n_heads:
            raise ValueError(
                f"TransformerConfig: d_model={self.d_model} is not divisible by n_heads={self.attention.n_heads}"
            )
        if self.positions.kind.startswith("sinusoidal") and self.d_model % 2:
            raise ValueError(f"TransformerConfig: d_model={self.d_model}, but sinusoidal positions need an even one")
        self._check_rotary()
        if self.positions.kind == "learned" and self.context_length is None:
            raise ValueError("TransformerConfig: positions are learned, but context_length is None: it says how many")
        check_numbers("TransformerConfig", least=0, whole=True, optional=True, pad_id=self.pad_id)
        smallest = min(self.vocab_size, self.source_vocab_size or self.vocab_size)
        if self.pad_id is not None and self.pad_id >= smallest:
            raise ValueError(f"TransformerConfig: pad_id={self.pad_id} is outside the vocabulary of {smallest}")
        self._check_layers()

    def _check_rotary(self) -> None:
        whole = self.rotary_width
        if self.positions.kind != "rotary" or whole is None:
            return
        name = "d_head" if self.mixer is None else "the mixer's d_rotary"
        if whole % 2:
            raise ValueError(f"TransformerConfig: {name}={whole}, but rotary positions need an even one")
        width = self.positions.d_rotary or whole
        if width % 2 or width > whole:
            raise ValueError(f"TransformerConfig: d_rotary={width}, expected an even number up to {name}={whole}")

    def _check_layers(self) -> None:
        if not isinstance(self.layers, tuple):
            raise ValueError(f"TransformerConfig: layers is {described(self.layers)}, expected a tuple of LayerConfig")
        for layer in self.layers:
            check_types("TransformerConfig", LayerConfig, **{"one of layers": layer})
            own, kind = (layer.positions or self.positions).kind, self.positions.kind
            if own != kind and not {own, kind} <= {"rotary", "none"}:
                found = f"{own!r} in a layer, {kind!r} in the config"
                raise ValueError(f"TransformerConfig: positions are {found}; only 'rotary' and 'none' can be mixed")
        for i in range(len(self.layers)):
            self.of_layer(i)

    def of_layer(self, i: int) -> "TransformerConfig":
        """The config of block i, without a pattern."""
        if not self.layers:
            return self
        own = {name: part for name, part in vars(self.layers[i % len(self.layers)]).items() if part is not None}
        if "attention" in own:
            own.setdefault("mixer", None)
        return replace(self, layers=(), **own)

    @property
    def rotary_width(self) -> int | None:
        """The width of what rotary positions turn: K, or what the mixer says."""
        return self.d_head if self.mixer is None else self.mixer.rotary_width(self.d_head)

    @property
    def d_head(self) -> int:
        """K, the width of a head."""
        return self.attention.d_head or self.d_model // self.attention.n_heads

    @property
    def d_ff(self) -> int:
        """F, the hidden width of the feed-forward network."""
        return self.feed_forward.d_ff or 4 * self.d_model

    @property
    def final_norm(self) -> bool:
        """Is there a norm after the last block of a stack? Post-norm blocks end with one of their own."""
        return not self.wiring.startswith("post_norm")
