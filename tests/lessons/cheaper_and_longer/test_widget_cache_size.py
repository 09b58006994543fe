"""The cache of a described model: bytes against the published sizes, the drawing, the words, and the explorer."""

import re

import pytest

from drawn import texts
from tx_helpers.lessons.cheaper_and_longer.cache_bytes import MODELS, cache_bytes
from tx_helpers.lessons.cheaper_and_longer.cache_size import (
    BITS,
    CARDS,
    LENGTH,
    OFFERED,
    OWN,
    Need,
    Sizes,
    cache_size_explorer,
    cached,
    describe,
    digits,
    draw,
    need,
    verdict,
)
from tx_helpers.show.shapes import BLUE, GREY, MUTED, ORANGE

TINY = Sizes(parameters=0.001, layers=3, heads=6, kv_heads=2, head_width=64)

# --- compute ---------------------------------------------------------------------------------------------------------


def test_the_published_models_keep_what_the_formula_of_the_package_says():
    assert list(OFFERED) == list(MODELS)
    for name, model in MODELS.items():
        assert cached(OFFERED[name]) == model._replace(longest=0), name


def test_bytes_are_counted_by_text_layer_and_token():
    found = need(TINY, texts=5, tokens=7, weight_bytes=0.5, cache_number=1.0)
    assert found == (0.5e6, 5 * 3 * 7 * 2 * 2 * 64, 5 * 3 * 7 * 2 * 6 * 64, 5)
    latent = need(TINY._replace(latent=288, window="128, every second"), 1, 1000)
    assert latent.cache == 2 * (2 * 128 + 1000) * 288 and latent.early == 2 * 3 * 1000 * 768
    assert need(OFFERED["DeepSeek-V3"], 2, 4096).cache == cache_bytes(MODELS["DeepSeek-V3"], 4096, rows=2)


def test_room_beside_the_weights():
    found = Need(weights=2**30, cache=4 * 2**28, early=0, texts=4)
    assert [found.room(memory) for memory in (0, 1, 2, 3, 4)] == [-1, -1, 3, 6, 10]  # nine tenths of it
    assert [verdict(found, memory) for memory in (1, 1.2, 2, 3)] == [
        *("too small for the weights", "no room for one text", "room for 3 only", "fits, room for 6")
    ]
    assert verdict(found._replace(texts=5, cache=5 * 2**28), 2) == "room for 3 only"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (dict(sizes=TINY._replace(kv_heads=7)), "need: kv_heads=7, expected at most as many as there are query heads"),
        (dict(texts=0), "need: texts=0, expected at least 1"),
        (dict(cache_number=0.0), "need: cache_number=0.0, expected more than 0"),
    ],
)
def test_what_is_refused(arguments, said):
    with pytest.raises(ValueError, match=said):
        need(**dict(sizes=TINY, texts=1, tokens=5) | arguments)


# --- draw and describe -----------------------------------------------------------------------------------------------


def test_each_card_is_filled_with_weights_and_cache():
    picture = draw("Llama 3 8B", OFFERED["Llama 3 8B"], 8, 8192)
    found = need(OFFERED["Llama 3 8B"], 8, 8192)
    bars = re.findall(r'width="([\d.]+)" height="18" rx="2" fill="([^"]+)"', picture.svg)[3:]
    assert len(bars) == 3 * len(CARDS)
    for row, memory in enumerate(CARDS.values()):
        (frame, ground), (both, colour), (weights, grey) = bars[3 * row : 3 * row + 3]
        share = (found.weights + found.cache) / (memory * 2**30)
        assert (float(frame), ground, grey) == (LENGTH, GREY.tint, MUTED)
        assert float(both) == pytest.approx(LENGTH * min(1, share), abs=0.01)
        assert float(weights) == pytest.approx(LENGTH * min(1, found.weights / (memory * 2**30)), abs=0.01)
        assert colour == (BLUE.full if share <= 0.9 else ORANGE.full)
    assert texts(picture.svg)[:7] == [
        *("Llama 3 8B: 8 × 8,192 tokens", "weights", "15.0 GiB", "cache", "8.0 GiB", "cache as in 2017", "32.0 GiB")
    ]
    assert picture.alt == describe("Llama 3 8B", OFFERED["Llama 3 8B"], 8, 8192)


def test_the_words():
    assert describe("Llama 3 8B", OFFERED["Llama 3 8B"], 8, 8192) == (
        "Llama 3 8B, 8 texts of 8,192 tokens: the cache takes 8.0 GiB, 0.53 times the 15.0 GiB of the weights. As in "
        "2017 it would take 32.0 GiB, 4 times as much. The smallest card with room for it: A100 or H100, 80 GB."
    )
    assert describe(OWN, OFFERED["GPT-2"], 1, 1024, 4.0, 4.0) == (
        "One of your own, 1 text of 1,024 tokens: the cache takes 72.0 MiB, 0.15 times the 473 MiB of the weights. It "
        "is as in 2017. The smallest card with room for it: laptop, 8 GB."
    )
    assert describe("DeepSeek-V3", OFFERED["DeepSeek-V3"], 1, 1024).endswith("It fits on none of the cards.")
    assert [digits(n) for n in (0.0531, 4.0, 56.9, 1234.5)] == ["0.053", "4", "57", "1,234"]


# --- bind ------------------------------------------------------------------------------------------------------------


def test_a_published_model_fills_the_sizes_and_a_changed_size_makes_it_ones_own():
    explorer = cache_size_explorer()
    for name, sizes in OFFERED.items():
        explorer.set(model=name)
        assert explorer.values == explorer.values | sizes._asdict() | {"model": name}
        assert explorer.summary == describe(name, sizes, 8, 8192) and explorer.error == ""
    explorer.set(model="Llama 3 8B")
    explorer.set(kv_heads=1, texts=32, tokens=131_072, weights=0.5, cache=1.0)
    assert explorer.values["model"] == OWN
    changed = OFFERED["Llama 3 8B"]._replace(kv_heads=1)
    assert explorer.summary == describe(OWN, changed, 32, 131_072, 0.5, 1.0)


def test_there_are_never_more_heads_of_keys_than_of_queries():
    explorer = cache_size_explorer("GPT-2")
    explorer.set(heads=5)
    assert explorer.values["kv_heads"] == 5 and explorer.error == ""
    explorer.set(model="DeepSeek-V3")
    assert explorer.values["kv_heads"] == 128


@pytest.mark.slow
def test_pages_offer_the_published_models():
    recording = cache_size_explorer().record()
    assert recording.settings == len(OFFERED) * 5 * 6 * 2 * 2 and len(recording.data) < 110_000
    assert [about["key"] for about in recording.about["controls"]] == ["model", "texts", "tokens", "weights", "cache"]
    assert set(BITS.values()) >= {2.0, 0.5}
