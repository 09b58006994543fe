"""The probe explorer: what moves against a loop, what must not move, the drawing, the words, other models."""

import re

import pytest
import torch

from tx_helpers.lessons.debugging.probes import CHANGES, OTHERS, another, changes, draw, probe, probe_explorer, sentence
from tx_helpers.nn.attention import scaled_dot_product_attention
from tx_helpers.nn.models import EncoderDecoder
from tx_helpers.text.data import PAD, word_pairs
from tx_helpers.text.number_words import english, german
from tx_helpers.zoo.recipes import translator_config

NUMBERS = (*OTHERS, 5432, 21, 30)
DATA = word_pairs([(english(n), german(n)) for n in NUMBERS])
GIVEN = sentence(DATA, 5432)
T, S = 8, 6


def model(attend=None, of="decoder.*", **changes):
    """A small untrained translator, on request with another attention function in some layers."""
    torch.manual_seed(0)
    made = EncoderDecoder(translator_config(DATA, d_model=16, n_layers=2, **changes)).eval()
    for name, layer in made.named_modules():
        if attend and re.fullmatch(of.replace(".", r"\.").replace("*", ".*") + "attention", name):
            layer.attend = attend
    return made


def no_causal_mask(q, k, v, *, causal, **options):
    return scaled_dot_product_attention(q, k, v, **options)


def one_too_far(q, k, v, **options):
    mask = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool).tril(1)
    return scaled_dot_product_attention(q, k, v, mask=mask)


def no_padding_mask(q, k, v, *, mask, **options):
    return scaled_dot_product_attention(q, k, v, **options)


def of_the_batch(source, read):
    """Logits that depend on all rows."""
    one_hot = torch.nn.functional.one_hot(read, len(DATA.target_tokenizer)).float()
    return one_hot + one_hot.mean(dim=(0, 1))


# --- compute ---------------------------------------------------------------------------------------------------------


def test_the_sentence_is_that_of_the_number():
    assert GIVEN.heard == english(5432).replace("-", " ").split()
    assert GIVEN.said == ["<bos>", *german(5432).split()]
    assert (GIVEN.read.shape[1], GIVEN.source.shape[1]) == (T, S)


@pytest.mark.parametrize("place", range(T))
def test_another_word_stands_at_one_place_only_and_is_no_special_token(place):
    tokens = DATA.target_tokenizer.tokens
    changed = another(GIVEN.read, place, tokens)
    assert (changed != GIVEN.read).nonzero().tolist() == [[0, place]]
    assert not tokens[changed[0, place]].startswith("<")


def test_what_moved_is_measured_in_the_logits():
    broken, (pairs, *_) = model(no_causal_mask, "decoder.*.self_"), changes("decoder word", GIVEN)
    found = probe(broken, "decoder word", GIVEN).moved
    assert found.shape == (T, T)
    with torch.no_grad():
        plain = broken(GIVEN.source, GIVEN.read)
        for n, (source, read) in enumerate(pairs):
            for t in range(T):
                expected = max(abs(broken(source, read)[0, t] - plain[0, t]).tolist())
                assert found[t, n].item() == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("kind", CHANGES.values())
def test_the_right_model_moves_nothing_that_must_stay(kind):
    seen = probe(model(), kind, GIVEN)
    assert not any(seen.leaks(n) for n in range(len(seen.names)))
    free = [seen.moved[still:, n] for n, still in enumerate(seen.still)]
    assert all((column > 1e-4).all() for column in free)  # what may move does: the probe is not blind


def test_a_mask_one_too_far_leaks_one_position_a_block():
    broken = model(one_too_far, "decoder.*.self_")
    leaks = [probe(broken, "decoder word", GIVEN).leaks(n) for n in range(T)]
    assert leaks == [[t for t in (n - 2, n - 1) if t >= 0] for n in range(T)]


