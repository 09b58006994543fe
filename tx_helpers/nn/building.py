"""The parts of a model, made as its `TransformerConfig` says. `models` puts them together."""

from collections.abc import Callable
from functools import partial

from torch import Tensor, nn

from tx_helpers.nn.attention import MultiHeadAttention, eager_attention, scaled_dot_product_attention
from tx_helpers.nn.blocks import WIRINGS, BlockCache, DecoderBlock, EncoderBlock
from tx_helpers.nn.cache import KVCache, WindowCache
from tx_helpers.nn.config import TransformerConfig
from tx_helpers.nn.layers import FeedForward, GatedFeedForward, RMSNorm
from tx_helpers.nn.positions import ALiBi, LearnedPositions, Rotary, SinusoidalPositions, T5Bias
from tx_helpers.zoo.parts.experts import MixtureOfExperts
from tx_helpers.zoo.parts.value_embeddings import ValueEmbeddings


def new_norm(config: TransformerConfig) -> nn.Module:
    """LayerNorm or RMSNorm."""
    if config.norm.kind == "layer":
        return nn.LayerNorm(config.d_model, eps=config.norm.eps)
    return RMSNorm(config.d_model, eps=config.norm.eps, plus_one=config.norm.kind == "rms_plus_one")


def new_position_vectors(config: TransformerConfig) -> nn.Module | None:
    """What is added to the embedding, if anything is."""
    kind, d_model = config.positions.kind, config.d_model
    if kind.startswith("sinusoidal"):
        return SinusoidalPositions(d_model, base=config.positions.base, halves=kind == "sinusoidal_halves")
    return LearnedPositions(config.context_length, d_model) if kind == "learned" else None


def new_rotary(config: TransformerConfig) -> Rotary | None:
    """The rotation of queries and keys, if there is one."""
    p = config.positions
    if p.kind != "rotary" or config.rotary_width is None:
        return None
    return Rotary(config.rotary_width, p.base, p.layout, p.interpolation, p.stretch, p.d_rotary)


def new_position_bias(config: TransformerConfig, *, bidirectional: bool) -> nn.Module | None:
    """What is added to the scores, if anything is."""
    kind, n_heads = config.positions.kind, config.attention.n_heads
    if kind == "t5":
        buckets, max_distance = config.positions.buckets, config.positions.max_distance
        return T5Bias(n_heads, buckets=buckets, max_distance=max_distance, bidirectional=bidirectional)
    return ALiBi(n_heads) if kind == "alibi" else None


def new_value_embeddings(config: TransformerConfig, vocab_size: int, n_layers: int) -> ValueEmbeddings | None:
    """What each token adds to the values of every layer, if anything."""
    if not config.embedding.values:
        return None
    layers = [config.of_layer(i) for i in range(n_layers)]
    widths = {(layer.attention.n_kv_heads or layer.attention.n_heads) * layer.d_head for layer in layers}
    if len(widths) > 1 or any(layer.mixer is not None for layer in layers):
        raise ValueError("model: embedding.values=True needs attention with values of the same width in every layer")
    return ValueEmbeddings(vocab_size, n_layers, *widths)


def new_attention(config: TransformerConfig) -> MultiHeadAttention:
    """Self-attention or cross-attention."""
    attention = config.attention
    return MultiHeadAttention(
        config.d_model,
        attention.n_heads,
        n_kv_heads=attention.n_kv_heads,
        d_head=attention.d_head,
        bias=attention.bias,
        output_bias=attention.output_bias,
        qk_norm="plus_one" if attention.qk_norm and config.norm.kind == "rms_plus_one" else attention.qk_norm,
        norm_eps=config.norm.eps,
        scale=attention.scale,
        dropout=config.dropout,
        learned_sink=attention.learned_sink,
        attend=_attend(config),
    )


def new_mixer(config: TransformerConfig) -> nn.Module:
    """What stands in the place of self-attention."""
    options = dict(scale=config.attention.scale, dropout=config.dropout, attend=_attend(config))
    return config.mixer.new(config.d_model, config.attention.n_heads, **options)


def new_cache(config: TransformerConfig) -> BlockCache:
    """The empty cache of a block."""
    if config.mixer is not None and config.mixer.recurrent:
        return BlockCache(config.mixer.new_cache())
    window = config.attention.window
    return BlockCache(KVCache() if window is None else WindowCache(window))


def _attend(config: TransformerConfig) -> Callable[..., Tensor]:
    """The fused kernel has no soft cap and no sink."""
    cap = config.attention.soft_cap
    if cap is None and not config.attention.learned_sink:
        return scaled_dot_product_attention
    return partial(eager_attention, cap=cap)


def new_feed_forward(config: TransformerConfig) -> nn.Module:
    """One network, plain or gated, or a mixture of them."""
    feed = config.feed_forward
    options = dict(activation=feed.activation, bias=feed.bias, dropout=config.dropout)
    if feed.experts is None:
        return (GatedFeedForward if feed.gated else FeedForward)(config.d_model, config.d_ff, **options)
    return MixtureOfExperts(config.d_model, config.d_ff, gated=feed.gated, **vars(feed.experts), **options)


def new_block(config: TransformerConfig, *, cross: bool) -> EncoderBlock:
    """A block, with cross=True one that also looks at a memory."""
    options = dict(
        new_norm=partial(new_norm, config),
        wiring=WIRINGS[config.wiring],
        norms_per_sublayer=2 if config.wiring == "sandwich" else 1,
        dropout=config.dropout,
    )
    attention = new_attention(config) if config.mixer is None else new_mixer(config)
    feed_forward = new_feed_forward(config)
    if cross:
        return DecoderBlock(attention, new_attention(config), feed_forward, **options)
    return EncoderBlock(attention, feed_forward, **options)
