"""The size of the cache by formula against caches that are there, and against what is published."""

from functools import partial

import pytest
import torch
from transformers import DeepseekV3Config, FalconConfig, GPT2Config, LlamaConfig, MistralConfig

from parity import B, H, K, T, tokens
from toy_models import model
from tx_helpers.lessons.cheaper_and_longer.cache_bytes import (
    MODELS,
    CachedModel,
    Intensity,
    cache_bytes,
    intensity,
    roofline_seconds,
)
from tx_helpers.nn.config import AttentionConfig
from tx_helpers.nn.models import DecoderOnly
from wrong_arguments import faults


@pytest.mark.parametrize("groups", [1, H])
def test_the_formula_is_what_our_own_cache_holds(groups):
    built = model(DecoderOnly, n_layers=3, attention=AttentionConfig(H, n_kv_heads=groups), dtype=torch.float32)
    state = built.start(B)
    with torch.no_grad():
        state.step(tokens(B, T))
    held = [x for cache in state.caches for x in (cache.self_attention.keys, cache.self_attention.values)]
    measured = sum(x.numel() * x.element_size() for x in held)
    assert cache_bytes(CachedModel(3, 2 * groups * K), T, rows=B, bytes_each=4) == measured


def test_a_window_keeps_its_last_positions():
    hybrid = CachedModel(5, 10, window=4, windowed_layers=3)
    for S in range(9):
        assert cache_bytes(hybrid, S, rows=2, bytes_each=1) == 2 * 10 * (3 * min(S, 4) + 2 * S)


@pytest.mark.parametrize(
    ("name", "bytes_of_a_token"),
    [
        ("GPT-2", 2 * 2 * 12 * 768),
        ("Llama 2 7B", 524_288),  # half a MiB
        ("Llama 2 70B", 327_680),
        ("Llama 3 8B", 131_072),
        ("Falcon 7B", 8_192),
        ("Mistral 7B", 131_072),
        ("Qwen2.5 7B", 57_344),
        ("Gemma 2 9B", 344_064),
        ("gpt-oss 20B", 49_152),
        ("DeepSeek-V3", 70_272),  # 70.272 kB in Zhao et al. 2025 (Insights into DeepSeek-V3), table 1
    ],
)
def test_ten_models(name, bytes_of_a_token):
    assert cache_bytes(MODELS[name], 1) == bytes_of_a_token


def test_the_librarys_own_configurations_of_five_of_them():
    """Where the library's default configuration is that of the published model."""
    for name, config in {"GPT-2": GPT2Config(), "Llama 2 7B": LlamaConfig(), "Mistral 7B": MistralConfig()}.items():
        groups = getattr(config, "num_key_value_heads", None) or config.num_attention_heads
        width = 2 * groups * config.hidden_size // config.num_attention_heads
        assert (MODELS[name].n_layers, MODELS[name].width) == (config.num_hidden_layers, width)
        assert MODELS[name].window == getattr(config, "sliding_window", None)
    falcon, deepseek = FalconConfig(), DeepseekV3Config()
    assert falcon.multi_query and MODELS["Falcon 7B"][:2] == (falcon.num_hidden_layers, 2 * falcon.head_dim)
    latent = deepseek.kv_lora_rank + deepseek.qk_rope_head_dim
    assert MODELS["DeepSeek-V3"][:2] == (deepseek.num_hidden_layers, latent)


def test_prefill_computes_and_decoding_reads():
    weights, llama = 7_000_000_000, MODELS["Llama 3 8B"]
    prefill, decode = (intensity(phase, weights, llama, 1000) for phase in ("prefill", "decode"))
    assert prefill == (2 * weights * 1000, 2 * weights) and prefill.per_byte == 1000
    assert decode == (2 * weights, 2 * weights + 1000 * 131_072) and 0.9 < decode.per_byte < 1
    # More rows share the weights that are read, but not the caches: the intensity has a limit.
    rows = [intensity("decode", weights, llama, 1000, rows=n).per_byte for n in (1, 10, 100, 10**9)]
    assert rows == sorted(rows) and rows[-1] == pytest.approx(2 * weights / (1000 * 131_072))
    # Half the bytes for each number double it.
    assert intensity("decode", weights, llama, 1000, bytes_each=1).per_byte == pytest.approx(2 * decode.per_byte)


def test_the_roofline():
    machine = dict(operations_per_second=100.0, bytes_per_second=20.0)
    assert roofline_seconds(Intensity(50, 1), **machine) == 0.5  # computing takes longer
    assert roofline_seconds(Intensity(50, 40), **machine) == 2.0  # reading takes longer
    assert roofline_seconds(Intensity(500, 100), **machine) == 5.0  # 5 operations a byte: both take as long


def test_wrong_arguments():
    llama = MODELS["Llama 3 8B"]
    assert faults(partial(cache_bytes, llama), dict(tokens=5, rows=2, bytes_each=0.5)) == []
    call = dict(phase="decode", weights=10, tokens=5, rows=2, bytes_each=2)
    assert faults(partial(intensity, model=llama), call) == []
    machine = dict(operations_per_second=100.0, bytes_per_second=20.0)
    assert faults(partial(roofline_seconds, Intensity(1, 1)), machine) == []
    with pytest.raises(ValueError, match="cache_bytes: model is 'GPT-2', expected a CachedModel"):
        cache_bytes("GPT-2", 5)
