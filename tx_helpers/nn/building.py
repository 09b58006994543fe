"""The parts of a model, made as its `TransformerConfig` says. `models` puts them together."""

from collections.abc import Callable
from functools import partial
from typing import Any

from torch import Tensor, nn

from tx_helpers.nn.attention import MultiHeadAttention, scaled_dot_product_attention
from tx_helpers.nn.blocks import WIRINGS, Block, BlockCache, DecoderBlock, InputEmbedding
from tx_helpers.nn.cache import KVCache, WindowCache
from tx_helpers.nn.config import TransformerConfig
from tx_helpers.nn.layers import FeedForward, GatedFeedForward, RMSNorm
from tx_helpers.nn.positions import ALiBi, LearnedPositions, Rotary, SinusoidalPositions, T5Bias


def new_norm(config: TransformerConfig) -> nn.Module:
    """LayerNorm or RMSNorm."""
    if config.norm.kind == "layer":
        return nn.LayerNorm(config.d_model, eps=config.norm.eps)
    return RMSNorm(config.d_model, eps=config.norm.eps, plus_one=config.norm.kind == "rms_plus_one")


def new_input(config: TransformerConfig, tokens: nn.Embedding) -> InputEmbedding:
    """What turns ids into vectors."""
    kind, d_model, part = config.positions.kind, config.d_model, config.embedding.input
    positions: nn.Module | None = None
    if kind == "learned" and config.context_length is not None:
        positions = LearnedPositions(config.context_length, d_model)
    elif kind.startswith("sinusoidal"):
        positions = SinusoidalPositions(d_model, base=config.positions.base, halves=kind == "sinusoidal_halves")
    make = InputEmbedding if part is None else partial(part.new, config)
    return make(tokens, positions, scale=config.embedding.scale, dropout=config.dropout)


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


def new_attend(config: TransformerConfig) -> Callable[..., Tensor]:
    """The attention function."""
    part = config.attention.attend
    return scaled_dot_product_attention if part is None else part.new(config)


def new_attention(
    config: TransformerConfig, kind: type[MultiHeadAttention] = MultiHeadAttention, **options: Any
) -> MultiHeadAttention:
    """Self-attention or cross-attention; options are those of a `kind` that has more."""
    attention = config.attention
    return kind(
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
        attend=new_attend(config),
        **options,
    )


def new_cache(config: TransformerConfig) -> BlockCache:
    """The empty cache of a block."""
    if config.mixer is not None and config.mixer.recurrent:
        return BlockCache(config.mixer.new_cache())
    window = config.attention.window
    return BlockCache(KVCache() if window is None else WindowCache(window))


def new_feed_forward(config: TransformerConfig) -> nn.Module:
    """One network, plain or gated, or experts."""
    feed = config.feed_forward
    if feed.experts is not None:
        return feed.experts.new(config)
    kind = GatedFeedForward if feed.gated else FeedForward
    return kind(config.d_model, config.d_ff, activation=feed.activation, bias=feed.bias, dropout=config.dropout)


def new_block(config: TransformerConfig, *, cross: bool) -> Block:
    """A block, with cross=True one that also looks at a memory."""
    options: dict[str, Any] = dict(
        new_norm=partial(new_norm, config),
        wiring=WIRINGS[config.wiring],
        norms_per_sublayer=2 if config.wiring == "sandwich" else 1,
        dropout=config.dropout,
    )
    attention = new_attention(config) if config.mixer is None else config.mixer.new(config)
    feed_forward = new_feed_forward(config)
    if cross:
        return DecoderBlock(attention, new_attention(config), feed_forward, **options)
    return Block(attention, feed_forward, **options)
