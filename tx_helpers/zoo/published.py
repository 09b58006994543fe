"""The sizes of published decoder-only models, by name: one table for all that is computed of them.

    PUBLISHED["Llama 3 405B"].n_layers           # 126
    costs.parameters(PUBLISHED["GPT-2 XL"])      # 1,557,611,200

What decides parameters, operations and the size of a cache is as in the model's config.json on huggingface.co, named
beside it, or in its paper. The rest (activation functions, the base of a rotation, what is done to scores) is not kept:
a model made of these configs has the right size and need not compute the right thing. For that see `presets`.
"""

from dataclasses import replace
from typing import Any

from tx_helpers.nn.config import (
    AttentionConfig,
    EmbeddingConfig,
    FeedForwardConfig,
    LayerConfig,
    PositionConfig,
    TransformerConfig,
)
from tx_helpers.zoo.parts.experts import ExpertGroups, ExpertsConfig
from tx_helpers.zoo.parts.latent import LatentConfig
from tx_helpers.zoo.presets import gpt2, llama


def _gated(
    sizes: tuple[int, int, int], heads: AttentionConfig, d_ff: int, context: int, *, tied: bool = False, **changes: Any
) -> TransformerConfig:
    """A gated model like Llama without biases in its networks; sizes: V, D and the number of blocks."""
    vocab_size, d_model, n_layers = sizes
    config = llama(
        vocab_size=vocab_size,
        d_model=d_model,
        n_layers=n_layers,
        context_length=context,
        attention=heads,
        feed_forward=FeedForwardConfig(d_ff, "silu", gated=True, bias=False),
        embedding=EmbeddingConfig(tied=tied, scale=False),
    )
    return replace(config, **changes)


def _heads(n_heads: int, n_kv_heads: int | None = None, **others: Any) -> AttentionConfig:
    return AttentionConfig(n_heads, n_kv_heads, **{"bias": False, **others})


def _windows(heads: AttentionConfig, window: int, every: int = 2) -> tuple[LayerConfig, ...]:
    return *[LayerConfig(replace(heads, window=window))] * (every - 1), LayerConfig()


_GEMMA, _GPT_OSS = _heads(16, 8, d_head=256), AttentionConfig(64, 8, d_head=64)
_GEMMA_3 = _heads(4, 1, d_head=256, qk_norm=True)
_DENSE = FeedForwardConfig(18_432, "silu", gated=True, bias=False)
PUBLISHED: dict[str, TransformerConfig] = {
    "GPT-2": gpt2(),  # openai-community/gpt2
    "GPT-2 XL": gpt2("gpt2-xl"),
    "GPT-3 175B": gpt2("gpt3-175b"),
    # Narayanan et al. 2021, table 1; the sizes of the later MT-NLG
    "GPT 530B": gpt2(
        "gpt3-175b", vocab_size=51_200, d_model=20_480, n_layers=105, attention=AttentionConfig(128), dropout=0.0
    ),
    # Chowdhery et al. 2022, table 1 and section 2; its attention and its networks read the same input
    "PaLM 540B": _gated((256_000, 18_432, 118), _heads(48, 1, d_head=256), 4 * 18_432, 2048, tied=True),
    "Llama 2 7B": llama(context_length=4096),  # meta-llama/Llama-2-7b-hf
    "Llama 2 70B": _gated((32_000, 8192, 80), _heads(64, 8), 28_672, 4096),  # meta-llama/Llama-2-70b-hf
    "Llama 3 8B": llama("8b"),  # meta-llama/Meta-Llama-3-8B
    # Grattafiori et al. 2024, table 3; its vocabulary, 128,000, with the special tokens of the released model
    "Llama 3 405B": _gated((128_256, 16_384, 126), _heads(128, 8), 53_248, 8192),
    # tiiuae/falcon-7b; the length from its model card. Multi-query: one head of keys and values
    "Falcon 7B": TransformerConfig(
        *(65_024, 4544, 32),
        context_length=2048,
        attention=_heads(71, 1),
        feed_forward=FeedForwardConfig(activation="gelu", bias=False),
        positions=PositionConfig("rotary"),
    ),
    # mistralai/Mistral-7B-v0.1
    "Mistral 7B": _gated((32_000, 4096, 32), _heads(32, 8, window=4096), 14_336, 32_768),
    # mistralai/Mixtral-8x7B-v0.1
    "Mixtral 8x7B": _gated(
        *((32_000, 4096, 32), _heads(32, 8), 14_336, 32_768),
        feed_forward=replace(_DENSE, d_ff=14_336, experts=ExpertsConfig(8, 2)),
    ),
    "Qwen3 8B": _gated((151_936, 4096, 36), _heads(32, 8, qk_norm=True), 12_288, 40_960),  # Qwen/Qwen3-8B
    # Qwen/Qwen2.5-7B; queries, keys and values have biases
    "Qwen2.5 7B": _gated((152_064, 3584, 28), _heads(28, 4, bias=True, output_bias=False), 18_944, 131_072),
    # google/gemma-2-9b
    "Gemma 2 9B": _gated(
        *((256_000, 3584, 42), _GEMMA, 14_336, 8192),
        **dict(tied=True, wiring="sandwich", layers=_windows(_GEMMA, 4096)),
    ),
    # google/gemma-3-1b-pt
    "Gemma 3 1B": _gated(
        *((262_144, 1152, 26), _GEMMA_3, 6912, 32_768),
        **dict(tied=True, wiring="sandwich", layers=_windows(_GEMMA_3, 512, 6)),
    ),
    # openai/gpt-oss-20b
    "gpt-oss 20B": _gated(
        *((201_088, 2880, 24), _GPT_OSS, 2880, 131_072),
        feed_forward=FeedForwardConfig(2880, "silu", gated=True, experts=ExpertsConfig(32, 4)),
        layers=_windows(_GPT_OSS, 128),
    ),
    # deepseek-ai/DeepSeek-V3; DeepSeek-AI 2024, section 4.2, without the module that predicts the token after next
    "DeepSeek-V3": _gated(
        *((129_280, 7168, 61), _heads(128, d_head=128), 2048, 163_840),
        mixer=LatentConfig(512, 64, 128, 128, 1536),
        feed_forward=replace(_DENSE, d_ff=2048, experts=ExpertsConfig(256, 8, shared=1, groups=ExpertGroups(8, 4, 2))),
        layers=(*[LayerConfig(feed_forward=_DENSE)] * 3, *[LayerConfig()] * 58),
    ),
}