@pytest.mark.parametrize(
    ("broken", "kind", "cells"),
    [
        (model(no_causal_mask, "decoder.*.self_"), "decoder word", T * (T - 1) // 2),
        (model(no_padding_mask, "*"), "padding", T * T),
        (of_the_batch, "neighbour", T * len(OTHERS)),
    ],
)
def test_each_kind_of_change_finds_its_own_bug(broken, kind, cells):
    found = {
        k: sum(len(seen.leaks(n)) for n in range(len(seen.names)))
        for k in CHANGES.values()
        for seen in [probe(broken, k, GIVEN)]
    }
    assert found.pop(kind) == cells
    found.pop("decoder word", None)  # a mean over the positions is one over the future, too
    assert not any(found.values())


def test_neighbours_leave_the_row_itself_as_long_as_it_was():
    pairs, *_ = changes("neighbour", GIVEN)
    for source, read in pairs:
        assert source.shape == (2, S) and read.shape == (2, T)
        assert torch.equal(source[:1], GIVEN.source) and torch.equal(read[:1], GIVEN.read)
    (source, read), *_ = changes("padding", GIVEN)[0]
    assert source[0].tolist() == [*GIVEN.source[0].tolist(), PAD] and torch.equal(read, GIVEN.read)


# --- draw and describe -----------------------------------------------------------------------------------------------


def orange_cells(svg: str) -> int:
    return len(re.findall(r'<rect [^>]*fill="#D55E00"[^>]*fill-opacity', svg))


def test_every_leak_is_an_orange_cell_inside_the_dashed_line():
    seen = probe(model(one_too_far, "decoder.*.self_"), "decoder word", GIVEN)
    picture = draw("broken", 3, GIVEN, seen)
    assert orange_cells(picture.svg) == 13 and "stroke-dasharray" in picture.svg
    right = draw("right", 3, GIVEN, probe(model(), "decoder word", GIVEN))
    assert orange_cells(right.svg) == 0 and "stroke-dasharray" in right.svg
    assert "stroke-dasharray" not in draw("right", 0, GIVEN, probe(model(), "source word", GIVEN)).svg


def test_the_numbers_beside_the_bars_are_those_of_the_chosen_column():
    seen = probe(model(one_too_far, "decoder.*.self_"), "decoder word", GIVEN)
    numbers = re.findall(r">(\d[\d.]*)</text>", draw("broken", 3, GIVEN, seen).svg)
    assert numbers == [f"{float(moved):.2g}" if moved > 1e-4 else "0" for moved in seen.moved[:, 3]]


def test_the_words_to_the_letter():
    broken = probe(model(one_too_far, "decoder.*.self_"), "decoder word", GIVEN)
    most = max(broken.moved[1:3, 3]).item()
    assert draw("broken", 3, GIVEN, broken).alt == (
        "broken: the decoder reads 'zwanzig' instead of 'vier' at position 4; positions 1 to 3 must not move, and 2 of "
        f"them do, by {most:.2g} at most; all 5 that may move do. In the full map 13 of 28 forbidden cells move."
    )
    assert draw("right", 1, GIVEN, probe(model(), "padding", GIVEN)).alt == (
        "right: 2 × <pad> follow the source; all 8 positions must not move, and none does. In the full map 0 of 64 "
        "forbidden cells move."
    )
    source = draw("right", 5, GIVEN, probe(model(), "source word", GIVEN)).alt
    assert source.startswith("right: word 6 of the source is ") and source.endswith("; all 8 that may move do.")


# --- bind ------------------------------------------------------------------------------------------------------------


def test_the_explorer_shows_any_model_and_every_change():
    explorer = probe_explorer({"right": model(), "own": of_the_batch}, DATA, first="own")
    assert explorer.summary.startswith("own: the decoder reads")
    for kind in CHANGES.values():
        explorer.set(model="right", change=kind, which=T)
        assert explorer.summary.startswith("right: ") and not explorer.error
    explorer.set(model="own", change="neighbour")
    assert "64 of 64 forbidden cells move" in explorer.summary


def test_beyond_the_last_change_is_the_last():
    explorer = probe_explorer({"right": model()}, DATA)
    explorer.set(change="source word", which=T)
    assert "word 6 of the source" in explorer.summary


def test_wrong_arguments_are_named():
    with pytest.raises(ValueError, match="models is empty"):
        probe_explorer({}, DATA)
    with pytest.raises(ValueError, match="'a' is 5, expected a model"):
        probe_explorer({"a": 5}, DATA)
