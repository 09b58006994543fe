import hashlib
import random
import re
from collections import Counter

import numpy as np
import pytest
import torch

from tx_helpers.text.data import (
    PairBatches,
    SequenceBatch,
    TextBatch,
    TextBatches,
    evaluation_windows,
    pad_right,
    sequence_batch,
    text_batch,
    train_validation_split,
    word_pairs,
)
from tx_helpers.text.number_words import number_pairs
from tx_helpers.text.tokenizers import CharTokenizer

PAIRS = [([10 * n, 10 * n + 1][: 1 + n % 2], [100 + n] * (1 + n % 3)) for n in range(1, 8)]


def same(one, other):
    """Two batches (named tuples of tensors) are equal in every tensor."""
    return all(torch.equal(a, b) for a, b in zip(one, other, strict=True))


def test_rows_of_texts_are_padded_and_what_is_not_there_is_not_scored():
    batch = text_batch([([5, 6], [6, 7]), ([8], [9])])
    assert isinstance(batch, TextBatch)
    assert batch.input.tolist() == [[5, 6], [8, 0]]
    assert batch.target.tolist() == [[6, 7], [9, -100]]


def test_rows_are_padded_at_the_right():
    padded = pad_right([[5, 6, 7], [8], []], 9)
    assert torch.equal(padded, torch.tensor([[5, 6, 7], [8, 9, 9], [9, 9, 9]]))
    assert padded.dtype == torch.int64


def test_no_rows_make_no_batch():
    with pytest.raises(ValueError, match="pad_right: no rows"):
        pad_right([], 0)


def test_targets_are_shifted_by_one_and_padded_at_the_right():
    batch = sequence_batch([([7, 8, 9], [5]), ([6], [3, 4])])
    assert torch.equal(batch.source, torch.tensor([[7, 8, 9], [6, 0, 0]]))
    assert torch.equal(batch.decoder_input, torch.tensor([[1, 5, 0], [1, 3, 4]]))
    assert torch.equal(batch.target, torch.tensor([[5, 2, 0], [3, 4, 2]]))
    assert {ids.dtype for ids in batch} == {torch.int64}


def test_the_special_ids_can_be_others():
    batch = sequence_batch([([7, 8], [5]), ([6], [3, 4])], pad_id=90, bos_id=91, eos_id=92)
    assert torch.equal(batch.source, torch.tensor([[7, 8], [6, 90]]))
    assert torch.equal(batch.decoder_input, torch.tensor([[91, 5, 90], [91, 3, 4]]))
    assert torch.equal(batch.target, torch.tensor([[5, 92, 90], [3, 4, 92]]))
    through = PairBatches([([7], [5])], 1, pad_id=90, bos_id=91, eos_id=92)(0)
    assert same(through, SequenceBatch(torch.tensor([[7]]), torch.tensor([[91, 5]]), torch.tensor([[5, 92]])))


def pairs_of(batch):
    """The pairs in a batch, without padding and special tokens, in its order."""
    return [
        ([i for i in source if i > 2], [i for i in target if i > 2])
        for source, target in zip(batch.source.tolist(), batch.target.tolist(), strict=True)
    ]


@pytest.mark.parametrize("batch_size", [1, 3, 7, 16])
def test_every_pair_comes_once_an_epoch_and_every_batch_is_full(batch_size):
    batches = PairBatches(PAIRS, batch_size, seed=4)
    stream = [pair for step in range(35) for pair in pairs_of(batches(step))]
    assert len(stream) == 35 * batch_size
    epochs = [stream[i : i + 7] for i in range(0, len(stream) - 6, 7)]
    assert all(sorted(epoch) == sorted(PAIRS) for epoch in epochs)
    assert epochs[0] != epochs[1]


def test_a_batch_depends_on_nothing_but_seed_and_step():
    batches, late = PairBatches(PAIRS, 3, seed=4), PairBatches(PAIRS, 3, seed=4)
    expected = [batches(step) for step in range(12)]
    torch.manual_seed(0), random.seed(0), np.random.seed(0)
    assert same(late(11), expected[11])  # asked for out of order, as a resumed run does
    assert all(same(batches(step), expected[step]) for step in reversed(range(12)))
    other = PairBatches(PAIRS, 3, seed=5)
    assert not all(same(other(step), expected[step]) for step in range(12))


