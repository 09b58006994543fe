"""Decoding piece by piece: cached = uncached = whole, for every make of model, any pieces, and rows that move."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from parity import TOLERANCE, B, H, S, T, V, both_precisions, properties, randomise, tokens
from toy_models import CONTEXT, PAD, close, configs, every_position, feed, model, seeds
from tx_helpers.nn.cache import KVCache
from tx_helpers.nn.capture import capture
from tx_helpers.nn.config import AttentionConfig, EmbeddingConfig, LayerConfig
from tx_helpers.nn.models import DecoderOnly, EncoderDecoder
from tx_helpers.zoo.parts.inputs import TokenShift


def conditions(kind: type, source: Tensor) -> tuple[Tensor, ...]:
    """What `start` and the model itself take before the ids: the source, of an encoder–decoder alone."""
    return () if kind is DecoderOnly else (source,)


@both_precisions
@every_position
@pytest.mark.parametrize("cached", [True, False], ids=["cached", "uncached"])
@pytest.mark.parametrize("chunks", [[1] * 7, [3, 1, 2, 1], [7]], ids=["one by one", "chunks", "at once"])
def test_a_decoder_fed_piece_by_piece_gives_the_logits_of_the_whole(chunks, cached, positions, dtype):
    """Rows padded at the left by 0, 1 and 3 ids: the second chunk begins inside the padding of none, or of one."""
    ids = tokens(3, S)
    for row, padding in enumerate((0, 1, 3)):
        ids[row, :padding] = PAD
    changes = dict(
        attention=AttentionConfig(H, n_kv_heads=1, qk_norm=True), embedding=EmbeddingConfig(input=TokenShift(2))
    )
    built = model(DecoderOnly, positions, dtype=dtype, **changes)
    with torch.no_grad():
        whole = built(ids)
        logits = feed(built.start(3, cached=cached), ids, chunks)
        close(logits, whole, TOLERANCE[dtype])
        for row, padding in enumerate((0, 1, 3)):
            alone = built(ids[row : row + 1, padding:])
            close(logits[row : row + 1, padding:], alone, TOLERANCE[dtype])


@both_precisions
@every_position
@pytest.mark.parametrize("cached", [True, False], ids=["cached", "uncached"])
@pytest.mark.parametrize("chunks", [[1] * 5, [2, 1, 2]], ids=["one by one", "chunks"])
def test_an_encoder_decoder_fed_piece_by_piece_gives_the_logits_of_the_whole(chunks, cached, positions, dtype):
    source, target = tokens(3, S), tokens(3, T, seed=1)
    source[1, 4:] = source[2, :2] = PAD
    embedding = EmbeddingConfig(input=TokenShift(2))
    built = model(EncoderDecoder, positions, dtype=dtype, n_layers=3, n_encoder_layers=1, embedding=embedding)
    with torch.no_grad():
        close(feed(built.start(source, cached=cached), target, chunks), built(source, target), TOLERANCE[dtype])


@every_position
@pytest.mark.parametrize("kind", [DecoderOnly, EncoderDecoder])
@pytest.mark.parametrize("cached", [True, False], ids=["cached", "uncached"])
def test_select_keeps_repeats_and_reorders_the_rows(cached, kind, positions):
    """As beam search does: rows go, come twice, change places; what follows is as if they had always been so."""
    ids, source, rows = tokens(3, T), tokens(3, S, seed=1), torch.tensor([2, 0, 2, 1])
    ids[2, 0] = source[2, 5:] = PAD
    built, more = model(kind, positions, embedding=EmbeddingConfig(input=TokenShift(2))), tokens(4, 2, seed=2)
    with torch.no_grad():
        state = built.start(*conditions(kind, source) or (3,), cached=cached)
        feed(state, ids, [3, 2])
        state.select(rows)
        after = torch.cat([ids[rows], more], dim=1)
        expected = built(*conditions(kind, source[rows]), after)
        close(state.step(more), expected[:, T:])
        state.select(torch.tensor([1]))  # one row is left
        last = tokens(1, 1, seed=3)
        after = torch.cat([after[1:2], last], dim=1)
        expected = built(*conditions(kind, source[rows][1:2]), after)
        close(state.step(last), expected[:, -1:])


@every_position
@pytest.mark.parametrize("kind", [DecoderOnly, EncoderDecoder])
@pytest.mark.parametrize("cached", [True, False], ids=["cached", "uncached"])
@pytest.mark.parametrize("gradients", [True, False])
def test_after_a_rewind_it_is_as_if_the_ids_had_never_been(gradients, cached, kind, positions):
    ids, other, source = tokens(3, T), tokens(3, 4, seed=2), tokens(3, S, seed=1)
    built = model(kind, positions, embedding=EmbeddingConfig(input=TokenShift(2)))
    with torch.set_grad_enabled(gradients):
        state = built.start(*conditions(kind, source) or (3,), cached=cached)
        feed(state, ids, [3, 2])
        state.rewind(2)
        expected = built(*conditions(kind, source), torch.cat([ids[:, :2], other], dim=1))
        close(feed(state, other, [1, 3]), expected[:, 2:])
        state.rewind(0)
        close(feed(state, ids, [4, 1]), built(*conditions(kind, source), ids))


@properties
@given(configs, seeds, st.lists(st.integers(1, 8), max_size=4, unique=True))
def test_cached_is_uncached_for_any_model_and_any_chunks(config, seed, cuts):
    ids = tokens(B, 9, seed=seed)
    ids[0, : seed % 4] = PAD
    chunks = [stop - start for start, stop in zip([0, *sorted(cuts)], [*sorted(cuts), 9], strict=True)]
    decoder = randomise(DecoderOnly(config).double(), seed, std=0.3)
    with torch.no_grad():
        close(feed(decoder.start(B), ids, chunks), decoder(ids))


def test_a_cached_step_computes_its_new_positions_alone_and_encodes_once():
    built, computed, encoded = model(EncoderDecoder), [], []
    built.decoder.blocks[0].register_forward_hook(lambda module, inputs, out: computed.append(out.shape[1]))
    built.encoder.register_forward_hook(lambda *_: encoded.append(1))
    for cached, expected in ((True, [2, 1, 2]), (False, [2, 3, 5])):
        computed.clear()
        encoded.clear()
        feed(built.start(tokens(B, S), cached=cached), tokens(B, T), [2, 1, 2])
        assert computed == expected
        assert encoded == [1]


@pytest.mark.parametrize("cached", [True, False], ids=["cached", "uncached"])
def test_logits_of_a_step_without_gradients_are_ordinary_tensors(cached):
    state, weight = model(DecoderOnly).start(B, cached=cached), torch.ones(V, dtype=torch.float64, requires_grad=True)
    with torch.no_grad():
        logits = state.step(tokens(B, 3))
    assert not logits.is_inference()
    logits[..., PAD] = 0.0  # may be changed in place, and be trained against
    (weight * logits).sum().backward()
    close(weight.grad, logits.sum(dim=(0, 1)))


@pytest.mark.parametrize("kind", [DecoderOnly, EncoderDecoder])
def test_a_sequence_begun_without_gradients_goes_on_with_them(kind):
    """The last block's feed-forward sees the last position alone, so its gradient is that of the whole."""
    ids, built, before = tokens(B, T), model(kind), conditions(kind, tokens(B, S, seed=1))
    state = built.start(*before or (B,))
    with torch.no_grad():
        feed(state, ids[:, :-1], [2, 2])
    weight = built.decoder.blocks[-1].feed_forward.contract.weight
    gradients = []
    for logits in (state.step(ids[:, -1:]), built(*before, ids)[:, -1:]):
        gradients.append(torch.autograd.grad(logits.square().sum(), weight)[0])
    assert gradients[0].abs().max() > 0
    close(*gradients)


