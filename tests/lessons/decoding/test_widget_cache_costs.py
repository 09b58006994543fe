"""The explorer of the cache's costs: the formula against the multiplications that really run."""

from dataclasses import replace

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from toy_models import config
from tx_helpers.lessons.decoding.cache_costs import BYTES, cache_explorer, costs, draw, fitting_rows, gibi, giga
from tx_helpers.nn.capture import capture
from tx_helpers.nn.config import AttentionConfig, EmbeddingConfig, FeedForwardConfig
from tx_helpers.nn.models import DecoderOnly
from tx_helpers.zoo.presets import gpt2, llama

CONFIGS = {
    "plain": config(context_length=32),
    "shared keys": config(context_length=32, attention=AttentionConfig(3, n_kv_heads=1, d_head=5), n_layers=3),
    "gated": config(context_length=32, feed_forward=FeedForwardConfig(7, gated=True)),
    "two tables": config("learned", context_length=32, embedding=EmbeddingConfig(tied=False)),
}


def multiplications(model: DecoderOnly, tokens: int, cached: bool) -> int:
    """Those of one more token after `tokens` others, as torch counts them; a capture makes attention written out."""
    state = model.start(1, cached=cached)
    state.step(torch.ones(1, tokens, dtype=torch.long))
    with capture(model, "*.weights"), FlopCounterMode(display=False) as counter, torch.no_grad():
        state.step(torch.ones(1, 1, dtype=torch.long))
    return counter.get_total_flops() // 2  # it counts a multiplication and an addition as two


@pytest.mark.parametrize("name", CONFIGS)
@pytest.mark.parametrize("tokens", [1, 13])
def test_the_formula_is_what_torch_counts(name, tokens):
    model = DecoderOnly(CONFIGS[name]).eval()
    found = costs(CONFIGS[name], tokens)
    assert multiplications(model, tokens, cached=True) == found.with_cache
    assert multiplications(model, tokens, cached=False) == found.without


@pytest.mark.parametrize("name", CONFIGS)
def test_the_memory_is_what_the_state_keeps(name):
    model = DecoderOnly(CONFIGS[name]).eval()
    state = model.start(4)
    state.step(torch.ones(4, 6, dtype=torch.long))
    kept = [tensor for each in state.caches for tensor in (each.self_attention.keys, each.self_attention.values)]
    found = costs(CONFIGS[name], tokens=5, rows=4)
    assert found.cache == sum(tensor.numel() for tensor in kept) * BYTES
    weights = [weight for weight in model.parameters() if weight.dim() == 2]
    assert found.matrices == sum(weight.numel() for weight in weights) * BYTES


def test_without_a_prefix_the_cache_saves_nothing():
    found = costs(gpt2(), tokens=0)
    assert found.with_cache == found.without
    for tokens, rows, message in ((-1, 1, "tokens=-1, expected at least 0"), (5, 0, "rows=0, expected at least 1")):
        with pytest.raises(ValueError, match=f"costs: {message}"):
            costs(gpt2(), tokens, rows)


def test_what_is_drawn_and_said(as_stored):
    """What no longer fits is orange."""
    full, large = llama("8b").context_length - 1, llama("8b")
    assert [fitting_rows(costs(large, full, rows), rows, machine) for rows, machine in ((9, 24), (1, 8))] == [9, -1]
    as_stored(
        small=draw("GPT-2", gpt2(), 1023, 2, 8),
        just=draw("Llama 3 8B", large, full, 9, 24),
        rows=draw("Llama 3 8B", large, full, 10, 24),
        matrices=draw("Llama 3 8B", large, full, 1, 8),
    )


def test_units():
    assert [giga(n) for n in (1.234e9, 12.34e9, 123.4e9, 12_345e9)] == ["1.23 G", "12.3 G", "123 G", "12,345 G"]
    assert [gibi(n) for n in (2**19, 2**30 - 2**20, 3 * 2**29)] == ["0.5 MiB", "1,023.0 MiB", "1.50 GiB"]


def test_the_slider_ends_where_the_context_ends():
    explorer = cache_explorer({"small": replace(gpt2(), context_length=64), "Llama 3 8B": llama("8b")})
    assert explorer.values == {"model": "small", "tokens_so_far": 63, "rows": 1, "machine": 80}
    explorer.set(model="Llama 3 8B")
    explorer.set(tokens_so_far=8191, rows=3)
    assert explorer.summary.startswith("Llama 3 8B, after 8,191 tokens") and "3 rows keep 3.00 GiB" in explorer.summary
    explorer.set(model="small")
    assert explorer.values["tokens_so_far"] == 63 and explorer.summary.startswith("small, after 63 tokens")
