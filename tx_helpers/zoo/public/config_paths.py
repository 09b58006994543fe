"""A `TransformerConfig` as paths and values: {"d_model": 12, "attention.n_heads": 3, …}."""

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from tx_helpers.nn.config import AttentionConfig, FeedForwardConfig, LayerConfig, TransformerConfig
from tx_helpers.nn.parts import Mixer
from tx_helpers.zoo.parts.latent import LatentConfig


def resolved(config: TransformerConfig) -> TransformerConfig:
    """The same config with everything written out that follows from something else.

    A pattern of layers is written out for each block. Where all blocks are alike there is none; where they differ, what
    the config says beside the pattern is what it says of the last block.
    """
    if config.layers:
        each = [resolved(config.of_layer(i)) for i in range(config.n_layers)]
        layers = tuple(LayerConfig(one.attention, one.feed_forward, one.positions, one.mixer) for one in each)
        if all(layer == layers[0] for layer in layers):
            return each[0]
        mixer = each[-1].mixer if all(layer.mixer for layer in layers) else None
        return replace(each[-1], mixer=mixer, layers=layers)
    n_layers = config.n_encoder_layers or config.n_layers
    attention, mixer = _resolved_attention(config)
    feed_forward = replace(config.feed_forward, d_ff=config.d_ff)
    whole = config.positions.d_rotary == config.d_head  # the same as None
    positions = replace(config.positions, d_rotary=None) if whole else config.positions
    parts = dict(attention=attention, feed_forward=feed_forward, positions=positions, mixer=mixer)
    return replace(config, **parts, n_encoder_layers=n_layers)


def _resolved_attention(config: TransformerConfig) -> tuple[AttentionConfig, Mixer | None]:
    """Without what a mixer does not use."""
    attention, mixer = config.attention, config.mixer
    if mixer is None:
        written = dict(
            n_kv_heads=attention.n_kv_heads or attention.n_heads,
            d_head=config.d_head,
            output_bias=attention.bias if attention.output_bias is None else attention.output_bias,
            scale=config.d_head**-0.5 if attention.scale is None else attention.scale,
        )
        return replace(attention, **written), None
    scale = attention.scale
    if isinstance(mixer, LatentConfig):
        mixer = LatentConfig(**mixer.widths)
        scale = (mixer.d_content + mixer.d_rotary) ** -0.5 if scale is None else scale
    kept = dict(scale=scale, attend=attention.attend, window=attention.window)
    return AttentionConfig(attention.n_heads, **kept), mixer


def differences(one: TransformerConfig, other: TransformerConfig) -> dict[str, tuple[Any, Any]]:
    """Path -> both values, where they differ in what the model computes (initial values and dropout are left out)."""
    ours, theirs = flat(_evaluated(one)), flat(_evaluated(other))
    left = {path for path in ours if path.startswith("init.") or path == "dropout"}
    if type(one.mixer) is not type(other.mixer):  # then one of them has no attention to compare
        left |= {path for path in ours if path.startswith("attention.")}
    unused = {"rotary": ("interpolation", "layout", "stretch", "d_rotary"), "t5": ("buckets", "max_distance")}
    for kind, names in unused.items():
        if one.positions.kind == other.positions.kind != kind:
            left |= {f"positions.{name}" for name in names}
    if one.positions.kind in ("none", "learned", "t5", "alibi"):
        left.add("positions.base")
    return {path: (ours[path], theirs[path]) for path in ours if path not in left and ours[path] != theirs[path]}


def _evaluated(config: TransformerConfig) -> TransformerConfig:
    """Without the experts' capacity factor, which drops positions in training alone."""

    def evaluated(feed: FeedForwardConfig) -> FeedForwardConfig:
        return feed if feed.experts is None else replace(feed, experts=replace(feed.experts, capacity_factor=None))

    layers = tuple(replace(one, feed_forward=one.feed_forward and evaluated(one.feed_forward)) for one in config.layers)
    return replace(config, feed_forward=evaluated(config.feed_forward), layers=layers)


def build(values: Mapping[str, Any]) -> TransformerConfig:
    """A config from paths: {"d_model": 12, "attention.n_heads": 3, …}."""
    whole: dict[str, Any] = {}
    parts: dict[str, dict[str, Any]] = {}
    for path, value in values.items():
        part, _, name = path.rpartition(".")
        (parts.setdefault(part, {}) if part else whole)[name] = value
    for one in fields(TransformerConfig):
        if one.name in parts:
            kind = one.default_factory
            for inner in fields(kind):
                value = parts[one.name].get(inner.name)
                if isinstance(inner.default, bool) and value is not None and not isinstance(value, bool):
                    raise ValueError(f"{one.name}.{inner.name} is {str(value)[:60]}, expected true or false")
            whole[one.name] = kind(**parts[one.name])
    return TransformerConfig(**whole)


def at(config: TransformerConfig, path: str) -> Any:
    """The value at one path."""
    for name in path.split("."):
        config = getattr(config, name)
    return config


def flat(config: TransformerConfig) -> dict[str, Any]:
    """All paths and values."""
    found: dict[str, Any] = {}
    for one in fields(config):
        value = getattr(config, one.name)
        if isinstance(one.default_factory, type):
            found |= {f"{one.name}.{inner.name}": getattr(value, inner.name) for inner in fields(value)}
        else:
            found[one.name] = value
    return found