def test_no_global_random_state_is_touched():
    states = [random.getstate(), torch.get_rng_state().tolist(), np.random.get_state()[1].tolist()]
    PairBatches(PAIRS, 3)(0), TextBatches(range(30), 5, 2)(0)
    assert [random.getstate(), torch.get_rng_state().tolist(), np.random.get_state()[1].tolist()] == states


def test_batches_are_the_same_on_every_machine():
    drawn = [ids.tolist() for step in (0, 7) for ids in PairBatches(PAIRS, 4, seed=1)(step)]
    drawn += [ids.tolist() for ids in TextBatches(range(1000), 3, 2, seed=1)(5)]
    assert hashlib.sha256(repr(drawn).encode()).hexdigest()[:16] == "ac3b919c40ef9ea6"


def test_a_batch_goes_to_a_device_whole():
    for batch in (PairBatches(PAIRS, 2)(0), TextBatches(range(30), 5, 2)(0)):
        assert {ids.device.type for ids in batch} == {"cpu"}
        moved = batch.to("meta")
        assert type(moved) is type(batch)
        assert {ids.device.type for ids in moved} == {"meta"}


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (([], 3), "no pairs to make batches of"),
        (([([5], [6]), ([], [6])], 3), "pair 1 has 0 source and 1 target tokens"),
        (([([5, 7], [])], 3), "pair 0 has 2 source and 0 target tokens"),
        ((PAIRS, 0), "batch_size=0, expected at least 1"),
    ],
)
def test_pairs_that_make_no_batches_are_errors(arguments, complaint):
    with pytest.raises(ValueError, match=f"PairBatches: {complaint}"):
        PairBatches(*arguments)


def test_there_is_no_negative_step():
    for batches in (PairBatches(PAIRS, 3), TextBatches(range(30), 5, 2)):
        with pytest.raises(ValueError, match=f"{type(batches).__name__}: step=-1, expected at least 0"):
            batches(-1)


def test_windows_are_pieces_of_the_text_with_the_next_id_as_target():
    ids = torch.arange(100, 153) ** 2
    batch = TextBatches(ids, 5, 7, seed=2)(3)
    assert batch.input.shape == batch.target.shape == (7, 5)
    assert batch.input.dtype == batch.target.dtype == torch.int64
    for row, target in zip(batch.input.tolist(), batch.target.tolist(), strict=True):
        start = ids.tolist().index(row[0])
        assert row == ids[start : start + 5].tolist()
        assert target == ids[start + 1 : start + 6].tolist()


def test_windows_begin_at_every_place_equally_often():
    batches = TextBatches(range(12), 5, 50)
    starts = Counter(row[0] for step in range(70) for row in batches(step).input.tolist())
    assert set(starts) == set(range(7))  # the last window is 6 7 8 9 10 and its target ends with 11
    assert max(abs(count - 500) for count in starts.values()) < 4 * 21  # binomial: standard deviation 21


def test_windows_depend_on_nothing_but_seed_and_step():
    first, again = TextBatches(range(1000), 5, 3, seed=1), TextBatches(list(range(1000)), 5, 3, seed=1)
    again(3)
    assert same(first(8), again(8))
    assert not same(first(8), first(9))
    assert not same(first(8), TextBatches(range(1000), 5, 3, seed=2)(8))


def test_a_text_may_be_just_one_window():
    batch = TextBatches([3, 4, 5], 2, 2)(0)
    assert same(batch, TextBatch(torch.tensor([[3, 4]] * 2), torch.tensor([[4, 5]] * 2)))