@pytest.mark.parametrize("kind", [DecoderOnly, EncoderDecoder])
def test_what_is_captured_while_decoding_is_ordinary_and_the_same(kind):
    """From the second step on, so that the first was made in inference mode."""
    ids, built, before = tokens(B, T), model(kind), conditions(kind, tokens(B, S, seed=1))
    with torch.no_grad():
        state = built.start(*before or (B,))
        feed(state, ids[:, :3], [2, 1])
        with capture(built) as seen:
            state.step(ids[:, 3:])
        with capture(built) as whole:
            built(*before, ids)
    for name, tensor in seen.items():
        assert not tensor.is_inference(), name
    close(seen["decoder.blocks.1.self_attention.weights"], whole["decoder.blocks.1.self_attention.weights"][..., 3:, :])


def test_a_rewind_that_is_refused_leaves_the_state_as_it_was():
    """The first block could go back; the second has dropped what it would need."""
    layers = (LayerConfig(), LayerConfig(attention=AttentionConfig(H, window=2)))
    built, ids = model(DecoderOnly, "rotary, halves", layers=layers, context_length=None), tokens(B, 90)
    with torch.no_grad():
        state = built.start(B)
        feed(state, ids, [1] * 90)
        with pytest.raises(ValueError, match=r"WindowCache\.rewind: length=5 needs"):
            state.rewind(5)
        assert (state.ids.shape[1], [len(cache) for cache in state.caches]) == (90, [90, 90])
        close(state.step(ids[:, :1]), built(torch.cat([ids, ids[:, :1]], dim=1))[:, -1:])


def test_a_step_that_is_refused_leaves_the_state_as_it_was():
    built, ids = model(DecoderOnly, "learned"), tokens(B, T)
    state = built.start(B)
    with torch.no_grad():
        state.step(ids[:, :3])
        for refused in (torch.full((B, 1), V), tokens(B, CONTEXT), tokens(3, 1), torch.zeros(B, 0, dtype=torch.long)):
            with pytest.raises(ValueError, match=r"^(model|step): "):
                state.step(refused)
        close(state.step(ids[:, 3:]), built(ids)[:, 3:])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: model(DecoderOnly).start(B).step(tokens(3, 1)), r"step: ids of shape \(3, 1\), expected \(2, t\)"),
        (lambda: model(DecoderOnly).start(B).step(tokens(B)), r"step: ids of shape \(2,\), expected \(2, t\)"),
        (lambda: model(DecoderOnly).start(B).rewind(1), "rewind: length=1, expected at least 0 and at most 0"),
        (lambda: KVCache().rewind(1), "KVCache.rewind: length=1, expected at least 0 and at most 0"),
        (lambda: model(DecoderOnly).start(B).step(tokens(B, 0)), r"step: ids of shape \(2, 0\), .* t >= 1"),
        (
            lambda: feed(model(DecoderOnly).start(B), tokens(B, CONTEXT + 1), [CONTEXT, 1]),
            "model: a sequence of 17 ids, but context_length is 16",
        ),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
