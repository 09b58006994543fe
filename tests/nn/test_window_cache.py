"""A window in the cache: cached = uncached for prefills shorter, equal and longer than the window.

The fault that these tests are for stood in several libraries: the window limits the mask, the cache keeps a window, and
where a long prefill meets a cache that is full, the two disagree.
"""

import pytest
import torch

from parity import B, F, H, normal, randomise, tokens
from toy_models import PAD, close, config, feed
from tx_helpers.nn.attention import MultiHeadAttention
from tx_helpers.nn.cache import KVCache, StateCache, WindowCache
from tx_helpers.nn.config import AttentionConfig, FeedForwardConfig, LayerConfig
from tx_helpers.nn.masks import sliding_window_mask
from tx_helpers.nn.models import DecoderOnly
from tx_helpers.zoo.parts.latent import LatentAttention, LatentConfig

WINDOW, SPARE, LENGTH = 4, 3, 40
prefills = pytest.mark.parametrize("prefill", [1, WINDOW - 1, WINDOW, WINDOW + 1, 3 * WINDOW, LENGTH - 1])
LAYERS = {
    "all": (),
    "in turn": (LayerConfig(), LayerConfig(AttentionConfig(H, n_kv_heads=1))),  # as in Gemma 2
    "two windows": (LayerConfig(), LayerConfig(AttentionConfig(H, window=7))),
    "latent": (LayerConfig(mixer=LatentConfig(7, 4)), LayerConfig()),
}


@pytest.fixture(autouse=True)
def small_spare(monkeypatch):
    monkeypatch.setattr(WindowCache.__init__, "__kwdefaults__", {"spare": SPARE})


def model(layers: str, positions: str) -> DecoderOnly:
    attention = AttentionConfig(H, window=WINDOW)
    options = dict(attention=attention, layers=LAYERS[layers], context_length=None, n_layers=3)
    return randomise(DecoderOnly(config(positions, **options)).double(), std=0.3).eval()


@prefills
@pytest.mark.parametrize("positions", ["rotary, halves", "alibi", "t5"])
@pytest.mark.parametrize("layers", LAYERS)
def test_cached_is_uncached_is_whole(layers, positions, prefill):
    made, ids = model(layers, positions), tokens(B, LENGTH)
    ids[0, :6] = PAD  # more than the window
    rest = LENGTH - prefill
    with torch.no_grad():
        whole = made(ids)
        for chunks in ([prefill] + [1] * rest, [1, prefill, *([2] * ((rest - 1) // 2)), *([1] * ((rest - 1) % 2))]):
            if sum(chunks) == LENGTH:
                close(feed(made.start(B), ids, chunks), whole)
        close(feed(made.start(B, cached=False), ids, [prefill, rest]), whole)


def test_what_is_out_of_sight_is_dropped():
    made, ids, padding = model("in turn", "rotary, halves"), tokens(B, LENGTH), 6
    ids[0, :padding] = PAD
    state, held = made.start(B), []
    with torch.no_grad():
        state.step(ids[:, :3])
        for t in range(3, LENGTH):
            state.step(ids[:, t : t + 1])
            held.append(state.caches[0].self_attention.keys.shape[-2])
    assert [len(cache) for cache in state.caches] == [LENGTH] * 3
    assert max(held) <= WINDOW + 2 * SPARE + 1
    assert state.caches[1].self_attention.keys.shape[-2] == LENGTH


def test_only_as_much_is_dropped_as_leaves_the_rest_right():
    """Without any drop the test above would be empty: here the cache holds less, and its layer gives the same."""
    layer, x = randomise(MultiHeadAttention(12, H).double()), normal(B, LENGTH, 12)
    full, kept = KVCache(), WindowCache(WINDOW, spare=1)
    for t in range(LENGTH):
        mask = sliding_window_mask(1, t + 1, window=WINDOW)
        one = (layer(x[:, t : t + 1], mask=mask, causal=True, cache=cache) for cache in (full, kept))
        close(*one)
    assert (full.keys.shape[-2], kept.keys.shape[-2]) == (LENGTH, kept._length)
    assert kept._length <= WINDOW + 2 + 1


@pytest.mark.parametrize("back", [1, SPARE])
def test_the_last_positions_can_be_taken_back(back):
    made, ids, other = model("all", "rotary, halves"), tokens(B, LENGTH), tokens(B, LENGTH, seed=1)
    changed = torch.cat([ids[:, : LENGTH - back], other[:, LENGTH - back :]], dim=1)
    with torch.no_grad():
        state = made.start(B)
        feed(state, ids, [WINDOW] + [1] * (LENGTH - WINDOW))
        state.rewind(LENGTH - back)
        assert len(state.caches[0]) == LENGTH - back
        close(state.step(changed[:, LENGTH - back :]), made(changed)[:, LENGTH - back :])
        state.rewind(0)
        close(feed(state, other, [LENGTH]), made(other))


def test_further_back_is_refused():
    made = model("all", "rotary, halves")
    with torch.no_grad():
        state = made.start(B)
        feed(state, tokens(B, LENGTH), [1] * LENGTH)
    with pytest.raises(
        ValueError, match=r"WindowCache.rewind: length=9 needs the positions from 6 on, but those before"
    ):
        state.rewind(9)
    with pytest.raises(ValueError, match=r"WindowCache.rewind: length=41, expected at least 0 and at most 40"):
        state.caches[0].rewind(41)
    cache = StateCache()
    cache.update((torch.ones(B, 2),), 5)
    with pytest.raises(ValueError, match=r"StateCache.rewind: length=3, but a recurrent state cannot go back"):
        cache.rewind(3)
    cache.rewind(0)
    assert len(cache) == 0


def test_rows_can_be_selected_after_a_drop():
    made, ids, rows = model("two windows", "rotary, halves"), tokens(3, LENGTH), torch.tensor([2, 0, 2])
    with torch.no_grad():
        state = made.start(3)
        feed(state, ids, [1] * LENGTH)
        state.select(rows)
        more = tokens(3, 5, seed=1)
        close(feed(state, more, [1] * 5), made(torch.cat([ids[rows], more], dim=1))[:, LENGTH:])


def test_wrong_configs_are_named():
    for call, message in (
        (lambda: config(layers=[LayerConfig()]), "TransformerConfig: layers is .*, expected a tuple of LayerConfig"),
        (lambda: LayerConfig(attention=FeedForwardConfig(F)), "LayerConfig: attention is "),
        (lambda: config(mixer=LatentAttention), "TransformerConfig: mixer is "),
        (
            lambda: config("rotary, halves", mixer=LatentConfig(7, 3)),
            "TransformerConfig: the mixer's d_rotary=3, but rotary positions need an even one",
        ),
    ):
        with pytest.raises(ValueError, match=message):
            call()