@pytest.mark.parametrize("text_length", [2, 3, 11, 12, 13, 29, 30, 31, 32, 60])
@pytest.mark.parametrize("length", [1, 5, 50])
def test_evaluation_windows_ask_for_every_id_but_the_first_exactly_once(text_length, length):
    ids = torch.randperm(text_length) + 100
    batches = evaluation_windows(ids, length, batch_size=2)
    assert torch.equal(torch.cat([batch.input.flatten() for batch in batches]), ids[:-1])
    assert torch.equal(torch.cat([batch.target.flatten() for batch in batches]), ids[1:])
    assert all(batch.input.shape == batch.target.shape for batch in batches)
    assert all(batch.input.shape[1] == length and batch.input.shape[0] in (1, 2) for batch in batches[:-1])
    assert batches[-1].input.shape[1] <= length


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (lambda: TextBatches(range(5), 5, 2), "TextBatches: a text of 5 ids, expected at least 6"),
        (lambda: TextBatches(range(9), 0, 2), "TextBatches: length=0, expected at least 1"),
        (lambda: TextBatches(range(9), 5, 0), "TextBatches: batch_size=0, expected at least 1"),
        (lambda: TextBatches(torch.zeros(2, 9), 5, 2), "TextBatches: ids of shape (2, 9) and torch.float32"),
        (lambda: TextBatches(torch.zeros(9), 5, 2), "TextBatches: ids of shape (9,) and torch.float32"),
        (lambda: evaluation_windows([3], 5), "evaluation_windows: a text of 1 ids, expected at least 2"),
        (lambda: evaluation_windows([3, 4], 0), "evaluation_windows: length=0, expected at least 1"),
        (lambda: evaluation_windows([3, 4], 5, batch_size=0), "evaluation_windows: batch_size=0"),
    ],
)
def test_texts_that_make_no_windows_are_errors(make, complaint):
    with pytest.raises(ValueError, match=re.escape(complaint)):
        make()


def test_your_own_pairs_become_ids_of_two_vocabularies():
    data = word_pairs([("the cat", "die Katze"), ("the red cat", "die rote Katze")])
    assert data.source_tokenizer.tokens[3:] == ["cat", "red", "the"]
    assert data.target_tokenizer.tokens[3:] == ["Katze", "die", "rote"]
    assert data.pairs == [([5, 3], [4, 3]), ([5, 4, 3], [4, 5, 3])]
    assert data.encode([("red cat", "rote Katze")]) == [([4, 3], [5, 3])]
    assert same(data.batches(3, seed=6)(2), PairBatches(data.pairs, 3, seed=6)(2))
    with pytest.raises(ValueError, match="'hat' is not among the 3 pieces"):
        data.encode([("the hat", "die Katze")])


def test_characters_do_as_well_as_words():
    data = word_pairs([("ab", "BA")], tokenizer=CharTokenizer)
    assert isinstance(data.target_tokenizer, CharTokenizer)
    assert data.pairs == [([3, 4], [4, 3])]


def test_number_pairs_are_taken_as_they_are():
    train, held_out = number_pairs(200, 20, seed=1)
    data = word_pairs(train)
    for pair, (source, target) in zip(held_out, data.encode(held_out), strict=True):
        assert data.source_tokenizer.decode(source) == pair.source.replace("-", " ")
        assert data.target_tokenizer.decode(target) == pair.target


@pytest.mark.parametrize("bad", ["hello", ("one",), ("one", 1), (1, 2)])
def test_what_is_no_pair_of_texts_is_an_error_that_shows_it(bad):
    with pytest.raises(ValueError, match=re.escape(f"word_pairs: {bad!r} does not end in two texts")):
        word_pairs([("one", "eins"), bad])


def test_there_must_be_pairs():
    with pytest.raises(ValueError, match="word_pairs: no pairs"):
        word_pairs([])


def test_a_text_is_split_as_nanogpt_splits_it():
    text = "abcdefghijklmnopqrs"  # 19 characters: 17.1 is cut to 17
    assert train_validation_split(text) == (text[:17], text[17:])
    train, validation = train_validation_split(torch.arange(20), share=0.5)
    assert torch.equal(train, torch.arange(10))
    assert torch.equal(validation, torch.arange(10, 20))


@pytest.mark.parametrize(("text", "share"), [("", 0.9), ("a", 0.9), ("abc", 0.0), ("abc", 1.0)])
def test_no_side_of_a_split_is_empty(text, share):
    with pytest.raises(
        ValueError,
        match=f"train_validation_split: share={share} of {len(text)} leaves one side empty, expected",
    ):
        train_validation_split(text, share)
