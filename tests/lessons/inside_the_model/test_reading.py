"""Lenses and probes."""

import pytest
import torch

from machine_view_page import PAIRS, translator
from tx_helpers.lessons.inside_the_model.reading import (
    Probe,
    exchanged,
    lens_picture,
    probe_neighbours,
    read_stream,
    states,
)
from tx_helpers.nn.capture import capture
from tx_helpers.text.data import PAD, SequenceBatch, sequence_batch


@pytest.fixture(scope="module")
def small():
    return translator()


@pytest.fixture(scope="module")
def batch(small):
    return sequence_batch(small.data.encode(PAIRS * 4))


def test_a_probe_finds_a_direction_and_nothing_in_noise():
    draw = torch.Generator().manual_seed(0)
    x, labels = torch.randn(600, 6, generator=draw), torch.randint(3, (600,), generator=draw)
    planted = x + 8 * torch.eye(6)[labels]
    assert Probe.fit(planted[:400], labels[:400], 3).right(planted[400:], labels[400:]) > 0.95
    assert Probe.fit(x[:400], labels[:400], 3).right(x[400:], labels[400:]) < 0.5
    with pytest.raises(ValueError, match=r"Probe.fit: 600 vectors, but 400 labels"):
        Probe.fit(x, labels[:400], 3)


def test_the_states_end_in_what_the_model_says(small, batch):
    found = states(small, batch)
    assert list(found) == [
        *("embedding", "self-attention 1", "cross-attention 1", "feed-forward 1"),
        *("self-attention 2", "cross-attention 2", "feed-forward 2"),
    ]
    with capture(small.model, "decoder.*.hidden") as seen, torch.no_grad():
        small.model(batch.source, batch.decoder_input)
    for name, hidden in (("embedding", "input"), ("feed-forward 1", "blocks.0"), ("feed-forward 2", "blocks.1")):
        torch.testing.assert_close(found[name], seen[f"decoder.{hidden}.hidden"][batch.target != PAD])


def test_both_lenses_read_the_last_state_as_the_model_does(small, batch):
    with torch.no_grad():
        said = small.model(batch.source, batch.decoder_input).argmax(-1)
    own = batch._replace(target=torch.where(batch.target == PAD, PAD, said))
    read = read_stream(small, own, own)
    assert read["feed-forward 2"] == (1.0, 1.0)
    assert read["embedding"][0] < 1


def test_vectors_come_from_sentences_with_the_same_word_there():
    source = torch.tensor([[3, 4, 5], [3, 6, 5], [3, 4, 0], [7, 4, 5]])
    ids = torch.zeros(4, 1, dtype=torch.long)
    batch = SequenceBatch(source, ids, ids)
    x = torch.arange(4.0)[:, None].repeat(1, 3)  # the number of the row
    seen = torch.stack([exchanged(batch, seed)(x) for seed in range(30)])
    assert {tuple(row) for row in seen[:, :, 0].T[2:].tolist()} == {(2.0,) * 30, (3.0,) * 30}
    assert set(seen[:, 0, 0].tolist()) == {1.0} and set(seen[:, 1, 0].tolist()) == {0.0}
    assert set(seen[:, 1, 2].tolist()) == {0.0, 3.0}
    assert set(seen[:, 1, 1].tolist()) == {1.0}  # no other one has it there


def test_a_memory_that_knows_its_neighbour_is_found_and_erased(small):
    pairs = [(f"{a} {b}", "x") for a in "abcdef" for b in "abcdef"]
    knows = translator([*pairs, *PAIRS])
    batch = sequence_batch(knows.data.encode(pairs * 3))

    def planted(hidden):
        following = torch.nn.functional.one_hot(batch.source.roll(-1, 1), hidden.shape[-1])
        return hidden + 30.0 * following

    block = knows.model.encoder.blocks[1]
    hook = block.feed_forward.register_forward_hook(lambda _, __, output: planted(output))
    probed = probe_neighbours(knows, batch, batch)
    hook.remove()
    assert probed.probe > 0.95 and probed.word < 0.4 and probed.erased < 0.5
    assert probed.control > 0.3  # so many classes are learned by heart


def test_the_picture(as_stored):
    def of(shift):
        return {"lens": {"embedding": [0.0, 0.3 + shift], "a": [0.2, 0.9 + shift], "b": [1.0 - shift, 1.0]}}

    as_stored(two_seeds=lens_picture({"0": of(0.0), "1": of(0.1)}))
    assert lens_picture({"0": of(0.0)}).alt == (
        "Logit lens and tuned lens, mean of 1 seeds: after embedding 0% and 30%; after a 20% and 90%; after b 100% and "
        "100%."
    )
