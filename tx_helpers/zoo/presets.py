"""Published models as configurations, to the last detail: the Transformer of 2017, GPT-2 and 3, BERT, T5, Llama.

    DecoderOnly(gpt2("gpt2-medium"))
    bert("large", dropout=0.0)               # any field may be changed

`models.count_parameters` counts them: the numbers are those of the papers.
"""

from dataclasses import replace
from typing import Any

from tx_helpers.nn.arguments import check_one_of
from tx_helpers.nn.config import (
    AttentionConfig,
    EmbeddingConfig,
    FeedForwardConfig,
    InitConfig,
    NormConfig,
    PositionConfig,
    TransformerConfig,
)
from tx_helpers.zoo.parts.inputs import NormedInput
from tx_helpers.zoo.parts.outputs import BiasedOutput, ScaledOutput


def transformer_2017(vocab_size: int = 37000, size: str = "base", **changes: Any) -> TransformerConfig:
    """The encoder–decoder of Vaswani et al. 2017, table 3: "base" (65M) or "big" (213M)."""
    check_one_of("transformer_2017", ("base", "big"), size=size)
    d_model, heads, dropout = (512, 8, 0.1) if size == "base" else (1024, 16, 0.3)
    config = TransformerConfig(
        vocab_size,
        d_model,
        n_layers=6,
        dropout=dropout,
        wiring="post_norm",
        attention=AttentionConfig(heads, bias=False),
    )
    return replace(config, **changes)


GPT_SIZES = {  # name: (layers, d_model, heads, context)
    "gpt2": (12, 768, 12, 1024),
    "gpt2-medium": (24, 1024, 16, 1024),
    "gpt2-large": (36, 1280, 20, 1024),
    "gpt2-xl": (48, 1600, 25, 1024),
    "gpt3-175b": (96, 12288, 96, 2048),
}


def gpt2(size: str = "gpt2", **changes: Any) -> TransformerConfig:
    """The decoder-only models of Radford et al. 2019, and GPT-3 175B (Brown et al. 2020, table 2.1)."""
    check_one_of("gpt2", GPT_SIZES, size=size)
    layers, d_model, heads, context = GPT_SIZES[size]
    config = TransformerConfig(
        50257,
        d_model,
        layers,
        context_length=context,
        dropout=0.1,
        attention=AttentionConfig(heads),
        feed_forward=FeedForwardConfig(activation="gelu_tanh"),
        positions=PositionConfig("learned"),
        embedding=EmbeddingConfig(scale=False),
        init=InitConfig("normal", residual="scaled"),
    )
    return replace(config, **changes)


def bert(size: str = "base", **changes: Any) -> TransformerConfig:
    """The encoder of Devlin et al. 2019, "base" or "large", without the pooler and the task's own head."""
    check_one_of("bert", ("base", "large"), size=size)
    layers, d_model, heads = (12, 768, 12) if size == "base" else (24, 1024, 16)
    config = TransformerConfig(
        30522,
        d_model,
        layers,
        context_length=512,
        pad_id=0,
        dropout=0.1,
        wiring="post_norm",
        attention=AttentionConfig(heads),
        feed_forward=FeedForwardConfig(activation="gelu"),
        positions=PositionConfig("learned"),
        norm=NormConfig(eps=1e-12),
        embedding=EmbeddingConfig(scale=False, input=NormedInput(segments=2), output=BiasedOutput()),
        init=InitConfig("normal"),
    )
    return replace(config, **changes)


def t5(size: str = "small", **changes: Any) -> TransformerConfig:
    """The encoder–decoder of Raffel et al. 2020, sizes "small" (60M) and "base" (220M)."""
    check_one_of("t5", ("small", "base"), size=size)
    layers, d_model, heads = (6, 512, 8) if size == "small" else (12, 768, 12)
    config = TransformerConfig(
        32128,
        d_model,
        layers,
        pad_id=0,
        dropout=0.1,
        attention=AttentionConfig(heads, d_head=64, bias=False, scale=1.0),
        feed_forward=FeedForwardConfig(bias=False),
        positions=PositionConfig("t5"),
        norm=NormConfig("rms", eps=1e-6),
        embedding=EmbeddingConfig(scale=False, output=ScaledOutput(d_model**-0.5)),
        init=InitConfig("fan_in", std=1.0),
    )
    return replace(config, **changes)


def llama(size: str = "7b", **changes: Any) -> TransformerConfig:
    """The decoder-only models of Touvron et al. 2023, "7b", and of Llama 3 (Dubey et al. 2024), "8b"."""
    check_one_of("llama", ("7b", "8b"), size=size)
    third = size == "8b"
    config = TransformerConfig(
        128256 if third else 32000,
        4096,
        32,
        context_length=8192 if third else 2048,
        attention=AttentionConfig(32, n_kv_heads=8 if third else None, bias=False),
        feed_forward=FeedForwardConfig(14336 if third else 11008, "silu", gated=True, bias=False),
        positions=PositionConfig("rotary", base=500000.0 if third else 10000.0),
        norm=NormConfig("rms", eps=1e-5 if third else 1e-6),
        embedding=EmbeddingConfig(scale=False, tied=False),
        init=InitConfig("normal"),
    )
    return replace(config, **changes)
